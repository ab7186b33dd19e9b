"""Gradient accumulation does not enlarge the batch: each micro-batch is normalized on its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from normviz.analysis.checks import SEEDS, Array, frozen_array, read_float64, read_integer
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.shards import read_sizes
from normviz.analysis.running.torch_module import torch_layer_of
from normviz.layers.layer import Layer
from normviz.layers.torch_errors import check


@dataclass(frozen=True, eq=False)
class Accumulation:
    """One layer on a whole batch, and on its micro-batches one after another with accumulated gradients.

    whole_output, micro_output      of x's shape
    output_difference               the largest
    whole_gradient, micro_gradient  of gamma, of its shape; None if there is no gamma
    gradient_difference             the largest; None if there is no gamma
    whole_updates, micro_updates    number of updates of the running statistics; 0 if there are none
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
    """Train on a whole batch and on its micro-batches; compare outputs and the accumulated gradient of gamma.

    The loss is ``sum(w * y) / N`` with random w, so that the losses of the micro-batches add up to the loss of the batch.

    layer  a layer of torch.nn, as text or as a ``Layer``; in train mode
    x      (N, ...), at most 2^20 elements; computed in float64
    sizes  (K,): examples in each micro-batch, in order; they add up to N
    seed   of the loss, 0 to 2^31 - 1

    Raises NormvizError for other inputs, with torch's words if the layer refuses the batch or a micro-batch.

    >>> x = torch.tensor([[0.0], [2.0], [4.0], [6.0]])
    >>> accumulate("BatchNorm1d(1)", x, (2, 2)).micro_output.round(2).ravel().tolist()
    [-1.0, 1.0, -1.0, 1.0]
    >>> accumulate("LayerNorm(3)", torch.randn(4, 3), (2, 2)).output_difference
    0.0
    """
    found, batch = torch_layer_of(layer).with_(training=True), read_float64(x, "accumulate")
    micro, generator = read_sizes(sizes, batch), torch.Generator().manual_seed(read_integer("seed", seed, SEEDS))
    for examples in (len(batch), *micro):
        check(found, (examples, *batch.shape[1:]))
    loss = torch.randn(batch.shape, generator=generator, dtype=torch.float64) / len(batch)
    whole_output, whole_gradient, whole_updates = _train(found, batch, loss, (len(batch),))
    micro_output, micro_gradient, micro_updates = _train(found, batch, loss, micro)
    has_gamma = whole_gradient is not None and micro_gradient is not None
    return Accumulation(
        layer=found,
        sizes=micro,
        whole_output=frozen_array(whole_output),
        micro_output=frozen_array(micro_output),
        output_difference=largest_difference(whole_output, micro_output),
        whole_gradient=frozen_array(whole_gradient) if has_gamma else None,
        micro_gradient=frozen_array(micro_gradient) if has_gamma else None,
        gradient_difference=largest_difference(whole_gradient, micro_gradient) if has_gamma else None,
        whole_updates=whole_updates,
        micro_updates=micro_updates,
    )


def _train(layer: Layer, x: Tensor, loss: Tensor, sizes: tuple[int, ...]) -> tuple[Tensor, Any, int]:
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
