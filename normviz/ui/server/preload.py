"""Imports torch, plotly and the pages in a thread, so that the server listens at once.

The first visitor's browser fetches Streamlit's own files meanwhile. Other threads get these modules from here, because a module that one
thread is importing can be incomplete in another.
"""

from __future__ import annotations

import gc
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from normviz import ui

NOT_PRELOADED = ("server", "__main__")  # what starts the preloading
_thread = ThreadPoolExecutor(1, "preload")


@cache
def import_future() -> Future[None]:
    """Start the imports at the first call; the future is done when all of them are."""
    return _thread.submit(_import_all)


def import_ready(module: str) -> ModuleType:
    """The module, as soon as everything is imported. Raises the exception of an import that failed."""
    import_future().result()
    return import_module(module)


def _import_all() -> None:
    gc.disable()  # modules stay in memory: each collection would only walk through torch's objects again
    try:
        for _, name, _ in walk_packages(ui.__path__, f"{ui.__name__}."):
            if name.split(".")[2] not in NOT_PRELOADED:
                import_module(name)
        import_module("normviz.analysis.forward").use_one_thread()
        gc.freeze()
    finally:
        gc.enable()
