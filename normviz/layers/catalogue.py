"""The catalogue: every layer as data, with its arguments, its layouts and its rule.

A *rule* computes the statistics pattern and the parameter axes from the arguments and the axis names of x. Source: the torch.nn reference pages and ``torch/nn/functional.py`` of torch 2.13.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from math import inf, nan
from numbers import Integral, Real
from typing import Any

import torch
from torch import Tensor, nn

from normviz.layers.axes import MAX_RANK, example_axis
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import _

Arguments = Mapping[str, Any]
REQUIRED = object()


@dataclass(frozen=True)
class Argument:
    """One argument of a layer: its name, its kind of value (a key of ``READERS``), its default, and whether torch has it, too."""

    name: str
    takes: str
    default: Any = REQUIRED
    keyword_only: bool = False
    in_torch: bool = True


@dataclass(frozen=True)
class Patterns:
    """The result of a rule: the statistics pattern, the axes of gamma, and the sizes of split axes."""

    stats: str
    params: str
    sizes: tuple[tuple[str, int], ...] = ()


Rule = Callable[[Arguments, tuple[str, ...], bool], Patterns]  # arguments, axes, whether running statistics are used


@dataclass(frozen=True)
class Kind:
    """One layer class.

    layouts        the default layout for each rank
    stem           the first letters of the default layout for other ranks; D1, D2, ... follow
    ranks          the lowest and the highest rank of x; None for no highest.
    module         the class of torch, or of this file if it moves the channels of x for a layer of torch; None if there is none.
    channel_axis   the channel axis of x, or None; 0 if x has no batch axis.
    unbatched_rank the rank of an x without a batch axis (InstanceNorm), or None.
    missing        arguments that the installed torch does not have; they are not in ``arguments``.
    """

    name: str
    family: str
    arguments: tuple[Argument, ...]
    rule: Rule
    layouts: Mapping[int, str]
    ranks: tuple[int, int | None]
    module: type[nn.Module] | None
    stem: str = "N"
    center: bool = True
    channel_axis: int | None = None
    unbatched_rank: int | None = None
    source: str = ""
    missing: tuple[str, ...] = ()

    def layout(self, rank: int) -> str:
        """The default layout of an x of that rank."""
        numbered = "".join(f"D{i}" for i in range(1, rank - len(self.stem) + 1))
        return self.layouts.get(rank, self.stem + numbered)

    @property
    def siblings(self) -> tuple[Kind, ...]:
        """The kinds of the family with the same channel axis, including this one: BatchNorm1d, BatchNorm2d, ..."""
        return tuple(kind for kind in FAMILIES[self.family] if kind.channel_axis == self.channel_axis)

    @property
    def channels_last(self) -> bool:
        """Whether this is a layer of torch on x with its last axis moved to axis 1."""
        return self.module is not None and issubclass(self.module, MovesChannels)

    @property
    def in_torch(self) -> bool:
        """Whether torch.nn has the layer."""
        return self.module is not None and not self.channels_last

    @property
    def eps_may_be_none(self) -> bool:
        """Whether eps=None means the machine epsilon."""
        return any(argument.takes == "eps or None" for argument in self.arguments)

    @property
    def per_instance(self) -> bool:
        """Whether the layer normalizes each channel of each example alone."""
        return self.family == "InstanceNorm"

    def takes_rank(self, rank: int) -> bool:
        low, high = self.ranks
        return low <= rank and (high is None or rank <= high)

    def channel(self, rank: int) -> int | None:
        """The channel axis of an x of that rank, or None."""
        return 0 if rank == self.unbatched_rank else self.channel_axis

    def suits(self, axes: tuple[str, ...]) -> bool:
        """Whether an x with these axes is what the layer is meant for: its channels are C, and not the batch; each example is on axis 0.

        >>> KINDS["BatchNorm1d"].suits(("n", "c", "l")), KINDS["BatchNorm1d"].suits(("n", "l", "c"))
        (True, False)
        """
        rank, batch = len(axes), example_axis(axes)
        channel = self.channel(rank)
        if not self.takes_rank(rank) or channel is None or self.rule is _over_one_axis:
            return self.takes_rank(rank)
        on_channels = axes[channel] == "c" if "c" in axes else channel % rank != batch
        if not (self.per_instance or any(argument.name == "num_groups" for argument in self.arguments)):
            return on_channels
        return on_channels and (batch is None if channel == 0 else batch == 0 or (batch is None and "c" not in axes))


def _pattern(axes: tuple[str, ...], kept: tuple[str, ...]) -> str:
    return f"{' '.join(axes)} -> {' '.join(kept)}"


def _trailing(given: Arguments, axes: tuple[str, ...], running: bool) -> Patterns:
    depth = len(given["normalized_shape"])
    return Patterns(_pattern(axes, axes[: len(axes) - depth]), " ".join(axes[len(axes) - depth :]))


def _per_channel(channel: int) -> Rule:
    def rule(given: Arguments, axes: tuple[str, ...], running: bool) -> Patterns:
        return Patterns(_pattern(axes, (axes[channel],)), axes[channel])

    return rule


def _per_instance(channel: int, unbatched: int | None) -> Rule:
    def rule(given: Arguments, axes: tuple[str, ...], running: bool) -> Patterns:
        is_batch = len(axes) != unbatched
        letter = axes[channel] if is_batch else axes[0]
        return Patterns(_pattern(axes, (axes[0], letter) if is_batch and not running else (letter,)), letter)

    return rule


def _per_group(channel: int) -> Rule:
    def rule(given: Arguments, axes: tuple[str, ...], running: bool) -> Patterns:
        group, member = (next(name for name in names if name not in axes) for names in (("g", "g0"), ("k", "k0")))
        split = tuple(f"({group} {member})" if axis == axes[channel] else axis for axis in axes)
        return Patterns(_pattern(split, (axes[0], group)), axes[channel], ((group, given["num_groups"]),))

    return rule


def _over_channels(given: Arguments, axes: tuple[str, ...], running: bool) -> Patterns:
    return Patterns(_pattern(axes, (axes[0], *axes[2:])), axes[1])


def _over_one_axis(given: Arguments, axes: tuple[str, ...], running: bool) -> Patterns:
    dim = given["dim"]
    if not -len(axes) <= dim < len(axes):
        raise NormvizError(
            _("dim={dim} is not an axis of a tensor of rank {rank}; give one from {low} to {high}."),
            dim=dim,
            rank=len(axes),
            low=-len(axes),
            high=len(axes) - 1,
        )
    reduced = axes[dim]
    return Patterns(_pattern(axes, tuple(axis for axis in axes if axis != reduced)), axes[-1])


EPS, AFFINE, BIAS = Argument("eps", "eps", 1e-5), Argument("affine", "flag", True), Argument("bias", "flag", True)
BIAS_BY_NAME = Argument("bias", "flag", True, keyword_only=True)
FEATURES, MOMENTUM = Argument("num_features", "size"), Argument("momentum", "momentum", 0.1)
SHAPE = Argument("normalized_shape", "shape")
ELEMENTWISE = Argument("elementwise_affine", "flag", True)
ZERO_CENTERED = Argument("zero_centered_gamma", "flag", False, keyword_only=True, in_torch=False)
TRACK = Argument("track_running_stats", "flag", True)

BATCH_ARGUMENTS = (FEATURES, EPS, MOMENTUM, AFFINE, TRACK, BIAS_BY_NAME)
INSTANCE_ARGUMENTS = (
    FEATURES,
    EPS,
    MOMENTUM,
    Argument("affine", "flag", False),
    Argument("track_running_stats", "flag", False),
    BIAS_BY_NAME,
)
GROUP_ARGUMENTS = (Argument("num_groups", "size"), Argument("num_channels", "size"), EPS, AFFINE, BIAS_BY_NAME)
LAYER_NORM_LAYOUTS = {1: "D", 2: "ND", 3: "NLC", 4: "NCHW", 5: "NCDHW"}
CHANNELS_FIRST_LAYOUTS = {2: "ND", 3: "NCL", 4: "NCHW", 5: "NCDHW"}
CHANNELS_LAST_LAYOUTS = {1: "D", 2: "ND", 3: "NLC", 4: "NHWC", 5: "NDHWC"}


class MovesChannels(nn.Module):
    """A layer of torch for the channels of axis 1, on an x with the channels on the last axis: they are moved there and back.

    The positions are one axis meanwhile: with moved channels, the gradient of InstanceNorm2d of torch 2.13 is wrong for one image.
    """

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = super().forward(x.flatten(1, -2).transpose(1, 2))
        return y.transpose(1, 2).reshape(x.shape)


class ChannelsLastBatchNorm(MovesChannels, nn.BatchNorm1d): ...


class ChannelsLastInstanceNorm(MovesChannels, nn.InstanceNorm1d): ...


class ChannelsLastGroupNorm(MovesChannels, nn.GroupNorm): ...


def _batch_norm(name: str, low: int, high: int | None, module: type[nn.Module], family: str = "BatchNorm") -> Kind:
    return Kind(
        name, family, BATCH_ARGUMENTS, _per_channel(1), CHANNELS_FIRST_LAYOUTS, (low, high), module,
        stem="NC", channel_axis=1, source="Ioffe & Szegedy 2015",
    )  # fmt: skip


def _instance_norm(name: str, rank: int, layouts: Mapping[int, str], module: type[nn.Module]) -> Kind:
    return Kind(
        name, "InstanceNorm", INSTANCE_ARGUMENTS, _per_instance(1, rank - 1), layouts, (rank - 1, rank), module,
        channel_axis=1, unbatched_rank=rank - 1, source="Ulyanov et al. 2016",
    )  # fmt: skip


def _channels_last(module: type[nn.Module], family: str, arguments: tuple[Argument, ...], rule: Rule) -> Kind:
    layouts = {rank: CHANNELS_LAST_LAYOUTS[rank] for rank in (3, 4, 5)}
    return Kind(module.__name__, family, arguments, rule, layouts, (3, 5), module, channel_axis=-1)


def as_installed(kind: Kind) -> Kind:
    """The kind with the arguments of the installed torch: older versions have no ``bias`` of BatchNorm, InstanceNorm and GroupNorm."""
    if kind.module is None:
        return kind
    known = signature(kind.module).parameters
    missing = tuple(one.name for one in kind.arguments if one.in_torch and one.name not in known)
    arguments = tuple(argument for argument in kind.arguments if argument.name not in missing)
    return replace(kind, arguments=arguments, missing=missing)


ABSENT = tuple(name for name in ("RMSNorm",) if not hasattr(nn, name))  # layers that the installed torch does not have


KINDS: dict[str, Kind] = {
    kind.name: as_installed(kind)
    for kind in (
        Kind(
            "LayerNorm", "LayerNorm", (SHAPE, EPS, ELEMENTWISE, BIAS, ZERO_CENTERED), _trailing, LAYER_NORM_LAYOUTS, (1, None),
            nn.LayerNorm, source="Ba, Kiros & Hinton 2016",
        ),
        Kind(
            "RMSNorm", "RMSNorm", (SHAPE, Argument("eps", "eps or None", None), ELEMENTWISE, ZERO_CENTERED), _trailing,
            LAYER_NORM_LAYOUTS, (1, None), getattr(nn, "RMSNorm", None), center=False, source="Zhang & Sennrich 2019",
        ),
        _batch_norm("BatchNorm1d", 2, 3, nn.BatchNorm1d),
        _batch_norm("BatchNorm2d", 4, 4, nn.BatchNorm2d),
        _batch_norm("BatchNorm3d", 5, 5, nn.BatchNorm3d),
        _batch_norm("SyncBatchNorm", 2, None, nn.SyncBatchNorm, "SyncBatchNorm"),
        _instance_norm("InstanceNorm1d", 3, {2: "CL", 3: "NCL"}, nn.InstanceNorm1d),
        _instance_norm("InstanceNorm2d", 4, {3: "CHW", 4: "NCHW"}, nn.InstanceNorm2d),
        _instance_norm("InstanceNorm3d", 5, {4: "CDHW", 5: "NCDHW"}, nn.InstanceNorm3d),
        Kind(
            "GroupNorm", "GroupNorm",
            GROUP_ARGUMENTS, _per_group(1), CHANNELS_FIRST_LAYOUTS, (2, None), nn.GroupNorm, stem="NC", channel_axis=1, source="Wu & He 2018",
        ),
        _channels_last(ChannelsLastBatchNorm, "BatchNorm", BATCH_ARGUMENTS, _per_channel(-1)),
        _channels_last(ChannelsLastInstanceNorm, "InstanceNorm", INSTANCE_ARGUMENTS, _per_instance(-1, None)),
        _channels_last(ChannelsLastGroupNorm, "GroupNorm", GROUP_ARGUMENTS, _per_group(-1)),
        Kind(
            "ChannelsFirstLayerNorm", "ChannelsFirstLayerNorm",
            (Argument("num_channels", "size"), Argument("eps", "eps", 1e-6)), _over_channels, CHANNELS_FIRST_LAYOUTS, (2, None),
            None, stem="NC", channel_axis=1, source="ConvNeXt (Liu et al. 2022)",
        ),
        Kind(
            "DimNorm", "DimNorm",
            (FEATURES, Argument("dim", "axis", -1), Argument("eps", "eps", 1e-12)), _over_one_axis, CHANNELS_LAST_LAYOUTS,
            (1, None), None, channel_axis=-1,
        ),
    )
    if kind.name not in ABSENT
}  # fmt: skip

FAMILIES: dict[str, tuple[Kind, ...]] = {
    family: tuple(kind for kind in KINDS.values() if kind.family == family)
    for family in dict.fromkeys(kind.family for kind in KINDS.values())
}


COMPLETE = not ABSENT and not any(kind.missing for kind in KINDS.values())  # whether the installed torch has all of it
CALL = re.compile(r"(\w+)\(([^()]*)")


def is_in_torch(text: str) -> bool:
    """Whether the installed torch has every layer that is written in the text, with its arguments.

    >>> is_in_torch("shape=2,3&layers=LayerNorm(3);BatchNorm1d(3,eps=1e-3)")
    True
    """
    return not any(
        name in ABSENT or (name in KINDS and any(f"{argument}=" in given for argument in KINDS[name].missing))
        for name, given in CALL.findall(text)
    )


# Read the arguments of a layer, one by one or from a torch module: return plain Python types, or raise NormvizError with the rule.

LARGEST_SIZE = 2**40


def _is_int(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_size(value: Any) -> bool:
    return _is_int(value) and 1 <= value <= LARGEST_SIZE


def _as_float(value: object) -> float:
    """The value as a float; NaN, which is in no range, if it is not a number."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else nan
    except OverflowError:
        return inf


def _check(valid: bool, message: str, name: str, value: object) -> None:
    if not valid:
        raise NormvizError(message, name=name, value=echo(value), largest=LARGEST_SIZE)


def read_size(name: str, value: Any) -> int:
    too_large = _is_int(value) and value > LARGEST_SIZE
    _check(not too_large, _("{name}={value} must be a whole number from 1 to {largest:,}."), name, value)
    _check(_is_size(value), _("{name}={value} must be a whole number of at least 1."), name, value)
    return int(value)


def _read_shape(name: str, value: Any) -> tuple[int, ...]:
    sizes = tuple(value) if isinstance(value, list | tuple) else (value,)
    message = _("{name}={value} must be a size or a list of the last sizes of x, each at least 1, as in [3, 4, 4].")
    _check(1 <= len(sizes) <= MAX_RANK and all(map(_is_size, sizes)), message, name, value)
    return tuple(map(int, sizes))


def read_flag(name: str, value: Any) -> bool:
    _check(isinstance(value, bool), _("{name}={value} must be True or False."), name, value)
    return bool(value)


def read_eps(name: str, value: Any) -> float:
    _check(abs(_as_float(value)) < inf, _("{name}={value} must be a finite number, such as 1e-5."), name, value)
    return float(value) + 0.0  # -0.0 is written as 0.0, so that equal layers have the same text


def read_eps_or_none(name: str, value: Any) -> float | None:
    return None if value is None else read_eps(name, value)


def _read_momentum(name: str, value: Any) -> float | None:
    message = _("{name}={value} must be a number from 0 to 1, or None for a cumulative average.")
    _check(value is None or 0 <= _as_float(value) <= 1, message, name, value)
    return None if value is None else float(value) + 0.0


def _read_axis(name: str, value: Any) -> int:
    message = _("{name}={value} must be the number of an axis, such as 0 or -1.")
    _check(_is_int(value) and abs(value) <= MAX_RANK, message, name, value)
    return int(value)


READERS: Mapping[str, Callable[[str, Any], Any]] = {
    "size": read_size,
    "shape": _read_shape,
    "flag": read_flag,
    "eps": read_eps,
    "eps or None": read_eps_or_none,
    "momentum": _read_momentum,
    "axis": _read_axis,
}

MOST_NAMED = 3  # layers of a model in a message


def kind_of_module(module: nn.Module) -> Kind:
    """The kind of a torch module. Raises NormvizError if it is not in the catalogue, or has a forward of its own."""
    kind = _kind(module)
    if kind is None:
        raise _not_a_layer(module)
    if kind.module is not None and type(module).forward is not kind.module.forward:
        raise _own_forward(module, kind)
    return kind


def _kind(module: nn.Module) -> Kind | None:
    found = [kind for kind in KINDS.values() if kind.module and isinstance(module, kind.module)]
    return next((kind for kind in found if kind.module is type(module)), found[0] if found else None)


def _not_a_layer(module: nn.Module) -> NormvizError:
    """A model: name the layers in it. Another module: name the layers of the catalogue."""
    found = [(name, child) for name, child in module.named_modules() if name and _kind(child)]
    if found:
        named = [f"{name!r} ({type(child).__name__})" for name, child in found[:MOST_NAMED]]
        if len(found) > MOST_NAMED:
            named.append(_("{n:,} more", n=len(found) - MOST_NAMED))
        return NormvizError(
            _("{module} is a model, not one layer. It contains {layers}; give one of them, as in model.get_submodule({name!r}), or list all with nv.norms(model, x)."),
            module=type(module).__name__, layers=listed(named, "and"), name=found[0][0],
        )  # fmt: skip
    names = listed([kind.name for kind in KINDS.values() if kind.in_torch])
    return NormvizError(
        _("{module} is not a normalization layer of torch.nn; give a Norm, or {layers}."),
        module=type(module).__name__, layers=names,
    )  # fmt: skip


def _own_forward(module: nn.Module, kind: Kind) -> NormvizError:
    """A subclass, such as the LayerNorm2d of ConvNeXt, which permutes x around the forward of LayerNorm."""
    sizes: tuple[int, ...] = getattr(module, "normalized_shape", ())
    if kind.name == "LayerNorm" and len(sizes) == 1:
        return NormvizError(
            _(
                "{module} overrides the forward of LayerNorm. If it normalizes over the channels of (N, C, H, W), as in ConvNeXt, "
                "give 'ChannelsFirstLayerNorm({size}, eps={eps})' instead; otherwise describe it with a Norm, as in Norm('n c h w -> n h w', 'c')."
            ),
            module=type(module).__name__, size=sizes[0], eps=module.eps,
        )  # fmt: skip
    return NormvizError(
        _(
            "{module} overrides the forward of {layer}, so it may use other statistics; describe it with a Norm, as in "
            "Norm('n c h w -> n h w', 'c')."
        ),
        module=type(module).__name__, layer=kind.name,
    )  # fmt: skip


def _torch_version() -> str:
    return ".".join(torch.__version__.split(".")[:2])


def not_in_torch(kind: Kind, name: str) -> NormvizError:
    """The error for an argument in ``kind.missing``."""
    return NormvizError(
        _("torch {version} has no {name} of {layer}; install a newer torch, or describe the layer with a Norm."),
        version=_torch_version(), name=name, layer=kind.name,
    )  # fmt: skip


def layer_not_in_torch(name: str) -> NormvizError:
    """The error for a layer in ``ABSENT``."""
    return NormvizError(
        _("torch {version} has no nn.{layer}; install a newer torch, or describe the layer with a Norm, as in {norm}."),
        version=_torch_version(), layer=name, norm="Norm('n d -> n', 'd', center=False, bias=False)",
    )  # fmt: skip


def module_arguments(module: nn.Module, kind: Kind) -> dict[str, Any]:
    """The arguments of a module, read from its attributes. Raises NormvizError if no arguments give its gamma and beta."""
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if weight is None and bias is not None:
        raise NormvizError(
            _("this {layer} has a beta and no gamma; give it a weight of ones, or describe it with a Norm."),
            layer=kind.name,
        )
    if weight is not None and bias is None and "bias" in kind.missing:
        raise not_in_torch(kind, "bias=False")
    found: dict[str, Any] = {}
    for argument in kind.arguments:
        if argument.name in ("affine", "elementwise_affine"):
            found[argument.name] = weight is not None
        elif argument.name == "bias":
            found[argument.name] = bias is not None or weight is None
        elif argument.name == "track_running_stats" and not kind.per_instance:
            found[argument.name] = module.running_mean is not None  # as in torch's forward
        elif argument.in_torch:
            found[argument.name] = getattr(module, argument.name)
    return found
