"""View: what a page shows: a scene, the page's own settings, and which controls and parts a link hides (``Display``).

``hide=layer,code`` hides two things, ``hide=controls`` all controls, ``hide=all`` everything but the figure. The settings of a
hidden control still apply. Links are read leniently: the first error becomes a message, and the view is the nearest valid one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from normviz.layers.fit import LayerOnShape, Remedy, is_lookalike
from normviz.layers.forms import Tensor
from normviz.layers.pasted import Pasted, parse_layer_on_shape, read_pasted
from normviz.scene import edits, options
from normviz.scene.controls import family_called
from normviz.scene.scene import FIELD_NAMES, SCENE_SETTINGS, Scene, commas, compact, query_of
from normviz.scene.setting import (
    SEVERAL,
    Setting,
    check_length,
    integer,
    literal,
    parse_settings,
    plain_signs,
    read_settings,
    text,
    without_effect,
    write_settings,
)
from normviz.texts.errors import NormvizError, closest, echo, encodable, listed
from normviz.texts.languages import parse_language
from normviz.texts.messages import N_, _, ngettext

# What a reader types into the field of the front page, where no tensor is shown: ``/explore?typed=LayerNorm(96)``.


TYPED = "typed"  # the name of the field


def read_typed(text: str, tensor: Tensor | None = None) -> Pasted:
    """What a text is about: a layer, an expression, an error message of torch, or the name of a family of layers.

    tensor  the x that the reader names beside it

    Raises NormvizError if it is none of these.
    """
    text = plain_signs(text.strip())
    if family := family_called(text):
        scene = edits.repair(**({"shape": tensor.shape, "layout": "".join(tensor.axes)} if tensor else {})).scene
        return Pasted(edits.with_family(scene, family).scene.layer, scene.shape)
    return read_pasted(text, tensor)


def typed_query(text: str) -> dict[str, str]:
    """The query of the view of a layer, on an example of its size; of a layer on a shape; of an expression; or of an error message of torch.

    Raises NormvizError if the text is none of these.

    >>> typed_query("nn.batchnorm(64)"), typed_query("LayerNorm(96) on (8, 56, 56, 96)")
    ({'layer': 'BatchNorm2d(64)'}, {'shape': '8,56,56,96', 'layer': 'LayerNorm([96])'})
    """
    return _query_of_found(read_typed(text))


def _query_of_found(found: Pasted) -> dict[str, str]:
    return {"layer": compact(found.layer)} if found.shape is None else query_of(found.layer, found.shape, found.layout)


def with_view_of_typed(query: Mapping[str, str]) -> dict[str, str]:
    """The query, with the view that the field asks for in place of its text. A text without a view, or with a note, stays."""
    if TYPED not in query:
        return dict(query)
    others = {name: text for name, text in query.items() if name != TYPED}
    try:
        found = read_typed(query[TYPED]) if query[TYPED].strip() else None
    except NormvizError:
        return dict(query)
    return others if found is None else (dict(query) if found.note else others) | _query_of_found(found)


def typed_says(query: Mapping[str, str]) -> tuple[str, str]:
    """Why the text of the field has no view; and what it does not say, or what the message of torch in it means."""
    text = query.get(TYPED, "").strip()
    try:
        return "", read_typed(text).note if text else ""
    except NormvizError as error:
        return str(error), ""


VERSION = "1"
MOST_CAPTION = 300
MOST_STOPS = 99
ALL, ALL_CONTROLS = "all", "controls"
CAPTION = "caption"  # the name of the caption in the checks of what is hidden; no link hides a caption alone
RETIRED = ("paste", "layout")  # names of controls that no longer exist, in links that people have


@dataclass(frozen=True)
class Names:
    """The names that a link of any page may have: of its settings, and of the controls that ``hide=`` hides."""

    settings: Sequence[str]
    controls: Collection[str]


# The labels of the parts and panels that can be hidden, by name. Every other name in ``hide=`` is that of a control.
PARTS: Mapping[str, str] = {
    "prediction": N_("Prediction of the number of means"),
    "sentence": N_("Sentence"),
    "text": N_("Text"),
    "notes": N_("Notes"),
    "panels": N_("Figures"),
    "table": N_("Tables"),
    "code": N_("Code"),
    "details": N_("Details"),
    "itself": N_("Identity"),
    "time": N_("Time"),
}
PANELS: Mapping[str, str] = {
    "stats": N_("Who shares my mean and variance?"),
    "params": N_("Who shares my gamma and beta?"),
    "x": "x",
    "normalized": N_("normalized"),
    "output": N_("output"),
    "cube": N_("Cubes"),
    "train": "train()",
    "eval": "eval()",
    "gap": N_("Their difference"),
    "autograd": N_("By autograd"),
    "mean": N_("Through the mean"),
    "var": N_("Through the variance"),
    "jacobian": N_("Jacobian"),
    "dout": "dout",
    "for_gamma": N_("Summed into gamma"),
    "for_beta": N_("Summed into beta"),
    "dxhat_mean": "mean(dxhat)",
    "along_xhat": "xhat · mean(dxhat · xhat)",
    "dx": "dx",
    "stepper": N_("Buttons of the steps"),
    "formula": N_("Formula"),
    "readout": N_("Read-out"),
    "window": N_("Which slices are drawn"),
    "facts": N_("Counts"),
    "distribution": N_("Distribution of the group"),
    "worked": N_("Worked arithmetic"),
    "loops": N_("Loops"),
}
BESIDE_THE_FIGURE = {"distribution", "facts", "worked", "loops"}  # drawn with a figure, but not a part of it
DETAILS = BESIDE_THE_FIGURE | {"x", "normalized", "output", "table", "code", "details"}
# Not shown on a projector, besides the controls.
NOT_PRESENTED = DETAILS | {"text", "time", "itself", "prediction", "readout"}
FIGURE = {"panels", "notes", *PANELS} - BESIDE_THE_FIGURE


@dataclass(frozen=True)
class Display:
    """How a view is shown.

    hide     the names of hidden controls and parts
    caption  under the figure
    present  for a projector: the figure and one sentence fill the screen, without controls
    tour     the name of a tour that the view belongs to
    stop     the number of the view in the tour, from 1; 0: the tour's beginning
    like     the layer and the shape that the view is a small look-alike of
    open     the names of parts that are open: "values", "worked", "code"
    lang     the language that the link names; "" for the reader's own. Ignored by ``==``.
    """

    hide: tuple[str, ...] = ()
    caption: str = ""
    present: bool = False
    tour: str = ""
    stop: int = 0
    like: LayerOnShape | None = None
    open: tuple[str, ...] = ()
    lang: str = field(default="", compare=False)

    def hides(self, name: str) -> bool:
        """Whether the control or part called ``name`` is hidden.

        >>> Display(("all",)).hides("code"), Display(("all",)).hides("stats"), Display(("controls",)).hides("layer")
        (True, False, True)
        """
        if name in self.hide or (self.present and name in NOT_PRESENTED):
            return True
        if (self.present or ALL_CONTROLS in self.hide) and _is_control(name):
            return True
        return ALL in self.hide and name not in FIGURE

    def query(self) -> dict[str, str]:
        """The settings ``hide``, ``caption``, ... of a link; defaults are left out."""
        return write_settings(DISPLAY_SETTINGS, vars(self))


def _is_control(name: str) -> bool:
    return name not in (ALL, CAPTION) and name not in PARTS and name not in PANELS


def read_display(query: Mapping[str, str], controls: Collection[str] | None = None) -> tuple[Display, str | None]:
    """The display of a query, and the first error, if any.

    controls  the names of all controls; without them, every name may be that of a control

    >>> read_display({"hide": "layer, data", "caption": "Look at row 2."})
    (Display(hide=('layer', 'data'), caption='Look at row 2.', present=False, tour='', stop=0, like=None, open=(), lang=''), None)
    """
    values, problem = read_settings(DISPLAY_SETTINGS, query)
    del values[VERSION_SETTING.name]
    if controls is not None and (unknown := unknown_names(values["hide"], controls)):
        values["hide"] = tuple(name for name in values["hide"] if name not in unknown)
        problem = hide_problem(unknown)
    return Display(**values), problem


def _parse_version(text: str) -> str:
    if text.strip() != VERSION:
        raise NormvizError(
            "v={value} is an unknown version of links; this app reads v={version} and ignores settings that it does not know.",
            value=echo(text),
            version=VERSION,
        )
    return VERSION


def _parse_present(text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise NormvizError("present={value} must be true or false.", value=echo(text))
    return text.strip().lower() == "true"


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip()))


def unknown_names(hide: Sequence[str], controls: Collection[str]) -> list[str]:
    """The names in ``hide=`` that no control and no part has."""
    known = {ALL, ALL_CONTROLS, *RETIRED, *PARTS, *PANELS, *controls}
    return [name for name in hide if name not in known]


def hide_problem(unknown: Sequence[str]) -> str:
    """The message about names in ``hide=`` that no control and no part has."""
    return ngettext(
        "hide={names} is not the name of a control or a part; write, for example, hide=layer,code, hide=controls or hide=all.",
        "hide={names} are not names of controls or parts; write, for example, hide=layer,code, hide=controls or hide=all.",
        len(unknown),
        names=listed(map(echo, unknown[:3]), "and"),
    )


OPENED = ("values", "worked", "code")  # parts that are closed until a reader, or a link, opens them


def _parse_open(text: str) -> tuple[str, ...]:
    if unknown := [name for name in _names(text) if name not in OPENED]:
        raise NormvizError(
            "open={name} is not a part that opens; write open={parts}.", name=echo(unknown[0]), parts=",".join(OPENED)
        )
    return _names(text)


def _one_line(text: str) -> str:
    """The text on one line, without control characters."""
    kept = "".join(" " if unicodedata.category(letter) == "Cc" else letter for letter in text)
    return " ".join(kept.split())


VERSION_SETTING = Setting(
    "v", VERSION, _parse_version, about=N_("the version of the link; without it, 1"), example="1", keyword=False
)
DISPLAY_SETTINGS = (
    VERSION_SETTING,
    Setting(
        "hide", (), _names, ",".join,
        about=N_("what is not shown: names of controls and parts, separated by commas"), example="layer,data", type=SEVERAL,
    ),
    Setting(
        "caption", "", lambda text: check_length("caption", _one_line(text), MOST_CAPTION),
        repair=lambda text: encodable(_one_line(text)[:MOST_CAPTION].strip()),
        about=N_("a line under the figure, up to 300 characters, shown as text"), example="Look at row 2.",
    ),
    Setting(
        "present", False, _parse_present, lambda present: str(present).lower(),
        about=N_("true: for a projector, the figure and one sentence fill the screen, and the space key shows the answer"), example="true", type="bool",
    ),
    text("tour", 60, keyword=False, about=N_("the name of a tour"), example="normalized-shape"),
    integer("stop", 0, MOST_STOPS, 0, widget=None, keyword=False, about=N_("which view of the tour is shown"), example="2"),
    Setting(
        "like", None, parse_layer_on_shape, lambda like: f"{compact(like[0])} on {commas(like[1])}",
        about=N_("the layer and the shape that the view is a small look-alike of"), example="LayerNorm([768]) on 32,128,768", keyword=False,
    ),
    Setting(
        "open", (), _parse_open, ",".join, lambda text: tuple(name for name in _names(text) if name in OPENED),
        about=N_("the parts that are open: values, worked (the numbers, worked out) and code"), example="code", keyword=False,
        type=f"{literal(OPENED)} | Sequence[{literal(OPENED)}]",
    ),
    Setting("lang", "", parse_language, about=N_("the language; without it, the reader's own"), example="es"),
)  # fmt: skip


# The view


# Other settings are written only if they are not the default.
ALWAYS_WRITTEN = ("shape", "layer", "data", "seed", "params", "at")


@dataclass(frozen=True)
class Refused:
    """What a reader has entered and no view can show. It stays in its input, with the message, until the reader corrects it.

    keys, values  of the inputs; all inputs of a pattern are refused together
    """

    keys: tuple[str, ...]
    values: tuple[Any, ...]
    message: str


@dataclass(frozen=True)
class View:
    """What a page shows.

    settings    the values of the page's own settings, by name
    problem     the first error in the requested fields, if any
    display     the hidden controls and parts, and the caption
    substitute  whether the scene has another layer or another x than requested
    remedies    what torch accepts instead of the requested layer
    refused     the reader's invalid entries
    note        about the text from which the view was read
    """

    scene: Scene
    settings: Mapping[str, Any]
    problem: str | None = None
    display: Display = field(default_factory=Display)
    substitute: bool = False
    remedies: tuple[Remedy, ...] = ()
    refused: tuple[Refused, ...] = ()
    note: str = ""

    def query(self, settings: Sequence[Setting]) -> dict[str, str]:
        """The query that reads back as this view; defaults, and what has no effect on the view, are left out."""
        used = [setting for setting in settings if setting.applies(self)]
        return self.scene.query() | write_settings(used, self.settings) | self.shown_display.query()

    @property
    def shown_display(self) -> Display:
        """The display, without the name of a look-alike that the scene no longer is."""
        return self.display if self.is_lookalike else replace(self.display, like=None)

    @property
    def is_lookalike(self) -> bool:
        """Whether the scene is still the look-alike that the link names."""
        like, scene = self.display.like, self.scene
        return like is not None and is_lookalike(like, scene.layer, scene.shape, scene.axes)

    def with_like(self, like: LayerOnShape | None) -> View:
        """The view as a small look-alike."""
        return replace(self, display=replace(self.display, like=like))

    def whole_scene_query(self) -> dict[str, str]:
        """The query of the scene, defaults too: it reads back as this scene also after the app's defaults have changed."""
        scene = self.scene.in_link
        query, changed = scene.query(), replace(self, scene=scene)
        for name in ALWAYS_WRITTEN:
            setting = SCENE_SETTINGS[name]
            is_used = setting.applies(changed) and not (name == "data" and scene.values is not None)
            if name not in query and is_used:
                query[name] = setting.format(getattr(scene, name))
        return {name: query[name] for name in SCENE_SETTINGS if name in query}

    def with_scene(self, reading: edits.Reading) -> View:
        """The view with another scene."""
        return replace(self, **vars(reading))

    def with_settings(self, problem: str | None = None, **values: Any) -> View:
        """The view with these settings of the page changed."""
        return replace(
            self, settings={**self.settings, **values}, problem=problem, substitute=False, remedies=(), note=""
        )

    def without_problem(self) -> View:
        """The view as its link reads back."""
        return replace(self, problem=None, substitute=False, remedies=(), refused=(), note="")

    def after_input(self, keys: tuple[str, ...], values: tuple[object, ...], changed: View) -> View:
        """The view after a reader has entered ``values`` in the inputs ``keys``: ``changed``, with what it refuses."""
        mine, theirs = (
            (view.scene.layout, type(view.scene.layer), view.settings.get("show")) for view in (self, changed)
        )  # what is refused has an input in both views if these are the same
        others = tuple(one for one in self.refused if one.keys != keys) if mine == theirs else ()
        if changed.problem and (changed.scene, changed.settings) == (self.scene, self.settings):
            others = (*others, Refused(keys, values, changed.problem))
        return replace(changed, refused=others)


# Reading links leniently: the first error becomes a message, and the view is the nearest valid one.

LONGEST_QUERY = 8192  # characters, names and values together
MOST_NAMES = 64
READABLE = ",;()[]=.:'->_"  # characters that are not percent-encoded in a link


def read(query: Mapping[str, str]) -> edits.Reading:
    """The scene of a query; names that are not settings of the scene are ignored.

    >>> read({"shape": "2,3,4,4", "layer": "GroupNorm(2,3)"}).scene.layer.given["num_groups"]
    1
    """
    found, problems = parse_settings(SCENE_SETTINGS.values(), query)
    for name in problems:
        nearest = SCENE_SETTINGS[name].nearest(query[name])
        found |= {} if nearest == SCENE_SETTINGS[name].default else {name: nearest}
    reading = edits.repair(**{FIELD_NAMES.get(name, name): value for name, value in found.items()})
    substitute = reading.substitute or not {"shape", "layer"}.isdisjoint(problems)
    return replace(reading, problem=next(iter(problems.values()), reading.problem), substitute=substitute)


def read_view(query: Mapping[str, str], settings: Sequence[Setting] = (), known: Names | None = None) -> View:
    """The view of a query on a page with these settings, or the nearest valid one.

    known  the names that links of all pages may have; without them, no name is a mistake

    >>> read_view({"shape": "2,3", "layer": "LayerNorm(3)"}).scene.shape
    (2, 3)
    """
    too_long = length_problem(query)
    query = {} if too_long else query
    reading = read(query)
    values, problem = read_settings(settings, query)
    _version, version_problem = read_settings([VERSION_SETTING], query)
    display, display_problem = read_display(query, known.controls if known else None)
    (typed, note), unknown = typed_says(query), _unknown_name(query, known.settings) if known else None
    problems = (too_long, version_problem, typed, unknown, reading.problem, problem, display_problem)
    changed = [one.name for one in settings if one.name in query and values[one.name] != one.default]
    first = next(filter(None, problems), None) or without_effect(settings, values, changed)
    remedies = reading.remedies if first == reading.problem else ()
    return View(reading.scene, values, first, display, reading.substitute, remedies, note=note)


def _unknown_name(query: Mapping[str, str], known: Sequence[str]) -> str | None:
    """The message about the first name that no link has."""
    for name in query:
        if name in known or name in (*options.EMBEDDING, TYPED) or name.startswith(options.CAMPAIGN):
            continue
        meant = closest(name, known)
        if meant:
            return _("{name} is not a setting of a link. Did you mean {meant}?", name=echo(name), meant=meant)
        return _("{name} is not a setting of a link; leave it out.", name=echo(name))
    return None


def length_problem(query: Mapping[str, str]) -> str | None:
    """The message about a link that is too long to be shown, saved or opened."""
    size = sum(len(name) + len(value) for name, value in query.items())
    if size <= LONGEST_QUERY and len(query) <= MOST_NAMES:
        return None
    return ngettext(
        "this link has {n:,} setting and {size:,} characters; give at most {most_names} settings and {most:,} characters.",
        "this link has {n:,} settings and {size:,} characters; give at most {most_names} settings and {most:,} characters.",
        len(query), size=size, most_names=MOST_NAMES, most=LONGEST_QUERY,
    )  # fmt: skip


def split_link(text: str) -> SplitResult:
    """The parts of a link. Raises NormvizError if it is not one, such as ``http://[::1/``."""
    try:
        return urlsplit(text)
    except ValueError:
        raise NormvizError("link={link} is not a web address; copy it again.", link=echo(text)) from None


def link(query: Mapping[str, str]) -> str:
    """The query as text that a person can read and write: ``?shape=2,3,4,4&layer=LayerNorm([3,4,4])``; "" where it is empty."""
    pairs = "&".join(f"{name}={quote(value, safe=READABLE)}" for name, value in query.items())
    return f"?{pairs}" if pairs else ""
