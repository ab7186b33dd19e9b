"""Which output of a notebook carries plotly.js: the first one. It stays with that output's cell when the cell runs again."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Run:
    """One run of a cell, as the front end names it; empty where it names none."""

    cell: str = ""
    message: str = ""

    @classmethod
    def now(cls) -> Run:
        """The run that is under way in this process's Jupyter kernel."""
        ipython = sys.modules.get("IPython")
        shell: Any = ipython.get_ipython() if ipython else None
        parent: dict[str, Any] = getattr(shell, "get_parent", dict)() or {}
        return cls(
            str(parent.get("metadata", {}).get("cellId") or ""), str(parent.get("header", {}).get("msg_id") or "")
        )


_carrier: Run | None = None


def carries(run: Run) -> bool:
    """Shall this output carry plotly.js? The first of a process, and the first of each later run of the same cell."""
    global _carrier
    again = _carrier is not None and run.cell == _carrier.cell != "" and run.message != _carrier.message
    if _carrier is not None and not again:
        return False
    _carrier = run
    return True


def forget() -> None:
    """The next output is the first one again."""
    global _carrier
    _carrier = None
