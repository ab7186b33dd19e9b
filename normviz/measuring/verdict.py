"""Whether a function computes what a layer computes: its output against the layer's, on the given x and on others like it.

The reference is the forward pass in float64. The output may differ from it by the tolerance of ``torch.testing.assert_close`` for the dtype
plus ``TIMES`` the largest error of the same computation in that dtype: without the second term, right code would be accused where
rounding is large, as in float32 for an x far from zero.
"""

import warnings
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, islice, permutations, product
from math import prod
from typing import Self

import numpy as np
import torch
from torch import Tensor

from normviz.analysis.description import Description
from normviz.analysis.forward import Trace, Values, broadcast, factor, forward, group_mean, used_eps
from normviz.layers.norm import Norm
from normviz.measuring import probe
from normviz.measuring.formula import IN_DOUBLE, Index, generic_values, parameters_of, stored_of
from normviz.measuring.probe import ENDS, Function
from normviz.measuring.report import Difference, Error, also
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _, join_sentences, ngettext

__tracebackhide__ = True  # pytest shows the frame of the caller

TIMES = 5
TOLERANCES = {  # relative and absolute: those of torch.testing.assert_close
    torch.float64: (1e-7, 1e-7),
    torch.float32: (1.3e-6, 1e-5),
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
}
FAR_FROM_ZERO = 30.0  # standard deviations
SYSTEMATIC = 1e-6  # a relative error of all outputs together; rounding of single outputs cancels
MOST_CANDIDATES = 24


# Which tensors of a function are gamma and beta


@dataclass(frozen=True)
class Role:
    """A tensor of the function as gamma or beta of the expected layer.

    position  in ``Function.tensors``
    order     the permutation of its axes that gives the layer's parameter; None: the elements in their order
    shape     of the layer's parameter
    is_log    whether it is the logarithm of the parameter, as its name says
    is_number  whether it is one number for all elements, which was given as such
    value      that the function makes from a condition in this call, of no tensor
    """

    position: int
    order: tuple[int, ...] | None
    shape: tuple[int, ...]
    is_log: bool = False
    is_number: bool = False
    value: Tensor | None = field(default=None, compare=False)

    def of(self, values: Sequence[Tensor] | Mapping[int, Tensor]) -> Tensor:
        """The parameter of the layer, from the values of the function's tensors."""
        if self.value is not None:
            return self.value
        value = values[self.position].exp() if self.is_log else values[self.position]
        if self.is_number:
            return value.expand(self.shape)
        return (value if self.order is None else value.permute(self.order)).reshape(self.shape)


@dataclass(frozen=True)
class GammaBeta:
    """gamma and beta of a function; None if it has none."""

    gamma: Role | None = None
    beta: Role | None = None

    @property
    def is_made(self) -> bool:
        """Whether they are made from a condition."""
        return self.gamma is not None and self.gamma.value is not None

    @property
    def count(self) -> int:
        """How many of the two it has."""
        return (self.gamma is not None) + (self.beta is not None)

    def values(self, values: Mapping[int, Tensor]) -> dict[str, Tensor]:
        """The values of gamma and beta, by name."""
        return {name: role.of(values) for name, role in vars(self).items() if role is not None}


def candidates(function: Function, expected: Description) -> list[GammaBeta]:
    """The tensors that may be gamma and beta: those with the usual names, otherwise every choice of as many as there are.

    So a tensor with another name, which the function may store and never use, does not stand for a gamma or beta that is missing. The first
    choice has both gamma and beta, if there are two tensors.
    """
    if expected.norm.params is None:
        return [GammaBeta()]
    learned, names = list(parameters_of(function)), function.names
    gammas = [position for position in learned if names.get(position) in probe.GAMMA_NAMES]
    betas = [position for position in learned if names.get(position) in probe.BETA_NAMES]
    unnamed: list[int | None] = [position for position in learned if position not in {*gammas, *betas}]
    counts = expected.counts
    for_gamma = _roles(function, gammas or [*unnamed, None], counts.gamma_shape)
    for_beta = _roles(function, betas or [*unnamed, None], counts.beta_shape) if expected.norm.bias else [None]
    pairs = [
        GammaBeta(gamma, beta)
        for gamma, beta in product(for_gamma, for_beta)
        if gamma is None or beta is None or gamma.position != beta.position
    ]
    most = max((pair.count for pair in pairs), default=0)
    return [pair for pair in pairs if pair.count == most][:MOST_CANDIDATES]


def some_roles(function: Function, expected: Description) -> list[GammaBeta]:
    """gamma or beta alone, of a function in which a tensor with one of their names has another size."""
    named = [position for position, name in function.names.items() if name in probe.BETA_NAMES]
    betas = _roles(function, named, expected.counts.beta_shape) if expected.norm.bias else []
    return [GammaBeta(None, beta) for beta in betas] or [GammaBeta()]


def _roles(function: Function, positions: Sequence[int | None], shape: tuple[int, ...] | None) -> list[Role | None]:
    found: list[Role | None] = []
    for position in positions:
        if position is None:
            found.append(None)
        elif shape is not None:
            own = tuple(function.tensors[position].shape)
            if id(function.tensors[position]) in function.numbers:
                found.append(Role(position, None, shape, is_number=True))
            elif prod(own) == prod(shape):
                is_log = function.names.get(position, "").partition("_")[0] == "log"
                found += [Role(position, order, shape, is_log) for order in _orders(own, shape)]
    return found


def _orders(own: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[tuple[int, ...] | None]:
    """How a parameter of this shape becomes one of the layer's shape: as it is, or with its axes permuted."""
    given = tuple(size for size in own if size > 1)
    wanted = tuple(size for size in shape if size > 1)
    if given == wanted or sorted(given) != sorted(wanted) or len(own) != len(shape):
        yield None
        return
    for order in permutations(range(len(own))):
        if tuple(own[i] for i in order) == shape:
            yield order


# The reference


@dataclass(frozen=True)
class Reference:
    """The expected layer on tensors.

    norm   its patterns and eps
    stats  for stored statistics: the positions of running_mean and running_var in ``Function.tensors``
    """

    norm: Norm
    stats: tuple[int, int] | None = None

    def __call__(self, x: Tensor, given: Mapping[str, Tensor], values: Mapping[int, Tensor] | None = None) -> Tensor:
        """The output in the dtype of x.

        given   gamma and beta
        values  of the function's tensors, for stored statistics
        """
        return self.trace(x, given, values).output

    def trace(self, x: Tensor, given: Mapping[str, Tensor], values: Mapping[int, Tensor] | None = None) -> Trace:
        """The output with its statistics."""
        return forward(self.norm, x, self.tensors(given, values))

    def tensors(self, given: Mapping[str, Tensor], values: Mapping[int, Tensor] | None = None) -> Values:
        """The tensors of the layer."""
        stats: dict[str, Tensor] = {}
        if self.norm.running and self.stats is not None and values is not None:
            stats = {"running_mean": values[self.stats[0]], "running_var": values[self.stats[1]]}
        return Values(given.get("gamma"), given.get("beta"), **stats)

    def rounding(self, x: Tensor, given: Mapping[str, Tensor], values: Mapping[int, Tensor] | None = None) -> Tensor:
        """By how much an output differs if the mean is wrong by the rounding of float32, of the shape of x."""
        trace = self.trace(x.double(), given, values)
        gamma = self.tensors(given, values).gamma
        largest = torch.finfo(torch.float32).eps * trace.mean.abs() / (trace.var + trace.eps).sqrt()
        if gamma is None:
            return largest
        return largest * broadcast(self.norm, tuple(x.shape), factor(self.norm, gamma.double())).abs()

    def gradients(
        self, x: Tensor, given: Mapping[str, Tensor], values: Mapping[int, Tensor], dout: Tensor
    ) -> dict[str, Tensor]:
        """dx, dgamma and dbeta."""
        return gradients(lambda a, b: self(a, b, values), x, given, dout)

    @contextmanager
    def in_mode(self, function: Function, expected: Description, _training: bool) -> Iterator["Reference"]:
        """That of a module in its other mode. ``expected``: the layer in that mode."""
        yield reference_of(function, expected)

    @property
    def is_layer(self) -> bool:
        """Whether ``norm`` describes it: then a wrong output may have a reason."""
        return True

    @property
    def is_known(self) -> bool:
        """Whether its output can be computed: stored statistics are known by their names only."""
        return not self.norm.running or self.stats is not None


def gradients(
    output_of: Callable[[Tensor, Mapping[str, Tensor]], Tensor], x: Tensor, given: Mapping[str, Tensor], dout: Tensor
) -> dict[str, Tensor]:
    """dx, dgamma and dbeta by autograd; zeros where the output does not depend on the tensor."""
    leaf = x.detach().clone().requires_grad_()
    leaves = {name: value.detach().clone().requires_grad_() for name, value in given.items()}
    with torch.enable_grad():
        output = output_of(leaf, leaves)
    inputs = {"x": leaf, **leaves}
    found = autograd(output, list(inputs.values()), dout)
    return {
        name: torch.zeros_like(value) if one is None else one
        for (name, value), one in zip(inputs.items(), found, strict=True)
    }


def autograd(output: Tensor, inputs: list[Tensor], dout: Tensor) -> tuple[Tensor | None, ...]:
    with torch.enable_grad():
        loss = (output * dout.to(output.dtype)).sum()  # with dout as an argument, torch imports sympy
    return torch.autograd.grad(loss, inputs, allow_unused=True)


def reference_of(function: Function, expected: Description) -> Reference:
    """The expected layer, with the stored statistics of the function."""
    stats = None
    if expected.norm.running:
        named = {name: position for position, name in function.names.items() if position in stored_of(function)}
        both = named.get("running_mean"), named.get("running_var")
        count = expected.counts.statistics
        if all(position is not None and function.tensors[position].numel() == count for position in both):
            stats = both
    return Reference(expected.norm, stats)  # type: ignore[arg-type]


# Comparing


def compare(
    output: Tensor,
    exact: Tensor,
    rounded: Tensor,
    dtype: torch.dtype,
    relative_to_largest: bool = False,
    rounding: Tensor | float = 0.0,
) -> Error:
    """An output against the reference in float64.

    rounded  the reference computed in ``dtype``
    relative_to_largest  measure the relative tolerance by the largest number, as for gradients in half precision
    rounding  an error of another computation of the reference, for each output
    """
    output, rounded = output.double(), rounded.double()
    relative, absolute = TOLERANCES[dtype]
    own = (rounded - exact).abs()
    size = exact.abs()
    if relative_to_largest:
        size = torch.full_like(size, float(size[size.isfinite()].max()) if size.isfinite().any() else 0.0)
    allowed = absolute + relative * size + TIMES * float(own[own.isfinite()].max() if own.isfinite().any() else 0.0)
    allowed = allowed + TIMES * rounding
    difference = (output - exact).abs()
    same = (
        (difference.isfinite() & (difference <= allowed))
        | (output == exact)
        | (output.isnan() & (exact.isnan() | rounded.isnan()))
    )
    same |= output == rounded
    excess = torch.where(same, -1.0, torch.where(difference.isfinite(), difference, torch.inf))
    flat = int(excess.flatten().argmax()) if not bool(same.all()) else int(difference.nan_to_num().flatten().argmax())
    at = tuple(map(int, np.unravel_index(flat, output.shape)))  # torch's function imports sympy
    return Error(float(difference.flatten()[flat]), at, bool(same.all()))


def is_systematic(output: Tensor, exact: Tensor, offset: Tensor, rounded: Tensor) -> bool:
    """Whether all outputs are too large or too small by the same small factor: that is no rounding."""
    wanted, given, low = ((one.double() - offset).flatten() for one in (exact, output, rounded))
    square = float(wanted @ wanted)
    if not square or not torch.isfinite(given).all():
        return False
    own = abs(float(low @ wanted) / square - 1)
    return abs(float(given @ wanted) / square - 1) > max(SYSTEMATIC, TIMES * own)


# The verdict

FAR, MUCH = 1000.0, 1000.0  # standard deviations from zero; times larger or smaller
EPS_SCALES = (10.0, 1.0, 0.1)  # standard deviations of an x that shows eps, in roots of eps


@dataclass
class Verdict:
    """What the comparison of a function with the expected layer found.

    given    the error on the given x, in its dtype; None if nothing was compared
    dtype    the dtypes of the function's output and of the expected one, if they differ
    right    whether it agrees on other x, in the most precise dtype that it takes
    only_near  whether these are near zero, unlike x
    own_right  whether it agrees on x in that dtype
    other_parameters  whether it takes other values of gamma and beta
    """

    given: Error | None = None
    dtype: tuple[torch.dtype, torch.dtype] | None = None
    right: bool = False
    only_near: bool = False
    own_right: bool = True
    other_parameters: bool = True


class LayerComparison:
    """A function and the layer that it should be. The candidates that do not agree are dropped from ``alive``."""

    def __init__(
        self, function: Function, expected: Description, reference: Reference, x: Tensor, roles: GammaBeta | None = None
    ) -> None:
        if reference.norm.eps is None:
            reference = replace(reference, norm=replace(reference.norm, eps=used_eps(reference.norm, x)))
        self.function, self.expected, self.reference, self.x = function, expected, reference, x
        self.near = False  # for x far from zero, rounding may hide whether the function is right
        self.alive = self.started = candidates(function, expected) if roles is None else [roles]
        self.best = self.alive[0] if self.alive else GammaBeta()
        usable = x.double()[torch.isfinite(x.double())]
        spread = float(usable.std(correction=0)) if usable.numel() > 1 else 0.0
        self.mean, self.spread = (float(usable.mean()), spread) if spread > 0 else (0.5, 1.0)

    @property
    def is_far(self) -> bool:
        """Whether x is so far from zero that rounding may hide the formula."""
        return self.near or abs(self.mean) > FAR_FROM_ZERO * self.spread

    def on(self, expected: Description) -> Self:
        """The comparison with the same layer on another shape. All candidates are alive."""
        reference = replace(self.reference, norm=expected.norm)
        other = type(self)(self.function, expected, reference, self.x)
        other.near = self.near
        return other

    def resized(self, expected: Description, sizes: Mapping[int, int]) -> tuple[Self, dict[int, Tensor]]:
        """The comparison with the layer on another shape, and values for gamma and beta of its size."""
        other, values, counts = self.on(expected), dict[int, Tensor](), expected.counts
        roles = {}
        for name, shape in (("gamma", counts.gamma_shape), ("beta", counts.beta_shape)):
            role = getattr(self.best, name)
            roles[name] = None if role is None or shape is None else replace(role, shape=shape)
            if role is not None and shape is not None and not role.is_number:
                own = self.function.values[role.position]
                changed = torch.empty(
                    [sizes.get(size, size) for size in own.shape] if shape != role.shape else own.shape
                )
                values |= signed_values({role.position: changed.to(own.dtype)}, seed=43)
        other.alive, other.best = [GammaBeta(**roles)], GammaBeta(**roles)
        other.near = True
        return other, values

    @staticmethod
    def near_enough(output: Tensor, wanted: Tensor) -> bool:
        """Whether an output is not another one altogether, such as 0."""
        return bool(((output.double() - wanted).abs() <= 0.5 * wanted.abs().max()).all())

    @property
    def learned(self) -> dict[int, Tensor]:
        """The tensors that may be gamma or beta."""
        return parameters_of(self.function)

    def alike(self, shape: Index, seed: int) -> Tensor:
        """Other values of the size of x, or near zero, in float64."""
        if self.near:
            return probe.generic(shape, torch.float64, seed)
        return (probe.generic(shape, torch.float64, seed) - 0.5) * self.spread + self.mean

    def batches(self, dtype: torch.dtype) -> list[Tensor]:
        """Two batches for the running statistics, and one for eval mode. Of a mean of 0, the mean square would be nearly the variance."""
        first, second, third = (self.alike(tuple(self.x.shape), seed) for seed in (21, 22, 23))
        shift = 0.0 if self.near else self.spread
        return [(first + shift).to(dtype), (second - shift).to(dtype), third.to(dtype)]

    def agrees(self, x: Tensor, values: Mapping[int, Tensor], dtype: torch.dtype, strict: bool = False) -> Error:
        """Compare the outputs for x with these values of the function's tensors. Candidates that do not agree are dropped."""
        output = self.function(x, values)
        tensors = self.function.with_values(values)
        errors: dict[int, Error] = {}
        for number, roles in enumerate(self.alive):
            errors[number] = self.error_of(output, x, roles, tensors, dtype, strict)
        kept = [roles for number, roles in enumerate(self.alive) if errors[number].ok]
        if kept:
            self.alive, self.best = kept, kept[0]
            return next(error for error in errors.values() if error.ok)
        if not errors:
            return Error(float("nan"), (0,) * x.dim(), False)
        return min(errors.values(), key=lambda error: error.largest if error.largest == error.largest else float("inf"))

    def exact(self, x: Tensor, values: Mapping[int, Tensor]) -> Tensor:
        """The expected output in float64, with these values of the function's tensors."""
        tensors = self.function.with_values(values)
        return self._reference(x.double(), self.best, tensors, torch.float64)

    def stored(self, values: Mapping[int, Tensor]) -> tuple[Tensor, Tensor]:
        """The stored mean, and the root of the stored variance plus eps, of each element."""
        assert self.reference.stats is not None
        mean, var = (values.get(i, self.function.values[i]).double() for i in self.reference.stats)
        shape = self.expected.shape
        trace = forward(
            self.reference.norm, torch.zeros(shape, dtype=torch.float64), Values(running_mean=mean, running_var=var)
        )
        return trace.mean, (trace.var + trace.eps).sqrt()

    def error_of(
        self,
        output: Tensor,
        x: Tensor,
        roles: GammaBeta,
        tensors: Mapping[int, Tensor],
        dtype: torch.dtype,
        strict: bool,
    ) -> Error:
        """The error of an output for x, with these roles and values of the function's tensors. ``strict``: in exactly this dtype."""
        exact = self._reference(x.double(), roles, tensors, torch.float64)
        # A function may compute in float32 inside; its output in float64 has errors of float32 then.
        low = _lower(dtype, output.dtype) if strict else dtype if dtype.itemsize < 4 else torch.float32
        rounded = self._reference(x.to(low), roles, tensors, low).double()
        error = compare(output, exact, rounded, low)
        if not error.ok:
            error = self._with_rounding(output, exact, rounded, x, roles, tensors, low)
        if strict:
            return error
        if error.ok and dtype == torch.float64:
            offset = self._offset(x, roles, tensors)
            return replace(error, ok=not is_systematic(output, exact, offset, rounded))
        return error

    def _with_rounding(
        self,
        output: Tensor,
        exact: Tensor,
        rounded: Tensor,
        x: Tensor,
        roles: GammaBeta,
        tensors: Mapping[int, Tensor],
        dtype: torch.dtype,
    ) -> Error:
        """The error, with the larger tolerances of another order of computation, and of torch's own layer."""
        given = {name: value.double() for name, value in roles.values(tensors).items()}
        stored = probe.floats(tensors)
        rounding = self.reference.rounding(x, given, stored)
        error = compare(output, exact, rounded, dtype, rounding=rounding)
        if error.ok:
            return error
        own = self.torch_output(x.to(dtype), given, stored)
        return error if own is None else compare(output, exact, own.detach(), dtype, rounding=rounding)

    def torch_output(
        self, x: Tensor, given: Mapping[str, Tensor], stored: Mapping[int, Tensor] | None = None
    ) -> Tensor | None:
        """The output of torch's own layer in the dtype of x; None if torch has none."""
        layer, axes = self.expected.layer, self.expected.axes
        if layer is None or not layer.kind.in_torch:
            return None
        module = layer.module(x.dtype)
        own = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        state = {
            name: value.to(x.dtype).reshape(own[name].shape)
            for name, value in self.reference.tensors(given, stored).state.items()
            if name in own
        }
        channel, own_channel = layer.kind.channel(x.dim()), axes.index("c") if "c" in axes else None
        last = channel is not None and own_channel is not None and channel != own_channel
        moved = x.movedim(own_channel, channel) if last else x  # type: ignore[arg-type]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            output: Tensor = torch.func.functional_call(module, state, (moved,))
        return output.movedim(channel, own_channel) if last else output  # type: ignore[arg-type]

    def rounding(self, x: Tensor, values: Mapping[int, Tensor], dtype: torch.dtype) -> float:
        """The largest error of an output that the rounding of the mean in this dtype gives, or of the layer itself in it."""
        tensors = self.function.with_values(values)
        exact, low = (
            self._reference(x.to(one), self.best, tensors, one).double().nan_to_num() for one in (torch.float64, dtype)
        )
        given = {name: value.double() for name, value in self.best.values(tensors).items()}
        finer = min(1.0, torch.finfo(dtype).eps / torch.finfo(torch.float32).eps)  # that of the mean is of float32
        of_mean = finer * self.reference.rounding(x, given, probe.floats(tensors)).nan_to_num(posinf=0.0)
        return float(torch.maximum((low - exact).abs(), of_mean).max())

    def _offset(self, x: Tensor, roles: GammaBeta, tensors: Mapping[int, Tensor]) -> Tensor:
        given = {name: value.double() for name, value in roles.values(tensors).items()}
        if "beta" not in given or not self.reference.is_layer:
            return torch.zeros_like(x, dtype=torch.float64)
        zero = torch.full_like(given["beta"], -1.0 if self.reference.norm.zero_centered_gamma else 0.0)
        return self.reference(x.double(), given | {"gamma": zero}, probe.floats(tensors))

    def _reference(self, x: Tensor, roles: GammaBeta, tensors: Mapping[int, Tensor], dtype: torch.dtype) -> Tensor:
        """In this dtype; with gamma and beta of the function as they are, rounded to no less than float32."""
        wide = dtype if dtype.itemsize > 4 else torch.float32
        given = {name: value.to(wide) for name, value in roles.values(tensors).items()}
        return self.reference(x, given, probe.floats(tensors, wide))


def _lower(one: torch.dtype, other: torch.dtype) -> torch.dtype:
    return min(one, other, key=lambda dtype: -torch.finfo(dtype).eps)


def signed_values(tensors: Mapping[int, Tensor], seed: int) -> dict[int, Tensor]:
    """Values of parameters, by position: their sizes are from 0.5 to 2, some are negative, and all differ."""
    values = {}
    for position, tensor in tensors.items():
        generator = torch.Generator().manual_seed(probe.SEED + 10 * position + seed)
        size = 0.5 + 1.5 * torch.rand(tensor.shape, generator=generator, **IN_DOUBLE)
        sign = torch.rand(tensor.shape, generator=generator, **IN_DOUBLE) < 0.4
        values[position] = torch.where(sign, -size, size).to(tensor)
    return values


def other_statistics(function: Function, reference: Reference, seed: int) -> dict[int, Tensor]:
    """Other values of stored statistics, by position: a mean of 0 and a variance of 1 would hide how they are used."""
    if reference.stats is None:
        return {}
    mean, var = ({i: function.values[i]} for i in reference.stats)
    return signed_values(mean, seed) | generic_values(var, seed)


def judge(
    function: Function, expected: Description, reference: Reference, x: Tensor, roles: GammaBeta | None = None
) -> tuple[Verdict, LayerComparison]:
    """Compare the output of a function with that of the expected layer, on x and on others like it. ``roles``: its gamma and beta, if they are known."""
    compared = LayerComparison(function, expected, reference, x, roles)
    verdict = Verdict()
    shape, precise = tuple(x.shape), function.dtype
    if expected.norm.eps is None:  # the machine epsilon of the dtype of x
        precise = function.dtype if function.dtype.itemsize <= x.dtype.itemsize else x.dtype
    function.use(precise)
    others = signed_values(parameters_of(function), seed=4) | other_statistics(function, reference, seed=4)
    if not function.takes(shape, others):
        others, verdict.other_parameters = {}, False
    verdict.right = _right(compared, shape, others, precise)
    if verdict.right:
        verdict.own_right = compared.agrees(x.to(precise), {}, precise).ok
    else:  # a function that computes in float32 is imprecise far from zero; near zero it shows whether the formula is right
        near = LayerComparison(function, expected, reference, probe.generic(shape, precise), roles)
        verdict.only_near = verdict.right = verdict.own_right = _right(near, shape, others, precise)
        if verdict.right:
            compared.alive, compared.best, compared.near = near.alive, near.best, True
    function.use_own()
    output = function(x, {})
    wanted = _output_dtype(function, x)
    verdict.dtype = None if output.dtype == wanted else (output.dtype, wanted)
    verdict.given = compared.agrees(x, {}, x.dtype, strict=True)
    function.use(precise)
    return verdict, compared


def _right(compared: LayerComparison, shape: Index, others: Mapping[int, Tensor], dtype: torch.dtype) -> bool:
    """Whether the outputs agree for other values of x and of gamma and beta, and for x so small that eps counts."""
    inputs = [compared.alike(shape, seed) for seed in (11, 12)]
    norm = compared.reference.norm
    eps = norm.eps or 0.0
    if eps > 0 and not norm.running:
        small = probe.generic(shape, torch.float64, 13) - 0.5
        inputs += [small * scale * eps**0.5 for scale in EPS_SCALES]
    return all(compared.agrees(x.to(dtype), others, dtype).ok for x in inputs)


def _output_dtype(function: Function, x: Tensor) -> torch.dtype:
    """The dtype of x; NumPy promotes it to that of gamma and beta."""
    dtype = x.dtype
    if function.kind != probe.TENSORS:
        for value in function.params.values():
            if isinstance(value, Tensor) and value.is_floating_point() and id(value) not in function.numbers:
                dtype = torch.promote_types(dtype, value.dtype)
    return dtype


def constant_is_finite(compared: LayerComparison) -> bool:
    """Whether the output for equal values of x is finite, or should not be: in half precision, a small eps is 0."""
    function, x = compared.function, compared.x
    center = compared.reference.norm.center
    same = torch.full(x.shape, compared.mean if center else 0.0, dtype=x.dtype)
    if function(same, {}).isfinite().all():
        return True
    wanted = compared._reference(same, compared.best, dict(enumerate(function.values)), x.dtype)
    return not bool(wanted.isfinite().all())


def extremes(compared: LayerComparison) -> Iterator[tuple[str, float]]:
    """The errors for x much farther from zero, larger and smaller than the given one, where rounding does not explain them; by the name of what is unlike."""
    x = compared.x
    is_half = x.dtype.itemsize < 4
    times, far = (8.0, 8.0) if is_half else (MUCH, FAR)
    for name, other in (
        ("far", x.double() + far * compared.spread),
        ("large", x.double() * times),
        ("small", x.double() / times),
    ):
        alive, best = compared.alive, compared.best
        error = compared.agrees(other.to(x.dtype), {}, x.dtype, strict=True)
        compared.alive, compared.best = alive, best
        if not error.ok:
            yield name, error.largest


def on_shapes(
    compared: LayerComparison, shapes: Sequence[Index], on: Callable[[Index], Description | None]
) -> Iterator[tuple[Index, Error]]:
    """The errors on these shapes.

    Without shapes: those with 3 in place of each free axis of size 1, and with other odd sizes of the free axes, if the function takes them.

    on  the expected layer on another shape; None if it does not take it
    """
    function, own, dtype = compared.function, tuple(compared.x.shape), compared.function.dtype
    wider = [tuple(3 if size == 1 else size for size in own)] if 1 in own else []
    wanted = [(shape, on(shape)) for shape in shapes or dict.fromkeys([*wider, *_odd(own, on, function)])]
    for shape, expected in wanted:
        if expected is None or (not shapes and not function.takes(shape)):
            continue
        other = compared.on(expected)
        other.alive = [compared.best]
        error = other.agrees(other.alike(shape, 14).to(dtype), {}, dtype)
        if not error.ok and not other.near:  # rounding of a function that computes in float32
            other.near = True
            error = other.agrees(other.alike(shape, 14).to(dtype), {}, dtype)
        yield shape, error


def _odd(shape: Index, on: Callable[[Index], Description | None], function: Function) -> Iterator[Index]:
    """Shapes with other odd sizes of the axes that the layer and the function leave free: of all of them, then a larger one than x has."""
    # Equal sizes could hide a confusion of axes, and m - 1 is a divisor.
    odd = islice((size for size in count(5, 2) if not {size, size + 1} & {*shape}), len(shape))
    free = [(axis, size) for axis, size in enumerate(odd) if on(_changed(shape, {axis: size})) is not None]
    changed, most = _changed(shape, dict(free)), max(probe.LARGE, prod(shape))
    if prod(changed) > most or not function.takes(changed):
        changed = shape
        for axis, size in free:
            other = _changed(changed, {axis: size})
            changed = other if prod(other) <= most and function.takes(other) else changed
    yield from [changed] if changed != shape else []
    larger = (_changed(shape, {axis: shape[axis] + 1 + shape[axis] % 2}) for axis, _size in free[-1:])
    yield from (one for one in larger if prod(one) <= probe.LARGE)


def _changed(shape: Index, sizes: Mapping[int, int]) -> Index:
    return tuple(sizes.get(axis, size) for axis, size in enumerate(shape))


# Whether the gradients of a function are those of a layer: dx, dgamma and dbeta for a random dout.

NAMES = {"x": "dx", "gamma": "dgamma", "beta": "dbeta"}


@dataclass(frozen=True)
class Unjudged:
    """Why the gradients are not compared.

    reason    as a message
    is_fault  whether the function lacks them: then they are wrong if they were asked for
    """

    reason: str
    is_fault: bool = True


NO_GRADIENT = N_("its output requires no gradient, as under torch.no_grad() or through NumPy or JAX")
NO_REFERENCE = N_("{layer} has no gradient")
NOT_DIFFERENTIABLE = N_("autograd cannot differentiate it: {error}")


def compare_gradients(
    compared: LayerComparison, values: Mapping[int, Tensor] | None = None, strided: bool = False
) -> list[Difference] | Unjudged:
    """Compare the gradients on an x like the given one, and on x itself in half precision. The outputs must be right.

    values   of the function's tensors, for another shape than that of x: then only this shape is tried
    strided  x and dout are not contiguous
    """
    function, x, roles = compared.function, compared.x, compared.best
    if function.kind != probe.TENSORS or function.converts:
        return Unjudged(_(NO_GRADIENT))
    shape = compared.expected.shape if values is not None else tuple(x.shape)
    others = signed_values(parameters_of(function), seed=5) if values is None else values
    if values is None and not function.takes(shape, others):
        others = {}
    try:
        differs = _differences(compared, roles, compared.alike(shape, 15).to(function.dtype), others, strided)
        if differs or values is not None:
            return differs
        if x.dtype.itemsize < 4 <= function.dtype.itemsize:
            dtype = function.dtype
            function.use_own()
            try:
                return _differences(compared, roles, x, {})
            finally:
                function.use(dtype)
    except NoGradientError:
        return Unjudged(_(NO_GRADIENT))
    except NoReferenceError:
        return Unjudged(_(NO_REFERENCE, layer=compared.expected.title), is_fault=False)
    except RuntimeError as error:
        return Unjudged(_(NOT_DIFFERENTIABLE, error=str(error).splitlines()[0].rstrip(".")))
    return []


# Of x and of parameters, where the gradient of a wrong output is compared with differences of it.
STEPS = (1e-5, 3e-5, 1e-2)
SAME, SMOOTH = 1e-3, 0.2  # relative, of these


def inconsistent_gradients(compared: LayerComparison) -> list[Difference]:
    """Whether the gradients are those of the function's own output, which need not be right: by differences of it, in float64.

    All steps must give the same difference: of a function that rounds, or has an edge there, nothing is told.
    """
    function, roles = compared.function, named_roles(compared.function)
    if function.kind != probe.TENSORS or function.converts or function.dtype != torch.float64:
        return []
    shape = compared.expected.shape
    x, values = probe.generic(shape, torch.float64, 15), generic_values(parameters_of(function), seed=5)
    dout = probe.generic(shape, torch.float64, 16) - 0.5
    try:
        values = values if function.takes(shape, values) else {}
        own = own_gradients(function, roles, x, values, dout)
    except (NormvizError, RuntimeError, NoGradientError):
        return []
    wrong = list[str]()
    for name, gradient in own.items():
        role = None if name == "x" else getattr(roles, name)
        short, longer, far = (_slope(function, x, values, dout, role, step) for step in STEPS)
        along = float((gradient.double() * _direction(gradient.shape)).sum())
        size = max(abs(along), abs(short), abs(far))
        is_smooth = abs(short - longer) < 0.1 * SAME * size and abs(short - far) < SMOOTH * size
        if is_smooth and abs(along - short) > SAME * size > 0:
            wrong.append(name)
    if not wrong:
        return []
    names = listed([NAMES[name] for name in wrong], "and")
    text = ngettext(
        "Its gradient is not that of its output: {names} is wrong.",
        "Its gradients are not those of its output: {names} are wrong.",
        len(wrong),
        names=names,
    )
    return [Difference("backward", _("another {names}", names=names), names, text)]


def named_roles(function: Function, among: Container[int] | None = None) -> GammaBeta:
    """Its parameters that have the name of a gamma or a beta, whatever their shapes are. A number has no gradient. ``among``: only these positions."""
    learned = [i for i in parameters_of(function) if id(function.tensors[i]) not in function.numbers]
    learned = [i for i in learned if among is None or i in among]
    meant = {probe.meaning(function.names[i]): i for i in learned if i in function.names}
    roles = [meant.get(name) for name in ("gamma", "beta")]
    return GammaBeta(*(None if i is None else Role(i, None, tuple(function.tensors[i].shape)) for i in roles))


def _direction(shape: Sequence[int]) -> Tensor:
    return probe.generic(tuple(shape), torch.float64, 19) - 0.5


def _slope(
    function: Function, x: Tensor, values: Mapping[int, Tensor], dout: Tensor, role: Role | None, step: float
) -> float:
    """How much the output, weighted with dout, grows with a small step of x, or of a parameter."""
    outputs = []
    for sign in (step, -step):
        if role is None:
            outputs.append(function(x + sign * _direction(x.shape), values))
        else:
            own = function.with_values(values)[role.position]
            outputs.append(function(x, {**values, role.position: own + sign * _direction(own.shape)}))
    return float(((outputs[0] - outputs[1]) * dout).sum()) / (2 * step)


class NoGradientError(Exception):
    """The output requires no gradient although x does."""


class NoReferenceError(Exception):
    """What the function is compared with has no gradient."""


def _differences(
    compared: LayerComparison, roles: GammaBeta, x: Tensor, values: Mapping[int, Tensor], strided: bool = False
) -> list[Difference]:
    function = compared.function
    tensors = function.with_values(values)
    dout = (probe.generic(tuple(x.shape), torch.float64, 16) - 0.5).to(x.dtype)
    own = own_gradients(function, roles, x, values, dout, strided)
    exact, rounded, low = _wanted(compared, x, tensors, dout)
    wrong = _wrong(own, exact, rounded, low)
    if not wrong:
        return []
    given = roles.values(tensors)
    return [_difference(wrong, _mistake(compared.reference, own["x"], x, given, dout) if "x" in wrong else None)]


def _wanted(
    compared: LayerComparison, x: Tensor, tensors: Mapping[int, Tensor], dout: Tensor
) -> tuple[dict[str, Tensor], dict[str, Tensor], torch.dtype]:
    """The gradients of the layer in float64, then in a lower dtype, and that dtype."""
    given = compared.best.values(tensors)
    stored = probe.floats(tensors)

    def wanted(dtype: torch.dtype) -> dict[str, Tensor]:
        parameters = {name: value.to(torch.promote_types(dtype, torch.float32)) for name, value in given.items()}
        return compared.reference.gradients(x.to(dtype), parameters, stored, dout.to(dtype))

    low = x.dtype if x.dtype.itemsize < 4 else torch.float32
    exact, rounded = wanted(torch.float64), wanted(low)
    wide = {name: value.double() for name, value in given.items()}
    own = _of_torch(compared, x.to(low), wide, stored, dout.to(low))
    farther = {
        name: max(value, own.get(name, value), key=partial(_distance, exact[name])) for name, value in rounded.items()
    }
    return exact, farther, low


def _of_torch(
    compared: LayerComparison, x: Tensor, given: Mapping[str, Tensor], stored: Mapping[int, Tensor], dout: Tensor
) -> dict[str, Tensor]:
    """The gradients of torch's own layer; empty if torch has none."""
    if compared.torch_output(x, given, stored) is None:
        return {}
    return gradients(lambda a, b: compared.torch_output(a, b, stored), x, given, dout)  # type: ignore[arg-type,return-value]


def _distance(exact: Tensor, other: Tensor) -> float:
    return float((other.double() - exact).abs().nan_to_num(posinf=0.0).max())


def _wrong(
    own: Mapping[str, Tensor], exact: Mapping[str, Tensor], rounded: Mapping[str, Tensor], dtype: torch.dtype
) -> dict[str, Error]:
    """The errors of the gradients that rounding does not explain."""
    found = {}
    for name, gradient in own.items():
        # A small gradient is a difference of large numbers, and a sum of many rounded terms.
        error = compare(gradient, exact[name], rounded[name], dtype, relative_to_largest=True)
        if not error.ok:
            found[name] = error
    return found


def own_gradients(
    function: Function, roles: GammaBeta, x: Tensor, values: Mapping[int, Tensor], dout: Tensor, strided: bool = False
) -> dict[str, Tensor]:
    """The gradients of the function. Raises NoGradientError, or RuntimeError of autograd."""
    leaf = x.detach().clone().requires_grad_()
    used = {
        name: role
        for name, role in (("gamma", roles.gamma), ("beta", roles.beta))
        if role is not None and not role.is_log and not role.is_number
    }
    tensors = {name: function.tensors[role.position] for name, role in used.items()}
    required = {name: tensor.requires_grad for name, tensor in tensors.items()}
    try:
        for tensor in tensors.values():
            tensor.requires_grad_()
        with torch.enable_grad():
            output = function.with_graph(probe.with_step(leaf) if strided else leaf, values)
        if not output.requires_grad:
            raise NoGradientError
        found = autograd(output, [leaf, *tensors.values()], probe.with_step(dout) if strided else dout)
    finally:
        for name, tensor in tensors.items():
            tensor.requires_grad_(required[name])
    own = {"x": torch.zeros_like(leaf) if found[0] is None else found[0]}
    for (name, role), gradient in zip(used.items(), found[1:], strict=True):
        own_gradient = torch.zeros_like(tensors[name]) if gradient is None else gradient
        own[name] = role.of({role.position: own_gradient.to(function.home)}).detach()
    return own


@dataclass(frozen=True)
class Mistake:
    """A usual mistake in dx. ``detached``: the statistics that are treated as constants."""

    sentence: str
    remedy: str
    detached: tuple[str, ...] = ()
    has_gamma: bool = True
    sign: int = 1


MISTAKES = (
    Mistake(
        N_("It treats the mean as a constant: do not detach it."),
        N_("Let the gradient pass through the mean."),
        ("mean",),
    ),
    Mistake(
        N_("It treats the variance as a constant: do not detach it."),
        N_("Let the gradient pass through the variance."),
        ("variance",),
    ),
    Mistake(
        N_("It treats the mean and the variance as constants: do not detach them."),
        N_("Let the gradient pass through the mean and the variance."),
        ("mean", "variance"),
    ),
    Mistake(N_("dx does not contain gamma."), N_("Multiply dout by gamma before the rest of dx."), has_gamma=False),
    Mistake(N_("dx has the opposite sign."), N_("Change the sign of dx."), sign=-1),
)
SQUARE = Mistake(
    N_("It treats the mean of x^2 as a constant: do not detach it."),
    N_("Let the gradient pass through the mean of x^2."),
    ("variance",),
)


def _difference(wrong: Mapping[str, Error], mistake: Mistake | None, is_output_right: bool = True) -> Difference:
    names = listed([NAMES[name] for name in wrong], "and")
    largest = max(error.largest for error in wrong.values())
    if is_output_right:
        sentence = ngettext(
            "Its output is right, but not its gradient: {names} differs by up to {largest:.2g}.",
            "Its output is right, but not its gradient: {names} differ by up to {largest:.2g}.",
            len(wrong),
            names=names,
            largest=largest,
        )
    else:
        sentence = ngettext(
            "Its gradient is not right: {names} differs by up to {largest:.2g}.",
            "Its gradient is not right: {names} differ by up to {largest:.2g}.",
            len(wrong),
            names=names,
            largest=largest,
        )
    text = join_sentences([sentence, _(mistake.sentence)]) if mistake else sentence
    # The mistake is in dx: with another gradient, it would not be all.
    remedy = _(mistake.remedy) if mistake and list(wrong) == ["x"] else ""
    return Difference("backward", _("another {names}", names=names), names, text, remedy)


def _mistake(reference: Reference, dx: Tensor, x: Tensor, given: Mapping[str, Tensor], dout: Tensor) -> Mistake | None:
    """The usual mistake that gives this dx."""
    if reference.norm.running or not reference.is_layer:
        return None
    wide = {name: value.double() for name, value in given.items()}
    for mistake in MISTAKES if reference.norm.center else (SQUARE, *MISTAKES[3:]):
        output = partial(_detached, reference, detached=mistake.detached)
        wanted = mistake.sign * gradients(output, x.double(), wide if mistake.has_gamma else {}, dout.double())["x"]
        scale = float(wanted.abs().max())
        if scale and float((dx.double() - wanted).abs().max()) < 1e-4 * scale:
            return mistake
    return None


def _detached(reference: Reference, x: Tensor, given: Mapping[str, Tensor], detached: tuple[str, ...]) -> Tensor:
    """The output without beta, with some statistics treated as constants."""
    norm, shape = reference.norm, tuple(x.shape)
    mean = group_mean(norm, x) if norm.center else torch.zeros_like(x)
    used = mean.detach() if "mean" in detached else mean
    variance = group_mean(norm, (x - mean).square())
    if "variance" in detached:
        variance = variance.detach()
    output = (x - used) / (variance + used_eps(norm, x)).sqrt()
    if "gamma" in given:
        output = output * broadcast(norm, shape, factor(norm, given["gamma"]))
    return output


# A backward function that is written by hand


def compare_by_hand(backward: Callable[..., object], compared: LayerComparison) -> list[Difference]:
    """Compare ``backward(dout, cache)`` with the gradients of the layer. The compared function is forward, which makes the cache.

    The values of gamma and beta are the given ones, then others: ones and zeros would hide a missing gamma.

    Raises NormvizError if forward gives no cache, backward no gradients, or if it raises.
    """
    function, x = compared.function, compared.x
    others = signed_values(parameters_of(function), seed=5)
    choices: list[Mapping[int, Tensor]] = [{}]
    if others and function.takes(tuple(x.shape), others):
        choices.append(others)
    for number, values in enumerate(choices):
        dout = (probe.generic(tuple(x.shape), torch.float64, 16 + number) - 0.5).to(x.dtype)
        differs = _by_hand(_returned(backward, function, x, values, dout), compared, values, dout)
        if differs:
            return differs
    return []


def _returned(
    backward: Callable[..., object], function: Function, x: Tensor, values: Mapping[int, Tensor], dout: Tensor
) -> list[Tensor]:
    """What backward returns."""
    with torch.no_grad():
        found = function.raw(x, values)
        if not isinstance(found, tuple | list) or len(found) != 2:
            raise NormvizError("forward must return (out, cache), and it returned {found}.", found=echo(found))
        try:
            gradients = backward(function.own_array(dout.clone()), found[1])
        except (Exception, *ENDS) as error:
            raise NormvizError("backward raises {kind}: {error}", kind=type(error).__name__, error=error) from error
    several = list(gradients) if isinstance(gradients, tuple | list) else [gradients]
    several = [np.asarray(one) if isinstance(one, np.floating) else one for one in several]  # a sum over all elements
    for one in several:
        if not probe.is_number_array(one) or (isinstance(one, Tensor) and not probe.is_dense(one)):
            raise NormvizError(
                "backward must return arrays of floating-point numbers; one is {found}.", found=echo(one)
            )
    found = [one.detach() if isinstance(one, Tensor) else torch.from_numpy(np.array(one)) for one in several]
    return [one.to(function.home) for one in found]


def _by_hand(
    found: Sequence[Tensor], compared: LayerComparison, values: Mapping[int, Tensor], dout: Tensor
) -> list[Difference]:
    """What differs in dx, dgamma and dbeta."""
    function, x = compared.function, compared.x
    tensors = function.with_values(values)
    given = compared.best.values(tensors)
    names = [NAMES[name] for name in ("x", *given)]
    if len(found) != len(names):
        raise NormvizError(
            "backward must return {names}, and it returned {n} of them.",
            names=f"({', '.join(names)})" if len(names) > 1 else names[0],
            n=len(found),
        )
    own = dict(zip(("x", *given), found, strict=True))
    exact, rounded, low = _wanted(compared, x, tensors, dout)
    for name, gradient in own.items():
        shape = tuple(exact[name].shape)
        if gradient.numel() != exact[name].numel() or (name == "x" and tuple(gradient.shape) != shape):
            sentence = _(
                "{name} has the shape {own}; it must be {wanted}.",
                name=NAMES[name],
                own=tuple(gradient.shape),
                wanted=shape,
            )
            return [Difference("backward", str(tuple(gradient.shape)), str(shape), sentence)]
    flat = {name: gradient.reshape(exact[name].shape) for name, gradient in own.items()}
    wrong = _wrong(flat, exact, rounded, low)
    if not wrong:
        return []
    mistake = _mistake(compared.reference, flat["x"], x, given, dout) if "x" in wrong else None
    told = _difference(wrong, mistake, is_output_right=False)
    if {"gamma", "beta"} <= wrong.keys() and not _wrong(
        {"gamma": flat["beta"], "beta": flat["gamma"]}, exact, rounded, low
    ):
        told = also(told, _("dgamma and dbeta are exchanged."))
    return [told]
