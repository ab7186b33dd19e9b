"""The name of a layer: which layers an x may meet, and which of them a Norm describes.

A Norm has a name by what it computes on an x of a given shape (``torch_layer``, ``usual_layer``), or by its axes, whatever their sizes
(``layer_with_axes``). What each layer may be on a shape is known to its ``Kind``; the first layers of ``KINDS`` are the usual names.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from normviz.layers.catalogue import FAMILIES, KINDS, Kind, listed_families
from normviz.layers.fit import default_layer, kind_for
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts
from normviz.layers.torch_errors import check
from normviz.texts.errors import NormvizError

MOST_SUGGESTED_GROUPS = 8


def layers_on(shape: tuple[int, ...], axes: tuple[str, ...]) -> Iterator[Layer]:
    """The layers that are meant for such an x, with default options, in the order of lists; GroupNorm with up to 8 groups."""
    for family in listed_families():
        if any(kind.takes_rank(len(shape)) for kind in FAMILIES[family]):
            kind = kind_for(family, axes)
            if kind.suits(axes):
                sizes = kind.sizes_on(shape, range(1, MOST_SUGGESTED_GROUPS + 1))
                yield from (Layer.make(kind.name, **given) for given in sizes)


def _described(norm: Norm, shape: tuple[int, ...], kinds: Iterable[Kind], **options: object) -> Iterator[Layer]:
    """The layers of these kinds that may be ``norm`` on an x of ``shape``, with its gamma, beta and running statistics, and these options."""
    affine, groups = norm.params is not None, counts(norm, shape).statistics // shape[0]  # the groups of each example
    options |= {"affine": affine, "elementwise_affine": affine, "bias": norm.bias or not affine}
    flags = {"track_running_stats": norm.running, "zero_centered_gamma": norm.zero_centered_gamma}
    needed = [name for name, is_needed in flags.items() if is_needed]
    options |= dict.fromkeys(needed, True)
    for kind in kinds:
        may_have_eps = norm.eps is not None or kind.eps_may_be_none
        if kind.center == norm.center and may_have_eps and all(map(kind.has, needed)):
            given = {option.name: options[option.name] for option in kind.options if option.name in options}
            for sizes in kind.sizes_on(shape, (groups or 1,)):
                yield _layer(kind.name, not norm.running, tuple({**sizes, **given}.items()))


@lru_cache(maxsize=4096)
def _layer(name: str, training: bool, arguments: tuple[tuple[str, object], ...]) -> Layer:
    return Layer.make(name, training=training, **dict(arguments))


# By what it computes on an x


@lru_cache(maxsize=128)
def torch_layer(norm: Norm, shape: tuple[int, ...]) -> Layer | None:
    """The torch layer that computes the same as ``norm`` on an x of ``shape``; None if torch has none. It may multiply by 1 + gamma.

    >>> str(torch_layer(Norm("a b -> a", "b"), (2, 5)))
    'LayerNorm([5])'
    """
    kinds = (kind for kind in KINDS.values() if kind.place and kind.module)
    return _first_equivalent(_described(norm, shape, kinds, eps=norm.eps), norm, shape)


def usual_layer(norm: Norm, shape: tuple[int, ...], preferred: Sequence[Layer] = ()) -> Layer | None:
    """The torch layer that computes the same as ``norm``: one of the preferred, or that which people use for it; None if torch has none.

    >>> str(usual_layer(Norm("n c h w -> n c"), (2, 3, 4, 4)))
    'InstanceNorm2d(3)'
    """
    # Preferred to LayerNorm([h, w]).
    images = [default_layer("InstanceNorm", shape, norm.axes)] if len(shape) in (4, 5) else []
    return _first_equivalent((*preferred, *images), norm, shape) or torch_layer(norm, shape)


def layer_of_channels(norm: Norm, names: Sequence[str], shape: tuple[int, ...]) -> Layer | None:
    """The layer of torch.nn that computes the same as ``norm``, one of channels after C was moved to axis 1; None if there is none."""
    layer = usual_layer(norm, shape)
    if "c" in names[2:] and (layer is None or layer.kind.channel(len(shape)) is not None):
        channel = list(names).index("c")
        order = [0, channel, *(i for i in range(1, len(names)) if i != channel)]
        layer = usual_layer(norm.permuted(order), tuple(shape[i] for i in order))
    return layer if layer is not None and layer.kind.in_torch else None


def _first_equivalent(layers: Iterable[Layer], norm: Norm, shape: tuple[int, ...]) -> Layer | None:
    return next((layer for layer in layers if is_equivalent(layer, norm, shape)), None)


def is_equivalent(layer: Layer, norm: Norm, shape: tuple[int, ...]) -> bool:
    """Whether the layer computes the same as ``norm`` on an x of ``shape``. The time does not depend on the sizes."""
    try:
        check(layer, shape)
        other = layer.norm(norm.axes)
    except NormvizError:
        return False
    fields = [
        (one.center, one.eps, one.bias, one.running, one.zero_centered_gamma, counts(one, shape).gamma_shape)
        for one in (norm, other)
    ]
    return (
        fields[0] == fields[1]
        and _stat_parts(norm, shape) == _stat_parts(other, shape)
        and _gamma_parts(norm, shape) == _gamma_parts(other, shape)
    )


AxisPart = tuple[int, int]  # the size and the stride of one part of an axis


def _stat_parts(norm: Norm, shape: tuple[int, ...]) -> list[list[AxisPart]]:
    """The parts of each axis of x, with stride 1 for kept parts and 0 for reduced ones."""
    sizes = norm.axis_sizes(shape)
    return [
        _merge(
            ((sizes[name], int(name in norm.pattern.right)) for name in axis), lambda outer, size, inner: outer == inner
        )
        for axis in norm.pattern.left
    ]


def _gamma_parts(norm: Norm, shape: tuple[int, ...]) -> list[list[AxisPart]]:
    """The parts of each axis of x, with their stride in flattened gamma."""
    sizes, strides, step = norm.axis_sizes(shape), dict[str, int](), 1
    for name in reversed(norm.gamma_axes):
        strides[name], step = step, step * sizes[name]
    return [
        _merge(
            ((sizes[name], strides.get(name, 0)) for name in ((whole,) if whole in strides else axis)),
            lambda outer, size, inner: outer == size * inner,
        )
        for whole, axis in zip(norm.axes, norm.pattern.left, strict=True)
    ]


def _merge(parts: Iterable[AxisPart], can_merge: Callable[[int, int, int], bool]) -> list[AxisPart]:
    """Drop parts of size 1, and merge neighbors where ``can_merge(outer stride, inner size, inner stride)``."""
    merged: list[AxisPart] = []
    for size, stride in parts:
        if merged and size > 1 and can_merge(merged[-1][1], size, stride):
            merged[-1] = merged[-1][0] * size, stride
        elif size > 1:
            merged.append((size, stride))
    return merged


# By its axes


def layer_with_axes(norm: Norm, shape: tuple[int, ...], axes: tuple[str, ...], like: Layer | Norm) -> Layer | None:
    """The layer whose patterns have the axes of ``norm``, on an x of ``shape`` with these ``axes``; None if there is none.

    like  a layer, whose family is preferred, and whose eps and momentum are kept if they are not its defaults; for a Norm, eps is that of ``norm``

    >>> str(
    ...     layer_with_axes(
    ...         Norm("n c l -> n c"), (2, 3, 4), ("n", "c", "l"), Layer.make("BatchNorm1d", 3, momentum=0.5)
    ...     )
    ... )
    'InstanceNorm1d(3, momentum=0.5)'
    """
    family, options = "", {"eps": norm.eps}
    if isinstance(like, Layer):
        family, changes = like.kind.family, like.changes
        options = {name: changes[name] for name in ("eps", "momentum") if name in changes}
    # Without a gamma, InstanceNorm is the usual name.
    return min(
        _layers_with_axes(norm, shape, axes, tuple(options.items())),
        key=lambda layer: (layer.kind.family != family, norm.params is not None or not layer.kind.per_instance),
        default=None,
    )


@lru_cache(maxsize=512)
def _layers_with_axes(
    norm: Norm, shape: tuple[int, ...], axes: tuple[str, ...], options: tuple[tuple[str, object], ...]
) -> tuple[Layer, ...]:
    layers = _described(norm, shape, _kinds_on(axes), **dict(options))
    return tuple(layer for layer in layers if _has_axes(layer, norm, axes))


@lru_cache(maxsize=1024)
def _kinds_on(axes: tuple[str, ...]) -> tuple[Kind, ...]:
    return tuple(kind for kind in KINDS.values() if kind.place and kind.suits(axes))


def _has_axes(layer: Layer, norm: Norm, axes: tuple[str, ...]) -> bool:
    """Whether the layer has the patterns of ``norm``, by axes, and its eps or the default. One group of channels is all of them."""
    found = layer.norm(axes)
    if layer.given.get("num_groups") == 1 and all(len(parts) == 1 for parts in norm.pattern.left):
        found = without_split(found, axes)
    return (
        found.pattern.left == norm.pattern.left
        and set(found.pattern.right) == set(norm.pattern.right)
        and (found.params, found.bias) == (norm.params, norm.bias)
        and (found.eps == norm.eps or "eps" not in layer.changes)
    )


def without_split(norm: Norm, axes: tuple[str, ...], kept: str = "") -> Norm:
    """The same Norm with the mean over all of a split axis, or, if it is ``kept``, with a mean for each of its indices."""
    whole = [axis for axis, parts in zip(axes, norm.pattern.left, strict=True) if len(parts) == 1]
    right = [axis for axis in axes if axis == kept or (axis in whole and axis in norm.pattern.right)]
    return replace(norm, stats=f"{' '.join(axes)} -> {' '.join(right)}", sizes={})
