"""Everything that is measured of a function of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isclose, sqrt
from typing import Any

import numpy as np
import torch
from torch import Tensor

from normviz.measuring import probe
from normviz.measuring.formula import (
    Eps,
    Formula,
    Groups,
    Ids,
    Learned,
    Run,
    equal_ids,
    generic_values,
    measure_affine,
    measure_eps,
    measure_formula,
    measure_learned,
)
from normviz.measuring.groups import Index, Reach, is_alike, measure_reach, number, single_elements, smaller_shape
from normviz.measuring.probe import Function, Values, isolated, one_thread
from normviz.texts.errors import NormvizError

BIASED, UNBIASED, SUM = "m", "m - 1", "1"  # what the sum of squares is divided by
LEARNED = ("weight", "bias", "gamma", "beta")  # names of parameters; in a frozen layer, of buffers
OUTLIER, SHIFT = 50.0, 100.0
MOST_PARAMETERS = 2**20
SMALL = 2**16  # elements: synchronizing threads takes longer than the computation


@dataclass(frozen=True)
class Measurement:
    """What a function does to a tensor.

    reach    which outputs change if one input changes
    ids      the group of each element; None if the groups are no partition. With stored statistics: that of the statistics, or None if unknown
    formula  its formula; None if it is no normalization over these groups
    divisor  by what the sum of squares is divided: "m", "m - 1" or "1"
    eps      None if it has no influence or cannot be measured
    gamma    the parameter that each output is multiplied with; None if no parameter is
    beta     the parameter that is added to each output; None if no parameter is
    factors  the number of each element's factor, and
    offsets  of its offset: equal ones have the same number
    running  whether it uses stored statistics
    agrees   whether the formula gives the outputs for x, and for x with an outlier or a shift
    instead  the shape of x, if x is so large that a smaller tensor was measured instead; else None
    """

    reach: Reach
    ids: Ids | None
    formula: Formula | None = None
    divisor: str = BIASED
    eps: Eps | None = None
    gamma: Learned | None = None
    beta: Learned | None = None
    factors: Ids | None = None
    offsets: Ids | None = None
    running: bool = False
    agrees: bool = True
    instead: Index | None = None

    @property
    def shape(self) -> Index:
        """The shape of the x with which it was measured."""
        return self.reach.shape

    @cached_property
    def gammas(self) -> Tensor:
        """The gamma of each element, of the shape of x."""
        assert self.formula is not None
        return self.formula.factor / constant_of(self.divisor, self.elements)

    @cached_property
    def elements(self) -> int:
        """The number of elements in a group; 0 if the groups are unknown or differ in size."""
        return 0 if self.ids is None else Groups(self.ids).elements


def measure(
    fn: Callable[..., Any],
    x: Tensor,
    takes_arrays: bool = False,
    params: Mapping[str, Any] | None = None,
    allowed: Callable[[Index], bool] = bool,
    most_inputs: int = probe.MOST_INPUTS,
    whole: bool = False,
) -> Measurement:
    """Measure ``fn`` on tensors of the dtype of x, of its shape or of another one that is allowed. Nothing is changed.

    If x has more elements than ``most_inputs``, only some of them are moved. For a large x, a smaller tensor is measured, unless ``whole``.

    Raises NormvizError if fn cannot be measured: it raises, is random, or returns no tensor like x.
    """
    with one_thread(x.numel() <= SMALL), isolated(fn, x, takes_arrays, params or {}) as function:
        shape = _shape(function, tuple(x.shape), allowed)
        smaller = shape if whole else smaller_shape(function, shape, allowed)
        if smaller != shape:
            function.choose_dtype(probe.generic(smaller, x.dtype))
            found = _measured(function, smaller, x, most_inputs)
            function.choose_dtype(x)
            if is_alike(function, shape, smaller, found.reach.axes()):
                return replace(found, instead=shape)
        return _measured(function, shape, x, most_inputs)


def _measured(function: Function, shape: Index, x: Tensor, most_inputs: int) -> Measurement:
    generic = _generic_parameters(function, shape)
    reach = measure_reach(partial(function, values=generic), shape, function.dtype, most_inputs)
    if reach.is_elementwise:
        return _elementwise(function, reach)
    ids = reach.ids()
    if ids is None:
        return Measurement(reach, None)
    return _normalization(function, generic, reach, ids, x if shape == x.shape else None)


def _generic_parameters(function: Function, shape: Index) -> Values:
    """Other values of the parameters: a gamma of 0, with which some layers begin, would hide what they compute."""
    values = generic_values(_parameters(function), seed=3)
    try:
        function(probe.generic(shape, function.dtype), values)
    except NormvizError:
        return {}
    return values


def _shape(function: Function, shape: Index, allowed: Callable[[Index], bool]) -> Index:
    """The shape, with 2 instead of each 1 if the function takes that: whether an axis of size 1 is averaged cannot be seen."""
    wider = tuple(max(2, size) for size in shape)
    if not allowed(wider):
        return shape
    try:
        if wider != shape:
            function(probe.generic(wider, function.dtype))
    except NormvizError:
        return shape
    return wider


def _normalization(function: Function, generic: Values, reach: Reach, ids: Ids, x: Tensor | None) -> Measurement:
    groups, dtype = Groups(ids), function.dtype

    def formula_with(values: Values) -> Formula | None:
        return measure_formula(partial(function, values=values), dtype, groups)

    formula = formula_with(generic)
    own = formula_with({}) if generic else formula  # without parameters, both are the same
    if formula is None or own is None or formula.kind is None:
        return Measurement(reach, ids)
    known = (generic, formula) if generic else None
    gamma, beta = measure_learned(formula_with, _parameters(function), dtype, known)
    divisor = _divisor(gamma, own.factor, groups.elements, dtype)
    constant = constant_of(divisor, groups.elements)
    run = partial(function, values=generic)
    eps = measure_eps(run, formula, formula.kind, groups, constant, dtype)
    agrees = _agreement(run, dtype, formula, groups, constant, eps)
    if eps is not None and not eps.place and not agrees(probe.generic(reach.shape, dtype, seed=7)):
        return Measurement(reach, ids)  # a function such as tanh resembles a normalization for large x only
    return Measurement(
        reach,
        ids,
        replace(own, kind=formula.kind),
        divisor,
        eps,
        gamma,
        beta,
        equal_ids(own.factor, dtype),
        equal_ids(own.offset, dtype),
        agrees=formula.exact and not (eps and not eps.place) and all(map(agrees, _others(reach.shape, dtype, x))),
    )


def _divisor(gamma: Learned | None, factor: Tensor, elements: int, dtype: torch.dtype) -> str:
    """The divisor of the sum of squares, inferred from the factor without gamma."""
    constant = float(factor.median()) if gamma is None else gamma.constant
    close = probe.agreement(dtype)
    if elements < 2 or (gamma is None and not bool(((factor / constant - 1).abs() < close).all())):
        return BIASED
    for divisor in (UNBIASED, SUM):
        value = constant_of(divisor, elements)
        if isclose(constant, value, rel_tol=min(0.1 * (1 - value), 10 * close)):
            return divisor
    return BIASED


def constant_of(divisor: str, elements: int) -> float:
    """The output with this divisor over the output with m, for groups of so many elements."""
    return {BIASED: 1.0, UNBIASED: sqrt(max(elements - 1, 1) / max(elements, 1)), SUM: sqrt(1 / max(elements, 1))}[
        divisor
    ]


def _others(shape: Index, dtype: torch.dtype, x: Tensor | None) -> list[Tensor]:
    """Inputs on which a function may do something else: with a shift, with an outlier, and x."""
    usual = probe.generic(shape, dtype, seed=7)
    outlier = usual.clone()
    outlier.view(-1)[0] = OUTLIER
    return [usual, usual + SHIFT, outlier, *([] if x is None else [x.detach().to(dtype)])]


def _agreement(
    run: Run, dtype: torch.dtype, formula: Formula, groups: Groups, constant: float, eps: Eps | None
) -> Callable[[Tensor], bool]:
    """Whether the formula reproduces the output for an input, wherever the formula is finite."""
    kind = formula.kind
    assert kind is not None

    def agrees(given: Tensor) -> bool:
        numerator, square = kind.terms(given.double(), groups)
        denominator = square.sqrt() / constant
        if eps is not None:
            normalized = numerator / eps.applied(denominator)
        else:  # groups of one element
            normalized = torch.where(denominator == 0, 0.0, numerator / denominator)
        expected = normalized * formula.factor / constant + formula.offset
        size = max(1.0, float(expected.abs().nan_to_num().max()))
        known = expected.isfinite()
        return bool(((run(given).double() - expected).abs()[known] <= 10 * probe.agreement(dtype) * size).all())

    return agrees


def _parameters(function: Function) -> dict[int, Tensor]:
    """The floating-point tensors that may be gamma or beta, by position: all but buffers."""
    stored = _stored(function)
    return {
        position: value
        for position, value in enumerate(function.values)
        if position not in stored and value.is_floating_point() and 0 < value.numel() <= MOST_PARAMETERS
    }


def _elementwise(function: Function, reach: Reach) -> Measurement:
    """A function of each element alone: stored statistics, groups of one element, or no normalization."""
    shape, dtype, single = reach.shape, function.dtype, number(single_elements(reach.shape))
    affine = measure_affine(function, shape, dtype)
    if reach.is_empty and min(shape) > 1:
        return Measurement(reach, single)
    if affine is None or bool((affine.factor == 0).all()):
        return _normalization(function, {}, reach, single, None)
    if bool((affine.factor == 1).all() and (affine.offset == 0).all()):
        return Measurement(reach, single)
    stored = _stored(function)

    def affine_with(values: Values) -> Formula | None:
        return measure_affine(partial(function, values=values), shape, dtype)

    gamma, beta = measure_learned(affine_with, _parameters(function), dtype)
    other = affine_with({i: probe.generic(tuple(function.values[i].shape), dtype).abs() + 1 for i in stored})
    ids = (
        equal_ids(other.factor / affine.factor, dtype)
        if stored and other is not None
        else equal_ids(affine.factor, dtype)
    )
    known = None if np.ptp(ids) == 0 else ids
    factors, offsets = equal_ids(affine.factor, dtype), equal_ids(affine.offset, dtype)
    return Measurement(reach, known, affine, BIASED, _stored_eps(function), gamma, beta, factors, offsets, running=True)


def _stored(function: Function) -> set[int]:
    """The positions of the floating-point tensors that are no parameters: constants of the function, and buffers but gamma and beta."""
    buffers = {
        id(buffer)
        for module in function.modules
        for name, buffer in module.named_buffers(recurse=False)
        if name not in LEARNED
    }
    return {
        position
        for position, tensor in enumerate(function.tensors)
        if id(tensor) in buffers | function.constants and function.values[position].is_floating_point()
    }


def _stored_eps(function: Function) -> Eps | None:
    """The attribute ``eps`` of the module that has the running variance."""
    for module in function.modules:
        eps = getattr(module, "eps", None)
        if isinstance(eps, float) and list(module.buffers(recurse=False)):
            return Eps(eps, "inside")
    return None
