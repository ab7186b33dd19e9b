"""Settings: named values of a view that a link holds and that a reader changes with a control.

A setting is declared once, as data and pure functions. Its place in the link, its control, its option of the command line, its name in
``hide=`` and its row in docs/links.md follow from the declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from normviz.layers.errors import NormvizError, listed
from normviz.layers.messages import N_, _
from normviz.scene.settings.widgets import Choice, Segments, Widget

LIMITS = N_("{label} ({low} to {high})")
LIMITS_OR_NONE = N_("{label} ({low} to {high}, or none)")


def always(view: Any) -> bool:
    """A setting that applies to every view of its page."""
    return True


@dataclass(frozen=True)
class Setting:
    """One setting.

    name            in the link, and as an option of the command line
    default         its value if the link does not have it
    parse, format   from text to value, and back; ``parse`` raises NormvizError
    repair          from a text that ``parse`` refuses to the nearest valid value; without it, the default is used
    label           of its control, as a message
    about, example  a description, as a message, and an example value: for the documentation and the command line; without ``about``, the
                    options are the description
    widget          the widget of its control; None if it has no control of its own
    width, help     of the control: in pixels, and as a message
    limits          the smallest and the largest value, as shown in the label; ``or_none``: the value may also be none
    hide            the control's name in ``hide=``; without it, the setting's name
    applies         whether a view has the control
    """

    name: str
    default: Any
    parse: Callable[[str], Any]
    format: Callable[[Any], str] = str
    repair: Callable[[str], Any] | None = None
    label: str = ""
    about: str = ""
    example: str = ""
    widget: Widget | None = None
    width: int | None = None
    help: str | None = None
    limits: tuple[str, str] | None = None
    or_none: bool = False
    hide: str = ""
    applies: Callable[[Any], bool] = always

    @property
    def hidden_by(self) -> str:
        """The name of its control in ``hide=``."""
        return self.hide or self.name

    @property
    def input_label(self) -> str:
        """The label of its control, with its limits."""
        if self.limits is None:
            return _(self.label)
        pattern = LIMITS_OR_NONE if self.or_none else LIMITS
        return _(pattern, label=_(self.label), low=self.limits[0], high=self.limits[1])

    @property
    def description(self) -> str:
        """What a link sets with it."""
        if not self.about and isinstance(self.widget, Choice | Segments):
            return listed(self.widget.options)
        return _(self.about)

    def nearest(self, text: str) -> Any:
        """The nearest valid value to a text that ``parse`` refuses."""
        try:
            return self.repair(text) if self.repair else self.default
        except NormvizError:
            return self.default


def parse_settings(
    settings: Sequence[Setting], query: Mapping[str, str]
) -> tuple[dict[str, Any], list[str], list[str]]:
    """The values of the valid settings, the names of the invalid ones, and an error message for each of these."""
    values: dict[str, Any] = {}
    wrong: list[str] = []
    problems: list[str] = []
    for setting in settings:
        if setting.name in query:
            try:
                values[setting.name] = setting.parse(query[setting.name])
            except NormvizError as error:
                wrong.append(setting.name)
                problems.append(str(error))
    return values, wrong, problems


def read_settings(settings: Sequence[Setting], query: Mapping[str, str]) -> tuple[dict[str, Any], str | None]:
    """The value of every setting, and the first error, if any.

    >>> read_settings([Setting("step", 1, int)], {"step": "4"})
    ({'step': 4}, None)
    """
    values, wrong, problems = parse_settings(settings, query)
    for setting in settings:
        if setting.name not in values:
            values[setting.name] = setting.nearest(query[setting.name]) if setting.name in wrong else setting.default
    return {setting.name: values[setting.name] for setting in settings}, problems[0] if problems else None


def write_settings(settings: Sequence[Setting], values: Mapping[str, Any]) -> dict[str, str]:
    """The part of a link that holds the values that are not defaults."""
    return {
        setting.name: setting.format(values[setting.name])
        for setting in settings
        if values.get(setting.name, setting.default) != setting.default
    }
