"""The data of tabs: HTML that was made on the server, which the module brings to life."""

from __future__ import annotations

from typing import Any


def tabs_payload(html: str, *, theme: str | None = None) -> dict[str, Any]:
    """The data of ``html``, of which every text is escaped."""
    return {"kind": "tabs", "theme": theme, "html": html}
