"""View: what a page shows: a scene, the page's own settings, and which controls and parts are hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from normviz.layers.substitutes import LayerOnShape, Remedy, is_lookalike
from normviz.scene.repair import Reading, repair
from normviz.scene.scene import FIELD_NAMES, OWN, Scene
from normviz.scene.scene_settings import SCENE_SETTINGS
from normviz.scene.setting import OF_PAGES, Setting, parse_settings, read_settings, write_settings
from normviz.scene.visibility import DISPLAY_SETTINGS, VERSION_SETTING, Display, read_display
from normviz.texts.errors import closest, echo
from normviz.texts.messages import _, ngettext

ALWAYS_WRITTEN = (
    "shape",
    "layer",
    "data",
    "seed",
    "params",
    "at",
)  # other settings are written only if they are not the default


@dataclass(frozen=True)
class Refused:
    """What a reader has entered and no view can show. It stays in its input, with the message, until the reader corrects it.

    keys, values  of the inputs; those of a pattern are refused together
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
    """

    scene: Scene
    settings: Mapping[str, Any]
    problem: str | None = None
    display: Display = field(default_factory=Display)
    substitute: bool = False
    remedies: tuple[Remedy, ...] = ()
    refused: tuple[Refused, ...] = ()

    def query(self, settings: Sequence[Setting]) -> dict[str, str]:
        """The query that reads back as this view; defaults are left out."""
        return self.scene.query() | write_settings(settings, self.settings) | self.shown_display.query()

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
        scene, query = self.scene, self.scene.query()
        for name in ALWAYS_WRITTEN:
            setting, value = SCENE_SETTINGS[name], getattr(scene, name)
            is_used = setting.applies(self) and not (name == "data" and scene.values is not None)
            if name not in query and is_used:
                query[name] = setting.format(setting.default if value == OWN else value)
        return {name: query[name] for name in SCENE_SETTINGS if name in query}

    def with_scene(self, reading: Reading) -> View:
        """The view with another scene."""
        rest: dict[str, Any] = {"substitute": reading.substitute, "remedies": reading.remedies}
        return replace(self, scene=reading.scene, problem=reading.problem, **rest)

    def with_settings(self, problem: str | None = None, **values: Any) -> View:
        """The view with these settings of the page changed."""
        return replace(self, settings={**self.settings, **values}, problem=problem, substitute=False, remedies=())

    def without_problem(self) -> View:
        """The view as its link reads back."""
        return replace(self, problem=None, substitute=False, remedies=(), refused=())

    def after_input(self, keys: tuple[str, ...], values: tuple[Any, ...], changed: View) -> View:
        """The view after a reader has entered ``values`` in the inputs ``keys``: ``changed``, with what it refuses."""
        others = tuple(one for one in self.refused if one.keys != keys) if self._has_inputs_of(changed) else ()
        if changed.problem and (changed.scene, changed.settings) == (self.scene, self.settings):
            others = (*others, Refused(keys, values, changed.problem))
        return replace(changed, refused=others)

    def _has_inputs_of(self, other: View) -> bool:
        """Whether what is refused has an input in the other view too."""
        mine, theirs = (
            (view.scene.layout, type(view.scene.layer), view.settings.get("show")) for view in (self, other)
        )
        return mine == theirs


# Reading links leniently: the first error becomes a message, and the view is the nearest valid one.


LONGEST_QUERY = 8192  # characters, names and values together
MOST_NAMES = 64
EMBEDDING = ("embed", "embed_options")  # Streamlit's own parameters
CAMPAIGN = ("utm_", "fbclid", "gclid", "mc_")  # parameters that other sites append to links
READABLE = ",;()[]=.:'->_"  # characters that are not percent-encoded in a link


def setting_names() -> list[str]:
    """The names of the settings that a link of any page may have."""
    return list(dict.fromkeys(one.name for one in (*SCENE_SETTINGS.values(), *OF_PAGES, *DISPLAY_SETTINGS)))


def read(query: Mapping[str, str]) -> Reading:
    """The scene of a query; names that are not settings of the scene are ignored.

    >>> read({"shape": "2,3,4,4", "layer": "GroupNorm(2,3)"}).scene.layer.given["num_groups"]
    1
    """
    found, wrong, problems = parse_settings(tuple(SCENE_SETTINGS.values()), query)
    for name in wrong:
        nearest = SCENE_SETTINGS[name].nearest(query[name])
        found |= {} if nearest == SCENE_SETTINGS[name].default else {name: nearest}
    reading = repair(**{FIELD_NAMES.get(name, name): value for name, value in found.items()})
    problem = next(filter(None, [*problems, reading.problem]), None)
    return replace(reading, problem=problem, substitute=reading.substitute or not {"shape", "layer"}.isdisjoint(wrong))


def read_view(query: Mapping[str, str], settings: Sequence[Setting] = ()) -> View:
    """The view of a query on a page with these settings, or the nearest valid one.

    >>> read_view({"shape": "2,3", "layer": "LayerNorm(3)"}).scene.shape
    (2, 3)
    """
    too_long = _too_long(query)
    query = {} if too_long else query
    reading = read(query)
    values, problem = read_settings(settings, query)
    _version, version_problem = read_settings([VERSION_SETTING], query)
    display, display_problem = read_display(query)
    first = too_long or version_problem or reading.problem or problem or display_problem or _unknown_name(query)
    remedies = reading.remedies if first == reading.problem else ()
    return View(reading.scene, values, first, display, reading.substitute, remedies)


def _unknown_name(query: Mapping[str, str]) -> str | None:
    """The message about the first name that no link has."""
    known = setting_names()
    for name in query:
        if name in known or name in EMBEDDING or name.startswith(CAMPAIGN):
            continue
        meant = closest(name, known)
        if meant:
            return _("{name} is not a setting of a link. Did you mean {meant}?", name=echo(name), meant=meant)
        return _("{name} is not a setting of a link; leave it out.", name=echo(name))
    return None


def _too_long(query: Mapping[str, str]) -> str | None:
    size = sum(len(name) + len(value) for name, value in query.items())
    if size <= LONGEST_QUERY and len(query) <= MOST_NAMES:
        return None
    return ngettext(
        "this link has {n:,} setting and {size:,} characters; give at most {most_names} settings and {most:,} characters.",
        "this link has {n:,} settings and {size:,} characters; give at most {most_names} settings and {most:,} characters.",
        len(query), size=size, most_names=MOST_NAMES, most=LONGEST_QUERY,
    )  # fmt: skip


def link(query: Mapping[str, str]) -> str:
    """The query as text that a person can read and write: ``?shape=2,3,4,4&layer=LayerNorm([3,4,4])``; "" where it is empty."""
    pairs = "&".join(f"{name}={quote(value, safe=READABLE)}" for name, value in query.items())
    return f"?{pairs}" if pairs else ""
