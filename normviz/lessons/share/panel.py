"""The data of the Share panel: the view as a link, an iframe, Markdown, a notebook cell, a file. The browser draws the panel."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from normviz.figures.wire import Payload
from normviz.lessons.pages import PageView, controls
from normviz.scene.view import DETAILS, FIGURE, PANELS, PARTS, View
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import N_, _

GROUPS = ((N_("Page"), PARTS), (N_("Figure"), PANELS))
GUESS = "guess"  # the sharer's answer; only added to a link on request
# Hidden in an embedded view by default.
HIDDEN_IN_SHORT = DETAILS | {"questions", "exercises"}
TWO_PANELS = {"panels", "stats", "params", "readout", "notes"}


@dataclass(frozen=True)
class AppLink(Payload):
    """A view in the full app."""

    page: str
    query: list[tuple[str, str]]


@dataclass(frozen=True)
class PartName(Payload):
    """What can be hidden.

    figure  it stays where the figure stands alone
    """

    name: str
    label: str
    figure: bool


@dataclass(frozen=True)
class Group(Payload):
    """Parts that are named together."""

    title: str
    names: list[PartName]


@dataclass(frozen=True)
class Preset(Payload):
    """A ready-made choice, and the names of what it hides."""

    label: str
    hidden: list[str]


@dataclass(frozen=True)
class SharePayload(Payload):
    """The data of the Share panel.

    guess     the answer in the address of a question, or ""
    exercise  the view is a question, or a set of exercises
    hidden    the names of what the view hides
    hint      the call of the same function on an x of the reader's own, or ""
    """

    page: str
    query: list[tuple[str, str]]
    guess: str
    title: str
    groups: list[Group]
    presets: list[Preset]
    exercise: bool
    hidden: list[str]
    caption: str
    hint: str


def app_link(drawn: PageView) -> AppLink:
    """The view in the full app, without ``hide`` and ``caption``."""
    added = _added(drawn.view)
    return AppLink(drawn.page.name, [(name, value) for name, value in drawn.query.items() if name not in added])


def _added(view: View) -> set[str]:
    """The settings of the display that Share adds to a link as the reader chooses."""
    return {*view.display.query()} - {"like", "lang"}


def share_data(drawn: PageView) -> SharePayload:
    page, there, view = drawn.page, drawn.hideable, drawn.view
    query, figure = drawn.whole_query, _figure(there)

    def group(title: str, labels: Mapping[str, str]) -> Group:
        return Group(_(title), [PartName(name, _(labels[name]), name in figure) for name in labels if name in there])

    return SharePayload(
        page=page.name,
        query=[(name, query[name]) for name in query if name not in _added(view) and name != GUESS],
        guess=query.get(GUESS, ""),
        title=page.share_title(view),
        groups=[group(title, labels) for title, labels in ((N_("Controls"), controls()), *GROUPS)],
        presets=[Preset(label, sorted(hidden)) for label, hidden in _presets(drawn).items()],
        exercise=page.is_exercise(view),
        hidden=[name for name in sorted(there) if view.display.hides(name)],
        caption=view.display.caption,
        hint=page.call(view),
    )


def _figure(there: Collection[str]) -> set[str]:
    """The names that "Figure alone" shows. Without a figure, the page's tables take its place."""
    return FIGURE if "panels" in there else FIGURE | {"table"}


def _presets(drawn: PageView) -> dict[str, Collection[str]]:
    """What each choice of the panel hides, by its label; the first one is the default. Of choices that hide the same, there is the last."""
    there, figure = drawn.hideable, _figure(drawn.hideable)
    short = HIDDEN_IN_SHORT & (there - {"table"} if "table" in figure else there)
    if drawn.page.is_exercise(drawn.view):
        choices: dict[str, Collection[str]] = {_("Exercise"): short}
    else:
        choices = {
            _("In short"): short,
            **({_("Two panels"): there - TWO_PANELS} if drawn.page.has_two_panels else {}),
            _("Figure alone"): there - figure,
            _("Without controls"): there & controls().keys(),
        }
    labels = {frozenset(hidden): label for label, hidden in [*choices.items(), (_("Everything"), ())]}
    return {label: hidden for hidden, label in labels.items()}


# Where readers report an error in a page: the variable ``NORMVIZ_REPORT``, an address with the placeholder ``{text}``.

SETTING = "NORMVIZ_REPORT"
SCHEMES = ("mailto:", "https://", "http://")


def report_address(environ: Mapping[str, str] = os.environ) -> str:
    """The address; "" if none is set, and the reader copies the text.

    Raises NormvizError if it is not an address with ``{text}``.

    >>> report_address({"NORMVIZ_REPORT": "mailto:normviz@example.edu?subject={title}&body={text}"})
    'mailto:normviz@example.edu?subject={title}&body={text}'
    """
    address = environ.get(SETTING, "").strip()
    if address and not (address.startswith(SCHEMES) and "{text}" in address and address.isprintable()):
        raise NormvizError(
            "{setting}={address} must be an address with {text}; write, for example, "
            "mailto:normviz@example.edu?subject={title}&body={text}.",
            setting=SETTING,
            address=echo(address),
            text="{text}",
            title="{title}",
        )
    return address
