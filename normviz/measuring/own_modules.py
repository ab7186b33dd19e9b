"""Any layer on x: a layer of torch.nn, a Norm, or a module with a forward of its own, which is measured."""

from dataclasses import replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from normviz.analysis.description import Description, tensor_and_shape
from normviz.analysis.forward import Values
from normviz.layers import sharing
from normviz.layers.arguments import kind_of_module
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.measuring.check import Checked, measure_module
from normviz.measuring.formula import Measurement
from normviz.measuring.probe import one_at_a_time
from normviz.texts.errors import NormvizError

AnyLayer = nn.Module | str | Norm | Layer


@one_at_a_time
def describe_any(layer: AnyLayer, x: Any, layout: str | None = None) -> Description:
    """What any layer does to x.

    Raises NormvizError, as ``Description.of`` does, for a model; and with what was measured for a module whose output is no normalization.
    """
    if isinstance(layer, nn.Module):
        check_has_shapes(layer)
    if isinstance(layer, nn.Module) and own_class(layer) and not list(layer.children()):
        found = _measured(layer, x, layout)
        if found is not None:
            return found
    return Description.of(layer, x, layout=layout)


def check_has_shapes(model: nn.Module) -> None:
    """Raise NormvizError if a parameter or a buffer gets its shape with the first call."""
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if is_lazy(tensor):
            raise NormvizError(
                "{name} of the model has no shape yet, because it is lazy; call the model once first.", name=name
            )


def own_class(layer: AnyLayer) -> str:
    """The name of the class of a module with a forward of its own; "" for a layer of torch.nn, and for one that is no module."""
    if not isinstance(layer, nn.Module):
        return ""
    try:
        kind_of_module(layer)
    except NormvizError:
        return type(layer).__name__
    return ""


def _measured(module: nn.Module, x: object, layout: str | None) -> Description | None:
    tensor, shape = tensor_and_shape(x)
    x = shape if tensor is None else tensor  # a module takes no array
    try:
        found = measure_module(module, x, layout, whole=True)
    except NormvizError:
        return None
    if found.norm is None or found.measured is None:
        raise NormvizError(
            "{module} was measured. {measured} Use nv.check(module, x) to see more.",
            module=type(module).__name__, measured=found.text,
        )  # fmt: skip
    if found.norm.running:
        return _frozen(module, x, found, layout)
    if len({sharing.counts(found.norm, one).gamma_shape for one in (shape, found.measured.shape)}) > 1:
        return None  # measured with 2 instead of 1 along an axis of gamma
    dtype = _dtype(module) if tensor is None else tensor.dtype
    return Description.of(found.norm, x, values=_values(module, found.measured, found.norm, dtype))


@one_at_a_time
def with_statistics(module: nn.Module, x: Any, layout: str | None = None) -> Description | None:
    """A module of the reader's own that stores statistics in train mode and uses them in eval mode, as the layer of torch in eval mode with
    the same gamma, beta, mean and variance; None for another module.

    The stored statistics are those with which the output in eval mode is what it is, whatever the names of the buffers.
    """
    if (both := _in_both_modes(module, x, layout)) is None:
        return None
    train, evaluated = both
    layer = None if train.layer is None else Layer.parse(train.layer)
    stored = None if evaluated.measured is None else evaluated.measured.formula
    if (
        not isinstance(layer, Layer)
        or not layer.kind.has("track_running_stats")
        or stored is None
        or train.measured is None
    ):
        return None
    if train.norm is None or train.norm.running or evaluated.norm is None or not evaluated.norm.running:
        return None
    tensor, _shape = tensor_and_shape(x)
    dtype = _dtype(module) if tensor is None else tensor.dtype
    learned = _values(module, train.measured, train.norm, dtype)
    factor, offset = (_of_channels(one, evaluated.norm).to(dtype) for one in (stored.factor, stored.offset))
    gamma, beta = (1.0 if learned.gamma is None else learned.gamma), (0.0 if learned.beta is None else learned.beta)
    var = (gamma / factor).square() - layer.given["eps"]
    mean = (beta - offset) / factor
    if not (var.isfinite().all() and mean.isfinite().all()):
        return None  # a gamma of 0 hides them
    described = Description.of(layer.with_(track_running_stats=True, training=False), x, layout=layout)
    return replace(described, values=Values(learned.gamma, learned.beta, mean, var.clamp(min=0)))


def _in_both_modes(module: nn.Module, x: Any, layout: str | None) -> tuple[Checked, Checked] | None:
    """What a module computes in train and in eval mode; None if it cannot be measured."""
    modes = {part: part.training for part in module.modules()}
    tensor, shape = tensor_and_shape(x)
    given = shape if tensor is None else tensor
    try:
        return (
            measure_module(module.train(), given, layout, whole=True),
            measure_module(module.eval(), given, layout, whole=True),
        )
    except NormvizError:
        return None
    finally:
        for part, mode in modes.items():
            part.training = mode


@one_at_a_time
def is_frozen(layer: AnyLayer, e: Description) -> bool:
    """Whether the described layer is a module of the reader's own that uses stored statistics in both modes."""
    if not e.norm.running or not isinstance(layer, nn.Module) or not own_class(layer):
        return False
    both = _in_both_modes(layer, e.shape if e.x is None else e.x, e.layout) or ()
    return bool(both) and all(one.norm is not None and one.norm.running for one in both)


def _dtype(module: nn.Module) -> torch.dtype:
    tensors = chain(module.parameters(), module.buffers())
    return next((tensor.dtype for tensor in tensors if tensor.is_floating_point()), torch.float32)


def _frozen(module: nn.Module, x: object, found: Checked, layout: str | None) -> Description | None:
    """A module with stored statistics: the layer of torch in eval mode, or a Norm with 1 + gamma, with gamma and beta such that the output is the same."""
    statistics = [dict(module.named_buffers()).get(name) for name in ("running_mean", "running_var")]
    mean, var = (None if one is None else one.detach().clone() for one in statistics)
    if found.norm is None or found.measured is None or found.measured.formula is None or mean is None or var is None:
        return None
    if found.layer is None and not found.norm.zero_centered_gamma:
        return None
    described = Description.of(Layer.parse(found.layer) if found.layer else found.norm, x, layout=layout)
    formula, deviation = found.measured.formula, (var + (described.norm.eps or 0)).sqrt()
    factor, offset = (_of_channels(one, found.norm).to(mean.dtype) for one in (formula.factor, formula.offset))
    gamma = None if described.norm.params is None else factor * deviation - int(described.norm.zero_centered_gamma)
    beta = offset + mean * factor if described.norm.bias else None
    return replace(described, values=Values(gamma, beta, mean, var))


def _of_channels(of_elements: Tensor, norm: Norm) -> Tensor:
    """One value for each stored mean, of values that the elements of a channel share."""
    kept = [axis for axis, parts in enumerate(norm.pattern.left) if not {*parts} & {*norm.pattern.reduced}]
    return of_elements.movedim(kept, list(range(len(kept)))).flatten(len(kept))[..., 0].flatten()


def _values(module: nn.Module, found: Measurement, norm: Norm, dtype: torch.dtype) -> Values:
    """gamma and beta in the shape of the Norm's parameters."""
    tables, shape = sharing.param_tables(norm, found.shape), sharing.counts(norm, found.shape).gamma_shape
    if tables is None or shape is None or found.formula is None:
        return Values()
    ids = torch.from_numpy(sharing.ids(tables).copy()).flatten()

    def in_order(of_elements: Tensor) -> Tensor:
        values = torch.zeros(int(ids.max()) + 1, dtype=torch.float64)
        values[ids] = of_elements.flatten()
        return values.reshape(shape).to(dtype)

    gammas = _zero_centered(module, found) if norm.zero_centered_gamma else found.gammas
    return Values(in_order(gammas), in_order(found.formula.offset) if norm.bias else None)


def _zero_centered(module: nn.Module, found: Measurement) -> Tensor:
    """The stored gamma of each element, of the shape of x. As measured, 1e-8 would stand where 0 is stored."""
    assert found.gamma is not None
    measured, ids = found.gammas - 1, torch.from_numpy(found.gamma.ids)
    tables = [one.detach().cpu().double().flatten() for one in module.parameters() if one.numel() > int(ids.max())]
    return next((one[ids] for one in tables if torch.allclose(one[ids], measured, atol=1e-4)), measured)
