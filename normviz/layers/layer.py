"""A layer's call as a value: read from text or from a torch module, written as text, turned into a Norm.

>>> layer = Layer.parse("nn.LayerNorm([3, 4, 4], eps=1e-6)")
>>> str(layer)
'LayerNorm([3, 4, 4], eps=1e-06)'
>>> layer.norm(("n", "c", "h", "w")).stats
'n c h w -> n'
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

from torch import nn

from normviz.layers.arguments import READERS
from normviz.layers.axes import MAX_TEXT
from normviz.layers.catalogue import KINDS, REQUIRED, Kind
from normviz.layers.errors import NormvizError, echo, listed
from normviz.layers.norm import Norm


@dataclass(frozen=True)
class Layer:
    """One layer of the catalogue with its arguments (defaults filled in) and its mode.

    Make one with ``Layer.parse``, ``Layer.of`` or ``Layer.make``; all raise NormvizError on illegal arguments.
    """

    name: str
    arguments: tuple[tuple[str, Any], ...]
    training: bool = True

    @classmethod
    def make(cls, name: str, *positional: Any, training: bool = True, **named: Any) -> Layer:
        """The layer that ``name(*positional, **named)`` makes."""
        return _made(name, positional, named, training)

    @classmethod
    def of(cls, module: nn.Module) -> Layer:
        """The layer that a torch module is; its arguments are read from its attributes."""
        kind = next((kind for kind in KINDS.values() if kind.module and isinstance(module, kind.module)), None)
        if kind is None or kind.module is None:
            names = listed([kind.name for kind in KINDS.values() if kind.module])
            raise NormvizError(
                f"{type(module).__name__} is no normalization layer of torch.nn; give {names}, or a Norm."
            )
        if type(module).forward is not kind.module.forward:
            raise NormvizError(
                f"{type(module).__name__} is a {kind.name} with a forward of its own, which may share otherwise; "
                "describe it with a Norm, as in Norm('n c h w -> n h w', 'c')."
            )
        return cls(kind.name, _bind(kind, (), _attributes(module, kind)), module.training)

    @classmethod
    def parse(cls, text: str) -> Layer | Norm:
        """Read ``"GroupNorm(2, 4)"``, ``"nn.BatchNorm2d(3).eval()"`` or ``"Norm('n d -> n', 'd')"``.

        The text is parsed and never evaluated: a constructor's name and literals.
        """
        if not isinstance(text, str) or len(text) > MAX_TEXT:
            raise _no_layer(text)
        return _parse(text)

    @property
    def kind(self) -> Kind:
        return KINDS[self.name]

    @cached_property
    def given(self) -> Mapping[str, Any]:
        """The arguments by name."""
        return dict(self.arguments)

    @property
    def affine(self) -> bool:
        """Is there a gamma?"""
        return bool(self.given.get("affine", self.given.get("elementwise_affine", True)))

    @property
    def tracks(self) -> bool:
        """Are there running statistics?"""
        return bool(self.given.get("track_running_stats", False))

    @property
    def running(self) -> bool:
        """Are running statistics used in place of x's?"""
        return self.tracks and not self.training

    def norm(self, axes: tuple[str, ...]) -> Norm:
        """The Norm that the layer is on an x with these axes."""
        sharing = self.kind.rule(self.given, axes, self.running)
        return Norm(
            sharing.stats,
            sharing.params if self.affine else None,
            center=self.kind.center,
            eps=self.given["eps"],
            bias=self.affine and self.given.get("bias", self.kind.center),
            running=self.running,
            sizes=sharing.sizes,
        )

    def buffers(self) -> int:
        """Elements of running_mean, running_var and num_batches_tracked."""
        return 2 * int(self.given["num_features"]) + 1 if self.tracks else 0

    def module(self, dtype: Any = None) -> nn.Module:
        """The torch module, fresh. Raises NormvizError where torch.nn has none."""
        if self.kind.module is None:
            raise NormvizError(f"torch.nn has no {self.name}; its 'torch-scratch' code does the same.")
        arguments = {name: list(value) if isinstance(value, tuple) else value for name, value in self.arguments}
        return self.kind.module(**arguments, dtype=dtype).train(self.training)

    def with_(self, **changes: Any) -> Layer:
        """The same layer with some arguments, or its ``training`` mode, changed."""
        training = changes.pop("training", self.training)
        return replace(self, arguments=_bind(self.kind, (), {**self.given, **changes}), training=training)

    def __str__(self) -> str:
        words: list[str] = []
        by_position = True
        for argument in self.kind.arguments:
            value = self.given[argument.name]
            if value == argument.default and argument.default is not REQUIRED:
                by_position = False
                continue
            text = repr(list(value) if isinstance(value, tuple) else value)
            by_position = by_position and not argument.keyword_only and argument.default is REQUIRED
            words.append(text if by_position else f"{argument.name}={text}")
        return f"{self.name}({', '.join(words)}){'' if self.training else '.eval()'}"


def _made(name: str, positional: tuple[Any, ...], named: Mapping[Any, Any], training: bool) -> Layer:
    """``named`` apart from our own words: a text may name an argument ``training``."""
    if name not in KINDS:
        raise NormvizError(f"{echo(name)} is no layer of the catalogue; it has {listed([*KINDS, 'Norm'])}.")
    return Layer(name, _bind(KINDS[name], positional, named), training)


def _bind(kind: Kind, positional: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    slots = [argument.name for argument in kind.arguments if not argument.keyword_only]
    if len(positional) > len(slots):
        raise NormvizError(
            f"{kind.name} takes {len(slots)} arguments by position and got {len(positional)}; it takes {listed(slots, 'and')}."
        )
    values = dict(zip(slots, positional, strict=False))
    for name, value in named.items():
        if name in values:
            raise NormvizError(f"{kind.name} got {name} twice; give it once.")
        if name not in {argument.name for argument in kind.arguments}:
            names = listed([argument.name for argument in kind.arguments], "and")
            raise NormvizError(f"{kind.name} has no argument {echo(name)} here; it takes {names}.")
        values[name] = value
    bound = []
    for argument in kind.arguments:
        value = values.get(argument.name, argument.default)
        if value is REQUIRED:
            raise NormvizError(f"{kind.name} needs {argument.name}, as in {kind.name}({EXAMPLES[kind.family]}).")
        bound.append((argument.name, READERS[argument.takes](argument.name, value)))
    return tuple(bound)


EXAMPLES = {
    "LayerNorm": "[3, 4, 4]",
    "RMSNorm": "4",
    "BatchNorm": "3",
    "SyncBatchNorm": "3",
    "InstanceNorm": "3",
    "GroupNorm": "2, 4",
    "ChannelsFirstLayerNorm": "3",
    "DimNorm": "3, dim=0",
}


def _attributes(module: nn.Module, kind: Kind) -> dict[str, Any]:
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if weight is None and bias is not None:
        raise NormvizError(
            f"this {kind.name} has a beta and no gamma; give it a weight of ones, or describe it with a Norm."
        )
    found: dict[str, Any] = {}
    for argument in kind.arguments:
        if argument.name in ("affine", "elementwise_affine"):
            found[argument.name] = weight is not None
        elif argument.name == "bias":
            found[argument.name] = bias is not None or weight is None
        elif argument.name == "track_running_stats" and not kind.per_instance:
            found[argument.name] = module.running_mean is not None  # what its forward asks
        else:
            found[argument.name] = getattr(module, argument.name)
    return found


PREFIXES = ("", "nn", "torch.nn", "nv", "normviz")
TRAINING = {"train": True, "eval": False}


@lru_cache(maxsize=1024)
def _parse(text: str) -> Layer | Norm:
    call, mode = _call(text)
    prefix, _, name = _dotted(call.func).rpartition(".")
    if not name or prefix not in PREFIXES:
        raise _no_layer(text)
    try:
        positional = tuple(ast.literal_eval(value) for value in call.args)
        named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        if None in named:
            raise ValueError
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise NormvizError(
            f"{echo(text)} has an argument that is no literal; write numbers, lists, True, False or None, as in LayerNorm([3, 4, 4])."
        ) from None
    if name == "Norm":
        return _norm(text, mode, positional, named)
    return _made(name, positional, named, TRAINING.get(mode, True))


def _norm(text: str, mode: str, positional: tuple[Any, ...], named: Mapping[Any, Any]) -> Norm:
    if mode:
        raise NormvizError(f"a Norm has no .{mode}(); write running=True in it where running statistics are used.")
    try:
        return Norm(*positional, **named)
    except TypeError:
        raise NormvizError(
            f"{echo(text)} is no Norm; it takes stats, params, center, eps, bias, running and sizes, "
            "as in Norm('n c h w -> n h w', 'c')."
        ) from None


def _call(text: str) -> tuple[ast.Call, str]:
    """The constructor call in ``text`` and the mode that follows it: "train", "eval" or ""."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise _no_layer(text) from None
    if not isinstance(node, ast.Call):
        raise _no_layer(text)
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
        if function.attr not in TRAINING or node.args or node.keywords:
            raise _no_layer(text)
        return function.value, function.attr
    return node, ""


def _dotted(node: ast.expr) -> str:
    """``torch.nn.LayerNorm`` where the node is such a name, else nothing."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def _no_layer(text: object) -> NormvizError:
    return NormvizError(
        f"{echo(text)} is no layer; write a constructor and literals, as in LayerNorm([3, 4, 4]), GroupNorm(2, 4) or BatchNorm2d(3).eval()."
    )
