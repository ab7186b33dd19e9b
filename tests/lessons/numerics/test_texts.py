"""The page Numerics: sentences and tables by hand, then against torch and its own numbers."""

from math import inf, isfinite, isnan, nan
from time import process_time

import pytest
import torch

from normviz.analysis.rounding import (
    CONSTANT,
    DISTANCES,
    DTYPES,
    EPSILONS,
    LAYERS,
    SINGLE,
    SIZE,
    Estimate,
    example_group,
    no_eps,
)
from normviz.lessons.numerics import page as numerics
from normviz.lessons.numerics.page import (
    EXACT,
    LARGEST_CONSTANT,
    LARGEST_SCALE,
    NOISE,
    ONE_PASS,
    OUTCOMES,
    REFUSED,
    RUNNING,
    SIGN,
    SMALLEST_EPS,
    TWO_PASSES,
    as_code,
    outcome,
)
from normviz.scene.setting import power
from normviz.texts.messages import format_number
from tests.support.needs import needs_half, needs_rms_norm, whole
from tests.support.sentences import numbers_in

MOST_WORDS = 120
TYPES = pytest.mark.parametrize("dtype", list(DTYPES))


def words(lines):
    return len(" ".join(lines).split())


def test_powers_and_eps_as_a_page_prints_them():
    assert [power(exponent) for exponent in (-12, 0, 7)] == ["10⁻¹²", "10⁰", "10⁷"]
    assert [as_code(eps) for eps in EPSILONS] == ["1e-3", "1e-5", "1e-6", "1e-12"]
    assert all(float(as_code(eps)) == eps for eps in (*EPSILONS, 1.0, 0.25, 3e-4))


# Four ways to compute a variance


def by_hand(method, distance, var, exact, size=1.0):
    return Estimate(method, "float32", distance, var, exact, size)


def test_the_sentence_of_four_distances_by_hand():
    """Right at 1, negative at 10, equal numbers at 100, infinite at 1,000."""
    found = [
        by_hand(method, distance, var, exact, size)
        for method, ours in ((ONE_PASS, ((1.25, 1), (-4, nan), (0, 1), (nan, nan))), (TWO_PASSES, ((1, 1),) * 4))
        for distance, exact, (var, size) in zip((1, 10, 100, 1000), (1, 2, 0, nan), ours, strict=True)
    ]
    sentences = [numerics.variance_sentence(found, exponent) for exponent in range(4)]
    assert numbers_in(sentences[0]) == ["10⁰", "1.25", "1"]
    assert numbers_in(sentences[1]) == ["10¹", "−4", "2"]
    failures = numerics.failures(found)
    assert failures.endswith(
        "is negative at **1** of the **3** distances that `float32` can represent, and its output is NaN at **1**."
    )
    assert [row[0][:3] for row in numerics.variance_table(found, 1).rows] == ["**✗", "two"]
    assert not any("✗" in row[0] for exponent in (0, 2, 3) for row in numerics.variance_table(found, exponent).rows)
    assert numbers_in(sentences[2]) == ["10²", str(SIZE)]
    assert "rounds all **256** numbers to the same value" in sentences[2]
    assert "is too large for `float32`: x is infinite" in sentences[3]


def test_the_sentence_counts_negative_variances_and_nan_outputs():
    """The first view of the page."""
    found = numerics.estimates("float32")
    first = [one for one in found if one.method == ONE_PASS]
    negative = [one for one in first if one.var < 0]
    assert negative
    assert all(isnan(one.output_size) for one in negative)
    sentence = numerics.variance_sentence(found, 6)
    assert numbers_in(numerics.failures(found)) == [
        str(len(negative)),
        str(len(DISTANCES)),
        str(sum(one.is_nan for one in first)),
    ]
    assert numbers_in(sentence)[1] == format_number(first[6].var)
    assert first[6].var < 0


@TYPES
@pytest.mark.parametrize("exponent", range(8))
def test_the_table_has_a_row_for_every_method(dtype, exponent):
    found = numerics.estimates(dtype)
    here = numerics.at_distance(found, exponent)
    rows = numerics.variance_table(found, exponent).rows
    fails = [one.exact > 0 and (one.negative or one.is_nan) for one in here.values()]
    labels = map(numerics.method_label, here)
    assert [row[0] for row in rows] == [
        f"**✗ {label}**" if bad else label for label, bad in zip(labels, fails, strict=True)
    ]
    assert [row[3:] for row in rows] == [(one.negative, one.is_nan) for one in here.values()]
    for row, one in zip(rows, here.values(), strict=True):
        hidden = (
            one.method in LAYERS and one.exact == 0 and not one.is_nan
        )  # if all numbers are equal, the variance cannot be read back
        assert row[1] == (None if hidden else format_number(one.var))
        assert row[2] == (None if hidden else format_number(one.error, 2))
    assert len(rows) == 4 + 1 + len(LAYERS)
    assert words(numerics.variance_texts(found, exponent)) <= MOST_WORDS


@TYPES
@pytest.mark.parametrize("exponent", range(8))
def test_the_step_between_neighboring_numbers_agrees_with_nextafter(dtype, exponent):
    """By torch itself: the next number above."""
    found = numerics.estimates(dtype)
    one = numerics.at_distance(found, exponent)[ONE_PASS]
    place = torch.tensor(one.distance if one.exact == 0 else one.distance**2, dtype=DTYPES[dtype])
    why = list(numerics.variance_texts(found, exponent))[1]
    if not isfinite(one.exact):
        assert why.startswith("torch's layers")
    elif place.isinf():
        assert "cannot represent" in why
    else:
        step = torch.nextafter(place, torch.tensor(inf, dtype=place.dtype)) - place
        assert numbers_in(why) == [format_number(float(step))]


# How small may eps be?


@needs_half
def test_a_hand_written_layer_in_float16_loses_the_smallest_eps():
    found = numerics.of_dtype(numerics.eps_outcomes(-4), "float16")
    sentence = numerics.eps_sentence(found, -4)
    assert numbers_in(sentence) == ["10⁻⁸", "0.00316", "1", "0", "∞", "1"]
    assert "stores `1e-12` as **0**" in sentence


@needs_half
def test_a_spread_that_float16_cannot_represent():
    found = numerics.of_dtype(numerics.eps_outcomes(-12), "float16")
    assert not example_group("float16", 0, SIZE, 0, 1e-12).any()
    assert "represents all numbers as 0" in numerics.eps_sentence(found, -12)
    assert numbers_in(numerics.eps_sentence(found, -12)) == ["10⁻¹²", "NaN", "0"]
    assert any("BatchNorm1d and InstanceNorm1d give NaN" in line for line in numerics.eps_texts(found, -12))


@TYPES
@pytest.mark.parametrize("exponent", [-12, -8, -4, -2, 0, 3])
def test_the_table_has_a_row_for_every_eps(dtype, exponent):
    found = numerics.of_dtype(numerics.eps_outcomes(exponent), dtype)
    rows = numerics.size_table(found).rows
    assert [float(row[0]) for row in rows] == list(EPSILONS)
    for row, one in zip(rows, found, strict=True):
        assert list(row[2:4]) == [format_number(one.exact, 3), format_number(one.by_hand, 3)]
        assert list(row[4:]) == [format_number(size, 3) for size in one.by_torch.values()]
    lines = list(numerics.eps_texts(found, exponent))
    assert words(lines) <= MOST_WORDS
    none = no_eps(dtype, 10.0**exponent)
    assert numbers_in(lines[-1])[:3] == [format_number(v, 3) for v in (none.eps, none.by_torch, none.sizes[none.used])]
    assert f"computes `{dtype}` in `{none.computing}`" in lines[-1]


def test_the_curves_agree_with_the_formula():
    curves = numerics.size_curves(numerics.of_dtype(numerics.eps_outcomes(-4), "float64"))
    assert [float(eps) for eps in curves] == list(EPSILONS)
    for eps, points in curves.items():
        for point in points:
            assert point.inside == pytest.approx((point.var / (point.var + float(eps))) ** 0.5, rel=1e-9)


# Groups without spread


@needs_rms_norm
def test_every_outcome_occurs():
    both = [*numerics.constant(1234.567, "float32"), *numerics.single(1000, "float32")]
    assert {outcome(one) for one in both} == set(OUTCOMES)
    by_layer = {one.layer: outcome(one) for one in both}
    assert by_layer["LayerNorm([3, 4, 4])"] == by_layer["LayerNorm(1)"] == EXACT
    assert by_layer["BatchNorm2d(3)"] == NOISE
    assert by_layer["RMSNorm(1)"] == SIGN
    assert by_layer["BatchNorm2d(3).eval()"] == RUNNING
    assert by_layer["BatchNorm1d(4)"] == REFUSED


@whole
def test_the_counts_of_both_sentences():
    constant, single = (numerics.constant(1234.567, "float32"), numerics.single(1000, "float32"))
    assert numbers_in(numerics.constant_sentence(constant)) == [
        "1,234.567",
        str(sum(one.from_beta == 0 for one in constant)),
        str(sum(outcome(one) == NOISE for one in constant)),
        format_number(max(one.from_beta for one in constant if outcome(one) == NOISE), 3),
        "2",
    ]
    assert numbers_in(numerics.single_sentence(single)) == [
        str(sum(one.refusal is not None for one in single)),
        str(len(SINGLE)),
        str(sum(one.from_beta == 0 for one in single)),
        str(sum(outcome(one) == NOISE for one in single)),
        format_number(max(one.from_beta for one in single if outcome(one) == NOISE), 3),
        "−2 or 2",
    ]


def test_the_sentence_uses_the_singular_for_one_layer():
    one = numerics.constant(0, "float32")[:1]
    assert numerics.constant_sentence(one).endswith("**1** layer gives exactly beta.")


def test_short_names_are_short_and_unique():
    for found in (numerics.constant(1.0, "float32"), numerics.single(1.0, "float32")):
        labels = numerics.short_names(found)
        assert len(set(labels)) == len(found)
        assert max(map(len, labels)) <= 23


DEGENERATE = [
    *((numerics.constant, value, CONSTANT) for value in (-LARGEST_CONSTANT, 0, 1e-30, 0.1, LARGEST_CONSTANT)),
    *((numerics.single, scale, SINGLE) for scale in (0, 1e-8, 1, LARGEST_SCALE)),
]


@needs_rms_norm
@TYPES
@pytest.mark.parametrize(("make", "value", "cases"), DEGENERATE)
def test_the_table_has_a_row_for_every_layer_and_quotes_torch(dtype, make, value, cases):
    found = make(value, dtype)
    rows = numerics.zero_variance_table(found).rows
    assert [row[:2] for row in rows] == [(layer, str(shape)) for layer, shape in cases]
    for row, one in zip(rows, found, strict=True):
        assert one.x.isfinite().all()
        assert one.refusal is None or row[2] == f"torch refuses: “{one.refusal}”"
        assert row[3] == ("" if one.refusal else OUTCOMES[outcome(one)][0])
    assert words(numerics.zero_variance_texts(found)) <= MOST_WORDS


def test_the_noise_is_that_of_two_large_terms_that_cancel():
    lines = list(numerics.zero_variance_texts(numerics.constant(1234.567, "float32")))
    assert numbers_in(lines[0]) == ["2", "0.5"]
    largest = 1234.567 * 2 * 1e-5**-0.5
    assert numbers_in(lines[1]) == [format_number(largest, 3), "0.0625"]
    assert 2**19 < largest < 2**20  # where numbers of 24 bits are 2^-4 apart


def test_where_there_is_noise_torch_s_mean_is_exactly_x():
    """So x − mean would give beta exactly, and the noise is that of x * scale + shift."""
    gamma, beta, x = torch.full((4,), 2.0), torch.full((4,), 0.5), torch.full((2, 4, 4, 4), 1234.567)
    of_batch = torch.native_batch_norm(x, gamma, beta, None, None, True, 0.1, 1e-5)
    of_groups = torch.native_group_norm(x, gamma, beta, 2, 4, 16, 2, 1e-5)
    for y, mean, _ in (of_batch, of_groups):
        assert (mean == x[0, 0, 0, 0]).all()
        assert 0 < float((y - 0.5).abs().max()) < 0.0625


# eps inside or outside the square root


@pytest.mark.parametrize("eps", [SMALLEST_EPS, 1e-5, 3e-4, 0.5, 1.0])
def test_the_curve_covers_both_places_and_the_sentence_has_its_largest_difference(eps):
    found = numerics.placements(eps)
    assert found[0].var < eps**2 / 100
    assert found[-1].var > eps * 100
    most = max(found, key=lambda one: abs(one.outside - one.inside))
    assert numbers_in(numerics.placement_sentence(eps, found)) == [
        format_number(v, 2) for v in (most.var, most.inside, most.outside)
    ]
    assert [numbers_in(line) for line in numerics.placement_texts(eps)] == [
        [format_number(eps, 3)],
        [format_number(eps**2, 3)],
        [],
    ]
    assert words(numerics.placement_texts(eps)) <= MOST_WORDS


# Speed: the page answers a control at any setting within a second; in processor time, whatever else runs.


@TYPES
def test_nothing_takes_a_second(dtype):
    works = (
        lambda: numerics.estimates.__wrapped__(dtype, 1),
        lambda: numerics.size_curves(numerics.of_dtype(numerics.eps_outcomes.__wrapped__(-12, 1), dtype)),
        lambda: numerics.constant.__wrapped__(float(LARGEST_CONSTANT), dtype),
        lambda: numerics.single.__wrapped__(float(LARGEST_SCALE), dtype, 1),
        lambda: numerics.placements(SMALLEST_EPS),
    )
    for work in works:
        start = process_time()
        work()
        assert process_time() - start < 1
