"""The mean and the variance of each statistics group, before and after every step of the forward pass.

``normalized = (x - m) / s`` with one m and one s per group, so the moments after the step follow from those before it. They are
computed in float64 from these rules, so that a mean that is 0 in exact arithmetic is 0 here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from normviz.analysis.description import Description
from normviz.analysis.forward import group_mean

if TYPE_CHECKING:
    from torch import Tensor


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


def moments(e: Description) -> dict[str, Moments]:
    """The moments of "x", "centered", "normalized" and, for a layer with gamma, "output".

    Raises NormvizError if only a shape was given.

    >>> from normviz import explain
    >>> import torch
    >>> found = moments(explain("LayerNorm(2, eps=12)", torch.tensor([[1.0, 5.0]])))
    >>> {key: (float(each.mean), float(each.var)) for key, each in found.items()}
    {'x': (3.0, 4.0), 'centered': (0.0, 4.0), 'normalized': (0.0, 0.25), 'output': (0.0, 0.25)}
    """
    trace, norm = e.trace, e.norm
    assert e.x is not None  # the trace raises an error without x
    before = _measured(e, e.x)
    if norm.running:
        centered, divisor = before.shifted(-trace.mean.double()), trace.var.double()
    elif norm.center:
        centered, divisor = Moments(before.mean * 0, before.var), before.var
    else:
        centered, divisor = before, before.mean_square
    normalized = centered.scaled((divisor + trace.eps).rsqrt())
    found = {"x": before, "centered": centered, "normalized": normalized}
    return found if norm.params is None else found | {"output": _output(e, normalized)}


def _measured(e: Description, values: Tensor) -> Moments:
    mean = group_mean(e.norm, values.double())
    return Moments(mean, group_mean(e.norm, (values.double() - mean).square()))


def _output(e: Description, normalized: Moments) -> Moments:
    """By the rule for one gamma and one beta, else measured."""
    held = e.layer_values()
    if any(value is not None and not bool((value == value.flatten()[0]).all()) for value in (held.gamma, held.beta)):
        return _measured(e, e.trace.output)
    assert held.gamma is not None  # without gamma, "normalized" is the output
    return normalized.scaled(held.gamma.flatten()[0].double()).shifted(
        0.0 if held.beta is None else held.beta.flatten()[0].double()
    )
