"""What takes a while to import - torch, plotly, the pages - imported in a thread of its own, while the server already listens.

The first visitor's browser fetches Streamlit's own files meanwhile. Whoever needs what is imported takes it from here: two threads that
import packages with circles in them may meet half-made modules.
"""

from __future__ import annotations

import gc
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from normviz import ui

SCRIPTS = ("normviz.ui.shell", "normviz.ui.__main__")  # importing them runs them
_thread = ThreadPoolExecutor(1, "loading")


@cache
def started() -> Future[None]:
    """The first call begins it; done when all is imported."""
    return _thread.submit(_load)


def loaded(module: str) -> ModuleType:
    """A module, once all is imported. Raises what the import raised."""
    started().result()
    return import_module(module)


def _load() -> None:
    gc.disable()  # what is imported stays: collections would go through torch's heap again and again
    try:
        for _, name, _ in walk_packages(ui.__path__, f"{ui.__name__}."):
            if name not in SCRIPTS:
                import_module(name)
        import_module("normviz.analysis.forward").compute_alone()
        gc.freeze()  # nor does any later one
    finally:
        gc.enable()
