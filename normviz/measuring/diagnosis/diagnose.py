"""The whole diagnosis: the model runs in both modes on each batch, once; sums and the first batch are kept."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from inspect import signature
from itertools import islice
from typing import Any

import torch
from torch import Tensor, nn

from normviz.layers.layer import check_is_object
from normviz.measuring.check import USUAL_EPS
from normviz.measuring.diagnosis.causes import (
    USUAL_MOMENTUM,
    Cause,
    CauseName,
    Deviation,
    Measured,
    Sums,
    cause_of_batch,
    cause_of_dead_channels,
    cause_of_mode,
    cause_of_one_instance,
    cause_of_statistics,
    deviation,
    has_high_momentum,
    named,
    not_a_norm,
    one_value,
)
from normviz.measuring.diagnosis.passes import (
    Distance,
    How,
    Inputs,
    ModePass,
    OneValueError,
    Stored,
    Watch,
    add_differences,
    calls_of,
    copied,
    distance,
)
from normviz.measuring.models.recording import Snapshot, layer_of, sealed, unwrapped
from normviz.measuring.own_modules import check_has_shapes
from normviz.measuring.probe import has_reader, same_random_states
from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _, ngettext

SAME = 1e-3  # a relative difference that rounding may make
MOST_LAYERS = 50  # for which a share is computed


@dataclass(frozen=True)
class DiagnosedLayer:
    """A norm in the two modes.

    name               as in ``model.named_modules()``
    kind               the name of its class
    input_difference   the relative difference of its input between the modes, over the batches; NaN if it was not compared
    output_difference  that of its output
    share              the part of the model's difference that goes away if, in eval mode, this norm alone uses the statistics of train
                       mode; None if it was not computed, as for a norm without a finding
    elements           m, the elements of a statistic; None without stored statistics
    standard_error     of the mean of one batch, in standard deviations: the root mean square over the channels; None without stored
                       statistics
    measured           the statistics of its input; None without stored statistics
    deviation          of the stored statistics from the measured ones; None without stored statistics
    shape              of its first input; () if it did not run
    layer              the text of the layer of torch that it is; None of a norm of one's own
    """

    name: str
    kind: str
    input_difference: float
    output_difference: float
    share: float | None = None
    elements: int | None = None
    standard_error: float | None = None
    measured: Measured | None = field(default=None, repr=False)
    deviation: Deviation | None = field(default=None, repr=False)
    shape: tuple[int, ...] = ()
    layer: str | None = None


@dataclass(frozen=True)
class Finding:
    """What is wrong with a layer.

    layer     its name, as in ``model.named_modules()``
    cause     such as "never updated"; docs/models.md lists all
    share     the part of the model's difference that goes away if, in eval mode, this layer alone uses the statistics of train mode; 0 if
              it was not measured
    sentence  what was measured
    remedy    what to do
    channels  the channels that it concerns; () for all
    """

    layer: str
    cause: CauseName
    share: float
    sentence: str
    remedy: str
    channels: tuple[int, ...] = ()


@dataclass(frozen=True, repr=False)
class Diagnosed:
    """How a model differs between its modes, and why: what ``normviz.diagnose`` finds.

    ``normviz.Diagnosis``, which adds what a reader asks of it, describes the fields.
    """

    difference: float
    left: float
    layers: tuple[DiagnosedLayer, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    batches: int
    model: nn.Module = field(repr=False)
    statistics: Mapping[str, Measured] = field(repr=False)


def diagnosed(model: nn.Module, batches: Iterable[Any], steps: int, other: nn.Module | None = None) -> Diagnosed:
    """Run the diagnosis. Raises NormvizError for other arguments, for no batch, and if the model raises."""
    _check(model, batches, steps)
    if other is not None and not isinstance(other, nn.Module):
        raise NormvizError(
            "other={other} is not a torch.nn.Module; give a copy of the model.", other=type(other).__name__
        )
    with same_random_states():
        reading = _Reading(model)
        for number, batch in enumerate(_progress(_read(batches, steps), batches, steps)):
            reading.read(batch, number)
        found = reading.result()
    if other is None:
        return found
    return replace(found, notes=(*found.notes, *_compared(reading.watch, other, found.statistics)))


def _check(model: object, batches: object, steps: object) -> None:
    check_is_object(model)
    if not isinstance(model, nn.Module):
        raise NormvizError("{model} is not a model; give a torch.nn.Module and its inputs.", model=type(model).__name__)
    check_has_shapes(model)
    for name, module in sealed(model):
        raise NormvizError(
            "{name} is scripted, traced or exported, so that its modules cannot be seen; give the model as it was before.",
            name=name or type(module).__name__,
        )
    if type(steps) is not int or steps < 1:
        raise NormvizError("steps={steps} is not a positive whole number of batches.", steps=echo(steps))
    if isinstance(batches, Tensor | str | Mapping) or not isinstance(batches, Iterable):
        raise NormvizError(
            "batches is a {kind}, not an iterable of batches; give a list, such as [x], or a DataLoader.",
            kind=type(batches).__name__,
        )
    if any(one.is_meta for one in (*model.parameters(), *model.buffers())):
        raise NormvizError("the model is on the device meta, where tensors have no values; give one with its weights.")


def _read(batches: Iterable[Any], steps: int) -> Iterator[Any]:
    """The first batches. An error of the caller's iterator is told as such."""
    number = 0
    try:
        for batch in islice(batches, steps):
            yield batch
            number += 1
    except Exception as error:
        raise NormvizError(
            "batches raises {kind} when batch {number} is read, before the model gets it: {error}. Every batch "
            "must be readable; read them without the model, with list(itertools.islice(batches, {steps})).",
            kind=type(error).__name__, number=number, error=error, steps=steps,
        ) from error  # fmt: skip


def _progress(read: Iterator[Any], batches: Iterable[Any], steps: int) -> Iterable[Any]:
    from tqdm import tqdm

    total = min(steps, len(batches)) if isinstance(batches, Sized) else None
    return tqdm(read, total=total, unit=" batches", leave=False, delay=2, file=sys.stderr, disable=not has_reader())


class _Reading:
    """What is known after the batches that were read."""

    def __init__(self, model: nn.Module) -> None:
        self.model, self.watch, self.snapshot = model, Watch(model), Snapshot(model)
        self.accepted = signature(model.forward)
        self.modes = {"own": self._modes()}
        with self.snapshot.within():
            for training in (True, False):
                model.train(training)
                self.modes["train" if training else "eval"] = self._modes()
        self.whole, self.batches = Distance(), 0
        self.inputs: dict[str, Distance] = {}
        self.outputs: dict[str, Distance] = {}
        self.sums: dict[str, Sums] = {}
        self.alone: dict[str, Sums] = {}  # in eval mode, of batches of one instance
        self.changed: set[str] = set()
        self.weights: dict[str, float] = {}
        self.one_value: dict[str, None] = {}
        self.call = 0  # the number of the first way to call the model with a batch that it accepts
        self.first: tuple[Inputs, ModePass, ModePass] | None = None  # the first batch, in train mode and in eval mode
        # of torch's random numbers before the first batch: a module may draw some in both modes
        self.state = torch.get_rng_state()

    def _modes(self) -> dict[str, bool]:
        return {name: module.training for name, module in self.watch.norms.items()}

    def read(self, batch: object, number: int) -> None:
        """Run the model on one batch in both modes."""
        state = torch.get_rng_state()
        self.batches += 1
        try:
            # once for both modes: eval mode stores nothing
            with self.snapshot.within():
                evaluated, inputs = self._evaluated(batch, number)
                torch.set_rng_state(state)
                trained = self._run(inputs, True, number)
        except OneValueError as error:
            self.one_value[error.name] = None
            return
        pairs: list[tuple[Distance, Sequence[Tensor], Sequence[Tensor]]] = [
            (self.whole, trained.returned, evaluated.returned)
        ]
        for name, seen in trained.seen.items():
            other = evaluated.seen.get(name)
            if other is not None:
                pairs.append((self.inputs.setdefault(name, Distance()), seen.inputs, other.inputs))
                pairs.append((self.outputs.setdefault(name, Distance()), seen.outputs, other.outputs))
                for statistics in other.batches:
                    self.alone.setdefault(name, Sums()).add(statistics)
            for statistics in seen.batches:
                self.sums.setdefault(name, Sums()).add(statistics)
        add_differences(pairs)
        self.changed |= trained.changed
        self.weights |= trained.weights
        if self.first is None:
            self.first = inputs, trained, evaluated
            self.state = state

    def _evaluated(self, batch: object, number: int) -> tuple[ModePass, Inputs]:
        """The run in eval mode. Of the ways to call the model, the first that it accepts is taken for all batches."""
        calls = calls_of(self.model, self.accepted, batch)
        last: NormvizError | None = None
        for i in range(self.call, len(calls)) if number else range(len(calls)):
            try:
                found = self._run(calls[i], False, number)
            except NormvizError as error:
                last = last or error
                continue
            self.call = i
            return found, calls[i]
        raise last or NormvizError("batch {number} has other parts than the batches before it.", number=number)

    def _run(self, inputs: Inputs, training: bool, number: int) -> ModePass:
        try:
            return self.watch.run(copied(inputs), How(training, known=self.changed))
        except (OneValueError, NormvizError):
            raise
        except Exception as error:
            raise NormvizError(
                "the model raises {kind} in {mode} mode on batch {number}: {error}",
                kind=type(error).__name__,
                mode="train" if training else "eval",
                number=number,
                error=error,
            ) from error

    def result(self) -> Diagnosed:
        if not self.batches:
            raise NormvizError("batches is empty; give at least one batch. A generator that was read before is empty.")
        measured = {name: sums.measured() for name, sums in self.sums.items()}
        self.changed |= set(self._without_updates())
        deviations = {name: _deviation(name, self.watch, one) for name, one in measured.items()}
        causes = list(self._causes(measured, deviations))
        concerned = list(dict.fromkeys(name for name, _cause in causes))
        shares = {name: self._share({name}) for name in concerned[:MOST_LAYERS] if name in self.sums}
        findings = [
            Finding(name, cause.cause, shares.get(name, 0.0), cause.sentence, cause.remedy, cause.channels)
            for name, cause in causes
        ]
        findings += self._other_module(findings)
        findings.sort(key=lambda one: (one.cause == "not a norm", -one.share))  # Dropout is no fault
        statistics = {name: one for name, one in measured.items() if self._uses_batch(name)}
        layers = tuple(
            replace(self._layer(name, measured.get(name)), share=shares.get(name), deviation=deviations.get(name))
            for name in self._order()
        )
        return Diagnosed(
            self.whole.value,
            self._left(statistics),
            layers,
            tuple(findings),
            tuple(self._notes(measured, concerned)),
            self.batches,
            self.model,
            statistics,
        )

    def _order(self) -> list[str]:
        """The norms in the order in which they ran; if none ran in train mode, as in the model."""
        ran = self.first[1].seen if self.first else self.watch.norms
        return [name for name in ran if name in self.watch.norms]

    def _layer(self, name: str, measured: Measured | None) -> DiagnosedLayer:
        module = self.watch.norms[name]
        kind = type(module).__name__
        input_difference = self.inputs[name].value if name in self.inputs else math.nan
        output_difference = self.outputs[name].value if name in self.outputs else math.nan
        shape = self.first[1].seen[name].shape if self.first else ()
        known = layer_of(module)
        layer = DiagnosedLayer(
            name, kind, input_difference, output_difference, shape=shape, layer=None if known is None else str(known)
        )
        if measured is None:
            return layer
        error = 1 / math.sqrt(measured.independent_elements)
        return replace(layer, elements=measured.elements, standard_error=error, measured=measured)

    def _causes(
        self, measured: Mapping[str, Measured], deviations: Mapping[str, Deviation]
    ) -> Iterator[tuple[str, Cause]]:
        for name, training in self._wrong_modes():
            yield name, cause_of_mode(name, training)
        for name in self.one_value:
            yield name, one_value(name)
        for name, one in measured.items():
            module, stored = self.watch.norms[name], self._stored(name)
            eps = _eps(module)
            values = stored.values(module)
            uses_batch = self._uses_batch(name)
            found: list[Cause | None] = []
            if uses_batch or not all(value.isfinite().all() for value in values):
                found.append(
                    cause_of_statistics(name, values, one, deviations[name], eps, stored, stored.updates(module))
                )
            if uses_batch and not stored.per_instance:
                found.append(cause_of_batch(name, one))
                if found[-1] is None and name in self.alone:
                    found.append(cause_of_one_instance(name, self.alone[name].measured()))
            found.append(cause_of_dead_channels(name, one, eps))
            yield from ((name, cause) for cause in found if cause is not None)

    def _stored(self, name: str) -> Stored:
        """Where a norm stores its statistics, with the momentum of a norm of one's own as it was measured."""
        stored = self.watch.stored[name]
        return stored if stored.is_of_torch else replace(stored, momentum=self.weights.get(name))

    def _uses_batch(self, name: str) -> bool:
        """Whether it uses the statistics of the batch in train mode: a norm does that updates its stored statistics, or has momentum 0."""
        return name in self.changed or getattr(self.watch.norms[name], "momentum", None) == 0

    def _without_updates(self) -> Iterator[str]:
        """The norms of one's own that use the statistics of the batch in train mode, and do not update those that they store."""
        if self.first is None:
            return
        inputs, trained, _evaluated = self.first
        own = [name for name, stored in self.watch.stored.items() if not stored.is_of_torch and name in trained.seen]
        for name in [name for name in own if name not in self.changed and self.modes["train"][name]][:MOST_LAYERS]:
            frozen = self._again(inputs, How(True, in_eval=name)).seen[name]
            if distance(trained.seen[name].outputs[:1], frozen.outputs[:1]) > SAME:  # from the same input
                yield name

    def _wrong_modes(self) -> Iterator[tuple[str, bool]]:
        """The norms whose mode is not that of the model, with their mode. A norm that train() leaves in eval mode is frozen on purpose."""
        training = self._mode()
        for name, module in self.watch.norms.items():
            is_of_torch = isinstance(module, nn.modules.batchnorm._NormBase)
            if name not in self.watch.stored or not (is_of_torch or name in self.changed):
                continue
            own, in_train, in_eval = (self.modes[mode][name] for mode in ("own", "train", "eval"))
            if in_eval or (own and not training):
                yield name, True
            elif in_train and not own and training and not _is_frozen(module):
                yield name, False

    def _mode(self) -> bool:
        """Whether the model is in train mode. A new module around a model, such as DataParallel, is in train mode whatever the model is."""
        parts = [one for name, one in self.model.named_modules() if name not in self.watch.norms]
        modes = {one.training for one in parts if next(one.parameters(recurse=False), None) is not None}
        return modes.pop() if len(modes) == 1 else self.model.training

    def _share(self, names: set[str]) -> float:
        """The part of the difference that goes away if, in eval mode, these norms use the statistics of the first batch."""
        if self.first is None:
            return 0.0
        inputs, trained, evaluated = self.first
        put = {name: _of_batch(trained, name) for name in names if trained.seen[name].batches}
        before = distance(trained.returned, evaluated.returned)
        after = distance(trained.returned, self._again(inputs, How(False, put, watched=())).returned)
        if not math.isfinite(before):
            return 1.0 if math.isfinite(after) else 0.0
        return 1 - after / before if before > 0 and math.isfinite(after) else 0.0

    def _again(self, inputs: Inputs, how: How) -> ModePass:
        """Run the first batch once more, with the same random numbers."""
        torch.set_rng_state(self.state)
        with self.snapshot.within():
            return self.watch.run(copied(inputs), how)

    def _left(self, statistics: Mapping[str, Measured]) -> float:
        """The difference that remains on the first batch with the measured statistics in the buffers."""
        if self.first is None:
            return math.nan
        inputs, trained, evaluated = self.first
        if not statistics:
            return distance(trained.returned, evaluated.returned)
        put = {name: (one.mean, one.var) for name, one in statistics.items()}
        return distance(trained.returned, self._again(inputs, How(False, put, watched=())).returned)

    def _other_module(self, findings: list[Finding]) -> Iterator[Finding]:
        """Where the difference starts, if no norm makes most of it."""
        if self.first is None or not self.whole.value > SAME:
            return
        names = {name for name in self.first[1].seen if name in self.watch.stored and self._uses_batch(name)}
        share = 1 - self._share(names)
        if not share > 0.5 or any(one.share > 0.5 for one in findings):
            return
        inputs, trained, _evaluated = self.first
        put = {name: _of_batch(trained, name) for name in names}
        names_of_all = [name for name, _module in self.model.named_modules()]
        in_train = self._again(inputs, How(True, watched=names_of_all))
        in_eval = self._again(inputs, How(False, put, watched=names_of_all))
        for name, seen in in_train.seen.items():
            other = in_eval.seen.get(name)
            if other is None:
                continue
            # The first call of each: the later inputs of a shared module follow from its earlier outputs.
            differs = distance(seen.outputs[:1], other.outputs[:1]) > SAME
            if not differs or not distance(seen.inputs[:1], other.inputs[:1]) <= SAME:
                continue
            if name not in self.watch.stored:  # InstanceNorm has other statistics for each instance in train mode
                module = self.model.get_submodule(name)
                cause = not_a_norm(name, type(module).__name__)
                yield Finding(name, cause.cause, share, cause.sentence, cause.remedy)
            return

    def _notes(self, measured: Mapping[str, Measured], concerned: Collection[str]) -> Iterator[str]:
        if self.first is not None and math.isnan(self.whole.value):
            yield _(
                "The outputs in train mode and in eval mode have no floating-point tensors of the same shape, so they cannot be compared. The norms are compared."
            )
        others = [one for one in self.model.parameters() if one.requires_grad]
        for name in measured:
            module = self.watch.norms[name]
            if self._uses_batch(name) and others and _is_frozen(module):
                yield _(
                    "{name}: gamma and beta are frozen, but train() makes the layer use the statistics of the batch and update the stored ones. Call eval() of the layer after train().",
                    name=name,
                )
        # In small batches, the norm before a concerned one changes the variance.
        for name, biased in self._biased({name: measured[name] for name in measured if name not in concerned}).items():
            yield _(
                "{name}: the stored variance is on average {percent:.2g} % smaller than that of the data, as if it were divided by m = {m} instead of m - 1.",
                name=name, percent=100 * biased, m=measured[name].elements,
            )  # fmt: skip
        high: dict[float, list[str]] = {}
        for name in measured:
            stored = self._stored(name)
            if self._uses_batch(name) and name not in concerned and has_high_momentum(stored):
                high.setdefault(float(f"{stored.momentum or 0.0:.3g}"), []).append(name)
        for momentum, names in high.items():
            yield ngettext(
                "{names}: a new batch has the weight {momentum:g} in the stored statistics, where torch's default is 0.1. Their deviation from your data is within chance.",
                "{names}: a new batch has the weight {momentum:g} in the stored statistics of each of these {n:,} norms, where torch's default is 0.1. Their deviation from your data is within chance.",
                len(names), names=named(names), momentum=momentum,
            )  # fmt: skip
        of_instances = [name for name in measured if self.watch.stored[name].per_instance and self._uses_batch(name)]
        if of_instances and self.whole.value > SAME:
            yield _(
                "{names}: an InstanceNorm with stored statistics takes those of each instance in train mode and the stored ones in eval mode, so its output differs with right statistics, too. Without track_running_stats, it takes those of each instance in both modes.",
                names=named(of_instances),
            )

    def _biased(self, measured: Mapping[str, Measured]) -> dict[str, float]:
        """By which share the stored variances of a norm are too small on average, where a division by m instead of m - 1 explains it."""
        found: dict[str, float] = {}
        for name, one in measured.items():
            m, var = one.elements, self.watch.stored[name].values(self.watch.norms[name])[1]
            is_used = (one.var > 0) & (var > 0)
            if m < 2 or int(is_used.sum()) < 8:
                continue
            logs, expected = (var[is_used] / one.var[is_used]).log(), math.log((m - 1) / m)
            mean, error = float(logs.mean()), float(logs.std()) / math.sqrt(len(logs))
            if mean < expected - 2 * error - 0.02:
                return {}  # smaller than that: running variances lag behind the weights, so a small difference proves nothing
            if m <= 64 and abs(mean - expected) < 2 * error + 1e-3 and 4 * error < -mean:
                found[name] = -math.expm1(mean)
        return found


def _compared(watch: Watch, other: nn.Module, statistics: Mapping[str, Measured]) -> Iterator[str]:
    """How the stored statistics of a copy of the model differ."""
    others = Watch(unwrapped(other))
    for name, stored in watch.stored.items():
        if name not in others.stored:
            yield _("{name}: the other model has no stored statistics there.", name=name)
            continue
        mean, var = stored.values(watch.norms[name])
        mean_there, var_there = others.stored[name].values(others.norms[name])
        if mean.shape != mean_there.shape:
            yield _(
                "{name}: the number of channels is {n:,} in the other model, not {m:,}.",
                name=name,
                n=len(mean_there),
                m=len(mean),
            )
        elif not (torch.equal(mean, mean_there) and torch.equal(var, var_there)):
            eps = _eps(watch.norms[name])
            shift, ratio = (mean_there - mean) / (var + eps).sqrt(), (var_there + eps) / (var + eps)
            values = {"shift": f"{float(shift.abs().max()):.2g}"}
            values["times"] = f"{float(torch.maximum(ratio, 1 / ratio).max()):.3g}"
            yield _(
                "{name}: the stored statistics of the other model differ: means by up to {shift} standard deviations, variances by a factor of up to {times}.{nearer}",
                name=name, nearer=_nearer(name, watch, others, statistics), **values,
            )  # fmt: skip


def _nearer(name: str, watch: Watch, others: Watch, statistics: Mapping[str, Measured]) -> str:
    """A sentence that says which of the two models is nearer to the data; empty if the data were not measured."""
    measured = statistics.get(name)
    if measured is None:
        return ""
    sizes = [_deviation(name, one, measured).size for one in (watch, others)]
    return " " + (
        _("Those of the model are nearer to the data.")
        if sizes[0] <= sizes[1]
        else _("Those of the other model are nearer to the data.")
    )


def _of_batch(trained: ModePass, name: str) -> tuple[Tensor, Tensor]:
    """The statistics with which a norm ran in train mode."""
    found = trained.seen[name].batches
    return torch.stack([one.mean for one in found]).mean(0), torch.stack([one.var for one in found]).mean(0)


def _deviation(name: str, watch: Watch, measured: Measured) -> Deviation:
    """How far the stored statistics of a norm are from the measured ones."""
    module = watch.norms[name]
    return deviation(*watch.stored[name].values(module), measured, _eps(module), USUAL_MOMENTUM)


def _eps(module: nn.Module) -> float:
    eps = next((getattr(module, name) for name in ("eps", "epsilon") if hasattr(module, name)), USUAL_EPS)
    return float(eps) if isinstance(eps, int | float) else USUAL_EPS


def _is_frozen(module: nn.Module) -> bool:
    own = list(module.parameters())
    return bool(own) and not any(one.requires_grad for one in own)
