"""The list of all pages, and what the app, a file and a notebook show of a view of one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from normviz.lessons.alternatives import problem_parts
from normviz.lessons.asked import asked_parts
from normviz.lessons.compare import page as compare
from normviz.lessons.explore import page as explore
from normviz.lessons.gradients import page as gradients
from normviz.lessons.home import page as home
from normviz.lessons.models import page as models
from normviz.lessons.numerics import page as numerics
from normviz.lessons.page import ALL_PAGES, InputRow, Page
from normviz.lessons.practice import page as practice
from normviz.lessons.questions import page as questions
from normviz.lessons.start import page as start
from normviz.lessons.step_by_step import page as step_by_step
from normviz.lessons.story import page as story
from normviz.lessons.story.parts import Story
from normviz.lessons.teach import page as teach
from normviz.lessons.teach.page import Way
from normviz.lessons.tours import find_tour, stop_shown, tour_bar
from normviz.lessons.train_and_eval import page as train_and_eval
from normviz.parts.containers import hideable_names, visible_parts
from normviz.parts.html import Body
from normviz.parts.links import Link
from normviz.parts.part import Note, Panels, Part, Problem, Text
from normviz.parts.questions import QuestionList
from normviz.parts.titles import HOME, asks_for_a_view
from normviz.scene.setting import OF_PAGES
from normviz.scene.typed import with_view_of_typed
from normviz.scene.view import View, link
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _

PAGES = ALL_PAGES
PAGES |= {
    page.name: page
    for page in (
        home.PAGE,
        start.PAGE,
        story.PAGE,
        explore.PAGE,
        compare.PAGE,
        step_by_step.PAGE,
        train_and_eval.PAGE,
        gradients.PAGE,
        numerics.PAGE,
        models.PAGE,
        questions.PAGE,
        practice.PAGE,
        teach.PAGE,
    )
}
OF_PAGES.update((name, page.settings) for name, page in PAGES.items())


@dataclass(frozen=True)
class PageView:
    """A view of a page, ready to be drawn.

    rows      of its controls
    parts     that are visible, in order
    hideable  the names that ``hide=`` accepts: of its controls and parts
    """

    page: Page
    view: View
    rows: Sequence[InputRow]
    parts: Sequence[Part]
    hideable: frozenset[str]

    @property
    def has_figure(self) -> bool:
        """Whether there is something to show on a projector: a figure or a question, and not a list or an article."""
        return not any(isinstance(part, QuestionList | Way | Story) for part in self.parts)

    @property
    def query(self) -> dict[str, str]:
        """The query that reads back as this view."""
        return self.page.query(self.view)

    @property
    def whole_query(self) -> dict[str, str]:
        """The query that reads back as this view also after the app's defaults have changed."""
        return self.page.whole_query(self.view, self.hideable)


def page_view(page: Page, view: View, rows: Sequence[InputRow] | None = None) -> PageView:
    """The view of a page; ``rows`` are its rows of inputs, if they have been computed."""
    parts = list(_parts(page, view))
    shown = page.input_rows(view) if rows is None else rows
    names = hideable_names(parts).union(*(row.names for row in shown))
    return PageView(page, view, shown, visible_parts(parts, view.display), frozenset(names))


def parts_up_to_the_figure(page: Page, view: View) -> list[Part]:
    """The first visible parts of a page, as ``up_to_the_figure`` gives them. The others are not computed."""
    return visible_parts(up_to_the_figure(_parts(page, view)), view.display)


def up_to_the_figure(parts: Iterable[Part]) -> list[Part]:
    """The parts up to the first linked figure, and the paragraphs below it if it is about the selected element; all if there is none."""
    found: list[Part] = []
    is_about_element = False
    for part in parts:
        if is_about_element and not (isinstance(part, Text) and part.hidden_by == Text.name):
            break
        found.append(part)
        if isinstance(part, Panels):
            is_about_element = bool(part.data.get("ofElement"))
            if not is_about_element:  # the next part is not even computed
                break
    return found


def page_data(page: Page, body: Body, parts: Iterable[Part]) -> dict[str, Any]:
    """What the browser draws."""
    return {"page": page.name, "parts": body.keyed(parts), "figures": body.figures, "terms": body.terms()}


def _parts(page: Page, view: View) -> Iterator[Part]:
    """The tour, the error in the link, the parts of the view, and the question with which it ends."""
    if view.display.tour:
        yield _tour(page, view)
    yield from problem_parts(page, view)
    others = iter(page.other_views(page, view))
    for part in page.parts(view):
        if isinstance(part, Panels | Note):  # the links come before the first figure, or before the note in its place
            yield from others
        yield part
    yield from asked_parts(page, view)


def page_of(name: str, query: Mapping[str, str]) -> Page:
    """The page that a link opens: the page that it names, or that of a tour's stop if it asks for no view of its own.

    The address of the app with a view is an address of Explore.
    """
    page, stop = PAGES[explore.PAGE.name if name == HOME and asks_for_a_view(query) else name], stop_shown(query)
    return PAGES[stop.page] if stop and not page.names_something(query) else page


def leads_to(name: str, query: Mapping[str, str]) -> tuple[Page, dict[str, str]]:
    """The page that a link opens, and its query there: in place of what is typed on the front page, the view that it asks for.

    >>> leads_to("home", {"shape": "2,3"}), leads_to("explore", {"typed": "GroupNorm(2, 4)"})
    ((<page explore>, {'shape': '2,3'}), (<page explore>, {'layer': 'GroupNorm(2,4)'}))
    """
    page = page_of(name, query)
    return page, with_view_of_typed(query) if page is explore.PAGE else dict(query)


def _tour(page: Page, view: View) -> Part:
    """The bar of the tour that the view belongs to, or why there is none."""
    try:
        tour = find_tour(view.display.tour)
    except NormvizError as error:
        return Problem(str(error))
    query = {key: text for key, text in view.query(page.settings).items() if key not in ("tour", "stop", "present")}
    leave = Link(_("Leave the tour"), page.name, link(query).removeprefix("?"))
    return tour_bar(tour, view.display.stop, leave, _is_at_its_stop(page, view))


def _is_at_its_stop(page: Page, view: View) -> bool:
    """Whether the view is that of its stop; another element may be selected."""
    stop = stop_shown(view.display.query())
    if stop is None or stop.page != page.name:
        return False
    shown, own = ((replace(one.scene, at=None), one.settings) for one in (view, page.view(stop.query)))
    return shown == own
