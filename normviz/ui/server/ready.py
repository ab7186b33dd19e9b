"""Readiness: whether everything is imported and torch computes a known layer correctly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from time import monotonic

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from normviz.ui.server.preload import import_future

KNOWN = (1, 2, 3, 4), (0, 0, 10, 10)
# Means 2.5 and 5, variances 1.25 and 25.
EXPECTED = tuple(x / 5**0.5 for x in (-3, -1, 1, 3)), (-1, -1, 1, 1)
CLOSE = 1e-4  # eps is 1e-5, the smaller variance 1.25
FRESH = 5.0  # s during which a result is reused
PATIENCE = 2.0  # s, until the computation counts as failed


def wrong_result() -> str | None:
    """The error in ``LayerNorm(4)`` of known numbers, computed by its pattern and by torch's own layer; None if both are correct."""
    import numpy as np

    from normviz.analysis.description import describe

    e = describe("LayerNorm(4)", np.array(KNOWN, dtype=np.float32))
    error = float(np.abs(e.trace.output.detach().numpy() - EXPECTED).max())
    if not error < CLOSE:
        return f"LayerNorm(4) of known numbers is wrong by {error:.3g}"
    difference = e.agreement
    if difference is not None and difference < CLOSE:
        return None
    return f"torch's LayerNorm(4) differs from its pattern by {difference}"


class Readiness:
    """Runs ``check`` in a thread, at most once in ``fresh`` seconds and never twice at a time.

    ``check()`` returns None or the reason why the process is not ready; an exception is a reason too.
    """

    def __init__(
        self,
        check: Callable[[], str | None] = wrong_result,
        fresh: float = FRESH,
        patience: float = PATIENCE,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.check, self.fresh, self.patience, self.clock = check, fresh, patience, clock
        self._found: str | None = None
        self._until = float("-inf")
        self._running: asyncio.Task[None] | None = None

    async def reason(self) -> str | None:
        """Why the process is not ready; None if it is ready."""
        if self._running is None:
            if self.clock() < self._until:
                return self._found
            self._running = asyncio.create_task(self._check())
        done, _ = await asyncio.wait({self._running}, timeout=self.patience)
        return self._found if done else f"torch has not answered for {self.patience:g} s"

    async def _check(self) -> None:
        try:
            self._found = await asyncio.to_thread(self.check)
        except Exception as error:  # any exception is a reason
            self._found = f"{type(error).__name__}: {error}"
        finally:
            self._until, self._running = self.clock() + self.fresh, None


def _import_problem(imports: Future[None]) -> str | None:
    """Why the pages cannot be shown; None if everything is imported."""
    if not imports.done():
        return "torch is being imported"
    error = imports.exception()
    return f"{type(error).__name__}: {error}" if error else None


_this_process = Readiness()


async def ready(request: Request) -> Response:
    """200 if everything is imported and torch computes correctly, otherwise 503 with the reason."""
    reason = _import_problem(import_future()) or await _this_process.reason()
    return PlainTextResponse(
        "ready\n" if reason is None else f"not ready: {reason}\n",
        status_code=200 if reason is None else 503,
        headers={"Cache-Control": "no-store"},
    )
