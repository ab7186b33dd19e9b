"""What the experiments of "Numerics" say, with their numbers: sentences, lines and rows. Numbers stand in ``**``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import floor, isfinite, isnan, log2

from normviz.analysis.number_format import format_number
from normviz.analysis.rounding.eps import EpsOutcome, EpsPlacement, eps_placement, eps_table, no_eps
from normviz.analysis.rounding.groups import DISTANCES, TORCH_LAYERS
from normviz.analysis.rounding.variance import METHOD_LABELS, METHODS, Estimate, sweep
from normviz.layers.errors import listed
from normviz.layers.messages import N_, _
from normviz.lessons.parts.table import Column

SIZE = 256  # numbers in a group
ONE_PASS, TWO_PASSES, WELFORD, SHIFTED = METHODS
FORMULA = METHOD_LABELS[ONE_PASS]
PER_DECADE = 8  # variances on a curve
SMALLEST_EPS = 1e-12


def power(exponent: int) -> str:
    """
    >>> power(-12)
    '10⁻¹²'
    """
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def as_code(eps: float) -> str:
    """
    >>> as_code(0.001), as_code(2.5e-12), as_code(1.0)
    ('1e-3', '2.5e-12', '1')
    """
    mantissa, _, exponent = f"{eps:e}".partition("e")
    return f"{float(mantissa):g}" + (f"e{int(exponent)}" if int(exponent) else "")


def method_label(method: str) -> str:
    """A way of computing a variance, as a page names it."""
    return _(METHOD_LABELS[method]) if method in METHOD_LABELS else f"torch {method}"


# Four ways to a variance


@lru_cache(maxsize=32)
def variances(dtype: str, seed: int = 0) -> tuple[Estimate, ...]:
    """Every way of computing a variance, at every distance from zero, in one type."""
    return sweep(dtype, size=SIZE, seed=seed)


def at(found: Sequence[Estimate], exponent: int) -> dict[str, Estimate]:
    """What every way gives at a distance of 10^exponent."""
    return {one.method: one for one in found if one.distance == DISTANCES[exponent]}


def variance_sentence(found: Sequence[Estimate], exponent: int) -> str:
    """What E[x²] − E[x]² gives there, and how often it fails over all distances."""
    here = at(found, exponent)
    one, dtype = here[ONE_PASS], here[ONE_PASS].dtype
    finite = [each for each in found if each.method == ONE_PASS and isfinite(each.exact)]
    if isnan(one.exact):
        first = f"**{power(exponent)}** is beyond `{dtype}`: x is infinite, and every output NaN."
    elif one.exact == 0:
        first = f"At **{power(exponent)}** `{dtype}` rounds all **{SIZE}** numbers to one: their spread is lost before any layer sees it."
    else:
        first = (
            f"At **{power(exponent)}** in `{dtype}`, {FORMULA} gives a variance of **{format_number(one.var)}**, two passes "
            f"**{format_number(here[TWO_PASSES].var)}**; exact is **{format_number(one.exact)}**."
        )
    where = f"the **{len(finite)}** distances" + ("" if len(finite) == len(DISTANCES) else f" that `{dtype}` can hold")
    negative, broken = sum(each.negative for each in finite), sum(each.is_nan for each in finite)
    subject = "it" if one.exact > 0 else FORMULA
    return f"{first} At {where} {subject} is below zero {_times(negative)}, and its output NaN {_times(broken)}."


def _times(count: int) -> str:
    return f"**{count}** time{'' if count == 1 else 's'}"


VARIANCE_COLUMNS = (
    Column("method", N_("method")),
    Column("variance", N_("variance")),
    Column("error", N_("relative error")),
    Column("negative", "< 0"),
    Column("nan", N_("output NaN")),
)


def variance_rows(found: Sequence[Estimate], exponent: int) -> list[dict[str, object]]:
    """Each way at that distance."""
    return [
        {
            "method": method_label(one.method),
            "variance": None if _hidden(one) else format_number(one.var),
            "error": None if _hidden(one) else format_number(one.error, 2),
            "negative": one.negative,
            "nan": one.is_nan,
        }
        for one in at(found, exponent).values()
    ]


def _hidden(one: Estimate) -> bool:
    """Is there an output, and no variance to be read back from it, as all of x is one number?"""
    return one.method in TORCH_LAYERS and isnan(one.var) and not one.is_nan


def variance_lines(found: Sequence[Estimate], exponent: int) -> Iterator[str]:
    """What is compared, and why one pass fails there."""
    here = at(found, exponent)
    yield (
        f"Each way gets the same **{SIZE}** numbers: noise of standard deviation 1 around that distance. *Relative error* is |variance − exact| / exact, "
        "the exact one in whole-number fractions. *NaN*, “not a number”, is what the root of a negative number gives, or ∞ − ∞."
    )
    why = _why(here[ONE_PASS], here[ONE_PASS].dtype, exponent)
    if why:
        yield why
    yield (
        "torch's layers keep their variance to themselves: it is read back from the range of their output, no finer than that output is rounded."
    )


def _why(one: Estimate, dtype: str, exponent: int) -> str:
    if isnan(one.exact):
        return ""
    if one.exact == 0:
        return (
            f"Near {power(exponent)}, `{dtype}` numbers are **{format_number(_step(dtype, one.distance))}** apart, and the noise is of "
            "standard deviation 1."
        )
    if not isfinite(one.var):
        return f"x² is about {power(2 * exponent)}, which `{dtype}` cannot hold: ∞ − ∞ is NaN."
    return (
        f"Near x² = {power(2 * exponent)}, `{dtype}` numbers are **{format_number(_step(dtype, one.distance**2))}** apart, and {FORMULA} is the "
        "difference of two such numbers."
    )


def _step(dtype: str, value: float) -> float:
    """How far the type's numbers are apart there."""
    return float(no_eps(dtype).own_eps * 2.0 ** floor(log2(value)))


WAYS = (
    f"- *{FORMULA}*: the mean of the squares less the square of the mean. One pass over the data is enough.",
    "- *Two passes*: the mean first, then the mean of (x − mean)².",
    "- *Welford*: mean and sum of squares brought up to date number by number.",
    f"- *Shifted data*: {FORMULA} after the first number was subtracted from all.",
    f"- *Flax's default* (`use_fast_variance=True`): {FORMULA} in float32 or wider, and 0 where that is negative.",
)


# How small may eps be?


@lru_cache(maxsize=32)
def eps_outcomes(exponent: int, seed: int = 0) -> tuple[EpsOutcome, ...]:
    """A group of spread 10^exponent with every eps, in every type."""
    return eps_table(10.0**exponent, SIZE, seed)


def of_dtype(found: Sequence[EpsOutcome], dtype: str) -> list[EpsOutcome]:
    """Those of one type."""
    return [one for one in found if one.dtype == dtype]


def size_curves(found: Sequence[EpsOutcome]) -> dict[str, tuple[EpsPlacement, ...]]:
    """The size of the output over the variance, for every eps."""
    grid = [10.0 ** (i / PER_DECADE) for i in range(-24 * PER_DECADE, 6 * PER_DECADE + 1)]
    return {as_code(one.eps): eps_placement(one.eps, grid) for one in found}


def eps_sentence(found: Sequence[EpsOutcome], exponent: int) -> str:
    """What the largest and the smallest eps leave of the output; what is lost by hand. ``found`` is of one type."""
    first, last, dtype = found[0], found[-1], found[0].dtype
    if not first.var:
        return (
            f"At a spread of **{power(exponent)}** `{dtype}` holds nothing but zeros: by hand `eps={as_code(last.eps)}` gives "
            f"**{format_number(last.by_hand)}**, torch's LayerNorm **{format_number(last.by_torch['LayerNorm'])}**."
        )
    sizes = (
        f"At a variance of **{power(2 * exponent)}** the output has a size of **{format_number(first.exact, 3)}** with `eps={as_code(first.eps)}`, and of "
        f"**{format_number(last.exact, 3)}** with `{as_code(last.eps)}`."
    )
    return f"{sizes} {_by_hand(found)}"


def _by_hand(found: Sequence[EpsOutcome]) -> str:
    dtype = found[0].dtype
    broken = [one for one in found if not isfinite(one.by_hand)]
    if broken:
        given = listed([f"`{as_code(one.eps)}`" for one in broken], "and")
        return (
            f"By hand in `{dtype}`, {given} is kept as **{format_number(broken[-1].kept)}** and gives **{format_number(broken[-1].by_hand)}**; "
            f"torch's LayerNorm gives **{format_number(broken[-1].by_torch['LayerNorm'], 3)}**."
        )
    gap = max(abs(one.by_hand - one.by_torch["LayerNorm"]) for one in found)
    return f"By hand in `{dtype}` and from torch's LayerNorm these sizes differ by up to **{format_number(gap, 2)}**."


def eps_columns(dtype: str) -> tuple[Column, ...]:
    return (
        Column("eps", "eps", code=True),
        Column("kept", _("stored in {dtype} as", dtype=dtype)),
        Column("formula", N_("size by the formula")),
        Column("by_hand", _("by hand in {dtype}", dtype=dtype)),
        *(Column(name, method_label(name)) for name in TORCH_LAYERS),
    )


def eps_rows(found: Sequence[EpsOutcome]) -> list[dict[str, object]]:
    """Each eps in one type."""
    return [
        {
            "eps": as_code(one.eps),
            "kept": format_number(one.kept, 3),
            "formula": format_number(one.exact, 3),
            "by_hand": format_number(one.by_hand, 3),
            **{name: format_number(size, 3) for name, size in one.by_torch.items()},
        }
        for one in found
    ]


def eps_lines(found: Sequence[EpsOutcome], exponent: int, seed: int = 0) -> Iterator[str]:
    """What size and spread are, what torch does by itself, and RMSNorm's eps=None."""
    dtype = found[0].dtype
    yield (
        f"Groups of **{SIZE}** numbers around 0. *Spread* is their standard deviation, its square the variance. *Size* is the root mean square "
        "of the output: √(var / (var + eps)), 1 where eps is far below the variance."
    )
    yield "By hand every step is of x's type. torch's own layers compute half precision's statistics in float32."
    broken = {name: [as_code(one.eps) for one in found if not isfinite(one.by_torch[name])] for name in TORCH_LAYERS}
    failing = {name: lost for name, lost in broken.items() if lost}
    if failing:
        lost = max(failing.values(), key=len)
        yield (
            f"torch's {listed(failing, 'and')} give NaN with eps={listed(lost, 'and')}: they round 1 / √(var + eps) to `{dtype}`, "
            "where it is too large."
        )
    none = no_eps(dtype, 10.0**exponent, SIZE, seed)
    other = "" if none.own_eps == none.computing_eps else f"; {dtype}'s own, {format_number(none.own_eps, 3)}, would give **{format_number(none.with_own, 3)}**"  # fmt: skip
    yield (
        f"`RMSNorm`'s usual `eps=None` is the machine epsilon (the step above 1) of the type that computes, **{format_number(none.computing_eps, 3)}**: "
        f"size **{format_number(none.by_torch, 3)}**, by the formula **{format_number(none.with_computing, 3)}**{other}."
    )


# eps inside or outside the square root


def placements(eps: float) -> tuple[EpsPlacement, ...]:
    """eps in both places, from far below eps² to far above eps."""
    low, high = eps**2 * 1e-3, eps * 1e3
    count = floor(PER_DECADE * log2(high / low) / log2(10)) + 1
    return eps_placement(eps, [low * 10.0 ** (i / PER_DECADE) for i in range(count)], SIZE)


def placement_sentence(eps: float, found: Sequence[EpsPlacement]) -> str:
    """Where it matters most."""
    most = max(found, key=lambda one: abs(one.outside - one.inside))
    return (
        f"Where eps stands matters most at a variance near **{format_number(most.var, 2)}**: with `eps={as_code(eps)}` inside the root the output keeps "
        f"**{format_number(most.inside, 2)}** of its size, outside **{format_number(most.outside, 2)}**."
    )


def placement_lines(eps: float) -> Iterator[str]:
    """What eps counts as, in either place."""
    yield (
        f"*Inside*, (x − mean) / √(var + eps), eps is a variance: it takes over below var = eps = **{format_number(eps, 3)}**. All layers of torch, and the "
        "BatchNorm paper, have it so."
    )
    yield (
        f"*Outside*, (x − mean) / (√var + eps), eps is a standard deviation: it takes over below var = eps² = **{format_number(eps**2, 3)}**."
    )
    yield "*Size* is the root mean square of the output: 1 where eps does not matter."
