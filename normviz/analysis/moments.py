"""The mean and the variance of each statistics group, before and after every step of the forward pass.

``normalized = (x - m) / s`` with one m and one s per group, so the moments after the step follow from those before it. They are
computed in float64 from these rules, so that a mean that is 0 in exact arithmetic is 0 here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from normviz.analysis.description import Description
from normviz.analysis.forward import factor, group_statistic

if TYPE_CHECKING:
    from torch import Tensor

Take = Callable[["Tensor"], "Tensor"]
SHORT = 16  # elements of a group


@dataclass(frozen=True)
class Moments:
    """The mean and the biased variance of each statistics group, float64, broadcastable to x."""

    mean: Tensor
    var: Tensor

    @property
    def mean_square(self) -> Tensor:
        return self.var + self.mean.square()

    def shifted(self, by: Tensor | float) -> Moments:
        return Moments(self.mean + by, self.var)

    def scaled(self, by: Tensor | float) -> Moments:
        return Moments(self.mean * by, self.var * by * by)


def moments(e: Description, take: Take = lambda values: values) -> dict[str, Moments]:
    """The moments of "x", "centered", "normalized" and, for a layer with gamma, "output".

    take  a part of each tensor; by default all of it

    Raises NormvizError if only a shape was given.

    >>> from normviz import explain
    >>> import torch
    >>> found = moments(explain("LayerNorm(2, eps=12)", torch.tensor([[1.0, 5.0]])))
    >>> {key: (float(each.mean), float(each.var)) for key, each in found.items()}
    {'x': (3.0, 4.0), 'centered': (0.0, 4.0), 'normalized': (0.0, 0.25), 'output': (0.0, 0.25)}
    """
    trace, norm = e.trace, e.norm
    assert e.x is not None  # the trace raises an error without x
    before = _measured(e, e.x, take)
    if norm.running:
        centered, divisor = before.shifted(-take(trace.mean).double()), take(trace.var).double()
    elif norm.center:
        centered, divisor = Moments(before.mean * 0, before.var), before.var
    else:
        centered, divisor = before, before.mean_square
    normalized = centered.scaled((divisor + trace.eps).rsqrt())
    found = {"x": before, "centered": centered, "normalized": normalized}
    return found if norm.params is None else found | {"output": _output(e, normalized, take)}


def _measured(e: Description, values: Tensor, take: Take) -> Moments:
    wide = values.double()
    mean = group_statistic(e.norm, wide, _mean)
    return Moments(take(mean), take(group_statistic(e.norm, (wide - mean).square(), _mean)))


def _mean(values: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The mean over the last axes."""
    flat = values.flatten(axes[0])
    size = flat.shape[-1]
    if size > SHORT:
        return flat.mean(-1)
    return flat @ flat.new_ones(size) / size  # a reduction of torch takes several times as long


def _output(e: Description, normalized: Moments, take: Take) -> Moments:
    """By the rule for one gamma and one beta, else measured."""
    held = e.layer_values()
    if any(value is not None and not bool((value == value.flatten()[0]).all()) for value in (held.gamma, held.beta)):
        return _measured(e, e.trace.output, take)
    assert held.gamma is not None  # without gamma, "normalized" is the output
    scaled = normalized.scaled(factor(e.norm, held.gamma.flatten()[0].double()))
    return scaled.shifted(0.0 if held.beta is None else held.beta.flatten()[0].double())
