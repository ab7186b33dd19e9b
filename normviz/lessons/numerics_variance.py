"""The variance by several methods, far from zero: the sentence, the chart, the table and the texts. Numbers are in ``**``."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from math import floor, isfinite, isnan, log2, log10
from typing import Any

from normviz.analysis.rounding.eps import no_eps
from normviz.analysis.rounding.groups import CHANNELS_LAST, DISTANCES, LAYERS, SIZE
from normviz.analysis.rounding.variance import FLAX, METHOD_LABELS, METHODS, Estimate, sweep
from normviz.figures.charts import LIGHT, Lines, PlotlyTrace, chart, dots, line
from normviz.figures.palette import by_meaning
from normviz.lessons.numerics_axes import LEGEND, logarithmic, note, over_powers, powers, shape
from normviz.lessons.parts.containers import Beside, Cell, Details, Table
from normviz.lessons.parts.part import Chart, Part, Sentence, Text
from normviz.scene.setting import power
from normviz.texts.messages import _, format_number, join_sentences, ngettext

ONE_PASS, TWO_PASSES, WELFORD, SHIFTED = METHODS
FORMULA = METHOD_LABELS[ONE_PASS]

# color, dash, symbol, width. E[x²] − E[x]² has the accent color, torch's layers the text color. Those not in COMPARED are faint.
COMPARED, FAINT = (ONE_PASS, TWO_PASSES), 0.35
STYLES: Mapping[str, tuple[str, str, str, float]] = {
    ONE_PASS: ("accent", "solid", "circle", 3),
    FLAX: ("accent", "dot", "circle-open", 2),
    TWO_PASSES: ("values.0", "solid", "circle", 3),
    WELFORD: ("parameters.1", "solid", "square", 2),
    SHIFTED: ("muted", "dash", "diamond", 2),
    "LayerNorm": ("text", "dash", "triangle-up-open", 1.5),
    "BatchNorm1d": ("text", "dot", "triangle-down-open", 1.5),
}
# Positions on a logarithmic axis of the errors that it cannot show.
ZERO_ERROR, NAN_ERROR = 1e-18, 1e11
GRAY = "rgba(128, 138, 155, 0.18)"


def variance_parts(settings: Mapping[str, Any], seed: int) -> Iterator[Part]:
    """The sentence, and the errors as a chart and as a table."""
    exponent = settings["distance"]
    found = estimates(settings["dtype"], seed)
    yield Sentence(variance_sentence(found, exponent))
    alt = _("Relative error of the variance by each method, over the distance from zero.")
    chart = Chart("errors_chart", variance_errors(found, exponent), alt)
    yield Beside((chart,), (variance_table(found, exponent),), (5, 4))
    yield from map(Text, variance_texts(found, exponent))
    yield Details(_("The methods"), (Text(methods_text()),))


@lru_cache(maxsize=32)
def estimates(dtype: str, seed: int = 0) -> tuple[Estimate, ...]:
    """The variance by every method, at every distance from zero, in one dtype."""
    return sweep(dtype, seed=seed)


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


def variance_table(found: Sequence[Estimate], exponent: int) -> Table:
    """The variance by each method at that distance."""
    heads = _("method"), _("variance"), _("relative error"), "< 0", _("output NaN")
    return Table(heads, tuple(map(_row, at_distance(found, exponent).values())))


def _row(one: Estimate) -> tuple[Cell, ...]:
    label = method_label(one.method)
    numbers: tuple[Cell, ...] = (format_number(one.var), format_number(one.error, 2))
    if one.method in LAYERS and isnan(one.var) and not one.is_nan:  # a constant x: the variance cannot be computed back
        numbers = (None, None)
    fails = one.exact > 0 and (one.negative or one.is_nan)
    return f"**✗ {label}**" if fails else label, *numbers, one.negative, one.is_nan


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


def method_label(method: str) -> str:
    return _(METHOD_LABELS[method]) if method in METHOD_LABELS else f"torch {method}"


# The chart.


def variance_errors(found: Sequence[Estimate], exponent: int) -> Lines:
    """Relative error by every method over the distance from zero, both logarithmic; 10^exponent is marked.

    If all numbers are equal, or infinite, there is no error: the range is gray, with the reason.
    """
    here = DISTANCES[exponent]
    mark: dict[str, Any] = {"dash": "dot", "width": 1.5, "showlegend": False, "hoverinfo": "skip"}
    traces = [line("", [here, here], [ZERO_ERROR, NAN_ERROR], "muted", **mark)]
    for method, style in STYLES.items():
        traces.append(_errors(method, [one for one in found if one.method == method and one.exact > 0], *style))
    broken = [one for one in found if one.method == ONE_PASS and one.exact > 0 and one.is_nan]
    if broken:
        traces.append(_broken(broken))
    ticks = {ZERO_ERROR: "0", **powers(range(-16, 9, 4)), NAN_ERROR: "NaN"}
    reasons = groupby([one for one in found if one.method == ONE_PASS], _no_error)
    shaded = [_shade([place.distance for place in places], reason) for reason, places in reasons if reason]
    return chart(
        traces,
        over_powers(_("distance from zero"), -0.35, 7.35),
        logarithmic(_("relative error"), [-18.8, 12.2], ticks, zeroline=False),
        height=400,
        legend=LEGEND,
        hovermode="x unified",
        shapes=[shape for shape, _ in shaded],
        annotations=[note for _, note in shaded],
    )


def _errors(method: str, found: Sequence[Estimate], color: str, dash: str, symbol: str, width: float) -> PlotlyTrace:
    places = [NAN_ERROR if not isfinite(one.error) else max(one.error, ZERO_ERROR) for one in found]
    return line(
        method_label(method).removeprefix("torch "),
        [one.distance for one in found],
        places,
        color,
        dash=dash,
        width=width,
        opacity=1 if method in COMPARED else FAINT,
        mode="lines+markers",
        marker={"color": by_meaning(color, LIGHT), "symbol": symbol, "size": 4 + 2 * width},
        text=[format_number(one.error, 2) for one in found],
        hovertemplate="%{text}",
    )


def _broken(found: Sequence[Estimate]) -> PlotlyTrace:
    """Where the output with E[x²] − E[x]² is NaN, with the variance."""
    places = [one.error if isfinite(one.error) else NAN_ERROR for one in found]
    return dots(
        _("output is NaN"),
        [one.distance for one in found],
        places,
        "accent",
        size=17,
        marker={"symbol": "circle-x-open", "line": {"width": 2}},
        mode="markers+text",
        text=[f"{format_number(one.var)} " for one in found],
        textposition=["middle left"] * (len(found) - 1) + ["top left"],
        textfont={"size": 13},
        hovertemplate=_("variance {value}", value="%{text}"),
    )


def _no_error(one: Estimate) -> str:
    """The reason why there is no error to draw; empty if there is an error."""
    if isnan(one.exact):
        return _("x is infinite")
    return "" if one.exact else _("all numbers round to the same value")


def _shade(distances: Sequence[float], reason: str) -> tuple[dict[str, Any], dict[str, Any]]:
    low, high = (log10(distance) for distance in (distances[0], distances[-1]))
    gray = shape("rect", 10 ** (low - 0.4), 10 ** (high + 0.4), {"width": 0}) | {"fillcolor": GRAY, "layer": "below"}
    return gray, note((low + high) / 2, 0.5, reason if high - low > 1.5 else reason.replace(" ", "<br>"))
