"""Read the arguments of a layer, one by one or from a torch module: plain Python types, or NormvizError with the rule."""

from collections.abc import Callable, Mapping
from math import inf, nan
from numbers import Integral, Real
from typing import Any, TypeGuard

import torch
from torch import nn

from normviz.layers.axes import MAX_RANK
from normviz.layers.catalogue import KINDS, Kind
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _

LARGEST_SIZE = 2**40


def _is_int(value: object) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_size(value: object) -> TypeGuard[int]:
    return _is_int(value) and 1 <= value <= LARGEST_SIZE


def _as_float(value: object) -> float:
    """The value as a float; NaN, which is in no range, if it is not a number."""
    try:
        return float(value) if isinstance(value, Real) and not isinstance(value, bool) else nan
    except OverflowError:
        return inf


def _refused(message: str, name: str, value: object) -> NormvizError:
    return NormvizError(message, name=name, value=echo(value), largest=LARGEST_SIZE)


def read_size(name: str, value: object) -> int:
    if _is_size(value):
        return int(value)
    if _is_int(value) and value > LARGEST_SIZE:
        raise _refused(N_("{name}={value} must be a whole number from 1 to {largest:,}."), name, value)
    raise _refused(N_("{name}={value} must be a whole number of at least 1."), name, value)


def _read_shape(name: str, value: object) -> tuple[int, ...]:
    sizes = tuple(value) if isinstance(value, list | tuple) else (value,)
    if 1 <= len(sizes) <= MAX_RANK and all(map(_is_size, sizes)):
        return tuple(map(int, sizes))
    message = N_("{name}={value} must be a size or a list of the last sizes of x, each at least 1, as in [3, 4, 4].")
    raise _refused(message, name, value)


def read_flag(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _refused(N_("{name}={value} must be True or False."), name, value)


def read_eps(name: str, value: object) -> float:
    number = _as_float(value)
    if abs(number) < inf:
        return number + 0.0  # -0.0 is written as 0.0, so that equal layers have the same text
    raise _refused(N_("{name}={value} must be a finite number, such as 1e-5."), name, value)


def read_eps_or_none(name: str, value: object) -> float | None:
    return None if value is None else read_eps(name, value)


def read_momentum(name: str, value: object) -> float | None:
    """A momentum of torch: 0 to 1, or None."""
    number = _as_float(value)
    if value is None or 0 <= number <= 1:
        return None if value is None else number + 0.0
    raise _refused(N_("{name}={value} must be a number from 0 to 1, or None for a cumulative average."), name, value)


def _read_axis(name: str, value: object) -> int:
    if _is_int(value) and abs(value) <= MAX_RANK:
        return int(value)
    raise _refused(N_("{name}={value} must be the number of an axis, such as 0 or -1."), name, value)


READERS: Mapping[str, Callable[[str, object], object]] = {
    "size": read_size,
    "groups": read_size,
    "shape": _read_shape,
    "flag": read_flag,
    "eps": read_eps,
    "eps or None": read_eps_or_none,
    "momentum": read_momentum,
    "axis": _read_axis,
}

MOST_NAMED = 3  # layers of a model in a message


def kind_of_module(module: nn.Module) -> Kind:
    """The kind of a torch module. Raises NormvizError if it is not in the catalogue, or has a forward of its own."""
    kind = _kind(module)
    if kind is None:
        raise _not_a_layer(module)
    if kind.module is not None and type(module).forward is not kind.module.forward:
        raise _own_forward(module, kind)
    return kind


def _kind(module: nn.Module) -> Kind | None:
    found = [kind for kind in KINDS.values() if kind.module and isinstance(module, kind.module)]
    return next((kind for kind in found if kind.module is type(module)), found[0] if found else None)


def _not_a_layer(module: nn.Module) -> NormvizError:
    """A model: name the layers in it. Another module: name the layers of the catalogue."""
    found = [(name, child) for name, child in module.named_modules() if name and _kind(child)]
    if found:
        named = [f"{name!r} ({type(child).__name__})" for name, child in found[:MOST_NAMED]]
        if len(found) > MOST_NAMED:
            named.append(_("{n:,} more", n=len(found) - MOST_NAMED))
        return NormvizError(
            "{module} is a model, not one layer. It contains {layers}; give one of them, as in model.get_submodule({name!r}), or list all with nv.norms(model, x).",
            module=type(module).__name__, layers=listed(named, "and"), name=found[0][0],
        )  # fmt: skip
    names = listed([kind.name for kind in KINDS.values() if kind.in_torch])
    return NormvizError(
        "{module}: what is described here is {layers}, or a Norm. Use nv.check(module, x) to measure what another module computes, and "
            "nv.norms(model, x) to list the normalizations in a model.",
        module=type(module).__name__, layers=names,
    )  # fmt: skip


def _own_forward(module: nn.Module, kind: Kind) -> NormvizError:
    """A subclass, such as the LayerNorm2d of ConvNeXt, which permutes x around the forward of LayerNorm."""
    sizes: tuple[int, ...] = getattr(module, "normalized_shape", ())
    if kind.name == "LayerNorm" and len(sizes) == 1:
        return NormvizError(
            "{module} overrides the forward of LayerNorm. If it normalizes over the channels of (N, C, H, W), as in ConvNeXt, "
                "give 'ChannelsFirstLayerNorm({size}, eps={eps})' instead; otherwise describe it with a Norm, as in Norm('n c h w -> n h w', 'c').",
            module=type(module).__name__, size=sizes[0], eps=module.eps,
        )  # fmt: skip
    return NormvizError(
        "{module} overrides the forward of {layer}, so it may use other statistics; describe it with a Norm, as in "
            "Norm('n c h w -> n h w', 'c').",
        module=type(module).__name__, layer=kind.name,
    )  # fmt: skip


def _torch_version() -> str:
    return ".".join(torch.__version__.split(".")[:2])


def not_in_torch(kind: Kind, name: str) -> NormvizError:
    """The error for an argument in ``kind.missing``."""
    return NormvizError(
        "torch {version} has no {name} of {layer}; install a newer torch, or describe the layer with a Norm.",
        version=_torch_version(), name=name, layer=kind.name,
    )  # fmt: skip


def layer_not_in_torch(name: str) -> NormvizError:
    """The error for a layer in ``ABSENT``."""
    return NormvizError(
        "torch {version} has no nn.{layer}; install a newer torch, or describe the layer with a Norm, as in {norm}.",
        version=_torch_version(), layer=name, norm="Norm('n d -> n', 'd', center=False, bias=False)",
    )  # fmt: skip


def module_arguments(module: nn.Module, kind: Kind) -> dict[str, Any]:
    """The arguments of a module, read from its attributes. Raises NormvizError if no arguments give its gamma and beta."""
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if weight is None and bias is not None:
        raise NormvizError(
            "this {layer} has a beta and no gamma; give it a weight of ones, or describe it with a Norm.",
            layer=kind.name,
        )
    if weight is not None and bias is None and "bias" in kind.missing:
        raise not_in_torch(kind, "bias=False")
    found: dict[str, Any] = {}
    for argument in kind.arguments:
        if argument.name in ("affine", "elementwise_affine"):
            found[argument.name] = weight is not None
        elif argument.name == "bias":
            found[argument.name] = bias is not None or weight is None
        elif argument.name == "track_running_stats" and not kind.per_instance:
            found[argument.name] = module.running_mean is not None  # as in torch's forward
        elif argument.in_torch:
            found[argument.name] = getattr(module, argument.name)
    return found
