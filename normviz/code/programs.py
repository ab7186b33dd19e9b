"""A layer as a program that runs: torch's own layer, each step with torch, NumPy or einops, loops, Keras and Flax; and names beside torch's.

No framework is imported. ``AxisNumbers`` describes a Norm as Keras and Flax do, by the numbers of its axes; their layers are data, chosen by it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Literal

from normviz.texts.errors import NormvizError, closest, echo, listed
from normviz.texts.messages import N_, _

if TYPE_CHECKING:
    from normviz.analysis.description import Description
    from normviz.layers.layer import Layer

# A layer from scratch with an array library: the axes of the pattern become axis numbers.

FLOAT32_EPS = "2**-23"
MAX_WIDTH = 66  # characters of a line that a code box shows without scrolling
MAX_STATEMENT = 80  # characters of a statement that is written on one line
RUNNING = ("running_mean", "running_var")
KERAS_BACKEND = 'import os\n\nos.environ["KERAS_BACKEND"] = "jax"  # read when keras is imported'


@dataclass(frozen=True)
class Library:
    """How an array library writes the operations of the from-scratch flavors."""

    imports: str
    random: Callable[[tuple[int, ...]], str]
    prefix: str
    square: Callable[[str], str]
    mean: Callable[[str, tuple[int, ...]], str]
    finfo: str
    transpose: Callable[[str, tuple[int, ...]], str]
    reshape: Callable[[str, tuple[int, ...]], str] = lambda value, shape: f"{value}.reshape{as_call(shape)}"


TORCH = Library(
    imports="import torch",
    random=lambda shape: f"torch.randn{as_call(shape)}",
    prefix="torch",
    square=lambda value: f"{value}.square()",
    mean=lambda value, dims: f"{value}.mean(dim={dims}, keepdim=True)" if dims else value,
    finfo="torch.finfo(x.dtype).eps",
    transpose=lambda value, order: f"{value}.permute{as_call(order)}",
)
NUMPY = Library(
    imports="import numpy as np",
    random=lambda shape: f"np.random.default_rng(0).standard_normal({as_call(shape)})",
    prefix="np",
    square=lambda value: f"{value} ** 2",
    mean=lambda value, dims: f"{in_brackets(value)}.mean(axis={dims}, keepdims=True)" if dims else value,
    finfo="np.finfo(x.dtype).eps",
    transpose=lambda value, order: f"{value}.transpose{as_call(order)}",
)
JAX = replace(
    NUMPY,
    imports="import jax\nimport jax.numpy as jnp",
    random=lambda shape: f"jax.random.normal(jax.random.key(0), {shape})",
    prefix="jnp",
    finfo="jnp.finfo(x.dtype).eps",
)
KERAS = Library(
    imports=f"{KERAS_BACKEND}\nimport keras\nfrom keras import ops",
    random=lambda shape: f"keras.random.normal({shape})",
    prefix="ops",
    square=lambda value: f"ops.square({_without_brackets(value)})",
    mean=lambda value, dims: f"ops.mean({value}, axis={dims}, keepdims=True)" if dims else value,
    finfo=FLOAT32_EPS,
    reshape=lambda value, shape: f"ops.reshape({_without_brackets(value)}, {shape})",
    transpose=lambda value, order: f"ops.transpose({value}, {order})",
)


def from_scratch(library: Library, e: Description) -> str:
    """A program that computes the statistics with axis numbers."""
    norm = e.norm
    sizes, names = norm.axis_sizes(e.shape), norm.pattern.names
    dims = tuple(names.index(name) for name in norm.pattern.reduced)
    split = len(names) > len(e.shape)
    body = []
    if split:
        left, shape = norm.stats.split(" ->")[0], tuple(sizes[name] for name in names)
        body.append(f"x = {library.reshape('x', shape)}  # {left} -> {' '.join(names)}")
    if norm.running:
        mean, var = (_broadcast(e, stat, norm.pattern.right, library) for stat in RUNNING)
        both = f"mean, var = {mean}, {var}"
        body += [both] if len(both) <= MAX_STATEMENT else [f"mean = {mean}", f"var = {var}"]
    elif norm.center:
        body += [f"mean = {library.mean('x', dims)}", f"var = {library.mean(library.square('(x - mean)'), dims)}"]
    else:
        body += [f"mean_square = {library.mean(library.square('x'), dims)}"]
    body += normalize_lines(e, library, lambda name: _broadcast(e, name, norm.gamma_axes, library))
    if split:
        result = body[-1].removeprefix("return ")
        body[-1] = f"return {library.reshape(f'({result})', e.shape)}"
    return program(e, library, body)


def normalize_lines(e: Description, library: Library, broadcast: Callable[[str], str]) -> list[str]:
    """The lines after the statistics: normalize, scale and shift."""
    eps = library.finfo if e.norm.eps is None else repr(e.norm.eps)
    above, below = ("x - mean", "var") if e.norm.center else ("x", "var" if e.norm.running else "mean_square")
    sign, eps = ("-", eps[1:]) if eps.startswith("-") else ("+", eps)
    lines = [f"normalized = {in_brackets(above)} / {library.prefix}.sqrt({below} {sign} {eps})"]
    if e.norm.params is None:
        return [*lines, "return normalized"]
    gamma, beta = broadcast("gamma"), broadcast("beta")
    scaled = f"normalized * (1 + {gamma})" if e.norm.zero_centered_gamma else f"normalized * {gamma}"
    if not e.norm.bias:
        return [*lines, f"return {scaled}"]
    if len(scaled) + len(beta) > MAX_WIDTH:
        return [*lines, f"scaled = {scaled}", f"return scaled + {beta}"]
    return [*lines, f"return {scaled} + {beta}"]


def _broadcast(e: Description, value: str, kept: tuple[str, ...], library: Library) -> str:
    """A parameter or a statistic, reshaped so that it broadcasts to x after the split axes of x are reshaped."""
    norm = e.norm
    sizes, names = norm.axis_sizes(e.shape), norm.pattern.names
    parts = norm.pattern_names(kept)
    if parts == names[len(names) - len(parts) :] and parts == kept:
        return value
    order = tuple(parts.index(name) for name in names if name in parts)
    if order != tuple(range(len(order))):
        if parts != kept:
            value = library.reshape(value, tuple(sizes[name] for name in parts))
        value = library.transpose(value, order)
    return library.reshape(value, tuple(sizes[name] if name in parts else 1 for name in names))


def program(e: Description, library: Library, body: list[str]) -> str:
    """A function, and the lines that call it."""
    values: dict[str, str] = {"x": library.random(e.shape)}
    if e.norm.running:
        sizes = e.norm.axis_sizes(e.shape)
        kept = tuple(sizes[name] for name in e.norm.pattern.right)
        values |= {"running_mean": f"{library.prefix}.zeros({kept})", "running_var": f"{library.prefix}.ones({kept})"}
    first = "zeros" if e.norm.zero_centered_gamma else "ones"
    for name, shape, start in (("gamma", e.counts.gamma_shape, first), ("beta", e.counts.beta_shape, "zeros")):
        if shape is not None:
            values[name] = f"{library.prefix}.{start}({shape})"
    signature = ", ".join(values)
    return "\n".join(
        [
            library.imports,
            "",
            "",
            f"def normalize({signature}):",
            *(f"    {line}" for line in body),
            "",
            "",
            *(f"{name} = {value}" for name, value in values.items()),
            f"y = normalize({signature})",
        ]
    )


def in_brackets(text: str) -> str:
    """The expression in brackets, unless it is one name or already in brackets."""
    return f"({text})" if " " in text and not (text.startswith("(") and text.endswith(")")) else text


def _without_brackets(text: str) -> str:
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


def as_call(values: tuple[int, ...]) -> str:
    """The numbers as the arguments of a call."""
    return f"({', '.join(map(str, values))})"


# The flavors. Nothing in this file needs torch: ``normviz --help`` lists them.


Flavor = Literal["torch", "torch-scratch", "numpy", "einops", "loops", "keras", "flax"]
FLAVOR_LABELS: Mapping[str, str] = {
    "torch": "torch.nn",
    "torch-scratch": N_("torch from scratch"),
    "numpy": "NumPy",
    "einops": "einops",
    "loops": N_("loops"),
    "keras": "Keras",
    "flax": "Flax",
}


Axes = tuple[int, ...]


@dataclass(frozen=True)
class AxisNumbers:
    """The axes of the statistics and of the parameters of an explained Norm.

    reduced   axes whose elements share a mean and a variance
    kept      axes along which each position has its own mean and variance
    groups    (axis, number of groups) of the axis that is split into groups of consecutive indices, or None
    gamma     axes of gamma and beta; None if there is no gamma
    complete  whether this describes the Norm: no other split, gamma has whole axes, in the order of x, and the layer multiplies by gamma itself

    >>> from normviz import explain
    >>> a = AxisNumbers.of(explain("GroupNorm(2, 6)", (2, 6, 4, 4)))
    >>> a.kept, a.groups, a.reduced, a.gamma
    ((0,), (1, 2), (2, 3), (1,))
    """

    e: Description
    reduced: Axes
    kept: Axes
    groups: tuple[int, int] | None
    gamma: Axes | None
    complete: bool

    @classmethod
    def of(cls, e: Description) -> AxisNumbers:
        norm, sizes = e.norm, e.norm.axis_sizes(e.shape)
        kept_parts = [[name in norm.pattern.right for name in axis] for axis in norm.pattern.left]
        split = [i for i, kept in enumerate(kept_parts) if any(kept) and not all(kept)]
        groups = [
            (i, prod(sizes[name] for name in norm.pattern.left[i] if name in norm.pattern.right))
            for i in split
            if kept_parts[i] == sorted(kept_parts[i], reverse=True)
        ]
        gamma = [norm.axes.index(name) for name in norm.gamma_axes if name in norm.axes]
        return cls(
            e,
            reduced=tuple(i for i, kept in enumerate(kept_parts) if not any(kept)),
            kept=tuple(i for i, kept in enumerate(kept_parts) if all(kept)),
            groups=groups[0] if groups else None,
            gamma=None if norm.params is None else tuple(gamma),
            complete=len(split) == len(groups) <= 1
            and len(gamma) == len(norm.gamma_axes)
            and gamma == sorted(gamma)
            and not norm.zero_centered_gamma,
        )

    @property
    def centered(self) -> bool:
        """Whether the mean and the variance are computed from x."""
        return self.e.norm.center and not self.e.norm.running

    @property
    def rms(self) -> bool:
        """Whether the Norm divides by the root mean square of x and has no beta."""
        return not (self.e.norm.center or self.e.norm.running or self.e.norm.bias)

    @property
    def per_channel(self) -> bool:
        """Whether one axis is kept and gamma is on it; axis 0, the batch, only with running statistics."""
        one_kept = len(self.kept) == 1 and self.groups is None and (self.kept[0] > 0 or self.e.norm.running)
        return self.e.norm.center and one_kept and self.gamma in (None, self.kept)

    @property
    def per_instance(self) -> bool:
        """Whether axis 0 and the channels are kept: the axis of gamma or, without gamma, the axis c."""
        if not self.centered or self.groups or not self.reduced or len(self.kept) != 2 or self.kept[0] != 0:
            return False
        return self.gamma == self.kept[1:] or (self.gamma is None and self.e.norm.axes[self.kept[1]] == "c")

    @property
    def per_group(self) -> tuple[int, int] | None:
        """(axis, number of groups) if axis 0 is kept and another axis has groups and gamma; else None."""
        found = self.groups if self.kept == (0,) else None
        if self.groups is None and self.gamma and self.kept in ((0,), (0, *self.gamma)):
            axis = self.gamma[0]
            found = axis, self.e.shape[axis] if axis in self.kept else 1
        return found if found and found[0] > 0 and self.gamma in (None, found[:1]) and self.centered else None

    @property
    def old_weight(self) -> float | None:
        """The momentum of Keras and Flax: the weight of the old running value, 1 - torch's momentum; None for momentum=None."""
        new = self.e.layer.given.get("momentum", 0.1) if self.e.layer else 0.1
        return None if new is None else round(1 - new, 12)

    def sizes(self, axes: Axes) -> tuple[int, ...]:
        return tuple(self.e.shape[i] for i in axes)

    def are_last(self, axes: Axes) -> bool:
        """Whether these are the last axes of x."""
        rank = len(self.e.shape)
        return axes == tuple(range(rank - len(axes), rank))

    def argument(self, axes: Axes, collection: Callable[[Axes], object] = tuple) -> str:
        """Axes as Python text: one axis as its number, the last as -1, several as a collection."""
        if len(axes) != 1:
            return str(collection(axes))
        return "-1" if self.are_last(axes) else str(axes[0])


# The layers of Keras and Flax as data: which Norms each computes, and with which arguments.
# The layers are chosen by AxisNumbers, not by the torch layer. Sources: keras.io/api/layers/normalization_layers, the page
# "Normalization" of flax.nnx, and the source code of the versions in pyproject.toml.

CallArguments = dict[str, str]


@dataclass(frozen=True)
class FrameworkLayer:
    """A layer of a framework.

    name             of the class
    matches          whether it computes a Norm
    arguments        its arguments for a Norm, as Python text
    normalized_axes  the axes that it normalizes, with placeholders for its arguments
    parameter_axes   the axes of gamma and beta, with the same placeholders
    defaults         of epsilon and momentum
    parameters       its names for gamma and beta, each with the argument that removes it if False ("": there is none)
    running          its names for the running mean and the running variance, if it has them
    call             the call
    """

    name: str
    matches: Callable[[AxisNumbers], bool]
    arguments: Callable[[AxisNumbers], CallArguments]
    normalized_axes: str
    defaults: Mapping[str, float]
    parameters: Mapping[str, str]
    parameter_axes: str = "axis={axis}"
    running: tuple[str, ...] = ()
    call: Callable[[AxisNumbers], str] = lambda a: "layer(x)"


@dataclass(frozen=True)
class Framework:
    """A framework: its layers, and its array library for Norms that none of them computes.

    arrays      the name of its array functions
    flat_gamma  whether gamma always has one axis
    counts      messages for the number of parameters: without and with running statistics
    """

    name: str
    imports: str
    arrays: str
    library: Library
    flat_gamma: bool
    counts: tuple[str, str]
    layers: tuple[FrameworkLayer, ...]

    def layer(self, a: AxisNumbers) -> FrameworkLayer | None:
        """The first layer that computes this Norm, or None."""
        return next((layer for layer in self.layers if a.complete and layer.matches(a)), None)


def _momentum(a: AxisNumbers) -> CallArguments:
    return {} if a.old_weight is None else {"momentum": repr(a.old_weight)}


def _epsilon_and_switches(a: AxisNumbers, parameters: Mapping[str, str]) -> CallArguments:
    absent = (a.gamma is None, not a.e.norm.bias)
    off = {switch: "False" for switch, is_off in zip(parameters.values(), absent, strict=False) if is_off}
    return {"epsilon": FLOAT32_EPS if a.e.norm.eps is None else repr(a.e.norm.eps)} | off


def _groups(a: AxisNumbers) -> tuple[int, int]:
    """The axis and the number of groups of a Norm that has groups."""
    assert a.per_group is not None
    return a.per_group


GAMMA_BETA = {"gamma": "scale", "beta": "center"}


def _keras(a: AxisNumbers, axes: Axes, parameters: Mapping[str, str] = GAMMA_BETA, /, **more: str) -> CallArguments:
    return {"axis": a.argument(axes, list)} | more | _epsilon_and_switches(a, parameters)


keras_layer = partial(FrameworkLayer, defaults={"epsilon": 1e-3}, parameters=GAMMA_BETA)
KERAS_LAYERS = Framework(
    name="Keras",
    imports=f"{KERAS_BACKEND}\nimport keras",
    arrays="keras.ops",
    library=KERAS,
    flat_gamma=False,
    counts=("{all}", N_("{all}: {learned} trainable, {running} not trainable")),
    layers=(
        keras_layer(
            "keras.layers.BatchNormalization",
            matches=lambda a: a.per_channel,
            arguments=lambda a: _keras(a, a.kept, **_momentum(a)),
            normalized_axes=N_("all but axis={axis}"),
            defaults={"epsilon": 1e-3, "momentum": 0.99},
            running=("moving_mean", "moving_variance"),
            call=lambda a: f"layer(x, training={not a.e.norm.running})",
        ),
        keras_layer(
            "keras.layers.LayerNormalization",
            matches=lambda a: a.centered and not a.groups and a.reduced != () and a.gamma in (None, a.reduced),
            arguments=lambda a: _keras(a, a.reduced),
            normalized_axes="axis={axis}",
        ),
        keras_layer(
            "keras.layers.GroupNormalization",
            matches=lambda a: a.per_group is not None,
            arguments=lambda a: {"groups": str(_groups(a)[1])} | _keras(a, _groups(a)[:1]),
            normalized_axes=N_("all but 0, and axis={axis} in groups={groups}"),
        ),
        keras_layer(  # it always has a scale, on the last axes
            "keras.layers.RMSNormalization",
            matches=lambda a: a.rms and a.gamma == a.reduced != () and a.are_last(a.reduced),
            arguments=lambda a: _keras(a, a.reduced, {}),
            normalized_axes="axis={axis}",
            defaults={"epsilon": 1e-6},
            parameters={"scale": ""},
        ),
    ),
)
SCALE_BIAS = {"scale": "use_scale", "bias": "use_bias"}
USE_SCALE = {"scale": "use_scale"}


def _flax(a: AxisNumbers, axes: Axes, parameters: Mapping[str, str] = SCALE_BIAS, /, **more: str) -> CallArguments:
    """``axes`` are the axes of scale. It is stored flat, with ``num_features`` elements."""
    two_pass = {"use_fast_variance": "False"} if a.centered else {}
    features = {"num_features": str(prod(a.sizes(axes)))}
    return features | more | _epsilon_and_switches(a, parameters) | two_pass | {"rngs": "nnx.Rngs(0)"}


def _flax_with_axes(a: AxisNumbers, parameters: Mapping[str, str] = SCALE_BIAS) -> CallArguments:
    """The arguments of the layers that take the reduced axes and the axes of scale separately."""
    reduction = a.argument(a.reduced)
    if a.gamma is None:
        return _flax(a, a.reduced, parameters, reduction_axes=reduction)
    return _flax(a, a.gamma, parameters, reduction_axes=reduction, feature_axes=a.argument(a.gamma))


def _call_channels_last(a: AxisNumbers) -> str:
    axis = _groups(a)[0]
    return "layer(x)" if a.are_last((axis,)) else f"jnp.moveaxis(layer(jnp.moveaxis(x, {axis}, -1)), -1, {axis})"


flax_layer = partial(FrameworkLayer, defaults={"epsilon": 1e-6}, parameters=SCALE_BIAS)
FLAX_LAYERS = Framework(
    name="Flax",
    imports="import jax\nfrom flax import nnx",
    arrays="jax.numpy",
    library=JAX,
    flat_gamma=True,
    counts=(N_("{learned} in Param"), N_("{learned} in Param, {running} in BatchStat")),
    layers=(
        flax_layer(
            "nnx.BatchNorm",
            matches=lambda a: a.per_channel,
            arguments=lambda a: _flax(
                a, a.kept, axis=a.argument(a.kept), use_running_average=str(a.e.norm.running), **_momentum(a)
            ),
            normalized_axes=N_("all but axis={axis}"),
            defaults={"epsilon": 1e-5, "momentum": 0.99},
            running=("mean", "var"),
        ),
        flax_layer(
            "nnx.GroupNorm",
            matches=lambda a: a.groups is not None and a.per_group is not None,
            arguments=lambda a: _flax(a, _groups(a)[:1], num_groups=str(_groups(a)[1])),
            normalized_axes=N_("all but 0, and the last axis in num_groups={num_groups}"),
            parameter_axes=N_("the last axis"),
            call=_call_channels_last,
        ),
        flax_layer(
            "nnx.InstanceNorm",
            matches=lambda a: a.per_instance,
            arguments=lambda a: _flax(a, a.kept[1:], feature_axes=a.argument(a.kept[1:])),
            normalized_axes=N_("all but 0 and feature_axes={feature_axes}"),
            parameter_axes="feature_axes={feature_axes}",
        ),
        flax_layer(
            "nnx.LayerNorm",
            matches=lambda a: a.centered and not a.groups,
            arguments=_flax_with_axes,
            normalized_axes="reduction_axes={reduction_axes}",
            parameter_axes="feature_axes={feature_axes}",
        ),
        flax_layer(
            "nnx.RMSNorm",
            matches=lambda a: a.rms and not a.groups,
            arguments=lambda a: _flax_with_axes(a, USE_SCALE),
            normalized_axes="reduction_axes={reduction_axes}",
            parameter_axes="feature_axes={feature_axes}",
            parameters=USE_SCALE,
        ),
    ),
)


# As a program, and as names. If no layer computes a Norm, the program uses the array functions of the framework.

FRAMEWORKS = {"keras": KERAS_LAYERS, "flax": FLAX_LAYERS}


def framework_code(framework: Framework, e: Description) -> str:
    """The layer in Keras 3, on the jax backend, or in flax.nnx."""
    a = AxisNumbers.of(e)
    layer = framework.layer(a)
    if layer is None:
        message = N_("{framework} has no layer that computes this; written from scratch with {arrays}.")
        lines = ["# " + _(message, framework=framework.name, arrays=framework.arrays)]
        if framework.library.finfo == FLOAT32_EPS and e.norm.eps is None:
            text = _("{eps}: the machine epsilon of float32, which torch uses for eps=None in float32", eps=FLOAT32_EPS)
            lines.append("# " + text)
        return "\n".join([*lines, from_scratch(framework.library, e)])
    call = layer.call(a)
    moved = "moveaxis" in call
    return "\n".join(
        [
            framework.imports,
            *(["from jax import numpy as jnp"] if moved else []),
            "",
            f"x = {framework.library.random(e.shape)}",
            *_differences(a, layer),
            *_constructor(a, layer),
            f"y = {call}" + ("  # " + _("the channels of the layer are the last axis") if moved else ""),
        ]
    )


def _constructor(a: AxisNumbers, layer: FrameworkLayer) -> list[str]:
    arguments, sizes = layer.arguments(a), a.sizes(a.gamma or ())
    weights = N_("the weight of the old value; torch's {momentum} is the weight of the new value")
    comments = {
        "momentum": "# " + _(weights, momentum=round(1 - (a.old_weight or 0), 12)),
        "center": "# " + _("no beta"),
        "use_fast_variance": "# " + _("the default is E[x^2] - E[x]^2"),
    }
    if layer.running:
        comments["axis"] = "# " + _("the axis that is kept")
    if len(sizes) > 1:
        comments["num_features"] = "# " + _("{sizes}: scale has one axis", sizes=" * ".join(map(str, sizes)))
    if a.e.norm.eps is None:
        comments["epsilon"] = "# " + _("the machine epsilon of float32, which torch uses for eps=None in float32")
    line = f"layer = {layer.name}({', '.join(f'{name}={value}' for name, value in arguments.items())})"
    if len(line) <= MAX_STATEMENT and not comments.keys() & arguments.keys():
        return [line]
    lines = [f"    {name}={value},  {comments.get(name, '')}".rstrip() for name, value in arguments.items()]
    return [f"layer = {layer.name}(", *lines, ")"]


def _differences(a: AxisNumbers, layer: FrameworkLayer) -> list[str]:
    """Comments on the differences from torch's running statistics."""
    tracks = a.e.layer is not None and a.e.layer.tracks
    lines = []
    if tracks and not layer.running:
        lines.append("# " + _("torch's layer has running statistics, this one does not."))
    if layer.running and a.e.layer is not None and not tracks:
        lines.append("# " + _("torch's layer has no running statistics, this one does."))
    if layer.running and a.old_weight is None:
        lines.append("# " + _("torch's momentum=None, the mean over all batches, does not exist here."))
    if layer.running and not a.e.norm.running:
        message = N_("{variance} uses the biased variance, torch's running_var the unbiased one.")
        lines.append("# " + _(message, variance=layer.running[1]))
    return lines


LABELS = {
    "layer": N_("layer"),
    "normalized_axes": N_("normalized axes"),
    "parameter_axes": N_("axes of gamma and beta"),
    "parameters": N_("gamma and beta"),
    "switches": N_("arguments that switch gamma and beta off"),
    "eps": "eps",
    "momentum": "momentum",
    "running": N_("running mean and variance"),
    "running_variance": N_("kind of running variance"),
    "count": N_("number of parameters"),
}
ONLY_IF_RUNNING = ("momentum", "running_variance")  # rows of layers that store running statistics


@dataclass(frozen=True)
class NameRow:
    """The names of one thing in three frameworks. ``key`` is a key of ``LABELS``."""

    key: str
    torch: str
    keras: str
    flax: str

    @property
    def label(self) -> str:
        return _(LABELS[self.key])


def framework_names(e: Description) -> tuple[NameRow, ...]:
    """The names of the explained layer in torch, Keras and Flax, with one row for each key of ``LABELS`` that applies.

    >>> from normviz import explain
    >>> for row in framework_names(explain("LayerNorm([4, 4])", (2, 3, 4, 4)))[:3]:
    ...     print(row.label, "|", row.torch, "|", row.keras, "|", row.flax)
    layer | nn.LayerNorm | keras.layers.LayerNormalization | nnx.LayerNorm
    normalized axes | normalized_shape=[4, 4] | axis=[2, 3] | reduction_axes=(2, 3)
    axes of gamma and beta | normalized_shape=[4, 4] | axis=[2, 3] | feature_axes=(2, 3)
    """
    a = AxisNumbers.of(e)
    columns = [_torch_names(a), *(_framework_layer_names(a, framework) for framework in FRAMEWORKS.values())]
    none, no_layer = _("none"), _("no layer")
    rows = [NameRow(key, *((names[key] or none) if names else no_layer for names in columns)) for key in LABELS]
    stores = any(names.get("running") for names in columns)
    return tuple(row for row in rows if stores or row.key not in ONLY_IF_RUNNING)


def _torch_names(a: AxisNumbers) -> dict[str, str | None]:
    """The names by key, None for what the layer does not have; empty without a layer."""
    layer = a.e.torch_layer
    if layer is None:
        return {}
    given, counts = layer.given, a.e.counts
    default = {argument.name: argument.default for argument in layer.kind.arguments}
    normalized = _("all but {axes}", axes=listed(a.kept, "and")) if a.kept else _("all")
    parameter_axes = _("axis {axis}", axis=listed(a.gamma, "and")) if a.gamma else None
    if "num_groups" in given:
        normalized = _(
            "all but 0, and axis {axis} in num_groups={groups}",
            axis=(layer.kind.channel_axis or 0) % len(a.e.shape),
            groups=given["num_groups"],
        )
    if "normalized_shape" in given:
        normalized = parameter_axes = f"normalized_shape={list(given['normalized_shape'])}"
    momentum = N_("momentum={momentum} of the new value (default {default})")
    if given.get("momentum") is None:
        momentum = N_("momentum={momentum} (default {default})")
    count = N_("{all}, and {buffers} in buffers") if layer.tracks else "{all}"
    return {
        "layer": f"nn.{layer.on_axis_1(len(a.e.shape)).name}, x.movedim(-1, 1)"
        if layer.kind.channels_last
        else f"nn.{layer.name}",
        "normalized_axes": normalized,
        "parameter_axes": None if a.gamma is None else parameter_axes,
        "parameters": _names_and_shapes(("weight", "bias"), (counts.gamma_shape, counts.beta_shape)),
        "switches": ", ".join(name for name in ("elementwise_affine", "affine", "bias") if name in given),
        "eps": _("eps={eps} (default {default})", eps=given["eps"], default=default["eps"]),
        "momentum": _(momentum, momentum=given["momentum"], default=default["momentum"]) if layer.tracks else None,
        "running": "running_mean, running_var" if layer.tracks else None,
        "running_variance": _("unbiased") if layer.tracks else None,
        "count": _(count, all=counts.parameters, buffers=layer.buffers()),
    }


def _framework_layer_names(a: AxisNumbers, framework: Framework) -> dict[str, str | None]:
    layer = framework.layer(a)
    if layer is None:
        return {}
    arguments = layer.arguments(a)
    shape = a.sizes(a.gamma or ())
    shape = (prod(shape),) if framework.flat_gamma else shape
    shapes = (None if a.gamma is None else shape, shape if a.e.norm.bias else None)
    momentum = N_("momentum={momentum} of the old value (default {default})")
    if "momentum" not in arguments:
        momentum = N_("does not exist (default {default})")
    learned, running = a.e.counts.parameters, 2 * prod(a.sizes(a.kept)) if layer.running else 0
    return {
        "layer": layer.name,
        "normalized_axes": _(layer.normalized_axes, **arguments),
        "parameter_axes": None if a.gamma is None else _(layer.parameter_axes, **arguments),
        "parameters": _names_and_shapes(tuple(layer.parameters), shapes),
        "switches": ", ".join(filter(None, layer.parameters.values())) or None,
        "eps": _("epsilon={eps} (default {default})", eps=arguments["epsilon"], default=layer.defaults["epsilon"]),
        "momentum": _(momentum, momentum=arguments.get("momentum"), default=layer.defaults.get("momentum"))
        if layer.running
        else None,
        "running": ", ".join(layer.running) or None,
        "running_variance": _("biased") if layer.running else None,
        "count": _(framework.counts[bool(running)], all=learned + running, learned=learned, running=running),
    }


def _names_and_shapes(names: tuple[str, ...], shapes: tuple[tuple[int, ...] | None, ...]) -> str | None:
    texts = [f"{name} {shape}" for name, shape in zip(names, shapes, strict=False) if shape is not None]
    return ", ".join(texts) or None


# The program of a flavor: a function in ``FLAVORS`` from a Description to text, which has the sizes of the explained x.


OTHER_NAMES = {"pytorch": "torch", "np": "numpy", "jax": "flax", "tf": "keras", "tensorflow": "keras"}


def code(e: Description, flavor: str) -> str:
    """The explained layer in one flavor. Raises NormvizError for an unknown flavor, and for "torch" if no torch layer does this."""
    if not isinstance(flavor, str) or flavor not in FLAVORS:
        meant = OTHER_NAMES.get(str(flavor).lower()) or closest(str(flavor), FLAVORS)
        if meant:
            raise NormvizError(
                "{flavor} is not a flavor of code. Did you mean {meant}?", flavor=echo(flavor), meant=meant
            )
        message = N_("{flavor} is not a flavor of code; choose {flavors}.")
        raise NormvizError(message, flavor=echo(flavor), flavors=listed(FLAVORS))
    return FLAVORS[flavor](e)


def torch_call(e: Description) -> str:
    """The call of torch's own layer. Raises NormvizError if torch has none."""
    if e.norm.zero_centered_gamma:
        raise NormvizError(
            "No layer of torch.nn multiplies by 1 + gamma. Use the 'torch-scratch' code, or a layer of torch.nn with 1 + gamma as its weight."
        )  # fmt: skip
    if e.torch_layer is None:
        message = N_(
            "No layer of torch.nn has these patterns ({norm}). Use the 'torch-scratch' code, or move the reduced axes "
            "to the end and use LayerNorm."
        )
        raise NormvizError(message, norm=e.norm)
    layer, call = e.torch_layer, "layer(x)"
    if layer.kind.channels_last:
        layer, call = _on_moved_channels(layer, len(e.shape))
    lines = [
        "import torch",
        "from torch import nn",
        "",
        f"x = {TORCH.random(e.shape)}",
        f"layer = nn.{layer}",
        f"y = {call}",
    ]
    return "\n".join(lines)


def _on_moved_channels(layer: Layer, rank: int) -> tuple[Layer, str]:
    """The layer of torch for channels on axis 1, and its call on an x whose channels are moved there and back."""
    if rank == 3:
        return layer.on_axis_1(rank), "layer(x.transpose(1, 2)).transpose(1, 2)"
    if (
        layer.kind.per_instance
    ):  # the gradient of InstanceNorm2d of torch 2.13 is wrong for one image with moved channels
        return layer.on_axis_1(3), "layer(x.flatten(1, -2).transpose(1, 2)).transpose(1, 2).reshape(x.shape)"
    return layer.on_axis_1(rank), "layer(x.movedim(-1, 1)).movedim(1, -1)"


def einops(e: Description) -> str:
    norm = e.norm
    sizes = norm.axis_sizes(e.shape)
    gamma = norm.pattern_names(norm.gamma_axes)
    left, right = norm.stats.split(" ->")[0], " ".join(norm.pattern.right)

    def repeat_over_x(value: str, kept: tuple[str, ...], source: str) -> str:
        given = {name: sizes[name] for name in norm.pattern.names if name not in kept or "(" in source}
        keywords = "".join(f", {name}={size}" for name, size in given.items())
        return f'repeat({value}, "{source} -> {left}"{keywords})'

    def mean(value: str) -> str:
        if not norm.pattern.reduced:
            return value
        known = "".join(f", {name}={size}" for name, size in norm.sizes if name in norm.pattern.names)  # type: ignore[str-unpack]
        return repeat_over_x(f'reduce({value}, "{norm.stats}", "mean"{known})', norm.pattern.right, right)

    if norm.running:
        body = [f"{s.removeprefix('running_')} = {repeat_over_x(s, norm.pattern.right, right)}" for s in RUNNING]
    elif norm.center:
        body = [f"mean = {mean('x')}", f"var = {mean('(x - mean) ** 2')}"]
    else:
        body = [f"mean_square = {mean('x**2')}"]
    grouped = " ".join(
        f"({' '.join(norm.parts[name])})" if len(norm.parts.get(name, ())) > 1 else name for name in norm.gamma_axes
    )
    body += normalize_lines(e, TORCH, lambda name: repeat_over_x(name, gamma, grouped))
    return "from einops import reduce, repeat\n" + program(e, TORCH, body)


def loops(e: Description) -> str:
    """Pseudo-code: a loop over each kept axis, and a comprehension over the reduced axes."""
    norm, sizes = e.norm, e.norm.axis_sizes(e.shape)
    names = norm.pattern.names
    element = f"x[{', '.join(_position(axis) for axis in norm.pattern.left)}]"
    inner = "".join(f" for {_loop_variable(name)} in range({name.upper()})" for name in norm.pattern.reduced)
    lines = [f"{', '.join(name.upper() for name in names)} = {', '.join(str(sizes[name]) for name in names)}"]
    for depth, name in enumerate(norm.pattern.right):
        lines.append(f"{'    ' * depth}for {_loop_variable(name)} in range({name.upper()}):")
    index = f"[{', '.join(map(_loop_variable, norm.pattern.right))}]" if norm.pattern.right else ""
    running = "".join(f", {stat}{index}" for stat in RUNNING) if norm.running else ""
    lines.append(f"{'    ' * len(norm.pattern.right)}normalize([{element}{inner}]{running})")
    if norm.params is not None:
        each = (N_("then {factor}: one for each {axes}"), N_("then {factor} and beta: one for each {axes}"))
        scalar = (N_("then {factor}: one scalar"), N_("then {factor} and beta: one scalar each"))
        message = (each if norm.gamma_axes else scalar)[norm.bias]
        lines.append("# " + _(message, factor=norm.factor, axes=" ".join(norm.gamma_axes)))
    return "\n".join(lines)


def _position(axis: tuple[str, ...]) -> str:
    """The index on an axis, from its parts: ``g * K + k``."""
    position = _loop_variable(axis[0])
    for name in axis[1:]:
        position = f"{in_brackets(position)} * {name.upper()} + {_loop_variable(name)}"
    return position


def _loop_variable(name: str) -> str:
    """The loop variable of an axis; an axis called x must not shadow the tensor x."""
    return f"{name}_" if name in ("x", "range", "normalize") else name


FLAVORS: Mapping[str, Callable[[Description], str]] = {
    "torch": torch_call,
    "torch-scratch": partial(from_scratch, TORCH),
    "numpy": partial(from_scratch, NUMPY),
    "einops": einops,
    "loops": loops,
    **{name: partial(framework_code, framework) for name, framework in FRAMEWORKS.items()},
}
