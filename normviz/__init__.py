"""normviz shows which elements of a tensor share a mean and a variance, which share a gamma and a beta, and the number of parameters.

>>> import normviz as nv
>>> nv.explain("BatchNorm2d(3)", (2, 3, 4, 4)).counts.statistics
3

What one calls:

explain(layer, x)            what a layer does to x: a sentence, numbers, code and figures
check(fn, x, like=layer)     which normalization a function of your own computes, and what differs from the layer that it should be
check_backward(fn, x, ...)   the same for a backward pass that is written by hand
norms(model, *inputs)        the normalizations of a model as a table; ``.diff`` compares it with a port
diagnose(model, batches)     why a model gives other results in eval mode, and which of its norms makes the difference

Pages of the app, with figures that answer to a pointer. Each is an ``Output``, for a notebook, a file (``to_html``) or a link (``url``);
the keywords are the names of the page's link:

explore(layer, x)            one layer: who shares what
compare([layer, ...], x)     two to six layers, side by side
steps(layer, x)              the forward pass, one step at a time; ``step_by_step`` is the same
gradients(layer, x)          what moves if one input changes
all_layers(layer, x)         a map of every layer that there can be on x
train_and_eval(layer, x)     a layer in both modes, and its running statistics
numerics()                   what rounding does
models()                     the normalizations of well-known models
questions("s0")              a question with its answer
practice()                   exercises, which the page checks
start()                      first steps for newcomers
story()                      an article on why there are five layers
teach()                      what teachers need
open("/start")               any link of the app
live(layer, x)               a page with its controls, which the kernel answers

A layer is a module of torch.nn, its text such as "LayerNorm([3, 4, 4])", or a pattern, ``Norm("n c h w -> n h w", "c")``; x is a tensor, a
NumPy array or a shape. Only the names in ``__all__``, and ``open``, are public.
"""

from typing import TYPE_CHECKING

from normviz.__version__ import __version__ as __version__

if TYPE_CHECKING:
    from normviz.analysis.forward import Trace
    from normviz.api.check import Check, check, check_backward
    from normviz.api.diagnose import Diagnosis, diagnose
    from normviz.api.explain import Explanation, explain
    from normviz.api.norms import Norms, norms
    from normviz.api.pages import (
        all_layers,
        compare,
        explore,
        gradients,
        live,
        models,
        numerics,
        practice,
        questions,
        start,
        step_by_step,
        steps,
        story,
        teach,
        train_and_eval,
    )
    from normviz.api.pages import open as open
    from normviz.export.output import Choices, Output
    from normviz.layers.layer import Layer
    from normviz.layers.norm import Norm
    from normviz.layers.sharing import Counts
    from normviz.measuring.diagnosis.diagnose import DiagnosedLayer, Finding
    from normviz.measuring.models.norms import NormRow
    from normviz.measuring.report import Difference
    from normviz.texts.errors import NormvizError, NormvizWarning

# open is not listed: a star import would hide Python's own
__all__ = [
    "Check", "Choices", "Counts", "DiagnosedLayer", "Diagnosis", "Difference", "Explanation", "Finding", "Layer",
    "Norm", "NormRow", "Norms", "NormvizError", "NormvizWarning", "Output", "Trace", "all_layers", "check",
    "check_backward", "compare", "diagnose", "explain", "explore", "gradients", "live", "models", "norms",
    "numerics", "practice", "questions", "start", "step_by_step", "steps", "story", "teach", "train_and_eval",
]  # fmt: skip

_NAMES = {
    "normviz.analysis.forward": ["Trace"],
    "normviz.api.explain": ["Explanation", "explain"],
    "normviz.api.check": ["Check", "check", "check_backward"],
    "normviz.api.diagnose": ["Diagnosis", "diagnose"],
    "normviz.api.norms": ["Norms", "norms"],
    "normviz.export.output": ["Choices", "Output"],
    "normviz.layers.layer": ["Layer"],
    "normviz.layers.norm": ["Norm"],
    "normviz.layers.sharing": ["Counts"],
    "normviz.measuring.diagnosis.diagnose": ["DiagnosedLayer", "Finding"],
    "normviz.measuring.models.norms": ["NormRow"],
    "normviz.measuring.report": ["Difference"],
    "normviz.texts.errors": ["NormvizError", "NormvizWarning"],
}
_HOME = dict.fromkeys([*__all__, "open"], "normviz.api.pages")  # the functions of pages, and live
_HOME |= {name: module for module, names in _NAMES.items() for name in names}

if not TYPE_CHECKING:  # a checker of types knows the names above, and no others

    def __getattr__(name):
        """Import a public name at its first use: torch and plotly load slowly, and a command can be interrupted meanwhile."""
        import gc
        import sys
        from contextlib import nullcontext
        from importlib import import_module

        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        torch = sys.modules.get("torch")
        cpu = torch.device("cpu") if torch else nullcontext()  # a caller's default may be meta, which has no values
        collects = gc.isenabled()
        gc.disable()  # modules stay in memory: a collection would only walk through torch's objects
        try:
            with cpu:
                return getattr(import_module(_HOME[name]), name)
        finally:
            if collects:
                gc.enable()


def __dir__() -> list[str]:
    """The public names, for completion."""
    return [*__all__, "__version__", "open"]
