"""Zero entries of the Jacobian within a statistics group, and inputs that produce them.

An entry is gamma_i / sigma * (delta_ij - 1/m - xhat_i xhat_j / m). With centering it is 0 if

    i != j:  xhat_i xhat_j = -1          i = j:  xhat_j^2 = m - 1

without centering if xhat_i xhat_j = 0 and xhat_j^2 = m; and in both cases if gamma_i = 0. eps moves an entry away from 0 by
about eps / (var + eps).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from normviz.analysis.checks import read_number
from normviz.analysis.forward import broadcast
from normviz.analysis.gradients.closed_form import ClosedForm
from normviz.analysis.gradients.derivatives import MOST_ELEMENTS
from normviz.layers.errors import NormvizError, echo, listed
from normviz.layers.messages import N_, _, ngettext
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts, ids, stat_tables

if TYPE_CHECKING:
    from normviz.analysis.description import Description

TOLERANCE = 1e-4
LARGEST_TOLERANCE = 0.1


@dataclass(frozen=True, eq=False)
class Vanishing:
    """The entries of one column that are 0 within the statistics group. Masks have x's shape.

    at            the input x_j
    group         the outputs in x_j's statistics group; outside it every entry is exactly 0
    entries       the outputs of the group whose entry is 0, within the tolerance
    off_diagonal  the condition for i != j
    diagonal      the condition for i = j
    """

    at: tuple[int, ...]
    group: Tensor
    entries: Tensor
    off_diagonal: str
    diagonal: str


def vanishing_entries(e: Description, form: ClosedForm, tolerance: float = TOLERANCE) -> Vanishing:
    """Which entries of a column within the statistics group are 0: |delta_ij - 1/m - xhat_i xhat_j / m| <= tolerance.

    e          a description with values.
    form       its column, by ``closed_column``.
    tolerance  the largest absolute value of the bracket that counts as 0, from 0 to 0.1; brackets are of order 1.

    Raises NormvizError for another tolerance.

    >>> from normviz import explain
    >>> from normviz.analysis.gradients.closed_form import closed_column
    >>> e = explain("LayerNorm(2)", torch.tensor([[3.0, 5.0]]))
    >>> vanishing_entries(e, closed_column(e, (0, 0))).entries.tolist()
    [[True, True]]
    """
    tolerance = read_number("tolerance", tolerance, 0, LARGEST_TOLERANCE)
    gamma = e.layer_values().gamma
    zeros = form.bracket.abs() <= tolerance
    if gamma is not None:
        zeros = zeros | (broadcast(e.norm, e.shape, gamma).cpu() == 0)
    return Vanishing(form.at, form.group, form.group & zeros, *conditions(e.norm))


def conditions(norm: Norm) -> tuple[str, str]:
    """When an entry is 0 for every gamma: off the diagonal, and on it."""
    if norm.running:
        return _("always: running statistics do not depend on x"), _("never")
    return ("xhat_i xhat_j = -1", "xhat_j^2 = m - 1") if norm.center else ("xhat_i xhat_j = 0", "xhat_j^2 = m")


EXAMPLES = {
    "outlier": N_("one element of each group is m and the rest are 0: changing it changes no output"),
    "signs": N_("half of each group is -1, half is 1: changing one element changes only the outputs of its own half"),
}


def vanishing_input(norm: Norm, shape: tuple[int, ...], name: str = "outlier") -> Tensor:
    """An x whose Jacobian has zero entries within every statistics group.

    norm   the layer.
    shape  x's shape, at most 4,096 elements.
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
            _("{name} is not an example of zero entries; choose {names}.", name=echo(name), names=listed(EXAMPLES))
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
        raise NormvizError(_('"signs" needs a layer that subtracts the mean. Choose "outlier".'))
    group = ids(stat_tables(norm, shape)).ravel()
    order = np.argsort(group, kind="stable")
    place = np.empty(len(group), dtype=np.int64)
    place[order] = np.arange(len(group)) % m  # the position of each element in its group
    values = np.where(place == m - 1, m, 0) if name == "outlier" else 2 * (place % 2) - 1
    return torch.tensor(values.reshape(shape), dtype=torch.float64)
