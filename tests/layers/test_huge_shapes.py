"""Counts of huge shapes are exact and need no array. A result that needs a too large array raises an error."""

import re
import tracemalloc
from math import prod

import numpy as np
import pytest
import torch

from normviz import explain
from normviz.layers.norm import Norm
from normviz.layers.sharing import LIMIT, MOST_IDS, check_limit
from normviz.texts.errors import NormvizError

HUGE = [
    ("LayerNorm([100000, 100000])", 10**5, 10**10, 2 * 10**10),
    ("LayerNorm([100000])", 10**10, 10**5, 2 * 10**5),
    ("BatchNorm1d(100000)", 10**5, 10**10, 2 * 10**5),
    ("GroupNorm(1000, 100000)", 10**8, 10**7, 2 * 10**5),
    ("ChannelsFirstLayerNorm(100000)", 10**10, 10**5, 2 * 10**5),
    (Norm("a b c -> a b c", "a b c"), 10**15, 1, 2 * 10**15),
    (Norm("a (b c) d -> b", "e d", sizes={"b": 10}), 10, 10**14, 2 * 10**10),
]


@pytest.mark.parametrize(("layer", "statistics", "elements", "parameters"), HUGE)
def test_counts_of_a_huge_shape_are_exact(layer, statistics, elements, parameters):
    found = explain(layer, (10**5, 10**5, 10**5)).counts
    assert (found.statistics, found.elements_per_statistic, found.parameters) == (statistics, elements, parameters)


@pytest.mark.parametrize("layer", [layer for layer, *_ in HUGE])
def test_counts_build_no_array(layer, monkeypatch):
    for library, names in (
        (np, ["arange", "zeros", "ones", "empty", "array", "unravel_index"]),
        (torch, ["arange", "zeros", "ones", "empty", "tensor", "randn"]),
    ):
        for name in names:
            monkeypatch.setattr(library, name, None)
    tracemalloc.start()
    try:
        assert explain(layer, (10**5, 10**5, 10**5)).counts.statistics > 0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200_000


def test_counts_are_exact_beyond_the_integers_of_numpy():
    shape = (2**40,) * 12
    assert explain(f"LayerNorm([{2**40}])", shape).counts.statistics == 2 ** (40 * 11)


TOO_LARGE = (2**13, 2**13, 2)
ANY_SHAPE = "counts and patterns work for any shape"


def test_ids_of_too_many_elements_raise_an_error():
    e = explain("LayerNorm(2)", TOO_LARGE)
    assert prod(TOO_LARGE) == 2 * LIMIT
    assert e.counts.statistics == 2**26
    message = re.escape(f"this needs an array of 134,217,728 elements, more than 67,108,864; {ANY_SHAPE}.")
    with pytest.raises(NormvizError, match=message):
        _ = e.stat_ids
    with pytest.raises(NormvizError, match=message):
        _ = e.param_ids
    assert e.peers((5, 6, 0)) == [(5, 6, 1)]


def test_too_many_peers_raise_an_error():
    e = explain("LayerNorm([8192, 8192, 2])", TOO_LARGE)
    with pytest.raises(
        NormvizError, match=f"this needs an array of 134,217,728 elements, more than 67,108,864; {ANY_SHAPE}"
    ):
        e.peers((0, 0, 0))
    assert e.parameter_peers((0, 0, 0)) == []


def test_an_axis_too_long_for_a_table_raises_an_error():
    e = explain("BatchNorm1d(3)", (2**26 + 1, 3))
    with pytest.raises(
        NormvizError, match=f"this needs an array of 67,108,865 elements, more than 67,108,864; {ANY_SHAPE}"
    ):
        e.peers((0, 0))


def test_too_many_groups_to_number_raise_an_error():
    e = explain("LayerNorm(2)", (2**20, 2**21, 2**19, 2))
    assert e.counts.statistics == 2**60
    message = f"1,152,921,504,606,846,976 groups are too many to number (at most {MOST_IDS:,}); {ANY_SHAPE}."
    with pytest.raises(NormvizError, match=re.escape(message)):
        e.peers((0, 0, 0, 0))


def test_the_limit_itself_is_allowed():
    check_limit([2**13, 2**13])
    with pytest.raises(NormvizError, match="an array of 67,108,865 elements"):
        check_limit([LIMIT + 1])
