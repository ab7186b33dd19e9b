"""The parts of a page that its link does not hide, and the caption that the link adds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from normviz.lessons.parts.part import Chart, Legend, Panels, Part, flat, without_hidden
from normviz.lessons.parts.table import Table
from normviz.scene.visibility import Display

Figure = Panels | Chart


def visible_parts(parts: Iterable[Part], display: Display) -> list[Part]:
    """The parts that are not hidden, with the caption below the last figure.

    ``hide=all`` does not hide the tables of a page that has no other figure.
    """
    given = list(parts)
    tables_stay = only_tables(given)

    def hides(part: Part, name: str) -> bool:
        return name in display.hidden if tables_stay and isinstance(part, Table) else display.hides(name)

    visible = list(without_hidden(given, hides))
    if display.caption:
        visible.insert(_below_the_figure(visible), Legend(display.caption))
    return visible


def hideable_names(parts: Iterable[Part]) -> set[str]:
    """The names of everything in the parts that can be hidden."""
    return {name for part in parts for name in part.names} - {""}


def only_tables(parts: Sequence[Part]) -> bool:
    return not any(isinstance(part, Figure) for part in flat(parts))


def _below_the_figure(parts: Sequence[Part]) -> int:
    for kind in (Figure, Table):
        places = [place for place, part in enumerate(parts) if any(isinstance(inner, kind) for inner in flat([part]))]
        if places:
            return places[-1] + 1
    return len(parts)
