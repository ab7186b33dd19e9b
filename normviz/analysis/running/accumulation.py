"""Gradient accumulation does not enlarge the batch: each micro-batch is normalized on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from normviz.analysis.checks import SEEDS, Array, frozen_array, read_float64, read_integer, read_tensor
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.shards import read_sizes
from normviz.analysis.running.torch_module import torch_layer_of
from normviz.layers.layer import Layer
from normviz.layers.torch_errors import check


@dataclass(frozen=True, eq=False)
class Accumulation:
    """One layer on a whole batch, and on its micro-batches one after another, gradients added up.

    whole_output, micro_output      of x's shape
    output_difference               the largest
    whole_gradient, micro_gradient  of gamma, of its shape; None where there is no gamma
    gradient_difference             the largest; None where there is no gamma
    whole_updates, micro_updates    how often the running statistics were updated; 0 where there are none
    """

    layer: Layer
    sizes: tuple[int, ...]
    whole_output: Array
    micro_output: Array
    output_difference: float
    whole_gradient: Array | None
    micro_gradient: Array | None
    gradient_difference: float | None
    whole_updates: int
    micro_updates: int


def accumulate(layer: str | Layer, x: Any, sizes: Sequence[int], seed: int = 0) -> Accumulation:
    """Train on a whole batch at once and in micro-batches, and compare outputs and the accumulated gradient of gamma.

    The loss is ``sum(w * y) / N`` with seeded random w, so that its parts add up to the whole but for the normalization.

    layer  a layer of torch.nn, as text or as a ``Layer``; in train mode
    x      (N, ...), 2^20 elements at most; computed in float64
    sizes  (K,): examples in each micro-batch, in order; they add up to N
    seed   of the loss, 0 to 2^31 - 1

    Raises NormvizError for other inputs, with torch's words where the layer refuses the batch or a micro-batch.

    >>> x = torch.tensor([[0.0], [2.0], [4.0], [6.0]])
    >>> accumulate("BatchNorm1d(1)", x, (2, 2)).micro_output.round(2).ravel().tolist()
    [-1.0, 1.0, -1.0, 1.0]
    >>> accumulate("LayerNorm(3)", torch.randn(4, 3), (2, 2)).output_difference
    0.0
    """
    found, batch = torch_layer_of(layer).with_(training=True), read_float64(read_tensor(x, "a batch in parts"))
    micro, generator = read_sizes(sizes, batch), torch.Generator().manual_seed(read_integer("seed", seed, SEEDS))
    for examples in (len(batch), *micro):
        check(found, (examples, *batch.shape[1:]))
    loss = torch.randn(batch.shape, generator=generator, dtype=torch.float64) / len(batch)
    whole_output, whole_gradient, whole_updates = _pass(found, batch, loss, (len(batch),))
    micro_output, micro_gradient, micro_updates = _pass(found, batch, loss, micro)
    gradients = None if whole_gradient is None or micro_gradient is None else (whole_gradient, micro_gradient)
    return Accumulation(
        found,
        micro,
        frozen_array(whole_output),
        frozen_array(micro_output),
        largest_difference(whole_output, micro_output),
        None if gradients is None else frozen_array(gradients[0]),
        None if gradients is None else frozen_array(gradients[1]),
        None if gradients is None else largest_difference(*gradients),
        whole_updates,
        micro_updates,
    )


def _pass(layer: Layer, x: Tensor, loss: Tensor, sizes: tuple[int, ...]) -> tuple[Tensor, Tensor | None, int]:
    """The outputs, the gradient of gamma summed over the parts, and the number of batches that the module counted."""
    module: nn.Module = layer.module(torch.float64)
    outputs = []
    for part, weight in zip(x.split(sizes), loss.split(sizes), strict=True):
        output = module(part)
        if output.requires_grad:
            (weight * output).sum().backward()
        outputs.append(output.detach())
    gamma, counted = getattr(module, "weight", None), getattr(module, "num_batches_tracked", None)
    return torch.cat(outputs), None if gamma is None else gamma.grad, 0 if counted is None else int(counted)
