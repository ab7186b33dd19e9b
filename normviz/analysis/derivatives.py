"""The Jacobian of a layer by torch autograd, and finite differences for one perturbed input.

Everything is computed in float64, so that differences come from formulas and not from rounding; eps=None still means the
machine epsilon of x's dtype. The layer is torch's own if torch has it, else ``analysis.forward``.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import torch
from torch import Tensor
from torch.func import functional_call

from normviz.analysis.description import Description
from normviz.analysis.forward import Values, forward, largest_difference, running_statistics, used_eps
from normviz.layers.sharing import check_index
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import N_, _, ngettext

MOST_ELEMENTS = 2**18  # elements of x for a column or a perturbation
MOST_IN_MATRIX = 256  # elements of x for a full Jacobian
LARGEST_STEP = 1e6


@torch.enable_grad()  # a caller may be under no_grad
def jacobian(e: Description) -> Tensor:
    """The derivative of every output with respect to every input: entry (i, j) is d y_i / d x_j, with row-major i and j.

    e   a description with values, of at most 256 elements.

    Returns float64, (elements, elements): exactly 0 if i and j are in different statistics groups.
    Raises NormvizError if there are no values, or too many.

    >>> from normviz import explain
    >>> e = explain("LayerNorm(2, eps=0)", torch.tensor([[1.0, 3.0]]))
    >>> jacobian(e).tolist()  # two elements: y is (-1, 1) for any x
    [[0.0, 0.0], [0.0, 0.0]]
    """
    e = in_float64(e, MOST_IN_MATRIX, N_("a full Jacobian"))
    x, y = _graph(e)
    return torch.stack([torch.autograd.grad(one, x, retain_graph=True)[0].flatten() for one in y.flatten()])


def column(e: Description, at: Sequence[int]) -> Tensor:
    """The derivative of every output with respect to x[at]: d y_i / d x[at] for all i.

    e   a description with values, of at most 262,144 elements.
    at  the index of the input.

    Returns float64, x's shape. Two backward passes: v J is linear in v, and its derivative with respect to v is J's column.
    Raises NormvizError if there are no values, or too many, or no such element.
    """
    return _output_and_column(in_float64(e), check_index(at, e.shape))[1]


@torch.enable_grad()  # a caller may be under no_grad
def _output_and_column(e: Description, at: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """The output and its ``column``. ``e`` is in float64, and ``at`` is one of its indices."""
    x, y = _graph(e)
    weights = torch.zeros_like(y, requires_grad=True)
    (by_weights,) = torch.autograd.grad((y * weights).sum(), x, create_graph=True)
    return y.detach(), torch.autograd.grad(by_weights[at], weights)[0]


@dataclass(frozen=True, eq=False)
class Perturbation:
    """One input changed by ``h``, and the change of the outputs. Tensors are float64, of x's shape.

    h         the change of x[at]: h after the rounding of x[at] + h
    before    f(x)
    after     f(x + h e_at)
    quotient  (after - before) / h
    exact     the Jacobian's column by autograd
    """

    h: float
    before: Tensor
    after: Tensor
    quotient: Tensor
    exact: Tensor

    @property
    def changed(self) -> Tensor:
        """Which outputs changed, to the last bit."""
        return self.before != self.after

    @property
    def difference(self) -> float:
        """The largest difference between the quotient and the derivative. With a smaller h, the difference decreases, then increases by rounding."""
        return largest_difference(self.quotient, self.exact)


def perturb(e: Description, at: Sequence[int], h: float = 1e-6) -> Perturbation:
    """Change x[at] by ``h`` and compare the outputs: (f(x + h e_at) - f(x)) / h.

    e   a description with values, of at most 262,144 elements.
    at  the index of the input.
    h   the step: not 0, from -10^6 to 10^6.

    Raises NormvizError like ``column``, and if h is not such a number or too small to change x[at].

    >>> from normviz import explain
    >>> found = perturb(explain("BatchNorm1d(2)", torch.tensor([[1.0, 5.0], [2.0, 7.0], [4.0, 9.0]])), (0, 1), h=0.5)
    >>> found.changed.tolist()
    [[False, True], [False, True], [False, True]]
    """
    e, at = in_float64(e), check_index(at, e.shape)
    if not isinstance(h, int | float) or isinstance(h, bool) or not 0 < abs(h) <= LARGEST_STEP:
        raise NormvizError(
            "h={h} is not a step; give a number other than 0, from -10^6 to 10^6, such as 1e-6.", h=echo(h)
        )
    assert e.x is not None
    changed = e.x.clone()
    changed[at] += h
    step = float(changed[at] - e.x[at])
    if step == 0:
        raise NormvizError(
            "h={h:g} does not change x[at]={value:g} in float64; give a larger step.", h=h, value=float(e.x[at])
        )
    before, exact = _output_and_column(e, at)
    with torch.no_grad():
        after = output(e, changed)
    return Perturbation(step, before, after, (after - before) / step, exact)


def in_float64(e: Description, most: int = MOST_ELEMENTS, what: str = N_("a gradient")) -> Description:
    """The same description with x (a copy) and the layer's tensors in float64, and eps as a number.

    Raises NormvizError if only a shape was given, if x has more than ``most`` elements, and if running statistics are missing.
    """
    if prod(e.shape) > most:
        raise NormvizError(
            ngettext(
                "{what} is computed for up to {n:,} element, and x has {elements:,}, shape {shape}; make x smaller.",
                "{what} is computed for up to {n:,} elements, and x has {elements:,}, shape {shape}; make x smaller.",
                most,
                what=_(what),
                elements=prod(e.shape),
                shape=e.shape,
            )
        )
    if e.x is None:
        raise NormvizError(
            "{what} needs values, and x was given as the shape {shape}. Give a tensor, such as torch.randn{shape}.",
            what=_(what),
            shape=e.shape,
        )
    values = e.layer_values()
    if e.norm.running:
        running_statistics(values)
    eps = used_eps(e.norm, e.x)
    layer = e.layer.with_(eps=eps) if e.layer else None
    wide = {name: value.to("cpu", torch.float64) for name, value in values.tensors.items()}
    x = e.x.to("cpu", torch.float64, copy=True)
    return replace(e, norm=replace(e.norm, eps=eps), layer=layer, x=x, values=Values(**wide))


def output(e: Description, x: Tensor, values: Values | None = None) -> Tensor:
    """The output of the layer of ``in_float64(...)`` for ``x``, with gradients; by torch's own layer if there is one.

    x       float64, of the description's shape.
    values  gamma, beta and running statistics; default: the description's.
    """
    values = values or e.layer_values()
    if e.torch_layer is None:
        return forward(e.norm, x, values).output
    state = {name: value.clone() for name, value in values.state.items()}  # training updates some of them in place
    with warnings.catch_warnings():  # torch warns about an unused num_features
        warnings.simplefilter("ignore")
        y: Tensor = functional_call(e.torch_layer.module(torch.float64), state, (x,))
    return y


def _graph(e: Description) -> tuple[Tensor, Tensor]:
    """x as a leaf, and the output computed from it."""
    assert e.x is not None
    x = e.x.clone().requires_grad_()
    return x, output(e, x)
