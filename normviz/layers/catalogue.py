"""The catalogue: every layer as data, with its arguments, its layouts and its rule. A new layer is one entry of ``KINDS``.

A *rule* computes the statistics pattern and the parameter axes from the arguments and the axis names of x. Source: the torch.nn reference
pages and ``torch/nn/functional.py`` of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import signature
from itertools import chain, product
from typing import Any

from torch import Tensor, nn

from normviz.layers.axes import example_axis, layout_text
from normviz.texts.errors import NormvizError
from normviz.texts.messages import N_

Arguments = Mapping[str, Any]
REQUIRED = object()
SIZES = ("size", "groups", "shape", "axis")  # what arguments take that depend on the shape of x


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

    example        the arguments of an example, as text
    layouts        the default layout for each rank
    stem           the first letters of the default layout for other ranks; D1, D2, ... follow
    ranks          the lowest and the highest rank of x; None for no highest.
    module         the class of torch, or of this file if it moves the channels of x for a layer of torch; None if there is none.
    channel_axis   the channel axis of x, or None; 0 if x has no batch axis.
    unbatched_rank the rank of an x without a batch axis (InstanceNorm), or None.
    missing        arguments that the installed torch does not have, and that are not in ``arguments``.
    label          how lists call the family; "": by its name.
    place          the place of the family in lists of layers; 0: in none, as SyncBatchNorm, which is BatchNorm on several devices.
    """

    name: str
    family: str
    arguments: tuple[Argument, ...]
    example: str
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
    label: str = ""
    place: int = 0

    def layout(self, rank: int) -> str:
        """The default layout of an x of that rank."""
        if rank < len(self.stem):  # too few axes for the layer: no letter says what they are
            return LAYER_NORM_LAYOUTS[rank]
        if rank in self.layouts:
            return self.layouts[rank]
        return self.stem + "".join(f"D{i}" for i in range(1, rank - len(self.stem) + 1))

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
    def sizes(self) -> tuple[Argument, ...]:
        """The arguments that depend on the shape of x."""
        return tuple(argument for argument in self.arguments if argument.takes in SIZES)

    @cached_property
    def options(self) -> tuple[Argument, ...]:
        """The arguments that do not depend on the shape of x."""
        return tuple(argument for argument in self.arguments if argument.takes not in SIZES)

    def has(self, name: str) -> bool:
        """Whether it has an argument of this name."""
        return any(argument.name == name for argument in self.arguments)

    @cached_property
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
        if not (self.per_instance or self.has("num_groups")):
            return on_channels
        return on_channels and (batch is None if channel == 0 else batch == 0 or (batch is None and "c" not in axes))

    def sizes_on(self, shape: tuple[int, ...], groups: Iterable[int] = (1,)) -> Iterator[dict[str, Any]]:
        """The arguments that depend on the shape of x, in each way that this kind may have them; with these numbers of groups, if they divide.

        >>> list(KINDS["LayerNorm"].sizes_on((2, 3)))
        [{'normalized_shape': (3,)}, {'normalized_shape': (2, 3)}]
        >>> list(KINDS["GroupNorm"].sizes_on((2, 6), range(2, 5)))
        [{'num_groups': 2, 'num_channels': 6}, {'num_groups': 3, 'num_channels': 6}]
        """
        if not self.takes_rank(len(shape)):
            return
        channel = self.channel(len(shape))
        size = 1 if channel is None else shape[channel]
        choices: dict[str, Iterable[Any]] = {
            "shape": [shape[start:] for start in reversed(range(len(shape)))],
            "axis": range(len(shape)),
            "size": [size],
            "groups": [number for number in groups if size % number == 0],
        }
        of_arguments = {argument.name: choices[argument.takes] for argument in self.sizes}
        for values in product(*of_arguments.values()):
            yield dict(zip(of_arguments, values, strict=True))


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
            "dim={dim} is not an axis of a tensor of rank {rank}; give one from {low} to {high}.",
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
GROUP_ARGUMENTS = (Argument("num_groups", "groups"), Argument("num_channels", "size"), EPS, AFFINE, BIAS_BY_NAME)
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


def _batch_norm(
    name: str, low: int, high: int | None, module: type[nn.Module], family: str = "BatchNorm", place: int = 1
) -> Kind:
    return Kind(
        name, family, BATCH_ARGUMENTS, "3", _per_channel(1), CHANNELS_FIRST_LAYOUTS, (low, high), module,
        stem="NC", channel_axis=1, source="Ioffe & Szegedy 2015", place=place,
    )  # fmt: skip


def _instance_norm(name: str, rank: int, layouts: Mapping[int, str], module: type[nn.Module]) -> Kind:
    return Kind(
        name, "InstanceNorm", INSTANCE_ARGUMENTS, "3", _per_instance(1, rank - 1), layouts, (rank - 1, rank), module,
        channel_axis=1, unbatched_rank=rank - 1, source="Ulyanov et al. 2016", place=4,
    )  # fmt: skip


def _channels_last(
    module: type[nn.Module], family: str, arguments: tuple[Argument, ...], example: str, rule: Rule, place: int
) -> Kind:
    layouts = {rank: CHANNELS_LAST_LAYOUTS[rank] for rank in (3, 4, 5)}
    return Kind(
        module.__name__, family, arguments, example, rule, layouts, (3, 5), module, channel_axis=-1, place=place
    )


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
            "LayerNorm", "LayerNorm", (SHAPE, EPS, ELEMENTWISE, BIAS, ZERO_CENTERED), "[3, 4, 4]", _trailing,
            LAYER_NORM_LAYOUTS, (1, None), nn.LayerNorm, source="Ba, Kiros & Hinton 2016", place=2,
        ),
        Kind(
            "RMSNorm", "RMSNorm", (SHAPE, Argument("eps", "eps or None", None), ELEMENTWISE, ZERO_CENTERED), "4", _trailing,
            LAYER_NORM_LAYOUTS, (1, None), getattr(nn, "RMSNorm", None), center=False, source="Zhang & Sennrich 2019",
            place=3,
        ),
        _batch_norm("BatchNorm1d", 2, 3, nn.BatchNorm1d),
        _batch_norm("BatchNorm2d", 4, 4, nn.BatchNorm2d),
        _batch_norm("BatchNorm3d", 5, 5, nn.BatchNorm3d),
        _batch_norm("SyncBatchNorm", 2, None, nn.SyncBatchNorm, "SyncBatchNorm", 0),
        _instance_norm("InstanceNorm1d", 3, {2: "CL", 3: "NCL"}, nn.InstanceNorm1d),
        _instance_norm("InstanceNorm2d", 4, {3: "CHW", 4: "NCHW"}, nn.InstanceNorm2d),
        _instance_norm("InstanceNorm3d", 5, {4: "CDHW", 5: "NCDHW"}, nn.InstanceNorm3d),
        Kind(
            "GroupNorm", "GroupNorm", GROUP_ARGUMENTS, "2, 4", _per_group(1), CHANNELS_FIRST_LAYOUTS, (2, None),
            nn.GroupNorm, stem="NC", channel_axis=1, source="Wu & He 2018", place=5,
        ),
        _channels_last(ChannelsLastBatchNorm, "BatchNorm", BATCH_ARGUMENTS, "3", _per_channel(-1), 1),
        _channels_last(ChannelsLastInstanceNorm, "InstanceNorm", INSTANCE_ARGUMENTS, "3", _per_instance(-1, None), 4),
        _channels_last(ChannelsLastGroupNorm, "GroupNorm", GROUP_ARGUMENTS, "2, 4", _per_group(-1), 5),
        Kind(
            "ChannelsFirstLayerNorm", "ChannelsFirstLayerNorm",
            (Argument("num_channels", "size"), Argument("eps", "eps", 1e-6)), "3", _over_channels, CHANNELS_FIRST_LAYOUTS,
            (2, None), None, stem="NC", channel_axis=1, source="ConvNeXt (Liu et al. 2022)",
            label=N_("LayerNorm, C first"), place=6,
        ),
        Kind(
            "DimNorm", "DimNorm",
            (FEATURES, Argument("dim", "axis", -1), Argument("eps", "eps", 1e-12)), "3, dim=0", _over_one_axis,
            CHANNELS_LAST_LAYOUTS, (1, None), None, channel_axis=-1, label=N_("One axis (dim)"), place=7,
        ),
    )
    if kind.name not in ABSENT
}  # fmt: skip

FAMILIES: dict[str, tuple[Kind, ...]] = {
    family: tuple(kind for kind in KINDS.values() if kind.family == family)
    for family in dict.fromkeys(kind.family for kind in KINDS.values())
}


def kind_on(family: str, axes: tuple[str, ...]) -> Kind | None:
    """The kind of the family that takes an x with these axes, preferably the one with this default layout, or one that suits them; None if
    none takes that rank."""
    rank, layout = len(axes), layout_text(axes)
    kinds = [kind for kind in FAMILIES.get(family, ()) if kind.takes_rank(rank)]
    of_layout = (kind for kind in kinds if kind.layout(rank) == layout)
    suitable = (kind for kind in kinds if kind.suits(axes))
    return next(chain(of_layout, suitable, kinds), None)


def listed_families() -> list[str]:
    """The families in lists of layers, in order."""
    places = {family: kinds[0].place for family, kinds in FAMILIES.items() if kinds[0].place}
    return sorted(places, key=places.__getitem__)


def families_with_button() -> list[str]:
    """The families of torch in lists of layers. The families that subtract no mean are last."""
    names = [family for family in listed_families() if FAMILIES[family][0].in_torch]
    return sorted(names, key=lambda family: not FAMILIES[family][0].center)


COMPLETE = not ABSENT and not any(kind.missing for kind in KINDS.values())  # whether the installed torch has all of it
