"""A kind of page: its title, its settings, and the parts of a view of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl

from normviz.lessons.parts.containers import visible_parts
from normviz.lessons.parts.part import Note, Panels, Part
from normviz.scene.scene_settings import SCENE_SETTINGS
from normviz.scene.setting import Setting
from normviz.scene.view import View, read_view
from normviz.texts.messages import _


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
    start            the query of the view with which the page opens; empty for the default values of all settings
    """

    label: str
    about: str
    settings: Sequence[Setting]
    parts: Callable[[View], Iterable[Part]]
    problem: Callable[[View], str | None] = _problem_of_view
    whole_in_answer: bool = False
    start: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return _(self.label)

    @property
    def purpose(self) -> str:
        return _(self.about)

    def view(self, query: Mapping[str, str] | str) -> View:
        """The view that a query asks for; the view with which the page opens, if the query names no setting."""
        given = dict(parse_qsl(query)) if isinstance(query, str) else dict(query)
        return read_view(given if self._names_something(given) else {**self.start, **given}, self.settings)

    def query(self, view: View) -> dict[str, str]:
        """The query that reads back as the view. It is empty only if that is the view with which the page opens."""
        written = view.query(self.settings)
        return written if not self.start or self._names_something(written) else view.whole_scene_query() | written

    def _names_something(self, query: Mapping[str, str]) -> bool:
        """Whether a query has more than what is hidden and how the view is shown."""
        return not query.keys().isdisjoint({*SCENE_SETTINGS, *(setting.name for setting in self.settings)})

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
