"""The explained layer as code: the torch call, from scratch, NumPy, einops, nested loops, Keras, Flax.

A flavor is a function from a Description to text in ``FLAVORS``. The code contains the sizes of the explained x.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from normviz.code.frameworks import FRAMEWORKS, framework_code
from normviz.code.from_scratch import NUMPY, RUNNING, TORCH, from_scratch, in_brackets, normalize_lines, program
from normviz.texts.errors import NormvizError, closest, echo, listed
from normviz.texts.messages import N_, _

if TYPE_CHECKING:
    from normviz.analysis.description import Description
    from normviz.layers.layer import Layer


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
