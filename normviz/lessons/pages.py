"""Every page by name, and a page as a value: what the app, a file and a notebook show of a view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from normviz.layers.layer import Layer
from normviz.lessons import models as models_page
from normviz.lessons import practice_page, questions_page, start
from normviz.lessons.alternatives import compared_lookalike_parts, layout_parts, lookalike_parts, problem_parts
from normviz.lessons.compare import layers_of
from normviz.lessons.figure_page_types import FIGURE_PAGES
from normviz.lessons.page_type import PageType
from normviz.lessons.parts.containers import hideable_names, visible_parts
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.links import Links
from normviz.lessons.parts.part import Note, Panels, Part, Problem, Text
from normviz.lessons.questions.question import Question
from normviz.lessons.questions.registry import QUESTIONS, questions_of_page
from normviz.lessons.rows import InputRow, input_rows
from normviz.lessons.tours import tour_parts
from normviz.scene.controls import TENSOR
from normviz.scene.page_settings import PAGE_SETTINGS
from normviz.scene.scene import PATTERN_FAMILY
from normviz.scene.scene_settings import SEED
from normviz.scene.setting import Setting
from normviz.scene.view import View
from normviz.texts.messages import ENGLISH, N_, language

MOST_LINKS = 4
ON_A_TENSOR = ("explore", "step_by_step", "gradients")  # pages that show one layer on one tensor
WITHOUT_SCENE = ("start", "models", "questions", "practice")  # pages whose views do not depend on a layer and a tensor
WITHOUT_TENSOR = (*WITHOUT_SCENE, "numerics")  # pages without a tensor to choose
ANSWERABLE = N_("You should now be able to answer:")

PAGES: dict[str, PageType] = {
    "start": PageType(
        N_("Start here"),
        N_("Five minutes: from four numbers to a batch of images."),
        PAGE_SETTINGS["start"],
        start.view_parts,
    ),
    **FIGURE_PAGES,
    "models": PageType(
        N_("In real models"),
        N_("The normalizations of well-known models, in the order in which they run."),
        PAGE_SETTINGS["models"],
        models_page.view_parts,
    ),
    "questions": PageType(
        N_("Questions"),
        N_("Predict the answer, then see what torch computes."),
        PAGE_SETTINGS["questions"],
        questions_page.view_parts,
        questions_page.problem,
    ),
    "practice": PageType(
        N_("Practice"),
        N_("Exercises that torch has answered. The same link gives everyone the same set."),
        PAGE_SETTINGS["practice"],
        practice_page.view_parts,
    ),
}


@dataclass(frozen=True)
class Page:
    """A view of a page as a value.

    name      of the page
    view      that it shows
    rows      of its controls
    parts     that are visible, in order
    hideable  the names that ``hide=`` accepts: of its controls and parts
    """

    name: str
    view: View
    rows: Sequence[InputRow]
    parts: Sequence[Part]
    hideable: frozenset[str]

    @property
    def title(self) -> str:
        return PAGES[self.name].title

    @property
    def has_problem(self) -> bool:
        """Whether the page begins with an error message about the view."""
        return any(isinstance(part, Problem) for part in self.parts)

    @property
    def query(self) -> dict[str, str]:
        """The query that reads back as this view."""
        return PAGES[self.name].query(self.view)

    @property
    def whole_query(self) -> dict[str, str]:
        """The query that reads back as this view also after the app's defaults have changed."""
        return _whole_query(self.name, self.view, TENSOR.name in self.hideable)


def whole_query(name: str, view: View) -> dict[str, str]:
    """The query of a view, defaults too, for a link that is kept: ``?shape=2,3,4,4&layer=LayerNorm([3,4,4])&...``."""
    return _whole_query(name, view, any(TENSOR.name in row.names for row in input_rows(name, view)))


def _whole_query(name: str, view: View, has_tensor: bool) -> dict[str, str]:
    """``whole_query``; ``has_tensor``: whether the reader chooses the tensor."""
    if name == "compare":
        view = view.with_settings(view.problem, layers=[text.replace(", ", ",") for text in layers_of(view)[0]])
    scene = view.whole_scene_query() if has_tensor else view.scene.query()
    own = {
        setting.name: setting.format(view.settings[setting.name])
        for setting in PAGES[name].settings
        if setting.applies(view) and view.settings[setting.name] not in ("", ())
    }
    if name in WITHOUT_SCENE:
        scene = {SEED.name: SEED.format(view.scene.seed)} if name == "practice" else {}
    return scene | own | language_query() | view.shown_display.query()


def language_query() -> dict[str, str]:
    """The reader's language in a link. English is only written where the link names it, as for readers of other languages."""
    return {} if language.get() == ENGLISH else {"lang": language.get()}


def page(name: str, view: View, rows: Sequence[InputRow] | None = None) -> Page:
    """The view of a page; ``rows`` are its rows of inputs, if they have been computed."""
    parts = list(_parts(name, view))
    shown = input_rows(name, view) if rows is None else rows
    names = hideable_names(parts).union(*(row.names for row in shown))
    return Page(name, view, shown, visible_parts(parts, view.display), frozenset(names))


def parts_up_to_the_figure(name: str, view: View) -> list[Part]:
    """The first visible parts of a page, as ``up_to_the_figure`` gives them. The others are not computed."""
    return visible_parts(up_to_the_figure(_parts(name, view)), view.display)


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


def page_data(name: str, body: Body, parts: Iterable[Part]) -> dict[str, Any]:
    """What the browser draws."""
    return {"page": name, "parts": body.keyed(parts), "figures": body.figures, "terms": body.terms()}


def _parts(name: str, view: View) -> Iterable[Part]:
    """The tour, the error in the link, the parts of the view, and the questions that it answers."""
    settings = tuple(PAGES[name].settings)
    yield from tour_parts(name, view, settings)
    yield from problem_parts(name, view, settings, PAGES[name].problem(view))
    yield from _before_the_figure(PAGES[name].parts(view), _other_views(name, view, settings))
    links = tuple(map(questions_page.link_to, _answered(name, view)))
    if links:
        yield Links(links, ANSWERABLE, "questions")


def _other_views(name: str, view: View, settings: tuple[Setting, ...]) -> Iterator[Part]:
    """Links to x in another layout and to a small look-alike."""
    if name in ON_A_TENSOR:
        yield from layout_parts(name, view, settings)
        yield from lookalike_parts(name, view, settings)
    elif name == "compare":
        yield from compared_lookalike_parts(view, settings)


def _before_the_figure(parts: Iterable[Part], links: Iterator[Part]) -> Iterator[Part]:
    """The parts, with the links before the first figure, or before the note that takes its place."""
    for part in parts:
        if isinstance(part, Panels | Note):
            yield from links
        yield part


def _answered(name: str, view: View) -> list[Question]:
    """Questions that the page answers; questions about the current view come first."""
    if name == "models":
        return [QUESTIONS[key] for key in models_page.ANSWERED]
    family = view.scene.layer.kind.family if isinstance(view.scene.layer, Layer) else PATTERN_FAMILY
    topic = f"show={view.settings['show']}" if "show" in view.settings else family

    def distance(question: Question) -> tuple[bool, bool]:
        return topic not in question.query, family not in question.query

    return sorted(questions_of_page(name), key=distance)[:MOST_LINKS]
