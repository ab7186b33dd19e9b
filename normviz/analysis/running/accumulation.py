"""Gradient accumulation does not enlarge the batch: each micro-batch is normalized on its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from normviz.analysis.checks import read_float64
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.shards import read_sizes
from normviz.analysis.running.torch_module import torch_layer_of
from normviz.layers.layer import Layer
from normviz.layers.torch_errors import check


@torch.no_grad()
def accumulation_difference(layer: str | Layer, x: Any, sizes: Sequence[int]) -> float:
    """The largest difference between the outputs of a whole batch and of its micro-batches, in train mode.

    layer  a layer of torch.nn, as text or as a ``Layer``
    x      (N, ...), at most 2^20 elements; computed in float64
    sizes  (K,): examples in each micro-batch, in order; they add up to N

    Raises NormvizError for other inputs, with torch's error message if the layer refuses the batch or a micro-batch.

    >>> x = torch.tensor([[0.0], [2.0], [4.0], [6.0]])
    >>> (
    ...     round(accumulation_difference("BatchNorm1d(1)", x, (2, 2)), 2),
    ...     accumulation_difference("LayerNorm(1)", x, (2, 2)),
    ... )
    (1.45, 0.0)
    """
    found, batch = torch_layer_of(layer).with_(training=True), read_float64(x, "accumulation_difference")
    sizes = read_sizes(sizes, batch)
    for examples in (len(batch), *sizes):
        check(found, (examples, *batch.shape[1:]))
    module = found.module(torch.float64)
    return largest_difference(module(batch), torch.cat([module(part) for part in batch.split(sizes)]))
