"""Groups with zero variance, a constant x and groups of one element: the sentences, the chart, the table and the texts. Numbers are in ``**``."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import floor, isfinite, log2
from typing import Any

import torch

from normviz.analysis.forward import COMPUTES_IN
from normviz.analysis.rounding.degenerate import BETA, GAMMA, Degenerate, constant_groups, single_elements
from normviz.figures.charts import Lines, axis, chart, dots
from normviz.layers.axes import parse_layout
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons.numerics_axes import LEGEND, logarithmic, powers
from normviz.lessons.parts.containers import Table
from normviz.lessons.parts.part import Chart, Part, Sentence, Text
from normviz.texts.errors import listed
from normviz.texts.messages import N_, _, english, format_number, join_sentences, ngettext

Settings = Mapping[str, Any]

MOST_VALUES = 4  # different outputs that a cell lists
EXACT, NOISE, SIGN, RUNNING, REFUSED = "exact", "noise", "sign", "running", "refused"
LABELS = {
    EXACT: N_("beta"),
    NOISE: N_("beta and noise"),
    SIGN: N_("no mean subtracted"),
    RUNNING: N_("running statistics"),
    REFUSED: N_("torch refuses"),
}
OUTCOMES: Mapping[str, tuple[str, str]] = {
    EXACT: ("values.0", "circle"),
    NOISE: ("accent", "diamond"),
    SIGN: ("parameters.1", "square"),
    RUNNING: ("text", "triangle-up"),
    REFUSED: ("muted", "x"),
}
# Positions on a logarithmic axis of what it cannot show: 0, infinity, and that torch refuses x.
ZERO_DIFFERENCE, INFINITE_DIFFERENCE, NO_DIFFERENCE = 1e-11, 10**6.5, 1e9


def constant_parts(settings: Settings, seed: int) -> Iterator[Part]:
    found = constant(settings["value"], settings["dtype"])
    yield Sentence(constant_sentence(found))
    yield from _zero_variance(found)


def single_parts(settings: Settings, seed: int) -> Iterator[Part]:
    found = single(settings["scale"], settings["dtype"], seed)
    yield Sentence(single_sentence(found))
    yield from _zero_variance(found)


def _zero_variance(found: tuple[Degenerate, ...]) -> Iterator[Part]:
    alt = _("Largest difference of each layer's output from beta.")
    yield Chart("gaps_chart", differences_from_beta(found), alt)
    yield from map(Text, zero_variance_texts(found))
    yield zero_variance_table(found)


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


def zero_variance_table(found: Sequence[Degenerate]) -> Table:
    """The output of each layer, or torch's own error message."""
    rows = (
        (one.layer, str(one.shape), _("torch refuses: “{refusal}”", refusal=english(one.refusal)), "")
        if one.refusal
        else (one.layer, str(one.shape), _values(one), _(LABELS[outcome(one)]))
        for one in found
    )
    return Table((_("layer"), _("shape of x"), _("output"), _("outcome")), tuple(rows), code=(0,))


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


# The chart.


def differences_from_beta(found: Sequence[Degenerate]) -> Lines:
    """The largest difference of every layer's output from beta, by outcome."""
    names = short_names(found)
    traces = []
    for key, (color, symbol) in OUTCOMES.items():
        here: list[tuple[Any, Degenerate]] = [
            (name, one) for name, one in zip(names, found, strict=True) if outcome(one) == key
        ]
        if here:
            places, marker = [_position(one) for _, one in here], {"symbol": symbol}
            labels = [one.refusal or format_number(one.from_beta or 0.0, 3) for _, one in here]
            hover = {"text": labels, "hovertemplate": "%{text}"}
            traces.append(
                dots(_(LABELS[key]), places, [name for name, _ in here], color, size=11, marker=marker, **hover)
            )
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


def _position(one: Degenerate) -> float:
    if one.from_beta is None:
        return NO_DIFFERENCE
    return max(one.from_beta, ZERO_DIFFERENCE) if isfinite(one.from_beta) else INFINITE_DIFFERENCE
