"""normviz: who shares a mean and a variance, who shares a gamma and a beta, and how many parameters that makes.

>>> import normviz as nv
>>> nv.explain("BatchNorm2d(3)", (2, 3, 4, 4)).counts.statistics
3

What a page of the app shows has a function of the same name: ``explore``, ``compare``, ``steps``, ``train_and_eval``, ``gradients``,
``numerics``, ``questions``; ``open`` takes any link of the app.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from normviz.compute import Trace
    from normviz.errors import NormvizError, NormvizWarning
    from normviz.explanation import Explanation, explain
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
    from normviz.layers import Layer
    from normviz.norm import Norm
    from normviz.sharing import Counts

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
HOME = dict.fromkeys(PAGES, "export.show") | {
    "Counts": "sharing",
    "Explanation": "explanation",
    "Layer": "layers",
    "Norm": "norm",
    "NormvizError": "errors",
    "NormvizWarning": "errors",
    "Output": "export.output",
    "Trace": "compute",
    "explain": "explanation",
}


def __getattr__(name: str) -> Any:
    """What is asked for is loaded then: torch and plotly take a while, and a command can be stopped while they load."""
    if name not in HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *HOME})
