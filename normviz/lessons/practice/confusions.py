"""What learners take for true, and the wrong answer that follows from it: every wrong option of an exercise is computed from one of these.

``STATISTICS`` are other statistics patterns than the layer's, ``GAMMAS`` other axes of gamma. Where two give the same
answer, the first in this order is named.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from normviz.layers.norm import Norm
from normviz.layers.sharing import param_tables
from normviz.lessons.practice.case import Answer, Box, Case, box_of, group_box
from normviz.texts.errors import NormvizError
from normviz.texts.messages import N_, _, join_sentences

Axes = Sequence[str]


@dataclass(frozen=True)
class Confusion:
    """A documented confusion.

    name      what the wrong answer is: completes "That is ..."
    sentence  what is true, with the placeholders {layer}, {axes} of x, and {over}: the axes that are averaged in the confusion
    question  the key of the question to read
    """

    name: str
    sentence: str
    question: str


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


STATISTICS: Mapping[str, tuple[Callable[[Case], Norm | None], Confusion]] = {
    "channels_by_size": (_if_it_found_the_channels, Confusion(
        N_("the answer if LayerNorm found the channels by their size"),
        N_("{layer} normalizes the last axis of {axes}. It does not matter that another axis has the same size."), "q1")),
    "group_size": (_of_group_size, Confusion(
        N_("the answer if num_groups were the size of a group"),
        N_("num_groups is the number of groups; each has num_channels / num_groups channels."), "q8")),
    "channels_only": (_of_channels_only, Confusion(
        N_("the answer if GroupNorm averaged over channels only"),
        N_("GroupNorm averages over the channels of a group and over all positions."), "q7")),
    "sequence": (lambda case: case.over([case.example]) if case.layout in ("NLC", "LNC") else None, Confusion(
        N_("the answer with one mean for each sequence"),
        N_("{layer} on {axes} averages over C alone: each token has statistics of its own."), "q4")),
    "batchnorm": (lambda case: case.over([case.channel]), Confusion(
        N_("BatchNorm's answer"),
        N_("BatchNorm keeps the channels: on {axes} it averages over {over}. {layer} does not average over exactly these axes."), "s1a")),
    "example": (lambda case: case.over([case.example]), Confusion(
        N_("the answer with one mean for each example"),
        N_("There is one mean for a whole example only where all its axes are averaged, here {over}."), "s0a")),
    "instancenorm": (lambda case: case.over([case.example, case.channel]) if len(case.shape) > 2 else None, Confusion(
        N_("InstanceNorm's answer"),
        N_("InstanceNorm keeps the examples and the channels: on {axes} it averages over {over}. {layer} does not average over exactly these axes."), "s0h")),
    "position": (lambda case: case.over([axis for axis in case.axes if axis != case.channel]) if len(case.shape) > 2 else None, Confusion(
        N_("the answer if each position had a mean of its own"),
        N_("One mean for each position is a mean over {over} alone. {layer} does not average over exactly this axis."), "q3")),
    "exchanged": (_exchanged, Confusion(
        N_("the answer with kept and averaged axes exchanged"),
        N_("A mean runs along the averaged axes. There is one mean for each position along the kept ones."), "s3c")),
    "dim_zero": (lambda case: case.over(case.axes[1:]) if len(case.shape) > 2 else None, Confusion(
        N_("the answer for the mean over dim=0"),
        N_("The mean over dim=0 is a mean over {over} alone. {layer} does not average over exactly this axis."), "s2e")),
    "whole_tensor": (lambda case: case.over([]), Confusion(
        N_("the answer with one mean for the whole tensor"),
        N_("There is one mean for the whole tensor only where all its axes are averaged, the batch axis too."), "s2f")),
    "each_element": (lambda case: case.over(case.axes), Confusion(
        N_("the answer if each element had a mean of its own"),
        N_("A mean over one element would be the element itself. A group consists of the elements along the axes that are averaged."), "s2p")),
}  # fmt: skip


def _if_affine(case: Case) -> Axes | None:
    flag = next(name for name in ("affine", "elementwise_affine") if name in case.layer.given)
    if case.layer.affine or case.family == "InstanceNorm":
        return None
    return case.layer.with_(**{flag: True}).norm(case.axes).gamma_axes


GAMMAS: Mapping[str, tuple[Callable[[Case], Axes | None], Confusion]] = {
    "instance_learns": (lambda case: [case.axes[1]] if case.family == "InstanceNorm" and not case.layer.affine else None, Confusion(
        N_("the answer if InstanceNorm had a gamma by default"),
        N_("InstanceNorm has affine=False by default: it learns nothing."), "q9")),
    "affine_off": (_if_affine, Confusion(
        N_("the answer with gamma and beta"),
        N_("With elementwise_affine=False or affine=False, the layer has neither gamma nor beta."), "s2l")),
    "kept_gamma": (lambda case: [axis for axis in case.norm.pattern.right if axis != case.example] or None, Confusion(
        N_("the answer if gamma had the axes that are not averaged"),
        N_("Which axes are averaged does not decide it alone: gamma has the axes of normalized_shape in LayerNorm and RMSNorm, and that of the channels in the others."), "q5")),
    "gamma_per_mean": (lambda case: case.norm.pattern.right or None, Confusion(
        N_("the answer if each mean had one gamma"),
        N_("Statistics and parameters have axes of their own: the number of means does not give the number of gammas."), "s1")),
    "gamma_per_channel": (lambda case: [case.channel] if case.layer.given.get("normalized_shape") else None, Confusion(
        N_("the answer if each channel had one gamma"),
        N_("LayerNorm and RMSNorm have one gamma for each element that is normalized together, not one for each channel."), "s0c")),
    "layernorm_gamma": (lambda case: [axis for axis in case.axes if axis != case.example], Confusion(
        N_("the answer if each element of an example had a gamma of its own"),
        N_("That is true of LayerNorm over all axes of an example. Gamma has the axes of normalized_shape in LayerNorm and RMSNorm, and that of the channels in the others."), "q6")),
    "averaged_gamma": (lambda case: case.norm.pattern.reduced or None, Confusion(
        N_("the answer if there were as many gammas as elements in each mean"),
        N_("In LayerNorm and RMSNorm there are as many. In the other layers, a gamma belongs to a channel, however many elements share a mean."), "s0g")),
    "one_gamma": (lambda case: [], Confusion(
        N_("the answer if the whole layer had one gamma"),
        N_("LayerNorm and RMSNorm have one gamma for each element that is normalized together, the other layers one for each channel, or none."), "s0")),
    "gamma_with_batch": (lambda case: case.axes, Confusion(
        N_("the answer if each element of x had a gamma of its own"),
        N_("Examples share their gammas: a larger batch needs no more parameters."), "s0b")),
}  # fmt: skip

CONFUSIONS: Mapping[str, Confusion] = {
    **{key: found for key, (_compute, found) in STATISTICS.items()},
    **{key: found for key, (_compute, found) in GAMMAS.items()},
    # counts
    "no_gamma": Confusion(N_("the answer without gamma"), N_("LayerNorm, RMSNorm, BatchNorm and GroupNorm have a gamma by default, and InstanceNorm has one with affine=True."), "q9"),
    "means_for_elements": Confusion(N_("the number of elements in each mean"), N_("The number of means times the elements in each is the number of elements of x."), "s3c"),
    "elements_for_means": Confusion(N_("the number of means"), N_("The number of means times the elements in each is the number of elements of x."), "s3c"),
    "only_gammas": Confusion(N_("the number of gammas alone"), N_("In this layer, each gamma has a beta beside it, and both are learned."), "s0"),
    "rms_bias": Confusion(N_("the answer if RMSNorm had a beta"), N_("RMSNorm has a gamma and no beta."), "q23"),
    "buffers_counted": Confusion(N_("the answer with the running statistics"), N_("running_mean and running_var are buffers: they are stored, and not learned."), "q25"),
    # numbers
    "unbiased": Confusion(N_("the variance divided by m - 1"), N_("{layer} normalizes with the variance divided by m, the number of elements; torch.var divides by m - 1 by default."), "q13"),
    "not_centered": Confusion(N_("the answer without the mean subtracted, as in RMSNorm"), N_("{layer} subtracts the mean; RMSNorm does not."), "q23"),
    "centered": Confusion(N_("LayerNorm's answer"), N_("RMSNorm does not subtract the mean: it divides by the root of the mean square."), "q23"),
    "squared_mean": Confusion(N_("the square of the mean"), N_("The mean of the squares is not the square of the mean."), "s2o"),
    # modes
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
    "train_keeps": Confusion(N_("what happens in eval mode"), N_("In train mode, each batch that passes through the layer updates the running statistics, even if nothing is learned from it."), "q16"),
}  # fmt: skip


def averaged_in(key: str, case: Case) -> str:
    """The axes that are averaged on the x of a case in a confusion, in words; "" if it is about something else."""
    norm = STATISTICS[key][0](case) if key in STATISTICS else None
    return case.averaged_by(norm) if norm else ""


def feedback(key: str, case: Case) -> str:
    """What a wrong answer on a case is, and what is true: "That is BatchNorm's answer. On (N, C, H, W), BatchNorm averages over ..."."""
    confusion = CONFUSIONS[key]
    facts = {"layer": case.text, "axes": case.axes_text, "over": averaged_in(key, case)}
    return join_sentences([_("That is {name}.", name=_(confusion.name)), _(confusion.sentence, **facts)])


# The wrong answers that follow from them.

Wrong = Iterable[tuple[str, Answer | None]]
MOST_WRONG = 6


def distinct(answer: Answer, wrong: Wrong) -> tuple[tuple[str, Answer], ...]:
    """The wrong answers that differ from the right one and from those before."""
    found: dict[Answer, str] = {}
    for confusion, value in wrong:
        if value is not None and value != answer:
            found.setdefault(value, confusion)
    return tuple((confusion, value) for value, confusion in found.items())[:MOST_WRONG]


def mistaken_statistics(case: Case) -> Iterator[tuple[str, Norm]]:
    for key, (compute, _confusion) in STATISTICS.items():
        with suppress(NormvizError):  # the pattern does not have these axes
            norm = compute(case)
            if norm is not None:
                yield key, norm


def mistaken_gammas(case: Case) -> Iterator[tuple[str, Norm]]:
    for key, (compute, _confusion) in GAMMAS.items():
        axes = compute(case)
        norm = None if axes is None else gamma_norm(case, axes)
        if norm is not None:
            yield key, norm


def gamma_norm(case: Case, gamma: Sequence[str]) -> Norm | None:
    """The norm of the case with these axes of gamma; None if the pattern does not have them."""
    try:
        return Norm(case.norm.stats, " ".join(gamma), sizes=case.norm.sizes)
    except NormvizError:
        return None


def mistaken_sets(kind: str, case: Case, at: tuple[int, ...]) -> Iterator[tuple[str, Box]]:
    """The elements that share a mean ("peers") or a gamma ("parameter_peers") with an element in each confusion, itself among them."""
    if kind == "peers":
        yield from ((key, group_box(norm, case.shape, at)) for key, norm in mistaken_statistics(case))
        return
    for key, norm in mistaken_gammas(case):
        tables = param_tables(norm, case.shape)
        yield key, () if tables is None else box_of(tables, at)
