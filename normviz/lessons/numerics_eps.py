"""How small eps may be, and eps inside or outside the square root: the sentences, the charts, the table and the texts. Numbers are in ``**``."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from math import floor, isfinite, log2, log10
from typing import Any

from normviz.analysis.rounding.eps import EpsOutcome, EpsPlacement, eps_placement, eps_table, no_eps
from normviz.analysis.rounding.groups import SIZE, TORCH_LAYERS
from normviz.figures.charts import Lines, axis, chart, dots, line
from normviz.lessons.numerics_axes import LEGEND, logarithmic, note, over_powers, powers, shape
from normviz.lessons.parts.containers import Beside, Table
from normviz.lessons.parts.part import Chart, Part, Sentence, Text
from normviz.scene.setting import power
from normviz.texts.errors import listed
from normviz.texts.messages import _, format_number, join_sentences, ngettext

Settings = Mapping[str, Any]

PER_DECADE = 8  # variances on a curve
CURVES = (("accent", "solid"), ("values.0", "solid"), ("parameters.1", "dash"), ("muted", "solid"))
# Positions on a logarithmic axis of the sizes that it cannot show.
ZERO_SIZE, BROKEN_SIZE = 1e-12, 30.0
DOTTED = {"color": "rgba(128, 138, 155, 0.8)", "width": 1.5, "dash": "dot"}


def eps_parts(settings: Settings, seed: int) -> Iterator[Part]:
    exponent = settings["spread"]
    found = of_dtype(eps_outcomes(exponent, seed), settings["dtype"])
    yield Sentence(eps_sentence(found, exponent))
    sizes = output_sizes(size_curves(found), found, exponent)
    chart = Chart("sizes_chart", sizes, _("Size of the output over the variance, for four values of eps."))
    yield Beside((chart,), (size_table(found),), (5, 4))
    yield from map(Text, eps_texts(found, exponent, seed))


def placement_parts(settings: Settings, seed: int) -> Iterator[Part]:
    value = settings["eps"]
    found = placements(value)
    yield Sentence(placement_sentence(value, found))
    alt = _("Size of the output over the variance, with eps inside and outside the square root.")
    yield Chart("placement_chart", inside_and_outside(found, value), alt)
    yield from map(Text, placement_texts(value))


def as_code(eps: float) -> str:
    """eps as a program writes it.

    >>> as_code(0.001), as_code(2.5e-12), as_code(1.0)
    ('1e-3', '2.5e-12', '1')
    """
    mantissa, _e, exponent = f"{eps:e}".partition("e")
    return f"{float(mantissa):g}" + (f"e{int(exponent)}" if int(exponent) else "")


# How small eps may be.


@lru_cache(maxsize=32)
def eps_outcomes(exponent: int, seed: int = 0) -> tuple[EpsOutcome, ...]:
    """A group with standard deviation 10^exponent, with every eps, in every dtype."""
    return eps_table(10.0**exponent, seed)


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


def size_table(found: Sequence[EpsOutcome]) -> Table:
    """The size of the output with each eps. ``found`` has one dtype."""
    dtype = found[0].dtype
    heads = (
        "eps",
        _("stored in {dtype} as", dtype=dtype),
        _("size by the formula"),
        _("by hand in {dtype}", dtype=dtype),
        *(f"torch {name}" for name in TORCH_LAYERS),
    )
    numbers = ((one.rounded, one.exact, one.by_hand, *one.by_torch.values()) for one in found)
    rows = (
        (as_code(one.eps), *(format_number(number, 3) for number in each))
        for one, each in zip(found, numbers, strict=True)
    )
    return Table(heads, tuple(rows), code=(0,), transposed=True)


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
    none = no_eps(dtype, 10.0**exponent, seed)
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


# eps inside or outside the square root.


def placements(eps: float) -> tuple[EpsPlacement, ...]:
    """eps inside and outside the square root, for variances from far below eps² to far above eps."""
    low, high = eps**2 * 1e-3, eps * 1e3
    count = floor(PER_DECADE * log2(high / low) / log2(10)) + 1
    return eps_placement(eps, [low * 10.0 ** (i / PER_DECADE) for i in range(count)])


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
        over_powers(_("variance"), log10(var[0]), log10(var[-1]), 2, hoverformat=".2g"),
        axis(_("size of the output"), range=[-0.03, 1.08]),
        height=370,
        legend=LEGEND,
        shapes=[shape("line", place, place, DOTTED) for place, *_ in places],
        annotations=[
            note(log10(place), height, name, xanchor=side, xshift=shift) for place, name, side, height, shift in places
        ],
    )
