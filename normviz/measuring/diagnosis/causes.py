"""From measured statistics to findings: which stored statistics are wrong, and what made them so.

A deviation counts if it is beyond chance and large.

Beyond chance: more than CHANCE standard errors. These follow from the differences between the instances of the data, and from the weight
that the running average gives to one batch.

Large: before gamma and beta, the output moves by more than DEVIATION (the root mean square over the channels), or by more than CHANNEL in
one channel. A shift is counted in standard deviations, and a change of scale as its logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import torch
from torch import Tensor

from normviz.measuring.diagnosis.passes import Batch, Stored
from normviz.texts.messages import _, ngettext

CHANCE = 5.0  # standard errors
DEVIATION, CHANNEL = 0.4, 1.0
SMALL = 0.05  # as DEVIATION, where the start values or the number of updates support the cause
USUAL_MOMENTUM, HIGHEST_MOMENTUM = 0.1, 0.5
FEWEST_ELEMENTS = (
    8  # independent elements of a statistic; for 8, the standard error of a mean is 0.35 standard deviations
)
EXPLAINED = 9.0  # a high momentum explains mean squared deviations, in standard errors, below this
DEAD = 0.1  # of eps
LARGEST_EPS = 1e-3  # a larger one is meant to change the output
MOST_NAMED = 5  # channels in a sentence
CauseName = Literal[
    "not finite",
    "never updated",
    "few updates",
    "momentum",
    "other data",
    "train in eval",
    "eval in train",
    "small batch",
    "one value",
    "dead channel",
    "not a norm",
]


@dataclass(frozen=True)
class Measured:
    """The statistics of the inputs of a norm over all batches, one element for each channel, in float64.

    mean, var             the means over the batches of each batch's mean and of its variance (divided by m - 1), as ``update_bn`` stores them
    mean_error            the standard error of ``mean``
    var_error             the standard error of ``var``
    batch_mean_error      the standard deviation of one batch's mean around the mean of all data
    batch_var_error       the standard deviation of one batch's variance
    instance_mean_error   ``batch_mean_error`` if the instances of a batch are drawn at random, not sorted
    elements              m, the number of elements of a statistic in the smallest batch
    batches               the number of inputs that were measured
    """

    mean: Tensor
    var: Tensor
    mean_error: Tensor
    var_error: Tensor
    batch_mean_error: Tensor
    batch_var_error: Tensor
    instance_mean_error: Tensor
    elements: int
    batches: int

    @property
    def std(self) -> Tensor:
        return self.var.sqrt()

    @property
    def independent_elements(self) -> float:
        """How many independent elements a batch's mean is worth: the variance over the squared standard error."""
        return self._worth(self.batch_mean_error)

    @property
    def independent_if_shuffled(self) -> float:
        """The same for batches that are drawn at random."""
        return self._worth(self.instance_mean_error)

    def _worth(self, error: Tensor) -> float:
        is_used = self.var > 0
        if not is_used.any():
            return math.inf
        share = float((error[is_used].square() / self.var[is_used]).mean())
        return 1 / share if share > 0 else math.inf


class Sums:
    """What is kept of the batches: sums, whose size does not depend on their number."""

    def __init__(self) -> None:
        self.n, self.elements, self.instances = 0, 0, 0  # the instances of the largest batch
        self.terms = torch.zeros(6, 1, dtype=torch.float64)

    def add(self, batch: Batch) -> None:
        self.n += 1
        self.elements = min(self.elements or batch.elements, batch.elements)
        self.instances = max(self.instances, batch.instances)
        self.terms = self.terms + batch.terms

    def measured(self) -> Measured:
        mean, mean_squares, var, var_squares, mean_error, var_error = self.terms / self.n
        errors = [
            error * _excess(squares - value.square(), error, self.n)
            for value, squares, error in ((mean, mean_squares, mean_error), (var, var_squares, var_error))
        ]
        of_mean, of_var = (one.clamp(min=0).sqrt() for one in errors)
        root = math.sqrt(self.n)
        # The differences between batches of one instance are those between instances.
        instances = of_mean if self.instances == 1 else mean_error.clamp(min=0).sqrt()
        return Measured(mean, var, of_mean / root, of_var / root, of_mean, of_var, instances, self.elements, self.n)


def _excess(between: Tensor, within: Tensor, n: int) -> float:
    """A factor of at least 1: how much more the batches differ than their instances explain. Batches may be sorted by class."""
    total = float(within.sum())
    if n < 2 or not total > 0 or not math.isfinite(total):
        return 1.0
    return max(1.0, float(between.sum()) * n / (n - 1) / total)


@dataclass(frozen=True)
class Deviation:
    """How far stored statistics are from measured ones, for each channel.

    shift          (stored mean - mean) / std
    ratio          stored variance / variance
    shift_allowed  the largest shift that chance explains
    ratio_allowed  the largest ratio that chance explains; 1 / ratio_allowed is the smallest
    moved          how far the normalized values move: the root of the sum of the squared shift and the squared logarithm of the scale
    """

    shift: Tensor
    ratio: Tensor
    shift_allowed: Tensor
    ratio_allowed: Tensor
    moved: Tensor

    @cached_property
    def outside(self) -> tuple[int, ...]:
        """The channels beyond chance."""
        is_outside = (self.shift.abs() > self.shift_allowed) | (self.ratio.log().abs() > self.ratio_allowed.log())
        return tuple((is_outside & (self.moved > 0)).nonzero().flatten().tolist())

    @cached_property
    def size(self) -> float:
        """The root mean square of ``moved`` over the channels."""
        return float(self.moved.square().mean().sqrt())

    @property
    def squares(self) -> float:
        """The mean square of the deviations, in standard errors: near 1 where chance alone makes them."""
        deviations = torch.cat([self.shift / self.shift_allowed, self.ratio.log() / self.ratio_allowed.log()]) * CHANCE
        finite = deviations[deviations.isfinite()]
        return float(finite.square().mean()) if len(finite) else 0.0

    @property
    def is_large(self) -> bool:
        """Whether it is beyond chance, and large as above."""
        outside = self.moved[list(self.outside)]
        if not len(outside):
            return False
        whole = float((outside.square().sum() / len(self.moved)).sqrt())
        return whole > DEVIATION or float(outside.max()) > CHANNEL


def deviation(mean: Tensor, var: Tensor, measured: Measured, eps: float, momentum: float) -> Deviation:
    """How far a stored mean and variance are from the measured ones.

    momentum  the weight of the last batch in the running average, on which the range of chance depends
    """
    std = (measured.var + eps).sqrt()
    shift, ratio = (mean - measured.mean) / std, (var + eps) / (measured.var + eps)
    last = momentum / (2 - momentum)  # the variance of a running average, as a share of that of a batch
    errors = [
        (of_all.square() + last * of_batch.square()).sqrt()
        for of_all, of_batch in (
            (measured.mean_error, measured.batch_mean_error),
            (measured.var_error, measured.batch_var_error),
        )
    ]
    shift_allowed, ratio_allowed = CHANCE * errors[0] / std, (CHANCE * errors[1] / (measured.var + eps)).exp()
    scale = ratio.clamp(min=1e-12).rsqrt()
    moved = ((scale * shift).square() + scale.log().square()).sqrt()
    moved[measured.var < dead_below(eps)] = 0.0  # a dead channel has no statistics of the data
    return Deviation(shift, ratio.clamp(min=1e-12), shift_allowed, ratio_allowed, moved)


@dataclass(frozen=True)
class Cause:
    """sentence: what was measured. remedy: what to do. channels: those that it concerns; () for all."""

    cause: CauseName
    sentence: str
    remedy: str
    channels: tuple[int, ...] = ()


def cause_of_statistics(
    name: str,
    stored: tuple[Tensor, Tensor],
    measured: Measured,
    found: Deviation,
    eps: float,
    where: Stored,
    updates: int | None,
) -> Cause | None:
    """What is wrong with stored statistics; None if they fit the data.

    name   of the layer, for the sentence
    found  their deviation at the usual momentum
    """
    mean, var = stored
    is_finite = mean.isfinite() & var.isfinite() & (var >= 0)
    if not is_finite.all():
        channels = tuple((~is_finite).nonzero().flatten().tolist())
        sentence = ngettext(
            "the stored statistics of {name} are not finite in {n:,} channel of {all:,} ({channels}).",
            "the stored statistics of {name} are not finite in {n:,} channels of {all:,} ({channels}).",
            len(channels), name=name, all=len(mean), channels=named(channels),
        )  # fmt: skip
        remedy = _(
            "Find the batch with NaN or infinite values; then reset and update the statistics: {update}.",
            update=_update(where),
        )
        return Cause("not finite", sentence, remedy, channels)
    if has_high_momentum(where):
        own = deviation(mean, var, measured, eps, min(where.momentum or 0.0, 1.0))
        beyond_chance = 1 + CHANCE / math.sqrt(
            len(mean)
        )  # the mean of 2 * len(mean) squares of normal numbers, whose variance is 2
        if found.squares > beyond_chance and own.squares < EXPLAINED:
            return _momentum(name, where, found)
    remedy = _("Update the statistics: {update}.", update=_update(where))
    small = found.outside and found.size > SMALL
    if small and bool((mean == 0).all() and (var == 1).all()):
        sentence = _(
            "the stored statistics of {name} are the start values, mean 0 and variance 1; {differs}.",
            name=name, differs=_differs(found),
        )  # fmt: skip
        return Cause("never updated", sentence, remedy, found.outside)
    left = _start_share(mean, var, measured, eps, found, where, updates) if small else None
    if left is not None:
        sentence = _(
            "the stored statistics of {name} still have {share} % of the start values, mean 0 and variance 1; {differs}.",
            name=name, share=f"{100 * left:.2g}", differs=_differs(found),
        )  # fmt: skip
        return Cause("few updates", sentence, remedy, found.outside)
    if not found.is_large:
        return None
    sentence = _(
        "the stored statistics of {name} are not those of your data; {differs}.", name=name, differs=_differs(found)
    )
    remedy = _(
        "If the data are prepared as in training, update the statistics: {update}. Otherwise prepare them as in training.",
        update=_update(where),
    )
    return Cause("other data", sentence, remedy, found.outside)


def _update(where: Stored) -> str:
    """What updates the statistics: torch's function knows BatchNorm only."""
    if where.is_of_torch and not where.per_instance:
        return "torch.optim.swa_utils.update_bn(batches, model)"
    return "model = nv.diagnose(model, batches).fixed()"


def has_high_momentum(where: Stored) -> bool:
    """Whether most of the stored statistics comes from the last batch."""
    return where.momentum is not None and where.momentum > HIGHEST_MOMENTUM


def _momentum(name: str, where: Stored, found: Deviation) -> Cause:
    momentum = where.momentum or 0.0
    other = float(f"{1 - momentum:.3g}") or USUAL_MOMENTUM
    if not where.is_of_torch:
        sentence = _(
            "{name} gives a new batch the weight {momentum:.3g}, so that most of the stored statistics comes from one batch; {differs}.",
            name=name, momentum=momentum, differs=_differs(found),
        )  # fmt: skip
        remedy = _(
            "Give a new batch the weight {other:g}. Then update the statistics: {update}.",
            other=other,
            update=_update(where),
        )
        return Cause("momentum", sentence, remedy, found.outside)
    sentence = _(
        "momentum={momentum:g} of {name} is the weight of the last batch, so that most of the stored statistics comes from one batch; {differs}.",
        momentum=momentum, name=name, differs=_differs(found),
    )  # fmt: skip
    remedy = _(
        "Write momentum={other:g}: in torch, momentum is the weight of a new batch. Then update the statistics: {update}.",
        other=other, update=_update(where),
    )  # fmt: skip
    return Cause("momentum", sentence, remedy, found.outside)


def _start_share(
    mean: Tensor, var: Tensor, measured: Measured, eps: float, found: Deviation, where: Stored, updates: int | None
) -> float | None:
    """The share s of the start values that explains the stored ones: s * 0 + (1 - s) * mean, and s * 1 + (1 - s) * var; None if none does."""
    scale, std = measured.var + eps, (measured.var + eps).sqrt()
    # Least squares: stored - measured = s * (start - measured), each in units of the data.
    start = torch.cat([-measured.mean / std, (1 - measured.var) / scale.clamp(min=1)])
    got = torch.cat([(mean - measured.mean) / std, (var - measured.var) / scale.clamp(min=1)])
    if not float(start.square().sum()) > 0:
        return None
    share = float((start * got).sum() / start.square().sum())
    momentum, expected = where.momentum, None
    if updates is not None and momentum is not None and updates > 0:
        expected = (1 - momentum) ** updates
    if updates and where.count and momentum is None:  # the mean of all batches has no share of the start values
        return None
    if expected is None and not found.is_large:  # a small deviation alone proves nothing
        return None
    shares = [share] if 0.02 < share < 0.98 and (expected is None or expected > share / 2) else []
    if expected is not None and expected <= 0.02 and found.is_large:  # little, but much beside a small variance
        shares.append(expected)
    explained = (
        0.15 if expected is None else 0.3
    ) * found.size  # without a number of updates, only what fits well is believed
    for one in shares:  # the statistics that this share of the start values gives
        mixed = replace(measured, mean=(1 - one) * measured.mean, var=one + (1 - one) * measured.var)
        if deviation(mean, var, mixed, eps, USUAL_MOMENTUM).size < explained:
            return one
    return None


def _differs(found: Deviation) -> str:
    """The largest difference, and how many channels are beyond chance, if any is."""
    worst = int(found.moved.argmax())
    ratio, shift = float(found.ratio[worst]), float(found.shift[worst])
    if abs(math.log(ratio)) / 2 >= abs(shift):
        values = {"channel": worst, "ratio": f"{max(ratio, 1 / ratio):.3g}"}
        text = (
            _("in channel {channel}, the variance is {ratio} times smaller than that of your data", **values)
            if ratio < 1
            else _("in channel {channel}, the variance is {ratio} times larger than that of your data", **values)
        )
    else:
        text = _(
            "in channel {channel}, the mean is {shift} standard deviations from that of your data",
            channel=worst, shift=f"{shift:.3g}",
        )  # fmt: skip
    count = ngettext(
        "{n:,} channel of {all:,} is beyond chance", "{n:,} channels of {all:,} are beyond chance",
        len(found.outside), all=len(found.moved),
    )  # fmt: skip
    return f"{text}, {count}" if found.outside else text


def named(items: Sequence[int | str]) -> str:
    """The first channels or names."""
    return ", ".join([*map(str, items[:MOST_NAMED]), *["..."] * (len(items) > MOST_NAMED)])


def cause_of_batch(name: str, measured: Measured) -> Cause | None:
    """Too few elements for a statistic of one batch; None if there are enough."""
    elements = measured.independent_if_shuffled  # batches that are sorted by class are not too small
    if not elements < FEWEST_ELEMENTS * (1 - 1e-3):  # rounding
        return None
    sentence = _(
        "m = {m:,} for a mean of {name}; with independent elements, m = {elements} would be worth as much. In train mode, the mean of a batch varies by {error} standard deviations.",
        name=name, m=measured.elements, elements=f"{elements:.2g}", error=f"{math.sqrt(1 / elements):.2g}",
    )  # fmt: skip
    return Cause("small batch", sentence, _larger_batches())


def cause_of_one_instance(name: str, measured: Measured) -> Cause | None:
    """Batches of one instance whose means differ; None if they differ little. ``measured``: in eval mode, where they are not normalized alone."""
    error = math.sqrt(1 / measured.independent_elements)
    if error < math.sqrt(1 / FEWEST_ELEMENTS):
        return None
    sentence = _(
        "a batch is one instance, so in train mode {name} normalizes each instance alone, as InstanceNorm does. In eval mode, the means of the instances vary by {error} standard deviations, and the layer keeps these differences.",
        name=name, error=f"{error:.2g}",
    )  # fmt: skip
    return Cause("small batch", sentence, _larger_batches())


def _larger_batches() -> str:
    return _("Take larger batches, or a layer that needs none, such as GroupNorm or LayerNorm.")


def dead_below(eps: float) -> float:
    """The variance below which a channel is dead."""
    return DEAD * min(eps, LARGEST_EPS)


def cause_of_dead_channels(name: str, measured: Measured, eps: float) -> Cause | None:
    """Channels whose variance is so small that eps decides; None if there are none."""
    channels = tuple((measured.var < dead_below(eps)).nonzero().flatten().tolist())
    channels = channels or tuple((measured.var == 0).nonzero().flatten().tolist())
    if not channels:
        return None
    sentence = ngettext(
        "{n:,} channel of {all:,} of {name} has a variance near 0 ({channels}): eps={eps:g} decides its output.",
        "{n:,} channels of {all:,} of {name} have a variance near 0 ({channels}): eps={eps:g} decides their output.",
        len(channels), all=len(measured.var), name=name, channels=named(channels), eps=eps,
    )  # fmt: skip
    remedy = _("Look at the layer before: in such a channel, its output does not depend on the data.")
    return Cause("dead channel", sentence, remedy, channels)


def one_value(name: str) -> Cause:
    """In train mode, a batch has one element for each statistic."""
    return Cause(
        "one value",
        _("a batch has only one element for each mean of {name}, and one element has no variance: torch refuses it in train mode.", name=name),
        _("Give batches of two or more; DataLoader(..., drop_last=True) leaves out a last batch of one."),
    )  # fmt: skip


def cause_of_mode(name: str, training: bool) -> Cause:
    """A layer whose mode is not that of its model. ``training``: its own mode."""
    if training:
        return Cause(
            "train in eval",
            _("{name} stays in train mode although the model is in eval mode: it uses the statistics of the batch.", name=name),
            _("Call model.eval() after the last train() of a part of the model, and do not override train()."),
        )  # fmt: skip
    return Cause(
        "eval in train",
        _("{name} stays in eval mode although the model is in train mode: its stored statistics are used and not updated.", name=name),
        _("Call model.train() after the last eval() of a part of the model. If the layer is to be frozen, set requires_grad of its gamma and beta to False, too."),
    )  # fmt: skip


def not_a_norm(name: str, kind: str) -> Cause:
    """A module that is no norm computes different values in the two modes."""
    return Cause(
        "not a norm",
        _("{name} computes other values in train mode than in eval mode from the same input, and has no stored statistics.", name=f"{name} ({kind})" if name else kind),
        _("Dropout and similar modules are meant to do this: compare results of eval mode with one another."),
    )  # fmt: skip
