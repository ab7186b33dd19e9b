"""``nv.check`` and ``nv.norms``: what is measured of a function and of a model, with its view in a notebook.

A check shows the groups of the function next to the groups of the expected layer. The normalizations of a model are a table, whose rows open
their views: as links, or with ``explore``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from torch import nn

from normviz.api.result import Result
from normviz.export.arguments import Array
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring import check as functions
from normviz.measuring.models import norms as models
from normviz.texts.calls import checked_call
from normviz.texts.errors import NormvizError

if TYPE_CHECKING:
    from normviz.export.arguments import X
    from normviz.export.output import Options, Output

__tracebackhide__ = True  # pytest shows the frame of the caller


@checked_call
def check(
    fn: Callable[..., Any],
    x: X | Array,
    like: str | Layer | Norm | nn.Module | None = None,
    *,
    layout: str | None = None,
    params: Mapping[str, Any] | None = None,
    shapes: Sequence[Sequence[int]] = (),
    backward: bool | None = None,
    timeout: float | None = None,
) -> Check:
    """Which normalization ``fn`` computes, measured from outside, and whether it is the one of ``like``.

    With ``like``, the output of fn is compared with that of ``like`` on x, in its dtype, with the gamma and beta of fn; then on other
    values of x, gamma and beta, with the gradients, and for a module in both modes and after two batches. An output is wrong if its
    error exceeds the tolerance of ``torch.testing.assert_close`` and a few times torch's own error. If it is, the parts of the formula
    are measured to say why.

    fn      a function of a tensor (or of a NumPy array, if x is one), or a module; the output has the shape of x, or is the first
            of a tuple
    x       a tensor, an array of NumPy or JAX, or a shape: fn is called with x, and with other values of its shape
    like    what fn should be: the text of a layer, a module, or a ``Norm``. A module gives its layer: the values of its gamma and beta
            do not matter.
    layout  axis letters, ``"NHWC"``; default: the axes of ``like``. Layers of channels, such as BatchNorm2d, are expected to use the
            axis C, wherever it is.
    params  further arguments of fn by name; gamma and beta are found among them, also in lists and dictionaries, by name or by what they
            do. Stored statistics have the names running_mean and running_var
    shapes  other shapes of x on which fn must do the same; ``like`` must take them, too
    backward  whether the gradients are compared; default: if the output requires a gradient
    timeout seconds after which the check ends, at the next call of fn; default: none

    Parameters of a module, and tensors in a closure that require a gradient, may have any values. Other numbers that fn multiplies by
    or adds are differences. Without params and parameters, gamma is 1 and beta is 0.

    Nothing is changed: neither x, nor modules that fn uses, nor params, nor the random state of torch and NumPy. Checks in several
    threads wait for each other. A check that takes more than two seconds shows how often it has called fn; Ctrl-C ends it.
    Where the parts of the formula are measured, only some elements are moved above 4,096, and above 262,144, a smaller tensor is
    measured where fn and like take it; the text says so.

    Raises NormvizError if fn raises, is random, or returns something else than a tensor of the shape of x, if ``like``
    does not take an x of this shape or of one of ``shapes``, and if ``backward`` is true and the gradients cannot be compared.

    >>> import torch
    >>> print(check(torch.nn.BatchNorm1d(4), (4, 4), like="LayerNorm(4)"))
    LayerNorm(4) averages over D. Your function averages over N (like BatchNorm1d).
    >>> found = check(torch.nn.GroupNorm(2, 4), (3, 4, 5))
    >>> found.layer, found.reduced
    ('GroupNorm(2, 4)', (1, 2))
    >>> check(
    ...     lambda x: (x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True), (4, 6), like="LayerNorm(6, eps=0.0)"
    ... ).differences[0].what
    'variance'
    """
    try:
        return Check.of(fn, x, like, layout=layout, params=params, shapes=shapes, backward=backward, timeout=timeout)
    except NormvizError as error:
        raise error.with_traceback(None) from error.__cause__  # without the frames of this library


@checked_call
def check_backward(
    backward: Callable[..., Any],
    x: X | Array,
    like: str | Layer | Norm | nn.Module,
    *,
    forward: Callable[..., Any],
    layout: str | None = None,
    params: Mapping[str, Any] | None = None,
    timeout: float | None = None,
) -> Check:
    """Whether ``backward`` gives the gradients of ``like``: dx, dgamma and dbeta for a random dout.

    backward  called as ``backward(dout, cache)``; it returns dx, or (dx, dgamma, dbeta)
    x         a tensor, an array of NumPy or JAX, or a shape
    like      the layer, as in ``check``
    forward   called as ``forward(x, **params)``; it returns (out, cache)
    layout    axis letters, as in ``check``
    params    further arguments of forward by name, as in ``check``
    timeout   seconds after which the check ends, at the next call

    Only the gradients are compared; ``check`` compares the output of forward.

    Raises NormvizError if forward or backward raises or returns something else, and if ``like`` does not take x or uses stored statistics.

    >>> import numpy as np
    >>> def forward(x):
    ...     return x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6), x
    >>> def backward(dout, x):
    ...     return dout / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6)
    >>> print(check_backward(backward, (4, 6), like="RMSNorm(6, eps=1e-6)", forward=forward).differences[0].what)
    backward
    """
    try:
        return Check.of_backward(backward, x, like, forward, layout=layout, params=params, timeout=timeout)
    except NormvizError as error:
        raise error.with_traceback(None) from error.__cause__


class Check(functions.Check, Result):  # its docstring with the fields is inherited
    def output(self, **options: Unpack[Options]) -> Output:
        """The text, and the groups of the function next to the expected ones.

        options  of an ``Output``: theme, plotlyjs, caption

        Raises NormvizError for an option that an Output does not have.

        >>> check(nn.LayerNorm(4), (2, 4)).output(theme="dark").title
        'What your function computes'
        """
        from normviz.api.shown import output_of_check

        return output_of_check(self).with_(**options)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.output()._repr_mimebundle_(include, exclude) | {"text/plain": self.text}

    def _repr_html_(self) -> str:
        return self.output()._repr_html_()


@checked_call
def norms(model: nn.Module, *inputs: Any, **kwargs: Any) -> Norms:
    """The normalizations that run in ``model(*inputs, **kwargs)``, in order: found by what they do, not by the names of their classes.

    What a module of your own does otherwise than the layer in its row is in ``departures``, such as an eps outside the root.

    The model and its inputs may be on ``torch.device("meta")``: nothing is computed then, and a large model takes seconds. Nothing is
    changed: the model's buffers, mode and gradients and the random states are as before. A forward pass that fails gives the rows up to
    the failure, which ``failure`` explains. ``to_dict()`` is for JSON, ``to_pandas()`` gives a DataFrame.

    A model of ``torch.compile`` is read as it was before. Raises NormvizError if ``model`` is not a module, is lazy, or is scripted,
    traced or exported.

    >>> import torch
    >>> found = norms(nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)), torch.randn(2, 3, 8, 8))
    >>> found[0].name, found[0].layer, found[0].shape, found[0].reduced
    ('1', 'BatchNorm2d(8)', (2, 8, 6, 6), (0, 2, 3))
    >>> print(found.summary)
    1 normalization, 16 parameters, 6.7 % of the model
    """
    return Norms.of(model, *inputs, **kwargs)


class Norms(models.Norms, Result):
    def output(self, **options: Unpack[Options]) -> Output:
        """The table, as a file has it. It has no figure and no link: ``explore`` shows a row.

        options  of an ``Output``: theme, plotlyjs, caption

        Raises NormvizError for an option that an Output does not have.

        >>> import torch
        >>> norms(nn.LayerNorm(8), torch.ones(2, 8)).output(caption="Week 3").caption
        'Week 3'
        """
        from normviz.api.shown import output_of_norms

        return output_of_norms(self).with_(**options)

    @checked_call
    def explore(self, index: int) -> Output:
        """The linked view of one row.

        index  of the row, from 0

        Raises NormvizError if there is no such row, and if the app has no view of it, such as for more than 12 axes.

        >>> import torch
        >>> norms(nn.LayerNorm(8), torch.ones(2, 8)).explore(0).page
        'explore'
        """
        from normviz.api.shown import output_of_row

        return output_of_row(self[index])

    def _repr_html_(self) -> str:
        from normviz.api.shown import table

        return table(self)
