"""Groups with zero variance, a constant x and groups of one element: the texts and rows of both experiments. Numbers are in ``**``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import floor, log2

import torch

from normviz.analysis.forward import COMPUTES_IN
from normviz.analysis.number_format import format_number
from normviz.analysis.rounding.degenerate import BETA, GAMMA, Degenerate, constant_groups, single_elements
from normviz.layers.axes import parse_layout
from normviz.layers.errors import listed
from normviz.layers.layer import Layer
from normviz.layers.messages import N_, _, english, join_sentences, ngettext
from normviz.layers.norm import Norm
from normviz.lessons.parts.table import Column, Row

MOST_VALUES = 4  # different outputs that a cell lists
EXACT, NOISE, SIGN, RUNNING, REFUSED = "exact", "noise", "sign", "running", "refused"
LABELS = {
    EXACT: N_("beta"),
    NOISE: N_("beta and noise"),
    SIGN: N_("no mean subtracted"),
    RUNNING: N_("running statistics"),
    REFUSED: N_("torch refuses"),
}
COLUMNS = (
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


def rows(found: Sequence[Degenerate]) -> tuple[Row, ...]:
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


def descriptions(found: Sequence[Degenerate]) -> Iterator[str]:
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
