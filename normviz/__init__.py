"""normviz shows which elements of a tensor share a mean and a variance, which share a gamma and a beta, and the number of parameters.

>>> import normviz as nv
>>> nv.explain("BatchNorm2d(3)", (2, 3, 4, 4)).counts.statistics
3

``check`` measures which normalization a function of your own computes, and what differs from the layer that it should be.
Pages of the app have a function of the same name: ``explore``, ``compare``, ``steps``, ``train_and_eval``, ``gradients``,
``numerics``, ``questions``; ``open`` takes any link of the app, such as "/start". ``live`` is such a page whose controls the kernel answers.
"""

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

from normviz.__version__ import __version__ as __version__

if TYPE_CHECKING:
    from normviz.analysis.forward import Trace
    from normviz.api import compare, explore, gradients, live, numerics, questions, step_by_step, steps, train_and_eval
    from normviz.api import open as open
    from normviz.export.explained import Explanation, explain
    from normviz.export.measured import Check, Norms, check, check_backward, norms
    from normviz.export.output import Choices, Output
    from normviz.layers.layer import Layer
    from normviz.layers.norm import Norm
    from normviz.layers.sharing import Counts
    from normviz.measuring.models.norms import NormRow
    from normviz.measuring.report import Difference
    from normviz.texts.errors import NormvizError, NormvizWarning

__all__ = [
    "Check",
    "Choices",
    "Counts",
    "Difference",
    "Explanation",
    "Layer",
    "Norm",
    "NormRow",
    "Norms",
    "NormvizError",
    "NormvizWarning",
    "Output",
    "Trace",
    "check",
    "check_backward",
    "compare",
    "explain",
    "explore",
    "gradients",
    "live",
    "norms",
    "numerics",
    "questions",
    "step_by_step",
    "steps",
    "train_and_eval",
]  # open is not listed: a star import would hide Python's own

PAGES = ("compare", "explore", "gradients", "numerics", "open", "questions", "step_by_step", "steps", "train_and_eval")
NAMES = {
    "normviz.analysis.forward": ["Trace"],
    "normviz.api": ["live", *PAGES],
    "normviz.export.explained": ["Explanation", "explain"],
    "normviz.export.measured": ["Check", "Norms", "check", "check_backward", "norms"],
    "normviz.export.output": ["Choices", "Output"],
    "normviz.layers.layer": ["Layer"],
    "normviz.layers.norm": ["Norm"],
    "normviz.layers.sharing": ["Counts"],
    "normviz.measuring.models.norms": ["NormRow"],
    "normviz.measuring.report": ["Difference"],
    "normviz.texts.errors": ["NormvizError", "NormvizWarning"],
}
HOME = {name: module for module, names in NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name at its first use: torch and plotly load slowly, and a command can be interrupted meanwhile."""
    if name not in HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    collects = gc.isenabled()
    gc.disable()  # modules stay in memory: a collection would only walk through torch's objects
    try:
        return getattr(import_module(HOME[name]), name)
    finally:
        if collects:
            gc.enable()


def __dir__() -> list[str]:
    return sorted({*globals(), *HOME})
