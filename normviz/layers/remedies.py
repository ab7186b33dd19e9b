"""What may take the place of a layer on an x: a *remedy*, where torch refuses the layer, and a *look-alike*, where x is large.

A remedy is a layer and an x that were probably meant. A look-alike is the same kind of layer with the same pattern, on few elements.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from normviz.layers.axes import divisors, layout_text
from normviz.layers.fit import example_for, kind_for, refit
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.torch_errors import check
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _

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
        found = found.with_(num_groups=_groups(layer.given["num_groups"], shape[channel], small[channel]))
    return found, small


def _size(axis: str, axes: tuple[str, ...]) -> int:
    return SMALL.get(axis, OTHER) if len(axes) <= MOST_AXES else PART


def _groups(groups: int, channels: int, small: int) -> int:
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
