"""Which changes of x leave the output of a layer the same, measured on a small copy of the layer and its tensor.

Every named size of the copy, including the parts of a split axis, is at most ``LONGEST``, which does not change how elements share
statistics. Each change is applied to random float64 tensors; the outputs before and after are compared, of torch's own layer if torch has it.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import prod

import torch
from torch import Generator, Tensor

from normviz.analysis.description import Description
from normviz.analysis.forward import Trace, Values, factor, largest_difference, put_values, trace
from normviz.layers import fit, sharing, torch_errors
from normviz.layers.axes import example_axis
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from normviz.texts.messages import ngettext

LONGEST = 3  # largest size of an axis: two values only have an order; three already behave like more
MOST_ELEMENTS = 2**13  # rank 12 and one split axis, all cut to 2


def reduced_copy(e: Description) -> tuple[Norm, tuple[int, ...]]:
    """A copy of the Norm and the shape with each named size at most ``LONGEST``, less if there are many axes.

    Raises NormvizError for so many axes that even sizes of 2 make a large tensor.

    >>> from normviz import explain
    >>> reduced_copy(explain("GroupNorm(32, 256)", (8, 256, 14, 14)))
    (Norm('n (g k) h w -> n g', 'c', sizes={'g': 3}), (3, 9, 3, 3))
    """
    sizes, batch = e.norm.axis_sizes(e.shape), example_axis(e.axes)
    for longest in range(LONGEST, 1, -1):
        small = {name: min(sizes[name], longest) for name in e.norm.pattern.names}
        # Only if the pattern does not split the axis of examples:
        if batch is not None and len(e.norm.pattern.left[batch]) == 1:
            small[e.axes[batch]] = max(small[e.axes[batch]], 2)
        if prod(small.values()) <= MOST_ELEMENTS:
            norm = replace(e.norm, sizes={name: small[name] for name in e.norm.split_sizes})
            return norm, tuple(prod(small[name] for name in axis) for axis in norm.pattern.left)
    raise NormvizError(
        ngettext(
            "invariances are measured on up to {most:,} elements, and {n} axis of size 2 has {elements:,}; give fewer axes, or sizes of 1.",
            "invariances are measured on up to {most:,} elements, and {n} axes of size 2 have {elements:,}; give fewer axes, or sizes of 1.",
            len(e.shape),
            most=MOST_ELEMENTS,
            elements=prod(small.values()),
        )
    )


def reduced_layer(e: Description, norm: Norm, shape: tuple[int, ...]) -> Layer | None:
    """The torch layer of the description, with the sizes of the small copy; None if torch has no such layer."""
    if e.layer is None or e.layer.kind.module is None:
        return None
    split = tuple(norm.split_sizes.values())  # only GroupNorm splits an axis
    layer = fit.refit(e.layer.with_(num_groups=split[0]) if split else e.layer, shape, e.axes, e.layer.kind)
    return layer if layer.norm(e.axes) == norm else None


TRIALS = 8
MOST_KEPT = 2**11  # measurements of about 3 kB
SCALE_FACTOR = 4.0
NOISE_RATIO = 30.0  # added numbers relative to x: large enough to change signs
SPACING = 1000.0  # distance of neighboring values of x: eps is small compared with every variance
CLEAR = 1000  # a difference below this multiple of the tolerance may be the effect of eps alone
LARGEST_EPS_EFFECT = 1e-3  # the largest change of a normalized value that is attributed to eps

Axes = tuple[int, ...]
Map = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Invariance:
    """One change of x, and whether the output stays the same.

    key         such as "add_channel", "scale_example", "shuffle" or "others"
    holds       whether ``difference`` is at most ``tolerance``
    difference  the largest change of an output that was measured
    tolerance   the largest difference that rounding, and for scaling also eps, can explain
    """

    key: str
    holds: bool
    difference: float
    tolerance: float


def invariances(e: Description) -> tuple[Invariance, ...]:
    """Which changes of x leave the output of ``e``'s layer the same, each measured on several tensors and parameters.

    Axis n is the axis of examples, c (or d, if there is no c) the axis of channels, the others are positions. A change that
    needs an axis that x does not have is omitted. The batch has at least two examples, so that they can affect each other.

    Raises NormvizError if x has more than ``MOST_ELEMENTS`` elements with every size reduced to 2.

    >>> from normviz import explain
    >>> [i.key for i in invariances(explain("LayerNorm(3)", (2, 3))) if i.holds]
    ['add', 'add_example', 'scale', 'scale_example', 'shuffle', 'others']
    """
    norm, shape = reduced_copy(e)
    return _measure(norm, shape, e.axes, reduced_layer(e, norm, shape))


def depends_on_batch(e: Description) -> bool | None:
    """Whether the output of an example depends on the other examples; None if x has no axis n.

    >>> from normviz import explain
    >>> depends_on_batch(explain("BatchNorm1d(3)", (2, 3))), depends_on_batch(explain("BatchNorm1d(3).eval()", (2, 3)))
    (True, False)
    """
    return next((not one.holds for one in invariances(e) if one.key == "others"), None)


def train_equals_eval(e: Description) -> bool:
    """Whether the same x has the same output in ``train()`` and in ``eval()``, after some batches of training.

    Measured on torch's own module. True for a ``Norm`` and for layers that torch does not have, which have no modes. False if
    torch refuses such an x in train mode.

    >>> from normviz import explain
    >>> train_equals_eval(explain("BatchNorm1d(3).eval()", (2, 3))), train_equals_eval(explain("LayerNorm(3)", (2, 3)))
    (False, True)
    """
    norm, shape = reduced_copy(e)
    layer = reduced_layer(e, norm, shape)
    return layer is None or _train_equals_eval(layer, shape)


@dataclass(frozen=True)
class _Change:
    """One change of x. The layer is invariant to it if ``after(new_output)`` equals ``before(old_output)``."""

    key: str
    apply: Callable[[Tensor, Generator], Tensor]
    before: Map = torch.Tensor.detach
    after: Map = torch.Tensor.detach
    scales: bool = False


@contextmanager
def _one_thread() -> Iterator[None]:
    """On tensors this small, waiting for a second thread takes up to 100 times longer than the computation. Without gradients and warnings."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns about an unused num_features
            yield
    finally:
        torch.set_num_threads(threads)


@lru_cache(maxsize=MOST_KEPT)
@_one_thread()
def _measure(norm: Norm, shape: tuple[int, ...], axes: tuple[str, ...], layer: Layer | None) -> tuple[Invariance, ...]:
    changes = _changes(shape, axes)
    measured: dict[str, list[tuple[float, float]]] = {change.key: [] for change in changes}
    m = sharing.counts(norm, shape).elements_per_statistic
    module = None if layer is None else layer.module(torch.float64)
    for trial in range(TRIALS):
        generator = torch.Generator().manual_seed(trial)
        x, values = _random_values(norm, shape, generator)
        forward = trace(norm, x, values)
        largest_factor = 1.0 if values.gamma is None else float(factor(norm, values.gamma).max())
        tolerance = _tolerance(forward, m, largest_factor)
        run: Map = partial(_output, norm, values) if module is None else put_values(module, values)
        old = run(x)
        for change in changes:
            if any(difference > CLEAR * allowed for difference, allowed in measured[change.key]):
                continue  # one such trial is enough to know that the output changes
            changed = change.apply(x, generator)
            difference = largest_difference(change.before(old), change.after(run(changed)))
            largest = max(float(x.max()), float(changed.abs().max()))  # x is positive
            measured[change.key].append((difference, tolerance(largest, change.scales)))
    return tuple(Invariance(key, _holds(found), *map(max, zip(*found, strict=True))) for key, found in measured.items())


def _output(norm: Norm, values: Values, x: Tensor) -> Tensor:
    return trace(norm, x, values).output


def _holds(measured: list[tuple[float, float]]) -> bool:
    """Whether every difference is within the largest tolerance."""
    return all(difference <= max(tolerance for _, tolerance in measured) for difference, _ in measured)


def _changes(shape: tuple[int, ...], axes: tuple[str, ...]) -> list[_Change]:
    """Every change that is possible with x's axes."""
    channel = next((name for name in ("c", "d") if name in axes), None)
    batch = example_axis(axes)
    places: dict[str, Axes] = {"": ()}
    if channel:
        places["_channel" if channel == "c" else "_slice" if "h" in axes else "_feature"] = (axes.index(channel),)
    if batch is not None:
        places["_example"] = (batch,)
    rest = tuple(i for i, name in enumerate(axes) if name != channel and i != batch)
    if len(places) > 1 and rest:
        places["_position"] = rest
    changes = [_Change(f"add{place}", partial(_add, over=over)) for place, over in places.items()]
    changes += [_Change(f"scale{place}", partial(_scale, over=over), scales=True) for place, over in places.items()]
    if batch is not None and shape[batch] > 1:
        roll = partial(torch.roll, shifts=1, dims=batch)
        first = partial(torch.select, dim=batch, index=0)
        changes.append(_Change("shuffle", lambda x, generator: roll(x), before=roll))
        changes.append(_Change("others", partial(_change_others, n=batch), before=first, after=first))
    return changes


def _noise(x: Tensor, over: Axes, generator: Generator) -> Tensor:
    """Random numbers of both signs, one for each index of the axes ``over``."""
    shape = [size if axis in over else 1 for axis, size in enumerate(x.shape)]
    return NOISE_RATIO * SPACING * x.numel() * torch.randn(shape, generator=generator, dtype=x.dtype)


def _add(x: Tensor, generator: Generator, over: Axes) -> Tensor:
    return x + _noise(x, over, generator)


def _scale(x: Tensor, generator: Generator, over: Axes) -> Tensor:
    """x with the first index of the axes ``over`` multiplied by SCALE_FACTOR; all of x without axes."""
    scaled = x.clone()
    scaled[tuple(0 if axis in over else slice(None) for axis in range(x.ndim))] *= SCALE_FACTOR
    return scaled


def _change_others(x: Tensor, generator: Generator, n: int) -> Tensor:
    changed = x + _noise(x, tuple(range(x.ndim)), generator)
    changed.select(n, 0).copy_(x.select(n, 0))
    return changed


def _random_values(norm: Norm, shape: tuple[int, ...], generator: Generator) -> tuple[Tensor, Values]:
    """x with positive values a SPACING apart, and random gamma, beta and running statistics."""

    def random(size: tuple[int, ...]) -> Tensor:
        return torch.rand(size, generator=generator, dtype=torch.float64)

    amount = sharing.counts(norm, shape)
    order = torch.randperm(prod(shape), generator=generator).double()
    kept = (amount.statistics,)
    values = Values(
        gamma=None if amount.gamma_shape is None else 0.5 + random(amount.gamma_shape),
        beta=None if amount.beta_shape is None else random(amount.beta_shape),
        running_mean=SPACING * random(kept) if norm.running else None,
        running_var=SPACING**2 * (0.5 + random(kept)) if norm.running else None,
    )
    return SPACING * (1 + order.reshape(shape)), values


def _tolerance(forward: Trace, m: int, largest_factor: float) -> Callable[[float, bool], float]:
    """The largest change of an output that rounding, and for scaling also eps, can explain: a function of M, and of whether the change scales.

    m   the number of elements in a group
    M   the largest absolute value of x, before and after the change

    Scaling by s >= 1: a group of variance v becomes one of variance s^2 v. Its normalized values grow by the factor
    sqrt((v + eps) / (v + eps / s^2)), which is at most 1 + s^2 |eps| / (2 (v + eps)).

    Rounding: with the unit u of float64, the error of a mean of m numbers up to M is at most m u M. The error of a normalized value
    is about (m + 4) u M / sqrt(v + eps). The variance's error adds a factor of at most sqrt(m), the largest normalized value.

    largest_factor, of gamma or 1 + gamma, multiplies both. v is the smallest variance of x: a change to which the layer is invariant makes no variance smaller.
    """
    unit = torch.finfo(forward.output.dtype).eps
    spread = float(forward.var.min()) + forward.eps
    if spread <= 0:  # one value and no eps, or a negative eps: NaN on both sides
        return lambda M, scales: 0.0
    by_eps = min(SCALE_FACTOR**2 * abs(forward.eps) / (2 * spread), LARGEST_EPS_EFFECT)
    by_scale = by_eps * float(forward.normalized.abs().max())
    in_output = 4 * unit * float(forward.output.abs().max())

    def tolerance(M: float, scales: bool) -> float:
        by_rounding = m**0.5 * (m + 4) * unit * M / spread**0.5
        moved = by_scale + by_rounding if scales else by_rounding
        return largest_factor * moved + in_output

    return tolerance


@lru_cache(maxsize=MOST_KEPT)
@_one_thread()
def _train_equals_eval(layer: Layer, shape: tuple[int, ...]) -> bool:
    """Whether train and eval mode give the same output, in a new torch module after three training batches."""
    try:
        torch_errors.check(layer.with_(training=True), shape)
    except NormvizError:
        return False
    generator = torch.Generator().manual_seed(0)
    module = layer.module(torch.float64).train()
    *batches, x = torch.randn(4, *shape, generator=generator, dtype=torch.float64)
    for batch in batches:
        module(batch)
    evaluated = module.eval()(x)  # first, because train mode changes the running statistics
    return largest_difference(evaluated, module.train()(x)) == 0.0
