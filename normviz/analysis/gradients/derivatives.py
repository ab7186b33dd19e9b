"""What moves when one input moves: a layer's Jacobian by torch autograd, and one input perturbed for real.

Everything is float64, whatever x's type, so that differences are those of formulas and not of rounding; eps stays the one
that x's type means. Torch's own layer is differentiated where torch has one, else ``compute.forward``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.func import functional_call

from normviz.analysis.forward import Values, forward, largest_difference, used_eps
from normviz.layers.errors import NormvizError, echo
from normviz.layers.sharing import check_index

if TYPE_CHECKING:
    from normviz.analysis.explanation import Explanation

MOST_ELEMENTS = 4096  # of x, for a column, a row or a perturbed input
MOST_IN_MATRIX = 256  # of x, for all of a Jacobian
LARGEST_STEP = 1e6


@torch.enable_grad()  # a caller may be under no_grad
def jacobian(e: Explanation) -> Tensor:
    """Every derivative of every output by every input: entry (i, j) is d y_i / d x_j, both numbered row-major.

    e   an explanation with values, of at most 256 elements.

    Returns float64, (elements, elements): exactly 0 where i and j are of different statistics groups.
    Raises NormvizError where there are no values, or too many.

    >>> from normviz import explain
    >>> jacobian(explain("LayerNorm(2, eps=0)", torch.tensor([[1.0, 3.0]]))).tolist()  # two elements: see vanishing.py
    [[0.0, 0.0], [0.0, 0.0]]
    """
    e = in_float64(e, MOST_IN_MATRIX, "a full Jacobian")
    x, y = _graph(e)
    outputs = torch.eye(y.numel(), dtype=y.dtype).reshape(-1, *y.shape)
    return torch.stack([torch.autograd.grad(y, x, one, retain_graph=True)[0].flatten() for one in outputs])


@torch.enable_grad()  # a caller may be under no_grad
def column(e: Explanation, at: Sequence[int]) -> Tensor:
    """How every output moves with x[at]: d y_i / d x[at] for all i.

    e   an explanation with values, of at most 4,096 elements.
    at  the index of the input.

    Returns float64, x's shape. It takes two backward passes: v J is linear in v, and its derivative by v is J's column.
    Raises NormvizError where there are no values, or too many, or no such element.
    """
    e, at = in_float64(e), check_index(at, e.shape)
    x, y = _graph(e)
    weights = torch.zeros_like(y, requires_grad=True)
    (by_weights,) = torch.autograd.grad(y, x, weights, create_graph=True)
    return torch.autograd.grad(by_weights[at], weights)[0]


@torch.enable_grad()  # a caller may be under no_grad
def row(e: Explanation, at: Sequence[int]) -> Tensor:
    """How y[at] moves with every input: d y[at] / d x_j for all j.

    e   an explanation with values, of at most 4,096 elements.
    at  the index of the output.

    Returns float64, x's shape.
    Raises NormvizError where there are no values, or too many, or no such element.
    """
    e, at = in_float64(e), check_index(at, e.shape)
    x, y = _graph(e)
    return torch.autograd.grad(y[at], x)[0]


@dataclass(frozen=True, eq=False)
class Perturbation:
    """One input moved by ``h``, and what the outputs did. Tensors are float64, of x's shape.

    at        the input's index
    h         how far it really moved: h, rounded as x[at] + h is
    before    f(x)
    after     f(x + h e_at)
    quotient  (after - before) / h
    exact     the Jacobian's column by autograd
    """

    at: tuple[int, ...]
    h: float
    before: Tensor
    after: Tensor
    quotient: Tensor
    exact: Tensor

    @property
    def moved(self) -> Tensor:
        """Which outputs are not what they were, to the last bit."""
        return self.before != self.after

    @property
    def difference(self) -> float:
        """The largest difference between the quotient and the derivative; it shrinks with h, then grows again by rounding."""
        return largest_difference(self.quotient, self.exact)


def perturb(e: Explanation, at: Sequence[int], h: float = 1e-6) -> Perturbation:
    """Move x[at] by ``h`` and see which outputs move: (f(x + h e_at) - f(x)) / h.

    e   an explanation with values, of at most 4,096 elements.
    at  the index of the input.
    h   the step: not 0, from -10^6 to 10^6.

    Raises NormvizError as ``column`` does, and where the step is no such number or too small to change x[at].

    >>> from normviz import explain
    >>> nudge = perturb(explain("BatchNorm1d(2)", torch.tensor([[1.0, 5.0], [2.0, 7.0], [4.0, 9.0]])), (0, 1), h=0.5)
    >>> nudge.moved.tolist()
    [[False, True], [False, True], [False, True]]
    """
    e, at = in_float64(e), check_index(at, e.shape)
    if not _is_step(h):
        raise NormvizError(f"h={echo(h)} is no step; give a number other than 0, from -10^6 to 10^6, such as 1e-6.")
    assert e.x is not None
    moved = e.x.clone()
    moved[at] += h
    step = float(moved[at] - e.x[at])
    if step == 0:
        raise NormvizError(f"h={h:g} does not change x[at]={float(e.x[at]):g} in float64; give a larger step.")
    with torch.no_grad():
        before, after = output(e, e.x), output(e, moved)
    return Perturbation(at, step, before, after, (after - before) / step, column(e, at))


def _is_step(h: object) -> bool:
    number = isinstance(h, int | float) and not isinstance(h, bool)
    return number and 0 < abs(h) <= LARGEST_STEP  # type: ignore[arg-type]


def in_float64(e: Explanation, most: int = MOST_ELEMENTS, what: str = "a gradient") -> Explanation:
    """The same explanation with x (a copy) and the layer's numbers in float64, and eps written out.

    Raises NormvizError where only a shape was given, where x has more than ``most`` elements, and where running statistics are asked
    for and there are none.
    """
    if prod(e.shape) > most:
        raise NormvizError(
            f"{what} is computed for up to {most:,} elements, and x has {prod(e.shape):,}, shape {e.shape}; make x smaller."
        )
    if e.x is None:
        raise NormvizError(
            f"{what} needs values, and x was given as the shape {e.shape}. Give a tensor, such as torch.randn{e.shape}."
        )
    held = e.layer_values()
    if e.norm.running and (held.running_mean is None or held.running_var is None):
        raise NormvizError("running statistics come with a torch module; give the module itself, in eval mode.")
    eps = used_eps(e.norm, e.x)
    layer = e.layer.with_(eps=eps) if e.layer else None
    wide = {name: None if value is None else value.to("cpu", torch.float64) for name, value in vars(held).items()}
    x = e.x.to("cpu", torch.float64, copy=True)
    return replace(e, norm=replace(e.norm, eps=eps), layer=layer, x=x, values=Values(**wide))


def output(e: Explanation, x: Tensor, values: Values | None = None) -> Tensor:
    """What the layer of ``in_float64(...)`` makes of ``x``, so that autograd follows: torch's own layer where there is one.

    x       float64, of the explanation's shape.
    values  gamma, beta and running statistics; default: the explanation's.
    """
    values = values or e.layer_values()
    if e.torch_layer is None:
        return forward(e.norm, x, values).output
    named = {
        "weight": values.gamma,
        "bias": values.beta,
        "running_mean": values.running_mean,
        "running_var": values.running_var,
    }
    numbers = {
        name: value.clone() for name, value in named.items() if value is not None
    }  # training updates them in place
    with warnings.catch_warnings():  # torch warns of an unused num_features
        warnings.simplefilter("ignore")
        made: Tensor = functional_call(e.torch_layer.module(torch.float64), numbers, (x,))
    return made


def _graph(e: Explanation) -> tuple[Tensor, Tensor]:
    """x as a leaf, and the output that was made of it."""
    assert e.x is not None
    x = e.x.clone().requires_grad_()
    return x, output(e, x)
