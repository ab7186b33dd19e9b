"""What learners take for true, and the wrong answer that follows from it: every wrong option of an exercise is computed from one of these.

``STATISTICS`` are other statistics patterns than the layer's, ``GAMMAS`` other axes of gamma, ``COUNTS``, ``NUMBERS`` and ``MODES``
other mistakes. Where two give the same answer, the first in this order is named.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from normviz.layers.norm import Norm
from normviz.lessons.practice.case import Case
from normviz.texts.messages import N_, _, join_sentences

Axes = Sequence[str]


@dataclass(frozen=True)
class Confusion:
    """A documented confusion.

    name      what the wrong answer is: completes "That is ..."
    sentence  what is true
    question  the key of the question to read
    """

    name: str
    sentence: str
    question: str


BATCH = Confusion(
    N_("BatchNorm's answer"),
    N_(
        "BatchNorm averages over the batch and all positions, for each channel or feature. This layer averages over other axes."
    ),
    "s1a",
)
EXAMPLE = Confusion(
    N_("the answer if each example shared one mean"),
    N_("A whole example shares one mean only where all its axes are averaged, as in LayerNorm([C, H, W])."),
    "s0a",
)
SEQUENCE = Confusion(
    N_("the answer if each sequence shared one mean"),
    N_("LayerNorm(C) on (N, L, C) averages over C alone: each token has its own mean and variance."),
    "q4",
)
INSTANCE = Confusion(
    N_("InstanceNorm's answer"),
    N_("InstanceNorm averages over each plane: one channel of one example. This layer averages over other axes."),
    "s0h",
)
POSITION = Confusion(
    N_("the answer if each position had a mean of its own"),
    N_("One mean for each pixel or token, over its channels, is what LayerNorm(C) computes where C is the last axis."),
    "q3",
)
CHANNELS_BY_SIZE = Confusion(
    N_("the answer if LayerNorm found the channels by their size"),
    N_("LayerNorm normalizes the last axes, even if another axis has the same size."),
    "q1",
)
WHOLE_TENSOR = Confusion(
    N_("the answer if the whole tensor shared one mean"),
    N_("The whole tensor shares one mean only where all its axes are averaged, the batch axis too."),
    "s2f",
)
EACH_ELEMENT = Confusion(
    N_("the answer if each element had a mean of its own"),
    N_(
        "A mean over one element would be the element itself. A group consists of the elements along the axes that are averaged."
    ),
    "s2p",
)
KEPT_FOR_REDUCED = Confusion(
    N_("the answer with kept and averaged axes exchanged"),
    N_("A mean runs along the averaged axes. There is one mean for each position along the kept ones."),
    "s3c",
)
GROUP_SIZE = Confusion(
    N_("the answer if num_groups were the size of a group"),
    N_("num_groups is the number of groups; each has num_channels / num_groups channels."),
    "q8",
)
CHANNELS_ONLY = Confusion(
    N_("the answer if GroupNorm averaged over channels only"),
    N_("GroupNorm averages over the channels of a group and over all positions."),
    "q7",
)
DIM_ZERO = Confusion(
    N_("the answer for the mean over dim=0"),
    N_(
        "The mean over the batch axis alone is not BatchNorm's where there are positions: BatchNorm averages over them too."
    ),
    "s2e",
)


def _of_group_size(case: Case) -> Norm | None:
    if case.family != "GroupNorm":
        return None
    size = case.layer.given["num_channels"] // case.layer.given["num_groups"]
    return case.layer.with_(num_groups=size).norm(case.axes) if case.layer.given["num_channels"] % size == 0 else None


def _of_channels_only(case: Case) -> Norm | None:
    if case.family != "GroupNorm" or len(case.shape) < 3:
        return None
    kept = [case.axes[0], case.norm.pattern.right[1], *case.axes[2:]]
    return Norm(f"{case.norm.stats.split(' ->')[0]} -> {' '.join(kept)}", sizes=case.norm.sizes)


def _if_it_found_the_channels(case: Case) -> Norm | None:
    found = case.layer.given.get("normalized_shape", ())
    if len(found) != 1 or len(case.shape) < 3 or case.shape[1] != found[0] or case.axes[1] != "c":
        return None
    return case.over([axis for axis in case.axes if axis != "c"])


def _exchanged(case: Case) -> Norm:
    return Norm(f"{case.norm.stats.split(' ->')[0]} -> {' '.join(case.norm.pattern.reduced)}", sizes=case.norm.sizes)


def _of_sequence(case: Case) -> Norm | None:
    return case.over([case.example]) if case.layout in ("NLC", "LNC") else None


STATISTICS: Mapping[str, tuple[Confusion, Callable[[Case], Norm | None]]] = {
    "channels_by_size": (CHANNELS_BY_SIZE, _if_it_found_the_channels),
    "group_size": (GROUP_SIZE, _of_group_size),
    "channels_only": (CHANNELS_ONLY, _of_channels_only),
    "sequence": (SEQUENCE, _of_sequence),
    "batchnorm": (BATCH, lambda case: case.over([case.channel])),
    "example": (EXAMPLE, lambda case: case.over([case.example])),
    "instancenorm": (INSTANCE, lambda case: case.over([case.example, case.channel]) if len(case.shape) > 2 else None),
    "position": (
        POSITION,
        lambda case: case.over([axis for axis in case.axes if axis != case.channel]) if len(case.shape) > 2 else None,
    ),
    "exchanged": (KEPT_FOR_REDUCED, _exchanged),
    "dim_zero": (DIM_ZERO, lambda case: case.over(case.axes[1:]) if len(case.shape) > 2 else None),
    "whole_tensor": (WHOLE_TENSOR, lambda case: case.over([])),
    "each_element": (EACH_ELEMENT, lambda case: case.over(case.axes)),
}  # fmt: skip

GAMMA_PER_ROW = Confusion(
    N_("the answer if each mean had one gamma"),
    N_("Statistics and parameters have axes of their own: the number of means does not give the number of gammas."),
    "s1",
)
AS_MANY_AS_AVERAGED = Confusion(
    N_("the answer if there were as many gammas as elements in each mean"),
    N_(
        "In LayerNorm and RMSNorm there are as many. In the other layers, a gamma belongs to a channel, however many elements share a mean."
    ),
    "s0g",
)
ONE_GAMMA = Confusion(
    N_("the answer if the whole layer had one gamma"),
    N_(
        "LayerNorm and RMSNorm have one gamma for each element that is normalized together, the other layers one for each channel, or none."
    ),
    "s0",
)
GAMMA_PER_CHANNEL = Confusion(
    N_("the answer if each channel had one gamma"),
    N_("LayerNorm and RMSNorm have one gamma for each element that is normalized together, not one for each channel."),
    "s0c",
)
GAMMA_PER_ELEMENT = Confusion(
    N_("the answer if each element of an example had a gamma of its own"),
    N_(
        "That is so in LayerNorm over all axes of an example, such as LayerNorm([C, H, W]). Gamma has the axes of normalized_shape in LayerNorm and RMSNorm, and that of the channels in the others."
    ),
    "q6",
)
GAMMA_WITH_BATCH = Confusion(
    N_("the answer if each element of x had a gamma of its own"),
    N_("Examples share their gammas: a larger batch needs no more parameters."),
    "s0b",
)
KEPT_GAMMA = Confusion(
    N_("the answer if gamma had the axes that are not averaged"),
    N_(
        "Which axes are averaged does not decide it alone: gamma has the axes of normalized_shape in LayerNorm and RMSNorm, and that of the channels in the others."
    ),
    "q5",
)
INSTANCE_LEARNS = Confusion(
    N_("the answer if InstanceNorm had a gamma by default"),
    N_("InstanceNorm has affine=False by default: it learns nothing."),
    "q9",
)
AFFINE_OFF = Confusion(
    N_("the answer with gamma and beta"),
    N_("Without elementwise_affine, or without affine, the layer has neither gamma nor beta."),
    "s2l",
)
NO_GAMMA = Confusion(
    N_("the answer without gamma"),
    N_("LayerNorm, RMSNorm, BatchNorm and GroupNorm have a gamma by default; only InstanceNorm has none."),
    "q9",
)


def _kept_without_batch(case: Case) -> Axes | None:
    kept = [axis for axis in case.norm.pattern.right if axis != case.example]
    return kept or None


def _if_instance_learned(case: Case) -> Axes | None:
    return [case.axes[1]] if case.family == "InstanceNorm" and not case.layer.affine else None


def _if_affine(case: Case) -> Axes | None:
    flag = next(name for name in ("affine", "elementwise_affine") if name in case.layer.given)
    if case.layer.affine or case.family == "InstanceNorm":
        return None
    return case.layer.with_(**{flag: True}).norm(case.axes).gamma_axes


GAMMAS: Mapping[str, tuple[Confusion, Callable[[Case], Axes | None]]] = {
    "instance_learns": (INSTANCE_LEARNS, _if_instance_learned),
    "affine_off": (AFFINE_OFF, _if_affine),
    "kept_gamma": (KEPT_GAMMA, _kept_without_batch),
    "gamma_per_mean": (GAMMA_PER_ROW, lambda case: case.norm.pattern.right or None),
    "gamma_per_channel": (GAMMA_PER_CHANNEL, lambda case: [case.channel] if case.layer.given.get("normalized_shape") else None),
    "layernorm_gamma": (GAMMA_PER_ELEMENT, lambda case: [axis for axis in case.axes if axis != case.example]),
    "averaged_gamma": (AS_MANY_AS_AVERAGED, lambda case: case.norm.pattern.reduced or None),
    "one_gamma": (ONE_GAMMA, lambda case: []),
    "gamma_with_batch": (GAMMA_WITH_BATCH, lambda case: case.axes),
}  # fmt: skip

COUNTS: Mapping[str, Confusion] = {
    "no_gamma": NO_GAMMA,
    "means_for_elements": Confusion(N_("the number of elements in each mean"), N_("The number of means times the elements in each is the number of elements of x."), "s3c"),
    "elements_for_means": Confusion(N_("the number of means"), N_("The number of means times the elements in each is the number of elements of x."), "s3c"),
    "only_gammas": Confusion(N_("the number of gammas alone"), N_("In this layer, each gamma has a beta beside it, and both are learned."), "s0"),
    "rms_bias": Confusion(N_("the answer if RMSNorm had a beta"), N_("RMSNorm has a gamma and no beta."), "q23"),
    "buffers_counted": Confusion(N_("the answer with the running statistics"), N_("running_mean and running_var are buffers: they are stored, and not learned."), "q25"),
}  # fmt: skip

NUMBERS: Mapping[str, Confusion] = {
    "unbiased": Confusion(N_("the variance divided by m - 1"), N_("Layers normalize with the variance divided by m, the number of elements; torch.var divides by m - 1 by default."), "q13"),
    "not_centered": Confusion(N_("the answer without the mean subtracted, as in RMSNorm"), N_("Only RMSNorm does not subtract the mean."), "q23"),
    "centered": Confusion(N_("LayerNorm's answer"), N_("RMSNorm does not subtract the mean: it divides by the root of the mean square."), "q23"),
    "squared_mean": Confusion(N_("the square of the mean"), N_("The mean of the squares is not the square of the mean."), "s2o"),
}  # fmt: skip

MODES: Mapping[str, Confusion] = {
    "eval_uses_batch": Confusion(N_("what happens in train mode"), N_("In eval mode, a layer with running statistics uses these, whatever the batch is."), "q16"),
    "train_uses_running": Confusion(N_("what happens in eval mode"), N_("In train mode, a layer uses the statistics of x and only updates the running ones."), "s3k"),
    "always_running": Confusion(N_("the answer if it had running statistics"), N_("Without track_running_stats there are no running statistics, and both modes use those of x."), "q17"),
    "instance_stays": Confusion(N_("the answer without running statistics"), N_("With track_running_stats, InstanceNorm in eval mode uses one running mean and variance for each channel."), "q10"),
    "per_example_runs": Confusion(N_("what BatchNorm does"), N_("This layer normalizes each example alone and has no running statistics, so it computes the same in both modes."), "s1d"),
    "per_example_stores": Confusion(N_("the answer if it stored running statistics"), N_("This layer normalizes each example alone, and stores no statistics from batch to batch."), "s1d"),
    "always_none": Confusion(N_("the answer without running statistics"), N_("BatchNorm has running statistics by default, and InstanceNorm with track_running_stats=True."), "s2a"),
    "needs_batch": Confusion(N_("what BatchNorm does in train mode"), N_("This layer does not normalize with the statistics of the batch; BatchNorm does, in train mode."), "s3i"),
    "ignores_batch": Confusion(N_("what LayerNorm does"), N_("BatchNorm does not use each example alone: it uses the statistics of the batch, or in eval mode the running ones, if it has them."), "s3i"),
    "eval_updates": Confusion(N_("what happens in train mode"), N_("In eval mode the running statistics are used and not changed."), "q16"),
    "train_keeps": Confusion(N_("what happens in eval mode"), N_("A forward pass in train mode updates the running statistics, even without a step of the optimizer."), "q16"),
}  # fmt: skip

CONFUSIONS: Mapping[str, Confusion] = {
    **{key: found for key, (found, _compute) in STATISTICS.items()},
    **{key: found for key, (found, _compute) in GAMMAS.items()},
    **COUNTS,
    **NUMBERS,
    **MODES,
}  # fmt: skip


def feedback(key: str) -> str:
    """What a wrong answer is, and what is true: "That is BatchNorm's group. BatchNorm averages over ..."."""
    confusion = CONFUSIONS[key]
    return join_sentences([_("That is {name}.", name=_(confusion.name)), _(confusion.sentence)])
