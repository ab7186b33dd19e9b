"""The pages, by name: what each is called, what it is set to beside the scene, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from normviz.lessons import explore, step_by_step
from normviz.lessons.compare import page as compare
from normviz.lessons.gradients import page as gradients
from normviz.lessons.numerics import page as numerics
from normviz.lessons.parts.part import Note, Panels, Part
from normviz.lessons.parts.visible import visible_parts
from normviz.lessons.train_and_eval import page as train_and_eval
from normviz.scene.settings import Field
from normviz.scene.view import View, read_view


def _own(view: View) -> str | None:
    return view.problem


@dataclass(frozen=True)
class Page:
    """A page.

    title    for a reader
    fields   its settings beside the scene
    parts    what a view of it is made of
    problem  what was wrong with the wish for the view, if anything
    whole    does a question that it settles show all of it, or the figure alone?
    """

    title: str
    fields: Sequence[Field]
    parts: Callable[[View], Iterable[Part]]
    problem: Callable[[View], str | None] = _own
    whole: bool = False

    def view(self, query: Mapping[str, str] | str) -> View:
        """The view that a query asks for."""
        return read_view(dict(parse_qsl(query)) if isinstance(query, str) else query, self.fields)

    def shown(self, view: View) -> list[Part]:
        """The parts of the view that its link does not hide, and its caption."""
        return visible_parts(self.parts(view), view.frame)

    def figure(self, query: str) -> list[Part]:
        """What a question shows of the view that settles it."""
        parts = self.parts(self.view(query))
        return [part for part in parts if self.whole or isinstance(part, Panels | Note)]


PAGES: dict[str, Page] = {
    "explore": Page("Explore", (), explore.view_parts),
    "compare": Page(
        "Compare", compare.FIELDS, compare.view_parts, lambda view: view.problem or compare.layers_of(view)[1]
    ),
    "step_by_step": Page("Step by step", step_by_step.FIELDS, step_by_step.view_parts),
    "train_and_eval": Page("Train and eval", train_and_eval.FIELDS, train_and_eval.view_parts, whole=True),
    "gradients": Page("Gradients", gradients.FIELDS, gradients.view_parts, whole=True),
    "numerics": Page("Numerics", numerics.FIELDS, numerics.view_parts, whole=True),
}
