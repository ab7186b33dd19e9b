"""A layer that fits a tensor: the same layer, the same idea or a layer of the family, on an x of another shape; remedies and look-alikes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any

from normviz.layers.arguments import layer_not_in_torch
from normviz.layers.axes import divisors, example_shape, layout_text, parse_layout
from normviz.layers.catalogue import ABSENT, FAMILIES, Argument, Kind, kind_on
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.torch_errors import allowed_ranks, check
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import _


def refit(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...], kind: Kind | None = None) -> Layer:
    """The layer with its size arguments changed to fit an x of ``shape``; of this kind, or of the family's kind for such an x.

    LayerNorm keeps its number of normalized axes. GroupNorm keeps its groups if the number of channels is the same; otherwise it takes
    the nearest number between 1 and the number of channels that divides it, if there is one.
    Raises NormvizError if no layer of the family takes that rank.

    >>> str(refit(Layer.make("LayerNorm", [3, 4, 4]), (2, 5, 6, 6), ("n", "c", "h", "w")))
    'LayerNorm([5, 6, 6])'
    """
    if kind is None or not kind.takes_rank(len(shape)):
        kind = kind_for(layer.kind.family, axes)
    options = {option.name: layer.given[option.name] for option in kind.options}
    return Layer.make(kind.name, training=layer.training, **options, **_sizes(kind, layer.given, shape, axes))


# The same idea on a tensor with other axes

C_FIRST = "ChannelsFirstLayerNorm"


def carried(
    layer: Layer, before: tuple[str, ...], shape: tuple[int, ...], axes: tuple[str, ...]
) -> tuple[Layer, str | None]:
    """The layer with the same idea on an x with other axes; and a sentence, if it has no counterpart and another layer takes its place.

    BatchNorm, InstanceNorm and GroupNorm stay with the channels. LayerNorm and RMSNorm that normalized the usual axes of the old x normalize
    the usual axes of the new x. If they normalized all axes but the first, they still do. Otherwise the letters of the axes stay the same.
    With the same axes, only sizes change.

    Raises NormvizError if the family has no layer for such an x, as InstanceNorm for (N, D).

    >>> nchw, nlc = ("n", "c", "h", "w"), ("n", "l", "c")
    >>> str(carried(Layer.make("LayerNorm", [4, 3, 5]), nchw, (2, 5, 4), nlc)[0])
    'LayerNorm([4])'
    >>> str(carried(Layer.make("BatchNorm2d", 4), nchw, (2, 5, 4), nlc)[0])
    'ChannelsLastBatchNorm(4)'
    """
    kind = layer.kind
    if before == axes:
        return refit(layer, shape, axes, kind), None
    if kind.channel_axis is None or kind.name == C_FIRST:
        return _carried_layer_norm(layer, before, shape, axes)
    if "dim" in layer.given:
        name, fit = before[layer.given["dim"]], refit(layer, shape, axes)
        if name in axes:
            return fit.with_(dim=axes.index(name)), None
        fit = fit.with_(dim=0)
        return fit, _no_counterpart(layer, before, fit, axes)
    return refit(layer, shape, axes, suitable_kind(kind.family, axes)), None


def layer_for(family: str, shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer:
    """``default_layer`` if it suits an x with these axes; on (N, C, L) for LayerNorm, the layer that normalizes over C.

    Raises NormvizError if the family has no layer for such an x, as InstanceNorm for (N, D).
    """
    suitable_kind(family, axes)
    default = default_layer(family, shape, axes)
    return (family == "LayerNorm" and _over(default, _usual_axes(axes), shape, axes)) or default


@lru_cache(maxsize=1024)
def suitable_kind(family: str, axes: tuple[str, ...]) -> Kind:
    """``kind_for``; raises NormvizError if it does not suit an x with these axes."""
    kind = kind_for(family, axes)
    if kind.suits(axes):
        return kind
    reason = _("It needs examples on axis 0, and C on axis 1 or on the last axis.")
    if family == "InstanceNorm" and len(axes) == 2:
        reason = _("A channel of an example has only one value there, and its variance is 0.")
    raise NormvizError(
        "{layer} has no form on ({axes}). {reason}", layer=family, axes=", ".join(axes).upper(), reason=reason
    )


def _no_counterpart(layer: Layer, before: tuple[str, ...], new: Layer, axes: tuple[str, ...]) -> str:
    return _(
        "{layer} on ({before}) has no counterpart on ({axes}), so {new} is shown.",
        layer=layer, before=", ".join(before).upper(), new=new, axes=", ".join(axes).upper(),
    )  # fmt: skip


def _usual_axes(axes: tuple[str, ...]) -> tuple[str, ...]:
    """The axes that LayerNorm usually normalizes: D of (N, D), C of a sequence or where it is last, otherwise all but the batch."""
    if axes[0] == "c":
        return axes
    if len(axes) < 3 or axes[-1] == "c" or (axes[-1] == "d" and "c" not in axes):
        return axes[-1:]
    return ("c",) if len(axes) == 3 and axes[1] == "c" else axes[1:]


def _over(layer: Layer, names: tuple[str, ...], shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer | None:
    """LayerNorm or RMSNorm, with the options of ``layer``, over these axes; None if there is none."""
    changes = layer.changes
    if names == axes[len(axes) - len(names) :]:
        name = "LayerNorm" if layer.name == C_FIRST else layer.name
        return Layer.make(name, shape[len(axes) - len(names) :], training=layer.training, **changes)
    if names == axes[1:2] and layer.kind.center and set(changes) <= {"eps"}:
        return Layer.make(C_FIRST, shape[1], training=layer.training, **changes)
    return None


def _carried_layer_norm(
    layer: Layer, before: tuple[str, ...], shape: tuple[int, ...], axes: tuple[str, ...]
) -> tuple[Layer, str | None]:
    depth = len(layer.given.get("normalized_shape", ()))
    names = before[len(before) - depth :] if depth else before[1:2]
    counterparts = (
        (names == _usual_axes(before), _usual_axes(axes)),
        (names == before[1:], axes[1:] or axes),
        (names == before, axes),
        (set(names) <= set(axes), names),
    )
    for applies, counterpart in counterparts:
        if applies and (found := _over(layer, counterpart, shape, axes)):
            return found, None
    found = _over(layer, _usual_axes(axes), shape, axes) or _over(layer, axes[1:], shape, axes)
    assert found is not None  # all but the first are last axes
    return found, _no_counterpart(layer, before, found, axes)


def example_for(layer: Layer | Norm, axes: tuple[str, ...] | None = None) -> tuple[int, ...]:
    """The shape of an example that the layer takes, with these axes or those that are usual for it.

    Raises NormvizError if the layer does not take an x with these axes.

    >>> example_for(Layer.make("LayerNorm", 96)), example_for(Layer.make("BatchNorm2d", 64))
    ((2, 5, 96), (2, 64, 3, 5))
    """
    if isinstance(layer, Norm):
        sizes = dict(zip(layer.axes, example_shape(layer.axes), strict=True))
        for axis, parts in layer.parts.items():
            if len(parts) > 1:
                sizes[axis] = prod(layer.split_sizes.get(part, 2) for part in parts)
        return tuple(sizes[axis] for axis in layer.axes)
    given, kind = layer.given, layer.kind
    trailing = given.get("normalized_shape", ())
    if axes is None:
        rank = 3 if len(trailing) == 1 or kind.channels_last else max(4, len(trailing) + 1)
        rank = rank if kind.takes_rank(rank) else kind.ranks[1] or rank
        axes = parse_layout(kind.layout(rank), rank)
    channels, channel = given.get("num_features", given.get("num_channels")), kind.channel(len(axes))
    known = dict(zip(reversed(axes), reversed(trailing), strict=False))
    if channel is not None:
        known = {axes[channel]: channels} if kind.takes_rank(len(axes)) else {}
    shape = example_shape(axes, known)
    check(layer, shape)
    return shape


@lru_cache(maxsize=1024)
def default_layer(family: str, shape: tuple[int, ...], axes: tuple[str, ...]) -> Layer:
    """The layer of the family with default arguments: LayerNorm over the usual axes, GroupNorm with as few groups as possible, but two.

    Raises NormvizError if no layer of the family takes that rank.

    >>> (
    ...     str(default_layer("GroupNorm", (2, 8, 5), ("n", "c", "l"))),
    ...     str(default_layer("GroupNorm", (2, 9, 5), ("n", "c", "l"))),
    ... )
    ('GroupNorm(2, 8)', 'GroupNorm(3, 9)')
    """
    kind = kind_for(family, axes)
    return Layer.make(kind.name, **_sizes(kind, {}, shape, axes))


def example_on(kind: Kind, shape: tuple[int, ...], layout: str | None = None) -> Layer:
    """A layer of this kind that takes an x of ``shape``. Raises NormvizError if there is none.

    >>> str(example_on(FAMILIES["GroupNorm"][0], (2, 6, 5)))
    'GroupNorm(2, 6)'
    """
    axes = parse_layout(kind.layout(len(shape)) if layout is None else layout, len(shape))
    layer = Layer.make(kind.name, **_sizes(kind, {}, shape, axes))
    check(layer, shape)
    return layer


@lru_cache(maxsize=1024)
def kind_for(family: str, axes: tuple[str, ...]) -> Kind:
    """``kind_on``. Raises NormvizError for an unknown family, and if no layer of the family takes that rank."""
    if family in ABSENT:
        raise layer_not_in_torch(family)
    if family not in FAMILIES:
        raise NormvizError(
            "{family} is not a family of layers; choose {families}.", family=echo(family), families=listed(FAMILIES)
        )
    kind = kind_on(family, axes)
    if kind is None:
        raise NormvizError(
            "{layer} takes an x of rank {ranks}, and this x has rank {rank}, layout {layout}.",
            layer=family,
            ranks=allowed_ranks(FAMILIES[family]),
            rank=len(axes),
            layout=layout_text(axes),
        )
    return kind


def _groups(wanted: int | None, channels: int) -> int:
    """The number of groups nearest to ``wanted``, but between 1 and ``channels`` if possible; the fewest groups but one, if None is wanted."""
    found = divisors(channels)
    if wanted is None:
        return found[:2][-1]
    return min(found[1:-1] or found, key=lambda divisor: (abs(divisor - wanted), divisor))


def _sizes(kind: Kind, given: Mapping[str, Any], shape: tuple[int, ...], axes: tuple[str, ...]) -> dict[str, Any]:
    """The arguments that depend on the shape of x; the ``given`` ones, where they fit."""
    channel = kind.channel(len(shape))
    channels = shape[channel] if channel is not None and channel < len(shape) else 1  # 1: refused by ``check``

    def size(argument: Argument) -> Any:
        wanted = given.get(argument.name)
        if argument.takes == "shape":
            return shape[len(shape) - _depth(len(wanted or ()), axes) :]
        if argument.takes == "axis":
            return (wanted or 0) if -len(shape) <= (wanted or 0) < len(shape) else -1
        if argument.takes == "groups":
            return wanted if channels == given.get("num_channels") else _groups(wanted, channels)
        return channels

    return {argument.name: size(argument) for argument in kind.sizes}


def _depth(wanted: int, axes: tuple[str, ...]) -> int:
    """The number of last axes that are normalized: as many as ``wanted``, if x has them, or the usual ones."""
    if 1 <= wanted <= len(axes):
        return wanted
    usual = _usual_axes(axes)
    return len(usual if usual == axes[len(axes) - len(usual) :] else axes[1:])


# What may take the place of a layer on an x: a *remedy*, where torch refuses the layer, and a *look-alike*, where x is large.
# A remedy is a layer and an x that were probably meant. A look-alike is the same kind of layer with the same pattern, on few elements.


MOST = 4


@dataclass(frozen=True)
class Remedy:
    """A layer on an x that torch accepts.

    shape, layout  of the x
    change         the code that makes this x from the reader's x, such as "x.movedim(1, -1)", or another x; "" if x stays as it is
    """

    layer: Layer
    shape: tuple[int, ...]
    layout: str
    change: str = ""

    @property
    def label(self) -> str:
        if not self.change:
            return f"`{self.layer}`"
        if not self.change.startswith("x."):
            return _("`{layer}` on `{change}`", layer=self.layer, change=self.change)
        return _("`{layer}` on `{change}`, shape {shape}", layer=self.layer, change=self.change, shape=self.shape)

    @property
    def code(self) -> str:
        """A line with torch's layer, whose y has the shape of the reader's x; "" for a layer that torch has not, or another x.

        >>> Remedy(Layer.make("LayerNorm", 96), (8, 56, 56, 96), "NHWC", "x.movedim(1, -1)").code
        'y = nn.LayerNorm([96])(x.movedim(1, -1)).movedim(-1, 1)'
        """
        if self.layer.kind.module is None or self.change.startswith("torch."):
            return ""
        back = re.sub(r"x\.movedim\((.+), (.+)\)", r".movedim(\2, \1)", self.change).replace("x.unsqueeze", ".squeeze")
        return f"y = nn.{self.layer}({self.change or 'x'}){back}"


@lru_cache(maxsize=256)
def remedies(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> tuple[Remedy, ...]:
    """What torch accepts instead of ``layer`` on an x of ``shape``, the most probable first; empty if torch accepts the layer itself.

    >>> [remedy.label for remedy in remedies(Layer.make("LayerNorm", 96), (8, 96, 56, 56), ("n", "c", "h", "w"))]
    ['`ChannelsFirstLayerNorm(96, eps=1e-05)`', '`LayerNorm([96])` on `x.movedim(1, -1)`, shape (8, 56, 56, 96)', '`LayerNorm([56])`', '`LayerNorm([96, 56, 56])`', '`LayerNorm([96])` on `torch.randn(2, 5, 96)`']
    """
    if _is_accepted(layer, shape):
        return ()
    found = (remedy for remedy in _candidates(layer, shape, axes) if _is_accepted(remedy.layer, remedy.shape))
    return tuple(dict.fromkeys((*tuple(dict.fromkeys(found))[:MOST], *_on_an_example(layer))))


def _on_an_example(layer: Layer) -> Iterator[Remedy]:
    """The layer itself, on a tensor of its size."""
    try:
        shape = example_for(layer)
    except NormvizError:  # no tensor helps: another argument is wrong
        return
    yield Remedy(layer, shape, layer.kind.layout(len(shape)), f"torch.randn{shape}")


def _is_accepted(layer: Layer, shape: tuple[int, ...]) -> bool:
    try:
        check(layer, shape)
    except NormvizError:
        return False
    return True


def _candidates(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> Iterator[Remedy]:
    for make in (_channels_first, _moved_to_the_end, _moved_to_axis_1, _with_a_batch_axis):
        yield from make(layer, shape, axes)
    for other in _other_arguments(layer, shape, axes):
        yield Remedy(other, shape, _layout(other, layer, axes))
    yield from _with_more_values(layer, shape, layout_text(axes))


def _layout(other: Layer, layer: Layer, axes: tuple[str, ...]) -> str:
    """The layout of x for another layer. If x has the default layout of its layer, it gets the default layout of the other."""
    rank, layout = len(axes), layout_text(axes)
    return other.kind.layout(rank) if layout == layer.kind.layout(rank) else layout


def _channels_first(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> Iterator[Remedy]:
    """LayerNorm(C) on (N, C, H, W): the layer that normalizes over axis 1."""
    is_plain = layer.name == "LayerNorm" and layer.affine and layer.given["bias"]
    if is_plain and len(shape) > 2 and layer.given["normalized_shape"] == (shape[1],):
        other = Layer.make("ChannelsFirstLayerNorm", shape[1], layer.given["eps"])
        yield Remedy(other, shape, _layout(other, layer, axes))


def _moved_to_the_end(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> Iterator[Remedy]:
    """LayerNorm(C) on an x whose channels are not the last axis."""
    wanted = layer.given.get("normalized_shape")
    found = [axis for axis, size in enumerate(shape[:-1]) if wanted == (size,)]
    if found:
        axis = 1 if 1 in found else found[0]
        yield _moved(layer, shape, axes, axis, len(shape) - 1)


def _moved_to_axis_1(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> Iterator[Remedy]:
    """BatchNorm2d(C) on (N, H, W, C)."""
    channels = layer.given.get("num_features", layer.given.get("num_channels"))
    if layer.kind.channel(len(shape)) == 1 and len(shape) > 2 and channels == shape[-1]:
        yield _moved(layer, shape, axes, len(shape) - 1, 1)


def _moved(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...], axis: int, to: int) -> Remedy:
    """The layer on x with one axis moved."""
    order = [other for other in range(len(shape)) if other != axis]
    order.insert(to, axis)
    # If no letter C names the moved axis, the letters are the default layout of the layer and say nothing about this x.
    layout = layout_text([axes[i] for i in order]) if axes[axis] == "c" else layer.kind.layout(len(shape))
    code = f"x.movedim({axis}, -1)" if to == len(shape) - 1 else f"x.movedim(-1, {to})"
    return Remedy(layer, tuple(shape[i] for i in order), layout, code)


def _with_a_batch_axis(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> Iterator[Remedy]:
    """BatchNorm2d(C) on (C, H, W)."""
    low, _high = layer.kind.ranks
    if layer.kind.channel_axis == 1 and len(shape) == low - 1 and layer.given.get("num_features") == shape[0]:
        yield Remedy(layer, (1, *shape), layer.kind.layout(low), "x.unsqueeze(0)")


def _other_arguments(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> Iterator[Layer]:
    """The layer with the sizes of x, for the rank of x, or with an eps that torch accepts."""
    for make in (
        lambda: refit(layer, shape, axes),
        lambda: refit(layer, shape, axes, layer.kind),
        lambda: layer.with_(normalized_shape=shape[1:] or shape) if "normalized_shape" in layer.given else layer,
        lambda: layer.with_(eps=1e-5),
    ):
        try:
            yield make()
        except (NormvizError, KeyError):
            continue


def _with_more_values(layer: Layer, shape: tuple[int, ...], layout: str) -> Iterator[Remedy]:
    """Where every mean has one value: an x with more, fewer groups, or eval mode."""
    wider = [(*shape[:axis], 2, *shape[axis + 1 :]) for axis, size in enumerate(shape) if size == 1]
    for sizes in [sizes for sizes in wider if _is_accepted(layer, sizes)][:1]:
        yield Remedy(layer, sizes, layout, f"torch.randn{sizes}")
    channels = layer.given["num_channels"] if "num_groups" in layer.given else None
    if len(shape) > 1 and channels == shape[layer.kind.channel_axis or 1]:
        fewer = [groups for groups in divisors(channels) if groups < layer.given["num_groups"]]
        yield from (Remedy(layer.with_(num_groups=groups), shape, layout) for groups in fewer[-1:])
    if layer.tracks:
        yield Remedy(layer.with_(training=False), shape, layout)


def is_probably_channels_last(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> bool:
    """Whether an x that is read as NCHW is probably NHWC: LayerNorm(C) normalizes over its last axis, and the two before it are equal.

    >>> is_probably_channels_last(Layer.make("LayerNorm", 96), (8, 56, 56, 96), ("n", "c", "h", "w"))
    True
    """
    if layout_text(axes) != "NCHW" or layer.given.get("normalized_shape") != shape[3:]:
        return False
    return shape[1] == shape[2] != shape[3]


def meant_for_channels(layer: Layer, shape: tuple[int, ...], axes: tuple[str, ...]) -> tuple[Remedy, ...]:
    """The layer with C as its channels, if its channels are another axis, as BatchNorm1d's on (N, L, C); or what normalizes over C, if the
    layer normalizes over a last axis that is not C but has its size; otherwise empty.

    >>> [remedy.label for remedy in meant_for_channels(Layer.make("LayerNorm", 4), (2, 4, 3, 4), ("n", "c", "h", "w"))]
    ['`ChannelsFirstLayerNorm(4, eps=1e-05)`', '`LayerNorm([4])` on `x.movedim(1, -1)`, shape (2, 3, 4, 4)']
    """
    channel, last = axes.index("c") if "c" in axes else -1, len(shape) - 1
    if channel != -1 and not layer.kind.suits(axes):
        found = kind_for(layer.kind.family, axes)
        return (Remedy(refit(layer, shape, axes, found), shape, layout_text(axes)),) if found.suits(axes) else ()
    wanted = layer.given.get("normalized_shape")
    if channel in (-1, last) or wanted != shape[last:] or wanted != (shape[channel],):
        return ()
    first = _channels_first(layer, shape, axes) if channel == 1 else ()
    return (*first, _moved(layer, shape, axes, channel, last))


# Look-alikes

SMALL = {"n": 2, "b": 2, "c": 4, "l": 4, "d": 4}  # size of the axis with this name
OTHER, PART = 3, 2  # size of any other axis; size of a part of a split axis
MOST_AXES = 5  # with more axes, every axis has size 2

LayerOnShape = tuple[Layer | Norm, tuple[int, ...]]


def lookalike(layer: Layer | Norm, shape: tuple[int, ...], axes: tuple[str, ...]) -> LayerOnShape:
    """The layer and the shape of the look-alike. An axis that is small already keeps its size. Raises NormvizError if the shape does not fit.

    >>> layer, shape = lookalike(Layer.make("GroupNorm", 32, 128), (8, 128, 56, 56), ("n", "c", "h", "w"))
    >>> str(layer), shape
    ('GroupNorm(2, 4)', (2, 4, 3, 3))
    """
    if isinstance(layer, Norm):
        return _small_norm(layer, shape)
    small = tuple(min(size, _size(axis, axes)) for axis, size in zip(axes, shape, strict=True))
    found, channel = refit(layer, small, axes, layer.kind), layer.kind.channel_axis
    if "num_groups" in found.given and channel is not None:
        found = found.with_(num_groups=_alike_groups(layer.given["num_groups"], shape[channel], small[channel]))
    return found, small


def _size(axis: str, axes: tuple[str, ...]) -> int:
    return SMALL.get(axis, OTHER) if len(axes) <= MOST_AXES else PART


def _alike_groups(groups: int, channels: int, small: int) -> int:
    """A single group stays one; groups of one channel keep one channel each, as does an odd number of channels; otherwise two groups."""
    if groups == channels or small % PART:
        return small if groups > 1 else 1
    return min(groups, PART)


def _small_norm(norm: Norm, shape: tuple[int, ...]) -> tuple[Norm, tuple[int, ...]]:
    sizes = norm.axis_sizes(shape)
    for parts in norm.pattern.left:
        for name in parts:
            sizes[name] = min(sizes[name], PART if len(parts) > 1 else _size(name, norm.axes))
    small = tuple(prod(sizes[name] for name in parts) for parts in norm.pattern.left)
    return replace(norm, sizes={name: sizes[name] for name in norm.split_sizes}), small


def is_lookalike(of: LayerOnShape, layer: Layer | Norm, shape: tuple[int, ...], axes: tuple[str, ...]) -> bool:
    """Whether the layer on the shape is the look-alike of ``of``."""
    try:
        return len(of[1]) == len(axes) and lookalike(*of, axes) == (layer, shape)
    except NormvizError:
        return False
