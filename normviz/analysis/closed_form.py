"""Derivatives by formula: the Jacobian's column term by term, and the backward pass in closed form, for every Norm.

With sigma = sqrt(var + eps), xhat = (x - mean) / sigma and m elements in a statistics group, i and j of the same group:

    d y_i / d x_j = gamma_i / sigma * (delta_ij - 1/m - xhat_i xhat_j / m)

A layer with zero-centered gamma has 1 + gamma_i in place of gamma_i, and the same dgamma.
The second term comes from the mean and is absent without centering (RMSNorm); the third comes from the variance. With running
statistics both are absent, and the Jacobian is diagonal. The formula is exact for every eps, because sigma and xhat include it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import torch
from torch import Tensor

from normviz.analysis.derivatives import MOST_ELEMENTS, MOST_IN_MATRIX, column, in_float64, output
from normviz.analysis.description import Description
from normviz.analysis.forward import Values, as_tensor, broadcast, factor, group_mean, largest_difference, reduced
from normviz.layers.norm import Norm
from normviz.layers.sharing import check_index, counts, ids, stat_tables
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _, ngettext

MOST_IN_BACKWARD = 2**16  # elements of x


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """One column of the Jacobian: ``total = factor * (itself + through_mean + through_var)``. Tensors are float64, x's shape.

    m             number of elements in the statistics group of the input x_j
    sigma         sqrt(var + eps) of its group
    group         which outputs are in its group
    factor        gamma_i / sigma_i, or (1 + gamma_i) / sigma_i
    itself        the direct term delta_ij: 1 at x_j, 0 elsewhere
    through_mean  -1/m in the group; None without a mean of x
    through_var   -xhat_i xhat_j / m in the group; None with running statistics
    total         the derivatives
    autograd      the same derivatives by torch autograd
    """

    m: int
    sigma: float
    group: Tensor
    factor: Tensor
    itself: Tensor
    through_mean: Tensor | None
    through_var: Tensor | None
    total: Tensor
    autograd: Tensor

    @property
    def bracket(self) -> Tensor:
        """The sum of the terms, without the factor."""
        return _sum(self.itself, self.through_mean, self.through_var)

    @property
    def difference(self) -> float:
        """The largest difference between the formula and autograd."""
        return largest_difference(self.total, self.autograd)


def closed_column(e: Description, at: Sequence[int], autograd: Tensor | None = None) -> ClosedForm:
    """d y_i / d x[at] for all i, term by term: gamma_i / sigma * (delta_ij - 1/m - xhat_i xhat_j / m).

    e         a description with values, of at most 262,144 elements.
    at        the index of the input.
    autograd  ``column(e, at)``, if it has been computed.

    Raises NormvizError if there are no values, or too many, or no such element.
    Source: Ioffe & Szegedy 2015, section 3, the chain rule through mean and variance.

    >>> from normviz import explain
    >>> form = closed_column(explain("LayerNorm(3, eps=0)", torch.tensor([[-1.0, 0.0, 1.0]])), (0, 1))
    >>> form.itself.tolist(), [round(value, 3) for value in form.through_mean[0].tolist()]
    ([[0.0, 1.0, 0.0]], [-0.333, -0.333, -0.333])
    """
    wide, at = in_float64(e), check_index(at, e.shape)
    group, scale, *terms = _terms(wide, torch.tensor([np.ravel_multi_index(at, e.shape)]))
    itself, through_mean, through_var = (None if term is None else term.reshape(e.shape) for term in terms)
    assert itself is not None
    scale = scale.reshape(e.shape)
    sigma = float(torch.sqrt(wide.trace.var + wide.trace.eps).expand(e.shape)[at])
    return ClosedForm(
        e.counts.elements_per_statistic, sigma, group.reshape(e.shape), scale, itself, through_mean, through_var,
        scale * _sum(itself, through_mean, through_var), column(e, at) if autograd is None else autograd,
    )  # fmt: skip


def closed_jacobian(e: Description) -> Tensor:
    """``derivatives.jacobian`` by the formula: float64, (elements, elements), for at most 256 elements.

    Raises NormvizError if there are no values, or too many.
    """
    wide = in_float64(e, MOST_IN_MATRIX, N_("a full Jacobian"))
    _same, scale, *terms = _terms(wide, torch.arange(prod(e.shape)))
    return scale * _sum(*terms)


def _terms(e: Description, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """Whether output and input are in the same group, the factor (elements, 1), and the three terms (elements, inputs), for flat ``inputs``."""
    trace, norm, m = e.trace, e.norm, e.counts.elements_per_statistic
    ids = torch.tensor(e.stat_ids).flatten()
    same = ids[:, None] == ids[inputs]
    itself = (torch.arange(len(ids))[:, None] == inputs).double()
    scale = (_factor(e) / torch.sqrt(trace.var + trace.eps)).expand(e.shape).reshape(-1, 1)
    xhat = trace.normalized.flatten()
    through_mean = -same.double() / m if norm.center and not norm.running else None
    through_var = None if norm.running else torch.where(same, -xhat[:, None] * xhat[inputs] / m, 0.0)
    return same, scale, itself, through_mean, through_var


def _sum(*terms: Tensor | None) -> Tensor:
    return torch.stack([term for term in terms if term is not None]).sum(0)


def _factor(e: Description) -> Tensor:
    """What the layer multiplies by: 1 without gamma."""
    gamma = e.layer_values().gamma
    return torch.ones((), dtype=torch.float64) if gamma is None else broadcast(e.norm, e.shape, factor(e.norm, gamma))


@dataclass(frozen=True, eq=False)
class Gradients:
    """The gradients of the loss, float64: dx of x's shape, dgamma and dbeta of gamma's shape, or None if there is none."""

    dx: Tensor
    dgamma: Tensor | None
    dbeta: Tensor | None


@dataclass(frozen=True, eq=False)
class BackwardTerms:
    """The terms of ``dx = (dxhat - mean - along_xhat) / sigma``, float64 and of x's shape, and the other gradients.

    dxhat       dout * gamma, or dout * (1 + gamma)
    mean        the mean of dxhat in each statistics group; None without a mean of x
    along_xhat  xhat * mean(dxhat * xhat); None with running statistics
    sigma       sqrt(var + eps)
    dgamma      of gamma's shape, or None
    dbeta       of beta's shape, or None
    """

    dxhat: Tensor
    mean: Tensor | None
    along_xhat: Tensor | None
    sigma: Tensor
    dgamma: Tensor | None
    dbeta: Tensor | None

    @cached_property
    def dx(self) -> Tensor:
        subtracted = [term for term in (self.mean, self.along_xhat) if term is not None]
        return (self.dxhat - sum(subtracted, torch.zeros((), dtype=torch.float64))) / self.sigma


def backward_terms(e: Description, dout: object) -> BackwardTerms:
    """The backward pass in closed form, by means over statistics groups and sums over parameter groups.

        dxhat  = dout * gamma
        dx     = (dxhat - mean(dxhat) - xhat * mean(dxhat * xhat)) / sigma
        dgamma = sum(dout * xhat)
        dbeta  = sum(dout)

    Without centering there is no ``mean(dxhat)``; with running statistics dx = dxhat / sigma.

    e     a description with values, of at most 65,536 elements.
    dout  the gradient of the loss with respect to the output: tensor or array of x's shape.

    Raises NormvizError if there are no values, or too many, or dout has another shape.
    Source: Ioffe & Szegedy 2015, section 3.

    >>> from normviz import explain
    >>> e = explain("LayerNorm(4, eps=0)", torch.tensor([[1.0, 1.0, 3.0, 3.0]]))
    >>> found = backward_terms(e, torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    >>> found.mean.tolist(), found.dx.tolist(), found.dgamma.tolist()
    ([[0.25, 0.25, 0.25, 0.25]], [[0.5, -0.5, 0.0, 0.0]], [-1.0, 0.0, 0.0, 0.0])
    """
    wide, dout = _wide(e, dout)
    norm, xhat, dxhat = wide.norm, wide.trace.normalized, dout * _factor(wide)
    mean = group_mean(norm, dxhat).expand(e.shape) if norm.center and not norm.running else None
    along_xhat = None if norm.running else xhat * group_mean(norm, dxhat * xhat)
    sigma = torch.sqrt(wide.trace.var + wide.trace.eps).expand(e.shape)
    dgamma = None if norm.params is None else _parameter_sum(wide, dout * xhat)
    dbeta = _parameter_sum(wide, dout) if norm.bias else None
    return BackwardTerms(dxhat, mean, along_xhat, sigma, dgamma, dbeta)


@torch.enable_grad()  # a caller may be under no_grad
def autograd_backward(e: Description, dout: object) -> Gradients:
    """The gradients by torch autograd, through torch's own layer if there is one. Raises NormvizError like ``backward_terms``."""
    wide, dout = _wide(e, dout)
    stored = wide.layer_values()
    numbers = {"x": wide.x, "gamma": stored.gamma, "beta": stored.beta}
    leaves = {name: value.clone().requires_grad_() for name, value in numbers.items() if value is not None}
    values = Values(leaves.get("gamma"), leaves.get("beta"), stored.running_mean, stored.running_var)
    # Of a sum: for a gradient that it is given, torch imports SymPy, which takes 40 MB.
    found = torch.autograd.grad((output(wide, leaves["x"], values) * dout).sum(), tuple(leaves.values()))
    named = dict(zip(leaves, found, strict=True))
    return Gradients(named["x"], named.get("gamma"), named.get("beta"))


def gradient_differences(found: BackwardTerms, autograd: Gradients) -> dict[str, float]:
    """The largest difference of each gradient: ``{"dx": ..., "dgamma": ..., "dbeta": ...}``, without gradients that are None."""
    theirs = {name: value for name, value in vars(autograd).items() if value is not None}
    return {name: largest_difference(getattr(found, name), value) for name, value in theirs.items()}


def upstream(shape: tuple[int, ...], seed: int = 0) -> Tensor:
    """An example dout: standard normal numbers rounded to two decimals, float64, of ``shape``."""
    noise = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return torch.round(noise, decimals=2)


@dataclass(frozen=True, eq=False)
class ParameterSum:
    """The gradients of one gamma and one beta as sums. Tensors have x's shape.

    elements   which elements of x use this gamma; the sum is over them
    for_gamma  dout * xhat there, 0 elsewhere
    for_beta   dout there, 0 elsewhere; None if there is no beta
    dgamma     the sum of for_gamma
    dbeta      the sum of for_beta, or None
    """

    elements: Tensor
    for_gamma: Tensor
    for_beta: Tensor | None
    dgamma: float
    dbeta: float | None


def parameter_sum(e: Description, at: Sequence[int], dout: object) -> ParameterSum:
    """The elements that are summed for the gradient of the gamma and beta that x[at] uses: its parameter group.

    e     a description with values, of at most 65,536 elements.
    at    the index of an element.
    dout  the gradient of the loss with respect to the output: tensor or array of x's shape.

    Raises NormvizError like ``backward_terms``, and if there is no gamma or no such element.
    """
    wide, dout = _wide(e, dout)
    if e.param_ids is None:
        raise NormvizError("{layer} has no gamma, so there is no sum; choose a layer with affine=True.", layer=e.title)
    elements = torch.tensor(e.param_ids == e.param_ids[check_index(at, e.shape)])
    for_gamma = torch.where(elements, dout * wide.trace.normalized, 0.0)
    for_beta = torch.where(elements, dout, 0.0) if e.norm.bias else None
    dbeta = None if for_beta is None else float(for_beta.sum())
    return ParameterSum(elements, for_gamma, for_beta, float(for_gamma.sum()), dbeta)


def _wide(e: Description, dout: object, most: int = MOST_IN_BACKWARD) -> tuple[Description, Tensor]:
    wide, dout = in_float64(e, most, N_("a backward pass")), as_tensor(dout).to("cpu", torch.float64)
    if tuple(dout.shape) != e.shape:
        raise NormvizError(
            "dout has shape {dout} and the output has {shape}; give the gradient of the loss for each output, as in "
            "torch.randn{shape}.",
            dout=tuple(dout.shape),
            shape=e.shape,
        )
    return wide, dout


def _parameter_sum(e: Description, numbers: Tensor) -> Tensor:
    """The sum of every parameter group, of gamma's shape."""
    sums = reduced(e.norm, numbers, e.norm.pattern_names(e.norm.gamma_axes), torch.sum)
    assert e.counts.gamma_shape is not None
    return sums.reshape(e.counts.gamma_shape)


# Zero entries of the Jacobian within a statistics group, and inputs that produce them.
# An entry is gamma_i / sigma * (delta_ij - 1/m - xhat_i xhat_j / m). With centering it is 0 if
# i != j:  xhat_i xhat_j = -1          i = j:  xhat_j^2 = m - 1
# without centering if xhat_i xhat_j = 0 and xhat_j^2 = m; and in both cases if gamma_i = 0. eps moves an entry away from 0 by
# about eps / (var + eps).

TOLERANCE = 1e-4  # how near to 0 a bracket counts as 0, compared with its order: 1 on the diagonal, 1/m elsewhere


def vanishing_entries(e: Description, form: ClosedForm) -> Tensor:
    """Which entries of a column are 0 within the statistics group: |delta_ij - 1/m - xhat_i xhat_j / m| <= 1e-4 (i != j: 1e-4 / m), or gamma_i = 0.

    A layer that multiplies by 1 + gamma has this factor in place of gamma. Outside the group, every entry is exactly 0. ``form`` is the column by ``closed_column``.

    >>> from normviz import explain
    >>> e = explain("LayerNorm(2)", torch.tensor([[3.0, 5.0]]))
    >>> vanishing_entries(e, closed_column(e, (0, 0))).tolist()
    [[True, True]]
    """
    order = torch.where(form.itself == 0, 1 / form.m, 1.0)
    return form.group & ((form.bracket.abs() <= TOLERANCE * order) | (_factor(e).cpu() == 0))


def conditions(norm: Norm) -> tuple[str, str]:
    """When an entry is 0 for every gamma: off the diagonal, and on it."""
    if norm.running:
        return _("always: running statistics do not depend on x"), _("never")
    return ("xhat_i xhat_j = -1", "xhat_j^2 = m - 1") if norm.center else ("xhat_i xhat_j = 0", "xhat_j^2 = m")


EXAMPLES = {
    "outlier": N_("one element of each group is m and the rest are 0: all derivatives by that element are 0"),
    "signs": N_("half of each group is -1, half is 1: the derivatives of one half by the other are 0"),
}


def vanishing_input(norm: Norm, shape: tuple[int, ...], name: str = "outlier") -> Tensor:
    """An x whose Jacobian has zero entries within every statistics group.

    norm   the layer.
    shape  x's shape, at most 262,144 elements.
    name   "outlier": the last element of each group is m and the rest are 0. Its column is 0: xhat_j^2 = m - 1 and
           xhat_i xhat_j = -1 (without centering: m and 0).
           "signs": -1 and 1 alternate. Entries between different values are 0; in groups of two, all entries are.

    Returns float64 of ``shape``.
    Raises NormvizError for another name, for too many elements, and for "signs" without centering or with an odd m.

    >>> vanishing_input(Norm("n d -> n"), (2, 3)).tolist()
    [[0.0, 0.0, 3.0], [0.0, 0.0, 3.0]]
    """
    if name not in EXAMPLES:
        raise NormvizError(
            "{name} is not an example of zero entries; choose {names}.", name=echo(name), names=listed(EXAMPLES)
        )
    if prod(shape) > MOST_ELEMENTS:
        raise NormvizError(
            ngettext(
                "an example has up to {n:,} element, and {shape} has {elements:,}; make the shape smaller.",
                "an example has up to {n:,} elements, and {shape} has {elements:,}; make the shape smaller.",
                MOST_ELEMENTS,
                shape=shape,
                elements=prod(shape),
            )
        )
    m = counts(norm, shape).elements_per_statistic
    if name == "signs" and m % 2:
        raise NormvizError(
            ngettext(
                '"signs" needs groups of an even size, and these have {n} element. Choose "outlier".',
                '"signs" needs groups of an even size, and these have {n} elements. Choose "outlier".',
                m,
            )
        )
    if name == "signs" and not norm.center:
        raise NormvizError('"signs" needs a layer that subtracts the mean. Choose "outlier".')
    group = ids(stat_tables(norm, shape)).ravel()
    place = np.argsort(np.argsort(group, kind="stable")) % m  # the position of each element in its group
    values = np.where(place == m - 1, m, 0) if name == "outlier" else 2 * (place % 2) - 1
    return torch.tensor(values.reshape(shape), dtype=torch.float64)
