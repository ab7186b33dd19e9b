"""Which output of a notebook embeds plotly.js."""

import sys
from typing import Any

_first: tuple[str, str] | None = None  # the cell run of the output that embeds it


def _cell_run() -> tuple[str, str]:
    """The identifiers of the cell and of its current run in this process's Jupyter kernel; empty if the front end has none."""
    ipython: Any = sys.modules.get("IPython")
    parent: dict[str, Any] = getattr(ipython and ipython.get_ipython(), "get_parent", dict)() or {}
    return str(parent.get("metadata", {}).get("cellId") or ""), str(parent.get("header", {}).get("msg_id") or "")


def embeds_plotly() -> bool:
    """True if this output embeds plotly.js: the first of the process, and the first of each re-run of its cell."""
    global _first
    cell, message = _cell_run()
    if _first is None or (cell == _first[0] != "" and message != _first[1]):
        _first = (cell, message)
        return True
    return False
