"""The data of a plain chart: what Plotly draws, its colours named by their meaning."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np

from normviz.figures.lines import Lines
from normviz.linked.payload import frame


def chart_payload(chart: Lines, alt: str, *, plotly: str = "", theme: str | None = None) -> dict[str, Any]:
    """The data of ``chart``; ``alt`` says in a sentence what it shows."""
    drawn = {"data": _plain(chart.data), "layout": _plain(chart.layout), "alt": alt}
    return frame("chart", plotly, theme) | {"figure": drawn}


def _plain(value: Any) -> Any:
    """As strict JSON: an array of floats as Plotly's typed array, elsewhere a number that is none as null."""
    if isinstance(value, np.ndarray):
        floats = value.dtype.kind == "f"
        return {"dtype": "f8", "bdata": b64encode(value.astype("<f8").tobytes()).decode()} if floats else value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value
