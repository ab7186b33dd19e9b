import re
from math import prod

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from normviz.analysis.description import describe
from normviz.analysis.examples import from_values
from normviz.analysis.sentences import (
    axis_nouns,
    pairs_note,
    parameters_caption,
    parameters_title,
    sentence,
    statistics_caption,
    statistics_title,
)
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from tests.support.strategies import layers_that_fit, norms

X = (2, 3, 4, 4)

SENTENCES = [
    # layer, shape, the sentence: which elements share a mean and a variance, and which a gamma and a beta
    (
        "LayerNorm([3, 4, 4])", X,
        "2 means and 2 variances, each from 48 elements; "
        "48 gammas and 48 betas: one per normalized element, shared by all 2 examples.",
    ),
    (
        "LayerNorm([3, 4, 4])", (5, 3, 4, 4),
        "5 means and 5 variances, each from 48 elements; "
        "48 gammas and 48 betas: one per normalized element, shared by all 5 examples.",
    ),
    (
        "LayerNorm([3, 4, 4])", (1, 3, 4, 4),
        "1 mean and 1 variance, from 48 elements; "
        "48 gammas and 48 betas: one per normalized element, used by the only example.",
    ),
    (
        "LayerNorm([4, 4])", X,
        "6 means and 6 variances, each from 16 elements; "
        "16 gammas and 16 betas: one per normalized element, the same in every example and channel.",
    ),
    (
        "LayerNorm([4])", X,
        "24 means and 24 variances, each from 4 elements; "
        "4 gammas and 4 betas: one per normalized element, the same in every example, channel and row.",
    ),
    (
        "LayerNorm([2, 3, 4, 4])", X,
        "1 mean and 1 variance, from 96 elements; 96 gammas and 96 betas: one per normalized element.",
    ),
    (
        "LayerNorm([6])", (2, 5, 6),
        "10 means and 10 variances, each from 6 elements; "
        "6 gammas and 6 betas: one per normalized element, the same in every example and position.",
    ),
    (
        "LayerNorm([6], bias=False)", (3, 6),
        "3 means and 3 variances, each from 6 elements; "
        "6 gammas and no beta: one per normalized element, shared by all 3 examples.",
    ),
    (
        "LayerNorm([6], elementwise_affine=False)", (3, 6),
        "3 means and 3 variances, each from 6 elements; no gamma and no beta.",
    ),
    (
        "RMSNorm([6])", (3, 6),
        "3 mean squares, each from 6 elements; "
        "6 gammas and no beta: one per normalized element, shared by all 3 examples.",
    ),
    (
        "RMSNorm([6])", (1, 6),
        "1 mean square, from 6 elements; 6 gammas and no beta: one per normalized element, used by the only example.",
    ),
    (
        "BatchNorm1d(6)", (2, 6),
        "6 means and 6 variances, each from 2 elements; 6 gammas and 6 betas: one per feature, each used by 2 elements.",
    ),
    (
        "BatchNorm1d(1)", (2, 1),
        "1 mean and 1 variance, from 2 elements; 1 gamma and 1 beta: one per feature, each used by 2 elements.",
    ),
    (
        "BatchNorm1d(1, bias=False)", (2, 1),
        "1 mean and 1 variance, from 2 elements; 1 gamma and no beta: one per feature, used by 2 elements.",
    ),
    (
        "BatchNorm2d(3)", X,
        "3 means and 3 variances, each from 32 elements; "
        "3 gammas and 3 betas: one per channel, each used by 32 elements.",
    ),
    (
        "BatchNorm2d(3).eval()", X,
        "3 running means and 3 running variances, stored in the layer and not computed from this input; "
        "3 gammas and 3 betas: one per channel, each used by 32 elements.",
    ),
    (
        "BatchNorm2d(1, affine=False).eval()", (2, 1, 4, 4),
        "1 running mean and 1 running variance, stored in the layer and not computed from this input; "
        "no gamma and no beta.",
    ),
    (
        "BatchNorm3d(3)", (2, 3, 2, 4, 4),
        "3 means and 3 variances, each from 64 elements; "
        "3 gammas and 3 betas: one per channel, each used by 64 elements.",
    ),
    (
        "SyncBatchNorm(3)", X,
        "3 means and 3 variances, each from 32 elements; "
        "3 gammas and 3 betas: one per channel, each used by 32 elements.",
    ),
    ("InstanceNorm1d(3)", (2, 3, 4), "6 means and 6 variances, each from 4 elements; no gamma and no beta."),
    ("InstanceNorm2d(3)", (3, 4, 4), "3 means and 3 variances, each from 16 elements; no gamma and no beta."),
    (
        "InstanceNorm2d(3, affine=True)", X,
        "6 means and 6 variances, each from 16 elements; "
        "3 gammas and 3 betas: one per channel, each used by 32 elements.",
    ),
    (
        "InstanceNorm3d(3, track_running_stats=True).eval()", (2, 3, 2, 4, 4),
        "3 running means and 3 running variances, stored in the layer and not computed from this input; "
        "no gamma and no beta.",
    ),
    (
        "GroupNorm(2, 4)", (2, 4, 4, 4),
        "4 means and 4 variances, each from 32 elements; "
        "4 gammas and 4 betas: one per channel, each used by 32 elements.",
    ),
    (
        "ChannelsFirstLayerNorm(3)", X,
        "32 means and 32 variances, each from 3 elements; "
        "3 gammas and 3 betas: one per channel, the same in every example, row and column.",
    ),
    (
        "DimNorm(4, dim=0)", X,
        "48 means and 48 variances, each from 2 elements; "
        "4 gammas and 4 betas: one per channel, each used by 24 elements.",
    ),
]  # fmt: skip


def plain(text):
    return text.replace("**", "")


@pytest.mark.parametrize(("layer", "shape", "words"), SENTENCES)
def test_the_sentence_of_every_layer_of_the_catalogue(layer, shape, words):
    assert plain(sentence(describe(layer, shape))) == f"`{layer}` on {shape}: {words}"


PATTERNS = [
    (
        Norm("n c h w ->", ""), X,
        "1 mean and 1 variance, from 96 elements; 1 gamma and 1 beta: one of each for all 96 elements.",
    ),
    (
        Norm("n c h w ->", "", bias=False), X,
        "1 mean and 1 variance, from 96 elements; 1 gamma and no beta: one for all 96 elements.",
    ),
    (Norm("n d ->", ""), (1, 1), "1 mean and 1 variance, from 1 element; 1 gamma and 1 beta: one of each for 1 element."),
    (
        Norm("n c -> n c", "n c"), (2, 3),
        "6 means and 6 variances, each from 1 element; "
        "6 gammas and 6 betas: one per combination of example and channel, each used by 1 element.",
    ),
    (
        Norm("n (g k) -> n g", "g", sizes={"g": 2}), (2, 4),
        "4 means and 4 variances, each from 2 elements; 2 gammas and 2 betas: one per group, each used by 4 elements.",
    ),
    (
        Norm("n (g k) -> n g", "k", sizes={"g": 2}), (2, 4),
        "4 means and 4 variances, each from 2 elements; "
        "2 gammas and 2 betas: one per normalized element, the same in every example and group.",
    ),
    (
        Norm("(g k) -> g", "k", sizes={"g": 2}), (4,),
        "2 means and 2 variances, each from 2 elements; "
        "2 gammas and 2 betas: one per normalized element, shared by all 2 groups.",
    ),
    (
        Norm("a b -> a", "b"), (2, 3),
        "2 means and 2 variances, each from 3 elements; "
        "3 gammas and 3 betas: one per normalized element, shared by all 2 indices of axis a.",
    ),
    (
        Norm("a b -> a", "a"), (2, 3),
        "2 means and 2 variances, each from 3 elements; "
        "2 gammas and 2 betas: one per index of axis a, each used by 3 elements.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("norm", "shape", "words"), PATTERNS)
def test_the_sentence_of_patterns_beyond_the_catalogue(norm, shape, words):
    assert plain(sentence(describe(norm, shape))) == f"`{norm!r}` on {shape}: {words}"


def test_the_layout_names_the_axis_of_gamma():
    text = plain(sentence(describe("BatchNorm1d(4)", (2, 4, 3), layout="NLC")))
    assert "4 gammas and 4 betas: one per position, each used by 6 elements" in text


def test_large_numbers_have_thousands_separators():
    text = sentence(describe("LayerNorm([100000, 100000])", (100_000,) * 3))
    assert "**100,000** means and **100,000** variances, each from **10,000,000,000** elements" in text
    assert "shared by all **100,000** examples" in text


WORDS = [
    ("NCHW", "h", "row"),
    ("NCHW", "w", "column"),
    ("NLC", "l", "position"),
    ("ND", "d", "feature"),
    ("NCDHW", "d", "slice"),
    ("NHLD", "h", "head"),
    ("NHLD", "d", "feature"),
    ("NXC", "x", "index of axis x"),
]


@pytest.mark.parametrize(("layout", "axis", "word"), WORDS)
def test_the_noun_of_an_axis(layout, axis, word):
    assert axis_nouns(axis, tuple(layout.lower()))[0] == word


CAPTIONS = [
    # layer, which elements share a mean, how many, which share a gamma, how many
    (
        "LayerNorm([3, 4, 4])",
        ("Who shares my mean and variance?", "2 groups of 48"),
        ("Who shares my gamma and beta?", "48 + 48 = 96 parameters, each used by 2 elements"),
    ),
    (
        "RMSNorm([2, 3, 4, 4])",
        ("Who shares my mean square?", "1 group of 96"),
        ("Who shares my gamma?", "96 parameters, each used by 1 element"),
    ),
    (
        "BatchNorm2d(3).eval()",
        ("Who shares my running mean and variance?", "3 groups of 32"),
        ("Who shares my gamma and beta?", "3 + 3 = 6 parameters, each used by 32 elements"),
    ),
    (
        "InstanceNorm2d(3)",
        ("Who shares my mean and variance?", "6 groups of 16"),
        ("This layer has no gamma and no beta", "0 parameters: this layer learns nothing"),
    ),
    (
        Norm("n c h w ->", "", bias=False),
        ("Who shares my mean and variance?", "1 group of 96"),
        ("Who shares my gamma?", "1 parameter, used by 96 elements"),
    ),
]


@pytest.mark.parametrize(("layer", "statistics", "parameters"), CAPTIONS)
def test_titles_and_captions_of_the_panels(layer, statistics, parameters):
    e = describe(layer, X)
    assert (statistics_title(e), statistics_caption(e)) == statistics
    assert (parameters_title(e), parameters_caption(e)) == parameters


@given(layers_that_fit() | norms())
def test_every_number_of_the_sentence_is_a_count_or_a_size(drawn):
    layer, shape = drawn
    try:
        e = describe(layer, shape)
    except NormvizError:  # one value has no spread
        reject()
    text = sentence(e)
    gammas = prod(e.counts.gamma_shape or ())
    told = {int(number.replace(",", "")) for number in re.findall(r"\*\*([\d,]+)\*\*", text)}
    counts = {e.counts.statistics, e.counts.elements_per_statistic, gammas, prod(shape) // gammas}
    assert e.counts.statistics in told
    assert told <= counts | set(e.norm.axis_sizes(shape).values())
    assert text.endswith("no gamma and no beta.") == (e.counts.gamma_shape is None)
    assert not re.search(r"\*\*1\*\* (running )?(means|variances|mean squares|gammas|betas|elements)\b", text)


PAIRS = [
    ("BatchNorm1d(3)", (2, 3), True),
    ("BatchNorm1d(3)", (3, 3), False),
    ("BatchNorm1d(3).eval()", (2, 3), False),
    ("LayerNorm(2)", (4, 2), True),
    ("GroupNorm(2, 4)", (3, 4), True),
    ("RMSNorm(2)", (4, 2), False),
    ("LayerNorm(1)", (2, 1), False),
]


@pytest.mark.parametrize(("layer", "shape", "noted"), PAIRS)
def test_groups_of_two_have_a_note(layer, shape, noted):
    assert (pairs_note(describe(layer, shape)) is not None) is noted


@given(layers_that_fit() | norms(), st.randoms(use_true_random=False))
def test_the_note_on_groups_of_two_is_true(drawn, random):
    layer, shape = drawn
    values = random.sample(range(10**6), prod(shape))
    try:
        e = describe(layer, 1e6 * from_values(values, shape).double())
    except NormvizError:  # one value has no spread
        reject()
    normalized = e.trace.normalized.flatten()
    groups: dict[int, list[float]] = {}
    for group, value in zip(e.stat_ids.flatten().tolist(), normalized.tolist(), strict=True):
        groups.setdefault(group, []).append(value)
    two = all(sorted(one) == pytest.approx([-1, 1], abs=1e-6) for one in groups.values())
    assert (pairs_note(e) is not None) is two
