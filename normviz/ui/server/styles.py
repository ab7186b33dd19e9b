"""normviz's own styles, which are part of the first HTML, so that no run of a page sends them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from normviz.figures.palette import THEMES

BACKGROUND = (
    f".stApp {{ --normviz-background: light-dark({THEMES['light'].background}, {THEMES['dark'].background}); }}\n"
)


@cache
def styles(embedded: bool) -> str:
    """CSS for what Streamlit's theme settings cannot express. The controls of an embedded page are not folded."""
    return BACKGROUND + _css("app") + _css("first_page") + _css("embed" if embedded else "fold")


def _css(name: str) -> str:
    return (files(__package__) / "css" / f"{name}.css").read_text(encoding="utf-8")
