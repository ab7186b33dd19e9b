"""The logo, a small tensor with one group filled, as data URLs."""

from base64 import b64encode

from normviz.figures.palette import theme

CELL, GAP, EDGE = 9, 1, 3
BLUE, CORAL = theme("light").few[:2]
GRAY = "#7b879b"  # readable on a light and on a dark header


def _cells() -> str:
    """One path for each color; the stroke rounds the corners. Short, because each run of a page sends it."""
    side = CELL - EDGE
    square = f"h{side}v{side}h-{side}z"
    rows = [
        "".join(f"M{column * (CELL + GAP) + EDGE / 2} {row * (CELL + GAP) + EDGE / 2}{square}" for column in range(3))
        for row in range(3)
    ]
    paths = ((BLUE, rows[0] + rows[2]), (CORAL, rows[1]))
    drawn = "".join(f'<path d="{path}" fill="{color}" stroke="{color}"/>' for color, path in paths)
    return f'<g stroke-width="{EDGE}" stroke-linejoin="round">{drawn}</g>'


def _data_url(svg: str) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


def wordmark() -> str:
    """The logo with the name."""
    return _data_url(
        '<svg xmlns="http://www.w3.org/2000/svg" width="132" height="30" viewBox="0 0 132 30">'
        f"{_cells()}"
        f'<text x="40" y="22" font-family="Segoe UI, Roboto, Liberation Sans, sans-serif" font-size="22" font-weight="700" fill="{GRAY}">normviz</text></svg>'
    )


FAVICON = _data_url(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 31 31">{_cells()}</svg>')
