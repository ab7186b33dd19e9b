"""The data of a chart: Plotly's traces and layout as JSON; each trace names its color by meaning."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.figures.charts import Lines


def chart_payload(chart: Lines, alt: str) -> dict[str, Any]:
    """The data of ``chart``; ``alt`` describes it in a sentence."""
    return {"kind": "chart", "figure": {"data": _json(chart.data), "layout": _json(chart.layout), "alt": alt}}


def _json(value: Any) -> Any:
    """The value as strict JSON: arrays as Plotly's typed arrays, NaN and infinity elsewhere as null."""
    if isinstance(value, np.ndarray):
        return _typed(value)
    if isinstance(value, Mapping):
        return {name: _json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_json(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _typed(array: NDArray[Any]) -> Any:
    """Floats as float64, integers in the fewest bytes that hold them; a list for a type that Plotly does not have."""
    for kind in ("f8",) if array.dtype.kind == "f" else ("i1", "i2", "i4"):
        packed = array.astype(f"<{kind}")
        if np.array_equal(packed, array, equal_nan=True):
            return {"dtype": kind, "bdata": b64encode(packed.tobytes()).decode()}
    return array.tolist()
