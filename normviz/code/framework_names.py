"""The same layer in Keras and Flax: as a program, and as a table of names next to torch's.

Neither framework is imported. ``frameworks`` has the layers and the Norms that they compute; if no layer computes a Norm, the program uses the array
functions of the framework.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from normviz.code.frameworks import FLAX_LAYERS, KERAS_LAYERS, AxisNumbers, Framework, FrameworkLayer
from normviz.code.from_scratch import FLOAT32_EPS, MAX_STATEMENT, comment, from_scratch
from normviz.texts.errors import listed
from normviz.texts.messages import N_, _

if TYPE_CHECKING:
    from normviz.analysis.description import Description

FRAMEWORKS = {"keras": KERAS_LAYERS, "flax": FLAX_LAYERS}


def keras_code(e: Description) -> str:
    """The layer in Keras 3, on the jax backend."""
    return _code(e, KERAS_LAYERS)


def flax_code(e: Description) -> str:
    """The layer in flax.nnx."""
    return _code(e, FLAX_LAYERS)


def _code(e: Description, framework: Framework) -> str:
    a = AxisNumbers.of(e)
    layer = framework.layer(a)
    if layer is None:
        lines = [
            comment(
                _("{framework} has no layer that computes this; written from scratch with {arrays}."),
                framework=framework.name,
                arrays=framework.arrays,
            )
        ]
        if framework.library.finfo == FLOAT32_EPS and e.norm.eps is None:
            lines.append(comment(_("{eps}: the machine epsilon of float32, torch's eps=None"), eps=FLOAT32_EPS))
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
            f"y = {call}" + (f"  {comment(_('the channels of the layer are the last axis'))}" if moved else ""),
        ]
    )


def _constructor(a: AxisNumbers, layer: FrameworkLayer) -> list[str]:
    arguments = layer.arguments(a)
    comments = {name: _argument_comment(name, value, a, layer) for name, value in arguments.items()}
    line = f"layer = {layer.name}({', '.join(f'{name}={value}' for name, value in arguments.items())})"
    if len(line) <= MAX_STATEMENT and not any(comments.values()):
        return [line]
    lines = [f"    {name}={value},  {comments[name]}".rstrip() for name, value in arguments.items()]
    return [f"layer = {layer.name}(", *lines, ")"]


def _argument_comment(name: str, value: str, a: AxisNumbers, layer: FrameworkLayer) -> str:
    sizes = a.sizes(a.gamma or ())
    if name == "axis" and layer.running:
        return comment(_("the axis that is kept"))
    if name == "momentum":
        torch = round(1 - (a.old_weight or 0), 12)
        return comment(
            _("the weight of the old value; torch's {momentum} is the weight of the new value"), momentum=torch
        )
    if name == "num_features" and len(sizes) > 1:
        return comment(_("{sizes}: scale has one axis"), sizes=" * ".join(map(str, sizes)))
    if name == "epsilon" and value == FLOAT32_EPS:
        return comment(_("the machine epsilon of float32, torch's eps=None"))
    if name == "center":
        return comment(_("no beta"))
    if name == "use_fast_variance":
        return comment(_("the default is E[x^2] - E[x]^2"))
    return ""


def _differences(a: AxisNumbers, layer: FrameworkLayer) -> list[str]:
    """Comments on the differences from torch's running statistics."""
    tracks = a.e.layer is not None and a.e.layer.tracks
    lines = []
    if tracks and not layer.running:
        lines.append(comment(_("torch's layer has running statistics, this one does not.")))
    if layer.running and a.e.layer is not None and not tracks:
        lines.append(comment(_("torch's layer has no running statistics, this one does.")))
    if layer.running and a.old_weight is None:
        lines.append(comment(_("torch's momentum=None, the mean over all batches, does not exist here.")))
    if layer.running and not a.e.norm.running:
        message = _("{variance} uses the biased variance, torch's running_var the unbiased one.")
        lines.append(comment(message, variance=layer.running[1]))
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
    rows = [NameRow(key, *(_shown(names, key) for names in columns)) for key in LABELS]
    stores = any(names.get("running") for names in columns)
    return tuple(row for row in rows if stores or row.key not in ONLY_IF_RUNNING)


def _shown(names: Mapping[str, str | None], key: str) -> str:
    return (names[key] or _("none")) if names else _("no layer")


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
        normalized = _("all but 0, and axis 1 in num_groups={groups}", groups=given["num_groups"])
    if "normalized_shape" in given:
        normalized = parameter_axes = f"normalized_shape={list(given['normalized_shape'])}"
    momentum = _("momentum={momentum} of the new value (default {default})")
    if given.get("momentum") is None:
        momentum = _("momentum={momentum} (default {default})")
    count = _("{all}, and {buffers} in buffers") if layer.tracks else "{all}"
    return {
        "layer": f"nn.{layer.name}",
        "normalized_axes": normalized,
        "parameter_axes": None if a.gamma is None else parameter_axes,
        "parameters": _names_and_shapes(("weight", "bias"), (counts.gamma_shape, counts.beta_shape)),
        "switches": ", ".join(name for name in ("elementwise_affine", "affine", "bias") if name in given),
        "eps": _("eps={eps} (default {default})", eps=given["eps"], default=default["eps"]),
        "momentum": momentum.format(momentum=given["momentum"], default=default["momentum"]) if layer.tracks else None,
        "running": "running_mean, running_var" if layer.tracks else None,
        "running_variance": _("unbiased") if layer.tracks else None,
        "count": count.format(all=counts.parameters, buffers=layer.buffers()),
    }


def _framework_layer_names(a: AxisNumbers, framework: Framework) -> dict[str, str | None]:
    layer = framework.layer(a)
    if layer is None:
        return {}
    arguments = layer.arguments(a)
    shape = a.sizes(a.gamma or ())
    shape = (prod(shape),) if framework.flat_gamma else shape
    shapes = (None if a.gamma is None else shape, shape if a.e.norm.bias else None)
    momentum = _("momentum={momentum} of the old value (default {default})")
    if "momentum" not in arguments:
        momentum = _("does not exist (default {default})")
    learned, running = a.e.counts.parameters, 2 * prod(a.sizes(a.kept)) if layer.running else 0
    return {
        "layer": layer.name,
        "normalized_axes": _(layer.normalized_axes).format(**arguments),
        "parameter_axes": None if a.gamma is None else _(layer.parameter_axes).format(**arguments),
        "parameters": _names_and_shapes(tuple(layer.parameters), shapes),
        "switches": ", ".join(filter(None, layer.parameters.values())) or None,
        "eps": _("epsilon={eps} (default {default})", eps=arguments["epsilon"], default=layer.defaults["epsilon"]),
        "momentum": momentum.format(momentum=arguments.get("momentum"), default=layer.defaults.get("momentum"))
        if layer.running
        else None,
        "running": ", ".join(layer.running) or None,
        "running_variance": _("biased") if layer.running else None,
        "count": _(framework.counts[bool(running)]).format(all=learned + running, learned=learned, running=running),
    }


def _names_and_shapes(names: tuple[str, ...], shapes: tuple[tuple[int, ...] | None, ...]) -> str | None:
    texts = [f"{name} {shape}" for name, shape in zip(names, shapes, strict=False) if shape is not None]
    return ", ".join(texts) or None
