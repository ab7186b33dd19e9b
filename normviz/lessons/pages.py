"""The pages by name: the title, the settings beside the scene, and the parts of a view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from normviz.layers.messages import N_, _
from normviz.lessons import explore, step_by_step
from normviz.lessons.compare import page as compare
from normviz.lessons.gradients import page as gradients
from normviz.lessons.numerics import page as numerics
from normviz.lessons.parts.part import Note, Panels, Part
from normviz.lessons.parts.visible import visible_parts
from normviz.lessons.train_and_eval import page as train_and_eval
from normviz.scene.query import read_view
from normviz.scene.settings.page_settings import PAGE_SETTINGS
from normviz.scene.settings.setting import Setting
from normviz.scene.view import View


def _problem_of_view(view: View) -> str | None:
    return view.problem


@dataclass(frozen=True)
class Page:
    """A page.

    label            the title, displayed through ``_``
    settings         its settings beside the scene
    parts            the parts of a view
    problem          the first error in the link, if any
    whole_in_answer  whether the answer to a question shows all parts of the view, or only the linked figure
    """

    label: str
    settings: Sequence[Setting]
    parts: Callable[[View], Iterable[Part]]
    problem: Callable[[View], str | None] = _problem_of_view
    whole_in_answer: bool = False

    @property
    def title(self) -> str:
        return _(self.label)

    def view(self, query: Mapping[str, str] | str) -> View:
        """The view that a query asks for."""
        return read_view(dict(parse_qsl(query)) if isinstance(query, str) else query, self.settings)

    def visible(self, view: View) -> list[Part]:
        """The parts of the view that its link does not hide, and its caption."""
        return visible_parts(self.parts(view), view.display)

    def answer_parts(self, query: str) -> list[Part]:
        """The parts that the answer to a question shows of a view."""
        parts = self.parts(self.view(query))
        return [part for part in parts if self.whole_in_answer or isinstance(part, Panels | Note)]


def up_to_the_figure(parts: Iterable[Part]) -> list[Part]:
    """The parts up to the first linked view, or all if there is none. The parts after it are not computed."""
    found = []
    for part in parts:
        found.append(part)
        if isinstance(part, Panels):
            break
    return found


PAGES: dict[str, Page] = {
    "explore": Page(N_("Explore"), PAGE_SETTINGS["explore"], explore.view_parts),
    "compare": Page(N_("Compare"), PAGE_SETTINGS["compare"], compare.view_parts, compare.problem),
    "step_by_step": Page(N_("Step by step"), PAGE_SETTINGS["step_by_step"], step_by_step.view_parts),
    "train_and_eval": Page(
        N_("Train and eval"), PAGE_SETTINGS["train_and_eval"], train_and_eval.view_parts, whole_in_answer=True
    ),
    "gradients": Page(N_("Gradients"), PAGE_SETTINGS["gradients"], gradients.view_parts, whole_in_answer=True),
    "numerics": Page(N_("Numerics"), PAGE_SETTINGS["numerics"], numerics.view_parts, whole_in_answer=True),
}
