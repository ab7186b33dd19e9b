"""What is left of a page's parts where its link hides some, and the caption that the link gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from normviz.lessons.parts.part import Beside, Chart, Details, Legend, Panels, Part, Table, Tabs, flat, within
from normviz.scene.visibility import PANELS, Frame


def framed(parts: Iterable[Part], frame: Frame) -> list[Part]:
    """The parts that the frame leaves, and the caption under the last figure."""
    given = list(parts)
    kept = [left for part in given for left in _left(part, frame, _all_that_there_is(given))]
    if frame.caption:
        kept.insert(_below_the_figure(kept), Legend(frame.caption))
    return kept


def names(parts: Iterable[Part]) -> set[str]:
    """The names of all that can be hidden in the parts."""
    found: set[str] = set()
    for part in parts:
        found.add(part.hidden_by)
        if isinstance(part, Panels):
            found |= panel_names(part)
        if not isinstance(part, Tabs):  # hidden whole
            found |= names(within(part))
    return found - {""}


def panel_names(part: Panels) -> set[str]:
    """What a linked view has that can be hidden."""
    data = part.data
    kind, valued = data["kind"], data.get("values") is not None
    rows = {panel.get("row", panel["key"]) for panel in data["panels"]} if kind != "steps" else set()
    beside = {
        "view": {"readout", "facts"} | ({"worked", "table"} if valued else set()),
        "compare": {"readout"},
        "steps": {"stepper", "formula", "readout", "worked", "loops"},
        "values": {"readout"},
    }[kind]
    return (rows & set(PANELS)) | beside


def _left(part: Part, frame: Frame, whole: bool) -> Iterator[Part]:
    """The part without what is hidden; nothing where it is hidden itself. ``whole``: its tables are the figure of the page."""
    spared = whole and isinstance(part, Table) and part.name not in frame.hidden
    if part.hidden_by and frame.hides(part.hidden_by) and not spared:
        return
    match part:
        case Panels():
            hidden = sorted(name for name in panel_names(part) if frame.hides(name))
            yield _without(part, hidden) if hidden else part
        case Details(title, inner):
            if left := _kept(inner, frame, whole):
                yield Details(title, left)
        case Beside(one, other, shares):
            first, second = _kept(one, frame, whole), _kept(other, frame, whole)
            if first and second:
                yield Beside(first, second, shares)
            else:
                yield from (*first, *second)
        case _:
            yield part


def _kept(parts: tuple[Part, ...], frame: Frame, whole: bool) -> tuple[Part, ...]:
    return tuple(left for part in parts for left in _left(part, frame, whole))


def _without(part: Panels, hidden: list[str]) -> Panels:
    """The linked view, told what not to show; the still picture has the same panels."""

    def shown(key: str) -> bool:
        return key not in hidden and key.rstrip("0123456789") not in hidden

    return replace(
        part,
        data=part.data | {"hidden": hidden},
        panels=lambda: [panel for panel in part.panels() if shown(panel.key)],
    )


def _all_that_there_is(parts: list[Part]) -> bool:
    """Has the page no figure but its tables?"""
    return not any(isinstance(part, Panels | Chart) for part in flat(parts))


def _below_the_figure(parts: list[Part]) -> int:
    """Where a caption stands."""
    for wanted in (Panels | Chart, Table):
        places = [place for place, part in enumerate(parts) if any(isinstance(inner, wanted) for inner in flat([part]))]
        if places:
            return places[-1] + 1
    return len(parts)
