"""View: what a page shows: a scene, the page's own settings, and which controls and parts are hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from normviz.layers.substitutes.lookalike import LayerOnShape, is_lookalike
from normviz.layers.substitutes.remedies import Remedy
from normviz.scene.own import OWN
from normviz.scene.repair import Reading
from normviz.scene.scene import Scene
from normviz.scene.settings.scene_settings import SCENE_SETTINGS
from normviz.scene.settings.setting import Setting, write_settings
from normviz.scene.visibility import Display

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
