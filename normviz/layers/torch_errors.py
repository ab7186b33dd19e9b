"""Inputs that torch refuses: torch's own message, its meaning, and the remedy.

``check(layer, shape)`` returns if torch's forward would run, and raises NormvizError if not. Words that differ between versions of
torch are those of the installed one, the others come from torch 2.13; a test compares each with torch's message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import nn

from normviz.layers.axes import divisors
from normviz.layers.catalogue import Kind
from normviz.texts.errors import NormvizError, listed
from normviz.texts.messages import N_, _, english, join_sentences, ngettext

if TYPE_CHECKING:
    from normviz.layers.layer import Layer

MOST_LISTED = 15


def check(layer: Layer, shape: tuple[int, ...]) -> None:
    """Raise NormvizError unless ``layer`` takes an x of that shape. Layers that torch does not have are checked too.

    The rules are in torch's order, so the first broken rule is the one that torch reports.
    """
    given, kind = layer.given, layer.kind
    if "num_groups" in given:
        _check_groups_divide(given["num_channels"], given["num_groups"])
    _check_rank(layer, shape)
    if kind.channels_last:
        _check_gamma(layer, shape)
        check(layer.on_axis_1(3), (shape[0], shape[-1], prod(shape[1:-1])))
    elif "normalized_shape" in given:
        _check_trailing(layer.name, given["normalized_shape"], shape)
    elif "num_groups" in given:
        _check_groups(given, shape)
    elif kind.module is None:
        _check_gamma(layer, shape)
    elif kind.per_instance:
        _check_instance(layer, shape)
    else:
        _check_batch(layer, shape)


def _torch_error(words: str, meaning: str, **values: object) -> NormvizError:
    return NormvizError('torch refuses: "{words}". {meaning}', words=english(words), meaning=_(meaning, **values))


def _refusal(run: Callable[[], object]) -> str:
    """The words of the installed torch if it refuses, or "" if it does not."""
    try:
        run()
    except (ValueError, RuntimeError, TypeError) as error:
        return str(error)
    return ""


def allowed_ranks(kinds: Iterable[Kind]) -> str:
    """The ranks that at least one of the kinds takes, as a phrase."""
    lows, highs = zip(*(kind.ranks for kind in kinds), strict=True)
    if None in highs:
        return _("{rank} or higher", rank=min(lows))
    return listed(range(min(lows), max(highs) + 1))


def _check_rank(layer: Layer, shape: tuple[int, ...]) -> None:
    rank, (low, high) = len(shape), layer.kind.ranks
    if layer.kind.takes_rank(rank):
        return
    ranks = allowed_ranks([layer.kind])
    if not layer.kind.in_torch:
        raise NormvizError(
            "{layer} takes an x of rank {ranks}, and this x has rank {rank}, shape {shape}.",
            layer=layer.name,
            ranks=ranks,
            rank=rank,
            shape=shape,
        )
    words = f"expected {'at least 2D' if high is None else ' or '.join(f'{r}D' for r in range(low, high + 1))} input (got {rank}D input)"
    if layer.name == "GroupNorm":
        words = f"Expected at least 2 dimensions for input tensor but received {rank}"
    siblings = [kind.name for kind in layer.kind.siblings if kind.takes_rank(rank)]
    takes_one_example = layer.kind.takes_rank(rank + 1) and (layer.running or prod(shape[1:]) > 1)
    lacks_batch = takes_one_example and layer.given.get("num_features") == shape[0]
    if siblings and lacks_batch:
        meaning = N_(
            "x has rank {rank}, shape {shape}. If x is one example without a batch axis, add the axis: x.unsqueeze(0). Otherwise use {layers}."
        )
    elif siblings:
        meaning = N_("x has rank {rank}, shape {shape}. For this x use {layers}.")
    elif lacks_batch:
        meaning = N_("x has rank {rank}, shape {shape}. If x is one example, add a batch axis: x.unsqueeze(0).")
    else:
        meaning = N_("x has rank {rank}, shape {shape}. Give an x of rank {ranks}.")
    raise _torch_error(
        words, meaning, rank=rank, shape=shape, ranks=ranks, layers=listed(siblings) if siblings else None
    )


def _check_trailing(name: str, wanted: tuple[int, ...], shape: tuple[int, ...]) -> None:
    if shape[-len(wanted) :] == wanted:
        return
    separator = "" if name == "RMSNorm" else ", "  # torch's message for RMSNorm has no comma
    words = (
        f"Given normalized_shape={list(wanted)}, expected input with shape [*{separator}{_commas(wanted)}], "
        f"but got input of size[{_commas(shape)}]"
    )
    if name == "RMSNorm" and len(shape) < len(wanted):
        words = f"Input tensor must have at least {len(wanted)} dimensions, but got {len(shape)}"
    endings = listed([list(shape[-count:]) for count in range(1, len(shape) + 1)])
    meaning = _("normalized_shape must be the last sizes of x, here {endings}.", endings=endings)
    found = [axis for axis, size in enumerate(shape[:-1]) if wanted == (size,)]
    if found:
        axis = 1 if 1 in found else found[0]
        move = N_("Axis {axis} has size {size}: to normalize over it, move it to the end (x.movedim({axis}, -1)).")
        if axis == 1 and name == "LayerNorm":
            move = N_(
                "Axis {axis} has size {size}: to normalize over it, move it to the end (x.movedim({axis}, -1)), or use a module of your own "
                "(ChannelsFirstLayerNorm here; torch.nn has none)."
            )
        meaning = join_sentences([meaning, _(move, axis=axis, size=shape[axis])])
    raise _torch_error(words, meaning)


def _check_groups_divide(channels: int, groups: int) -> None:
    if channels % groups == 0:
        return
    numbers: list[object] = [*divisors(channels)]
    if len(numbers) > MOST_LISTED:
        numbers = [*numbers[: MOST_LISTED - 3], "…", *numbers[-2:]]
    raise _torch_error(
        _refusal(lambda: nn.GroupNorm(groups, channels, affine=False)),
        ngettext(
            "C={n} channel cannot be split into {groups} equal groups; num_groups must be {numbers}.",
            "C={n} channels cannot be split into {groups} equal groups; num_groups must be {numbers}.",
            channels,
            groups=groups,
            numbers=listed(numbers),
        ),
    )


def _check_groups(given: Mapping[str, Any], shape: tuple[int, ...]) -> None:
    groups, channels, found = given["num_groups"], given["num_channels"], shape[1]
    reported = [shape[0] * found // groups, groups, *shape[2:]]  # torch's product leaves out num_groups
    if reported[0] * prod(shape[2:]) == 1:
        words = f"Expected more than 1 value per channel when training, got input size {reported}"
    elif found % groups:
        words = (
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"[{_commas(shape)}] and num_groups={groups}"
        )
    elif given["affine"] and found != channels:
        words = (
            "Expected weight to be a vector of size equal to the number of channels in input, "
            f"but got weight of shape [{channels}] and input of shape [{_commas(shape)}]"
        )
    else:
        return
    if found == channels:
        remedy = _("Use fewer groups, or more than one position.")
        if groups == 1:
            remedy = _("Use more than one channel, or more than one position.")
        raise _torch_error(words, _("The variance of one value is 0. {remedy}", remedy=remedy))
    size = _("x has size {found} on axis 1.", found=found)
    move = _move_channels(channels, 1, shape)
    if found % groups and move:
        write = _(
            "If axis 1 holds the channels, write num_channels={found} and choose a num_groups that divides it.",
            found=found,
        )
    elif found % groups:
        write = _("Write num_channels={found} and choose a num_groups that divides it.", found=found)
    elif move:
        write = _("If axis 1 holds the channels, write num_channels={found}.", found=found)
    else:
        write = _("Write num_channels={found}.", found=found)
    raise _torch_error(words, join_sentences([size, move, write]))


def _check_gamma(layer: Layer, shape: tuple[int, ...]) -> None:
    wanted, found = _channels(layer, shape)
    if wanted != found:
        raise NormvizError(_wrong_channels(layer, shape))


def _check_instance(layer: Layer, shape: tuple[int, ...]) -> None:
    wanted, found = _channels(layer, shape)
    axis, unbatched = layer.kind.channel(len(shape)), len(shape) == layer.kind.unbatched_rank
    if layer.affine and wanted != found:
        words = f"expected input's size at dim={axis} to match num_features ({wanted}), but got: {found}."
        raise _torch_error(words, _wrong_channels(layer, shape))
    batched = (1, *shape) if unbatched else shape
    if not layer.running and prod(batched[2:]) == 1:
        remedy = _("Use a larger height, width or length.")
        if layer.tracks:
            remedy = _("Use a larger height, width or length, or eval mode with running statistics.")
        raise _single_value_error("spatial element", batched, remedy)
    if layer.given["momentum"] is None and (words := momentum_refusal()):
        raise _torch_error(words, _("Give a number for momentum, such as 0.1."))
    if layer.tracks and wanted != found:
        words = f"running_mean should contain {batched[0] * found} elements not {batched[0] * wanted}"
        raise _torch_error(words, _wrong_channels(layer, shape))


def _check_batch(layer: Layer, shape: tuple[int, ...]) -> None:
    wanted, found = _channels(layer, shape)
    if not layer.running and prod(shape[2:]) * shape[0] == 1:
        remedy = _("Use a batch of at least two, or more than one position, or eval mode with running statistics.")
        raise _single_value_error("value per channel", shape, remedy)
    if words := _eps_refusal(layer.given["eps"], layer.running):
        raise _torch_error(words, _("Give a small eps, such as 1e-5."))
    if wanted != found and (layer.tracks or layer.affine):
        words = f"{'running_mean' if layer.tracks else 'weight'} should contain {found} elements not {wanted}"
        raise _torch_error(words, _wrong_channels(layer, shape))


def _eps_refusal(eps: float, running: bool) -> str:
    """torch's words if BatchNorm refuses the eps; older versions take any."""
    if eps > 0:
        return ""
    return _refusal(
        lambda: F.batch_norm(torch.zeros(2, 1), torch.zeros(1), torch.ones(1), training=not running, eps=eps)
    )


@cache
def momentum_refusal() -> str:
    """torch's words if InstanceNorm refuses momentum=None, as in older versions."""
    return _refusal(lambda: nn.InstanceNorm1d(1, momentum=None)(torch.zeros(1, 1, 2)))  # type: ignore[arg-type]


def _single_value_error(what: str, shape: Sequence[int], remedy: str) -> NormvizError:
    words = f"Expected more than 1 {what} when training, got input size torch.Size({list(shape)})"
    return _torch_error(
        words, _("The variance of one value is 0, so the output would not depend on x. {remedy}", remedy=remedy)
    )


def _channels(layer: Layer, shape: tuple[int, ...]) -> tuple[int, int]:
    """The number of channels that the layer has, and that x has."""
    axis = layer.kind.channel(len(shape))
    assert axis is not None
    return int(layer.given[_channels_argument(layer)]), shape[axis]


def _channels_argument(layer: Layer) -> str:
    return "num_features" if "num_features" in layer.given else "num_channels"


def _wrong_channels(layer: Layer, shape: tuple[int, ...]) -> str:
    channel, (wanted, found), argument = (
        layer.kind.channel(len(shape)),
        _channels(layer, shape),
        _channels_argument(layer),
    )
    assert channel is not None
    axis, remedy = channel % len(shape), layer.with_(**{argument: found})
    mismatch = _(
        "{layer} has {argument}={wanted}, and axis {axis} of x, its channel axis, has size {found} in {shape}",
        layer=layer.name,
        argument=argument,
        wanted=wanted,
        axis=axis,
        found=found,
        shape=shape,
    )
    if move := _move_channels(wanted, axis, shape):
        return _(
            "{mismatch}. {move} If axis {axis} holds the channels, write {remedy}.",
            mismatch=mismatch,
            move=move,
            axis=axis,
            remedy=remedy,
        )
    return _(
        "{mismatch}; write {remedy}, or move the channels to axis {axis}.", mismatch=mismatch, remedy=remedy, axis=axis
    )


def _move_channels(wanted: int, axis: int, shape: tuple[int, ...]) -> str:
    """How to move the channels to ``axis``, if another axis than the batch has as many elements as the layer wants; otherwise ""."""
    last = len(shape) - 1
    other = next((other for other in range(last, 0, -1) if other != axis and shape[other] == wanted), None)
    if other is None:
        return ""
    moved = ", ".join("-1" if one == last else str(one) for one in (other, axis))
    return _(
        "If the channels are on axis {other}, of size {wanted}, move them to axis {axis}: x.movedim({moved}).",
        other=other,
        wanted=wanted,
        axis=axis,
        moved=moved,
    )


def _commas(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))
