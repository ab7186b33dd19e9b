"""A torch module after its warm-up: some batches in train mode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from normviz.analysis.checks import SEEDS, read_integer, read_tensor
from normviz.analysis.running.torch_module import Pass, attempt
from normviz.layers.axes import example_axis, parse_layout
from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.messages import _, ngettext
from normviz.layers.torch_errors import check

WARM_UPS = range(101)
MOST_WARM_UP_ELEMENTS = 2**21

WarmUp = int | Sequence[Any]


@dataclass(frozen=True, eq=False)
class WarmedUp:
    """The module of a layer after its warm-up, and x.

    layer   in train mode
    x       a tensor that the layer takes, or would take with a second example
    axes    one name for each axis of x
    module  in either mode; ``run`` sets the mode and leaves the buffers as they are
    """

    layer: Layer
    x: Tensor
    axes: tuple[str, ...]
    module: nn.Module

    @cached_property
    def train(self) -> Pass:
        """The forward pass of x in train mode, computed once."""
        return self.run(self.x, training=True)

    @cached_property
    def eval(self) -> Pass:
        """The forward pass of x in eval mode, computed once."""
        return self.run(self.x, training=False)

    @torch.no_grad()
    def run(self, x: Tensor, training: bool) -> Pass:
        """The forward pass of another tensor in one of the modes."""
        return attempt(self.module.train(training), x)


@torch.no_grad()
def warm_up(layer: Layer, x: Tensor, warmup: WarmUp, seed: int, layout: str | None) -> WarmedUp:
    """The module of the layer after its warm-up.

    The arguments are those of ``train_and_eval``, with the layer in train mode and x as a tensor.

    Raises NormvizError unless the layer takes x, or would take x with a second example.
    """
    axes = parse_layout(layout or layer.kind.layout(x.ndim), x.ndim)
    shape, channel = tuple(x.shape), layer.kind.channel(x.ndim)
    two = tuple(max(2, size) if i == example_axis(axes) and i != channel else size for i, size in enumerate(shape))
    _check_one_of(layer, shape, two)
    module = layer.module(x.dtype)
    batches = _read_batches(layer, x, warmup) if isinstance(warmup, Iterable) else _draw(layer, x, two, warmup, seed)
    for batch in batches:
        module(batch)
    return WarmedUp(layer, x, axes, module)


def _check_one_of(layer: Layer, shape: tuple[int, ...], other: tuple[int, ...]) -> None:
    """Raise NormvizError for ``shape`` unless the layer takes an x of one of the two shapes."""
    try:
        check(layer, shape)
    except NormvizError as error:
        try:
            check(layer, other)
        except NormvizError:
            raise error from None


def _read_batches(layer: Layer, x: Tensor, batches: Iterable[Any]) -> list[Tensor]:
    found = [read_tensor(batch, "warmup") for batch in batches]
    read_integer("warmup", len(found), WARM_UPS)
    _check_work(len(found), max((batch.numel() for batch in found), default=1))
    for batch in found:
        check(layer, tuple(batch.shape))
        if batch.dtype != x.dtype:
            raise NormvizError(
                _(
                    "x is {dtype} and a batch of warmup is {other}; convert one to the dtype of the other.",
                    dtype=x.dtype,
                    other=batch.dtype,
                )
            )
    return found


def _draw(layer: Layer, x: Tensor, shape: tuple[int, ...], warmup: int, seed: int) -> Iterator[Tensor]:
    """Normal batches of ``shape`` with the mean and standard deviation of each channel of x."""
    batches = read_integer("warmup", warmup, WARM_UPS)
    generator = torch.Generator().manual_seed(read_integer("seed", seed, SEEDS))
    if not layer.tracks:  # a warm-up would change nothing
        return
    _check_work(batches, prod(shape))
    others = [axis for axis in range(x.ndim) if axis != layer.kind.channel(x.ndim)]
    std, mean = torch.std_mean(x.double(), dim=others, correction=0, keepdim=True)
    for _batch in range(batches):
        yield (mean + std * torch.randn(shape, generator=generator, dtype=torch.float64)).to(x.dtype)


def _check_work(batches: int, elements: int) -> None:
    if batches > most_warm_up(elements):
        raise NormvizError(
            ngettext(
                "warmup={n} batch of {elements:,} elements has more than {most:,} elements in all; give at most {remedy}.",
                "warmup={n} batches of {elements:,} elements have more than {most:,} elements in all; give at most {remedy}.",
                batches,
                elements=elements,
                most=MOST_WARM_UP_ELEMENTS,
                remedy=most_warm_up(elements),
            )
        )


def most_warm_up(elements: int) -> int:
    """The largest number of warm-up batches of so many elements.

    >>> most_warm_up(96), most_warm_up(2**20)
    (100, 2)
    """
    elements = read_integer("elements", elements, range(1, MOST_WARM_UP_ELEMENTS + 1))
    return min(WARM_UPS[-1], MOST_WARM_UP_ELEMENTS // elements)
