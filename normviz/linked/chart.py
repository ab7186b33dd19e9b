"""The data of a plain chart: a Plotly figure whose colours are named by their meaning."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from normviz.linked.payload import frame

if TYPE_CHECKING:
    import plotly.graph_objects as go


def chart_payload(figure: go.Figure, alt: str, *, plotly: str = "", theme: str | None = None) -> dict[str, Any]:
    """The data of ``figure``; ``alt`` says in a sentence what it shows."""
    made = json.loads(figure.to_json())
    made["layout"].pop("template", None)
    return frame("chart", plotly, theme) | {"figure": {"data": made["data"], "layout": made["layout"], "alt": alt}}
