"""Which output of a notebook embeds plotly.js: the first one, and each later run of its cell."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CellRun:
    """One run of a cell, by the identifiers of the front end; empty if it has none."""

    cell: str = ""
    message: str = ""

    @classmethod
    def now(cls) -> CellRun:
        """The current run in this process's Jupyter kernel."""
        ipython = sys.modules.get("IPython")
        shell: Any = ipython.get_ipython() if ipython else None
        parent: dict[str, Any] = getattr(shell, "get_parent", dict)() or {}
        return cls(
            str(parent.get("metadata", {}).get("cellId") or ""), str(parent.get("header", {}).get("msg_id") or "")
        )


_first: CellRun | None = None


def embeds_plotly(run: CellRun) -> bool:
    """True if this output embeds plotly.js: the first of the process, and the first of each re-run of its cell."""
    global _first
    again = _first is not None and run.cell == _first.cell != "" and run.message != _first.message
    if _first is not None and not again:
        return False
    _first = run
    return True
