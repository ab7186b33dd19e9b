"""One batch in one mode: what a model returns, and what its norms take in, give back and store.

``Watch`` has the norms of a model. ``Watch.run`` runs the model with hooks on them, within a ``Snapshot``: what the run changes is undone
at its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields, is_dataclass
from inspect import Signature
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from normviz.measuring.models.recording import layer_of, run_eagerly
from normviz.texts.errors import NormvizError, echo

ROUNDING = 4 * torch.finfo(torch.float32).eps
SAMPLE = 2**12  # elements of a tensor that are kept and compared
LABELS = ("label", "labels", "target", "targets", "y")

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

    mean, var        over the elements of the channel; var is the mean squared deviation. With InstanceNorm: the mean over the instances
    unbiased         the variance as torch stores it, with m - 1
    mean_error       the squared standard error of ``mean``, from the differences between the instances
    var_error        that of ``var``
    elements         m, of a statistic
    instances        N
    """

    mean: Tensor
    var: Tensor
    unbiased: Tensor
    mean_error: Tensor
    var_error: Tensor
    elements: int
    instances: int


def batch_statistics(x: Tensor, channels: int, per_instance: bool = False) -> Batch | None:
    """The statistics of x, whose channels are axis 1, or the last axis if axis 1 has another size; None if neither fits.

    x  floating point, of shape (N, C, ...), (N, ..., C) or, for a statistic of each instance, (C, ...)
    """
    x = x.detach()
    if per_instance and x.dim() == 2 and x.shape[0] == channels:
        x = x[None]  # an instance without a batch
    axis = next((axis for axis in (1, x.dim() - 1) if 0 <= axis < x.dim() and x.shape[axis] == channels), None)
    if axis is None or x.numel() == 0:
        return None
    rows = x.movedim(axis, 1).float().reshape(x.shape[0], channels, -1)
    means = rows.mean(-1, keepdim=True)  # of each instance; torch.var_mean takes several times as long
    mean, var = torch.stack((means[..., 0], (rows - means).square_().mean(-1))).to("cpu", torch.float64)
    var *= var >= (ROUNDING * mean).square()  # 0 for equal values, whose mean is rounded
    instances, places = rows.shape[0], rows.shape[2]
    whole = mean.mean(0)
    squares = var if per_instance else var + (mean - whole).square()
    total = squares.mean(0)
    m = places if per_instance else instances * places
    if instances > 1:
        spread = torch.stack((mean, squares)).var(1) / instances
    else:
        spread = torch.stack((total, 2 * total.square())) / places
    return Batch(whole, total, total * (m / (m - 1) if m > 1 else math.nan), spread[0], spread[1], m, instances)


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
    everything  watch all modules instead of the norms
    in_eval     the name of a norm that is in eval mode in any case
    known       the names of norms that are known to change their stored statistics
    """

    training: bool
    put: Mapping[str, tuple[Tensor, Tensor]] = field(default_factory=dict)
    everything: bool = False
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
        modules = dict(self.model.named_modules()) if how.everything else self.norms
        seen: dict[str, Watched] = {}
        with ExitStack() as stack, torch.no_grad():
            run_eagerly(self.model, stack)
            self.model.train(how.training)
            if how.in_eval is not None:
                self.norms[how.in_eval].eval()
            for name, (mean, var) in how.put.items():
                self.stored[name].put(self.norms[name], mean, var)
            watched = [name for name in self.stored if name not in how.known] if how.training else []
            before = {name: self.stored[name].values(self.norms[name]) for name in watched}
            current: dict[str, Watched] = {}
            for name, module in modules.items():
                stack.callback(
                    module.register_forward_pre_hook(self._before(name, current, how.training), with_kwargs=True).remove
                )
                stack.callback(module.register_forward_hook(self._after(name, current, seen)).remove)
            try:
                returned = self.model(*inputs[0], **inputs[1])
            except Exception as error:
                alone = next((name for name, one in current.items() if one.has_one_value and name not in seen), None)
                if alone is not None:
                    raise OneValueError(alone) from error
                raise
            after = {name: self.stored[name].values(self.norms[name]) for name in before}
        changed = [name for name in before if not all(map(torch.equal, before[name], after[name]))]
        weights = {
            name: weight
            for name in changed
            if name in seen and not isinstance(self.norms[name], _NormBase)
            if (weight := _weight(before[name][0], after[name][0], seen[name].batches)) is not None
        }
        returned = tuple(_single(one) for one in tensors_of(returned))
        return ModePass(returned, seen, frozenset(changed), weights)

    def _before(self, name: str, current: dict[str, Watched], training: bool) -> Callable[..., None]:
        stored, module = self.stored.get(name), self.norms.get(name)

        def hook(_module: nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
            one = current.setdefault(name, Watched())
            given = next(tensors_of((*args, *kwargs.values())), None)
            if given is None:
                return
            one.inputs.append(sample(given))
            one.shape = one.shape or tuple(given.shape)
            alone = given.dim() > 0 and given.shape[0] == 1  # in train mode, the norms before have normalized it alone
            if stored is not None and module is not None and (training or alone):
                channels = getattr(module, stored.mean).numel()
                found = batch_statistics(given, channels, stored.per_instance)
                if found is not None:
                    one.batches.append(found)
                    one.has_one_value |= training and found.elements == 1

        return hook

    def _after(self, name: str, current: dict[str, Watched], seen: dict[str, Watched]) -> Callable[..., None]:
        def hook(_module: nn.Module, _args: object, output: object) -> None:
            one = current[name]
            given = next(tensors_of(output), None)
            if given is not None:
                one.outputs.append(sample(given))
            seen[name] = one

        return hook


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

    def add(self, expected: Sequence[Tensor], got: Sequence[Tensor]) -> None:
        """Compare tensors in order; those of different shapes are left out."""
        for one, other in zip(expected, got, strict=False):
            if one.shape == other.shape:
                self.n += 1
                self.squares += _square(one - other)
                self.of += _square(one)

    @property
    def value(self) -> float:
        """NaN if nothing was compared; infinite if only one of the two is finite, or 0."""
        if not self.n:
            return math.nan
        if not math.isfinite(self.squares) or self.of == 0:
            return math.inf if self.squares else 0.0
        return math.sqrt(self.squares / self.of)


def _square(x: Tensor) -> float:
    wide = x.double().flatten()
    return float(wide.dot(wide))


def distance(expected: Sequence[Tensor], got: Sequence[Tensor]) -> float:
    """The relative difference of one pass."""
    found = Distance()
    found.add(expected, got)
    return found.value
