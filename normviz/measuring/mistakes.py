"""Which mistake explains a wrong output: gamma or beta that is used in another way, a constant, a forgotten keepdim, root or square.

Every explanation is tested: the output that the mistake would give must be that of the function, for generic x, gamma and beta.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, product
from math import prod

import torch
from torch import Tensor

from normviz.analysis.forward import broadcast, factor, group_mean, group_statistic, used_eps
from normviz.layers.norm import Norm
from normviz.measuring import probe
from normviz.measuring.formula import (
    Eps,
    Groups,
    Measurement,
    constant_of,
    generic_values,
    measure_affine,
    measure_formula,
    parameters_of,
)
from normviz.measuring.report import (
    CLOSE,
    Difference,
    axes_text,
    constant_factor,
    constant_offset,
    constant_value,
    eps_differences,
    has_groups,
    multiple,
    other_factor,
    other_values,
    rounds,
    unexpected,
)
from normviz.measuring.verdict import GammaBeta, LayerComparison, other_statistics, signed_values
from normviz.texts.messages import N_, _

__tracebackhide__ = True  # pytest shows the frame of the caller

# How gamma and beta are used. ``g`` and ``b`` are gamma and beta of each element.

UNUSED = N_("It does not use gamma.")
FACTORS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    N_("It multiplies by beta, not by gamma."): lambda g, b: b,
    UNUSED: lambda g, b: torch.ones_like(g),
    N_("It divides by gamma instead of multiplying by it."): lambda g, b: 1 / g,
    N_("It multiplies by -gamma, not by gamma."): lambda g, b: -g,
    N_("It multiplies by gamma^2, not by gamma."): lambda g, b: g * g,
    N_("It multiplies by exp(gamma), not by gamma."): lambda g, b: g.exp(),
    N_("It multiplies by the absolute value of gamma."): lambda g, b: g.abs(),
    N_("It multiplies by 1 + gamma, not by gamma."): lambda g, b: 1 + g,
    N_("It multiplies by 1 - gamma, not by gamma."): lambda g, b: 1 - g,
    N_("It multiplies by gamma - 1, not by gamma."): lambda g, b: g - 1,
    N_("It multiplies by gamma + beta, not by gamma."): lambda g, b: g + b,
    N_("It multiplies by gamma and by beta."): lambda g, b: g * b,
}
OFFSETS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    N_("It adds gamma, not beta."): lambda g, b: g,
    N_("It does not use beta."): lambda g, b: torch.zeros_like(b),
    N_("It subtracts beta instead of adding it."): lambda g, b: -b,
    N_("It adds beta before it multiplies by gamma; add it afterwards."): lambda g, b: g * b,
    N_("It divides beta by gamma."): lambda g, b: b / g,
    N_("It adds beta^2, not beta."): lambda g, b: b * b,
    N_("It adds the absolute value of beta."): lambda g, b: b.abs(),
    N_("It adds exp(beta), not beta."): lambda g, b: b.exp(),
    N_("It adds gamma + beta, not beta."): lambda g, b: g + b,
    N_("It adds beta - gamma, not beta."): lambda g, b: b - g,
}
WITHOUT_EPS = 0.01  # relative, of a factor
EXCHANGED = N_("It multiplies by beta and adds gamma: exchange them.")


def uses(compared: LayerComparison, found: Measurement) -> list[Difference]:
    """What differs in the use of gamma and beta, or in constants, in a function with the right statistics.

    If the roles of its tensors are not told by their names, the choice that explains most counts.
    """
    function = compared.function
    learned = parameters_of(function)
    if compared.reference.norm.running:
        wrong = _stored_denominator(compared, found)
        if wrong:
            return wrong
        if _ignores_mean(compared, found):
            words = _("no mean is subtracted"), _("the mean is subtracted")
            return [Difference("center", *words, _("It does not subtract the mean."))]
    # Not every use of gamma allows negative values: its root does not.
    for make in (signed_values, generic_values):
        several = [make(learned, seed) | other_statistics(function, compared.reference, seed) for seed in (6, 7)]
        formulas = [_formula(compared, found, values) for values in several]
        draws = [one for one in formulas if one is not None]
        if len(draws) == 2:
            break
    else:
        formula = _formula(compared, found, {})
        draws = [] if formula is None else [formula]
    if not draws:
        return []
    # An eps that multiplies the variance is a factor, too.
    close = CLOSE if function.dtype != torch.float64 else CLOSE / 10
    if found.eps is not None and found.eps.value == 0:
        close = WITHOUT_EPS
    choices = [
        list(_differences([_use(compared, roles, draw) for draw in draws], roles, compared.reference.norm, close))
        for roles in compared.started or [GammaBeta()]
    ]
    return [_with_parameter(one, found, compared) for one in min(choices, key=len)]


def _with_parameter(difference: Difference, found: Measurement, compared: LayerComparison) -> Difference:
    """A factor or offset that is a gamma or beta which the expected layer has not."""
    norm = compared.reference.norm
    if difference.what == "factor" and found.gamma is not None and norm.params is None:
        return unexpected("gamma", compared.expected)
    if difference.what == "offset" and found.beta is not None and not (norm.params is not None and norm.bias):
        return unexpected("beta", compared.expected)
    return difference


@dataclass(frozen=True)
class Draw:
    """By what the normalized x is multiplied and what is added, of each element, with some values of the function's tensors."""

    factor: Tensor
    offset: Tensor
    tensors: dict[int, Tensor]


def _formula(compared: LayerComparison, found: Measurement, values: Mapping[int, Tensor]) -> Draw | None:
    """The factor and the offset with these values; None if some are not finite."""
    function = compared.function
    if not function.takes(found.shape, values):
        return None
    run = partial(function, values=values)
    if compared.reference.norm.running:
        formula = measure_affine(run, found.shape, function.dtype)
        if formula is None:
            return None
        mean, root = compared.stored(values)
        factor, offset = formula.factor * root, formula.offset + formula.factor * mean
    else:
        assert found.ids is not None
        formula = measure_formula(run, function.dtype, Groups(found.ids))
        if formula is None:
            return None
        factor, offset = formula.factor / constant_of(found.divisor, found.elements), formula.offset
    finite = bool((factor.isfinite() & offset.isfinite()).all())
    return Draw(factor, offset, probe.floats(function.with_values(values))) if finite else None


def _ignores_mean(compared: LayerComparison, found: Measurement) -> bool:
    """Whether a function with stored statistics does not use the mean."""
    function, stats = compared.function, compared.reference.stats
    assert stats is not None
    several = [signed_values({stats[0]: function.values[stats[0]]}, seed) for seed in (6, 7)]
    formulas = [measure_affine(partial(function, values=values), found.shape, function.dtype) for values in several]
    return None not in formulas and torch.equal(formulas[0].offset, formulas[1].offset)  # type: ignore[union-attr]


def _stored_denominator(compared: LayerComparison, found: Measurement) -> list[Difference]:
    """What differs in the denominator of a function with stored statistics: the root, or eps."""
    function, norm, stats = compared.function, compared.reference.norm, compared.reference.stats
    assert stats is not None
    variance = 10.0 ** -(5 * probe.generic(tuple(function.values[stats[1]].shape), torch.float64, 21).sigmoid())
    stored = {stats[1]: variance.to(function.dtype)}
    root, eps = compared.stored(stored)[1], used_eps(norm, variance)
    second = root.square() - eps
    for roles in compared.started:
        denominator, other = (_denominator(compared, roles, found, seed, stored) for seed in (9, 10))
        if denominator is None or other is None or _near(denominator, root):
            return []
        if any(_near(denominator, one) for one in (second + eps, second)):
            return [_no_root(norm)]
        for place, values in (("inside", denominator.square() - second), ("outside", denominator - second.sqrt())):
            value = float(values.median())
            own = Eps(max(0.0, float(f"{value:.3g}")), place)
            if value > -eps / 10 and _near(denominator, own.applied(second.sqrt())):
                return list(eps_differences(replace(found, eps=own), norm, compared.x.dtype))
        # With another gamma it is the same. A constant factor is no denominator.
        if _near(denominator, other) and constant_value(denominator / root) is None:
            return [_another_denominator(norm)]
    return []


def _denominator(
    compared: LayerComparison, roles: GammaBeta, found: Measurement, seed: int, stored: Mapping[int, Tensor]
) -> Tensor | None:
    """By what a function with these stored statistics divides x, if it multiplies by gamma, of each element."""
    function = compared.function
    values = signed_values(parameters_of(function), seed=seed) | dict(stored)
    if not function.takes(found.shape, values):
        return None
    formula = measure_affine(partial(function, values=values), found.shape, function.dtype)
    if formula is None:
        return None
    tensors = probe.floats(function.with_values(values))
    return _affine(compared.reference.norm, found.shape, roles.values(tensors))[0] / formula.factor


def _near(one: Tensor, other: Tensor) -> bool:
    return bool(((one - other).abs() <= CLOSE * other.abs()).all())


@dataclass(frozen=True)
class Use:
    """The factor and the offset of each element, and what they should be. ``gamma`` is 1 + gamma where the layer multiplies by that."""

    factor: Tensor
    offset: Tensor
    gamma: Tensor
    beta: Tensor


def _use(compared: LayerComparison, roles: GammaBeta, draw: Draw) -> Use:
    shape = tuple(draw.factor.shape)
    given = {name: value.double() for name, value in roles.values(draw.tensors).items()}
    gamma, beta = (one.expand(shape) for one in _affine(compared.reference.norm, shape, given))
    return Use(draw.factor, draw.offset, gamma, beta)


def _differences(uses: list[Use], roles: GammaBeta, norm: Norm, close: float = CLOSE) -> Iterator[Difference]:
    """What differs with each of several values of gamma and beta. ``close``: of the factor to gamma."""
    has_gamma, has_beta = roles.gamma is not None, roles.beta is not None
    if has_gamma and has_beta and all(_is(one.factor, one.beta) and _is(one.offset, one.gamma) for one in uses):
        sentence = _(EXCHANGED)
        yield Difference("gamma", "beta", "gamma", sentence)
        yield Difference("beta", "gamma", "beta", sentence)
        return
    right_factor = all(_is(one.factor, one.gamma, close) for one in uses)
    if not right_factor:
        yield _wrong_factor(uses, has_gamma, has_beta, norm)
    if all(_is(one.offset, one.beta, min(close, CLOSE)) for one in uses):
        return
    if right_factor or not all(_is(one.offset, one.beta * one.factor / one.gamma) for one in uses):
        yield _wrong_offset(uses, has_gamma, has_beta)


def _is(one: Tensor, other: Tensor, close: float = CLOSE) -> bool:
    scale = max(1.0, float(other.abs().max()))
    return bool(((one - other).abs() <= close * scale).all())


def _number(values: Iterable[Tensor]) -> float | None:
    """The number that all values of all draws are, or None: it is a property of the function then, not of the values of its parameters."""
    first, *others = (constant_value(one) for one in values)
    return first if others and set(others) == {first} else None


def _wrong_factor(uses: list[Use], has_gamma: bool, has_beta: bool, norm: Norm) -> Difference:
    if not has_gamma:
        return constant_factor(_number(one.factor for one in uses))
    name = norm.factor
    for message, use in FACTORS.items():
        possible = message == UNUSED if norm.zero_centered_gamma else has_beta or "beta" not in message
        if possible and all(_is(one.factor, use(one.gamma, one.beta)) for one in uses):
            return Difference("gamma", _("another factor"), name, _(message))
    number = _number(one.factor / one.gamma for one in uses)
    stored = _number(one.factor / (one.gamma - 1) for one in uses) if norm.zero_centered_gamma else None
    if stored is not None:
        return other_factor(multiple(stored, "gamma"), name)
    if number is not None:
        of_product = f"({name})" if norm.zero_centered_gamma else name
        sentence = _("It multiplies by {n:g}*{name}, not by {name}.", n=number, name=of_product)
    else:
        sentence = _("It uses gamma, but not as one factor.")
    return Difference("gamma", _("another factor"), name, sentence)


def _wrong_offset(uses: list[Use], has_gamma: bool, has_beta: bool) -> Difference:
    if not has_beta and has_gamma and all(_is(one.offset, one.gamma) for one in uses):
        return Difference("beta", "gamma", "beta", _("It adds gamma, not beta."))
    if not has_beta:
        return constant_offset(_number(one.offset for one in uses))
    for message, use in OFFSETS.items():
        possible = has_gamma or "gamma" not in message
        if possible and all(_is(one.offset, use(one.gamma, one.beta)) for one in uses):
            return Difference("beta", _("another offset"), "beta", _(message))
    number = _number(one.offset - one.beta for one in uses)
    if number is not None:
        return constant_offset(number)
    number = _number(one.offset / one.beta for one in uses)
    if number is not None:
        return Difference("beta", _("another offset"), "beta", _("It adds {n:g}*beta, not beta.", n=number))
    return Difference("beta", _("another offset"), "beta", _("It uses beta, but not as one added term."))


# Mistakes in the formula

MOST_ELEMENTS = 2**16  # of an x for which statistics over other axes are tried
LARGE = 30.0
RIGHT_SHARE = 0.3  # the share of right outputs of a function that clips or replaces others


def mistaken(compared: LayerComparison, found: Measurement) -> Difference | None:
    """The mistake in the formula that explains the output on generic x: a forgotten keepdim, root or square, a wrong mean or variance,
    coarse rounding. None if none does.
    """
    function, norm, shape = compared.function, compared.reference.norm, compared.expected.shape
    if norm.running:
        return None
    x = probe.generic(shape, torch.float64, 17).to(function.dtype)
    values = signed_values(parameters_of(function), seed=7)
    if not function.takes(shape, values):
        values = {}
    tensors = probe.floats(function.with_values(values))
    outputs = [function(one, values).double() for one in (x, 3 * x)]
    mistakes = list(_mistakes(norm, x.double(), compared.expected.axes))
    right = compared.reference(x.double(), {})
    pairs = [_affine(norm, shape, roles.values(tensors)) for roles in compared.started or [GammaBeta()]]
    for difference, make in mistakes:
        normalized = make()
        if normalized is None or _same(normalized, right):  # on this x, it is none
            continue
        if any(_same(outputs[0], normalized * gamma + beta) for gamma, beta in pairs):
            return difference
    if not found.reach.is_elementwise and _uses_updated_statistics(compared, x, values, pairs):
        sentence = _("In train mode it uses its running statistics, which it has just updated, instead of those of x.")
        return Difference("training", _("running statistics"), _("the statistics of x"), sentence)
    for roles in compared.started:
        before = _before(compared, x.double(), roles.values(tensors), outputs[0])
        if before is not None:
            return before
    right_groups = has_groups(found, compared.expected)
    rounding = _rounding(compared, values)
    if rounding is not None:
        return rounding
    for gamma, beta in pairs:
        if right_groups and _divides_by_another_number(norm, x, [(output - beta) / gamma for output in outputs]):
            return _another_denominator(norm)
    if found.formula is not None and found.formula.exact and found.eps is not None and not found.eps.place:
        return None  # an eps elsewhere
    return _partly_right(compared, x, outputs[0], values)


def _uses_updated_statistics(
    compared: LayerComparison, x: Tensor, values: Mapping[int, Tensor], pairs: list[tuple[Tensor, Tensor]]
) -> bool:
    """Whether the output is that of running statistics as they are after the call."""
    axes, eps = compared.expected.axes, compared.reference.norm.eps or 0.0
    channel = axes.index("c") if "c" in axes else 1
    output = compared.function(x, values).double()
    for module in compared.function.modules:
        mean, var = (getattr(module, name, None) for name in probe.STATISTICS)
        if isinstance(mean, Tensor) and isinstance(var, Tensor) and mean.numel() == var.numel() == x.shape[channel]:
            shape = [size if axis == channel else 1 for axis, size in enumerate(x.shape)]
            mean, var = (one.detach().double().reshape(shape) for one in (mean, var))
            normalized = (x.double() - mean) / (var + eps).sqrt()
            return any(_same(output, normalized * gamma + beta) for gamma, beta in pairs)
    return False


def _before(compared: LayerComparison, x: Tensor, given: Mapping[str, Tensor], output: Tensor) -> Difference | None:
    """gamma or beta that are applied to x before it is normalized."""
    reference, norm, shape = compared.reference, compared.reference.norm, tuple(x.shape)
    gamma, beta = _affine(norm, shape, given)
    if "gamma" in given and _same(output, reference(x * gamma, {}) + beta):
        sentence = _("It multiplies x by gamma before it normalizes; multiply afterwards.")
        return Difference("gamma", _("before the normalization"), _("after the normalization"), sentence)
    rest = {name: value for name, value in given.items() if name != "beta"}
    if "beta" in given and _same(output, reference(x + beta, rest)):
        sentence = _("It adds beta to x before it normalizes; add it afterwards.")
        return Difference("beta", _("before the normalization"), _("after the normalization"), sentence)
    return None


def _affine(norm: Norm, shape: tuple[int, ...], given: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
    """What each element is multiplied by, gamma or 1 + gamma, and its beta."""
    gamma, beta = torch.ones(()), torch.zeros(())
    if "gamma" in given:
        gamma = broadcast(norm, shape, factor(norm, given["gamma"]))
    return gamma, broadcast(norm, shape, given["beta"]) if "beta" in given else beta


def _same(output: Tensor, wanted: Tensor) -> bool:
    if output.shape != wanted.shape or not wanted.isfinite().all():
        return False
    scale = float(wanted.abs().max())
    return bool(((output - wanted).abs() <= CLOSE * scale).all())


def _divides_by_another_number(norm: Norm, x: Tensor, normalized: list[Tensor]) -> bool:
    """Whether a function of x, and of 3 x, has the right numerator, over a number for each group that is not always the same."""
    shape, factors = tuple(x.shape), []
    if _group_size(norm, shape) < 3:
        return False  # each output is then a multiple of the numerator
    for scale, output in zip((1, 3), normalized, strict=True):
        wide = scale * x.double()
        numerator = wide - group_mean(norm, wide) if norm.center else wide
        factor = group_mean(norm, output * numerator) / group_mean(norm, numerator.square())
        right = 1 / (group_mean(norm, numerator.square()) + (norm.eps or 0.0)).sqrt()
        if not factor.isfinite().all() or not _same(output, factor * numerator) or _same(factor, right):
            return False
        factors.append(factor)
    return not _same(*factors)


def _another_denominator(norm: Norm) -> Difference:
    if norm.center:
        wanted, sentence = (
            _("the standard deviation"),
            _("It subtracts the mean, but it divides by another number than the standard deviation."),
        )
    else:
        wanted, sentence = (
            _("the root of the mean of x^2"),
            _("It divides by another number than the root of the mean of x^2."),
        )
    return Difference("variance", _("another denominator"), wanted, sentence)


def _rounding(compared: LayerComparison, values: Mapping[int, Tensor]) -> Difference | None:
    """Whether rounding to half precision explains the output."""
    function = compared.function
    # So large that eps does not matter.
    x = (LARGE * (probe.generic(compared.expected.shape, torch.float64, 19) - 0.5)).to(function.dtype)
    if min(function.dtype.itemsize, compared.x.dtype.itemsize) < 4:
        return None
    for dtype in (torch.float16, torch.bfloat16):
        error = compared.rounds_to(dtype, x, values)
        if error.ok:
            return rounds(error, dtype, compared.x.dtype)
    return None


def _partly_right(
    compared: LayerComparison, x: Tensor, output: Tensor, values: Mapping[int, Tensor]
) -> Difference | None:
    """Whether many outputs are right, and others are clipped or replaced."""
    exact = compared.exact(x, values)
    right = (output - exact).abs() <= probe.agreement(compared.function.dtype) * float(exact.abs().max())
    return other_values(None) if float(right.double().mean()) >= RIGHT_SHARE else None


def _mistakes(norm: Norm, x: Tensor, axes: tuple[str, ...]) -> Iterator[tuple[Difference, Callable[[], Tensor | None]]]:
    eps = norm.eps or 0.0
    mean = group_mean(norm, x) if norm.center else torch.zeros_like(x)
    centered = x - mean
    variances = _variances(norm, group_mean(norm, centered.square()), tuple(x.shape))
    square = Difference(
        "variance",
        _("deviations that are not squared"),
        _("the mean of squares"),
        _("It averages the deviations, not their squares: the square is forgotten."),
    )
    inverse = Difference(
        "variance",
        _("a product"),
        _("a quotient"),
        _("It multiplies by the standard deviation instead of dividing by it."),
    )
    only = Difference(
        "variance",
        _("no division"),
        _("the standard deviation"),
        _("It subtracts the mean, and does not divide by the standard deviation."),
    )
    for second in variances:
        for denominator in (second + eps, second):
            yield _no_root(norm), lambda d=denominator: centered / d  # type: ignore[misc]
        yield inverse, lambda d=second: centered * (d + eps).sqrt()  # type: ignore[misc]
    yield only, lambda: centered if norm.center else None
    for deviations in (centered, centered.abs(), x, x.abs()):
        averaged = group_mean(norm, deviations)
        for denominator in ((averaged + eps).sqrt(), averaged + eps, averaged):
            yield square, lambda d=denominator: centered / d  # type: ignore[misc]
    yield from _without_keepdim(norm, x, mean, variances, eps)
    if norm.center:
        yield from _other_centers(norm, x, mean, variances, eps)
    if x.numel() <= MOST_ELEMENTS:
        yield from _other_axes(norm, x, mean, variances, eps, axes)


def _no_root(norm: Norm) -> Difference:
    if not norm.center:
        return Difference(
            "variance",
            _("the mean of x^2"),
            _("the root of the mean of x^2"),
            _("It divides by the mean of x^2, not by its root: the root is forgotten."),
        )
    return Difference(
        "variance",
        _("the variance"),
        _("the root of the variance"),
        _("It divides by the variance, not by its root: the root is forgotten."),
    )


def _variances(norm: Norm, variance: Tensor, shape: tuple[int, ...]) -> list[Tensor]:
    """The biased variance and the unbiased one, which is NaN in groups of one element."""
    size = _group_size(norm, shape)
    return [variance, variance * size / (size - 1)]


def _group_size(norm: Norm, shape: tuple[int, ...]) -> int:
    sizes = norm.axis_sizes(shape)
    return prod(sizes[name] for name in norm.pattern.reduced)


def _median(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    return x.flatten(axes[0]).median(-1).values


CENTERS: dict[str, Callable[[Norm, Tensor, Tensor], Tensor]] = {
    N_("It adds the mean instead of subtracting it."): lambda norm, x, mean: -mean,
    N_("It subtracts twice the mean."): lambda norm, x, mean: 2 * mean,
    N_("It subtracts half the mean."): lambda norm, x, mean: mean / 2,
    N_("It subtracts the sum, not the mean."): lambda norm, x, mean: mean * _group_size(norm, tuple(x.shape)),
    N_("It subtracts the mean of the absolute values, not the mean."): lambda norm, x, mean: group_mean(norm, x.abs()),
    N_("It subtracts the variance, not the mean."): lambda norm, x, mean: group_mean(norm, (x - mean).square()),
    N_("It subtracts the median, not the mean."): lambda norm, x, mean: group_statistic(norm, x, _median),
    N_("It subtracts the maximum, not the mean."): lambda norm, x, mean: group_statistic(norm, x, torch.amax),
    N_("It subtracts the minimum, not the mean."): lambda norm, x, mean: group_statistic(norm, x, torch.amin),
}


def _other_centers(
    norm: Norm, x: Tensor, mean: Tensor, variances: list[Tensor], eps: float
) -> Iterator[tuple[Difference, Callable[[], Tensor]]]:
    """Another number in place of the mean, in the numerator alone or in the variance, too."""
    for message, make in CENTERS.items():
        center = make(norm, x, mean)
        difference = Difference("center", _("another number"), _("the mean is subtracted"), _(message))
        around = _variances(norm, group_mean(norm, (x - center).square()), tuple(x.shape))
        for variance in (*variances, *around):
            yield difference, lambda c=center, d=variance: (x - c) / (d + eps).sqrt()  # type: ignore[misc]


def _other_axes(
    norm: Norm, x: Tensor, mean: Tensor, variances: list[Tensor], eps: float, axes: tuple[str, ...]
) -> Iterator[tuple[Difference, Callable[[], Tensor]]]:
    """One of the two statistics over other axes."""
    shape = tuple(x.shape)
    wanted = axes_text(norm, axes, shape)
    for other in _with_other_axes(norm, shape):
        own = axes_text(other, axes, shape)
        center = group_mean(other, x) if norm.center else torch.zeros_like(x)
        around = group_mean(norm, (x - center).square())
        if norm.center:
            sentence = _("Its mean is over {own}, not over {wanted}.", own=own, wanted=wanted)
            difference = Difference("statistics", own, wanted, sentence)
            for variance in (*variances, *_variances(norm, around, shape)):
                yield difference, lambda c=center, d=variance: (x - c) / (d + eps).sqrt()  # type: ignore[misc]
        sentence = _("Its variance is over {own}, not over {wanted}.", own=own, wanted=wanted)
        difference = Difference("statistics", own, wanted, sentence)
        for used in (center, mean):
            for variance in _variances(other, group_mean(other, (x - used).square()), shape):
                yield difference, lambda d=variance: (x - mean) / (d + eps).sqrt()  # type: ignore[misc]


def _with_other_axes(norm: Norm, shape: tuple[int, ...]) -> Iterator[Norm]:
    """The same layer with every other choice of the axes over which it averages."""
    sizes = norm.axis_sizes(shape)
    names = [name for parts in norm.pattern.left for name in parts]
    left = norm.stats.partition("->")[0]
    long = [name for name in names if sizes[name] > 1]
    own = {name for name in norm.pattern.reduced if sizes[name] > 1}
    for count in range(1, len(long) + 1):
        for reduced in combinations(long, count):
            if set(reduced) != own:
                kept = " ".join(name for name in names if name not in reduced)
                yield replace(norm.without_gamma(), stats=f"{left}-> {kept}")


def _without_keepdim(
    norm: Norm, x: Tensor, mean: Tensor, variances: list[Tensor], eps: float
) -> Iterator[tuple[Difference, Callable[[], Tensor | None]]]:
    """Statistics without their axes of size 1 are aligned with the last axes of x, if the sizes allow it."""
    reduced = [
        axis for axis, parts in enumerate(norm.pattern.left) if all(part in norm.pattern.reduced for part in parts)
    ]
    if not reduced or any(len(parts) > 1 for parts in norm.pattern.left):
        return
    kept = [size for axis, size in enumerate(x.shape) if axis not in reduced]

    def dropped(statistic: Tensor) -> Tensor | None:
        flat = statistic.expand([1 if axis in reduced else size for axis, size in enumerate(x.shape)]).reshape(kept)
        try:
            return flat.expand(x.shape)
        except RuntimeError:
            return None

    difference = Difference(
        "statistics",
        _("statistics without keepdim"),
        _("statistics of each group"),
        _(
            "Its statistics have no axis of size 1 where they average, so they are combined with the wrong elements of x: "
            "keepdim=True is forgotten (keepdims=True in NumPy)."
        ),
    )
    means = [one for one in (dropped(mean), mean) if one is not None] if norm.center else [torch.zeros_like(x)]
    for variance in variances:
        for first, second in product(means, [one for one in (dropped(variance), variance) if one is not None]):
            if first is mean and second is variance:
                continue
            for denominator in ((second + eps).sqrt(), second.sqrt() + eps):
                yield difference, lambda m=first, d=denominator: (x - m) / d  # type: ignore[misc]
        if norm.center and (wrong := dropped(mean)) is not None:  # the variance of x minus the wrong mean
            second = group_mean(norm, (x - wrong).square())
            for spread in (second, dropped(second)):
                if spread is not None:
                    yield difference, lambda m=wrong, d=spread: (x - m) / (d + eps).sqrt()  # type: ignore[misc]
