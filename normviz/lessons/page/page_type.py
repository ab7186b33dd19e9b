"""A kind of page: its title, its settings, and the parts of a view of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

from normviz.layers.messages import _
from normviz.lessons.parts.part import Note, Panels, Part
from normviz.lessons.parts.visible import visible_parts
from normviz.scene.query import read_view
from normviz.scene.settings.setting import Setting
from normviz.scene.view import View


def _problem_of_view(view: View) -> str | None:
    return view.problem


@dataclass(frozen=True)
class PageType:
    """A kind of page.

    label            the title, as a message
    about            what the page shows, in one line, as a message
    settings         its settings beside the scene
    parts            the parts of a view
    problem          the first error in the link, if any
    whole_in_answer  whether the answer to a question shows all parts of the view, or only the linked figure
    """

    label: str
    about: str
    settings: Sequence[Setting]
    parts: Callable[[View], Iterable[Part]]
    problem: Callable[[View], str | None] = _problem_of_view
    whole_in_answer: bool = False

    @property
    def title(self) -> str:
        return _(self.label)

    @property
    def purpose(self) -> str:
        return _(self.about)

    def view(self, query: Mapping[str, str] | str) -> View:
        """The view that a query asks for."""
        return read_view(dict(parse_qsl(query)) if isinstance(query, str) else query, self.settings)

    def visible(self, view: View) -> list[Part]:
        """The parts of the view that its link does not hide, and its caption."""
        return visible_parts(self.parts(view), view.display)

    def answer_parts(self, query: str) -> list[Part]:
        """The parts that the answer to a question shows of a view. A click on them changes nothing else."""
        parts = self.parts(self.view(query))
        shown = [part for part in parts if self.whole_in_answer or isinstance(part, Panels | Note)]
        return [_for_answer(part) if isinstance(part, Panels) else part for part in shown]


def _for_answer(part: Panels) -> Panels:
    """The figure; between questions, there is no room for the distribution of Explore."""
    without = {"moments": None} if part.data["kind"] == "view" else {}
    return replace(part, events=(), data=part.data | without)
