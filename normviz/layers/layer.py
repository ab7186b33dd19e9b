"""A layer and its arguments as a value: read from text or from a torch module, written as text, converted to a Norm.

>>> layer = Layer.parse("nn.LayerNorm([3, 4, 4], eps=1e-6)")
>>> str(layer)
'LayerNorm([3, 4, 4], eps=1e-06)'
>>> layer.norm(("n", "c", "h", "w")).stats
'n c h w -> n'
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import torch
from torch import nn

from normviz.layers.arguments import READERS, kind_of_module, layer_not_in_torch, module_arguments, not_in_torch
from normviz.layers.axes import MAX_TEXT
from normviz.layers.catalogue import ABSENT, FAMILIES, KINDS, REQUIRED, Argument, Kind
from normviz.layers.norm import Norm, no_zero_centered_gamma
from normviz.texts.errors import NormvizError, closest, echo, listed
from normviz.texts.messages import N_, ngettext


@dataclass(frozen=True, repr=False)
class Layer:
    """One layer of the catalogue with all its arguments, including defaults, and its mode.

    Make one with ``Layer.parse``, ``Layer.of`` or ``Layer.make``. All raise NormvizError for invalid arguments.

    name       of the class in torch.nn, such as "BatchNorm2d"; or of another layer of the catalogue
    arguments  all of them, in order, each with its name
    training   whether it is in training mode

    >>> layer = Layer.parse("BatchNorm2d(3).eval()")
    >>> layer.name, layer.given["momentum"], layer.running
    ('BatchNorm2d', 0.1, True)
    """

    name: str
    arguments: tuple[tuple[str, Any], ...]
    training: bool = True

    def __post_init__(self) -> None:
        kind = KINDS.get(self.name)
        if kind is None or [name for name, _value in self.arguments] != [one.name for one in kind.arguments]:
            raise NormvizError(
                "Layer({name}, ...) needs every argument of a layer; write Layer.parse('LayerNorm(4)').",
                name=echo(self.name),
            )
        if self.zero_centered_gamma and not self.affine:
            raise no_zero_centered_gamma(f"{self.name}({kind.example}, zero_centered_gamma=True)")

    @classmethod
    def make(cls, name: str, *positional: Any, training: bool = True, **named: Any) -> Layer:
        """The layer ``name(*positional, **named)``.

        name      a class of torch.nn, such as "GroupNorm", or another layer of the catalogue
        training  False: in eval mode

        Raises NormvizError for an unknown name, and for an argument that the layer does not take.

        >>> Layer.make("GroupNorm", 2, num_channels=4)
        Layer.parse('GroupNorm(2, 4)')
        """
        return _make(name, positional, named, training)

    @classmethod
    def of(cls, module: nn.Module) -> Layer:
        """The layer of a torch module, with the arguments read from its attributes.

        module  of torch.nn; its own gamma and beta are not part of the layer

        Raises NormvizError for another module, and for one with a forward of its own.

        >>> Layer.of(nn.BatchNorm2d(3, momentum=None).eval())
        Layer.parse('BatchNorm2d(3, momentum=None).eval()')
        """
        check_is_object(module)
        if not isinstance(module, nn.Module):
            raise NormvizError("{module} is not a module of torch.nn; use Layer.parse for a text.", module=echo(module))
        kind = kind_of_module(module)
        return cls(kind.name, _bind(kind, (), module_arguments(module, kind)), module.training)

    @classmethod
    def parse(cls, text: str) -> Layer | Norm:
        """Read ``"GroupNorm(2, 4)"``, ``"nn.BatchNorm2d(3).eval()"`` or ``"Norm('n d -> n', 'd')"``.

        The text is a constructor with literals. It is parsed and never evaluated. Raises NormvizError if it is something else.

        >>> Layer.parse("nn.LayerNorm([4, 4], eps=1e-6)").given["eps"]
        1e-06
        """
        if not isinstance(text, str) or len(text) > MAX_TEXT:
            raise _not_a_layer(text)
        return _parse(text)

    @cached_property
    def kind(self) -> Kind:
        """What all layers of this name have in common, such as their family and the ranks of x. No module of torch multiplies by 1 + gamma."""
        kind = KINDS[self.name]
        return replace(kind, module=None) if self.zero_centered_gamma else kind

    @cached_property
    def given(self) -> Mapping[str, Any]:
        """The arguments by name."""
        return dict(self.arguments)

    @property
    def changes(self) -> dict[str, Any]:
        """The options that are not the defaults of the layer.

        >>> Layer.parse("BatchNorm2d(3, eps=1e-3)").changes
        {'eps': 0.001}
        """
        values = {option.name: (self.given[option.name], option.default) for option in self.kind.options}
        return {name: value for name, (value, default) in values.items() if value != default}

    @property
    def affine(self) -> bool:
        """Whether the layer has a gamma."""
        return bool(self.given.get("affine", self.given.get("elementwise_affine", True)))

    @property
    def zero_centered_gamma(self) -> bool:
        """Whether the layer multiplies by 1 + gamma."""
        return bool(self.given.get("zero_centered_gamma", False))

    @property
    def tracks(self) -> bool:
        """Whether the layer has running statistics."""
        return bool(self.given.get("track_running_stats", False))

    @property
    def running(self) -> bool:
        """Whether the layer normalizes with its running statistics, not with the mean and the variance of x."""
        return self.tracks and not self.training

    def norm(self, axes: tuple[str, ...]) -> Norm:
        """The Norm of the layer for an x with these axes.

        axes  one name for each axis of x

        Raises NormvizError if an argument, such as DimNorm's dim, does not fit them.

        >>> Layer.parse("GroupNorm(2, 4)").norm(("n", "c", "h", "w"))
        Norm('n (g k) h w -> n g', 'c', sizes={'g': 2})
        """
        return _norm(self, axes)

    def buffers(self) -> int:
        """The number of elements of running_mean, running_var and num_batches_tracked.

        >>> Layer.parse("BatchNorm2d(3)").buffers(), Layer.parse("LayerNorm(3)").buffers()
        (7, 0)
        """
        return 2 * int(self.given["num_features"]) + 1 if self.tracks else 0

    def on_axis_1(self, rank: int) -> Layer:
        """For a layer with channels last: the same layer of torch for an x of this rank with its channels on axis 1.

        >>> Layer.parse("ChannelsLastBatchNorm(3)").on_axis_1(4)
        Layer.parse('BatchNorm2d(3)')
        """
        siblings = (
            kind for kind in FAMILIES[self.kind.family] if kind.channel_axis == 1 and kind.ranks[1] in (rank, None)
        )
        return replace(self, name=next(siblings).name)

    def module(self, dtype: torch.dtype | None = None) -> nn.Module:
        """A new torch module.

        dtype  of its parameters; None: torch's default

        Raises NormvizError if torch.nn has no such layer.

        >>> isinstance(Layer.parse("GroupNorm(2, 4)").module(), nn.GroupNorm)
        True
        """
        if self.kind.module is None:
            raise NormvizError("torch.nn has no {layer}; use its 'torch-scratch' code.", layer=name_outside_torch(self))
        taken = [argument.name for argument in self.kind.arguments if argument.in_torch]
        given = {name: self.given[name] for name in taken}
        arguments = {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
        return self.kind.module(**arguments, dtype=dtype).train(self.training)

    def with_(self, **changes: Any) -> Layer:
        """The layer with some arguments, or the ``training`` mode, changed.

        changes  arguments by name; ``training=False`` is eval mode

        Raises NormvizError for an argument that the layer does not take.

        >>> Layer.parse("BatchNorm2d(3)").with_(eps=1e-3, training=False)
        Layer.parse('BatchNorm2d(3, eps=0.001).eval()')
        """
        training = changes.pop("training", self.training)
        return replace(self, arguments=_bind(self.kind, (), {**self.given, **changes}), training=training)

    def __str__(self) -> str:
        texts: list[str] = []
        for argument in self.kind.arguments:
            value = self.given[argument.name]
            if value != argument.default:
                text = repr(list(value) if isinstance(value, tuple) else value)
                texts.append(text if argument.default is REQUIRED else f"{argument.name}={text}")
        return f"{self.name}({', '.join(texts)}){'' if self.training else '.eval()'}"

    def __repr__(self) -> str:
        return f"Layer.parse({str(self)!r})"


@lru_cache(maxsize=1024)
def _norm(layer: Layer, axes: tuple[str, ...]) -> Norm:
    sharing = layer.kind.rule(layer.given, axes, layer.running)
    return Norm(
        sharing.stats,
        sharing.params if layer.affine else None,
        center=layer.kind.center,
        eps=layer.given["eps"],
        bias=layer.affine and layer.given.get("bias", layer.kind.center),
        running=layer.running,
        sizes=sharing.sizes,
        zero_centered_gamma=layer.zero_centered_gamma,
    )


def _make(name: str, positional: tuple[Any, ...], named: Mapping[Any, Any], training: bool) -> Layer:
    """``Layer.make`` with ``named`` as a mapping: a parsed text may contain an argument called ``training``."""
    check_is_object(name)
    if not isinstance(name, str):
        raise _not_a_layer(name)
    if name in ABSENT:
        raise layer_not_in_torch(name)
    if name not in KINDS:
        family = next((family for family in FAMILIES if family.lower() == name.lower() and family not in KINDS), None)
        meant = listed([kind.name for kind in FAMILIES[family]]) if family else closest(name, [*KINDS, "Norm"])
        if meant:
            raise NormvizError(
                "{name} is not a layer of the catalogue. Did you mean {meant}?", name=echo(name), meant=meant
            )
        raise NormvizError(
            "{name} is not a layer of the catalogue, which has {layers}.",
            name=echo(name),
            layers=listed([*KINDS, "Norm"], "and"),
        )
    return Layer(name, _bind(KINDS[name], positional, named), training)


def _bind(kind: Kind, positional: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    slots = [argument.name for argument in kind.arguments if not argument.keyword_only]
    if len(positional) > len(slots):
        names = listed(slots, "and")
        raise NormvizError(
            ngettext(
                "{layer} takes at most {n} positional argument and got {given}; it takes {names}.",
                "{layer} takes at most {n} positional arguments and got {given}; it takes {names}.",
                len(slots),
                layer=kind.name,
                given=len(positional),
                names=names,
            )
        )
    values = dict(zip(slots, positional, strict=False))
    known = [argument.name for argument in kind.arguments]
    for name, value in named.items():
        if name in values:
            raise NormvizError("{layer} got {name} twice; give it once.", layer=kind.name, name=name)
        if name in kind.missing:
            raise not_in_torch(kind, f"{name}={echo(value)}")
        if name not in known:
            raise NormvizError(
                "{layer} has no argument {name}; it takes {names}.",
                layer=kind.name,
                name=echo(name),
                names=listed(known, "and"),
            )
        values[name] = value
    return tuple((argument.name, _bound_value(kind, argument, values)) for argument in kind.arguments)


def _bound_value(kind: Kind, argument: Argument, values: Mapping[str, object]) -> Any:
    value = values.get(argument.name, argument.default)
    if value is REQUIRED:
        raise IncompleteError(N_("{layer} needs {name}, as in {example}."), kind, layer=kind.name, name=argument.name)
    return READERS[argument.takes](argument.name, value)


class IncompleteError(NormvizError):
    """A layer without its arguments. ``kind`` is its kind, and ``with_example`` the error with another example."""

    def __init__(self, message: str, kind: Kind, example: str = "", prefix: str = "", **values: object) -> None:
        example = example or f"{kind.name}({kind.example})"
        super().__init__(message, example=f"{prefix}{example}", **values)
        self.kind = kind
        self.with_example = lambda other: IncompleteError(message, kind, other, prefix, **values)


def check_is_object(value: object) -> None:
    """Raise NormvizError for a class in place of an object, such as ``nn.BatchNorm2d`` in place of ``nn.BatchNorm2d(3)``, and for an object
    whose attributes cannot be asked for.
    """
    if isinstance(value, type):
        message, name = N_("{name} is a class; make an object of it, as in {example}."), value.__name__
        if (kind := KINDS.get(name)) is None:
            raise NormvizError(message, name=name, example=f"{name}(...)")
        raise IncompleteError(message, kind, prefix="nn.", name=name)
    try:
        hasattr(value, "__normviz__")
    except Exception as error:
        raise NormvizError(
            "{name} cannot be read: its __getattr__ raises {kind}; raise AttributeError for a name that it does not have.",
            name=type(value).__name__,
            kind=type(error).__name__,
        ) from error


CALL = re.compile(r"(\w+)\(([^()]*)")


def name_outside_torch(layer: Layer) -> str:
    """What torch.nn does not have: "DimNorm", or "RMSNorm(..., zero_centered_gamma=True)"."""
    return f"{layer.name}(..., zero_centered_gamma=True)" if layer.zero_centered_gamma else layer.name


def is_in_torch(text: str) -> bool:
    """Whether the installed torch has every layer that is written in the text, with its arguments.

    >>> is_in_torch("shape=2,3&layers=LayerNorm(3);BatchNorm1d(3,eps=1e-3)")
    True
    """
    return not any(
        name in ABSENT or (name in KINDS and any(f"{argument}=" in given for argument in KINDS[name].missing))
        for name, given in CALL.findall(text)
    )


PREFIXES = ("", "nn", "torch.nn", "nv", "normviz")
TRAINING = {"train": True, "eval": False}


@lru_cache(maxsize=1024)
def _parse(text: str) -> Layer | Norm:
    call, mode = _parse_call(text)
    *prefix, name = _dotted_name(call.func).split(".")
    if not name or ".".join(prefix) not in PREFIXES:
        raise _not_a_layer(text)
    try:
        positional = tuple(ast.literal_eval(value) for value in call.args)
        named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        if None in named:
            raise ValueError
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise NormvizError(
            "{text} has an argument that is not a literal; write numbers, lists, True, False or None, as in LayerNorm([3, 4, 4]).",
            text=echo(text),
        ) from None
    if name == "Norm":
        return _make_norm(text, mode, positional, named)
    return _make(name, positional, named, TRAINING.get(mode, True))


def _make_norm(text: str, mode: str, positional: tuple[Any, ...], named: Mapping[Any, Any]) -> Norm:
    if mode:
        raise NormvizError(
            "a Norm has no .{mode}(); write running=True in it if it uses running statistics.", mode=mode
        )
    try:
        return Norm(*positional, **named)
    except TypeError:
        raise NormvizError(
            "{text} is not a Norm; it takes stats, params, center, eps, bias, running, sizes and zero_centered_gamma, as in "
            "Norm('n c h w -> n h w', 'c').",
            text=echo(text),
        ) from None


def _parse_call(text: str) -> tuple[ast.Call, str]:
    """The constructor call in ``text`` and the mode after it: "train", "eval" or ""."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _not_a_layer(text) from None
    if closest(
        _dotted_name(node).rpartition(".")[2], [*KINDS, *FAMILIES, "Norm"]
    ):  # without its arguments, perhaps misspelled
        node = ast.Call(node, [], [])
    if not isinstance(node, ast.Call):
        raise _not_a_layer(text)
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
        if function.attr not in TRAINING or node.args or node.keywords:
            raise _not_a_layer(text)
        return function.value, function.attr
    return node, ""


def _dotted_name(node: ast.expr) -> str:
    """``torch.nn.LayerNorm`` if the node is such a name, else an empty text."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


DECIMAL = re.compile(r"\b((?:eps|epsilon|momentum)\s*=\s*)(\d+),(\d+)")  # "eps=0,001"


def decimal_comma(text: object) -> NormvizError | None:
    """The error for "eps=0,001"; None for another text."""
    if found := DECIMAL.search(str(text)):
        point = f"{found[1]}{found[2]}.{found[3]}"
        return NormvizError(
            "{text}: in code, commas are between arguments. Write {argument}.", text=echo(text), argument=point
        )
    return None


def _not_a_layer(text: object) -> NormvizError:
    return decimal_comma(text) or NormvizError(
        "{text} is not a layer; write a constructor with literals, as in LayerNorm([3, 4, 4]), GroupNorm(2, 4) or "
        "BatchNorm2d(3).eval().",
        text=echo(text),
    )
