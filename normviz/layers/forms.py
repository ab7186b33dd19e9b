"""How code writes a normalization: layers of torch, timm, Keras, Flax and MLX, functions of torch, and the mean of a tensor.

``FORMS`` has one row for each way of writing. A call is parsed, never executed; what it does not say gets the default, or the size of an
example, and a note says so. What could mean two things is refused.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from normviz.layers.axes import example_shape, parse_layout
from normviz.layers.catalogue import ABSENT, FAMILIES, KINDS, LAYER_NORM_LAYOUTS, REQUIRED, SIZES, Argument, Kind
from normviz.layers.fit import kind_for
from normviz.layers.layer import Layer
from normviz.layers.naming import layer_with_axes
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _, join_sentences

Nodes = Mapping[str, ast.expr]


@dataclass(frozen=True)
class Tensor:
    """The x that a text is about."""

    shape: tuple[int, ...]
    axes: tuple[str, ...]

    @classmethod
    def example(cls, layout: str, **known: int) -> Tensor:
        axes = parse_layout(layout, sum(map(str.isalpha, layout)))
        return cls(example_shape(axes, known), axes)


Read = tuple[
    Layer | Norm, Tensor | None, str
]  # what is read; its x, if the text or the way of writing says which; a note


@dataclass(frozen=True)
class BoundCall:
    """A call with its arguments by name.

    name      of the function or the layer
    library   what stands before the name: "torch.nn"
    defaults  of the arguments
    nodes     the arguments that the text gives
    written   how the text calls them, where that is another name
    tensor    the x that is known already
    training  what ``.eval()`` or ``.train()`` behind the call says
    """

    name: str
    library: str
    defaults: Mapping[str, Any]
    nodes: Nodes
    written: Mapping[str, str]
    tensor: Tensor | None = None
    training: bool = True

    def value(self, name: str) -> Any:
        """The value of an argument; its default, if the text has none."""
        node = self.nodes.get(name)
        return self.defaults[name] if node is None or not is_known(node) else literal(node)

    def given(self, name: str) -> Any:
        """The value of an argument, which must be in the text, or left out."""
        return self.defaults[name] if name not in self.nodes else literal(self.nodes[name])

    def has(self, name: str) -> bool:
        """Whether a tensor is given: ``self.weight``, and not None."""
        node = self.nodes.get(name)
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            return False
        if is_known(node):
            raise NormvizError(TENSORS, name=name)
        return True

    def unknown(self) -> dict[str, str]:
        """The arguments whose values are not in the text, with their code. A tensor needs no value."""
        names = [name for name in self.nodes if name in self.defaults and self.defaults[name] is not TENSOR]
        x = ast.unparse(self.nodes["x"]) if "x" in self.nodes else None
        return {name: ast.unparse(self.nodes[name]) for name in names if not is_said(self.nodes[name], x)}


TENSORS = N_(
    "{name} is a tensor, or None. Name the arguments, so that each is in its place, as in weight=..., eps=1e-5."
)
TENSOR = object()  # the default of an argument that is a tensor
OPERATIONS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Pow: lambda a, b: float(a) ** b if b < 0 else a**b,
}


def literal(node: ast.expr) -> Any:
    """The value of a literal, or of arithmetic with numbers, such as ``2 * 64``. Raises NormvizError for other code."""
    try:
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
            first, second = literal(node.left), literal(node.right)
            if max(abs(first), abs(second)) < 2**40 and not (isinstance(node.op, ast.Pow) and abs(second) > 40):
                return OPERATIONS[type(node.op)](first, second)
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in ("torch.Size", "tuple", "list")
            and len(node.args) == 1
        ):
            return literal(node.args[0])
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, ArithmeticError, MemoryError, RecursionError):
        raise _unknown(node) from None


def is_known(node: ast.expr) -> bool:
    try:
        literal(node)
    except NormvizError:
        return False
    return True


def is_said(node: ast.expr, x: str | None) -> bool:
    """Whether the value is in the text, or is a size of its tensor x."""
    if isinstance(node, ast.Tuple | ast.List):
        return all(is_said(one, x) for one in node.elts)
    return is_known(node) or (x is not None and ast.unparse(node).startswith((f"{x}.shape", f"{x}.size(")))


def _unknown(node: ast.expr) -> NormvizError:
    return NormvizError(
        "The value of {text} is not in the text, which is read and never executed; write it as numbers.",
        text=echo(code_of(node)),
    )


def code_of(node: ast.expr) -> str:
    try:
        return ast.unparse(node)
    except RecursionError:
        return "…"


OF_TORCH = re.compile("device|dtype")
OF_FLAX = re.compile("name|rngs|param_dtype|.*_init|use_fast_variance|axis_name|force_float32_reductions")
IGNORED = re.compile(r"device|dtype|param_dtype|name|rngs|trainable|input_shape|training|out|.*_(?:init|initializer|regularizer|constraint)|use_fast_variance|axis_name|force_float32_reductions|synchronized|fused|scope|inplace")  # fmt: skip


@dataclass(frozen=True)
class Form:
    """One way of writing.

    takes      the arguments in order, with their defaults
    read       what a call of this form means
    libraries  what may stand before the name: ``F`` in ``F.layer_norm``; None: anything
    only_of    the library whose layer it is, if torch has another one of this name; its arguments tell
    positional how many of the arguments may be given without their names
    never      names of arguments that the layer does not have, although it has others that mean the same
    ignored    names of arguments that may be given and say nothing about who shares what
    """

    takes: Mapping[str, Any]
    read: Callable[[BoundCall], tuple[Layer | Norm, Tensor | None] | Read]
    libraries: tuple[str, ...] | None = None
    only_of: str = ""
    positional: int = 99
    never: tuple[str, ...] = ()
    ignored: re.Pattern[str] = IGNORED

    def bind(self, call: ast.Call, with_receiver: bool) -> tuple[Nodes, Mapping[str, str]] | None:
        """The arguments by name, and how the text calls them; None if the form has no such arguments."""
        args = [call.func.value, *call.args] if with_receiver and isinstance(call.func, ast.Attribute) else call.args
        if any(isinstance(one, ast.Starred) for one in args) or len(args) > min(self.positional, len(self.takes)):
            return None
        given, written = dict(zip(self.takes, args, strict=False)), dict[str, str]()
        for keyword in call.keywords:
            key = keyword.arg or ""
            has_aliases = self.libraries is not None or self.only_of
            name = ALIASES.get(key, key) if has_aliases and key not in self.takes else key
            if name in given or not key or key in self.never:
                return None
            if name in self.takes or "**" in self.takes:
                given[name], written[name] = keyword.value, key
            elif not self.ignored.fullmatch(key):
                return None
        needed = (name for name, default in self.takes.items() if default is REQUIRED)
        return None if any(name not in given for name in needed) else (given, written)


ALIASES = {
    "input": "x", "tensor": "x", "inputs": "x", "input_tensor": "x", "axis": "dim", "axes": "dim", "keepdims": "keepdim", "keep_dims": "keepdim",
    "epsilon": "eps", "variance_epsilon": "eps", "correction": "unbiased", "ddof": "unbiased",
    "use_bias": "center", "use_scale": "scale",
}  # fmt: skip


# Layers of torch


SIZE_NAMES = {"n": 2, "b": 2, "h": 3, "w": 5, "l": 5, "t": 5}
CHANNELS, GROUPS = 4, 2


def _of_kind(name: str) -> Form:
    kind = KINDS[name]
    takes = {argument.name: argument.default for argument in kind.arguments} | dict.fromkeys(kind.missing)
    slots = sum(not argument.keyword_only for argument in kind.arguments)
    return Form(takes, lambda call: (_layer(kind, call), None), positional=slots, ignored=OF_TORCH)


def _layer(kind: Kind, call: BoundCall) -> Layer:
    given = {one.name: _argument(kind, one, call) for one in kind.arguments if one.name in call.nodes}
    given |= {name: call.value(name) for name in kind.missing if name in call.nodes}
    return Layer.make(kind.name, training=call.training, **given)


def _argument(kind: Kind, argument: Argument, call: BoundCall) -> Any:
    node, name = call.nodes[argument.name], argument.name
    if argument.takes not in SIZES or is_known(node):
        return call.value(name)
    if argument.takes == "shape":
        elements = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
        if (of_x := _of_shape(node, call.tensor or Tensor.example("NCHW"))) is not None:
            return of_x
        return [_size(one, call.tensor, place) for place, one in enumerate(elements, -len(elements))]
    if argument.takes == "groups":
        return GROUPS
    groups = call.value("num_groups") if kind.has("num_groups") else 1
    fallback = 2 * groups if type(groups) is int and groups > 0 and CHANNELS % groups else CHANNELS
    channel = kind.channel(len(call.tensor.shape)) if call.tensor else None
    return _size(node, call.tensor, channel, fallback)


def _size(node: ast.expr, tensor: Tensor | None, place: int | None, fallback: int = CHANNELS) -> Any:
    """The size that an element of normalized_shape, or a number of channels, names; from x, or that of an example."""
    if is_known(node):
        return literal(node)
    of_x = _of_shape(node, tensor)
    if isinstance(of_x, int):
        return of_x
    if tensor is not None and place is not None and -len(tensor.shape) <= place < len(tensor.shape):
        return tensor.shape[place]
    return SIZE_NAMES.get(ast.unparse(node).lower(), fallback)


def _of_shape(node: ast.expr, tensor: Tensor | None, x: str = "") -> tuple[int, ...] | int | None:
    """``x.shape``, ``x.shape[1:]``, ``x.size()[-1]`` or ``x.size(-1)`` as sizes of the tensor; None for another expression."""
    if tensor is None:
        return None
    try:
        match node:
            case ast.Subscript(value=whole, slice=ast.Slice(lower, upper, step)) if _is_whole_shape(whole, x):
                ends = [None if end is None else literal(end) for end in (lower, upper, step)]
                return tensor.shape[slice(*ends)]
            case ast.Subscript(value=whole, slice=place) if _is_whole_shape(whole, x):
                return tensor.shape[literal(place)]
            case ast.Call(func=ast.Attribute(attr="size", value=owner), args=[place]) if _is_named(owner, x):
                return tensor.shape[literal(place)]
    except (NormvizError, ValueError, TypeError, IndexError):
        raise _unknown(node) from None
    return tensor.shape if _is_whole_shape(node, x) else None


def _is_whole_shape(node: ast.expr, x: str) -> bool:
    match node:
        case ast.Attribute(attr="shape", value=owner) | ast.Call(func=ast.Attribute(attr="size", value=owner), args=[]):
            return _is_named(owner, x)
    return False


def _is_named(owner: ast.expr, x: str) -> bool:
    return isinstance(owner, ast.Name | ast.Attribute) and x in ("", ast.unparse(owner))


# Layers of this name in other packages


def _layer_norm_2d(call: BoundCall) -> tuple[Layer | Norm, Tensor | None]:
    """LayerNorm2d of timm, torchvision and Segment Anything: over the channels of (N, C, H, W)."""
    sizes = call.nodes["num_channels"]
    channels = _size(
        sizes.elts[0] if isinstance(sizes, ast.List | ast.Tuple) and len(sizes.elts) == 1 else sizes, call.tensor, 1
    )
    made = Layer.make("ChannelsFirstLayerNorm", channels, call.value("eps"))
    if call.value("elementwise_affine") and call.value("affine"):
        return made, None
    axes = ("n", "c", "h", "w")
    return replace(made.norm(axes), params=None, bias=False), call.tensor or Tensor.example(
        "NCHW", c=made.given["num_channels"]
    )


def _convnext(call: BoundCall) -> tuple[Layer | Norm, Tensor | None]:
    """LayerNorm(C, data_format="channels_first") of ConvNeXt."""
    data_format = call.value("data_format")
    if data_format not in ("channels_first", "channels_last", REQUIRED):
        raise NormvizError("data_format={value} must be channels_first or channels_last.", value=echo(data_format))
    name, channel = ("ChannelsFirstLayerNorm", 1) if data_format == "channels_first" else ("LayerNorm", -1)
    return Layer.make(name, _size(call.nodes["normalized_shape"], call.tensor, channel), call.value("eps")), None


def _frozen(call: BoundCall) -> tuple[Layer, None]:
    """FrozenBatchNorm2d of torchvision and detectron2: the stored statistics, in both modes."""
    channels = _size(call.nodes["num_features"], call.tensor, 1)
    return Layer.make("BatchNorm2d", channels, call.value("eps"), training=False), None


NO_VIEW = N_(
    "LocalResponseNorm divides by the squares of neighboring channels at each position, subtracts no mean, and has no view here; ChannelsFirstLayerNorm is "
    "the nearest. It takes an x of rank 3 or higher with floating-point numbers, (N, C, ...), and a size of at least 1."
)


def _local_response(call: BoundCall) -> Read:
    channels = call.tensor.shape[1] if call.tensor and len(call.tensor.shape) > 1 else CHANNELS
    return Layer.make("ChannelsFirstLayerNorm", channels), None, _(NO_VIEW)


def _one_group(call: BoundCall) -> tuple[Layer, None]:
    channels = _size(call.nodes["num_channels"], call.tensor, 1)
    return Layer.make("GroupNorm", 1, channels, call.value("eps"), affine=call.value("affine")), None


def _same_as(name: str, **options: Any) -> Form:
    """A class of another package that computes what this layer of torch computes, with these defaults."""
    form = _of_kind(name)
    kind = KINDS[name]

    def read(call: BoundCall) -> tuple[Layer, None]:
        return _layer(kind, call).with_(**{key: value for key, value in options.items() if key not in call.nodes}), None

    return replace(form, read=read, ignored=IGNORED)


# torch.nn.functional


FUNCTIONAL = ("F", "functional", "nn.functional", "torch.nn.functional", "")
FAST = ("mx.fast", "mlx.core.fast")
TORCH = ("torch",)  # functions whose arguments have another order


def _sizes(call: BoundCall) -> tuple[Any, Tensor | None]:
    """``normalized_shape``, of numbers or taken from the shape of x, and the tensor; None for an example that lacks these numbers."""
    node, x = call.nodes["normalized_shape"], ast.unparse(call.nodes["x"])
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    rank = max(3, len(elements) + 1) if len(elements) != 1 else 3
    tensor = call.tensor or Tensor.example(LAYER_NORM_LAYOUTS[rank if _has_place(node, rank) else 4])
    of_x = _of_shape(node, tensor, x)
    if isinstance(of_x, tuple):
        return list(of_x), tensor
    if elements:
        sizes = [_size(one, tensor, place) for place, one in enumerate(elements, -len(elements))]
        fits = tensor.shape[-len(sizes) :] == tuple(sizes)
        is_of_x = all(_of_shape(one, tensor, x) is not None for one in elements)
        return sizes, tensor if call.tensor or fits or is_of_x else None
    if isinstance(node, ast.Name | ast.Attribute):
        return [tensor.shape[-1]], tensor
    raise NormvizError("normalized_shape is a list of sizes, as in F.layer_norm(x, x.shape[1:]).")


def _has_place(node: ast.expr, rank: int) -> bool:
    """Whether the list names no axis that a tensor of this rank lacks: a slice, as x.shape[1:], is that of images."""
    return rank in LAYER_NORM_LAYOUTS and not isinstance(node, ast.Subscript | ast.Call)


def _learned(call: BoundCall) -> tuple[bool, bool, str]:
    """Whether there is a gamma and a beta. A beta alone has no layer: it is shown with a gamma of 1."""
    gamma, beta = call.has("weight"), call.has("bias")
    return gamma or beta, beta, _beta_alone() if beta and not gamma else ""


def _beta_alone() -> str:
    return _("A beta without a gamma has no layer here: it is shown with a gamma, which is 1 in a new layer.")


def _layer_norm(call: BoundCall) -> Read:
    call, factor = _without_1(call)
    gamma, beta, note = _learned(call)
    sizes, tensor = _sizes(call)
    made = Layer.make("LayerNorm", sizes, call.value("eps"), gamma, beta or not gamma, **factor)
    return made, tensor, note


def _rms_norm(call: BoundCall) -> Read:
    call, factor = _without_1(call)
    sizes, tensor = _sizes(call)
    made = Layer.make("RMSNorm", sizes, call.value("eps"), call.has("weight"), **factor)
    return made, tensor, ""


def _without_1(call: BoundCall) -> tuple[BoundCall, dict[str, bool]]:
    """The call with w in place of 1 + w, and the option of a layer that multiplies by 1 + gamma."""
    match call.nodes.get("weight"):
        case (
            ast.BinOp(left=ast.Constant(value=1), op=ast.Add(), right=weight)
            | ast.BinOp(left=weight, op=ast.Add(), right=ast.Constant(value=1))
        ):
            return replace(call, nodes={**call.nodes, "weight": weight}), {"zero_centered_gamma": True}
    return call, {}


def _group_norm(call: BoundCall) -> Read:
    groups = _number_of_groups(call)
    tensor = call.tensor or Tensor.example(
        "NCHW", **({"c": 2 * groups} if type(groups) is int and CHANNELS % max(groups, 1) else {})
    )
    gamma, beta, note = _learned(call)
    made = Layer.make("GroupNorm", groups, _channels(tensor), call.value("eps"), gamma)
    return made, tensor, note or _without_beta(gamma, beta)


def _number_of_groups(call: BoundCall) -> Any:
    return call.value("num_groups") if is_known(call.nodes["num_groups"]) else GROUPS


def _without_beta(gamma: bool, beta: bool) -> str:
    return "" if beta or not gamma else _("A gamma without a beta is shown with a beta, which is 0 in a new layer.")


def _channels(tensor: Tensor) -> int:
    """The size of axis 1, on which torch has the channels."""
    if len(tensor.shape) < 2:
        raise NormvizError("x has one axis, and torch has the channels on axis 1.")
    return tensor.shape[1]


def _with_channels(family: str, stored: str, lowest: int) -> Callable[[BoundCall], Read]:
    """The reader of ``batch_norm`` or ``instance_norm``; ``stored`` is the argument that says whether x has its own statistics."""

    def read(call: BoundCall) -> Read:
        tensor = call.tensor or Tensor.example("NCHW")
        rank, channels = len(tensor.shape), _channels(tensor)
        tracks, of_x = call.has("running_mean"), call.value(stored)
        if call.has("running_var") != tracks or type(of_x) is not bool or (not of_x and not tracks):
            raise NormvizError(
                "{name} needs running_mean and running_var, or {argument}=True and neither of them.",
                name=call.name, argument=stored,
            )  # fmt: skip
        if not lowest <= rank <= 5:
            raise NormvizError("{family} has no layer for an x of shape {shape}.", family=family, shape=tensor.shape)
        gamma, beta, note = _learned(call)
        made = Layer.make(
            f"{family}{max(1, rank - 2)}d", channels, call.value("eps"), call.value("momentum"), gamma, tracks, training=of_x
        )  # fmt: skip
        return made, tensor, note or _without_beta(gamma, beta)

    return read


# Statistics of a tensor


ARRAYS = ("", "torch", "np", "numpy", "jnp", "jax.numpy", "mx", "mlx.core", "tf", "tf.math", "tf.nn", "ops", "keras.ops", "K", "keras.backend", "tf.keras.backend")  # fmt: skip
OF_M = ("mean", "reduce_mean", "reduce_variance", "reduce_std", "moments")  # sums over m elements that are divided by m
OF_M_MINUS_1 = ("var", "std", "var_mean", "std_mean")  # in torch
OF_AXES = {(0,): "ND", (1, 2): "NLC", (0, 1): "NLC", (0, 2): "NCL", (-1,): "NLC", (0, 1, 2): "NHWC", (0, 1, 2, 3): "NDHWC", (0, 2, 3, 4): "NCDHW", (2, 3, 4): "NCDHW", (1, 2, 3, 4): "NCDHW"}  # fmt: skip


def _statistic(call: BoundCall) -> Read:
    """``x.mean(...)``, ``x.var(...)`` or ``x.std(...)``; the mean of squares is that of RMSNorm."""
    x = _bare(call.nodes["x"]) if "x" in call.nodes else None  # ".mean()" has none
    squared = _bare(_squared(x)) if x is not None and _squared(x) is not None else None
    is_deviation = isinstance(squared, ast.BinOp) and isinstance(squared.op, ast.Sub)
    of = squared.left if is_deviation and isinstance(squared, ast.BinOp) else squared or x
    if of is None or not _is_tensor(_bare(of)) or (squared is not None and not call.name.endswith("mean")):
        raise NormvizError(
            "Write the mean of one tensor, as in x.mean((0, 2, 3), keepdim=True), or of its square, as in x.pow(2).mean(-1)."
        )
    if type(call.value("keepdim")) is not bool:
        raise misread(call.name, call.defaults)
    dims = call.given("dim")
    written = (dims,) if isinstance(dims, int) else tuple(dims or ())
    of_tensorflow = {(1, 2): "NHWC"} if call.library.startswith(("tf", "K", "keras")) else {}
    tensor = call.tensor or Tensor.example((OF_AXES | of_tensorflow).get(written, "NCHW"))
    kept = _without(tensor, _dims(dims, tensor))
    is_square = squared is not None and not is_deviation
    norm = Norm(f"{' '.join(tensor.axes)} -> {kept}", center=not is_square, eps=None if is_square else 1e-5)
    return _named(norm, tensor), tensor, _divisor(call)


def _divisor(call: BoundCall) -> str:
    """What is said of a variance that is not divided by m. Torch divides by m - 1, and others by m, if the text says nothing."""
    written = call.written.get("unbiased", "unbiased")
    if call.defaults.get("unbiased") is not True or (call.library not in ("", "torch") and written == "unbiased"):
        return ""
    less = call.value("unbiased")
    if less in (False, 0):
        return ""
    if written == "unbiased":
        return _("torch's {name} divides by m - 1, and a layer by m; write unbiased=False.", name=call.name)
    return _(
        "With {argument}, {name} divides by m - {less}, and a layer by m; write {remedy}.",
        argument=f"{written}={less}", name=call.name, less=int(less) if less is True else less, remedy=f"{written}=0",
    )  # fmt: skip


def _is_tensor(node: ast.expr | None) -> bool:
    """Whether it is the name of a tensor, such as ``self.x``; the axes of ``x.T`` are others than those of x."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and node.attr not in ("T", "mT", "H", "mH"))


CASTS = ("float", "double", "half", "to", "type", "contiguous", "detach", "clone", "astype")


def _bare(node: ast.expr | None) -> ast.expr | None:
    """The tensor without casts: x for ``x.float()``."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CASTS:
        node = node.func.value
    return node


def _squared(node: ast.expr | None) -> ast.expr | None:
    """The tensor of which this is the square."""
    match node:
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=2)):
            return base
        case ast.BinOp(left=base, op=ast.Mult(), right=other) if ast.unparse(base) == ast.unparse(other):
            return base
        case ast.Call(func=ast.Attribute(attr="pow", value=base), args=[ast.Constant(value=2)], keywords=[]):
            return base
        case ast.Call(func=ast.Attribute(attr="square", value=ast.Name(id=library)), args=[base], keywords=[]) if (
            library in ARRAYS
        ):
            return base
        case ast.Call(func=ast.Attribute(attr="pow", value=ast.Name(id="torch")), args=[base, ast.Constant(value=2)]):
            return base
        case ast.Call(func=ast.Attribute(attr="square", value=base), args=[], keywords=[]):
            return base
    return None


def _dims(dims: object, tensor: Tensor) -> tuple[int, ...]:
    """The axes, counted from 0; all for None."""
    rank = len(tensor.shape)
    dims = tuple(range(rank)) if dims is None else tuple(dims) if isinstance(dims, list | tuple) else (dims,)
    if (
        not dims
        or not all(type(dim) is int and -rank <= dim < rank for dim in dims)
        or len({dim % rank for dim in dims}) < len(dims)
    ):
        raise NormvizError(
            "{dims} is not a list of different axes of x, which has the axes 0 to {last}: {axes}.",
            dims=echo(dims), last=rank - 1, axes=", ".join(tensor.axes).upper(),
        )  # fmt: skip
    return tuple(dim % rank for dim in dims)


def _without(tensor: Tensor, reduced: tuple[int, ...]) -> str:
    return " ".join(name for axis, name in enumerate(tensor.axes) if axis not in reduced)


def _named(norm: Norm, tensor: Tensor) -> Layer | Norm:
    """The layer with these patterns; the pattern, if none has it."""
    norm.axis_sizes(tensor.shape)
    return layer_with_axes(norm, tensor.shape, tensor.axes, norm) or norm


def _reduce(call: BoundCall) -> Read:
    """``reduce(x, "n c h w -> c", "mean")``; the pattern may have names of its own, in the order of the axes."""
    pattern, reduction = call.given("pattern"), call.given("reduction")
    if not isinstance(pattern, str) or pattern.count("->") != 1 or "..." in pattern or reduction != "mean":
        raise NormvizError('Write the mean of whole axes, as in reduce(x, "n c h w -> c", "mean").')
    left, right = pattern.split("->")
    sizes = {name: literal(node) for name, node in call.nodes.items() if name not in ("x", "pattern", "reduction")}
    kept = " ".join(re.findall(r"[^\W\d]\w*", right))
    written = Norm(f"{left} -> {kept}", sizes=sizes)
    parts = written.pattern.left
    names = [axis[0] if len(axis) == 1 else "" for axis in parts]
    tensor = call.tensor or Tensor.example(_layout_of(names), **_split_sizes(parts, sizes))
    axes = tensor.axes
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
    of_parts = {renamed.get(name, name): size for name, size in written.split_sizes.items()}
    return _named(Norm(f"{stats} -> {kept}", sizes=of_parts), tensor), tensor, ""


def _rearrange(call: BoundCall) -> Read:
    raise NormvizError(
        '{name} moves elements and takes no mean. Give the layer or the mean behind it, as in reduce(x, "n c h w -> n c", "mean").',
        name=call.name,
    )


LAYOUTS = {1: ["D"], 2: ["ND"], 3: ["NLC", "NCL"], 4: ["NCHW", "NHWC"], 5: ["NCDHW", "NDHWC"]}


def _layout_of(names: list[str]) -> str:
    """The layout that has C where the pattern has it."""
    layouts = LAYOUTS.get(len(names), ["NC" + "".join(f"D{i}" for i in range(2, len(names)))])
    if "c" in names:
        return next((one for one in layouts if one.lower().find("c") == names.index("c")), layouts[0])
    return next((one for one in layouts if "" in names and one.lower().find("c") == names.index("")), layouts[0])


def _split_sizes(parts: tuple[tuple[str, ...], ...], sizes: Mapping[str, Any]) -> dict[str, int]:
    """C is split: its size is a multiple of the size of its part."""
    given = [sizes[name] for axis in parts if len(axis) > 1 for name in axis if type(sizes.get(name)) is int]
    return {"c": given[0] * (given[1] if len(given) > 1 else 2)} if given else {}


# Keras, tensorflow_addons


KERAS = ("", "layers", "keras.layers", "tf.keras.layers", "tensorflow.keras.layers", "tfa.layers", "keras_contrib.layers", "L", "KL", "kl", "tfkl")  # fmt: skip
AFFINE = {"center": True, "scale": True}
FIRST_CHANNELS = {1: "NCHW", 2: "NLC", 3: "NHWC", 4: "NDHWC"}


def _keras_tensor(call: BoundCall, channels: int | None = None) -> Tensor:
    """x; without one, an example with the channels on the axis that the layer names, last if it names none."""
    dim = call.value("dim")
    layout = FIRST_CHANNELS.get(dim, "NHWC") if isinstance(dim, int) else "NHWC"
    return call.tensor or Tensor.example(layout, **({} if channels is None else {"c": channels}))


def _keras_axes(call: BoundCall, tensor: Tensor) -> tuple[int, ...]:
    """The axes of a layer of Keras; the last one by default, which must be that of the channels."""
    if "dim" not in call.nodes and "c" in tensor.axes[:-1]:
        raise NormvizError(
            "Without axis=, Keras takes the last axis, which is {last} of this x, and not C: write axis={axis}, or choose a tensor with C at the end.",
            last=tensor.axes[-1].upper(), axis=tensor.axes.index("c"),
        )  # fmt: skip
    return _dims(call.value("dim"), tensor)


def _with_affine(
    call: BoundCall, tensor: Tensor, stats: str, gamma: tuple[int, ...], sizes: Mapping[str, Any] | None = None
) -> tuple[Layer | Norm, Tensor, str]:
    """The layer with these statistics, and with the gamma and the beta that the call asks for."""
    scale, center = bool(call.value("scale")), bool(call.value("center"))
    params = " ".join(tensor.axes[axis] for axis in sorted(gamma)) if scale or center else None
    norm = Norm(stats, params, bias=center, sizes=sizes or {}, eps=call.value("eps"))
    return _named(norm, tensor), tensor, _beta_alone() if center and not scale else ""


def _layer_normalization(call: BoundCall) -> Read:
    tensor = _keras_tensor(call)
    axes = _keras_axes(call, tensor)
    return _with_affine(call, tensor, f"{' '.join(tensor.axes)} -> {_without(tensor, axes)}", axes)


def _rms_normalization(call: BoundCall) -> Read:
    tensor = _keras_tensor(call)
    axes = _keras_axes(call, tensor)
    return _mean_square(call, tensor, axes, axes)


def _mean_square(call: BoundCall, tensor: Tensor, reduced: tuple[int, ...], gamma: tuple[int, ...]) -> Read:
    params = " ".join(tensor.axes[axis] for axis in sorted(gamma)) or None
    stats = f"{' '.join(tensor.axes)} -> {_without(tensor, reduced)}"
    return _named(Norm(stats, params, center=False, bias=False, eps=call.value("eps")), tensor), tensor, ""


def _batch_normalization(call: BoundCall) -> Read:
    tensor = _keras_tensor(call)
    return _batch(call, tensor, (_one_axis(call, _keras_axes(call, tensor)),))


def _one_axis(call: BoundCall, axes: tuple[int, ...], lowest: int = 0) -> int:
    if len(axes) == 1 and axes[0] >= lowest:
        return axes[0]
    if lowest:
        raise NormvizError("{name} takes one axis other than the first.", name=call.name)
    raise NormvizError("{name} takes one axis.", name=call.name)


def _batch(call: BoundCall, tensor: Tensor, kept: tuple[int, ...]) -> Read:
    """BatchNorm whose momentum weighs the old value, as that of Keras and Flax; torch's weighs the new value.

    kept  the axes with a mean for each index
    """
    stats = f"{' '.join(tensor.axes)} -> {' '.join(tensor.axes[axis] for axis in kept)}"
    layer, tensor, note = _with_affine(call, tensor, stats, kept)
    if not isinstance(layer, Layer) or "momentum" not in layer.given:
        return layer, tensor, note
    momentum = call.value("momentum")
    if type(momentum) not in (int, float) or not 0 <= momentum <= 1:
        raise NormvizError("momentum={value} must be a number from 0 to 1.", value=echo(momentum))
    # A layer of Keras that is frozen uses the stored statistics, too.
    in_training = {"use_running_average": False, "trainable": True}
    is_stored = any(call.value(one) is not usual for one, usual in in_training.items() if one in call.defaults)
    return layer.with_(momentum=round(1 - momentum, 12), training=call.training and not is_stored), tensor, note


def _group_normalization(call: BoundCall) -> Read:
    groups = call.value("groups")
    small = type(groups) is int and groups > 0 and CHANNELS % groups == 0
    tensor = _keras_tensor(call, None if small or groups == -1 or type(groups) is not int or groups < 1 else 2 * groups)
    axis = _one_axis(call, _keras_axes(call, tensor), lowest=1)
    return _groups(call, tensor, axis, tensor.shape[axis] if groups == -1 else groups)


def _groups(call: BoundCall, tensor: Tensor, axis: int, groups: Any, parts: str = "(g k)") -> Read:
    if type(groups) is not int or groups < 1:
        name = "groups" if "groups" in call.defaults else "num_groups"
        raise NormvizError("{name}={value} must be a whole number of at least 1.", name=name, value=echo(groups))
    left = " ".join(parts if place == axis else name for place, name in enumerate(tensor.axes))
    return _with_affine(call, tensor, f"{left} -> {tensor.axes[0]} g", (axis,), sizes={"g": groups})


def _instance_normalization(call: BoundCall) -> Read:
    tensor = _keras_tensor(call)
    axis = _one_axis(call, _keras_axes(call, tensor), lowest=1)
    return _instance(call, tensor, axis)


def _instance(call: BoundCall, tensor: Tensor, axis: int) -> Read:
    names = tensor.axes
    return _with_affine(call, tensor, f"{' '.join(names)} -> {names[0]} {names[axis]}", (axis,))


# Flax and MLX: the features are the last axis


FLAX_AFFINE = {"eps": 1e-6, "center": True, "scale": True, "reduction_axes": -1, "feature_axes": -1}


def _last(call: BoundCall, layout: str, size: Any = None) -> Tensor:
    """x; without one, an example with the number of features that the call gives, on its last axis."""
    features = size if size is not None else call.value("num_features")
    return call.tensor or Tensor.example(layout, **({"c": features} if type(features) is int else {}))


def _flax_axes(call: BoundCall, tensor: Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return _dims(call.value("reduction_axes"), tensor), _dims(call.value("feature_axes"), tensor)


def _flax_layer_norm(call: BoundCall) -> Read:
    tensor = _last(call, "NLC" if call.value("reduction_axes") == -1 else "NHWC")
    reduced, features = _flax_axes(call, tensor)
    return _with_affine(call, tensor, f"{' '.join(tensor.axes)} -> {_without(tensor, reduced)}", features)


def _flax_rms_norm(call: BoundCall) -> Read:
    tensor = _last(call, "NLC" if call.value("reduction_axes") == -1 else "NHWC")
    reduced, features = _flax_axes(call, tensor)
    return _mean_square(call, tensor, reduced, features if call.value("scale") else ())


def _flax_batch_norm(call: BoundCall) -> Read:
    tensor = _last(call, "NHWC")
    return _batch(call, tensor, (_one_axis(call, _dims(call.value("dim"), tensor)),))


def _flax_group_norm(call: BoundCall) -> Read:
    groups, size, known = call.value("num_groups"), call.value("group_size"), call.value("num_features")
    if size is not None and groups is not None:
        raise NormvizError("Flax takes num_groups or group_size: with group_size, write num_groups=None.")
    if type(known) is not int:
        known = 2 * size if type(size) is int else 2 * groups if type(groups) is int else None
    tensor = _last(call, "NHWC", known if known is None or known > 0 else None)
    if type(size) is int and size > 0:
        groups = tensor.shape[-1] // size
    return _groups(call, tensor, len(tensor.shape) - 1, groups)


def _flax_instance_norm(call: BoundCall) -> Read:
    tensor = _last(call, "NHWC")
    return _instance(call, tensor, len(tensor.shape) - 1)


# Haiku: gamma and beta of the last axis, or of that of data_format. Equinox: x is one example, with its channels first


def _haiku(call: BoundCall) -> tuple[BoundCall, Tensor, int]:
    """The call with Flax's names, x, and the axis of its channels."""
    layout = call.value("data_format") if "data_format" in call.defaults else "channels_last"
    if not isinstance(layout, str) or not re.fullmatch("channels_(first|last)|N[DHWL.]*C|NC[DHWL.]*", layout):
        raise NormvizError("data_format={value} must be 'channels_last' or 'channels_first'.", value=echo(layout))
    is_first = layout == "channels_first" or layout.startswith("NC")
    names = {"scale": "create_scale", "center": "create_offset", "momentum": "decay_rate"}
    own = {name: call.value(written) for name, written in names.items() if written in call.defaults}
    groups = call.value("groups") if "groups" in call.defaults else None
    known = {"c": 2 * groups} if type(groups) is int and groups > 0 else {}
    tensor = call.tensor or Tensor.example("NCHW" if is_first else "NHWC", **known)
    return replace(call, defaults={**call.defaults, **own}), tensor, 1 if is_first else len(tensor.axes) - 1


def _haiku_layer_norm(call: BoundCall) -> Read:
    """LayerNorm and RMSNorm."""
    call, tensor, _channels = _haiku(call)
    reduced = _dims(call.given("axis"), tensor)
    gamma = _dims(-1 if call.given("param_axis") is None else call.given("param_axis"), tensor)
    if call.name == "RMSNorm":
        return _mean_square(call, tensor, reduced, gamma if call.value("create_scale") else ())
    return _with_affine(call, tensor, f"{' '.join(tensor.axes)} -> {_without(tensor, reduced)}", gamma)


def _haiku_batch_norm(call: BoundCall) -> Read:
    call, tensor, channels = _haiku(call)
    if call.given("axis") is None:
        return _batch(call, tensor, (channels,))
    reduced = _dims(call.given("axis"), tensor)
    return _batch(call, tensor, tuple(axis for axis in range(len(tensor.axes)) if axis not in reduced))


def _haiku_group_norm(call: BoundCall) -> Read:
    call, tensor, channels = _haiku(call)
    if "axis" in call.nodes:
        raise NormvizError("A GroupNorm of Haiku is read without axis, which is all axes but the first.")
    return _groups(call, tensor, channels, call.value("groups"))


def _haiku_instance_norm(call: BoundCall) -> Read:
    call, tensor, channels = _haiku(call)
    return _instance(call, tensor, channels)


def _equinox(call: BoundCall) -> Read:
    """LayerNorm and RMSNorm."""
    node, both = call.nodes["shape"], call.value("elementwise_affine")
    gamma, beta = (bool(call.value(one) if both is None else both) for one in ("use_weight", "use_bias"))
    size = call.value("shape") if is_known(node) else _size(node, call.tensor, -1)
    note = _beta_alone() if beta and not gamma else ""
    if call.name == "LayerNorm" or not beta:
        options = {"bias": beta or not gamma} if call.name == "LayerNorm" else {}
        return Layer.make(call.name, size, call.value("eps"), gamma or beta, **options), None, note
    sizes = tuple(size) if isinstance(size, list | tuple) else (size,)
    example = Tensor.example({1: "NLC", 2: "NCHW", 3: "NCHW"}.get(len(sizes), "NCDHW"))
    tensor = call.tensor or Tensor((*example.shape[: -len(sizes)], *sizes), example.axes)
    reduced = tuple(range(len(tensor.axes) - len(sizes), len(tensor.axes)))
    params = " ".join(tensor.axes[axis] for axis in reduced)
    stats = f"{' '.join(tensor.axes)} -> {_without(tensor, reduced)}"
    return Norm(stats, params, center=False, eps=call.value("eps")), tensor, note


def _equinox_batch_norm(call: BoundCall) -> Read:
    if call.given("mode") not in (None, "batch"):
        raise NormvizError("A BatchNorm of Equinox is read with mode='batch'.")
    size = _size(call.nodes["input_size"], call.tensor, 1)
    affine = call.value("channelwise_affine")
    named = replace(call, defaults={**call.defaults, "scale": affine, "center": affine})
    named = replace(named, training=call.training and not call.value("inference"))
    return _batch(named, call.tensor or Tensor.example("NCHW", c=size), (1,))


def _equinox_group_norm(call: BoundCall) -> tuple[Layer, None]:
    groups = call.value("groups") if is_known(call.nodes["groups"]) else GROUPS
    channels = _size(call.nodes["channels"], call.tensor, 1, 2 * groups if CHANNELS % groups else CHANNELS)
    return Layer.make("GroupNorm", groups, channels, call.value("eps"), bool(call.value("channelwise_affine"))), None


def _mlx_layer_norm(call: BoundCall) -> tuple[Layer, None]:
    affine = bool(call.value("affine"))
    size = _size(call.nodes["dims"], call.tensor, -1)
    return Layer.make("LayerNorm", size, call.value("eps"), affine, bool(call.value("bias")) or not affine), None


def _mlx_rms_norm(call: BoundCall) -> tuple[Layer, None]:
    return Layer.make("RMSNorm", _size(call.nodes["dims"], call.tensor, -1), call.value("eps")), None


def _mlx_group_norm(call: BoundCall) -> Read:
    groups, size = _number_of_groups(call), _size(call.nodes["dims"], call.tensor, -1)
    tensor = call.tensor or Tensor.example("NHWC", c=size)
    is_like_torch = bool(call.value("pytorch_compatible"))
    both = replace(call, defaults={**call.defaults, "center": call.value("affine"), "scale": call.value("affine")})
    return _groups(both, tensor, len(tensor.shape) - 1, groups, "(g k)" if is_like_torch else "(k g)")


def _mlx_channels(call: BoundCall) -> Read:
    """BatchNorm and InstanceNorm."""
    size = _size(call.nodes.get("dims") or call.nodes["num_features"], call.tensor, -1)
    tensor = call.tensor or Tensor.example("NHWC", c=size)
    name = "ChannelsLastBatchNorm" if "momentum" in call.defaults else "ChannelsLastInstanceNorm"
    given = {
        one: call.value(one) for one in ("eps", "momentum", "affine", "track_running_stats") if one in call.defaults
    }
    return Layer.make(name, size, training=call.training, **given), tensor, ""


def _mlx_fast(family: str) -> Callable[[BoundCall], Read]:
    def read(call: BoundCall) -> Read:
        tensor = call.tensor or Tensor.example("NLC")
        gamma = call.has("weight")
        bias = {"bias": call.has("bias") or not gamma} if family == "LayerNorm" else {}
        return Layer.make(family, tensor.shape[-1:], call.value("eps"), gamma, **bias), tensor, ""

    return read


# The rows


STATISTIC: dict[str, Any] = {"x": TENSOR, "dim": None, "keepdim": True}
UNBIASED: dict[str, Any] = {"x": TENSOR, "dim": None, "unbiased": True, "keepdim": True}
WEIGHTS: dict[str, Any] = {"weight": TENSOR, "bias": TENSOR}
RUNNING: dict[str, Any] = {"running_mean": TENSOR, "running_var": TENSOR}
KERAS_NORM: dict[str, Any] = {"dim": -1, "eps": 1e-3, **AFFINE}
FLAX, MLX, HAIKU, EQUINOX = "Flax", "MLX", "Haiku", "Equinox"
HAIKU_AFFINE: dict[str, Any] = {"create_scale": REQUIRED, "create_offset": REQUIRED}
OF_HAIKU: dict[str, Any] = {"eps": 1e-5, "scale_init": TENSOR, "offset_init": TENSOR}
REPLICAS: dict[str, Any] = {"cross_replica_axis": TENSOR, "cross_replica_axis_index_groups": TENSOR}  # one batch here
LAYOUT_OF_HAIKU: dict[str, Any] = {"data_format": "channels_last"}
HAIKU_ROWS: list[tuple[str, dict[str, Any], Callable[[BoundCall], Read]]] = [
    ("LayerNorm", {"axis": REQUIRED, **HAIKU_AFFINE, **OF_HAIKU, "use_fast_variance": TENSOR, "name": TENSOR, "param_axis": None}, _haiku_layer_norm),
    ("RMSNorm", {"axis": REQUIRED, "eps": 1e-5, "scale_init": TENSOR, "name": TENSOR, "create_scale": True, "param_axis": None}, _haiku_layer_norm),
    ("BatchNorm", {**HAIKU_AFFINE, "decay_rate": REQUIRED, **OF_HAIKU, "axis": None, **REPLICAS, **LAYOUT_OF_HAIKU}, _haiku_batch_norm),
    ("GroupNorm", {"groups": REQUIRED, "axis": None, "create_scale": True, "create_offset": True, **OF_HAIKU, **LAYOUT_OF_HAIKU}, _haiku_group_norm),
    ("InstanceNorm", {**HAIKU_AFFINE, **OF_HAIKU, **LAYOUT_OF_HAIKU}, _haiku_instance_norm),
]  # fmt: skip
EQUINOX_BATCH_NORM: dict[str, Any] = {
    "input_size": REQUIRED, "axis_name": TENSOR, "eps": 1e-5, "channelwise_affine": True, "momentum": 0.99, "inference": False, "dtype": TENSOR,
    "mode": None,
}  # fmt: skip
NOT_FLAX = ("eps", "center", "scale", "dim")
PACKAGES = {
    "flax.linen": FLAX,
    "linen": FLAX,
    "nnx": FLAX,
    "flax.nnx": FLAX,
    "mlx.nn": MLX,
    "hk": HAIKU,
    "haiku": HAIKU,
    "eqx.nn": EQUINOX,
    "equinox.nn": EQUINOX,
}
RMS_CLASSES = (
    "LlamaRMSNorm",
    "MistralRMSNorm",
    "MixtralRMSNorm",
    "Qwen2RMSNorm",
    "Qwen3RMSNorm",
    "Phi3RMSNorm",
    "T5LayerNorm",
)
ZERO_CENTERED_CLASSES = ("GemmaRMSNorm", "Gemma2RMSNorm", "Gemma3RMSNorm")


def _norm(call: BoundCall) -> tuple[Norm, None]:
    return Norm(**{name: literal(node) for name, node in call.nodes.items()}), None


NORM: dict[str, Any] = {"stats": REQUIRED, "params": None, "center": True, "eps": 1e-5, "bias": True, "running": False, "sizes": None, "zero_centered_gamma": False}  # fmt: skip


def _flax(takes: Mapping[str, Any], read: Callable[[BoundCall], Read], positional: int = 1) -> Form:
    """A layer of nnx, which takes its number of features first, or of linen, which takes none."""
    return Form({"num_features": None, **takes}, read, only_of=FLAX, never=NOT_FLAX, positional=positional)


def _rows() -> Iterator[tuple[str, Form]]:
    yield "Norm", Form(NORM, _norm)
    for name in KINDS:
        yield name, _of_kind(name)
    yield "LayerNorm", Form({"normalized_shape": REQUIRED, "eps": 1e-6, "data_format": REQUIRED}, _convnext)
    yield (
        "LayerNorm2d",
        Form(
            {"num_channels": REQUIRED, "eps": 1e-6, "elementwise_affine": True, "affine": True, "bias": True},
            _layer_norm_2d,
        ),
    )
    yield "FrozenBatchNorm2d", Form({"num_features": REQUIRED, "eps": 1e-5}, _frozen)
    yield "GroupNorm1", Form({"num_channels": REQUIRED, "eps": 1e-5, "affine": True}, _one_group)
    for name in ("FusedLayerNorm", "MixedFusedLayerNorm", "FastLayerNorm", "FP32LayerNorm"):
        yield name, _same_as("LayerNorm")
    yield "BatchNormAct2d", _same_as("BatchNorm2d")
    yield "LocalResponseNorm", Form({"size": REQUIRED, "alpha": 1e-4, "beta": 0.75, "k": 1.0}, _local_response)
    for number in (1, 2, 3):
        yield f"LazyBatchNorm{number}d", _same_as(f"BatchNorm{number}d")
    if "RMSNorm" not in ABSENT:
        for name in ("FusedRMSNorm", "MixedFusedRMSNorm"):
            yield name, _same_as("RMSNorm", eps=1e-5)
        for name in RMS_CLASSES:
            yield name, _same_as("RMSNorm", eps=1e-6)
        for name in ZERO_CENTERED_CLASSES:
            yield name, _same_as("RMSNorm", eps=1e-6, zero_centered_gamma=True)
    sized = {"x": TENSOR, "normalized_shape": REQUIRED}
    cudnn = {"cudnn_enabled": TENSOR}
    yield "layer_norm", Form({**sized, **WEIGHTS, "eps": 1e-5}, _layer_norm, FUNCTIONAL)
    yield "rms_norm", Form({**sized, "weight": TENSOR, "eps": None}, _rms_norm, (*FUNCTIONAL, *TORCH))
    yield "group_norm", Form({"x": TENSOR, "num_groups": REQUIRED, **WEIGHTS, "eps": 1e-5}, _group_norm, FUNCTIONAL)
    for name in ("layer_norm", "native_layer_norm"):
        yield name, Form({**sized, **WEIGHTS, "eps": 1e-5, **cudnn}, _layer_norm, TORCH)
    yield "group_norm", Form({"x": TENSOR, "num_groups": REQUIRED, **WEIGHTS, "eps": 1e-5, **cudnn}, _group_norm, TORCH)
    for name, family, stored, default, lowest in (
        ("batch_norm", "BatchNorm", "training", False, 2),
        ("instance_norm", "InstanceNorm", "use_input_stats", True, 3),
    ):
        read, options = _with_channels(family, stored, lowest), {stored: default, "momentum": 0.1, "eps": 1e-5}
        yield name, Form({"x": TENSOR, **WEIGHTS, **RUNNING, **options, **cudnn}, read, TORCH)
        yield name, Form({"x": TENSOR, **RUNNING, **WEIGHTS, **options}, read, FUNCTIONAL)
    yield "layer_norm", Form({"x": TENSOR, **WEIGHTS, "eps": 1e-5}, _mlx_fast("LayerNorm"), FAST)
    yield "rms_norm", Form({"x": TENSOR, "weight": TENSOR, "eps": 1e-5}, _mlx_fast("RMSNorm"), FAST)
    for name in OF_M:
        yield name, Form(STATISTIC, _statistic, ARRAYS)
    for name in OF_M_MINUS_1:
        yield name, Form(UNBIASED, _statistic, ARRAYS)
    yield (
        "reduce",
        Form(
            {"x": TENSOR, "pattern": REQUIRED, "reduction": REQUIRED, "**": None},
            _reduce,
            ("", "einops", "einops.layers"),
        ),
    )
    for name in ("rearrange", "repeat"):
        yield name, Form({"x": TENSOR, "pattern": REQUIRED, "**": None}, _rearrange, ("", "einops"))
    yield "LayerNormalization", Form(KERAS_NORM, _layer_normalization, KERAS)
    yield "RMSNormalization", Form({"dim": -1, "eps": 1e-6}, _rms_normalization, KERAS)
    batch = {"dim": -1, "momentum": 0.99, "eps": 1e-3, **AFFINE}
    yield "BatchNormalization", Form({**batch, "trainable": True}, _batch_normalization, KERAS, positional=len(batch))
    yield "GroupNormalization", Form({"groups": 32, **KERAS_NORM}, _group_normalization, KERAS)
    yield "InstanceNormalization", Form(KERAS_NORM, _instance_normalization, KERAS)
    yield "LayerNorm", _flax(FLAX_AFFINE, _flax_layer_norm)
    without_beta = {name: default for name, default in FLAX_AFFINE.items() if name != "center"}
    yield "RMSNorm", _flax(without_beta, _flax_rms_norm)
    flax_batch = {"use_running_average": False, "dim": -1, "momentum": 0.99, **FLAX_AFFINE, "eps": 1e-5}
    yield "BatchNorm", _flax(flax_batch, _flax_batch_norm)
    groups = {"num_groups": 32, "group_size": None, **FLAX_AFFINE, "reduction_axes": None}
    yield "GroupNorm", _flax(groups, _flax_group_norm, positional=2)
    yield "InstanceNorm", _flax(FLAX_AFFINE, _flax_instance_norm)
    yield "LayerNorm", Form({"dims": REQUIRED, "eps": 1e-5, "affine": True, "bias": True}, _mlx_layer_norm, only_of=MLX)
    yield "RMSNorm", Form({"dims": REQUIRED, "eps": 1e-5}, _mlx_rms_norm, only_of=MLX)
    yield (
        "GroupNorm",
        Form(
            {"num_groups": REQUIRED, "dims": REQUIRED, "eps": 1e-5, "affine": True, "pytorch_compatible": False},
            _mlx_group_norm,
            only_of=MLX,
        ),
    )
    yield (
        "BatchNorm",
        Form(
            {"num_features": REQUIRED, "eps": 1e-5, "momentum": 0.1, "affine": True, "track_running_stats": True},
            _mlx_channels,
            only_of=MLX,
        ),
    )
    yield "InstanceNorm", Form({"dims": REQUIRED, "eps": 1e-5, "affine": False}, _mlx_channels, only_of=MLX)
    for name, of_haiku, read in HAIKU_ROWS:
        yield name, Form(of_haiku, read, only_of=HAIKU)
    shaped: dict[str, Any] = {
        "shape": REQUIRED,
        "eps": 1e-5,
        "use_weight": True,
        "use_bias": True,
        "elementwise_affine": None,
    }
    for name in ("LayerNorm", "RMSNorm"):
        yield name, Form(shaped, _equinox, only_of=EQUINOX)
    yield "BatchNorm", Form(EQUINOX_BATCH_NORM, _equinox_batch_norm, only_of=EQUINOX)
    grouped = {"groups": REQUIRED, "channels": REQUIRED, "eps": 1e-5, "channelwise_affine": True}
    yield "GroupNorm", Form(grouped, _equinox_group_norm, only_of=EQUINOX)


FORMS: dict[str, list[tuple[str, Form]]] = {}
for _name, _form in _rows():
    FORMS.setdefault(_name.lower(), []).append((_name, _form))


def read_call(node: ast.Call, tensor: Tensor | None, training: bool) -> Read | None:
    """The layer of a call, its x if the way of writing says which, and a note; None if no form is written so.

    Raises NormvizError if the call is of a form, and could mean two things or has a wrong value.
    """
    library, _dot, name = ast.unparse(node.func).rpartition(".")
    node = _as_torch(node, name) if library.startswith("paddle") else node
    found = [] if name == "norm" else FORMS.get(name.lower(), [])  # self.norm(x) is no Norm
    package = PACKAGES.get(library, "")
    found = [row for row in found if row[1].only_of == package] if package else found
    for known, form in found:
        if (bound := _bound(known, form, node, library)) is not None:
            return _read(form, replace(bound, tensor=tensor, training=training))
    if package:
        if found:
            raise misread(name, found[0][1].takes)
        return None
    families = {family.lower(): family for family in FAMILIES if family not in KINDS}
    if name.lower() in families:
        kind = kind_for(families[name.lower()], tensor.axes if tensor else ("n", "c", "h", "w"))
        found = FORMS[kind.name.lower()]
        node = ast.Call(ast.Name(kind.name), node.args, node.keywords)
        if (bound := _bound(kind.name, found[0][1], node, "")) is not None:
            return _read(found[0][1], replace(bound, tensor=tensor, training=training))
    if found and found[0][0] in KINDS:
        _refused_by(found[0][0], node)
    own = next((form for _known, form in found if _may_be(form, library) or form.libraries == ARRAYS), None)
    if own is not None:
        raise misread(name, own.takes)
    return None


def _bound(name: str, form: Form, node: ast.Call, library: str) -> BoundCall | None:
    has_receiver = form.libraries == ARRAYS and library not in ARRAYS
    if not (has_receiver or _may_be(form, library)):
        return None
    if form.only_of and PACKAGES.get(library) != form.only_of and not (library in ALIAS and _tells(form, node)):
        return None
    bound = form.bind(node, has_receiver)
    return None if bound is None else BoundCall(name, "" if has_receiver else library, form.takes, *bound)


ALIAS = ("", "nn")  # how a text may call the layers of torch, of Flax and of MLX


def _as_torch(node: ast.Call, name: str) -> ast.Call:
    """A call of a layer of Paddle: its momentum weighs the old value, and is the second argument of a BatchNorm."""
    order = ("num_features", "momentum", "epsilon") if name.lower().startswith("batchnorm") else ()
    named = [ast.keyword(*each) for each in zip(order, node.args, strict=False)]
    keywords = list[ast.keyword]()
    for one in (*named, *node.keywords):
        if one.arg == "momentum" and is_known(one.value):
            keywords.append(ast.keyword("momentum", ast.Constant(round(1 - literal(one.value), 12))))
        else:
            keywords.append(ast.keyword("eps" if one.arg == "epsilon" else one.arg, one.value))
    return ast.Call(node.func, node.args[len(named) :], keywords)


def _tells(form: Form, node: ast.Call) -> bool:
    """Whether an argument tells the layer of Flax or MLX from that of torch. A layer of linen has a name and no sizes."""
    names = [one.arg or "" for one in node.keywords]
    is_of_flax = form.only_of == FLAX and any(map(OF_FLAX.fullmatch, names)) and not ("name" in names and node.args)
    return is_of_flax or not all(map(IGNORED.fullmatch, names))


def _may_be(form: Form, library: str) -> bool:
    return form.libraries is None or library in form.libraries


def _refused_by(name: str, node: ast.Call) -> None:
    """Raise what the layer of torch says about these arguments."""
    positional = [literal(one) if is_known(one) else CHANNELS for one in node.args]
    of_make = ("name", "training")  # Layer.make has arguments of these names, and no layer has
    named = {one.arg or "": literal(one.value) if is_known(one.value) else CHANNELS for one in node.keywords}
    Layer.make(name, *positional, **{key: value for key, value in named.items() if key not in of_make})  # type: ignore[arg-type]


def misread(name: str, takes: Mapping[str, object]) -> NormvizError:
    names = listed([one for one in takes if one != "**"], "and")
    return NormvizError("{name} is read with these arguments: {names}.", name=name, names=names)


def _read(form: Form, call: BoundCall) -> Read:
    layer, tensor, *notes = form.read(call)
    notes.append(_not_in_the_text(call, layer))
    if form.only_of:
        notes.append(_("It is read as the layer {name} of {package}.", name=call.name, package=form.only_of))
    return layer, tensor, join_sentences([note for note in notes if note])


def _not_in_the_text(call: BoundCall, layer: Layer | Norm) -> str:
    """What is shown for the values that the text names and does not give."""
    unknown = call.unknown()
    if not unknown:
        return ""
    given = layer.given if isinstance(layer, Layer) else {}
    shown = {
        name: given.get(name, call.defaults[name])
        for name in unknown
        if call.defaults[name] is not REQUIRED or name in given
    }
    values = [
        f"{call.written.get(name, name)}={list(value) if isinstance(value, tuple) else value}"
        for name, value in shown.items()
    ]
    names = listed(dict.fromkeys(echo(one) for one in unknown.values()), "and")
    return _(
        "The text has no value for {names}; shown is {values}.",
        names=names,
        values=listed(values or [str(layer)], "and"),
    )
