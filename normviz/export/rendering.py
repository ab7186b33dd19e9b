"""kaleido: a Chromium of its own that draws Plotly figures, with the plotly.js of the installed package."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Thread
from typing import Any

import kaleido
from choreographer.errors import BrowserDepsError, BrowserFailedError, ChromeNotFoundError

from normviz.layers.errors import NormvizError, echo

Job = tuple[dict[str, Any], dict[str, Any]]  # a figure as JSON's values, and kaleido's "format" and "scale"


def rendered(jobs: Sequence[Job], browser: str, patience: float) -> list[bytes]:
    """The files' bytes. A notebook has an event loop of its own, so this runs in a thread.

    Raises NormvizError where the browser does not start, or does not answer in ``patience`` seconds.
    """
    found: list[bytes] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.extend(asyncio.run(_render(jobs, browser, patience)))
        except BaseException as error:
            failed.append(error)

    thread = Thread(target=run, name="normviz-pictures")
    thread.start()
    thread.join()
    if not failed:
        return found
    (error,) = failed
    if isinstance(error, ChromeNotFoundError | BrowserFailedError | BrowserDepsError | OSError):
        raise NormvizError(
            f"the browser {browser} did not start; install Chromium or Chrome (Debian: apt install chromium), or name "
            "another in BROWSER_PATH."
        ) from error
    if isinstance(error, TimeoutError):
        raise NormvizError(f"the browser {browser} drew no picture in {patience:g} s; try a smaller tensor.") from error
    if isinstance(error, Exception):
        raise NormvizError(f"the picture could not be drawn by {browser}: {echo(str(error))}.") from error
    raise error


async def _render(jobs: Sequence[Job], browser: str, patience: float) -> list[bytes]:
    # MathJax would be fetched from a CDN; no text of ours is LaTeX.
    async with kaleido.Kaleido(path=browser, n=1, timeout=patience, mathjax=False) as drawing:
        return [await drawing.calc_fig(figure, opts=options) for figure, options in jobs]
