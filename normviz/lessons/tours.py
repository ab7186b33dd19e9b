"""A tour: views of pages with captions, in order. It is written as YAML (``normviz/locale/<language>/tours/``):

title: What normalized_shape does
minutes: 5
stops:
  - link: /explore?shape=2,3,4,4&layer=LayerNorm([3,4,4])
    caption: One mean for each example.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache

import yaml

from normviz.layers.layer import is_in_torch
from normviz.parts.part import Link, TourBar
from normviz.parts.titles import EXPLORE, HOME
from normviz.scene.view import MOST_CAPTION, MOST_STOPS, Display, read_display, split_link
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.languages import OWN, read_text
from normviz.texts.marked import Marked, read_marked
from normviz.texts.messages import _, language, ngettext

FORM = "title: ..., stops: [{link: ..., caption: ...}]"
MOST_MINUTES = 240


@dataclass(frozen=True)
class Stop:
    """One view of a tour: the page, its query without "?", and what to say about it."""

    page: str
    query: str
    caption: str


@dataclass(frozen=True)
class Tour:
    """A tour; ``name`` identifies it in links. ``minutes``: in a lesson; 0 if it does not say."""

    name: str
    title: str
    stops: tuple[Stop, ...]
    minutes: int = 0


def read_tour(text: str, name: str, pages: Collection[str] = ()) -> Tour:
    """The tour in a text of YAML. Raises NormvizError if it is not one, with the number of the stop.

    pages  the names of the pages; without them, the names in the links are not checked
    """
    try:
        given = read_marked(text, name)
    except NormvizError:
        raise
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise NormvizError(
            "the tour {name} is not YAML: {reason}.", name=echo(name), reason=" ".join(str(error).split())
        ) from None
    fields = given.fields(("title", "minutes", "stops")) if isinstance(given.value, dict) else {}
    title, minutes, stops = (fields[key].value if key in fields else None for key in ("title", "minutes", "stops"))
    if minutes is not None and str(minutes) not in map(str, range(1, MOST_MINUTES + 1)):
        raise NormvizError(
            "the tour {name}: minutes={minutes} must be a whole number from 1 to {most}.",
            name=echo(name),
            minutes=echo(str(minutes)),
            most=MOST_MINUTES,
        )
    if not isinstance(title, str) or not isinstance(stops, list) or not 1 <= len(stops) <= MOST_STOPS:
        raise NormvizError(
            ngettext(
                "the tour {name} must have a title and 1 to {n} stop: {form}.",
                "the tour {name} must have a title and 1 to {n} stops: {form}.",
                MOST_STOPS,
                name=echo(name),
                form=FORM,
            )
        )
    read = tuple(_read_stop(stop, number, pages) for number, stop in enumerate(stops, 1))
    return Tour(name, title, read, int(str(minutes or 0)))


def _read_stop(given: Marked, number: int, pages: Collection[str]) -> Stop:
    fields = given.value if isinstance(given.value, dict) else {}
    link, caption = (fields[key].value if key in fields else None for key in ("link", "caption"))
    caption = "" if caption is None else caption
    if not isinstance(link, str) or not isinstance(caption, str) or len(caption) > MOST_CAPTION:
        raise NormvizError(
            ngettext(
                "stop {number} must have a link and a caption of up to {n} character: {form}.",
                "stop {number} must have a link and a caption of up to {n} characters: {form}.",
                MOST_CAPTION,
                number=number,
                form=FORM,
            )
        )
    given.fields(("link", "caption"))
    try:
        address = split_link(link)
    except NormvizError as error:
        raise NormvizError("stop {number}: {problem}", number=number, problem=error) from None
    page = address.path.rstrip("/").rpartition("/")[2] or EXPLORE
    if pages and page not in pages:
        raise NormvizError(
            "stop {number}: link={link} does not name a page; choose {pages}.",
            number=number,
            link=echo(link),
            pages=listed(name for name in pages if name != HOME),
        )
    return Stop(page, address.query, " ".join(caption.split()))


def tours() -> dict[str, Tour]:
    """The tours of this package in the reader's language, by name."""
    return _read_tours(language.get())


@cache
def _read_tours(_language: str) -> dict[str, Tour]:
    names = sorted(file.stem for file in (OWN / "tours").glob("*.yaml"))
    found = [read_tour(read_text(f"tours/{name}.yaml"), name) for name in names]
    return {
        tour.name: replace(tour, stops=tuple(one for one in tour.stops if is_in_torch(one.query))) for tour in found
    }


def find_tour(name: str) -> Tour:
    """The tour of this name. Raises NormvizError for an unknown name."""
    if name not in tours():
        raise NormvizError("tour={name} is unknown; choose {names}.", name=echo(name), names=listed(tours()))
    return tours()[name]


def stop_shown(query: Mapping[str, str]) -> Stop | None:
    """The stop whose view a link shows that names only the tour: for the beginning of a tour, its first stop. None without a tour.

    >>> stop_shown({"tour": "normalized-shape", "stop": "2"}).query
    'shape=2,3,4,5&layer=LayerNorm([4,5])&at=1,2,0,3'
    """
    display = read_display(query)[0] if "tour" in query else Display()
    tour = tours().get(display.tour)
    return tour.stops[min(max(display.stop, 1), len(tour.stops)) - 1] if tour else None


def minutes_text(n: int) -> str:
    """A time in words."""
    return ngettext("{n} minute", "{n} minutes", n)


# The bar above a view of a tour.


def tour_bar(tour: Tour, number: int, leave: Link | None = None, has_caption: bool = True) -> TourBar:
    """The bar at a stop of a tour; 0: before the first. ``has_caption``: False above a view that the caption is not about."""
    number = min(number, len(tour.stops))
    caption = tour.stops[number - 1].caption if number and has_caption else ""
    before = stop_link(tour, number - 1, _("Back")) if number > 1 else None
    label = _("Next") if number else _("Start")
    after = stop_link(tour, number + 1, label) if number < len(tour.stops) else None
    title = tour.title
    if tour.minutes and not number:
        title = _("{title}: {caption}", title=title, caption=minutes_text(tour.minutes))
    return TourBar(title, caption, number, len(tour.stops), before, after, leave)


def stop_link(tour: Tour, number: int, text: str) -> Link:
    """The link to a stop, for a projector."""
    stop = tour.stops[number - 1]
    return Link(text, stop.page, f"{stop.query}&tour={tour.name}&stop={number}&present=true")
