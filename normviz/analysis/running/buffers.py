"""The first limit of BatchNorm: running statistics have to be kept. Which ones, and when are they any good?"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from normviz.analysis.running.checks import Array, fixed, number
from normviz.analysis.running.modes import torch_layer_of
from normviz.analysis.running.stream import Stream, run
from normviz.layers.layer import Layer

TOLERANCES = (1e-3, 1.0)


@dataclass(frozen=True)
class Buffer:
    """One thing that a layer keeps beside its parameters: its name in torch, and its shape."""

    name: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        return prod(self.shape)


def buffers(layer: str | Layer) -> tuple[Buffer, ...]:
    """What torch's module keeps from batch to batch; nothing for LayerNorm, RMSNorm and GroupNorm.

    Raises NormvizError where torch has no such layer, and above 2^20 channels.

    >>> [(buffer.name, buffer.shape) for buffer in buffers("BatchNorm2d(3)")]
    [('running_mean', (3,)), ('running_var', (3,)), ('num_batches_tracked', ())]
    >>> buffers("LayerNorm([3, 4, 4])")
    ()
    """
    found = torch_layer_of(layer)
    if not found.tracks:
        return ()
    return tuple(Buffer(name, tuple(value.shape)) for name, value in found.module().named_buffers())


@dataclass(frozen=True, eq=False)
class Settling:
    """How far the running statistics are from the truth, step by step, and from which step on they are near it.

    mean_error     |running_mean - true mean| / true standard deviation, (steps,)
    var_error      |running_var / true variance - 1|, (steps,)
    mean_steps     after so many steps mean_error is within the tolerance and stays so to the end; None: not in this run
    var_steps      the same for var_error
    expected_mean_steps, expected_var_steps  the same for what the buffers hold on average over all draws
    """

    tolerance: float
    mean_error: Array
    var_error: Array
    mean_steps: int | None
    var_steps: int | None
    expected_mean_steps: int | None
    expected_var_steps: int | None


def settle(stream: Stream, tolerance: float = 0.25) -> Settling:
    """After how many steps BatchNorm's buffers are within ``tolerance`` of the truth.

    Without drift the buffers start 3 / 2 of a standard deviation off and ``(1 - momentum)**t`` of that is left after t steps;
    what the batches' noise adds does not die away.

    tolerance  0.001 to 1; for the mean in standard deviations, for the variance in parts of itself

    Raises NormvizError for another tolerance.

    >>> settle(Stream(batch_size=64, momentum=0.1)).expected_mean_steps
    18
    """
    tolerance, outcome = number("tolerance", tolerance, *TOLERANCES), run(stream)
    deviation = np.sqrt(outcome.true_var)

    def mean_error(mean: Array) -> Array:
        return fixed(np.abs(mean - outcome.true_mean) / deviation)

    def var_error(var: Array) -> Array:
        return fixed(np.abs(var / outcome.true_var - 1))

    of_mean, of_var = mean_error(outcome.running_mean), var_error(outcome.running_var)
    return Settling(
        tolerance,
        of_mean,
        of_var,
        settled(of_mean, tolerance),
        settled(of_var, tolerance),
        settled(mean_error(outcome.expected_mean), tolerance),
        settled(var_error(outcome.expected_var), tolerance),
    )


def settled(error: Array, tolerance: float) -> int | None:
    """After how many steps ``error`` (steps,) is at most ``tolerance`` and stays so to the end; None where it is not.

    >>> settled(np.array([3.0, 0.5, 2.0, 1.0, 0.5]), 1.0)
    4
    """
    outside = np.flatnonzero(~(error <= tolerance))
    steps = int(outside[-1]) + 2 if len(outside) else 1
    return steps if steps <= len(error) else None
