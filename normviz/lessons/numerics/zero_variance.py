"""Groups without spread - a constant x, and groups of one element - in words: sentences, lines and rows. Numbers stand in ``**``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from normviz.analysis.number_format import format_number
from normviz.analysis.rounding.degenerate import BETA, GAMMA, Degenerate, constant_groups, single_elements
from normviz.layers.axes import parse_layout
from normviz.layers.errors import listed
from normviz.layers.layer import Layer
from normviz.layers.messages import N_
from normviz.layers.norm import Norm
from normviz.lessons.numerics.numbers import as_code
from normviz.lessons.parts.table import Column

LARGEST_CONSTANT, LARGEST_SCALE = 65_504, 10_000  # so that float16 holds every x
EXACT, NOISE, SIGN, RUNNING, REFUSED = "beta", "beta and noise", "no mean taken", "running statistics", "torch refuses"
KINDS = (EXACT, NOISE, SIGN, RUNNING, REFUSED)


@lru_cache(maxsize=32)
def constant(value: float, dtype: str) -> tuple[Degenerate, ...]:
    """Every layer on an x of equal numbers."""
    return constant_groups(value, dtype)


@lru_cache(maxsize=32)
def single(scale: float, dtype: str, seed: int = 0) -> tuple[Degenerate, ...]:
    """Every layer on groups of one element."""
    return single_elements(scale, dtype, seed)


def kind(one: Degenerate) -> str:
    """What came out: one of ``KINDS``."""
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


def labels(found: Sequence[Degenerate]) -> list[str]:
    """Each layer's short name; with x's shape where a name stands twice."""
    names = [f"{one.layer.partition('(')[0]}{'.eval()' if one.layer.endswith('.eval()') else ''}" for one in found]
    return [f"{name}, x {one.shape}" if names.count(name) > 1 else name for name, one in zip(names, found, strict=True)]


def constant_sentence(found: Sequence[Degenerate]) -> str:
    """How many give beta, and who does not."""
    return (
        f"Every element of x is **{format_number(float(found[0].x.flatten()[0]), 7)}**, its own mean. {_tally(found)}"
    )


def single_sentence(found: Sequence[Degenerate]) -> str:
    """Who refuses, and what comes out of the others."""
    refused = sum(kind(one) == REFUSED for one in found)
    return f"The only element of a group is its own mean, whatever it is. Of **{len(found)}** cases torch refuses **{refused}**; {_tally(found)}"


def _tally(found: Sequence[Degenerate]) -> str:
    groups = {name: [one for one in found if kind(one) == name] for name in KINDS}
    exact = len(groups[EXACT])
    told = f"**{exact}** layer{' gives' if exact == 1 else 's give'} exactly beta"
    if groups[NOISE]:
        told += (
            f", **{len(groups[NOISE])}** more, beta with noise of up to **{format_number(_largest(groups[NOISE]), 3)}**"
        )
    if groups[SIGN]:
        told += f"; RMSNorm, which subtracts no mean, gives **{_values(groups[SIGN][0])}**"
    return f"{told}."


def _largest(found: Sequence[Degenerate]) -> float:
    return max(one.from_beta or 0.0 for one in found)


COLUMNS = (
    Column("layer", N_("layer"), code=True),
    Column("shape", N_("shape of x")),
    Column("output", N_("output")),
    Column("outcome", N_("outcome")),
)


def degenerate_rows(found: Sequence[Degenerate]) -> list[dict[str, object]]:
    """Each layer: what came out, or torch's words."""
    return [
        {
            "layer": one.layer,
            "shape": str(one.shape),
            "output": f"torch refuses: “{one.refusal}”" if one.refusal else f"{_values(one)}",
            "outcome": "" if one.refusal else kind(one),
        }
        for one in found
    ]


def _values(one: Degenerate) -> str:
    assert one.output is not None
    values = list(dict.fromkeys(format_number(value) for value in one.output.flatten().tolist()))
    return listed(values, "or") if len(values) <= 4 else ", ".join([*values[:4], "…"])


def degenerate_lines(found: Sequence[Degenerate]) -> Iterator[str]:
    """What gamma and beta are here, and why there is noise."""
    yield (
        f"Where a layer has them, gamma is **{format_number(GAMMA)}** and beta **{format_number(BETA)}**, to be told apart; without, beta is 0. "
        f"Running statistics are fresh: mean 0, variance 1."
    )
    if any(kind(one) == NOISE for one in found):
        eps = _norm(found[0]).eps
        assert eps
        yield (
            f"Why noise: a mean is rounded, and what is left of x − mean is divided by √(0 + eps): **{format_number(eps**-0.5, 3)}** times as "
            f"much, for an eps of {as_code(eps)}."
        )
    if any(kind(one) == SIGN for one in found):
        yield "RMSNorm divides x by its own size, so that of any x only the sign is left, times gamma, as long as eps is far below x²."
    ours = [one.layer.partition("(")[0] for one in found if not one.in_torch]
    yield f"All outputs are torch's own, but those of {listed(ours, 'and')}: torch has no such layers."
