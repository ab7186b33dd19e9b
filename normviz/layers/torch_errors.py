"""Where torch refuses an input: its own words, what they mean, and what to do.

``check(layer, shape)`` is silent where torch's forward would run, and raises NormvizError where it would not.
The quoted words are those of torch 2.13; a test compares each with what torch really says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from normviz.layers.axes import divisors
from normviz.layers.errors import NormvizError, listed

if TYPE_CHECKING:
    from normviz.layers.layer import Layer

MOST_LISTED = 15


def check(layer: Layer, shape: tuple[int, ...]) -> None:
    """Raise NormvizError unless ``layer`` takes an x of that shape. Layers that torch lacks keep rules of their own.

    The rules stand in torch's order, so that the first that is broken is the one torch speaks of.
    """
    given, kind = layer.given, layer.kind
    if "num_groups" in given:
        _check_divides(given["num_channels"], given["num_groups"])
    _check_rank(layer, shape)
    if "normalized_shape" in given:
        _check_trailing(layer.name, given["normalized_shape"], shape)
    elif "num_groups" in given:
        _check_groups(given, shape)
    elif kind.module is None:
        _check_gamma(layer, shape)
    elif kind.per_instance:
        _check_instance(layer, shape)
    else:
        _check_batch(layer, shape)


def _quote(words: str, meaning: str) -> NormvizError:
    return NormvizError(f'torch refuses: "{words}". {meaning}')


def _check_rank(layer: Layer, shape: tuple[int, ...]) -> None:
    rank, (low, high) = len(shape), layer.kind.ranks
    if layer.kind.takes_rank(rank):
        return
    takes = f"at least {low}D" if high is None else listed([f"{r}D" for r in range(low, high + 1)])
    found = f"{rank} {'axis' if rank == 1 else 'axes'}, shape {shape}"
    if layer.kind.module is None:
        raise NormvizError(f"{layer.name} takes an x with {takes.replace('D', '')} axes, and this one has {found}.")
    if layer.name == "GroupNorm":
        words = f"Expected at least 2 dimensions for input tensor but received {rank}"
    else:
        words = f"expected {takes} input (got {rank}D input)"
    fitting = [kind.name for kind in layer.kind.siblings if kind.takes_rank(rank)]
    remedy = f"For this x use {listed(fitting)}." if fitting else f"Give an x with {takes.replace('D', '')} axes."
    raise _quote(words, f"x has {found}. {remedy}")


def _check_trailing(name: str, wanted: tuple[int, ...], shape: tuple[int, ...]) -> None:
    if shape[-len(wanted) :] == wanted:
        return
    gap = "" if name == "RMSNorm" else ", "  # torch's RMSNorm leaves the comma out
    words = (
        f"Given normalized_shape={list(wanted)}, expected input with shape [*{gap}{_commas(wanted)}], "
        f"but got input of size[{_commas(shape)}]"
    )
    if name == "RMSNorm" and len(shape) < len(wanted):
        words = f"Input tensor must have at least {len(wanted)} dimensions, but got {len(shape)}"
    endings = listed([list(shape[start:]) for start in range(len(shape))])
    raise _quote(
        words, f"normalized_shape must be the last sizes of x, here {endings}.{_elsewhere(name, wanted, shape)}"
    )


def _elsewhere(name: str, wanted: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Where the wanted size stands, if it is one size and does not stand last."""
    places = [axis for axis, size in enumerate(shape[:-1]) if wanted == (size,)]
    if not places:
        return ""
    axis = 1 if 1 in places else places[0]
    instead = " or use ChannelsFirstLayerNorm" if axis == 1 and name == "LayerNorm" else ""
    return f" Axis {axis} has size {shape[axis]}: to normalize over it, move it to the end (x.movedim({axis}, -1)){instead}."


def _check_divides(channels: int, groups: int) -> None:
    if channels % groups == 0:
        return
    numbers: list[object] = [*divisors(channels)]
    if len(numbers) > MOST_LISTED:
        numbers = [*numbers[: MOST_LISTED - 3], "…", *numbers[-2:]]
    raise _quote(
        f"num_channels ({channels}) must be divisible by num_groups ({groups})",
        f"C={channels} channels cannot be split into {groups} equal groups; num_groups must be {listed(numbers)}.",
    )


def _check_groups(given: Mapping[str, Any], shape: tuple[int, ...]) -> None:
    groups, channels, found = given["num_groups"], given["num_channels"], shape[1]
    seen = [shape[0] * found // groups, groups, *shape[2:]]  # torch takes the product without num_groups
    if seen[0] * prod(shape[2:]) == 1:
        words = f"Expected more than 1 value per channel when training, got input size {seen}"
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
    remedies = [f"write num_channels={found}"] if found != channels else []
    remedies += ["choose a num_groups that divides it"] if found % groups else []
    if remedies:
        raise _quote(words, f"x has {found} channels on axis 1; {' and '.join(remedies)}.")
    raise _quote(words, "Each group has one value, which has no spread. Use fewer groups, or more than one position.")


def _check_gamma(layer: Layer, shape: tuple[int, ...]) -> None:
    wanted, found = _channels(layer, shape)
    if wanted != found:
        raise NormvizError(f"gamma has {wanted} elements and its axis of x has {found}. {_other_size(layer, shape)}")


def _check_instance(layer: Layer, shape: tuple[int, ...]) -> None:
    wanted, found = _channels(layer, shape)
    axis, unbatched = layer.kind.channel(len(shape)), len(shape) == layer.kind.unbatched_rank
    if layer.affine and wanted != found:
        words = f"expected input's size at dim={axis} to match num_features ({wanted}), but got: {found}."
        raise _quote(words, _other_size(layer, shape))
    seen = (1, *shape) if unbatched else shape
    if not layer.running and prod(seen[2:]) == 1:
        also = ", or eval mode with running statistics" if layer.tracks else ""
        raise _one_value("spatial element", seen, f"Use a larger height, width or length{also}.")
    if layer.tracks and wanted != found:
        words = f"running_mean should contain {seen[0] * found} elements not {seen[0] * wanted}"
        raise _quote(words, _other_size(layer, shape))


def _check_batch(layer: Layer, shape: tuple[int, ...]) -> None:
    wanted, found = _channels(layer, shape)
    if not layer.running and prod(shape[2:]) * shape[0] == 1:
        remedy = "Use a batch of at least two, or more than one position, or eval mode with running statistics."
        raise _one_value("value per channel", shape, remedy)
    eps = layer.given["eps"]
    if eps < 0 or (eps == 0 and not layer.running):
        words = "non-negative" if layer.running else "positive during training"
        raise _quote(f"batch_norm eps must be {words}, but got {eps}", "Give a small eps, such as 1e-5.")
    if wanted != found and (layer.tracks or layer.affine):
        words = f"{'running_mean' if layer.tracks else 'weight'} should contain {found} elements not {wanted}"
        raise _quote(words, _other_size(layer, shape))


def _one_value(what: str, seen: Sequence[int], remedy: str) -> NormvizError:
    return _quote(
        f"Expected more than 1 {what} when training, got input size torch.Size({list(seen)})",
        f"One value has no spread: its variance is 0, and it would normalize to 0 whatever x is. {remedy}",
    )


def _channels(layer: Layer, shape: tuple[int, ...]) -> tuple[int, int]:
    """The number of channels that the layer was made for, and that of x."""
    axis = layer.kind.channel(len(shape))
    assert axis is not None
    return int(layer.given[_channels_argument(layer)]), shape[axis]


def _channels_argument(layer: Layer) -> str:
    return "num_features" if "num_features" in layer.given else "num_channels"


def _other_size(layer: Layer, shape: tuple[int, ...]) -> str:
    axis, (_, found) = layer.kind.channel(len(shape)), _channels(layer, shape)
    assert axis is not None
    return (
        f"{layer.name} takes axis {axis % len(shape)} of x as the channel axis, and it has {found} channels in {shape}; "
        f"write {layer.with_(**{_channels_argument(layer): found})}, or move the channels there."
    )


def _commas(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))
