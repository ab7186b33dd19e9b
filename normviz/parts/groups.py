"""A small tensor as an SVG picture: each group that shares its statistics has a color of its own."""

from itertools import product

from normviz.analysis.description import Description
from normviz.figures.palette import THEMES
from normviz.scene.grid import roles

CELL, SIDE, GAP = 14, 13, 6
COLORS = [f"light-dark({light},{dark})" for light, dark in zip(THEMES["light"].few, THEMES["dark"].few, strict=True)]


def groups_picture(e: Description) -> str:
    """Facets stand side by side; of two axes of facets, the first goes down. Readers who do not see it need a caption."""
    place = roles(e.axes)
    down, across = place.facets[0] if len(place.facets) > 1 else None, place.facets[-1] if place.facets else None

    def size(axis: int | None) -> int:
        return 1 if axis is None else e.shape[axis]

    wide, high = size(place.col) * CELL + GAP, size(place.row) * CELL + GAP
    groups: dict[int, list[str]] = {}
    for index in product(*map(range, e.shape)):
        column, line, row = (0 if axis is None else index[axis] for axis in (across, down, place.row))
        left, top = column * wide + index[place.col] * CELL, line * high + row * CELL
        groups.setdefault(int(e.stat_ids[index]), []).append(f"M{left} {top}h{SIDE}v{SIDE}h-{SIDE}z")
    paths = "".join(
        f'<path d="{"".join(cells)}" style="fill:{COLORS[group % len(COLORS)]}"/>' for group, cells in groups.items()
    )
    width, height = size(across) * wide - GAP, size(down) * high - GAP
    return f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">{paths}</svg>'
