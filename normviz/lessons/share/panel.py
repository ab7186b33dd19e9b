"""The data of the Share panel: the view as a link, an iframe, Markdown, a notebook cell, a file. The browser draws the panel."""

import os
from collections.abc import Collection, Mapping
from typing import Any

from normviz.lessons.pages import PageView, controls
from normviz.scene.view import DETAILS, FIGURE, PANELS, PARTS, View
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import N_, _

GROUPS = ((N_("Page"), PARTS), (N_("Figure"), PANELS))
GUESS = "guess"  # the sharer's answer; only added to a link on request
# Hidden in an embedded view by default.
HIDDEN_IN_SHORT = DETAILS | {"questions", "exercises"}
TWO_PANELS = {"panels", "stats", "params", "readout", "notes"}


def app_link(shown: PageView) -> dict[str, Any]:
    """The view in the full app, without ``hide`` and ``caption``, as the browser reads it."""
    added = _added(shown.view)
    return {
        "page": shown.page.name,
        "query": [[name, value] for name, value in shown.query.items() if name not in added],
    }


def _added(view: View) -> set[str]:
    """The settings of the display that Share adds to a link as the reader chooses."""
    return {*view.display.query()} - {"like", "lang"}


def share_data(shown: PageView) -> dict[str, Any]:
    """The data of the Share panel."""
    page, there, view = shown.page, shown.hideable, shown.view
    query, figure = shown.whole_query, _figure(there)
    return {
        "page": page.name,
        "query": [[name, query[name]] for name in query if name not in _added(view) and name != GUESS],
        "guess": query.get(GUESS, ""),
        "title": page.share_title(view),
        "groups": [
            {
                "title": _(group),
                "names": [
                    {"name": name, "label": _(label), "figure": name in figure}
                    for name, label in labels.items()
                    if name in there
                ],
            }
            for group, labels in ((N_("Controls"), controls()), *GROUPS)
        ],
        "presets": [{"label": label, "hidden": sorted(hidden)} for label, hidden in _presets(shown).items()],
        "exercise": page.is_exercise(view),
        "hidden": [name for name in sorted(there) if view.display.hides(name)],
        "caption": view.display.caption,
        "hint": page.call(view),
    }


def _figure(there: Collection[str]) -> set[str]:
    """The names that "Figure alone" shows. Without a figure, the page's tables take its place."""
    return FIGURE if "panels" in there else FIGURE | {"table"}


def _presets(shown: PageView) -> dict[str, Collection[str]]:
    """What each choice of the panel hides, by its label; the first one is the default. Of choices that hide the same, there is the last."""
    there, figure = shown.hideable, _figure(shown.hideable)
    short = HIDDEN_IN_SHORT & (there - {"table"} if "table" in figure else there)
    if shown.page.is_exercise(shown.view):
        choices: dict[str, Collection[str]] = {_("Exercise"): short}
    else:
        choices = {
            _("In short"): short,
            **({_("Two panels"): there - TWO_PANELS} if shown.page.has_two_panels else {}),
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
