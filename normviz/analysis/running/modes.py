"""train() and eval(): the same x through both modes of the same torch module, and one example alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from normviz.analysis.checks import SEEDS, Array, frozen_array, read_integer, read_only, read_tensor
from normviz.analysis.forward import largest_difference
from normviz.analysis.running.torch_module import attempt, torch_layer_of
from normviz.layers.axes import example_axis, parse_layout
from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.torch_errors import check

WARM_UPS = range(101)
MOST_WARM_UP_ELEMENTS = 2**21

WarmUp = int | Sequence[Any]


@dataclass(frozen=True, eq=False)
class TrainAndEval:
    """The same x through train() and eval() of the same module.

    train_norm, eval_norm  who shares which statistics in each mode, and whether they are running ones
    train, eval            the outputs, of x's shape
    differs                where they differ, of x's shape
    largest_difference     0 where the mode does not matter
    changed_by_train       buffers that one forward in train mode changes, with no optimizer about (InstanceNorm never counts
                           its batches, and with momentum=None keeps its buffers as they are)
    changed_by_eval        the same in eval mode
    """

    layer: Layer
    train_norm: Norm
    eval_norm: Norm
    train: Array
    eval: Array
    differs: NDArray[np.bool_]
    largest_difference: float
    changed_by_train: tuple[str, ...]
    changed_by_eval: tuple[str, ...]

    @property
    def buffers_changed(self) -> int:
        """How many buffers one forward in train mode changes."""
        return len(self.changed_by_train)


@torch.no_grad()
def train_and_eval(
    layer: str | Layer, x: Any, warmup: WarmUp = 20, seed: int = 0, layout: str | None = None
) -> TrainAndEval:
    """Put the same x through train() and eval() of the same torch module, after some batches in train mode.

    layer   a layer of torch.nn, as text or as a ``Layer``; its own mode is ignored
    x       a tensor or array that it takes in both modes
    warmup  how many batches it sees before, 0 to 100: drawn like x, with its mean and standard deviation in each channel.
            Or the batches themselves.
    seed    of the drawn batches, 0 to 2^31 - 1
    layout  axis letters of x, ``"NCHW"``; default: what the layer means by x's rank

    Raises NormvizError where torch would refuse, with its words; for a Norm and for layers that torch lacks; and above
    2^20 elements of x or 2^21 of all batches of the warm-up. Source: ``torch.nn.BatchNorm2d``, ``torch.nn.Module.eval``.

    >>> both = train_and_eval("BatchNorm1d(1, eps=8)", torch.tensor([[2.0], [4.0]]), warmup=0)
    >>> both.train.round(3).tolist(), both.eval.round(3).tolist(), both.buffers_changed
    ([[-0.333], [0.333]], [[0.667], [1.333]], 3)
    """
    found, x = torch_layer_of(layer).with_(training=True), read_tensor(x, "train_and_eval")
    check(found, tuple(x.shape))
    axes = parse_layout(layout or found.kind.layout(x.ndim), x.ndim)
    module = _trained(found, x, axes, warmup, seed)
    in_eval, changed_by_eval = _changing(module.eval(), x)
    in_train, changed_by_train = _changing(module.train(), x)
    same = (in_train == in_eval) | (in_train.isnan() & in_eval.isnan())
    return TrainAndEval(
        found,
        found.norm(axes),
        found.with_(training=False).norm(axes),
        frozen_array(in_train),
        frozen_array(in_eval),
        read_only(~same.numpy()),
        largest_difference(in_train, in_eval),
        changed_by_train,
        changed_by_eval,
    )


@dataclass(frozen=True, eq=False)
class Outcome:
    """What torch makes of one example.

    output      of the example's shape; None where torch refuses
    refusal     torch's own words, caught as it spoke them; "" where it runs
    difference  the largest difference from the same example's output within all of x; None where either is refused
    """

    output: Array | None
    refusal: str
    difference: float | None


@dataclass(frozen=True, eq=False)
class OneExample:
    """One example alone, in both modes. ``x`` is the example, of the shape (1, ...)."""

    layer: Layer
    x: Array
    train: Outcome
    eval: Outcome


@torch.no_grad()
def one_example(
    layer: str | Layer, x: Any, example: int = 0, warmup: WarmUp = 20, seed: int = 0, layout: str | None = None
) -> OneExample:
    """Give one example of x alone to the trained module, in train and in eval mode; compare with its output among the others.

    example  its number on the axis N; an x without such an axis is one example already

    The rest as for ``train_and_eval``. Drawn batches have two examples at least. What torch refuses because one example is
    too few is part of the answer; NormvizError is raised where another example would not help.

    >>> alone = one_example("BatchNorm1d(2)", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    >>> alone.train.refusal
    'Expected more than 1 value per channel when training, got input size torch.Size([1, 2])'
    >>> alone.eval.output is None, alone.eval.difference
    (False, 0.0)
    """
    found, x = torch_layer_of(layer).with_(training=True), read_tensor(x, "one_example")
    axes = parse_layout(layout or found.kind.layout(x.ndim), x.ndim)
    alone, number, axis = x, 0, example_axis(axes)
    if axis is not None:
        number = read_integer("example", example, range(x.shape[axis]))
        alone = x.narrow(axis, number, 1)
    module = _trained(found, x, axes, warmup, seed)

    def outcome(training: bool) -> Outcome:
        output, refusal = attempt(module.train(training), alone)
        among, _ = attempt(module, x)
        if output is None:
            return Outcome(None, refusal, None)
        if among is not None and axis is not None:
            among = among.narrow(axis, number, 1)
        return Outcome(frozen_array(output), "", None if among is None else largest_difference(output, among))

    return OneExample(found, frozen_array(alone), outcome(True), outcome(False))


def _changing(module: nn.Module, x: Tensor) -> tuple[Tensor, tuple[str, ...]]:
    """One forward, and the names of the buffers that it changed."""
    before = {name: value.clone() for name, value in module.named_buffers()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output: Tensor = module(x)
    after = dict(module.named_buffers())
    return output, tuple(name for name, value in before.items() if not torch.equal(value, after[name]))


def _trained(layer: Layer, x: Tensor, axes: tuple[str, ...], warmup: WarmUp, seed: int) -> nn.Module:
    """The module after its warm-up. x must fit it, or would if there were a second example."""
    shape, channel = tuple(x.shape), layer.kind.channel(x.ndim)
    two = tuple(max(2, size) if i == example_axis(axes) and i != channel else size for i, size in enumerate(shape))
    _check_either(layer, shape, two)
    module = layer.module(x.dtype)
    for batch in _given(layer, x, warmup) if isinstance(warmup, Iterable) else _drawn(layer, x, two, warmup, seed):
        module(batch)
    return module


def _check_either(layer: Layer, shape: tuple[int, ...], other: tuple[int, ...]) -> None:
    try:
        check(layer, shape)
    except NormvizError as refused:
        try:
            check(layer, other)
        except NormvizError:
            raise refused from None


def _given(layer: Layer, x: Tensor, batches: Iterable[Any]) -> list[Tensor]:
    found = [read_tensor(batch, "warmup") for batch in batches]
    read_integer("warmup", len(found), WARM_UPS)
    _check_work(len(found), max((batch.numel() for batch in found), default=1))
    for batch in found:
        check(layer, tuple(batch.shape))
        if batch.dtype != x.dtype:
            raise NormvizError(f"x is {x.dtype} and a batch of warmup {batch.dtype}; convert one to the other's type.")
    return found


def _drawn(layer: Layer, x: Tensor, shape: tuple[int, ...], warmup: int, seed: int) -> Iterator[Tensor]:
    """Batches of ``shape`` like x: normal, with its mean and standard deviation in each channel."""
    count, generator = (
        read_integer("warmup", warmup, WARM_UPS),
        torch.Generator().manual_seed(read_integer("seed", seed, SEEDS)),
    )
    if not layer.tracks:  # nothing would be learned from them
        return
    _check_work(count, prod(shape))
    channel = layer.kind.channel(x.ndim)
    others = [axis for axis in range(x.ndim) if axis != channel]
    std, mean = torch.std_mean(x.double(), dim=others, correction=0, keepdim=True)
    for _ in range(count):
        yield (mean + std * torch.randn(shape, generator=generator, dtype=torch.float64)).to(x.dtype)


def _check_work(batches: int, elements: int) -> None:
    if batches > most_warm_up(elements):
        raise NormvizError(
            f"warmup={batches} batches of {elements:,} elements are more than {MOST_WARM_UP_ELEMENTS:,} in all; "
            f"give at most {most_warm_up(elements)}."
        )


def most_warm_up(elements: int) -> int:
    """How many batches of so many elements a warm-up may have.

    >>> most_warm_up(96), most_warm_up(2**20)
    (100, 2)
    """
    return min(
        WARM_UPS[-1], MOST_WARM_UP_ELEMENTS // read_integer("elements", elements, range(1, MOST_WARM_UP_ELEMENTS + 1))
    )
