"""The same layer in Keras and Flax: as a program that runs, and name by name beside torch.

Neither framework is imported. Which of its layers does what is data, in ``counterparts``; where none does it, the
program is from scratch in the framework's array functions and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from normviz.code.axis_numbers import Placement
from normviz.code.frameworks import FLAX_LAYERS, KERAS_LAYERS, Counterpart, Framework
from normviz.code.from_scratch import FLOAT32_EPS, LONGEST, from_scratch
from normviz.layers.errors import listed

if TYPE_CHECKING:
    from normviz.analysis.explanation import Explanation

FRAMEWORK_FLAVORS = ("keras", "flax")
EPS_IS = "float32's machine epsilon, torch's eps=None"


def keras_code(e: Explanation) -> str:
    """The layer in Keras 3, on the jax backend."""
    return _code(e, KERAS_LAYERS)


def flax_code(e: Explanation) -> str:
    """The layer in flax.nnx."""
    return _code(e, FLAX_LAYERS)


def _code(e: Explanation, framework: Framework) -> str:
    p = Placement.of(e)
    layer = framework.layer(p)
    if layer is None:
        eps = [f"# {FLOAT32_EPS}: {EPS_IS}"] if framework.library.finfo == FLOAT32_EPS and e.norm.eps is None else []
        why = f"# No layer of {framework.name} does this: from scratch, with {framework.arrays}."
        return "\n".join([why, *eps, from_scratch(framework.library)(e)])
    call = layer.call(p)
    return "\n".join(
        [
            framework.imports,
            *(["from jax import numpy as jnp"] if "jnp." in call else []),
            "",
            f"x = {framework.library.random(e.shape)}",
            *_remarks(p, layer),
            *_made(p, layer),
            f"y = {call}",
        ]
    )


def _made(p: Placement, layer: Counterpart) -> list[str]:
    """The line, or the lines, that make the layer."""
    arguments = layer.arguments(p)
    comments = {name: _comment(name, value, p, layer) for name, value in arguments.items()}
    line = f"layer = {layer.name}({', '.join(f'{name}={value}' for name, value in arguments.items())})"
    if len(line) <= LONGEST and not any(comments.values()):
        return [line]
    lines = [f"    {name}={value},{comments[name]}" for name, value in arguments.items()]
    return [f"layer = {layer.name}(", *lines, ")"]


def _comment(name: str, value: str, p: Placement, layer: Counterpart) -> str:
    """What an argument's value needs said beside it."""
    sizes = p.sizes(p.gamma or ())
    said = {
        "axis": "the axis that is kept" if layer.running else "",
        "momentum": f"of the old value, as torch's {round(1 - (p.momentum or 0), 12)} is of the new one",
        "num_features": f"{' * '.join(map(str, sizes))}: scale is flat" if len(sizes) > 1 else "",
        "epsilon": EPS_IS if value == FLOAT32_EPS else "",
        "center": "no beta",
        "use_fast_variance": "the default is E[x^2] - E[x]^2",
    }.get(name)
    return f"  # {said}" if said else ""


def _remarks(p: Placement, layer: Counterpart) -> list[str]:
    """Where its running statistics part from torch's."""
    ours = p.e.layer
    tracks = ours is not None and ours.tracks
    lines = []
    if tracks and not layer.running:
        lines.append("# torch's layer keeps running statistics, this one does not.")
    if layer.running and ours is not None and not tracks:
        lines.append("# torch's layer keeps no running statistics, this one does.")
    if layer.running and p.momentum is None:
        lines.append("# torch's momentum=None, the plain mean of all batches, has no counterpart.")
    if layer.running and not p.e.norm.running:
        lines.append(f"# {layer.running[1]} takes in the biased variance, torch's running_var the unbiased one.")
    return lines


@dataclass(frozen=True)
class Name:
    """What one idea is called, and how it is set, in the three frameworks."""

    idea: str
    torch: str
    keras: str
    flax: str


NO_LAYER, NONE = "no layer", "none"


def framework_names(e: Explanation) -> tuple[Name, ...]:
    """The explained layer name by name in torch, Keras and Flax: the same ideas in the same order for every layer.

    >>> from normviz import explain
    >>> for name in framework_names(explain("LayerNorm([4, 4])", (2, 3, 4, 4)))[:3]:
    ...     print(name.idea, "|", name.torch, "|", name.keras, "|", name.flax)
    layer | nn.LayerNorm | keras.layers.LayerNormalization | nnx.LayerNorm
    axes that are normalized | normalized_shape=[4, 4] | axis=[2, 3] | reduction_axes=(2, 3)
    axes of gamma and beta | normalized_shape=[4, 4] | axis=[2, 3] | feature_axes=(2, 3)
    """
    p = Placement.of(e)
    torch, keras, flax = _torch_names(p), _names(p, KERAS_LAYERS), _names(p, FLAX_LAYERS)
    return tuple(Name(idea, torch[idea], keras[idea], flax[idea]) for idea in torch)


def _row(
    layer: str = NO_LAYER,
    normalized: str = NO_LAYER,
    learned: str = NO_LAYER,
    names: str = NO_LAYER,
    switches: str = NO_LAYER,
    eps: str = NO_LAYER,
    momentum: str = NO_LAYER,
    running: str = NO_LAYER,
    variance: str = NO_LAYER,
    parameters: str = NO_LAYER,
) -> dict[str, str]:
    return {
        "layer": layer,
        "axes that are normalized": normalized,
        "axes of gamma and beta": learned,
        "gamma and beta": names,
        "False leaves them out": switches,
        "eps": eps,
        "momentum": momentum,
        "running mean and variance": running,
        "running variance": variance,
        "parameters": parameters,
    }


def _torch_names(p: Placement) -> dict[str, str]:
    layer = p.e.torch_layer
    if layer is None:
        return _row()
    given, counts = layer.given, p.e.counts
    default = {argument.name: argument.default for argument in layer.kind.arguments}
    if "normalized_shape" in given:
        normalized = learned = f"normalized_shape={list(given['normalized_shape'])}"
    else:
        normalized = f"all but {listed(p.kept, 'and')}" if p.kept else "all"
        learned = f"axis {listed(p.gamma or (NONE,), 'and')}"
    if "num_groups" in given:
        normalized = f"all but 0, and axis 1 in num_groups={given['num_groups']}"
    weighs = "" if given.get("momentum") is None else " of the new value"
    buffers = f", {layer.buffers()} numbers in buffers" if layer.tracks else ""
    return _row(
        layer=f"nn.{layer.name}",
        normalized=normalized,
        learned=NONE if p.gamma is None else learned,
        names=_shapes(("weight", "bias"), (counts.gamma_shape, counts.beta_shape)),
        switches=", ".join(name for name in ("elementwise_affine", "affine", "bias") if name in given),
        eps=f"eps={given['eps']} (default {default['eps']})",
        momentum=f"momentum={given['momentum']}{weighs} (default {default['momentum']})" if layer.tracks else NONE,
        running="running_mean, running_var" if layer.tracks else NONE,
        variance="unbiased" if layer.tracks else NONE,
        parameters=f"{counts.parameters} parameters{buffers}",
    )


def _names(p: Placement, framework: Framework) -> dict[str, str]:
    layer = framework.layer(p)
    if layer is None:
        return _row()
    arguments = layer.arguments(p)
    shape = p.sizes(p.gamma or ())
    shape = (prod(shape),) if framework.flat else shape
    shapes = (None if p.gamma is None else shape, shape if p.e.norm.bias else None)
    momentum = f"momentum={arguments['momentum']} of the old value" if "momentum" in arguments else "none such"
    return _row(
        layer=layer.name,
        normalized=layer.normalized.format(**arguments),
        learned=NONE if p.gamma is None else layer.learned.format(**arguments),
        names=_shapes(tuple(layer.learns), shapes),
        switches=", ".join(filter(None, layer.learns.values())) or NONE,
        eps=f"epsilon={arguments['epsilon']} (default {layer.defaults['epsilon']})",
        momentum=f"{momentum} (default {layer.defaults['momentum']})" if layer.running else NONE,
        running=", ".join(layer.running) or NONE,
        variance="biased" if layer.running else NONE,
        parameters=framework.counted(p.e.counts.parameters, 2 * prod(p.sizes(p.kept)) if layer.running else 0),
    )


def _shapes(names: tuple[str, ...], shapes: tuple[tuple[int, ...] | None, ...]) -> str:
    said = [f"{name} {shape}" for name, shape in zip(names, shapes, strict=False) if shape is not None]
    return ", ".join(said) or NONE
