"""Numerics: what rounding does to a mean, a variance and an eps: the sentences, the charts, the tables and the texts. Numbers are in ``**``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from math import ceil, floor, isfinite, isnan, log2, log10
from typing import Any

import torch

from normviz.analysis import forward, rounding
from normviz.figures.charts import LIGHT, Lines, PlotlyTrace, axis, chart, dots, line
from normviz.figures.palette import by_meaning
from normviz.layers.axes import parse_layout
from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons.page import ControlRow, Experiment, Page, Plan, in_files, settings_of, shown_by
from normviz.parts.part import Caption, Cell, Chart, Details, Part, Sentence, Table, Text
from normviz.parts.titles import LOOK_UP, TITLES
from normviz.scene.setting import choice, number, power, power_of_ten
from normviz.scene.view import View
from normviz.texts.errors import listed
from normviz.texts.languages import paragraphs
from normviz.texts.messages import N_, _, english, format_number, join_sentences, ngettext

DTYPE = choice("dtype", {name: name for name in rounding.DTYPES}, "float32", label=N_("dtype of x"), example="bfloat16")


# Logarithmic axes with places for what they cannot show, such as 0 and NaN, and marks on them.

LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 12}}


def logarithmic(title: str, between: Sequence[float], ticks: Mapping[float, str], **more: object) -> dict[str, Any]:
    """An axis between two powers of ten; ``ticks`` are the labels by number."""
    named = {"tickvals": list(ticks), "ticktext": list(ticks.values())}
    return axis(title, type="log", range=list(between), **named, **more)


def over_powers(title: str, low: float, high: float, every: int = 1, **more: object) -> dict[str, Any]:
    """A logarithmic axis whose ticks are powers of ten."""
    exponents = (i for i in range(ceil(low), floor(high) + 1) if i % every == 0)
    return logarithmic(title, [low, high], powers(exponents), **more)


def powers(exponents: Iterable[int]) -> dict[float, str]:
    return {10.0**i: f"10<sup>{i}</sup>" for i in exponents}


def as_table(table: Table) -> Details:
    """The numbers of a chart, closed at first."""
    return Details(_("The numbers as a table"), (table,))


def shape(kind: str, x0: float, x1: float, drawn: dict[str, Any]) -> dict[str, Any]:
    """A shape as high as the chart."""
    return {"type": kind, "xref": "x", "yref": "paper", "x0": x0, "x1": x1, "y0": 0, "y1": 1, "line": drawn}


def place(value: float, zero: float, not_finite: float) -> float:
    """Where the axis shows a number; ``zero`` and ``not_finite`` are the places of what it cannot show."""
    return max(value, zero) if isfinite(value) else not_finite


def note(x: float, y: float, text: str, **more: object) -> dict[str, Any]:
    """Text at 10^x; ``y`` is a fraction of the chart's height."""
    return {"x": x, "y": y, "yref": "paper", "text": text, "showarrow": False, **more}


# Four ways to compute a variance, far from zero.

ONE_PASS, TWO_PASSES, WELFORD, SHIFTED = rounding.METHODS
FORMULA = rounding.METHOD_LABELS[ONE_PASS]

# color, dash, symbol, width. E[x²] − E[x]² has the accent color, torch's layers the text color. Others than SHOWN are drawn after a click on
# the legend.
SHOWN = (ONE_PASS, TWO_PASSES, "LayerNorm")
STYLES: Mapping[str, tuple[str, str, str, float]] = {
    ONE_PASS: ("accent", "solid", "circle", 3),
    rounding.FLAX: ("accent", "dot", "circle-open", 2),
    TWO_PASSES: ("values.0", "solid", "circle", 3),
    WELFORD: ("parameters.1", "solid", "square", 2),
    SHIFTED: ("muted", "dash", "diamond", 2),
    "LayerNorm": ("text", "dash", "triangle-up-open", 1.5),
    "BatchNorm1d": ("text", "dot", "triangle-down-open", 1.5),
}
# Positions on a logarithmic axis of the errors that it cannot show.
ZERO_ERROR, NAN_ERROR = 1e-18, 1e11
GRAY = "rgba(128, 138, 155, 0.18)"


def variance_parts(view: View) -> Iterator[Part]:
    """The sentence, and the errors as a chart and as a table."""
    exponent = view.settings["distance"]
    found = estimates(view.settings["dtype"], view.scene.seed)
    yield Sentence(variance_sentence(found, exponent))
    alt = _("Relative error of the variance by each method, over the distance from zero.")
    yield Chart("errors_chart", variance_errors(found, exponent), alt)
    yield Caption(_("A click on a name in the legend shows or hides its method."))
    yield as_table(variance_table(found, exponent))
    yield from map(Text, variance_texts(found, exponent))
    yield Details(_("The methods"), (Text(methods_text()),))


@lru_cache(maxsize=32)
def estimates(dtype: str, seed: int = 0) -> tuple[rounding.Estimate, ...]:
    """The variance by every method, at every distance from zero, in one dtype."""
    return rounding.sweep(dtype, seed=seed)


def at_distance(found: Sequence[rounding.Estimate], exponent: int) -> dict[str, rounding.Estimate]:
    """The estimate by each method at a distance of 10^exponent."""
    return {one.method: one for one in found if one.distance == rounding.DISTANCES[exponent]}


def variance_sentence(found: Sequence[rounding.Estimate], exponent: int) -> str:
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
            rounding.SIZE,
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


def failures(found: Sequence[rounding.Estimate]) -> str:
    """How often E[x²] − E[x]² fails over all distances."""
    finite = [one for one in found if one.method == ONE_PASS and isfinite(one.exact)]
    counts = {
        "formula": FORMULA,
        "negative": sum(one.negative for one in finite),
        "nan": sum(one.is_nan for one in finite),
    }
    if len(finite) == len(rounding.DISTANCES):
        return ngettext(
            "{formula} is negative at **{negative}** of **{n}** distance, and its output is NaN at **{nan}**.",
            "{formula} is negative at **{negative}** of all **{n}** distances, and its output is NaN at **{nan}**.",
            len(finite),
            **counts,
        )
    return ngettext(
        "{formula} is negative at **{negative}** of the **{n}** distance that `{dtype}` can represent, and its output is NaN at **{nan}**.",
        "{formula} is negative at **{negative}** of the **{n}** distances that `{dtype}` can represent, and its output is NaN at **{nan}**.",
        len(finite),
        dtype=found[0].dtype,
        **counts,
    )


def variance_table(found: Sequence[rounding.Estimate], exponent: int) -> Table:
    """The variance by each method at that distance."""
    heads = _("method"), _("variance"), _("relative error"), "< 0", _("output NaN")
    return Table(heads, tuple(map(_row, at_distance(found, exponent).values())))


def _row(one: rounding.Estimate) -> tuple[Cell, ...]:
    label = method_label(one.method)
    numbers: tuple[Cell, ...] = (format_number(one.var), format_number(one.error, 2))
    if (
        one.method in rounding.LAYERS and isnan(one.var) and not one.is_nan
    ):  # a constant x: the variance cannot be computed back
        numbers = (None, None)
    fails = one.exact > 0 and (one.negative or one.is_nan)
    return f"**✗ {label}**" if fails else label, *numbers, one.negative, one.is_nan


def variance_texts(found: Sequence[rounding.Estimate], exponent: int) -> Iterator[str]:
    """What is compared, and why and how often one pass fails."""
    same = ngettext(
        "Each method gets the same **{n}** number: noise with standard deviation 1 around that distance.",
        "Each method gets the same **{n}** numbers: noise with standard deviation 1 around that distance.",
        rounding.SIZE,
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


def _why(one: rounding.Estimate, exponent: int) -> str:
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
    return format_number(torch.finfo(rounding.DTYPES[dtype]).eps * 2.0 ** floor(log2(value)))


def methods_text() -> str:
    return paragraphs("variances", formula=FORMULA, channels_last=method_label(rounding.CHANNELS_LAST))


def method_label(method: str) -> str:
    return _(rounding.METHOD_LABELS[method]) if method in rounding.METHOD_LABELS else f"torch {method}"


# Its chart.


def variance_errors(found: Sequence[rounding.Estimate], exponent: int) -> Lines:
    """Relative error by every method over the distance from zero, both logarithmic; 10^exponent is marked.

    If all numbers are equal, or infinite, there is no error: the range is gray, with the reason.
    """
    here = rounding.DISTANCES[exponent]
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
        shapes=[shape for shape, _ in shaded],
        annotations=[note for _, note in shaded],
    )


def _errors(
    method: str, found: Sequence[rounding.Estimate], color: str, dash: str, symbol: str, width: float
) -> PlotlyTrace:
    return line(
        method_label(method).removeprefix("torch "),
        [one.distance for one in found],
        [place(one.error, ZERO_ERROR, NAN_ERROR) for one in found],
        color,
        dash=dash,
        width=width,
        visible=True if method in SHOWN else "legendonly",
        mode="lines+markers",
        marker={"color": by_meaning(color, LIGHT), "symbol": symbol, "size": 4 + 2 * width},
        text=[format_number(one.error, 2) for one in found],
        hovertemplate="%{text}",
    )


def _broken(found: Sequence[rounding.Estimate]) -> PlotlyTrace:
    """Where the output with E[x²] − E[x]² is NaN, with the variance."""
    return dots(
        _("output is NaN"),
        [one.distance for one in found],
        [place(one.error, ZERO_ERROR, NAN_ERROR) for one in found],
        "accent",
        size=17,
        marker={"symbol": "circle-x-open", "line": {"width": 2}},
        text=[format_number(one.var) for one in found],
        hovertemplate=_("variance {value}", value="%{text}"),
    )


def _no_error(one: rounding.Estimate) -> str:
    """The reason why there is no error to draw; empty if there is an error."""
    if isnan(one.exact):
        return _("x is infinite")
    return "" if one.exact else _("all numbers round to the same value")


def _shade(distances: Sequence[float], reason: str) -> tuple[dict[str, Any], dict[str, Any]]:
    low, high = (log10(distance) for distance in (distances[0], distances[-1]))
    gray = shape("rect", 10 ** (low - 0.4), 10 ** (high + 0.4), {"width": 0}) | {"fillcolor": GRAY, "layer": "below"}
    return gray, note((low + high) / 2, 0.5, reason if high - low > 1.5 else reason.replace(" ", "<br>"))


DISTANCE = power_of_ten("distance", 0, len(rounding.DISTANCES) - 1, 6).described(
    N_("distance from zero"), N_("how far x is from zero, a power of ten"), "1e5"
)
VARIANCE = Experiment(
    "variance", N_("Four ways to compute a variance"), variance_parts, "q24", (DTYPE, DISTANCE), needs="seed"
)


# How small eps may be.

PER_DECADE = 8  # variances on a curve
CURVES = (("accent", "solid"), ("values.0", "solid"), ("parameters.1", "dash"), ("muted", "solid"))
# Positions on a logarithmic axis of the sizes that it cannot show.
ZERO_SIZE, BROKEN_SIZE = 1e-12, 30.0
DOTTED = {"color": "rgba(128, 138, 155, 0.8)", "width": 1.5, "dash": "dot"}


def eps_parts(view: View) -> Iterator[Part]:
    exponent, seed = view.settings["spread"], view.scene.seed
    found = of_dtype(eps_outcomes(exponent, seed), view.settings["dtype"])
    yield Sentence(eps_sentence(found, exponent))
    sizes = output_sizes(size_curves(found), found, exponent)
    yield Chart("sizes_chart", sizes, _("Size of the output over the variance, for four values of eps."))
    yield as_table(size_table(found))
    yield from map(Text, eps_texts(found, exponent, seed))


def as_code(eps: float) -> str:
    """eps as a program writes it.

    >>> as_code(0.001), as_code(2.5e-12), as_code(1.0)
    ('1e-3', '2.5e-12', '1')
    """
    mantissa, _e, exponent = f"{eps:e}".partition("e")
    return f"{float(mantissa):g}" + (f"e{int(exponent)}" if int(exponent) else "")


@lru_cache(maxsize=32)
def eps_outcomes(exponent: int, seed: int = 0) -> tuple[rounding.EpsOutcome, ...]:
    """A group with standard deviation 10^exponent, with every eps, in every dtype."""
    return rounding.eps_table(10.0**exponent, seed)


def of_dtype(found: Sequence[rounding.EpsOutcome], dtype: str) -> list[rounding.EpsOutcome]:
    return [one for one in found if one.dtype == dtype]


def size_curves(found: Sequence[rounding.EpsOutcome]) -> dict[str, tuple[rounding.EpsPlacement, ...]]:
    """The size of the output over the variance, for every eps."""
    variances = [10.0 ** (i / PER_DECADE) for i in range(-24 * PER_DECADE, 6 * PER_DECADE + 1)]
    return {as_code(one.eps): rounding.eps_placement(one.eps, variances) for one in found}


def eps_sentence(found: Sequence[rounding.EpsOutcome], exponent: int) -> str:
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


def _by_hand(found: Sequence[rounding.EpsOutcome]) -> str:
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


def size_table(found: Sequence[rounding.EpsOutcome]) -> Table:
    """The size of the output with each eps. ``found`` has one dtype."""
    dtype = found[0].dtype
    heads = (
        "eps",
        _("stored in {dtype} as", dtype=dtype),
        _("size by the formula"),
        _("by hand in {dtype}", dtype=dtype),
        *(f"torch {name}" for name in rounding.TORCH_LAYERS),
    )
    numbers = ((one.rounded, one.exact, one.by_hand, *one.by_torch.values()) for one in found)
    rows = (
        (as_code(one.eps), *(format_number(number, 3) for number in each))
        for one, each in zip(found, numbers, strict=True)
    )
    return Table(heads, tuple(rows), code=(0,), transposed=True)


def eps_texts(found: Sequence[rounding.EpsOutcome], exponent: int, seed: int = 0) -> Iterator[str]:
    """Size and spread, the dtype of torch's computation, and RMSNorm's eps=None."""
    dtype = found[0].dtype
    groups = ngettext("Groups of **{n}** number around 0.", "Groups of **{n}** numbers around 0.", rounding.SIZE)
    words = _(
        "*Spread*: their standard deviation, √var. *Size*: the root mean square of the output, √(var / (var + eps)), near 1 if eps is far below the variance."
    )
    yield join_sentences([groups, words])
    yield _(
        "*By hand*: every step is computed in x's dtype. torch's LayerNorm, BatchNorm, GroupNorm and InstanceNorm compute the statistics "
        "of half precision in float32. On the CPU, BatchNorm and InstanceNorm round them."
    )
    broken = {
        name: [as_code(one.eps) for one in found if not isfinite(one.by_torch[name])] for name in rounding.TORCH_LAYERS
    }
    failing = {name: values for name, values in broken.items() if values}
    if failing:
        largest = max(failing.values(), key=len)
        yield _(
            "torch's {layers} give NaN with eps={eps}: they round 1 / √(var + eps) to `{dtype}`, for which it is too large.",
            layers=listed(failing, "and"),
            eps=listed(largest, "and"),
            dtype=dtype,
        )
    if "RMSNorm" in KINDS:
        yield _default_eps_text(rounding.no_eps(dtype, 10.0**exponent, seed), dtype)


def _default_eps_text(none: rounding.NoEps, dtype: str) -> str:
    """Where RMSNorm computes, and which eps its ``eps=None`` is."""
    computing = _("torch's RMSNorm computes `{dtype}` in `{computing}`.", dtype=dtype, computing=none.computing)
    default = _(
        "Its `eps=None` is the machine epsilon (the step above 1) of `{used}`, **{eps}**: size **{size}**, by the formula **{formula}**.",
        used=none.used,
        eps=format_number(none.eps, 3),
        size=format_number(none.by_torch, 3),
        formula=format_number(none.sizes[none.used], 3),
    )
    others = [
        _(
            "That of `{other}`, {eps}, would give **{size}**.",
            other=name,
            eps=format_number(torch.finfo(rounding.DTYPES[name]).eps, 3),
            size=format_number(size, 3),
        )
        for name, size in none.sizes.items()
        if name != none.used
    ]
    return join_sentences([computing, default, *others])


def output_sizes(
    curves: Mapping[str, Sequence[rounding.EpsPlacement]], found: Sequence[rounding.EpsOutcome], exponent: int
) -> Lines:
    """The size of the output over the variance for every eps, and at the group's variance by hand and from torch's layers."""
    var = 10.0 ** (2 * exponent)
    traces = [
        line(
            f"eps={eps}",
            [one.var for one in points],
            [one.inside for one in points],
            color,
            dash=dash,
            hovertemplate="%{y:.2g}",
        )
        for (eps, points), (color, dash) in zip(curves.items(), CURVES, strict=True)
    ]
    measured = [(_("by hand"), [one.by_hand for one in found], "accent", "x-thin-open", 9)]
    for name, symbol in (("LayerNorm", "circle-open"), ("BatchNorm1d", "square-open")):
        measured.append((name, [one.by_torch[name] for one in found], "text", symbol, 13))
    for name, sizes, color, symbol, size in measured:
        places = [place(each, ZERO_SIZE, BROKEN_SIZE) for each in sizes]
        marker = {"symbol": symbol, "line": {"width": 2}}
        hover = {"text": [format_number(each, 3) for each in sizes], "hovertemplate": "%{text}"}
        traces.append(dots(name, [var] * len(places), places, color, size=size, marker=marker, **hover))
    return chart(
        traces,
        over_powers(_("variance"), -24.5, 6.5, 4),
        logarithmic(
            _("size of the output"),
            [-12.5, 2],
            {ZERO_SIZE: "0", **powers(range(-10, 1, 2)), BROKEN_SIZE: "NaN, ∞"},
            zeroline=False,
        ),
        height=390,
        legend=LEGEND,
        hovermode="closest",
    )


SPREAD = power_of_ten("spread", -12, 3, -4, in_file=(-12, -8, -4, 0)).described(
    N_("spread"), N_("the standard deviation of x, a power of ten"), "1e-3"
)
EPS = Experiment("eps", N_("How small may eps be?"), eps_parts, "q22", (DTYPE, SPREAD), needs="seed")


# eps inside or outside the square root.

SMALLEST_EPS = 1e-12


def placement_parts(view: View) -> Iterator[Part]:
    value = view.settings["eps"]
    found = placements(value)
    yield Sentence(placement_sentence(value, found))
    alt = _("Size of the output over the variance, with eps inside and outside the square root.")
    yield Chart("placement_chart", inside_and_outside(found, value), alt)
    yield from map(Text, placement_texts(value))


def placements(eps: float) -> tuple[rounding.EpsPlacement, ...]:
    """eps inside and outside the square root, for variances from far below eps² to far above eps."""
    low, high = eps**2 * 1e-3, eps * 1e3
    count = floor(PER_DECADE * log2(high / low) / log2(10)) + 1
    return rounding.eps_placement(eps, [low * 10.0 ** (i / PER_DECADE) for i in range(count)])


def placement_sentence(eps: float, found: Sequence[rounding.EpsPlacement]) -> str:
    """The variance with the largest difference."""
    most = max(found, key=lambda one: abs(one.outside - one.inside))
    return _(
        "The difference is largest at a variance near **{variance}**: with `eps={eps}` inside the root the output keeps **{inside}** of "
        "its size, outside **{outside}**.",
        variance=format_number(most.var, 2),
        eps=as_code(eps),
        inside=format_number(most.inside, 2),
        outside=format_number(most.outside, 2),
    )


def placement_texts(eps: float) -> Iterator[str]:
    """eps as a variance inside the root, and as a standard deviation outside."""
    yield _(
        "*Inside*, (x − mean) / √(var + eps), eps is a variance: it dominates below var = eps = **{eps}**. torch's BatchNorm, LayerNorm, "
        "InstanceNorm, GroupNorm and RMSNorm have it there, and so has the BatchNorm paper.",
        eps=format_number(eps, 3),
    )
    yield _(
        "*Outside*, (x − mean) / (√var + eps), eps is a standard deviation: it dominates below var = eps² = **{square}**.",
        square=format_number(eps**2, 3),
    )
    yield _("*Size* is the root mean square of the output: 1 if eps does not matter.")


def inside_and_outside(found: Sequence[rounding.EpsPlacement], eps: float) -> Lines:
    """The size of the output with eps in either place, over the variance."""
    var = [one.var for one in found]
    hover: dict[str, Any] = {"width": 3, "hovertemplate": "%{y:.2g}"}
    traces = [
        line(_("inside: {formula}", formula="√(var + eps)"), var, [one.inside for one in found], "accent", **hover),
        line(_("outside: {formula}", formula="√var + eps"), var, [one.outside for one in found], "values.0", **hover),
    ]
    places = ((eps, "var = eps", "left", 0.25, 4), (eps**2, "var = eps²", "right", 0.75, -4))
    return chart(
        traces,
        over_powers(_("variance"), log10(var[0]), log10(var[-1]), 2, hoverformat=".2g"),
        axis(_("size of the output"), range=[-0.03, 1.08]),
        height=370,
        legend=LEGEND,
        shapes=[shape("line", place, place, DOTTED) for place, *_ in places],
        annotations=[
            note(log10(place), height, name, xanchor=side, xshift=shift) for place, name, side, height, shift in places
        ],
    )


COMPARED_EPS = number("eps", SMALLEST_EPS, 1, 1e-5, width=300, in_file=("1e-12", "1e-05", "0.001")).described(
    "eps", N_("the eps that is compared inside and outside the square root"), "0.001"
)
PLACEMENT = Experiment("placement", N_("eps inside or outside"), placement_parts, "s2g", (COMPARED_EPS,), needs="")


# Groups with zero variance: a constant x, and groups of one element.

LARGEST_CONSTANT, LARGEST_SCALE = 65_504, 10_000  # float16 can represent every such x

MOST_VALUES = 4  # different outputs that a cell lists
EXACT, NOISE, SIGN, RUNNING, REFUSED = "exact", "noise", "sign", "running", "refused"
# label, color, symbol
OUTCOMES: Mapping[str, tuple[str, str, str]] = {
    EXACT: (N_("beta"), "values.0", "circle"),
    NOISE: (N_("beta and noise"), "accent", "diamond"),
    SIGN: (N_("no mean subtracted"), "parameters.1", "square"),
    RUNNING: (N_("running statistics"), "text", "triangle-up"),
    REFUSED: (N_("torch refuses"), "muted", "x"),
}
# Positions on a logarithmic axis of what it cannot show: 0, infinity, and that torch refuses x.
ZERO_DIFFERENCE, INFINITE_DIFFERENCE, NO_DIFFERENCE = 1e-11, 10**6.5, 1e9


def constant_parts(view: View) -> Iterator[Part]:
    found = constant(view.settings["value"], view.settings["dtype"])
    return _zero_variance(constant_sentence(found), found)


def single_parts(view: View) -> Iterator[Part]:
    found = single(view.settings["scale"], view.settings["dtype"], view.scene.seed)
    return _zero_variance(single_sentence(found), found)


def _zero_variance(sentence: str, found: tuple[rounding.Degenerate, ...]) -> Iterator[Part]:
    yield Sentence(sentence)
    alt = _("Largest difference of each layer's output from beta.")
    yield Chart("gaps_chart", differences_from_beta(found), alt)
    yield as_table(zero_variance_table(found))
    yield from map(Text, zero_variance_texts(found))


# Every layer on a constant x, and on groups of one element.
constant = lru_cache(maxsize=32)(rounding.constant_groups)
single = lru_cache(maxsize=32)(rounding.single_elements)


def outcome(one: rounding.Degenerate) -> str:
    """The key of the outcome in ``OUTCOMES``."""
    if one.output is None:
        return REFUSED
    if not one.from_beta:
        return EXACT
    norm = _norm(one)
    return RUNNING if norm.running else NOISE if norm.center else SIGN


def _norm(one: rounding.Degenerate) -> Norm:
    layer, rank = Layer.parse(one.layer), len(one.shape)
    assert isinstance(layer, Layer)
    return layer.norm(parse_layout(layer.kind.layout(rank), rank))


def short_names(found: Sequence[rounding.Degenerate]) -> list[str]:
    """The layers' names without arguments; with x's shape if a name occurs twice."""
    names = [f"{one.layer.partition('(')[0]}{'.eval()' if one.layer.endswith('.eval()') else ''}" for one in found]
    return [f"{name}, x {one.shape}" if names.count(name) > 1 else name for name, one in zip(names, found, strict=True)]


def constant_sentence(found: Sequence[rounding.Degenerate]) -> str:
    """How many layers give beta, and what the others give."""
    value = format_number(float(found[0].x.flatten()[0]), 7)
    mean = _("Every element of x is **{value}**, which is also its mean.", value=value)
    return join_sentences([mean, _counts(found)])


def single_sentence(found: Sequence[rounding.Degenerate]) -> str:
    """How many layers refuse, and what the others give."""
    mean = _("The only element of a group is its own mean.")
    refused = ngettext(
        "torch refuses **{refused}** of **{n}** case.",
        "torch refuses **{refused}** of **{n}** cases.",
        len(found),
        refused=sum(outcome(one) == REFUSED for one in found),
    )
    return join_sentences([mean, refused, _counts(found)])


def _counts(found: Sequence[rounding.Degenerate]) -> str:
    by_outcome = {key: [one for one in found if outcome(one) == key] for key in OUTCOMES}
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


def zero_variance_table(found: Sequence[rounding.Degenerate]) -> Table:
    """The output of each layer, or torch's own error message."""
    rows = (
        (one.layer, str(one.shape), _("torch refuses: “{refusal}”", refusal=english(one.refusal)), "")
        if one.refusal
        else (one.layer, str(one.shape), _values(one), _(OUTCOMES[outcome(one)][0]))
        for one in found
    )
    return Table((_("layer"), _("shape of x"), _("output"), _("outcome")), tuple(rows), code=(0,))


def _values(one: rounding.Degenerate) -> str:
    assert one.output is not None
    values = list(dict.fromkeys(format_number(value) for value in one.output.flatten().tolist()))
    return listed(values) if len(values) <= MOST_VALUES else _(", ").join([*values[:MOST_VALUES], "…"])


def zero_variance_texts(found: Sequence[rounding.Degenerate]) -> Iterator[str]:
    """gamma and beta, the reason for the noise, and which outputs torch did not compute."""
    outcomes = set(map(outcome, found))
    yield _(
        "In layers that have them, gamma is **{gamma}** and beta **{beta}**, so that their effects can be distinguished; in other layers, beta is 0. Running "
        "statistics have their first values: mean 0 and variance 1.",
        gamma=format_number(rounding.GAMMA),
        beta=format_number(rounding.BETA),
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


def _noise(found: Sequence[rounding.Degenerate]) -> str:
    """Where the noise comes from: two large terms that almost cancel."""
    noisy = [one for one in found if outcome(one) == NOISE]
    size, dtype = max(map(_scaled, noisy)), forward.COMPUTES_IN[noisy[0].x.dtype]
    return _(
        "The noise: the CPU computes x · scale + shift, with scale = gamma / √eps and shift = beta − mean · scale. These terms, up to "
        "**{size}**, nearly cancel, but `{dtype}` numbers there are **{step}** apart. A rounded mean adds to it.",
        size=format_number(size, 3),
        dtype=forward.dtype_name(dtype),
        step=format_number(torch.finfo(dtype).eps * 2.0 ** floor(log2(size)), 3),
    )


def _scaled(one: rounding.Degenerate) -> float:
    """The largest |x · scale|."""
    norm = _norm(one)
    gamma = rounding.GAMMA if norm.params is not None else 1.0
    assert norm.eps
    return float(one.x.double().abs().max()) * gamma / norm.eps**0.5


# Their chart.


def differences_from_beta(found: Sequence[rounding.Degenerate]) -> Lines:
    """The largest difference of every layer's output from beta, by outcome."""
    names = short_names(found)
    traces = []
    for key, (label, color, symbol) in OUTCOMES.items():
        here: list[tuple[Any, rounding.Degenerate]] = [
            (name, one) for name, one in zip(names, found, strict=True) if outcome(one) == key
        ]
        if here:
            places, marker = [_position(one) for _, one in here], {"symbol": symbol}
            labels = [one.refusal or format_number(one.from_beta or 0.0, 3) for _, one in here]
            hover = {"text": labels, "hovertemplate": "%{text}"}
            traces.append(dots(_(label), places, [name for name, _ in here], color, size=11, marker=marker, **hover))
    ticks = {ZERO_DIFFERENCE: "0", **powers(range(-8, 5, 4))}
    ticks |= {
        place: name
        for place, name in ((INFINITE_DIFFERENCE, "∞"), (NO_DIFFERENCE, _("refused")))
        if place in map(_position, found)
    }
    return chart(
        traces,
        logarithmic(_("largest |output − beta|"), [-11.7, 9.9], ticks, tickangle=0),
        axis("", categoryorder="array", categoryarray=names, autorange="reversed", dtick=1, tickfont={"size": 12}),
        height=112 + 20 * len(names),
        legend=LEGEND,
        hovermode="closest",
    )


def _position(one: rounding.Degenerate) -> float:
    return NO_DIFFERENCE if one.from_beta is None else place(one.from_beta, ZERO_DIFFERENCE, INFINITE_DIFFERENCE)


VALUE = number(
    "value", -LARGEST_CONSTANT, LARGEST_CONSTANT, 1234.567, width=300, in_file=("0", "1", "1234.567")
).described(N_("every element of x"), N_("every element of x"), "0.1")
SCALE = number("scale", 0, LARGEST_SCALE, 1000, width=300, in_file=("1", "1000")).described(
    N_("standard deviation of x"), N_("the standard deviation of x"), "100"
)
CONSTANT = Experiment("constant", N_("A constant x"), constant_parts, "s2m", (DTYPE, VALUE), needs="")
SINGLE = Experiment("single", N_("Groups of one"), single_parts, "q15", (DTYPE, SCALE), needs="seed")


# The page.

EXPERIMENTS = (VARIANCE, EPS, CONSTANT, SINGLE, PLACEMENT)
SETTINGS = settings_of(EXPERIMENTS, example="eps")
ROWS = (ControlRow("", (SETTINGS[:1],)), ControlRow("controls", (SETTINGS[1:],), "medium"))
PAGE = Page(
    "numerics",
    *TITLES["numerics"],
    shown_by(EXPERIMENTS),
    SETTINGS,
    EXPERIMENTS,
    rows=lambda _view: ROWS,
    uses="scene",
    file_choices=(in_files(SETTINGS),),
    group=LOOK_UP,
    plan=Plan(
        N_("Students name the cases in which rounding or eps, and not the formula, decides the output."),
        10,
        ("q24", "q22|s2g", "q15|q37"),
    ),
)
