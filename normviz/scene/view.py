"""View: what a page shows: a scene, the page's own settings, and which controls and parts are hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
)  # the others are only written where they are no defaults


@dataclass(frozen=True)
class View:
    """What a page shows.

    settings  the values of the page's own settings, by name
    problem   the first error in the requested fields, if any
    display   the hidden controls and parts, and the caption
    """

    scene: Scene
    settings: Mapping[str, Any]
    problem: str | None = None
    display: Display = field(default_factory=Display)

    def query(self, settings: Sequence[Setting]) -> dict[str, str]:
        """The query that reads back as this view; defaults are left out."""
        return self.scene.query() | write_settings(settings, self.settings) | self.display.query()

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
        return replace(self, scene=reading.scene, problem=reading.problem)

    def with_settings(self, problem: str | None = None, **values: Any) -> View:
        """The view with these settings of the page changed."""
        return replace(self, settings={**self.settings, **values}, problem=problem)
