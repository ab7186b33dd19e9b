"""The data of a plain chart: what Plotly draws, its colours named by their meaning."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.figures.charts import Lines
from normviz.figures.payload.linked import frame


def chart_payload(chart: Lines, alt: str, *, plotly: str = "", theme: str | None = None) -> dict[str, Any]:
    """The data of ``chart``; ``alt`` says in a sentence what it shows."""
    drawn = {"data": _plain(chart.data), "layout": _plain(chart.layout), "alt": alt}
    return frame("chart", plotly, theme) | {"figure": drawn}


def _plain(value: Any) -> Any:
    """As strict JSON: an array as Plotly's typed array, elsewhere a number that is none as null."""
    if isinstance(value, np.ndarray):
        return _typed(value)
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _typed(array: NDArray[Any]) -> Any:
    """Floats to the last bit, whole numbers in the fewest bytes that hold them; as a list where Plotly has no such type."""
    for kind in ("f8",) if array.dtype.kind == "f" else ("i1", "i2", "i4"):
        packed = array.astype(f"<{kind}")
        if np.array_equal(packed, array, equal_nan=True):
            return {"dtype": kind, "bdata": b64encode(packed.tobytes()).decode()}
    return array.tolist()
