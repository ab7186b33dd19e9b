"""Toggles: which axes the mean is taken over, and along which axes gamma has its own value, one button for each axis.

LayerNorm has the same axes in both rows, BatchNorm complementary ones. ``toggle_rows`` describes the rows of a scene, and ``with_toggle``
presses a button: the toggles find the name of the layer. A name stays as long as it is true; otherwise axes decide, not sizes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from normviz.analysis.sentences import axis_nouns
from normviz.layers.axes import divisors
from normviz.layers.layer import Layer
from normviz.layers.naming import layer_with_axes, layers_on, torch_layer, without_split
from normviz.layers.norm import Norm
from normviz.scene.edits import Reading, with_layer
from normviz.scene.scene import Scene
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _

MEAN, GAMMA = "mean", "gamma"  # the names of the rows


@dataclass(frozen=True)
class AxisToggle:
    """One button: an axis, whether it is pressed, and for the channels of GroupNorm, the number of groups."""

    axis: str
    name: str
    pressed: bool
    groups: int = 0


@dataclass(frozen=True)
class Row:
    """A row of toggles; ``rest`` says why it is at rest, and is empty if it is not."""

    label: str
    toggles: tuple[AxisToggle, ...]
    rest: str = ""


def toggle_rows(scene: Scene) -> dict[str, Row]:
    """The two rows of toggles, by name."""
    norm, axes = scene.shape_description.norm, scene.axes
    split, groups = _split_axis(norm, axes), _groups_of(norm, scene) or 0
    averaged, gamma = _pressed(scene, MEAN), _pressed(scene, GAMMA)

    def toggle(axis: str, pressed: bool, groups: int = 0) -> AxisToggle:
        return AxisToggle(
            axis, _("{first}, {second}", first=axis.upper(), second=axis_nouns(axis, axes)[1]), pressed, groups
        )

    means = tuple(toggle(axis, axis in averaged, groups if axis == split else 0) for axis in axes)
    own = tuple(toggle(axis, axis in gamma) for axis in axes)
    label = _("mean over") if norm.center or norm.running else _("mean square over")
    return {
        MEAN: Row(label, means, _why_mean_rests(norm, axes)),
        GAMMA: Row(_("own gamma for each"), own, _why_gamma_rests(norm)),
    }


def _why_mean_rests(norm: Norm, axes: tuple[str, ...]) -> str:
    if norm.running:
        return _("stored statistics: the mean is not taken over this x")
    if any(len(parts) > 1 for parts in norm.pattern.left) and _split_axis(norm, axes) is None:
        return _("a pattern with split axes")
    return ""


def _why_gamma_rests(norm: Norm) -> str:
    if norm.running:
        return _("stored statistics: the layer is in eval mode")
    if norm.params == "":
        return _("one gamma for all elements")
    if not set(norm.gamma_axes) <= set(norm.axes):
        return _("a gamma for each part of a split axis")
    return ""


Parts = dict[str, tuple[str, ...]]


def _parts(norm: Norm, axes: tuple[str, ...]) -> Parts:
    """The names in the pattern of each axis of x: ``("g", "k")`` of a split axis, else its own name."""
    return dict(zip(axes, norm.pattern.left, strict=True))


def _split_axis(norm: Norm, axes: tuple[str, ...]) -> str | None:
    """The axis whose groups have a mean each, if it is the only one that is split and its first part is kept."""
    split = [(axis, parts) for axis, parts in _parts(norm, axes).items() if len(parts) > 1]
    if len(split) != 1 or [part in norm.pattern.right for part in split[0][1]] != [True, False]:
        return None
    return split[0][0]


def _groups_of(norm: Norm, scene: Scene) -> int | None:
    """The number of groups of the split axis, if there is one."""
    split = _split_axis(norm, scene.axes)
    return norm.axis_sizes(scene.shape)[_parts(norm, scene.axes)[split][0]] if split else None


def _reduced(norm: Norm, axes: tuple[str, ...]) -> set[str]:
    return {axis for axis, parts in _parts(norm, axes).items() if not set(parts) & set(norm.pattern.right)}


def _gamma_axes(norm: Norm, axes: tuple[str, ...]) -> set[str]:
    return {axis for axis, name in zip(axes, norm.axes, strict=True) if name in norm.gamma_axes}


def with_toggle(scene: Scene, row: str, axis: str, by: int = 1) -> Reading:
    """The scene after a press of the button for ``axis`` in the row "mean" or "gamma".

    by  at the groups of channels: 1 for the next number of groups, -1 for the one before
    """
    norm, axes = scene.shape_description.norm, scene.axes
    if axis not in axes or (_why_mean_rests(norm, axes) if row == MEAN else _why_gamma_rests(norm)):
        return Reading(scene)
    try:
        if row == MEAN and axis == _split_axis(norm, axes):
            return _with_other_groups(scene, axis, by)
        norm = _settled(norm, scene, of_gamma=row == GAMMA)
        pressed = _pressed(scene, row) ^ {axis}
        target = _with_mean_over(norm, axes, pressed) if row == MEAN else _with_gamma_of(norm, axes, pressed)
        return with_layer(scene, named(target, scene))
    except NormvizError as error:
        return Reading(scene, str(error))


def with_toggle_of_file(scene: Scene, row: str, axis: str, by: int = 1) -> Scene | None:
    """The scene after a press in a file; None for a position that a file does not have.

    In a file, a layer has no gamma, one gamma for each channel, or one for each normalized element. Where it has one for each normalized
    element, the axes of gamma follow the axes of the mean. With groups of channels, it has no gamma or one for each channel.
    """
    axes, reading = scene.axes, with_toggle(scene, row, axis, by)
    after, channel = reading.scene, {"c" if "c" in axes else "d"}
    gamma, normalized = (_pressed(after, each) for each in (GAMMA, MEAN))
    if row == MEAN and gamma not in (set(), channel) and gamma == _pressed(scene, MEAN):
        norm = _with_gamma_of(after.shape_description.norm, axes, normalized)
        after, gamma = with_layer(scene, named(norm, scene)).scene, normalized
    norm = after.shape_description.norm
    is_usual = not _why_gamma_rests(norm) and norm.bias == (norm.params is not None and norm.center)
    kept = (set(), channel) if _split_axis(norm, axes) else (set(), channel, normalized)
    is_there = is_usual and gamma in kept
    return after if is_there and not reading.problem and after != scene else None


def _pressed(scene: Scene, row: str) -> set[str]:
    """The axes whose buttons are pressed. One group of channels is all of them."""
    norm, axes = scene.shape_description.norm, scene.axes
    if row == GAMMA:
        return _gamma_axes(norm, axes)
    split = _split_axis(norm, axes)
    return _reduced(norm, axes) | ({split} if split and _groups_of(norm, scene) == 1 else set())


def _with_other_groups(scene: Scene, axis: str, by: int) -> Reading:
    """The next number of groups that divides the channels, or the one before; after the last comes the first."""
    norm, layer, numbers = scene.shape_description.norm, scene.layer, divisors(scene.shape[scene.axes.index(axis)])
    following = numbers[(numbers.index(_groups_of(norm, scene) or 1) + by) % len(numbers)]
    if isinstance(layer, Layer):
        return with_layer(scene, layer.with_(num_groups=following))
    return with_layer(scene, replace(norm, sizes={_parts(norm, scene.axes)[axis][0]: following}))


def _settled(norm: Norm, scene: Scene, of_gamma: bool) -> Norm:
    """The same Norm without a split axis, if its groups are one, or one channel each. For gamma, a split in channels stays: so does the name."""
    split, groups = _split_axis(norm, scene.axes), _groups_of(norm, scene)
    if groups == 1:
        return without_split(norm, scene.axes)
    if split and not of_gamma and groups == scene.shape[scene.axes.index(split)]:
        return without_split(norm, scene.axes, kept=split)
    return norm


def _with_mean_over(norm: Norm, axes: tuple[str, ...], reduced: set[str]) -> Norm:
    """The same Norm with the mean over these axes. A split axis keeps its groups, unless the mean is taken over all of it."""
    split, parts = _split_axis(norm, axes), _parts(norm, axes)
    left = [" ".join(parts[axis]) if len(parts[axis]) == 1 else f"({' '.join(parts[axis])})" for axis in axes]
    kept = [parts[axis][0] if axis == split else axis for axis in axes if axis not in reduced]
    return replace(norm, stats=f"{' '.join(left)} -> {' '.join(kept)}")


def _with_gamma_of(norm: Norm, axes: tuple[str, ...], own: set[str]) -> Norm:
    """The same Norm with a gamma for each index of these axes, and a beta unless the Norm has a gamma alone; none for no axes."""
    if not own:
        return norm.without_gamma()
    bias = norm.bias if norm.params is not None else norm.center
    return replace(norm, params=" ".join(axis for axis in axes if axis in own), bias=bias)


def named(target: Norm, scene: Scene) -> Layer | Norm:
    """The layer with these patterns: of the present family if it has one, otherwise the usual name; the pattern, if none has it."""
    return layer_with_axes(target, scene.shape, scene.axes, scene.layer) or target


# All positions of the toggles that a layer has.


@dataclass(frozen=True)
class Standing:
    """How all toggles stand, axis by axis.

    means   1: the mean is taken over the axis; 0: it is not; more: the number of groups with a mean each
    gamma   1: gamma has its own value for each index along the axis; 0: it does not
    center  whether the mean is subtracted; otherwise the means are those of squares
    """

    means: tuple[int, ...]
    gamma: tuple[int, ...]
    center: bool = True


def standing_of(norm: Norm, shape: tuple[int, ...], axes: tuple[str, ...]) -> Standing:
    """The position of the toggles that shows a Norm.

    >>> standing_of(Norm("n (g k) l -> n g", "c", sizes={"g": 2}), (2, 4, 3), ("n", "c", "l"))
    Standing(means=(0, 2, 1), gamma=(0, 1, 0), center=True)
    """
    sizes, kept, own = norm.axis_sizes(shape), norm.pattern.right, _gamma_axes(norm, axes)
    groups = (prod(sizes[part] for part in parts if part in kept) for parts in norm.pattern.left)
    means = tuple(
        number if number < size else int(number == 1 and axis not in kept)
        for axis, number, size in zip(axes, groups, shape, strict=True)
    )
    return Standing(means, tuple(int(axis in own) for axis in axes), norm.center)


def norm_of(standing: Standing, axes: tuple[str, ...]) -> Norm:
    """The Norm that a position of the toggles describes, with the usual eps.

    >>> norm_of(Standing((0, 2, 1), (0, 1, 0)), ("n", "c", "l"))
    Norm('n (g k) l -> n g', 'c', sizes={'g': 2})
    """
    means = list(zip(axes, standing.means, strict=True))
    left = " ".join("(g k)" if number > 1 else axis for axis, number in means)
    kept = " ".join("g" if number > 1 else axis for axis, number in means if number != 1)
    own = " ".join(axis for axis, is_own in zip(axes, standing.gamma, strict=True) if is_own)
    sizes = {"g": max(standing.means)} if max(standing.means) > 1 else {}
    bias = bool(own) and standing.center
    return Norm(f"{left} -> {kept}", own or None, center=standing.center, bias=bias, sizes=sizes)


@lru_cache(maxsize=16)
def layers_of_toggles(shape: tuple[int, ...], axes: tuple[str, ...], moved: bool = False) -> Mapping[Standing, Layer]:
    """The layer of each position of the toggles that has one, of torch or known from a paper; the usual one of several.

    moved  also layers of torch for x with its channels moved to axis 1

    >>> [
    ...     str(layer)
    ...     for layer in layers_of_toggles((2, 5), ("n", "d")).values()
    ...     if not layer.changes and layer.kind.center
    ... ]
    ['BatchNorm1d(5)', 'LayerNorm([5])', 'LayerNorm([2, 5])']
    """
    layers = list(layers_on(shape, axes))
    variants = (one for layer in layers for one in (layer, *_with_other_gamma(layer)))
    standings = dict.fromkeys(standing_of(one.norm(axes), shape, axes) for one in variants)
    named = {one: layer_with_axes(norm_of(one, axes), shape, axes, layers[0]) for one in standings}

    def is_known(layer: Layer | None) -> bool:
        return layer is not None and bool(layer.kind.in_torch or layer.kind.source or (moved and layer.kind.module))

    return {one: layer for one, layer in named.items() if layer and is_known(layer)}


def layers_with_same_means(scene: Scene) -> list[Layer] | None:
    """For a pattern that no layer of torch has: torch's layers, with their usual options, that have its means. None for anything else."""
    norm, shape, axes = scene.shape_description.norm, scene.shape, scene.axes
    if isinstance(scene.layer, Layer) or torch_layer(norm, shape) or _why_mean_rests(norm, axes):
        return None
    shown = standing_of(norm, shape, axes)
    same = (layer for one, layer in layers_of_toggles(shape, axes).items() if replace(one, gamma=shown.gamma) == shown)
    return [layer for layer in same if layer.kind.in_torch and not layer.changes]


def _with_other_gamma(layer: Layer) -> list[Layer]:
    """The layer without its gamma, or with one if it has none by default; nothing if it has no such option."""
    options = (name for name in ("affine", "elementwise_affine") if layer.kind.has(name))
    return [layer.with_(**{name: not layer.affine}) for name in options]
