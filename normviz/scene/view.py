"""What a page shows: the scene, the page's own settings beside it, the frame around both, and what was wrong with the wish for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from normviz.scene.query import read
from normviz.scene.scene import READABLE, Scene
from normviz.scene.settings import Field, read_settings, write_settings
from normviz.scene.visibility import VERSIONS, Frame, read_frame

LONGEST_QUERY = 8192  # letters, names and values together
MOST_NAMES = 64


@dataclass(frozen=True)
class View:
    """The scene, the page's settings, what was wrong with the wish for them, if anything, and what is hidden or said under it."""

    scene: Scene
    settings: dict[str, Any]
    problem: str | None = None
    frame: Frame = field(default_factory=Frame)

    def query(self, fields: Sequence[Field]) -> dict[str, str]:
        """The query that reads back as this view; what is as usual is left out."""
        return self.scene.query() | write_settings(fields, self.settings) | self.frame.query()


def read_view(query: Mapping[str, str], fields: Sequence[Field] = ()) -> View:
    """The view that a query asks for, or the nearest legal one.

    >>> read_view({"shape": "2,3", "layer": "LayerNorm(3)"}).scene.shape
    (2, 3)
    """
    too_long = _too_long(query)
    query = {} if too_long else query
    reading, (settings, problem) = read(query), read_settings(fields, query)
    _, of_version = read_settings([VERSIONS], query)
    frame, of_frame = read_frame(query)
    return View(reading.scene, settings, too_long or of_version or reading.problem or problem or of_frame, frame)


def _too_long(query: Mapping[str, str]) -> str | None:
    letters = sum(len(name) + len(value) for name, value in query.items())
    if letters <= LONGEST_QUERY and len(query) <= MOST_NAMES:
        return None
    return (
        f"this address has {len(query):,} names and {letters:,} letters, and up to {MOST_NAMES} and {LONGEST_QUERY:,} are read; "
        "leave some out."
    )


def link(query: Mapping[str, str]) -> str:
    """The query as text that a person can read and write: ``?shape=2,3,4,4&layer=LayerNorm([3,4,4])``; "" where it is empty."""
    pairs = "&".join(f"{name}={quote(value, safe=READABLE + ';')}" for name, value in query.items())
    return f"?{pairs}" if pairs else ""
