"""Four ways to compute a variance, far from zero: the texts and rows of the experiment. Numbers are in ``**``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import floor, isfinite, isnan, log2

from normviz.analysis.number_format import format_number
from normviz.analysis.rounding.eps import no_eps
from normviz.analysis.rounding.groups import CHANNELS_LAST, DISTANCES, LAYERS
from normviz.analysis.rounding.variance import METHOD_LABELS, METHODS, Estimate, sweep
from normviz.layers.messages import N_, _, join_sentences, ngettext
from normviz.lessons.figure_pages.numerics.numbers import SIZE
from normviz.lessons.parts.table import Column, Row
from normviz.scene.settings.kinds import power

ONE_PASS, TWO_PASSES, WELFORD, SHIFTED = METHODS
FORMULA = METHOD_LABELS[ONE_PASS]
COLUMNS = (
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


def sentence(found: Sequence[Estimate], exponent: int) -> str:
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


def rows(found: Sequence[Estimate], exponent: int) -> tuple[Row, ...]:
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


def descriptions(found: Sequence[Estimate], exponent: int) -> Iterator[str]:
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
