"""Which mistake explains a wrong output: gamma or beta that is used in another way, a constant, a forgotten keepdim, root or square.

Every explanation is tested: the output that the mistake would give must be that of the function, for generic x, gamma and beta.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from math import prod

import torch
from torch import Tensor

from normviz.analysis.forward import broadcast, group_mean, group_statistic, used_eps
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
    other_values,
    rounds,
    unexpected,
)
from normviz.measuring.verdict import GammaBeta, LayerComparison, signed_values
from normviz.texts.messages import N_, _

__tracebackhide__ = True  # pytest shows the frame of the caller

# How gamma and beta are used. ``g`` and ``b`` are gamma and beta of each element.

FACTORS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    N_("It multiplies by beta, not by gamma."): lambda g, b: b,
    N_("It does not use gamma."): lambda g, b: torch.ones_like(g),
    N_("It divides by gamma and does not multiply by it."): lambda g, b: 1 / g,
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
    N_("It subtracts beta and does not add it."): lambda g, b: -b,
    N_("It adds beta before it multiplies by gamma; add it afterwards."): lambda g, b: g * b,
    N_("It divides beta by gamma."): lambda g, b: b / g,
    N_("It adds beta^2, not beta."): lambda g, b: b * b,
    N_("It adds the absolute value of beta."): lambda g, b: b.abs(),
    N_("It adds exp(beta), not beta."): lambda g, b: b.exp(),
    N_("It adds gamma + beta, not beta."): lambda g, b: g + b,
    N_("It adds beta - gamma, not beta."): lambda g, b: b - g,
}
EXCHANGED = N_("It multiplies by beta and adds gamma: exchange them.")


def uses(compared: LayerComparison, found: Measurement, plus_one: bool) -> list[Difference]:
    """What differs in the use of gamma and beta, or in constants, in a function with the right statistics.

    If the roles of its tensors are not told by their names, the choice that explains most counts.
    """
    function = compared.function
    learned = parameters_of(function)
    if compared.reference.norm.running:
        wrong = _stored_denominator(compared, found, plus_one)
        if wrong:
            return wrong
    formula, values = None, {}
    # Not every use of gamma allows negative values: its root does not.
    for values in (signed_values(learned, seed=6), generic_values(learned, seed=6), {}):
        if function.takes(found.shape, values):
            formula = _formula(compared, found, values)
            if formula is not None:
                break
    if formula is None:
        return []
    factor, offset = formula
    tensors = probe.floats(function.with_values(values))
    choices = [
        list(_differences(compared, roles, factor, offset, tensors, plus_one))
        for roles in compared.started or [GammaBeta()]
    ]
    return [_with_parameter(one, found, compared) for one in min(choices, key=len)]


def _with_parameter(difference: Difference, found: Measurement, compared: LayerComparison) -> Difference:
    """A factor or offset that is a gamma or beta which the expected layer has not."""
    norm = compared.reference.norm
    if difference.what == "factor" and found.gamma is not None and norm.params is None:
        return unexpected("gamma", found.gamma, None, compared.expected)
    if difference.what == "offset" and found.beta is not None and not (norm.params is not None and norm.bias):
        return unexpected("beta", found.beta, None, compared.expected)
    return difference


def _formula(
    compared: LayerComparison, found: Measurement, values: Mapping[int, Tensor]
) -> tuple[Tensor, Tensor] | None:
    """The numbers by which the normalized x is multiplied, and which are added then; None if some are not finite."""
    function = compared.function
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
    return (factor, offset) if bool((factor.isfinite() & offset.isfinite()).all()) else None


def _stored_denominator(compared: LayerComparison, found: Measurement, plus_one: bool) -> list[Difference]:
    """What differs in the denominator of a function with stored statistics: the root, or eps."""
    function, norm, stats = compared.function, compared.reference.norm, compared.reference.stats
    assert stats is not None
    variance = 10.0 ** -(5 * probe.generic(tuple(function.values[stats[1]].shape), torch.float64, 21).sigmoid())
    stored = {stats[1]: variance.to(function.dtype)}
    root, eps = compared.stored(stored)[1], used_eps(norm, variance)
    second = root.square() - eps
    for roles in compared.started:
        denominator, other = (_denominator(compared, roles, found, seed, stored, plus_one) for seed in (9, 10))
        if denominator is None or other is None or _near(denominator, root):
            return []
        if any(_near(denominator, one) for one in (second + eps, second)):
            return [_no_root()]
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
    compared: LayerComparison,
    roles: GammaBeta,
    found: Measurement,
    seed: int,
    stored: Mapping[int, Tensor],
    plus_one: bool,
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
    return _affine(compared.reference.norm, found.shape, roles.values(tensors), plus_one)[0] / formula.factor


def _near(one: Tensor, other: Tensor) -> bool:
    return bool(((one - other).abs() <= CLOSE * other.abs()).all())


def _differences(
    compared: LayerComparison,
    roles: GammaBeta,
    factor: Tensor,
    offset: Tensor,
    tensors: Mapping[int, Tensor],
    plus_one: bool,
) -> Iterator[Difference]:
    norm, shape = compared.reference.norm, tuple(factor.shape)
    given = {
        name: broadcast(norm, shape, value.double()).expand(shape) for name, value in roles.values(tensors).items()
    }
    gamma, beta = given.get("gamma"), given.get("beta")
    g = torch.ones(shape, dtype=torch.float64) if gamma is None else gamma + plus_one
    b = torch.zeros(shape, dtype=torch.float64) if beta is None else beta
    right_factor, right_offset = _is(factor, g), _is(offset, b)
    if gamma is not None and beta is not None and _is(factor, b) and _is(offset, g):
        sentence = _(EXCHANGED)
        yield Difference("gamma", "beta", "gamma", sentence)
        yield Difference("beta", "gamma", "beta", sentence)
        return
    if not right_factor:
        yield _wrong_factor(factor, g, b, gamma is not None, beta is not None, plus_one)
    if not right_offset and not (not right_factor and _is(offset, b * factor / g)):
        yield _wrong_offset(offset, g, b, gamma is not None, beta is not None)


def _is(one: Tensor, other: Tensor) -> bool:
    scale = max(1.0, float(other.abs().max()))
    return bool(((one - other).abs() <= CLOSE * scale).all())


def _wrong_factor(factor: Tensor, g: Tensor, b: Tensor, has_gamma: bool, has_beta: bool, plus_one: bool) -> Difference:
    if not has_gamma:
        return constant_factor(constant_value(factor))
    name = "1 + gamma" if plus_one else "gamma"
    for message, use in FACTORS.items():
        if (has_beta or "beta" not in message) and not plus_one and _is(factor, use(g, b)):
            return Difference("gamma", _("another factor"), name, _(message))
    constant = constant_value(factor / g)
    if constant is not None:
        sentence = _("It multiplies by {n:g}*{name}, not by {name}.", n=constant, name=name)
    else:
        sentence = _("It does not multiply by {name} once.", name=name)
    return Difference("gamma", _("another factor"), name, sentence)


def _wrong_offset(offset: Tensor, g: Tensor, b: Tensor, has_gamma: bool, has_beta: bool) -> Difference:
    if not has_beta and has_gamma and _is(offset, g):
        return Difference("beta", "gamma", "beta", _("It adds gamma, not beta."))
    if not has_beta:
        return constant_offset(constant_value(offset))
    for message, use in OFFSETS.items():
        if (has_gamma or "gamma" not in message) and _is(offset, use(g, b)):
            return Difference("beta", _("another offset"), "beta", _(message))
    difference = constant_value(offset - b)
    if difference is not None:
        return constant_offset(difference)
    constant = constant_value(offset / b)
    if constant is not None:
        return Difference("beta", _("another offset"), "beta", _("It adds {n:g}*beta, not beta.", n=constant))
    return Difference("beta", _("another offset"), "beta", _("It does not add beta once."))


# Mistakes in the formula

MOST_ELEMENTS = 2**16  # of an x for which statistics over other axes are tried
LARGE = 30.0
RIGHT_SHARE = 0.3  # the share of right outputs of a function that clips or replaces others


def mistaken(compared: LayerComparison, found: Measurement, plus_one: bool) -> Difference | None:
    """The mistake in the formula that explains the output on generic x: a forgotten keepdim, root or square, a wrong mean or variance,
    coarse rounding. None if none does.
    """
    function, norm, shape = compared.function, compared.reference.norm, compared.expected.shape
    if norm.running:
        return None
    x = probe.generic(shape, torch.float64, 17).to(function.dtype)
    values = signed_values(parameters_of(function), seed=8)
    if not function.takes(shape, values):
        values = {}
    tensors = probe.floats(function.with_values(values))
    outputs = [function(one, values).double() for one in (x, 3 * x)]
    mistakes = list(_mistakes(norm, x.double(), compared.expected.axes))
    right = compared.reference(x.double(), {})
    pairs = [_affine(norm, shape, roles.values(tensors), plus_one) for roles in compared.started or [GammaBeta()]]
    for difference, make in mistakes:
        normalized = make()
        if normalized is None or _same(normalized, right):  # on this x, it is none
            continue
        if any(_same(outputs[0], normalized * gamma + beta) for gamma, beta in pairs):
            return difference
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
    return _partly_right(compared, x, outputs[0], values)


def _before(compared: LayerComparison, x: Tensor, given: Mapping[str, Tensor], output: Tensor) -> Difference | None:
    """gamma or beta that are applied to x before it is normalized."""
    reference, norm, shape = compared.reference, compared.reference.norm, tuple(x.shape)
    own = {name: broadcast(norm, shape, value) for name, value in given.items()}
    if "gamma" in own and _same(output, reference(x * (own["gamma"] + reference.plus_one), {}) + own.get("beta", 0.0)):
        sentence = _("It multiplies x by gamma before it normalizes; multiply afterwards.")
        return Difference("gamma", _("before the normalization"), _("after the normalization"), sentence)
    rest = {name: value for name, value in given.items() if name != "beta"}
    if "beta" in own and _same(output, reference(x + own["beta"], rest)):
        sentence = _("It adds beta to x before it normalizes; add it afterwards.")
        return Difference("beta", _("before the normalization"), _("after the normalization"), sentence)
    return None


def _affine(norm: Norm, shape: tuple[int, ...], given: Mapping[str, Tensor], plus_one: bool) -> tuple[Tensor, Tensor]:
    """gamma and beta of each element."""
    gamma, beta = torch.ones(()), torch.zeros(())
    if "gamma" in given:
        gamma = broadcast(norm, shape, given["gamma"]) + plus_one
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
        if not factor.isfinite().all() or not _same(output, factor * numerator):
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
        _("It averages the deviations without their square: the square is forgotten."),
    )
    inverse = Difference(
        "variance",
        _("a product"),
        _("a quotient"),
        _("It multiplies by the standard deviation and does not divide by it."),
    )
    only = Difference(
        "variance",
        _("no division"),
        _("the standard deviation"),
        _("It subtracts the mean, and does not divide by the standard deviation."),
    )
    for second in variances:
        for denominator in (second + eps, second):
            yield _no_root(), lambda d=denominator: centered / d  # type: ignore[misc]
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


def _no_root() -> Difference:
    return Difference(
        "variance",
        _("the variance"),
        _("the root of the variance"),
        _("It divides by the variance, not by its root: the root is forgotten."),
    )


def _variances(norm: Norm, variance: Tensor, shape: tuple[int, ...]) -> list[Tensor]:
    """The biased variance and the unbiased one."""
    size = _group_size(norm, shape)
    return [variance, variance * size / (size - 1)] if size > 1 else [variance]


def _group_size(norm: Norm, shape: tuple[int, ...]) -> int:
    sizes = norm.axis_sizes(shape)
    return prod(sizes[name] for name in norm.pattern.reduced)


def _median(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    kept = [axis for axis in range(x.dim()) if axis not in axes]
    return x.permute(*kept, *axes).flatten(len(kept)).median(-1).values


CENTERS: dict[str, Callable[[Norm, Tensor, Tensor], Tensor]] = {
    N_("It adds the mean and does not subtract it."): lambda norm, x, mean: -mean,
    N_("It subtracts twice the mean."): lambda norm, x, mean: 2 * mean,
    N_("It subtracts half the mean."): lambda norm, x, mean: mean / 2,
    N_("It subtracts the sum, not the mean."): lambda norm, x, mean: mean * _group_size(norm, tuple(x.shape)),
    N_("It subtracts the mean of the absolute values, not the mean."): lambda norm, x, mean: group_mean(norm, x.abs()),
    N_("It subtracts the variance, not the mean."): lambda norm, x, mean: group_mean(norm, (x - mean).square()),
    N_("It subtracts the median, not the mean."): lambda norm, x, mean: group_statistic(norm, x, _median),
    N_("It subtracts the maximum, not the mean."): lambda norm, x, mean: group_statistic(norm, x, "max"),
    N_("It subtracts the minimum, not the mean."): lambda norm, x, mean: group_statistic(norm, x, "min"),
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
                yield replace(norm, stats=f"{left}-> {kept}", params=None, bias=False)


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
