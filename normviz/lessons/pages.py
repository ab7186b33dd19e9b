"""The list of all pages, and what the app, a file and a notebook show of a view of one."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from normviz.layers.layer import Layer
from normviz.lessons import (
    compare,
    explore,
    gradients,
    models,
    numerics,
    practice_page,
    questions_page,
    start,
    step_by_step,
    train_and_eval,
)
from normviz.lessons.alternatives import problem_parts
from normviz.lessons.page import InputRow, Page
from normviz.lessons.parts.containers import hideable_names, visible_parts
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.links import Links
from normviz.lessons.parts.part import Note, Panels, Part, Text
from normviz.lessons.questions.question import Question
from normviz.lessons.questions.registry import QUESTIONS, questions_of_page
from normviz.lessons.tours import tour_parts
from normviz.scene.scene import PATTERN_FAMILY
from normviz.scene.setting import OF_PAGES
from normviz.scene.view import View
from normviz.texts.messages import N_

MOST_LINKS = 4
ANSWERABLE = N_("You should now be able to answer:")
PAGES: dict[str, Page] = {
    page.name: page
    for page in (
        start.PAGE,
        explore.PAGE,
        compare.PAGE,
        step_by_step.PAGE,
        train_and_eval.PAGE,
        gradients.PAGE,
        numerics.PAGE,
        models.PAGE,
        questions_page.PAGE,
        practice_page.PAGE,
    )
}
OF_PAGES.extend(setting for page in PAGES.values() for setting in page.settings)


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
    """The parts up to the first linked figure and the paragraphs about it, or all if there is none."""
    found: list[Part] = []
    has_figure = False
    for part in parts:
        if has_figure and not (isinstance(part, Text) and part.hidden_by == Text.name):
            break
        found.append(part)
        has_figure = has_figure or isinstance(part, Panels)
    return found


def page_data(page: Page, body: Body, parts: Iterable[Part]) -> dict[str, Any]:
    """What the browser draws."""
    return {"page": page.name, "parts": body.keyed(parts), "figures": body.figures, "terms": body.terms()}


def _parts(page: Page, view: View) -> Iterator[Part]:
    """The tour, the error in the link, the parts of the view, and the questions that it answers."""
    if view.display.tour:
        yield from tour_parts(page, view)
    yield from problem_parts(page, view)
    others = iter(page.other_views(page, view))
    for part in page.parts(view):
        if isinstance(part, Panels | Note):  # the links come before the first figure, or before the note in its place
            yield from others
        yield part
    links = tuple(map(questions_page.link_to, _answered(page, view)))
    if links:
        yield Links(links, ANSWERABLE, "questions")


def _answered(page: Page, view: View) -> list[Question]:
    """Questions that the page answers; questions about the current view come first."""
    if page.answers:
        return [QUESTIONS[key] for key in page.answers]
    family = view.scene.layer.kind.family if isinstance(view.scene.layer, Layer) else PATTERN_FAMILY
    topic = f"show={view.settings['show']}" if "show" in view.settings else family

    def distance(question: Question) -> tuple[bool, bool]:
        return topic not in question.query, family not in question.query

    return sorted(questions_of_page(page), key=distance)[:MOST_LINKS]
