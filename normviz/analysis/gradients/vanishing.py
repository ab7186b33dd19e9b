"""Where the Jacobian is 0 inside a statistics group too, and inputs made so that it happens.

An entry is gamma_i / sigma * (delta_ij - 1/m - xhat_i xhat_j / m). With the mean it vanishes where

    i != j:  xhat_i xhat_j = -1          i = j:  xhat_j^2 = m - 1

without centring where xhat_i xhat_j = 0 and xhat_j^2 = m; and any entry where gamma_i = 0. Eps keeps an entry a little away
from 0, by about eps / (var + eps).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from normviz.analysis.forward import broadcast
from normviz.analysis.gradients.closed_form import ClosedForm, closed_column
from normviz.analysis.gradients.derivatives import MOST_ELEMENTS
from normviz.layers.errors import NormvizError, echo, listed
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts, ids, stat_tables

if TYPE_CHECKING:
    from normviz.analysis.explanation import Explanation

TOLERANCE = 1e-4
LARGEST_TOLERANCE = 0.1


@dataclass(frozen=True, eq=False)
class Vanishing:
    """The entries of one column that vanish inside the statistics group. Masks are of x's shape.

    at            the input x_j
    group         the outputs of x_j's statistics group; outside it every entry is exactly 0
    entries       the outputs of the group whose entry vanishes, within the tolerance
    by_gamma      those of them that vanish because gamma_i is 0
    products      xhat_i xhat_j, which the conditions are about
    off_diagonal  the condition for i != j, in words
    diagonal      the condition for i = j, in words
    """

    at: tuple[int, ...]
    group: Tensor
    entries: Tensor
    by_gamma: Tensor
    products: Tensor
    off_diagonal: str
    diagonal: str


def vanishing(e: Explanation, at: Sequence[int], tolerance: float = TOLERANCE) -> Vanishing:
    """Which entries d y_i / d x[at] inside the statistics group vanish: |delta_ij - 1/m - xhat_i xhat_j / m| <= tolerance.

    e          an explanation with values, of at most 4,096 elements.
    at         the index of the input.
    tolerance  what counts as 0, in the bracket, which is of the order of 1: from 0 to 0.1.

    Raises NormvizError where there are no values, or too many, or no such element, and for another tolerance.

    >>> from normviz import explain
    >>> vanishing(explain("LayerNorm(2)", torch.tensor([[3.0, 5.0]])), (0, 0)).entries.tolist()
    [[True, True]]
    """
    return vanishing_of(e, closed_column(e, at), tolerance)


def vanishing_of(e: Explanation, form: ClosedForm, tolerance: float = TOLERANCE) -> Vanishing:
    """The same of a column that is there already, by ``closed_column``."""
    if not isinstance(tolerance, int | float) or not 0 <= tolerance <= LARGEST_TOLERANCE:
        raise NormvizError(f"tolerance={echo(tolerance)} must be a number from 0 to {LARGEST_TOLERANCE}, such as 1e-4.")
    gamma = e.layer_values().gamma
    no_gamma = torch.zeros(e.shape, dtype=torch.bool)
    if gamma is not None:
        no_gamma = no_gamma | (broadcast(e.norm, e.shape, gamma).cpu() == 0)
    xhat = e.trace.normalized.double().cpu()
    off_diagonal, diagonal = conditions(e.norm)
    return Vanishing(
        form.at, form.group, form.group & ((form.bracket.abs() <= tolerance) | no_gamma), form.group & no_gamma,
        xhat * xhat[form.at], off_diagonal, diagonal,
    )  # fmt: skip


def conditions(norm: Norm) -> tuple[str, str]:
    """When an entry vanishes whatever gamma is: off the diagonal, and on it."""
    if norm.running:
        return "always: running statistics do not move with x", "never"
    return ("xhat_i xhat_j = -1", "xhat_j^2 = m - 1") if norm.center else ("xhat_i xhat_j = 0", "xhat_j^2 = m")


EXAMPLES = {
    "outlier": "one element of each group is m and the rest are 0: moving it moves nothing",
    "signs": "half of each group is -1, half is 1: moving one moves only its own half",
}


def vanishing_input(norm: Norm, shape: tuple[int, ...], name: str = "outlier") -> Tensor:
    """An x with entries that vanish inside every statistics group.

    norm   the layer.
    shape  x's shape, at most 4,096 elements.
    name   "outlier": the last element of each group is m and the rest are 0. Its column vanishes: in the formula above xhat_j^2 = m - 1
           and xhat_i xhat_j = -1 (without centring: m and 0).
           "signs": -1 and 1 in turn. Entries between unlike elements vanish; in groups of two, all do.

    Returns float64 of ``shape``.
    Raises NormvizError for another name, or too many elements, or where "signs" does not do it: without centring, or for an odd m.

    >>> vanishing_input(Norm("n d -> n"), (2, 3)).tolist()
    [[0.0, 0.0, 3.0], [0.0, 0.0, 3.0]]
    """
    if name not in EXAMPLES:
        raise NormvizError(f"{echo(name)} is no example of vanishing entries; choose {listed(EXAMPLES)}.")
    if prod(shape) > MOST_ELEMENTS:
        raise NormvizError(f"an example has up to {MOST_ELEMENTS:,} elements, and {shape} has {prod(shape):,}.")
    m = counts(norm, shape).elements_per_statistic
    if name == "signs" and (m % 2 or not norm.center):
        why = f"the groups have {m} elements, an odd number" if m % 2 else "without centring, entries vanish at 0"
        raise NormvizError(f'"signs" needs a mean and groups of an even size: here {why}. Choose "outlier".')
    group = ids(stat_tables(norm, shape)).ravel()
    order = np.argsort(group, kind="stable")
    place = np.empty(len(group), dtype=np.int64)
    place[order] = np.arange(len(group)) % m  # the how-manieth of its group each element is
    values = np.where(place == m - 1, m, 0) if name == "outlier" else 2 * (place % 2) - 1
    return torch.tensor(values.reshape(shape), dtype=torch.float64)
