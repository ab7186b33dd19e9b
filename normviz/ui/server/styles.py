"""The few styles of our own, which the first HTML carries: no run of a page sends them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from normviz.figures.palette import THEMES

GROUND = f".stApp {{ --normviz-ground: light-dark({THEMES['light'].background}, {THEMES['dark'].background}); }}\n"


@cache
def styles(embedded: bool) -> str:
    """The few rules that the theme's settings cannot say, as CSS; ``embedded``: those of a page in another page too."""
    return GROUND + _css("app") + (_css("embed") if embedded else "")


def _css(name: str) -> str:
    return (files(__package__) / f"{name}.css").read_text(encoding="utf-8")
