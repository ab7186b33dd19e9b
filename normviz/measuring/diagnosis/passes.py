"""One batch in one mode: what a model returns, and what its norms take in, give back and store.

``Watch`` has the norms of a model. ``Watch.run`` runs the model with hooks on them, within a ``Snapshot``: what the run changes is undone
at its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, is_dataclass
from inspect import Signature
from itertools import chain
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.utils.hooks import RemovableHandle

from normviz.measuring.models.recording import layer_of, run_eagerly
from normviz.texts.errors import NormvizError, echo

ROUNDING = 4 * torch.finfo(torch.float32).eps
SAMPLE = 2**12  # elements of a tensor that are kept and compared
TOGETHER = 16  # tensors of one shape that are computed together
LABELS = ("label", "labels", "target", "targets", "y")

T = TypeVar("T")
Inputs = tuple[tuple[Any, ...], dict[str, Any]]  # what the model is called with


@dataclass(frozen=True)
class Stored:
    """The stored statistics of a norm.

    mean, var     the names of its buffers, each with one element for each channel
    per_instance  its train mode takes the statistics of each instance, as InstanceNorm does
    momentum      the weight of a new batch; None for the mean of all batches, or if it is unknown
    count         the name of the buffer with the number of updates; empty in a norm of one's own
    """

    mean: str
    var: str
    per_instance: bool = False
    momentum: float | None = None
    count: str = ""

    @property
    def is_of_torch(self) -> bool:
        return bool(self.count)

    @classmethod
    def of(cls, module: nn.Module) -> Stored | None:
        """Those of torch's norms and of modules with a buffer for means and one for variances of the same shape; None if it has none."""
        if isinstance(module, _NormBase):
            per_instance = isinstance(module, nn.modules.instancenorm._InstanceNorm)
            if module.running_mean is None or module.running_var is None:
                return None
            return cls("running_mean", "running_var", per_instance, module.momentum, "num_batches_tracked")
        buffers = {name: tensor for name, tensor in module.named_buffers(recurse=False) if tensor.is_floating_point()}
        for mean, means in buffers.items():
            for var, variances in buffers.items():
                if "mean" in mean and "var" in var and means.shape == variances.shape and means.numel() > 0:
                    # its momentum is measured: one of its own may be the weight of the old statistics
                    return cls(mean, var)
        return None

    def values(self, module: nn.Module) -> tuple[Tensor, Tensor]:
        """A copy of the stored mean and variance of each channel, in float64 on the CPU."""
        own = (getattr(module, name).detach() for name in (self.mean, self.var))
        mean, var = (one.to("cpu", torch.float64, copy=True).flatten() for one in own)
        return mean, var

    def updates(self, module: nn.Module) -> int | None:
        """How often the statistics were updated; None if it is not counted."""
        count = getattr(module, self.count, None) if self.count else None
        return int(count) if isinstance(count, Tensor) else None

    def put(self, module: nn.Module, mean: Tensor, var: Tensor) -> None:
        """Store other values."""
        for name, values in ((self.mean, mean), (self.var, var)):
            buffer = getattr(module, name)
            buffer.copy_(values.reshape(buffer.shape))


@dataclass(frozen=True)
class Batch:
    """The statistics of one input of a norm, one element for each channel.

    var        the mean squared deviation from the mean of the channel. With InstanceNorm: the mean over the instances
    terms      what is summed over the batches, of shape (6, C): the mean; its square; ``unbiased``; its square; the squared standard error
               of the mean, from the differences between the instances; and that of the variance
    elements   m, of a statistic
    instances  N
    """

    var: Tensor
    terms: Tensor
    elements: int
    instances: int

    @property
    def mean(self) -> Tensor:
        return self.terms[0]

    @property
    def unbiased(self) -> Tensor:
        """The variance as torch stores it, with m - 1."""
        return self.terms[2]


@dataclass(frozen=True)
class Axes:
    """Where an input has its channels and its instances.

    shape         of the input, (N, C, ...), (N, ..., C) or, for a statistic of each instance, (C, ...)
    channel       the axis of the channels
    per_instance  a statistic is of one instance
    """

    shape: tuple[int, ...]
    channel: int
    per_instance: bool

    @classmethod
    def of(cls, shape: tuple[int, ...], channels: int, per_instance: bool = False) -> Axes | None:
        """The channels are axis 1, or the last axis if axis 1 has another size; None if neither fits."""
        if per_instance and len(shape) == 2 and shape[0] == channels:
            shape = (1, *shape)  # an instance without a batch
        for axis in (1, len(shape) - 1):
            if 0 <= axis < len(shape) and shape[axis] == channels and 0 not in shape:
                return cls(shape, axis, per_instance)
        return None

    @property
    def elements(self) -> int:
        """m, of a statistic."""
        elements = math.prod(self.shape) // self.shape[self.channel]
        return elements // self.shape[0] if self.per_instance else elements


def batch_statistics(inputs: Sequence[Tensor], axes: Axes) -> list[Batch]:
    """The statistics of each input. All have these axes; together, they take few operations."""
    rows = _stacked(inputs).detach().reshape(-1, *axes.shape).movedim(1 + axes.channel, 2).float()
    instances, m = rows.shape[1], axes.elements
    places = math.prod(rows.shape[3:])
    if places == 1:
        mean = rows.reshape(rows.shape[:3]).to("cpu", torch.float64)
        var = torch.zeros_like(mean)
    else:
        rows = rows.flatten(3)
        means = rows.mean(-1, keepdim=True)  # of each instance; torch.var_mean takes several times as long
        norms = torch.linalg.vector_norm(rows - means, dim=-1)
        mean, norm = torch.stack((means[..., 0], norms)).to("cpu", torch.float64)
        var = norm.square() / places
        var *= var >= (ROUNDING * mean).square()  # 0 for equal values, whose mean is rounded
    whole = mean.mean(1, keepdim=True)
    between = (mean - whole).square_()
    squares = var if axes.per_instance else var + between
    total = squares.mean(1)
    if instances > 1:
        spread = [one.sum(1) / (instances * (instances - 1)) for one in (between, (squares - total[:, None]).square_())]
    else:
        spread = [total / places, 2 * total.square() / places]
    mean, unbiased = whole[:, 0], total * (m / (m - 1) if m > 1 else math.nan)
    terms = torch.stack((mean, mean.square(), unbiased, unbiased.square(), *spread), 1)
    return [Batch(*one, m, instances) for one in zip(total, terms, strict=True)]


def _stacked(tensors: Sequence[Tensor]) -> Tensor:
    return tensors[0][None] if len(tensors) == 1 else torch.stack(list(tensors))


def _alike(items: Iterable[T], key: Callable[[T], Hashable]) -> Iterator[list[T]]:
    """Lists of items with one key, which are computed together; short enough for the cache of the processor."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    for group in groups.values():
        yield from (group[i : i + TOGETHER] for i in range(0, len(group), TOGETHER))


@dataclass
class Watched:
    """What a module took in and gave back in one pass, as samples; and for a norm the statistics of its inputs. ``shape``: of the first.

    In eval mode, the statistics are those of a batch of one instance.
    """

    inputs: list[Tensor] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    has_one_value: bool = False


@dataclass(frozen=True)
class ModePass:
    """One run of the model.

    returned  the floating point tensors that the model returned
    seen      by the name of the module, in the order in which they ended
    changed   the names of the norms whose stored statistics the run would have changed
    weights   the weight that such a norm of one's own gave to the batch, by its name, where one weight explains the change of the mean
    """

    returned: tuple[Tensor, ...]
    seen: Mapping[str, Watched]
    changed: frozenset[str]
    weights: Mapping[str, float]


@dataclass(frozen=True)
class How:
    """How the model runs.

    training    in train mode, or in eval mode
    put         statistics that norms have during the run, by the name of the norm
    watched     the names of the modules that are watched; None for the norms
    in_eval     the name of a norm that is in eval mode in any case
    known       the names of norms that are known to change their stored statistics
    """

    training: bool
    put: Mapping[str, tuple[Tensor, Tensor]] = field(default_factory=dict)
    watched: Collection[str] | None = None
    in_eval: str | None = None
    known: Collection[str] = ()


class OneValueError(Exception):
    """In train mode, a norm got one element for each of its statistics, which torch refuses."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Watch:
    """The norms of a model, by name.

    norms   the modules: layers of torch.nn that normalize, and modules with stored statistics
    stored  where those with stored statistics have them
    """

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.stored = {name: stored for name, module in model.named_modules() if (stored := Stored.of(module))}
        self.norms = {
            name: module
            for name, module in model.named_modules()
            if name in self.stored or layer_of(module) is not None
        }

    def run(self, inputs: Inputs, how: How) -> ModePass:
        """Run the model, within a ``Snapshot`` of it.

        Raises OneValueError for one element per statistic in train mode. An error of the model is raised as it is.
        """
        modules = self.norms if how.watched is None else {name: self.model.get_submodule(name) for name in how.watched}
        hooks = _Hooks(self, how.training)
        with ExitStack() as stack, torch.no_grad():
            run_eagerly(self.model, stack)
            self.model.train(how.training)
            if how.in_eval is not None:
                self.norms[how.in_eval].eval()
            for name, (mean, var) in how.put.items():
                self.stored[name].put(self.norms[name], mean, var)
            stored = [name for name in self.stored if name not in how.known] if how.training and modules else []
            before = {name: self.stored[name].values(self.norms[name]) for name in stored}
            stack.callback(hooks.remove)
            for name, module in modules.items():
                hooks.add(name, module)
            try:
                returned = self.model(*inputs[0], **inputs[1])
            except Exception as error:
                if (alone := hooks.with_one_value()) is not None:
                    raise OneValueError(alone) from error
                raise
            after = {name: self.stored[name].values(self.norms[name]) for name in before}
        seen = hooks.seen()
        changed = [name for name in before if not all(map(torch.equal, before[name], after[name]))]
        weights = {
            name: weight
            for name in changed
            if name in seen and not isinstance(self.norms[name], _NormBase)
            if (weight := _weight(before[name][0], after[name][0], seen[name].batches)) is not None
        }
        returned = tuple(_single(one) for one in tensors_of(returned))
        return ModePass(returned, seen, frozenset(changed), weights)


class _Hooks:
    """What hooks on modules see in one run. The statistics of small inputs wait for its end: those of one shape are computed together."""

    def __init__(self, watch: Watch, training: bool) -> None:
        self.watch, self.training = watch, training
        self.begun: dict[str, Watched] = {}
        self.ended: dict[str, None] = {}
        self.waiting: list[tuple[Axes, Tensor, Watched]] = []
        self.handles: list[RemovableHandle] = []

    def add(self, name: str, module: nn.Module) -> None:
        stored = self.watch.stored.get(name)
        channels = 0 if stored is None else getattr(module, stored.mean).numel()
        per_instance = stored is not None and stored.per_instance

        def before(_module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
            one = self.begun.setdefault(name, Watched())
            given = next(tensors_of((*args, *kwargs.values())), None)
            if given is None:
                return
            shape = tuple(given.shape)
            one.inputs.append(sample(given))
            one.shape = one.shape or shape
            alone = shape[:1] == (1,)  # in train mode, the norms before have normalized it alone
            if channels and (self.training or alone) and (axes := Axes.of(shape, channels, per_instance)) is not None:
                one.has_one_value |= self.training and axes.elements == 1
                if given.numel() <= SAMPLE:
                    self.waiting.append((axes, one.inputs[-1], one))
                else:
                    one.batches += batch_statistics([given], axes)

        def after(_module: nn.Module, _args: object, output: object) -> None:
            given = next(tensors_of(output), None)
            if given is not None:
                self.begun[name].outputs.append(sample(given))
            self.ended[name] = None

        self.handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
        self.handles.append(module.register_forward_hook(after))

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def with_one_value(self) -> str | None:
        """The first module that got one element for each statistic and did not end."""
        return next((name for name, one in self.begun.items() if one.has_one_value and name not in self.ended), None)

    def seen(self) -> dict[str, Watched]:
        """By the name of the module, in the order in which they ended."""
        for group in _alike(self.waiting, lambda one: (one[0], one[1].device, one[1].dtype)):
            batches = batch_statistics([given for _, given, _ in group], group[0][0])
            for (_axes, _given, one), batch in zip(group, batches, strict=True):
                one.batches.append(batch)
        return {name: self.begun[name] for name in self.ended}


def _weight(before: Tensor, after: Tensor, batches: Sequence[Batch]) -> float | None:
    """The weight w of the batch in a stored mean, before + w * (mean of the batch - before); None if no w explains the change."""
    if len(batches) != 1:
        return None
    change, distance_to_batch = after - before, batches[0].mean - before
    squares = float(distance_to_batch.square().sum())
    weight = float((change * distance_to_batch).sum()) / squares if squares > 0 else math.nan
    rest = change - weight * distance_to_batch
    return weight if float(rest.square().sum()) < 1e-4 * float(change.square().sum()) else None


def sample(x: Tensor) -> Tensor:
    """At most SAMPLE elements of x, evenly spread over every axis."""
    if x.numel() <= SAMPLE:
        return _single(x).flatten()
    flat = x.detach().reshape(-1)
    step = max(1, -(-flat.numel() // SAMPLE))
    while math.gcd(step, flat.numel()) > 1:  # else only some of the channels might be met
        step += 1
    return _single(flat[::step])


def _single(x: Tensor) -> Tensor:
    """A copy of x, of half precision in float32."""
    return x.detach().to(torch.promote_types(x.dtype, torch.float32), copy=True)


def tensors_of(value: object) -> Iterator[Tensor]:
    """The floating point tensors in what a module takes or returns."""
    if isinstance(value, Tensor):
        if value.is_floating_point():
            yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from tensors_of(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from tensors_of(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from tensors_of(getattr(value, one.name))


# How a batch is given to the model.


def calls_of(model: nn.Module, accepted: Signature, batch: object) -> list[Inputs]:
    """What the model may be called with, in the order to try: the whole batch; then without its last parts, which may be labels.

    accepted  the signature of the model's forward
    """
    device = next((one.device for one in chain(model.parameters(), model.buffers())), torch.device("cpu"))
    batch = copied(batch, device)
    if isinstance(batch, Mapping):
        names = set(accepted.parameters)
        without = {name: one for name, one in batch.items() if name not in LABELS}
        known = {name: one for name, one in batch.items() if name in names}
        calls: list[Inputs] = [((), dict(batch)), ((), without), ((), known)]
    elif isinstance(batch, tuple | list):
        calls = [(tuple(batch[:n]), {}) for n in range(len(batch), 0, -1)]
    else:
        calls = [((batch,), {})]
    if isinstance(batch, Mapping | tuple | list):
        calls.append(((batch,), {}))
    fitting = [call for call in calls if _fits(accepted, call)]
    if not fitting:
        raise NormvizError(
            "a batch {batch} does not fit the arguments of the model's forward{arguments}; give what the model is called with.",
            batch=echo(type(batch).__name__),
            arguments=str(accepted),
        )
    return fitting


def _fits(accepted: Signature, call: Inputs) -> bool:
    try:
        accepted.bind(*call[0], **call[1])
    except TypeError:
        return False
    return True


def copied(value: Any, device: torch.device | None = None) -> Any:
    """An input with tensors of its own, since a model may write into it; on a device, if one is given."""
    if isinstance(value, Tensor):
        return value.detach().to(device or value.device, copy=True)
    if isinstance(value, Mapping):
        return {name: copied(one, device) for name, one in value.items()}
    return type(value)(copied(one, device) for one in value) if type(value) in (tuple, list) else value


# Differences.


@dataclass
class Distance:
    """A relative difference that is summed over batches: the root of the squared distances over that of the squared values."""

    squares: float = 0.0
    of: float = 0.0
    n: int = 0

    def add(self, squares: float, of: float) -> None:
        self.n, self.squares, self.of = self.n + 1, self.squares + squares, self.of + of

    @property
    def value(self) -> float:
        """NaN if nothing was compared; infinite if only one of the two is finite, or 0."""
        if not self.n:
            return math.nan
        if not math.isfinite(self.squares) or self.of == 0:
            return math.inf if self.squares else 0.0
        return math.sqrt(self.squares / self.of)


def add_differences(pairs: Iterable[tuple[Distance, Sequence[Tensor], Sequence[Tensor]]]) -> None:
    """Add to each distance that of its expected tensors from those that it got, in order; those of different shapes are left out."""
    same_shapes = (
        (sums, one, other)
        for sums, expected, got in pairs
        for one, other in zip(expected, got, strict=False)
        if one.shape == other.shape
    )
    for group in _alike(same_shapes, lambda one: (one[1].shape, one[1].dtype, one[2].dtype, one[1].device)):
        ones, others = _stacked([one for _, one, _ in group]), _stacked([other for _, _, other in group])
        squares = torch.stack((_squares(ones - others), _squares(ones)), 1).tolist()
        for (sums, _one, _other), values in zip(group, squares, strict=True):
            sums.add(*values)


def _squares(x: Tensor) -> Tensor:
    """The sum of the squares of each x[i], in float64."""
    rows = x[..., None].flatten(1)
    norms = torch.linalg.vector_norm(rows, dim=1).double()
    if not ((norms > 1e-15) & (norms < 1e15)).all():  # its squares may be too small or too large for float32
        norms = torch.linalg.vector_norm(rows, dim=1, dtype=torch.float64)
    return norms.square()


def distance(expected: Sequence[Tensor], got: Sequence[Tensor]) -> float:
    """The relative difference of one pass."""
    found = Distance()
    add_differences([(found, expected, got)])
    return found.value
