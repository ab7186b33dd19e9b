"""Charts of rounding: errors of a variance, the size of the output with different eps, and groups with zero variance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import ceil, floor, isfinite, isnan, log10
from typing import Any

from normviz.analysis.rounding.degenerate import Degenerate
from normviz.analysis.rounding.eps import EpsOutcome, EpsPlacement
from normviz.analysis.rounding.groups import DISTANCES, DTYPES
from normviz.analysis.rounding.variance import FLAX, Estimate
from normviz.figures.charts import LIGHT, Lines, PlotlyTrace, axis, chart, dots, line
from normviz.figures.palette import by_meaning
from normviz.lessons import numerics_texts
from normviz.lessons.page import ControlRow, Page
from normviz.lessons.parts.containers import Beside, Details, Table
from normviz.lessons.parts.part import Chart, Part, Sentence, Text, texts
from normviz.scene.setting import choice, experiment, in_experiments, number, power_of_ten
from normviz.scene.view import View
from normviz.texts.messages import N_, _
from normviz.texts.numbers import format_number

# color, dash, symbol, width. E[x²] − E[x]² has the accent color, torch's layers the text color. Those not in COMPARED are faint.
COMPARED, FAINT = (numerics_texts.ONE_PASS, numerics_texts.TWO_PASSES), 0.35
STYLES: Mapping[str, tuple[str, str, str, float]] = {
    numerics_texts.ONE_PASS: ("accent", "solid", "circle", 3),
    FLAX: ("accent", "dot", "circle-open", 2),
    numerics_texts.TWO_PASSES: ("values.0", "solid", "circle", 3),
    numerics_texts.WELFORD: ("parameters.1", "solid", "square", 2),
    numerics_texts.SHIFTED: ("muted", "dash", "diamond", 2),
    "LayerNorm": ("text", "dash", "triangle-up-open", 1.5),
    "BatchNorm1d": ("text", "dot", "triangle-down-open", 1.5),
}
CURVES = (("accent", "solid"), ("values.0", "solid"), ("parameters.1", "dash"), ("muted", "solid"))
OUTCOMES: Mapping[str, tuple[str, str]] = {
    numerics_texts.EXACT: ("values.0", "circle"),
    numerics_texts.NOISE: ("accent", "diamond"),
    numerics_texts.SIGN: ("parameters.1", "square"),
    numerics_texts.RUNNING: ("text", "triangle-up"),
    numerics_texts.REFUSED: ("muted", "x"),
}
# Positions on logarithmic axes for values that such an axis cannot show: 0, NaN, infinity and refusals.
ZERO_ERROR, NAN_ERROR = 1e-18, 1e11
ZERO_SIZE, BROKEN_SIZE = 1e-12, 30.0
ZERO_DIFFERENCE, INFINITE_DIFFERENCE, REFUSED = 1e-11, 10**6.5, 1e9
GRAY = "rgba(128, 138, 155, 0.18)"
DOTTED = {"color": "rgba(128, 138, 155, 0.8)", "width": 1.5, "dash": "dot"}
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 12}}


def variance_errors(found: Sequence[Estimate], exponent: int) -> Lines:
    """Relative error by every method over the distance from zero, both logarithmic; 10^exponent is marked.

    If all numbers are equal, or infinite, there is no error: the range is gray, with the reason.
    """
    here = DISTANCES[exponent]
    mark: dict[str, Any] = {"dash": "dot", "width": 1.5, "showlegend": False, "hoverinfo": "skip"}
    traces = [line("", [here, here], [ZERO_ERROR, NAN_ERROR], "muted", **mark)]
    for method, style in STYLES.items():
        traces.append(_errors(method, [one for one in found if one.method == method and one.exact > 0], *style))
    broken = [one for one in found if one.method == numerics_texts.ONE_PASS and one.exact > 0 and one.is_nan]
    if broken:
        traces.append(_broken(broken))
    ticks = {ZERO_ERROR: "0", **_powers(range(-16, 9, 4)), NAN_ERROR: "NaN"}
    reasons = groupby([one for one in found if one.method == numerics_texts.ONE_PASS], _no_error)
    shaded = [_shade([place.distance for place in places], reason) for reason, places in reasons if reason]
    return chart(
        traces,
        _over_powers(_("distance from zero"), -0.35, 7.35),
        _logarithmic(_("relative error"), [-18.8, 12.2], ticks, zeroline=False),
        height=400,
        legend=LEGEND,
        hovermode="x unified",
        shapes=[shape for shape, _ in shaded],
        annotations=[note for _, note in shaded],
    )


def _errors(method: str, found: Sequence[Estimate], color: str, dash: str, symbol: str, width: float) -> PlotlyTrace:
    places = [NAN_ERROR if not isfinite(one.error) else max(one.error, ZERO_ERROR) for one in found]
    return line(
        numerics_texts.method_label(method).removeprefix("torch "),
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
    shape = _shape("rect", 10 ** (low - 0.4), 10 ** (high + 0.4), {"width": 0}) | {"fillcolor": GRAY, "layer": "below"}
    return shape, _note((low + high) / 2, 0.5, reason if high - low > 1.5 else reason.replace(" ", "<br>"))


def _shape(kind: str, x0: float, x1: float, drawn: dict[str, Any]) -> dict[str, Any]:
    """A shape as high as the chart."""
    return {"type": kind, "xref": "x", "yref": "paper", "x0": x0, "x1": x1, "y0": 0, "y1": 1, "line": drawn}


def _note(x: float, y: float, text: str, **more: Any) -> dict[str, Any]:
    """Text at 10^x; ``y`` is a fraction of the chart's height."""
    return {"x": x, "y": y, "yref": "paper", "text": text, "showarrow": False, **more}


def _powers(exponents: Iterable[int]) -> dict[float, str]:
    return {10.0**i: f"10<sup>{i}</sup>" for i in exponents}


def _logarithmic(title: str, between: Sequence[float], ticks: Mapping[float, str], **more: Any) -> dict[str, Any]:
    """An axis between two powers of ten; ``ticks`` are the labels by number."""
    named = {"tickvals": list(ticks), "ticktext": list(ticks.values())}
    return axis(title, type="log", range=list(between), **named, **more)


def _over_powers(title: str, low: float, high: float, every: int = 1, **more: Any) -> dict[str, Any]:
    """A logarithmic axis whose ticks are powers of ten."""
    exponents = (i for i in range(ceil(low), floor(high) + 1) if i % every == 0)
    return _logarithmic(title, [low, high], _powers(exponents), **more)


def output_sizes(curves: Mapping[str, Sequence[EpsPlacement]], found: Sequence[EpsOutcome], exponent: int) -> Lines:
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
        places = [max(each, ZERO_SIZE) if isfinite(each) else BROKEN_SIZE for each in sizes]
        marker = {"symbol": symbol, "line": {"width": 2}}
        hover = {"text": [format_number(each, 3) for each in sizes], "hovertemplate": "%{text}"}
        traces.append(dots(name, [var] * len(places), places, color, size=size, marker=marker, **hover))
    return chart(
        traces,
        _over_powers(_("variance"), -24.5, 6.5, 4),
        _logarithmic(
            _("size of the output"),
            [-12.5, 2],
            {ZERO_SIZE: "0", **_powers(range(-10, 1, 2)), BROKEN_SIZE: "NaN, ∞"},
            zeroline=False,
        ),
        height=390,
        legend=LEGEND,
        hovermode="closest",
    )


def differences_from_beta(found: Sequence[Degenerate]) -> Lines:
    """The largest difference of every layer's output from beta, by outcome."""
    names = numerics_texts.short_names(found)
    traces = []
    for key, (color, symbol) in OUTCOMES.items():
        here: list[tuple[Any, Degenerate]] = [
            (name, one) for name, one in zip(names, found, strict=True) if numerics_texts.outcome(one) == key
        ]
        if here:
            places, marker = [_position(one) for _, one in here], {"symbol": symbol}
            labels = [one.refusal or format_number(one.from_beta or 0.0, 3) for _, one in here]
            hover = {"text": labels, "hovertemplate": "%{text}"}
            traces.append(
                dots(
                    _(numerics_texts.LABELS[key]),
                    places,
                    [name for name, _ in here],
                    color,
                    size=11,
                    marker=marker,
                    **hover,
                )
            )
    ticks = {ZERO_DIFFERENCE: "0", **_powers(range(-8, 5, 4))}
    ticks |= {
        place: name
        for place, name in ((INFINITE_DIFFERENCE, "∞"), (REFUSED, _("refused")))
        if place in map(_position, found)
    }
    return chart(
        traces,
        _logarithmic(_("largest |output − beta|"), [-11.7, 9.9], ticks, tickangle=0),
        axis("", categoryorder="array", categoryarray=names, autorange="reversed", dtick=1, tickfont={"size": 12}),
        height=112 + 20 * len(names),
        legend=LEGEND,
        hovermode="closest",
    )


def _position(one: Degenerate) -> float:
    if one.from_beta is None:
        return REFUSED
    return max(one.from_beta, ZERO_DIFFERENCE) if isfinite(one.from_beta) else INFINITE_DIFFERENCE


def inside_and_outside(found: Sequence[EpsPlacement], eps: float) -> Lines:
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
        _over_powers(_("variance"), log10(var[0]), log10(var[-1]), 2, hoverformat=".2g"),
        axis(_("size of the output"), range=[-0.03, 1.08]),
        height=370,
        legend=LEGEND,
        shapes=[_shape("line", place, place, DOTTED) for place, *_ in places],
        annotations=[
            _note(log10(place), height, name, xanchor=side, xshift=shift) for place, name, side, height, shift in places
        ],
    )


# Numerics: what rounding does to a mean, a variance and an eps.


Settings = Mapping[str, Any]


def view_parts(view: View) -> Iterator[Part]:
    return parts(view.settings, view.scene.seed)


def parts(settings: Settings, seed: int = 0) -> Iterator[Part]:
    """The sentence and the figure of the experiment ``settings["show"]``."""
    return EXPERIMENTS[settings["show"]](settings, seed)


def _variance(settings: Settings, seed: int) -> Iterator[Part]:
    exponent = settings["distance"]
    found = numerics_texts.estimates(settings["dtype"], seed)
    yield Sentence(numerics_texts.variance_sentence(found, exponent))
    alt = _("Relative error of the variance by each method, over the distance from zero.")
    chart = Chart("errors_chart", variance_errors(found, exponent), alt)
    yield Beside(
        (chart,), (Table(numerics_texts.VARIANCE_COLUMNS, numerics_texts.variance_rows(found, exponent)),), (5, 4)
    )
    yield from texts(numerics_texts.variance_texts(found, exponent))
    yield Details(_("The methods"), (Text(numerics_texts.methods_text()),))


def _eps(settings: Settings, seed: int) -> Iterator[Part]:
    exponent = settings["spread"]
    found = numerics_texts.of_dtype(numerics_texts.eps_outcomes(exponent, seed), settings["dtype"])
    yield Sentence(numerics_texts.eps_sentence(found, exponent))
    sizes = output_sizes(numerics_texts.size_curves(found), found, exponent)
    chart = Chart("sizes_chart", sizes, _("Size of the output over the variance, for four values of eps."))
    table = Table(numerics_texts.eps_columns(settings["dtype"]), numerics_texts.eps_rows(found), "eps", transposed=True)
    yield Beside((chart,), (table,), (5, 4))
    yield from texts(numerics_texts.eps_texts(found, exponent, seed))


def _constant(settings: Settings, seed: int) -> Iterator[Part]:
    found = numerics_texts.constant(settings["value"], settings["dtype"])
    yield Sentence(numerics_texts.constant_sentence(found))
    yield from _zero_variance(found)


def _single(settings: Settings, seed: int) -> Iterator[Part]:
    found = numerics_texts.single(settings["scale"], settings["dtype"], seed)
    yield Sentence(numerics_texts.single_sentence(found))
    yield from _zero_variance(found)


def _zero_variance(found: tuple[Degenerate, ...]) -> Iterator[Part]:
    alt = _("Largest difference of each layer's output from beta.")
    yield Chart("gaps_chart", differences_from_beta(found), alt)
    yield from texts(numerics_texts.zero_variance_texts(found))
    yield Table(numerics_texts.ZERO_VARIANCE_COLUMNS, numerics_texts.zero_variance_rows(found))


def _placement(settings: Settings, seed: int) -> Iterator[Part]:
    value = settings["eps"]
    found = numerics_texts.placements(value)
    yield Sentence(numerics_texts.placement_sentence(value, found))
    alt = _("Size of the output over the variance, with eps inside and outside the square root.")
    yield Chart("placement_chart", inside_and_outside(found, value), alt)
    yield from texts(numerics_texts.placement_texts(value))


EXPERIMENTS: dict[str, Callable[[Settings, int], Iterator[Part]]] = {
    "variance": _variance,
    "eps": _eps,
    "constant": _constant,
    "single": _single,
    "placement": _placement,
}


LARGEST_CONSTANT, LARGEST_SCALE = 65_504, 10_000  # float16 can represent every such x
SMALLEST_EPS = 1e-12
SETTINGS = (
    experiment(
        {
            "variance": N_("Four ways to compute a variance"),
            "eps": N_("How small may eps be?"),
            "constant": N_("A constant x"),
            "single": N_("Groups of one"),
            "placement": N_("eps inside or outside"),
        },
        "eps",
    ),
    choice(
        "dtype", {name: name for name in DTYPES}, "float32", label=N_("dtype of x"), example="float16", applies=in_experiments("variance", "eps", "constant", "single"),
    ),
    power_of_ten("distance", 0, len(DISTANCES) - 1, 6, label=N_("distance from zero"), about=N_("how far x is from zero, a power of ten"), example="1e5", applies=in_experiments("variance")),
    power_of_ten("spread", -12, 3, -4, label=N_("spread"), about=N_("the standard deviation of x, a power of ten"), example="1e-3", applies=in_experiments("eps"), in_file=(-12, -8, -4, 0)),
    number("value", -LARGEST_CONSTANT, LARGEST_CONSTANT, 1234.567, width=300, label=N_("every element of x"), about=N_("every element of x"), example="0.1", applies=in_experiments("constant"), in_file=("0", "1", "1234.567")),
    number("scale", 0, LARGEST_SCALE, 1000, width=300, label=N_("standard deviation of x"), about=N_("the standard deviation of x"), example="100", applies=in_experiments("single"), in_file=("1", "1000")),
    number("eps", SMALLEST_EPS, 1, 1e-5, width=300, label="eps", about=N_("the eps that is compared inside and outside the square root"), example="0.001", applies=in_experiments("placement"), in_file=("1e-12", "1e-05", "0.001")),
)  # fmt: skip
ROWS = (ControlRow("", (SETTINGS[:1],)), ControlRow("controls", (SETTINGS[1:],), "medium"))
PAGE = Page(
    "numerics",
    N_("Numerics"),
    N_("What rounding does to a mean, a variance and eps."),
    view_parts,
    SETTINGS,
    rows=lambda _view: ROWS,
    uses="scene",
    whole_in_answer=True,
    file_choices=(("show", "dtype", "set_distance", "set_spread", "set_value", "set_scale", "set_eps"),),
)
