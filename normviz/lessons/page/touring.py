"""The tour that a link names, as the first part of a page."""

from __future__ import annotations

from collections.abc import Iterator

from normviz.layers.errors import NormvizError
from normviz.layers.messages import _
from normviz.lessons.parts.links import Link
from normviz.lessons.parts.part import Part, Problem
from normviz.lessons.parts.tour_bar import TourBar
from normviz.lessons.tours.tour import Tour, find_tour
from normviz.scene.query import link
from normviz.scene.settings.setting import Setting
from normviz.scene.view import View


def tour_parts(name: str, view: View, settings: tuple[Setting, ...]) -> Iterator[Part]:
    """The bar of the tour that the view belongs to, if any."""
    if not view.display.tour:
        return
    try:
        tour = find_tour(view.display.tour)
    except NormvizError as error:
        yield Problem(str(error))
        return
    yield tour_bar(tour, view.display.stop, _leave(name, view, settings))


def tour_bar(tour: Tour, number: int, leave: Link | None = None) -> TourBar:
    """The bar at a stop of a tour; 0: before the first."""
    number = min(number, len(tour.stops))
    caption = tour.stops[number - 1].caption if number else ""
    before = stop_link(tour, number - 1, _("Back")) if number > 1 else None
    label = _("Next") if number else _("Start")
    after = stop_link(tour, number + 1, label) if number < len(tour.stops) else None
    return TourBar(tour.title, caption, number, len(tour.stops), before, after, leave)


def stop_link(tour: Tour, number: int, text: str) -> Link:
    """The link to a stop, for a projector."""
    stop = tour.stops[number - 1]
    return Link(text, stop.page, f"{stop.query}&tour={tour.name}&stop={number}&present=true")


def _leave(name: str, view: View, settings: tuple[Setting, ...]) -> Link:
    """The link to the view without the tour."""
    query = {key: text for key, text in view.query(settings).items() if key not in ("tour", "stop", "present")}
    return Link(_("Leave the tour"), name, link(query).removeprefix("?"))
