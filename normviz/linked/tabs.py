"""The data of tabs: HTML that was made on the server, which the module brings to life."""

from __future__ import annotations

from typing import Any

from normviz.figures import THEMES

COLOURS = ("card", "text", "muted", "border", "accent", "group")


def tabs_payload(html: str, *, theme: str | None = None) -> dict[str, Any]:
    """The data of ``html``, of which every text is escaped."""
    themes = {name: {key: getattr(colours, key) for key in COLOURS} for name, colours in THEMES.items()}
    return {"kind": "tabs", "theme": theme, "themes": themes, "html": html}
