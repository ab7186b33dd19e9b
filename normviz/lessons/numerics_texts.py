"""eps and numbers as the page Numerics shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import floor, isfinite, isnan, log2

import torch

from normviz.analysis.forward import COMPUTES_IN
from normviz.analysis.rounding.degenerate import BETA, GAMMA, Degenerate, constant_groups, single_elements
from normviz.analysis.rounding.eps import EpsOutcome, EpsPlacement, eps_placement, eps_table, no_eps
from normviz.analysis.rounding.groups import CHANNELS_LAST, DISTANCES, LAYERS, TORCH_LAYERS
from normviz.analysis.rounding.variance import METHOD_LABELS, METHODS, Estimate, sweep
from normviz.layers.axes import parse_layout
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons.parts.containers import Column, Row
from normviz.scene.setting import power
from normviz.texts.errors import listed
from normviz.texts.messages import N_, _, english, join_sentences, ngettext
from normviz.texts.numbers import format_number

SIZE = 256  # numbers in a group


def as_code(eps: float) -> str:
    """eps as a program writes it.

    >>> as_code(0.001), as_code(2.5e-12), as_code(1.0)
    ('1e-3', '2.5e-12', '1')
    """
    mantissa, _e, exponent = f"{eps:e}".partition("e")
    return f"{float(mantissa):g}" + (f"e{int(exponent)}" if int(exponent) else "")


# Four ways to compute a variance, far from zero: the texts and rows of the experiment. Numbers are in ``**``.


ONE_PASS, TWO_PASSES, WELFORD, SHIFTED = METHODS
FORMULA = METHOD_LABELS[ONE_PASS]
VARIANCE_COLUMNS = (
    Column("method", N_("method")),
    Column("variance", N_("variance")),
    Column("error", N_("relative error")),
    Column("negative", "< 0"),
    Column("nan", N_("output NaN")),
)


def method_label(method: str) -> str:
    return _(METHOD_LABELS[method]) if method in METHOD_LABELS else f"torch {method}"


@lru_cache(maxsize=32)
def estimates(dtype: str, seed: int = 0) -> tuple[Estimate, ...]:
    """The variance by every method, at every distance from zero, in one dtype."""
    return sweep(dtype, size=SIZE, seed=seed)


def at_distance(found: Sequence[Estimate], exponent: int) -> dict[str, Estimate]:
    """The estimate by each method at a distance of 10^exponent."""
    return {one.method: one for one in found if one.distance == DISTANCES[exponent]}


def variance_sentence(found: Sequence[Estimate], exponent: int) -> str:
    """The variance by E[x²] − E[x]² at that distance."""
    one, distance = at_distance(found, exponent)[ONE_PASS], power(exponent)
    if isnan(one.exact):
        return _(
            "**{distance}** is too large for `{dtype}`: x is infinite, and every output is NaN.",
            distance=distance,
            dtype=one.dtype,
        )
    if one.exact == 0:
        return ngettext(
            "At **{distance}**, `{dtype}` rounds **{n}** number to the same value: no layer can compute their spread.",
            "At **{distance}**, `{dtype}` rounds all **{n}** numbers to the same value: no layer can compute their spread.",
            SIZE,
            distance=distance,
            dtype=one.dtype,
        )
    return _(
        "At a distance of **{distance}** in `{dtype}`, {formula} gives a variance of **{var}**; the exact one is **{exact}**.",
        distance=distance,
        dtype=one.dtype,
        formula=FORMULA,
        var=format_number(one.var),
        exact=format_number(one.exact),
    )


def failures(found: Sequence[Estimate]) -> str:
    """How often E[x²] − E[x]² fails over all distances."""
    finite = [one for one in found if one.method == ONE_PASS and isfinite(one.exact)]
    counts = {
        "formula": FORMULA,
        "negative": sum(one.negative for one in finite),
        "nan": sum(one.is_nan for one in finite),
    }
    if len(finite) == len(DISTANCES):
        return ngettext(
            "Of **{n}** distance, {formula} is negative at **{negative}**, and its output is NaN at **{nan}**.",
            "Of all **{n}** distances, {formula} is negative at **{negative}**, and its output is NaN at **{nan}**.",
            len(finite),
            **counts,
        )
    return ngettext(
        "Of the **{n}** distance that `{dtype}` can represent, {formula} is negative at **{negative}**, and its output is NaN at **{nan}**.",
        "Of the **{n}** distances that `{dtype}` can represent, {formula} is negative at **{negative}**, and its output is NaN at **{nan}**.",
        len(finite),
        dtype=found[0].dtype,
        **counts,
    )


def variance_rows(found: Sequence[Estimate], exponent: int) -> tuple[Row, ...]:
    """The variance by each method at that distance."""
    return tuple(
        {
            "method": f"**✗ {method_label(one.method)}**" if _fails(one) else method_label(one.method),
            "variance": None if _is_unknown(one) else format_number(one.var),
            "error": None if _is_unknown(one) else format_number(one.error, 2),
            "negative": one.negative,
            "nan": one.is_nan,
        }
        for one in at_distance(found, exponent).values()
    )


def _fails(one: Estimate) -> bool:
    return one.exact > 0 and (one.negative or one.is_nan)


def _is_unknown(one: Estimate) -> bool:
    """A constant x: torch's layer has an output, but its variance cannot be computed from it."""
    return one.method in LAYERS and isnan(one.var) and not one.is_nan


def variance_texts(found: Sequence[Estimate], exponent: int) -> Iterator[str]:
    """What is compared, and why and how often one pass fails."""
    same = ngettext(
        "Each method gets the same **{n}** number: noise with standard deviation 1 around that distance.",
        "Each method gets the same **{n}** numbers: noise with standard deviation 1 around that distance.",
        SIZE,
    )
    words = _(
        "The *relative error* is |variance − exact| / exact; the exact variance is computed in fractions of integers. *NaN*, “not a number”, "
        "is the square root of a negative number, or ∞ − ∞."
    )
    yield join_sentences([same, words])
    if why := _why(at_distance(found, exponent)[ONE_PASS], exponent):
        yield why
    yield _(
        "torch's layers do not return their variance: it is computed back from the range of their output, with the rounding of that output."
    )
    yield failures(found)


def _why(one: Estimate, exponent: int) -> str:
    if isnan(one.exact):
        return ""
    if one.exact == 0:
        return _(
            "Near {distance}, `{dtype}` numbers are **{step}** apart, and the noise has a standard deviation of 1.",
            distance=power(exponent),
            dtype=one.dtype,
            step=_step(one.dtype, one.distance),
        )
    square = power(2 * exponent)
    if not isfinite(one.var):
        return _(
            "x² is about {square}, which `{dtype}` cannot represent: ∞ − ∞ is NaN.", square=square, dtype=one.dtype
        )
    return _(
        "Near x² = {square}, `{dtype}` numbers are **{step}** apart, and {formula} is the difference of two such numbers.",
        square=square,
        dtype=one.dtype,
        step=_step(one.dtype, one.distance**2),
        formula=FORMULA,
    )


def _step(dtype: str, value: float) -> str:
    """The distance between neighboring numbers of the dtype near the value."""
    return format_number(float(no_eps(dtype).own_eps * 2.0 ** floor(log2(value))))


def methods_text() -> str:
    lines = (
        _(
            "- *{formula}*: the mean of the squares minus the square of the mean. It needs one pass over the data.",
            formula=FORMULA,
        ),
        _("- *Two passes*: the mean first, then the mean of (x − mean)²."),
        _("- *Welford*: mean and sum of squares, updated number by number."),
        _("- *Shifted data*: {formula} after the first number is subtracted from all.", formula=FORMULA),
        _(
            "- *Flax's default* (`use_fast_variance=True`): {formula} in float32 or wider, and 0 if that is negative.",
            formula=FORMULA,
        ),
        _(
            "- *{method}*: for x in `channels_last` memory, GroupNorm on the CPU computes {formula}, and 0 if that is negative.",
            method=method_label(CHANNELS_LAST),
            formula=FORMULA,
        ),
    )
    return "\n".join(lines)


# Groups with zero variance, a constant x and groups of one element: the texts and rows of both experiments. Numbers are in ``**``.


MOST_VALUES = 4  # different outputs that a cell lists
EXACT, NOISE, SIGN, RUNNING, REFUSED = "exact", "noise", "sign", "running", "refused"
LABELS = {
    EXACT: N_("beta"),
    NOISE: N_("beta and noise"),
    SIGN: N_("no mean subtracted"),
    RUNNING: N_("running statistics"),
    REFUSED: N_("torch refuses"),
}
ZERO_VARIANCE_COLUMNS = (
    Column("layer", N_("layer"), code=True),
    Column("shape", N_("shape of x")),
    Column("output", N_("output")),
    Column("outcome", N_("outcome")),
)


@lru_cache(maxsize=32)
def constant(value: float, dtype: str) -> tuple[Degenerate, ...]:
    """Every layer on a constant x."""
    return constant_groups(value, dtype)


@lru_cache(maxsize=32)
def single(scale: float, dtype: str, seed: int = 0) -> tuple[Degenerate, ...]:
    """Every layer on groups of one element."""
    return single_elements(scale, dtype, seed)


def outcome(one: Degenerate) -> str:
    """The key of the outcome in ``LABELS``."""
    if one.output is None:
        return REFUSED
    if not one.from_beta:
        return EXACT
    norm = _norm(one)
    return RUNNING if norm.running else NOISE if norm.center else SIGN


def _norm(one: Degenerate) -> Norm:
    layer, rank = Layer.parse(one.layer), len(one.shape)
    assert isinstance(layer, Layer)
    return layer.norm(parse_layout(layer.kind.layout(rank), rank))


def short_names(found: Sequence[Degenerate]) -> list[str]:
    """The layers' names without arguments; with x's shape if a name occurs twice."""
    names = [f"{one.layer.partition('(')[0]}{'.eval()' if one.layer.endswith('.eval()') else ''}" for one in found]
    return [f"{name}, x {one.shape}" if names.count(name) > 1 else name for name, one in zip(names, found, strict=True)]


def constant_sentence(found: Sequence[Degenerate]) -> str:
    """How many layers give beta, and what the others give."""
    value = format_number(float(found[0].x.flatten()[0]), 7)
    mean = _("Every element of x is **{value}**, which is also its mean.", value=value)
    return join_sentences([mean, _counts(found)])


def single_sentence(found: Sequence[Degenerate]) -> str:
    """How many layers refuse, and what the others give."""
    mean = _("The only element of a group is its own mean.")
    refused = ngettext(
        "torch refuses **{refused}** of **{n}** case.",
        "torch refuses **{refused}** of **{n}** cases.",
        len(found),
        refused=sum(outcome(one) == REFUSED for one in found),
    )
    return join_sentences([mean, refused, _counts(found)])


def _counts(found: Sequence[Degenerate]) -> str:
    by_outcome = {key: [one for one in found if outcome(one) == key] for key in LABELS}
    noisy, signs = by_outcome[NOISE], by_outcome[SIGN]
    sentences = [
        ngettext("**{n}** layer gives exactly beta.", "**{n}** layers give exactly beta.", len(by_outcome[EXACT]))
    ]
    if noisy:
        noise = format_number(max(one.from_beta or 0.0 for one in noisy), 3)
        sentences.append(
            ngettext(
                "**{n}** more gives beta with noise of up to **{noise}**.",
                "**{n}** more give beta with noise of up to **{noise}**.",
                len(noisy),
                noise=noise,
            )
        )
    if signs:
        sentences.append(_("RMSNorm, which subtracts no mean, gives **{values}**.", values=_values(signs[0])))
    return join_sentences(sentences)


def zero_variance_rows(found: Sequence[Degenerate]) -> tuple[Row, ...]:
    """The output of each layer, or torch's own error message."""
    return tuple(
        {
            "layer": one.layer,
            "shape": str(one.shape),
            "output": _("torch refuses: “{refusal}”", refusal=english(one.refusal)) if one.refusal else _values(one),
            "outcome": "" if one.refusal else _(LABELS[outcome(one)]),
        }
        for one in found
    )


def _values(one: Degenerate) -> str:
    assert one.output is not None
    values = list(dict.fromkeys(format_number(value) for value in one.output.flatten().tolist()))
    return listed(values) if len(values) <= MOST_VALUES else ", ".join([*values[:MOST_VALUES], "…"])


def zero_variance_texts(found: Sequence[Degenerate]) -> Iterator[str]:
    """gamma and beta, the reason for the noise, and which outputs torch did not compute."""
    outcomes = set(map(outcome, found))
    yield _(
        "In layers that have them, gamma is **{gamma}** and beta **{beta}**, so that their effects can be distinguished; in other layers, beta is 0. Running "
        "statistics have their first values: mean 0 and variance 1.",
        gamma=format_number(GAMMA),
        beta=format_number(BETA),
    )
    if NOISE in outcomes:
        yield _noise(found)
    if SIGN in outcomes:
        yield _(
            "RMSNorm divides x by its own size, so only the sign of x is left, times gamma, as long as eps is far below x²."
        )
    ours = [one.layer.partition("(")[0] for one in found if not one.in_torch]
    yield _(
        "All outputs are torch's own, except those of {layers}, which torch does not have.", layers=listed(ours, "and")
    )


def _noise(found: Sequence[Degenerate]) -> str:
    """Where the noise comes from: two large terms that almost cancel."""
    noisy = [one for one in found if outcome(one) == NOISE]
    size, dtype = max(map(_scaled, noisy)), COMPUTES_IN[noisy[0].x.dtype]
    return _(
        "The noise: torch computes x · scale + shift, with scale = gamma / √eps and shift = beta − mean · scale. These terms, up to "
        "**{size}**, nearly cancel, but near there `{dtype}` numbers are **{step}** apart. A rounded mean adds to it.",
        size=format_number(size, 3),
        dtype=str(dtype).removeprefix("torch."),
        step=format_number(torch.finfo(dtype).eps * 2.0 ** floor(log2(size)), 3),
    )


def _scaled(one: Degenerate) -> float:
    """The largest |x · scale|."""
    norm = _norm(one)
    gamma = GAMMA if norm.params is not None else 1.0
    assert norm.eps
    return float(one.x.double().abs().max()) * gamma / norm.eps**0.5


# How small eps may be, and eps inside or outside the square root: the texts and rows of both experiments. Numbers are in ``**``.


PER_DECADE = 8  # variances on a curve


@lru_cache(maxsize=32)
def eps_outcomes(exponent: int, seed: int = 0) -> tuple[EpsOutcome, ...]:
    """A group with standard deviation 10^exponent, with every eps, in every dtype."""
    return eps_table(10.0**exponent, SIZE, seed)


def of_dtype(found: Sequence[EpsOutcome], dtype: str) -> list[EpsOutcome]:
    return [one for one in found if one.dtype == dtype]


def size_curves(found: Sequence[EpsOutcome]) -> dict[str, tuple[EpsPlacement, ...]]:
    """The size of the output over the variance, for every eps."""
    variances = [10.0 ** (i / PER_DECADE) for i in range(-24 * PER_DECADE, 6 * PER_DECADE + 1)]
    return {as_code(one.eps): eps_placement(one.eps, variances) for one in found}


def eps_sentence(found: Sequence[EpsOutcome], exponent: int) -> str:
    """The size of the output with the largest and the smallest eps, and what a hand-written layer loses. ``found`` has one dtype."""
    first, last = found[0], found[-1]
    if not first.var:
        return _(
            "At a spread of **{spread}**, `{dtype}` represents all numbers as 0: with `eps={eps}` a hand-written layer gives "
            "**{by_hand}**, torch's LayerNorm **{layer_norm}**.",
            spread=power(exponent),
            dtype=first.dtype,
            eps=as_code(last.eps),
            by_hand=format_number(last.by_hand),
            layer_norm=format_number(last.by_torch["LayerNorm"]),
        )
    sizes = _(
        "At a variance of **{variance}** the output has a size of **{first}** with `eps={first_eps}`, and of **{last}** with `{last_eps}`.",
        variance=power(2 * exponent),
        first=format_number(first.exact, 3),
        first_eps=as_code(first.eps),
        last=format_number(last.exact, 3),
        last_eps=as_code(last.eps),
    )
    return join_sentences([sizes, _by_hand(found)])


def _by_hand(found: Sequence[EpsOutcome]) -> str:
    broken = [one for one in found if not isfinite(one.by_hand)]
    if not broken:
        difference = max(abs(one.by_hand - one.by_torch["LayerNorm"]) for one in found)
        return _(
            "The sizes from a hand-written layer in `{dtype}` and from torch's LayerNorm differ by up to **{difference}**.",
            dtype=found[0].dtype,
            difference=format_number(difference, 2),
        )
    return _(
        "A hand-written layer in `{dtype}` stores {eps} as **{kept}** and gives **{by_hand}**; torch's LayerNorm gives **{layer_norm}**.",
        dtype=found[0].dtype,
        eps=listed([f"`{as_code(one.eps)}`" for one in broken], "and"),
        kept=format_number(broken[-1].rounded),
        by_hand=format_number(broken[-1].by_hand),
        layer_norm=format_number(broken[-1].by_torch["LayerNorm"], 3),
    )


def eps_columns(dtype: str) -> tuple[Column, ...]:
    return (
        Column("eps", "eps", code=True),
        Column("kept", _("stored in {dtype} as", dtype=dtype)),
        Column("formula", N_("size by the formula")),
        Column("by_hand", _("by hand in {dtype}", dtype=dtype)),
        *(Column(name, f"torch {name}") for name in TORCH_LAYERS),
    )


def eps_rows(found: Sequence[EpsOutcome]) -> tuple[Row, ...]:
    """Each eps in one dtype."""
    return tuple(
        {
            "eps": as_code(one.eps),
            "kept": format_number(one.rounded, 3),
            "formula": format_number(one.exact, 3),
            "by_hand": format_number(one.by_hand, 3),
        }
        | {name: format_number(size, 3) for name, size in one.by_torch.items()}
        for one in found
    )


def eps_texts(found: Sequence[EpsOutcome], exponent: int, seed: int = 0) -> Iterator[str]:
    """Size and spread, the dtype of torch's computation, and RMSNorm's eps=None."""
    dtype = found[0].dtype
    groups = ngettext("Groups of **{n}** number around 0.", "Groups of **{n}** numbers around 0.", SIZE)
    words = _(
        "*Spread* is their standard deviation; its square is the variance. *Size* is the root mean square of the output: √(var / (var + eps)), "
        "which is 1 if eps is far below the variance."
    )
    yield join_sentences([groups, words])
    yield _(
        "*By hand*: every step is computed in x's dtype. torch's own layers compute the statistics of half precision in float32."
    )
    broken = {name: [as_code(one.eps) for one in found if not isfinite(one.by_torch[name])] for name in TORCH_LAYERS}
    failing = {name: values for name, values in broken.items() if values}
    if failing:
        largest = max(failing.values(), key=len)
        yield _(
            "torch's {layers} give NaN with eps={eps}: they round 1 / √(var + eps) to `{dtype}`, for which it is too large.",
            layers=listed(failing, "and"),
            eps=listed(largest, "and"),
            dtype=dtype,
        )
    none = no_eps(dtype, 10.0**exponent, SIZE, seed)
    default = _(
        "The default `eps=None` of `RMSNorm` is the machine epsilon (the step above 1) of the dtype of the computation, **{eps}**: "
        "size **{size}**, by the formula **{formula}**.",
        eps=format_number(none.computing_eps, 3),
        size=format_number(none.by_torch, 3),
        formula=format_number(none.with_computing, 3),
    )
    if none.own_eps == none.computing_eps:
        yield default
        return
    own = _(
        "The machine epsilon of {dtype}, {eps}, would give **{size}**.",
        dtype=dtype,
        eps=format_number(none.own_eps, 3),
        size=format_number(none.with_own, 3),
    )
    yield join_sentences([default, own])


def placements(eps: float) -> tuple[EpsPlacement, ...]:
    """eps inside and outside the square root, for variances from far below eps² to far above eps."""
    low, high = eps**2 * 1e-3, eps * 1e3
    count = floor(PER_DECADE * log2(high / low) / log2(10)) + 1
    return eps_placement(eps, [low * 10.0 ** (i / PER_DECADE) for i in range(count)], SIZE)


def placement_sentence(eps: float, found: Sequence[EpsPlacement]) -> str:
    """The variance with the largest difference."""
    most = max(found, key=lambda one: abs(one.outside - one.inside))
    return _(
        "The place of eps matters most at a variance near **{variance}**: with `eps={eps}` inside the root the output keeps **{inside}** of "
        "its size, outside **{outside}**.",
        variance=format_number(most.var, 2),
        eps=as_code(eps),
        inside=format_number(most.inside, 2),
        outside=format_number(most.outside, 2),
    )


def placement_texts(eps: float) -> Iterator[str]:
    """eps as a variance inside the root, and as a standard deviation outside."""
    yield _(
        "*Inside*, (x − mean) / √(var + eps), eps is a variance: it dominates below var = eps = **{eps}**. All layers of torch and the "
        "BatchNorm paper have it there.",
        eps=format_number(eps, 3),
    )
    yield _(
        "*Outside*, (x − mean) / (√var + eps), eps is a standard deviation: it dominates below var = eps² = **{square}**.",
        square=format_number(eps**2, 3),
    )
    yield _("*Size* is the root mean square of the output: 1 if eps does not matter.")
