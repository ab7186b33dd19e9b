"""A page as the app computes it, without Streamlit: opened by its link, changed by inputs and events. The app takes several times as long.

The functions of ``tests.support.driver`` and ``tests.support.shown`` read it as they read the app.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NoReturn

from normviz.lessons.events import Event, after, entering
from normviz.lessons.pages import PAGES, page_data, page_view, view_of_link
from normviz.parts.html import Body, data
from normviz.scene.controls import Input
from normviz.scene.setting import Choice, Number, Segments, Several, Slider, TextField
from normviz.scene.view import View


class Opened:
    """A view of a page, and what a reader sees of it."""

    exception = ()  # an error is raised where it happens

    def __init__(self, name: str, view: View) -> None:
        self.page, self.view = PAGES[name], view
        self.inputs = {one.key: one for row in self.page.app_rows(view) for one in row.all_inputs}
        for one in self.inputs.values():
            assert is_drawn(one), (one.key, one.value, one.widget)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The data of the page, which must be JSON without NaN."""
        parts = page_view(self.page, self.view).parts
        found: dict[str, Any] = json.loads(
            data(page_data(self.page, Body(app="", turn=1), parts)), parse_constant=refuse
        )
        return found

    @property
    def query_params(self) -> dict[str, str]:
        return self.page.query(self.view)

    def get_by_key(self, key: str) -> Input:
        return self.inputs[key]

    def enter(self, key: str, value: Any) -> Opened:
        """Enter a value; other inputs that are read together with this one keep theirs."""
        field = self.inputs[key]
        given = tuple(value if one == key else self.inputs[one].value for one in field.together)
        return self.after(entering(field, given if field.together else value))

    def after(self, event: Event) -> Opened:
        return Opened(self.page.name, after(self.page, self.view, event))


def opened(name: str, link: str | dict[str, str] = "") -> Opened:
    """The page at a link such as ``shape=2,3&layer=LayerNorm(3)``, without quoting."""
    query = link if isinstance(link, dict) else dict(part.split("=", 1) for part in filter(None, link.split("&")))
    return Opened(name, view_of_link(PAGES[name], query))


def in_the_app_too(
    cases: Sequence[tuple[Any, ...]], place: int, in_app: Callable[[str, str], Any]
) -> list[tuple[Any, ...]]:
    """Each case, opened without the app, and in the app the first one of each kind, which stands at this place of a case."""
    kinds = [case[place] for case in cases]
    first = [case for number, case in enumerate(cases) if case[place] not in kinds[:number]]
    return [(opened, *case) for case in cases] + [(in_app, *case) for case in first]


def is_drawn(one: Input) -> bool:
    """Whether Streamlit draws the widget with its value: it raises an error for one that the widget cannot have."""
    match one.widget:
        case Number(low, high):
            return one.value is None or low <= one.value <= high  # None: the field is empty
        case TextField(most):
            return len(one.value) <= most
        case Choice(options) | Segments(options) | Slider(options):
            return one.value in options
        case Several(options, most):
            return set(one.value) <= set(options) and len(one.value) <= most
    return isinstance(one.value, bool)


def refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")
