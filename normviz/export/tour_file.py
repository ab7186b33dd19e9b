"""A tour as one file: its views in order, for a projector."""

from pathlib import Path

from normviz.export.files import short_path
from normviz.export.playable import VERSION, FileView, FileViews, Pool
from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES, join_part, page_view, view_of_link
from normviz.lessons.tours import Tour, find_tour, read_tour, stop_link, tour_bar, tours
from normviz.parts.html import Body
from normviz.parts.part import Chart, Panels, Part, Table, flat
from normviz.texts.errors import NormvizError
from normviz.texts.marked import decoded
from normviz.texts.messages import ngettext

LARGEST = 100_000  # bytes of a tour's file


def tour_of(name: str) -> Tour:
    """The tour of this name, or of a YAML file. Raises NormvizError if it is neither, or not a tour."""
    if name in tours() or not name.lower().endswith((".yaml", ".yml")):
        return find_tour(name)
    try:
        content = Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise NormvizError(
            "the tour {file} cannot be read ({why}); name another file.", file=short_path(name), why=error
        ) from None
    if len(content) > LARGEST:
        raise NormvizError(
            ngettext(
                "{file} has {n:,} byte; a tour has at most {most:,}.",
                "{file} has {n:,} bytes; a tour has at most {most:,}.",
                len(content),
                file=name,
                most=LARGEST,
            )
        )
    return read_tour(decoded(content, name), Path(name).stem, PAGES)


def stop_parts(tour: Tour, number: int) -> list[Part]:
    """The parts of a stop, from 1. Raises NormvizError if the app would show an error."""
    stop = tour.stops[number - 1]
    page = PAGES[stop.page]
    view = view_of_link(page, f"{stop.query}&present=true")
    if problem := page.problem(view):
        raise NormvizError("stop {number}: {problem}", number=number, problem=problem)
    parts = page_view(page, view).parts
    if not any(isinstance(part, Panels | Chart | Table) for part in flat(parts)):
        raise NormvizError(
            "stop {number}: {page} shows no figure; link to another page.", number=number, page=stop.page
        )
    return [tour_bar(tour, number), *parts]


def _join(tour: Tour, number: int) -> Part:
    stop = tour.stops[number - 1]
    return join_part(PAGES[stop.page], view_of_link(PAGES[stop.page], stop.query))


def tour_data(tour: Tour, app: str = "") -> FileViews:
    """The views of a tour as JSON for the browser, like ``views_data``. ``app``: the address of the app, for links to other views, or ""."""
    pool, views = Pool(), []
    numbers = range(1, len(tour.stops) + 1)
    stops = {stop_link(tour, number, "").address: f"#stop={number}" for number in numbers}
    for number in numbers:
        body = Body(app=app or None, pages=stops)
        parts, stop = body.keyed([*stop_parts(tour, number), _join(tour, number)]), {"stop": str(number)}
        view = sent(FileView(query=stop, state=stop, rows=[], parts=parts, figures=body.figures))
        views.append(view | {name: pool.pack(view[name]) for name in ("parts", "figures")})
    return FileViews(version=VERSION, page=tour.stops[0].page, app="", common={}, views=views, pool=pool.values)
