"""normviz: who shares a mean and a variance, who shares a gamma and a beta, and how many parameters that makes.

>>> import normviz as nv
>>> nv.explain("BatchNorm2d(3)", (2, 3, 4, 4)).counts.statistics
3

What a page of the app shows has a function of the same name: ``explore``, ``compare``, ``steps``, ``train_and_eval``, ``gradients``,
``numerics``, ``questions``; ``open`` takes any link of the app.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from normviz.compute import Trace
from normviz.errors import NormvizError, NormvizWarning
from normviz.explain import Explanation, explain
from normviz.layers import Layer
from normviz.norm import Norm
from normviz.sharing import Counts

if TYPE_CHECKING:
    from normviz.export.output import Output
    from normviz.export.show import (
        compare,
        explore,
        gradients,
        numerics,
        questions,
        step_by_step,
        steps,
        train_and_eval,
    )
    from normviz.export.show import (
        open as open,
    )

__version__ = "0.1.0"
__all__ = [
    "Counts",
    "Explanation",
    "Layer",
    "Norm",
    "NormvizError",
    "NormvizWarning",
    "Output",
    "Trace",
    "compare",
    "explain",
    "explore",
    "gradients",
    "numerics",
    "questions",
    "step_by_step",
    "steps",
    "train_and_eval",
]  # and open, which would hide Python's own

PAGES = ("compare", "explore", "gradients", "numerics", "open", "questions", "step_by_step", "steps", "train_and_eval")
LATE = dict.fromkeys(PAGES, "normviz.export.show") | {"Output": "normviz.export.output"}


def __getattr__(name: str) -> Any:
    """What draws is loaded when it is asked for: plotly takes a while."""
    if name in LATE:
        return getattr(import_module(LATE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
