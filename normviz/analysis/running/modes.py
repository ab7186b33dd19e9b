"""train() and eval(): a torch module after its warm-up, some batches in train mode, and what each mode makes of the same x."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from normviz.analysis.checks import SEEDS, Array, frozen_array, read_integer, read_only, read_tensor
from normviz.analysis.forward import Values, largest_difference, module_with, trace
from normviz.analysis.running.torch_module import Pass, attempt, torch_layer_of
from normviz.layers.axes import example_axis, parse_layout
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.torch_errors import check
from normviz.texts.errors import NormvizError
from normviz.texts.messages import ngettext

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
def warm_up(
    layer: Layer, x: Tensor, warmup: WarmUp, seed: int, layout: str | None, values: Values | None = None
) -> WarmedUp:
    """The module of the layer after its warm-up, or with ``values``.

    The arguments are as in ``train_and_eval``, but the layer is in train mode and x is a tensor.

    Raises NormvizError unless the layer takes x, or would take x with a second example.
    """
    axes = parse_layout(layout or layer.kind.layout(x.ndim), x.ndim)
    shape, channel = tuple(x.shape), layer.kind.channel(x.ndim)
    two = tuple(max(2, size) if i == example_axis(axes) and i != channel else size for i, size in enumerate(shape))
    try:
        check(layer, shape)
    except NormvizError as error:
        try:
            check(layer, two)
        except NormvizError:
            raise error from None
    if values is not None:
        return WarmedUp(layer, x, axes, module_with(layer, x, values))
    module = layer.module(x.dtype)
    batches = _read_batches(layer, x, warmup) if isinstance(warmup, Iterable) else _draw(layer, x, two, warmup, seed)
    for batch in batches:
        module(batch)
    return WarmedUp(layer, x, axes, module)


def _read_batches(layer: Layer, x: Tensor, batches: Iterable[object]) -> list[Tensor]:
    found = [read_tensor(batch, "warmup") for batch in batches]
    read_integer("warmup", len(found), WARM_UPS)
    _check_work(len(found), max((batch.numel() for batch in found), default=1))
    for batch in found:
        check(layer, tuple(batch.shape))
        if batch.dtype != x.dtype:
            raise NormvizError(
                "x is {dtype} and a batch of warmup is {other}; convert one to the dtype of the other.",
                dtype=x.dtype,
                other=batch.dtype,
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


# train() and eval(): the same x through both modes of one torch module, and one example alone.


@dataclass(frozen=True, eq=False)
class TrainAndEval:
    """The same x through train() and eval() of one module.

    train_norm, eval_norm  the patterns in each mode, and whether running statistics are used
    train, eval            the outputs, of x's shape
    differs                where the outputs differ, of x's shape
    largest_difference     the largest difference between the outputs
    changed_by_train       the buffers that one forward pass in train mode changes, without any optimizer (InstanceNorm
                           never counts its batches, and with momentum=None it does not change its buffers)
    changed_by_eval        the buffers that one forward pass in eval mode changes
    warmed_up              the module after its warm-up
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
    warmed_up: WarmedUp = field(repr=False)


@torch.no_grad()
def train_and_eval(
    layer: str | Layer,
    x: object,
    warmup: WarmUp = 20,
    seed: int = 0,
    layout: str | None = None,
    values: Values | None = None,
) -> TrainAndEval:
    """Pass the same x through train() and eval() of one torch module, after some batches in train mode.

    layer   a layer of torch.nn, as text or as a ``Layer``, whose own mode is ignored
    x       a tensor or array that the layer takes in both modes
    warmup  the number of batches before x, 0 to 100: drawn with the mean and standard deviation of each channel of x.
            Or the batches themselves.
    seed    of the drawn batches, 0 to 2^31 - 1
    layout  axis letters of x, ``"NCHW"``; default: the layer's own layout for x's rank
    values  of a trained module: gamma, beta and running statistics; then there is no warm-up

    Raises NormvizError with torch's error message if torch refuses x; for a Norm and for layers that torch does not have;
    above 2^20 elements of x or 2^21 elements of all warm-up batches.
    Source: ``torch.nn.BatchNorm2d``, ``torch.nn.Module.eval``.

    >>> both = train_and_eval("BatchNorm1d(1, eps=8)", torch.tensor([[2.0], [4.0]]), warmup=0)
    >>> both.train.round(3).tolist(), both.eval.round(3).tolist(), len(both.changed_by_train)
    ([[-0.333], [0.333]], [[0.667], [1.333]], 3)
    """
    found, x = torch_layer_of(layer).with_(training=True), read_tensor(x, "train_and_eval")
    check(found, tuple(x.shape))
    warmed_up = warm_up(found, x, warmup, seed, layout, values)
    in_train, in_eval = warmed_up.train.output, warmed_up.eval.output
    assert in_train is not None, warmed_up.train.refusal  # check has accepted x
    assert in_eval is not None, warmed_up.eval.refusal  # eval mode takes whatever train mode takes
    same = (in_train == in_eval) | (in_train.isnan() & in_eval.isnan())
    return TrainAndEval(
        layer=found,
        train_norm=found.norm(warmed_up.axes),
        eval_norm=found.with_(training=False).norm(warmed_up.axes),
        train=frozen_array(in_train),
        eval=frozen_array(in_eval),
        differs=read_only(~same.numpy()),
        largest_difference=largest_difference(in_train, in_eval),
        changed_by_train=warmed_up.train.changed,
        changed_by_eval=warmed_up.eval.changed,
        warmed_up=warmed_up,
    )


@dataclass(frozen=True)
class InMode:
    """One element in one mode: the mean and the variance that it is normalized with, and its output."""

    mean: float
    var: float
    output: float


def element_in_modes(found: TrainAndEval, at: tuple[int, ...]) -> tuple[InMode, InMode]:
    """x[at] in train() and in eval().

    >>> both = train_and_eval("BatchNorm1d(1, eps=8)", torch.tensor([[2.0], [4.0]]), warmup=0)
    >>> train, evaluated = element_in_modes(both, (0, 0))
    >>> train.mean, train.var, evaluated.mean, evaluated.var
    (3.0, 1.0, 0.0, 1.0)
    """
    x, values = found.warmed_up.x, Values.of(found.warmed_up.module)

    def in_mode(norm: Norm, output: Array) -> InMode:
        steps = trace(norm, x, values)
        mean, var = (float(statistic.expand(x.shape)[at]) for statistic in (steps.mean, steps.var))
        return InMode(mean, var, float(output[at]))

    return in_mode(found.train_norm, found.train), in_mode(found.eval_norm, found.eval)


@dataclass(frozen=True, eq=False)
class Outcome:
    """torch's result for one example.

    output      of the example's shape; None if torch refuses it
    refusal     torch's own error message; "" if it runs
    difference  the largest difference from the output of the same example within x; None if torch refuses either
    """

    output: Array | None
    refusal: str
    difference: float | None


@dataclass(frozen=True, eq=False)
class OneExample:
    """One example alone, in both modes. ``x`` is the example, of shape (1, ...)."""

    x: Array
    train: Outcome
    eval: Outcome


@torch.no_grad()
def one_example(
    layer: str | Layer, x: object, example: int = 0, warmup: WarmUp = 20, seed: int = 0, layout: str | None = None
) -> OneExample:
    """Pass one example of x alone through the module after its warm-up, in both modes; compare with its output within x.

    example  its index on the axis N; an x without that axis is one example

    The other arguments are as in ``train_and_eval``. Drawn batches have at least two examples. If torch refuses
    the example only because it needs more than one, the result says so. Other errors raise NormvizError.

    >>> alone = one_example("BatchNorm1d(2)", torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    >>> alone.train.refusal
    'Expected more than 1 value per channel when training, got input size torch.Size([1, 2])'
    >>> alone.eval.output is None, alone.eval.difference
    (False, 0.0)
    """
    found, x = torch_layer_of(layer).with_(training=True), read_tensor(x, "one_example")
    return example_alone(warm_up(found, x, warmup, seed, layout), example)


def example_alone(warmed_up: WarmedUp, example: int = 0) -> OneExample:
    """``one_example`` for a module after its warm-up."""
    x, axis = warmed_up.x, example_axis(warmed_up.axes)
    index = 0 if axis is None else read_integer("example", example, range(x.shape[axis]))

    def the_example(of: Tensor) -> Tensor:
        return of if axis is None else of.narrow(axis, index, 1)

    alone = the_example(x)

    def outcome(training: bool) -> Outcome:
        whole = warmed_up.train if training else warmed_up.eval
        one = whole if alone.shape == x.shape else warmed_up.run(alone, training)
        if one.output is None:
            return Outcome(None, one.refusal, None)
        within = None if whole.output is None else largest_difference(one.output, the_example(whole.output))
        return Outcome(frozen_array(one.output), "", within)

    return OneExample(frozen_array(alone), outcome(True), outcome(False))
