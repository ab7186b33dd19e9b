"""Charts of rounding: errors of a variance, what eps leaves of an output, and groups without spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import ceil, floor, isfinite, isnan, log10
from typing import Any

import plotly.graph_objects as go

from normviz.figures.lines import chart, dots, line
from normviz.lessons import numbers, spreadless
from normviz.rounding import DISTANCES, FLAX, Degenerate, EpsOutcome, Estimate, Placement

# colour, dash, symbol, width. E[x²] − E[x]² has the accent, torch's layers the colour of text.
STYLES: Mapping[str, tuple[str, str, str, float]] = {
    numbers.ONE_PASS: ("accent", "solid", "circle", 3),
    FLAX: ("accent", "dot", "circle-open", 2),
    numbers.TWO_PASSES: ("values.0", "solid", "circle", 2),
    numbers.WELFORD: ("parameters.1", "solid", "square", 2),
    numbers.SHIFTED: ("muted", "dash", "diamond", 2),
    "LayerNorm": ("text", "dash", "triangle-up-open", 1.5),
    "BatchNorm1d": ("text", "dot", "triangle-down-open", 1.5),
}
CURVES = (("accent", "solid"), ("values.0", "solid"), ("parameters.1", "dash"), ("muted", "solid"))
OUTCOMES: Mapping[str, tuple[str, str]] = {
    spreadless.EXACT: ("values.0", "circle"),
    spreadless.NOISE: ("accent", "diamond"),
    spreadless.SIGN: ("parameters.1", "square"),
    spreadless.RUNNING: ("text", "triangle-up"),
    spreadless.REFUSED: ("muted", "x"),
}
NO_ERROR, NOT_A_NUMBER = 1e-18, 1e11  # where 0 and NaN stand on the axis of errors
NOTHING, BROKEN = 1e-12, 30.0  # where 0, and where NaN and infinity stand on the axis of sizes
NO_GAP, INFINITE, REFUSED = 1e-11, 10**6.5, 1e9  # where 0, infinity and a refusal stand on the axis of gaps
GREY = "rgba(128, 138, 155, 0.18)"
LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 12}}


def variance_errors(found: Sequence[Estimate], exponent: int) -> go.Figure:
    """Relative error of every way over the distance from zero, both logarithmic; 10^exponent is marked.

    Where all numbers are one, or infinite, there is no error to draw: grey, with the reason.
    """
    here = DISTANCES[exponent]
    mark = line("", [here, here], [NO_ERROR, NOT_A_NUMBER], "muted", dash="dot", width=1.5)
    traces = [mark.update(showlegend=False, hoverinfo="skip")]
    for method, style in STYLES.items():
        traces.append(_errors(method, [one for one in found if one.method == method and one.exact > 0], *style))
    broken = [one for one in found if one.method == numbers.ONE_PASS and one.exact > 0 and one.is_nan]
    if broken:
        traces.append(_broken(broken))
    figure = chart(traces, "distance from zero", "relative error", height=400, legend=LEGEND, hovermode="x unified")
    _powers(figure, -0.35, 7.35)
    ticks = {NO_ERROR: "0", **{10.0**i: f"10<sup>{i}</sup>" for i in range(-16, 9, 4)}, NOT_A_NUMBER: "NaN"}
    figure.update_yaxes(
        type="log", range=[-18.8, 12.2], tickvals=list(ticks), ticktext=[*ticks.values()], zeroline=False
    )
    for reason, places in groupby([one for one in found if one.method == numbers.ONE_PASS], _why_not_drawn):
        if reason:
            _shade(figure, [place.distance for place in places], reason)
    return figure


def _errors(method: str, found: Sequence[Estimate], colour: str, dash: str, symbol: str, width: float) -> go.Scatter:
    places = [NOT_A_NUMBER if not isfinite(one.error) else max(one.error, NO_ERROR) for one in found]
    trace = line(
        numbers.way(method).removeprefix("torch "),
        [one.distance for one in found],
        places,
        colour,
        dash=dash,
        width=width,
    )
    return trace.update(
        mode="lines+markers",
        marker={"color": trace.line.color, "symbol": symbol, "size": 4 + 2 * width},
        text=[numbers.shown(one.error, 2) for one in found],
        hovertemplate="%{text}",
    )


def _broken(found: Sequence[Estimate]) -> go.Scatter:
    """Where E[x²] − E[x]² makes NaN, with the variance that does."""
    places = [one.error if isfinite(one.error) else NOT_A_NUMBER for one in found]
    trace = dots("NaN comes out", [one.distance for one in found], places, "accent", size=17)
    trace.marker.update(symbol="circle-x-open", line={"width": 2})
    return trace.update(
        mode="markers+text",
        text=[f"{numbers.shown(one.var)} " for one in found],
        textposition=["middle left"] * (len(found) - 1) + ["top left"],
        textfont={"size": 13},
        hovertemplate="variance %{text}",
    )


def _why_not_drawn(one: Estimate) -> str:
    if isnan(one.exact):
        return "x is infinite"
    return "" if one.exact else "all numbers round to one"


def _shade(figure: go.Figure, distances: Sequence[float], reason: str) -> None:
    low, high = (log10(distance) for distance in (distances[0], distances[-1]))
    figure.add_shape(
        type="rect", xref="x", yref="paper", x0=10 ** (low - 0.4), x1=10 ** (high + 0.4), y0=0, y1=1, line_width=0
    )
    figure.layout.shapes[-1].update(fillcolor=GREY, layer="below")
    text = reason if high - low > 1.5 else reason.replace(" ", "<br>")
    figure.add_annotation(x=(low + high) / 2, y=0.5, yref="paper", text=text, showarrow=False)


def _powers(figure: go.Figure, low: float, high: float, every: int = 1) -> None:
    """A logarithmic x axis with powers of ten under it."""
    ticks = {10.0**i: f"10<sup>{i}</sup>" for i in range(ceil(low), floor(high) + 1) if i % every == 0}
    figure.update_xaxes(type="log", range=[low, high], tickvals=list(ticks), ticktext=[*ticks.values()])


def output_sizes(curves: Mapping[str, Sequence[Placement]], found: Sequence[EpsOutcome], exponent: int) -> go.Figure:
    """The size of the output over the variance, a curve for every eps; at the variance of the group, by hand and by torch's layers."""
    var = 10.0 ** (2 * exponent)
    traces = [
        line(f"eps={eps}", [one.var for one in points], [one.inside for one in points], colour, dash=dash).update(
            hovertemplate="%{y:.2g}"
        )
        for (eps, points), (colour, dash) in zip(curves.items(), CURVES, strict=True)
    ]
    hands = {"by hand": ([one.by_hand for one in found], "accent", "x-thin-open", 9)}
    for name, symbol in (("LayerNorm", "circle-open"), ("BatchNorm1d", "square-open")):
        hands[name] = ([one.own[name] for one in found], "text", symbol, 13)
    for name, (sizes, colour, symbol, size) in hands.items():
        places = [max(each, NOTHING) if isfinite(each) else BROKEN for each in sizes]
        trace = dots(name, [var] * len(places), places, colour, size=size)
        trace.marker.update(symbol=symbol, line={"width": 2})
        traces.append(trace.update(text=[numbers.shown(each, 3) for each in sizes], hovertemplate="%{text}"))
    figure = chart(traces, "variance", "size of the output", height=390, legend=LEGEND, hovermode="closest")
    _powers(figure, -24.5, 6.5, 4)
    ticks = {NOTHING: "0", **{10.0**i: f"10<sup>{i}</sup>" for i in range(-10, 1, 2)}, BROKEN: "NaN, ∞"}
    figure.update_yaxes(type="log", range=[-12.5, 2], tickvals=list(ticks), ticktext=[*ticks.values()], zeroline=False)
    return figure


def gaps_to_beta(found: Sequence[Degenerate]) -> go.Figure:
    """How far every layer's output is from beta, by what it is."""
    names = spreadless.labels(found)
    traces = []
    for kind, (colour, symbol) in OUTCOMES.items():
        here: list[tuple[Any, Degenerate]] = [
            (name, one) for name, one in zip(names, found, strict=True) if spreadless.kind(one) == kind
        ]
        if here:
            trace = dots(kind, [_place(one) for _, one in here], [name for name, _ in here], colour, size=11)
            trace.marker.symbol = symbol
            said = [one.refusal or numbers.shown(one.from_beta or 0.0, 3) for _, one in here]
            traces.append(trace.update(text=said, hovertemplate="%{text}"))
    figure = chart(traces, "largest |output − beta|", "", height=112 + 20 * len(names), legend=LEGEND)
    ticks = {NO_GAP: "0", **{10.0**i: f"10<sup>{i}</sup>" for i in range(-8, 5, 4)}}
    ticks |= {place: name for place, name in ((INFINITE, "∞"), (REFUSED, "refused")) if place in map(_place, found)}
    figure.update_xaxes(type="log", range=[-11.7, 9.9], tickvals=list(ticks), ticktext=[*ticks.values()], tickangle=0)
    figure.update_yaxes(
        categoryorder="array", categoryarray=names, autorange="reversed", dtick=1, tickfont={"size": 12}
    )
    return figure.update_layout(hovermode="closest")


def _place(one: Degenerate) -> float:
    if one.from_beta is None:
        return REFUSED
    return max(one.from_beta, NO_GAP) if isfinite(one.from_beta) else INFINITE


def inside_and_outside(found: Sequence[Placement], eps: float) -> go.Figure:
    """The size of the output with eps in either place, over the variance."""
    var = [one.var for one in found]
    traces = [
        line("inside: √(var + eps)", var, [one.inside for one in found], "accent", width=3),
        line("outside: √var + eps", var, [one.outside for one in found], "values.0", width=3),
    ]
    for trace in traces:
        trace.update(hovertemplate="%{y:.2g}")
    figure = chart(traces, "variance", "size of the output", height=370, legend=LEGEND)
    figure.update_xaxes(hoverformat=".2g")
    for place, name, side, height in ((eps, "var = eps", "left", 0.25), (eps**2, "var = eps²", "right", 0.75)):
        figure.add_shape(type="line", xref="x", yref="paper", x0=place, x1=place, y0=0, y1=1)
        figure.layout.shapes[-1].update(line={"color": "rgba(128, 138, 155, 0.8)", "width": 1.5, "dash": "dot"})
        shift = 4 if side == "left" else -4
        figure.add_annotation(
            x=log10(place), y=height, yref="paper", text=name, showarrow=False, xanchor=side, xshift=shift
        )
    _powers(figure, log10(var[0]), log10(var[-1]), 2)
    figure.update_yaxes(range=[-0.03, 1.08])
    return figure
