"""A normalization as other code writes it: ``F.layer_norm(x, x.shape[1:])``, ``x.mean((0, 2, 3), keepdim=True)``, a layer of Keras, or
``reduce(x, "n c h w -> c", "mean")`` of einops.

An expression is about the tensor of a scene. It is parsed, never executed, and what could mean two things is refused.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from normviz.layers.axes import MAX_TEXT
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.scene.edits import with_layer
from normviz.scene.scene import Scene
from normviz.scene.toggles import named
from normviz.texts.errors import NormvizError, echo, listed

Nodes = Mapping[str, ast.expr]
LIBRARIES = (
    "", "F", "functional", "nn.functional", "torch", "torch.nn.functional", "np", "numpy", "jnp", "jax.numpy", "tf", "ops", "keras.ops",
    "layers", "keras.layers", "tf.keras.layers", "tensorflow.keras.layers", "einops",
)  # fmt: skip
KERAS = re.compile(r"\b(Layer|Batch|Group|RMS)Normalization\b")


def expressed_layer(text: str, scene: Scene) -> Layer | Norm | None:
    """The layer of an expression about the scene's tensor; None if the text is no such expression.

    Raises NormvizError if it is one, and could mean two things or has a value that is not written in it.
    """
    try:
        call = ast.parse(text.strip(), mode="eval").body if len(text) <= MAX_TEXT else None
        if not isinstance(call, ast.Call):
            return None
        library, _dot, name = ast.unparse(call.func).rpartition(".")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    if name == "mean" and library not in LIBRARIES and isinstance(call.func, ast.Attribute):
        library, call.args = "", [call.func.value, *call.args]  # a method
    if name not in READERS or library not in LIBRARIES:
        return None
    takes, read = READERS[name]
    try:
        found = read(_arguments(name, call, takes.split()), scene)
    except RecursionError:
        return None
    return named(found, with_layer(scene, found).scene) if isinstance(found, Norm) else found


def _arguments(name: str, call: ast.Call, takes: list[str]) -> Nodes:
    """The arguments by name. ``reduce`` takes the sizes of axes too."""
    given: dict[str, ast.expr] = dict(zip(takes, call.args, strict=False))
    for keyword in call.keywords:
        key = ALIASES.get(keyword.arg or "", keyword.arg or "")
        if key in given or not key or (key not in takes and name != "reduce"):
            break
        given[key] = keyword.value
    else:
        if len(call.args) <= len(takes) and not any(isinstance(node, ast.Starred) for node in call.args):
            return given
    raise _misread(name, takes)


def _misread(name: str, takes: list[str]) -> NormvizError:
    return NormvizError("{name} is read with these arguments: {names}.", name=name, names=listed(takes, "and"))


ALIASES = {"input": "x", "tensor": "x", "axis": "dim", "axes": "dim", "keepdims": "keepdim", "epsilon": "eps"}


def _literal(given: Nodes, name: str, default: object = None) -> Any:
    if name not in given:
        return default
    try:
        return ast.literal_eval(given[name])
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise _unknown(given[name]) from None


def _unknown(node: ast.expr) -> NormvizError:
    return NormvizError(
        "The value of {text} is not in the text, which is read and never executed; write it as numbers.",
        text=echo(ast.unparse(node)),
    )


def _axes(given: Nodes, scene: Scene, default: object = None) -> tuple[int, ...]:
    """The axes of ``dim``, counted from 0; all for None."""
    dims = _literal(given, "dim", default)
    rank = len(scene.shape)
    dims = tuple(range(rank)) if dims is None else tuple(dims) if isinstance(dims, list | tuple) else (dims,)
    if (
        not dims
        or not all(type(dim) is int and -rank <= dim < rank for dim in dims)
        or len({dim % rank for dim in dims}) < len(dims)
    ):
        raise NormvizError(
            "{dims} is not a list of different axes of x, which has the axes 0 to {last}: {axes}.",
            dims=echo(dims), last=rank - 1, axes=", ".join(scene.axes).upper(),
        )  # fmt: skip
    return tuple(dim % rank for dim in dims)


def _sizes(given: Nodes, scene: Scene) -> list[Any]:
    """The list ``normalized_shape``, of numbers or taken from the shape of x: ``[4, 5]``, ``x.shape[1:]``, ``(x.size(-1),)``."""
    node, x = given.get("normalized_shape"), ast.unparse(given["x"]) if "x" in given else ""
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else [node] if node else []
    sizes = [_of_shape(one, x, scene.shape) for one in elements]
    if sizes and elements == [node] and isinstance(sizes[0], tuple):
        return list(sizes[0])
    if not sizes or elements == [node]:
        raise NormvizError("normalized_shape is a list of sizes, as in F.layer_norm(x, x.shape[1:]).")
    return [_literal({"": one}, "") if size is None else size for one, size in zip(elements, sizes, strict=True)]


def _of_shape(node: ast.expr, x: str, shape: tuple[int, ...]) -> tuple[int, ...] | int | None:
    """``x.shape``, ``x.shape[1:]``, ``x.size()[-1]`` or ``x.size(-1)`` as sizes; None for another expression."""
    whole = f"{x}.shape", f"{x}.size()"
    try:
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) in whole:
            place = node.slice
            if isinstance(place, ast.Slice):
                ends: list[Any] = [end and ast.literal_eval(end) for end in (place.lower, place.upper, place.step)]
                return shape[slice(*ends)]
            return shape[ast.literal_eval(place)]
        if isinstance(node, ast.Call) and ast.unparse(node.func) == f"{x}.size" and len(node.args) == 1:
            return shape[ast.literal_eval(node.args[0])]
    except (ValueError, TypeError, IndexError):
        raise _unknown(node) from None
    return shape if ast.unparse(node) in whole else None


def _is_given(given: Nodes, name: str) -> bool:
    """Whether a tensor is given: ``self.weight``, and not None."""
    node = given.get(name)
    if isinstance(node, ast.Name | ast.Attribute):
        return True
    if _literal(given, name) is not None and node is not None:
        raise _unknown(node)
    return False


def _learned(given: Nodes) -> tuple[bool, bool]:
    """Whether there is a gamma and a beta."""
    gamma, beta = _is_given(given, "weight"), _is_given(given, "bias")
    if beta and not gamma:
        raise _beta_alone()
    return gamma, beta


def _beta_alone() -> NormvizError:
    return NormvizError("A beta without a gamma has no layer here; write both, or none.")


def _affine(given: Nodes) -> bool:
    """Whether there are gamma and beta, of a layer that has both or none."""
    gamma, beta = _learned(given)
    if gamma and not beta:
        raise NormvizError("A gamma without a beta has no such layer here; write both, or none.")
    return gamma


def _eps(given: Nodes, default: float | None) -> dict[str, Any]:
    return {"eps": _literal(given, "eps", default)}


# torch.nn.functional


def _layer_norm(given: Nodes, scene: Scene) -> Layer:
    given, factor = _without_1(given)
    gamma, beta = _learned(given)
    return Layer.make(
        "LayerNorm", _sizes(given, scene), elementwise_affine=gamma, bias=beta or not gamma, **_eps(given, 1e-5), **factor
    )  # fmt: skip


def _rms_norm(given: Nodes, scene: Scene) -> Layer:
    given, factor = _without_1(given)
    return Layer.make(
        "RMSNorm", _sizes(given, scene), elementwise_affine=_is_given(given, "weight"), **_eps(given, None), **factor
    )  # fmt: skip


def _without_1(given: Nodes) -> tuple[Nodes, dict[str, bool]]:
    """The arguments with w in place of 1 + w, and the option of a layer that multiplies by 1 + gamma."""
    match given.get("weight"):
        case (
            ast.BinOp(left=ast.Constant(value=1), op=ast.Add(), right=weight)
            | ast.BinOp(left=weight, op=ast.Add(), right=ast.Constant(value=1))
        ):
            return {**given, "weight": weight}, {"zero_centered_gamma": True}
    return given, {}


def _group_norm(given: Nodes, scene: Scene) -> Layer:
    return Layer.make(
        "GroupNorm", _literal(given, "num_groups"), _channels(scene), affine=_affine(given), **_eps(given, 1e-5)
    )


def _channels(scene: Scene) -> int:
    """The size of axis 1, on which torch has the channels."""
    if len(scene.shape) < 2:
        raise NormvizError("x has one axis, and torch has the channels on axis 1.")
    return scene.shape[1]


def _with_channels(family: str, stored: str, lowest: int) -> Callable[[Nodes, Scene], Layer]:
    """The reader of ``batch_norm`` or ``instance_norm``; ``stored`` is the argument that says whether x has its own statistics."""

    def read(given: Nodes, scene: Scene) -> Layer:
        rank, channels = len(scene.shape), _channels(scene)
        tracks, of_x = _is_given(given, "running_mean"), _literal(given, stored, family == "InstanceNorm")
        if _is_given(given, "running_var") != tracks or type(of_x) is not bool or (not of_x and not tracks):
            raise NormvizError(
                "{name} needs running_mean and running_var, or {argument}=True and neither of them.",
                name="batch_norm" if family == "BatchNorm" else "instance_norm", argument=stored,
            )  # fmt: skip
        if not lowest <= rank <= 5:
            raise NormvizError("{family} has no layer for an x of shape {shape}.", family=family, shape=scene.shape)
        options = {"momentum": _literal(given, "momentum", 0.1), **_eps(given, 1e-5)}
        name = f"{family}{max(1, rank - 2)}d"
        return Layer.make(
            name, channels, affine=_affine(given), track_running_stats=tracks, training=of_x, **options
        )  # fmt: skip

    return read


# The mean


def _mean(given: Nodes, scene: Scene) -> Norm:
    """``x.mean(...)``; the mean of squares is that of RMSNorm."""
    x = given.get("x")
    squared = _squared(x)
    if not isinstance(squared or x, ast.Name | ast.Attribute):
        raise NormvizError(
            "Write the mean of one tensor, as in x.mean((0, 2, 3), keepdim=True), or of its square, as in x.pow(2).mean(-1)."
        )
    if type(_literal(given, "keepdim", True)) is not bool:
        raise _misread("mean", ["x", "dim", "keepdim"])
    kept = _without(scene, _axes(given, scene))
    return Norm(f"{' '.join(scene.axes)} -> {kept}", center=squared is None, eps=1e-5 if squared is None else None)


def _squared(node: ast.expr | None) -> ast.expr | None:
    """The tensor of which this is the square."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and ast.unparse(node.right) == "2":
        return node.left
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_square = (node.func.attr, [ast.unparse(one) for one in node.args]) in (("pow", ["2"]), ("square", []))
        return node.func.value if is_square and not node.keywords else None
    return None


def _without(scene: Scene, reduced: tuple[int, ...]) -> str:
    return " ".join(name for axis, name in enumerate(scene.axes) if axis not in reduced)


def _reduce(given: Nodes, scene: Scene) -> Norm:
    """``reduce(x, "n c h w -> c", "mean")``; the pattern may have names of its own, in the order of the axes."""
    pattern, reduction = _literal(given, "pattern"), _literal(given, "reduction")
    if not isinstance(pattern, str) or pattern.count("->") != 1 or "..." in pattern or reduction != "mean":
        raise NormvizError('Write the mean of whole axes, as in reduce(x, "n c h w -> c", "mean").')
    left, right = pattern.split("->")
    sizes = {name: _literal(given, name) for name in given if name not in ("x", "pattern", "reduction")}
    kept = " ".join(re.findall(r"[^\W\d]\w*", right))
    written = Norm(f"{left} -> {kept}", sizes=sizes)
    axes, parts = scene.axes, written.pattern.left
    names = [axis[0] if len(axis) == 1 else "" for axis in parts]
    if len(parts) != len(axes) or any(name in axes and axes.index(name) != place for place, name in enumerate(names)):
        raise NormvizError(
            "The pattern has the axes {written}, and x has {axes}; choose the tensor of the pattern first.",
            written=left.strip(), axes=" ".join(axes),
        )  # fmt: skip
    split = [axis for axis in parts if len(axis) > 1]
    renamed = dict(zip(names, axes, strict=True))
    if len(split) == 1 and len(split[0]) == 2:
        renamed |= dict(zip(split[0], "gk", strict=True))
    texts = [" ".join(renamed.get(name, name) for name in axis) for axis in parts]
    stats = " ".join(text if len(axis) == 1 else f"({text})" for text, axis in zip(texts, parts, strict=True))
    kept = " ".join(renamed.get(name, name) for name in written.pattern.right)
    return Norm(
        f"{stats} -> {kept}", sizes={renamed.get(name, name): size for name, size in written.split_sizes.items()}
    )


# Keras


def _keras_axes(given: Nodes, scene: Scene) -> tuple[int, ...]:
    """The axes of a layer of Keras; the last one by default, which must be that of the channels."""
    if "dim" not in given and "c" in scene.axes[:-1]:
        raise NormvizError(
            "Without axis=, Keras takes the last axis, which is {last} of this x, and not C: write axis={axis}, or choose a tensor with C at the end.",
            last=scene.axes[-1].upper(), axis=scene.axes.index("c"),
        )  # fmt: skip
    return _axes(given, scene, -1)


def _keras_norm(
    given: Nodes, scene: Scene, stats: str, gamma: tuple[int, ...], sizes: Mapping[str, Any] | None = None
) -> Norm:
    scale, center = _literal(given, "scale", True), _literal(given, "center", True)
    if center and not scale:
        raise _beta_alone()
    params = " ".join(scene.axes[axis] for axis in sorted(gamma)) if scale else None
    return Norm(stats, params, bias=bool(scale and center), sizes=sizes or {}, **_eps(given, 1e-3))


def _layer_normalization(given: Nodes, scene: Scene) -> Norm:
    axes = _keras_axes(given, scene)
    return _keras_norm(given, scene, f"{' '.join(scene.axes)} -> {_without(scene, axes)}", axes)


def _rms_normalization(given: Nodes, scene: Scene) -> Norm:
    layer = _layer_normalization(given, scene)
    return replace(layer, center=False, bias=False, **_eps(given, 1e-6))


def _batch_normalization(given: Nodes, scene: Scene) -> Layer | Norm:
    (axis, *more) = _keras_axes(given, scene)
    if more:
        raise NormvizError("BatchNormalization takes one axis.")
    name = scene.axes[axis]
    target = _keras_norm(given, scene, f"{' '.join(scene.axes)} -> {name}", (axis,))
    layer = named(target, with_layer(scene, target).scene)
    if not isinstance(layer, Layer) or "momentum" not in layer.given:
        return layer
    momentum = _literal(given, "momentum", 0.99)
    if type(momentum) not in (int, float) or not 0 <= momentum <= 1:
        raise NormvizError(
            "{name}={value} must be a number from 0 to 1, or None for a cumulative average.",
            name="momentum",
            value=echo(momentum),
        )
    return layer.with_(momentum=round(1 - momentum, 12))  # torch's is the weight of the new value


def _group_normalization(given: Nodes, scene: Scene) -> Norm:
    (axis, *more) = _keras_axes(given, scene)
    groups = _literal(given, "groups", 32)
    if more or axis == 0:
        raise NormvizError("GroupNormalization takes one axis other than the first.")
    groups = scene.shape[axis] if groups == -1 else groups
    left = " ".join("(g k)" if place == axis else name for place, name in enumerate(scene.axes))
    return _keras_norm(given, scene, f"{left} -> {scene.axes[0]} g", (axis,), sizes={"g": groups})


READERS: Mapping[str, tuple[str, Callable[[Nodes, Scene], Layer | Norm]]] = {
    "layer_norm": ("x normalized_shape weight bias eps", _layer_norm),
    "rms_norm": ("x normalized_shape weight eps", _rms_norm),
    "group_norm": ("x num_groups weight bias eps", _group_norm),
    "batch_norm": ("x running_mean running_var weight bias training momentum eps", _with_channels("BatchNorm", "training", 2)),
    "instance_norm": ("x running_mean running_var weight bias use_input_stats momentum eps", _with_channels("InstanceNorm", "use_input_stats", 3)),
    "mean": ("x dim keepdim", _mean),
    "reduce_mean": ("x dim keepdim", _mean),
    "reduce": ("x pattern reduction", _reduce),
    "LayerNormalization": ("dim eps center scale", _layer_normalization),
    "RMSNormalization": ("dim eps", _rms_normalization),
    "BatchNormalization": ("dim momentum eps center scale", _batch_normalization),
    "GroupNormalization": ("groups dim eps center scale", _group_normalization),
}  # fmt: skip
