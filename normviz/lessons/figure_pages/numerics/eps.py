"""How small eps may be, and eps inside or outside the square root: the texts and rows of both experiments. Numbers are in ``**``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import floor, isfinite, log2

from normviz.analysis.number_format import format_number
from normviz.analysis.rounding.eps import EpsOutcome, EpsPlacement, eps_placement, eps_table, no_eps
from normviz.analysis.rounding.groups import TORCH_LAYERS
from normviz.layers.errors import listed
from normviz.layers.messages import N_, _, join_sentences, ngettext
from normviz.lessons.figure_pages.numerics.numbers import SIZE, as_code
from normviz.lessons.parts.table import Column, Row
from normviz.scene.settings.kinds import power

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
