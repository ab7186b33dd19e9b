"""A module that torch.nn does not know, as a Norm with its values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from normviz.analysis.description import Description, describe, tensor_and_shape
from normviz.analysis.forward import Values
from normviz.layers import sharing
from normviz.layers.arguments import kind_of_module
from normviz.layers.layer import Layer
from normviz.measuring.check import Check, check
from normviz.measuring.measurement import Measurement
from normviz.texts.errors import NormvizError


def describe_own(module: nn.Module, x: Any, layout: str | None = None) -> Description | None:
    """What a module with a forward of its own does to x, as it is measured; None for a layer of torch.nn.

    Raises NormvizError, as ``describe`` does, for a model, and for a module whose output is no normalization.
    """
    try:
        kind_of_module(module)
    except NormvizError as error:
        if list(module.children()):
            raise
        found = _measured(module, x, layout)
        if found is None:
            raise error from None
        return found
    return None


def _measured(module: nn.Module, x: Any, layout: str | None) -> Description | None:
    try:
        found = check(module, x, layout=layout, whole=True)
    except NormvizError:
        return None
    tensor, shape = tensor_and_shape(x)
    if found.norm is None or found.measured is None or found.measured.shape != shape:
        return None
    if found.norm.running:
        return _frozen(module, x, found)
    described = describe(found.norm, shape if tensor is None else tensor)
    values = None if tensor is None else _values(found.measured, described, tensor.dtype)
    return Description(described.norm, shape, described.axes, None, 0, tensor, values)


def _frozen(module: nn.Module, x: Any, found: Check) -> Description | None:
    """A module with stored statistics: the layer of torch in eval mode, with gamma and beta such that the output is the same."""
    statistics = [dict(module.named_buffers()).get(name) for name in ("running_mean", "running_var")]
    mean, var = (None if one is None else one.detach().clone() for one in statistics)
    if found.layer is None or found.measured is None or found.measured.formula is None or mean is None or var is None:
        return None
    layer, (tensor, shape) = Layer.parse(found.layer), tensor_and_shape(x)
    described = describe(layer, shape if tensor is None else tensor)
    if tensor is None or not isinstance(layer, Layer):
        return described
    formula, deviation = found.measured.formula, (var + (described.norm.eps or 0)).sqrt()
    factor, offset = (
        one.movedim(1, 0).reshape(len(mean), -1)[:, 0].to(mean.dtype) for one in (formula.factor, formula.offset)
    )
    gamma = None if described.norm.params is None else factor * deviation
    beta = offset + mean * factor if described.norm.bias else None
    return replace(described, values=Values(gamma, beta, mean, var))


def _values(found: Measurement, described: Description, dtype: torch.dtype) -> Values | None:
    """gamma and beta in the shape of the Norm's parameters."""
    tables, shape = sharing.param_tables(described.norm, described.shape), described.counts.gamma_shape
    if tables is None or shape is None or found.formula is None:
        return None
    ids = torch.from_numpy(sharing.ids(tables).copy()).flatten()

    def in_order(of_elements: Tensor) -> Tensor:
        values = torch.zeros(int(ids.max()) + 1, dtype=torch.float64)
        values[ids] = of_elements.flatten()
        return values.reshape(shape).to(dtype)

    return Values(in_order(found.gammas), in_order(found.formula.offset) if described.norm.bias else None)
