"""The data of the Share panel: the view as a link, an iframe, Markdown, a notebook cell, a file. The browser draws the panel."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any

from normviz.lessons.compare import layers_of
from normviz.lessons.models import model_title
from normviz.lessons.pages import PAGES, Page
from normviz.lessons.questions.question import prose
from normviz.lessons.questions.registry import QUESTIONS, current_key
from normviz.scene.page_settings import experiments
from normviz.scene.scene_settings import compact
from normviz.scene.view import View
from normviz.scene.visibility import BESIDE_THE_FIGURE, CONTROLS, FIGURE, PANELS, PARTS
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import N_, _

GROUPS = ((N_("Controls"), CONTROLS), (N_("Page"), PARTS), (N_("Figure"), PANELS))
PAGES_WITH_EXPERIMENTS = ("train_and_eval", "gradients", "numerics")
GUESS = "guess"  # the sharer's answer; only added to a link on request
# Hidden in an embedded view by default.
HIDDEN_IN_SHORT = BESIDE_THE_FIGURE | {"x", "normalized", "output", "table", "code", "details", "questions"}
TWO_PANELS = {"panels", "stats", "params", "readout", "notes"}
PRESETS = {
    "short": N_("In short"),
    "two": N_("Two panels"),
    "figure": N_("Figure alone"),
    "no_controls": N_("Without controls"),
    "exercise": N_("Exercise"),
    "all": N_("Everything"),
}
FUNCTIONS = {"explore": "explain", "step_by_step": "steps", "gradients": "gradients"}  # pages of one layer on one x


def app_link(page: Page) -> dict[str, Any]:
    """The view in the full app, without ``hide`` and ``caption``, as the browser reads it."""
    added = _added(page.view)
    return {"page": page.name, "query": [[name, value] for name, value in page.query.items() if name not in added]}


def _added(view: View) -> set[str]:
    """The settings of the display that Share adds to a link as the reader chooses."""
    return {*view.display.query()} - {"like", "lang"}


def share_data(page: Page) -> dict[str, Any]:
    """The data of the Share panel."""
    there, view = page.hideable, page.view
    query = page.whole_query
    return {
        "page": page.name,
        "query": [[name, query[name]] for name in query if name not in _added(view) and name != GUESS],
        "guess": query.get(GUESS, ""),
        "title": title(page.name, view),
        "groups": [
            {
                "title": _(group),
                "names": [_choice(name, label, there) for name, label in labels.items() if name in there],
            }
            for group, labels in GROUPS
        ],
        "presets": [{"label": _(PRESETS[key]), "hidden": sorted(hidden)} for key, hidden in presets(page).items()],
        "exercise": _is_question(page),
        "hidden": [name for name in sorted(there) if view.display.hides(name)],
        "caption": view.display.caption,
        "hint": _hint(page.name, view),
    }


def presets(page: Page) -> dict[str, Collection[str]]:
    """What each of the ``PRESETS`` that the page has hides; the first one is the default."""
    there = page.hideable
    short = {name for name in HIDDEN_IN_SHORT & there if name != "table" or _has_figure(there)}
    if _is_question(page):
        return {"exercise": short, "all": ()}
    two = {"two": there - TWO_PANELS} if page.name == "explore" else {}
    alone = {name for name in there if not _is_figure(name, there)}
    return {
        "short": short,
        **two,
        "figure": alone,
        "no_controls": there & CONTROLS.keys(),
        "all": (),
    }


def _is_question(page: Page) -> bool:
    return page.name == "questions" and current_key(page.view.settings["q"]) in QUESTIONS


def _choice(name: str, label: str, there: Collection[str]) -> dict[str, Any]:
    """``figure``: the part is also shown with "Figure alone"."""
    return {"name": name, "label": _(label), "figure": _is_figure(name, there)}


def _is_figure(name: str, there: Collection[str]) -> bool:
    return name in FIGURE or (name == "table" and not _has_figure(there))


def _has_figure(there: Collection[str]) -> bool:
    """Without a figure, the page's tables take its place."""
    return "panels" in there


def title(page: str, view: View) -> str:
    """What the view shows, in one line: the title of the iframe."""
    if page == "questions":
        asked = current_key(view.settings["q"])
        return prose(asked).title if asked in QUESTIONS else _("Questions on normalization layers")
    name = PAGES[page].title
    if page in PAGES_WITH_EXPERIMENTS:
        name = f"{name}: {_(experiments(page)[view.settings['show']])}"
    if page == "models":
        name = f"{name}: {model_title(view.settings['model'])}"
    if page != "compare" and page not in FUNCTIONS:
        return name
    layer = ", ".join(layers_of(view)[0]) if page == "compare" else str(view.scene.layer)
    return _("{page}: {layer} on a {shape} tensor", page=name, layer=layer, shape=view.scene.shape)


def _hint(page: str, view: View) -> str:
    """The call of the same function on an x of the reader's own; "" if the page is not a function of x."""
    if page == "compare":
        layers = ", ".join(f'"{layer}"' for layer in layers_of(view)[0])
        return f"nv.compare([{layers}], x)"
    return f'nv.{FUNCTIONS[page]}("{compact(view.scene.layer)}", x)' if page in FUNCTIONS else ""


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
            _(
                "{setting}={address} must be an address with {text}; write, for example, "
                "mailto:normviz@example.edu?subject={title}&body={text}.",
                setting=SETTING,
                address=echo(address),
                text="{text}",
                title="{title}",
            )
        )
    return address
