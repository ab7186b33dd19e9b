import re
from math import prod

import numpy as np
import pytest
import torch
from einops import repeat
from hypothesis import assume, given
from hypothesis import strategies as st

from normviz import explain
from normviz.analysis.description import describe
from normviz.layers.norm import Norm
from normviz.layers.sharing import (
    LIMIT,
    MOST_IDS,
    check_groups,
    check_limit,
    counts,
    ids,
    param_tables,
    peers,
    stat_tables,
)
from normviz.texts.errors import NormvizError
from tests.support.strategies import IN_TORCH, describe_or_reject, layers_that_fit, norms, random_tensor

BY_HAND = [
    # on a 2 x 3 matrix
    ("LayerNorm(3)", [[0, 0, 0], [1, 1, 1]], [[0, 1, 2], [0, 1, 2]]),
    ("LayerNorm([2, 3])", [[0, 0, 0], [0, 0, 0]], [[0, 1, 2], [3, 4, 5]]),
    ("BatchNorm1d(3)", [[0, 1, 2], [0, 1, 2]], [[0, 1, 2], [0, 1, 2]]),
    ("RMSNorm(3, elementwise_affine=False)", [[0, 0, 0], [1, 1, 1]], None),
    ("InstanceNorm1d(2, affine=True)", [[0, 0, 0], [1, 1, 1]], [[0, 0, 0], [1, 1, 1]]),
    ("GroupNorm(3, 3)", [[0, 1, 2], [3, 4, 5]], [[0, 1, 2], [0, 1, 2]]),
    (Norm("n d -> d n", "d n"), [[0, 2, 4], [1, 3, 5]], [[0, 2, 4], [1, 3, 5]]),
    (Norm("n d ->", ""), [[0, 0, 0], [0, 0, 0]], [[0, 0, 0], [0, 0, 0]]),
    (Norm("n (g k) -> k", "k", sizes={"k": 3}), [[0, 1, 2], [0, 1, 2]], [[0, 1, 2], [0, 1, 2]]),
]


@pytest.mark.parametrize(("layer", "stat_ids", "param_ids"), BY_HAND)
def test_elements_that_share_have_equal_ids(layer, stat_ids, param_ids):
    e = explain(layer, (2, 3))
    assert e.stat_ids.tolist() == stat_ids
    assert (None if e.param_ids is None else e.param_ids.tolist()) == param_ids


def test_group_norm_numbers_groups_within_examples():
    e = explain("GroupNorm(2, 4)", (2, 4, 2))
    assert e.stat_ids.tolist() == [[[0, 0], [0, 0], [1, 1], [1, 1]], [[2, 2], [2, 2], [3, 3], [3, 3]]]
    assert e.param_ids.tolist() == [[[0, 0], [1, 1], [2, 2], [3, 3]]] * 2


COUNTS = [
    # on (2, 3, 4, 5): statistics, elements per statistic, gamma's shape, parameters, buffers
    ("LayerNorm([3, 4, 5])", 2, 60, (3, 4, 5), 120, 0),
    ("LayerNorm([4, 5])", 6, 20, (4, 5), 40, 0),
    ("LayerNorm(5)", 24, 5, (5,), 10, 0),
    ("LayerNorm(5, bias=False)", 24, 5, (5,), 5, 0),
    ("LayerNorm(5, elementwise_affine=False)", 24, 5, None, 0, 0),
    ("RMSNorm(5)", 24, 5, (5,), 5, 0),
    ("BatchNorm2d(3)", 3, 40, (3,), 6, 7),
    ("BatchNorm2d(3).eval()", 3, 40, (3,), 6, 7),
    ("BatchNorm2d(3, track_running_stats=False)", 3, 40, (3,), 6, 0),
    ("InstanceNorm2d(3)", 6, 20, None, 0, 0),
    ("InstanceNorm2d(3, affine=True)", 6, 20, (3,), 6, 0),
    ("InstanceNorm2d(3, track_running_stats=True).eval()", 3, 40, None, 0, 7),
    ("GroupNorm(1, 3)", 2, 60, (3,), 6, 0),
    ("GroupNorm(3, 3, affine=False)", 6, 20, None, 0, 0),
    ("ChannelsFirstLayerNorm(3)", 40, 3, (3,), 6, 0),
    ("DimNorm(5, dim=0)", 60, 2, (5,), 10, 0),
    (Norm("n c h w ->", ""), 1, 120, (), 2, 0),
]


@pytest.mark.parametrize(("layer", "statistics", "elements", "gamma", "parameters", "buffers"), COUNTS)
def test_counts_are_products_of_sizes(layer, statistics, elements, gamma, parameters, buffers):
    e = explain(layer, (2, 3, 4, 5))
    found = e.counts
    assert (found.statistics, found.elements_per_statistic) == (statistics, elements)
    assert (found.gamma_shape, found.parameters, found.buffers) == (gamma, parameters, buffers)
    assert found.beta_shape == (gamma if e.norm.bias else None)


def group_ids(layer, shape):
    e = describe(layer, shape)
    return e.stat_ids, e.param_ids


SAME_STATISTICS = [
    ("GroupNorm(1, 4)", "LayerNorm([4, 2, 3])"),
    ("GroupNorm(4, 4)", "InstanceNorm2d(4, affine=True)"),
    ("InstanceNorm2d(4)", "LayerNorm([2, 3], elementwise_affine=False)"),
    ("RMSNorm([2, 3])", "LayerNorm([2, 3])"),
    ("SyncBatchNorm(4)", "BatchNorm2d(4)"),
    (Norm("n c h w -> n h w", "c"), "ChannelsFirstLayerNorm(4)"),
    ("DimNorm(3)", "LayerNorm(3)"),
    ("InstanceNorm2d(4, track_running_stats=True).eval()", "BatchNorm2d(4)"),
]


@pytest.mark.parametrize(("one", "other"), SAME_STATISTICS)
def test_two_layers_with_the_same_statistics(one, other):
    assert np.array_equal(group_ids(one, (2, 4, 2, 3))[0], group_ids(other, (2, 4, 2, 3))[0])


OTHER_PARAMETERS = [
    ("GroupNorm(1, 4)", "LayerNorm([4, 2, 3])", (4,), (4, 2, 3)),
    ("GroupNorm(4, 4)", "InstanceNorm2d(4)", (4,), None),
    ("GroupNorm(4, 4)", "LayerNorm([2, 3])", (4,), (2, 3)),
    ("DimNorm(3, dim=1)", "ChannelsFirstLayerNorm(4)", (3,), (4,)),
]


@pytest.mark.parametrize(("one", "other", "gamma", "other_gamma"), OTHER_PARAMETERS)
def test_two_layers_with_the_same_statistics_and_different_parameters(one, other, gamma, other_gamma):
    ours, theirs = describe(one, (2, 4, 2, 3)), describe(other, (2, 4, 2, 3))
    assert np.array_equal(ours.stat_ids, theirs.stat_ids)
    assert (ours.counts.gamma_shape, theirs.counts.gamma_shape) == (gamma, other_gamma)
    assert not np.array_equal(ours.param_ids, theirs.param_ids)


@given(layers_that_fit(IN_TORCH))
def test_counts_are_those_of_the_module(drawn):
    layer, shape = drawn
    e = describe_or_reject(layer, shape)
    module = layer.module()
    assert e.counts.parameters == sum(p.numel() for p in module.parameters())
    assert e.counts.buffers == sum(b.numel() for b in module.buffers())
    for name, counted in (("weight", e.counts.gamma_shape), ("bias", e.counts.beta_shape)):
        parameter = getattr(module, name, None)
        assert counted == (None if parameter is None else tuple(parameter.shape))


@given(layers_that_fit(IN_TORCH))
def test_torch_uses_gamma_and_beta_as_their_ids_say(drawn):
    layer, shape = drawn
    e = describe_or_reject(layer, shape)
    assume(e.param_ids is not None)
    x = random_tensor(shape, seed=0)
    normalized, ids_as_parameters = layer.module(torch.float64)(x), layer.module(torch.float64)
    with torch.no_grad():
        for parameter in ids_as_parameters.parameters():
            parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape))
    where = torch.tensor(e.param_ids)
    expected = normalized * where + (where if e.norm.bias else 0)
    assert torch.allclose(ids_as_parameters(x), expected, rtol=1e-12, atol=1e-9)


@given(layers_that_fit())
def test_ids_of_layers_are_what_einops_repeats(drawn):
    layer, shape = drawn
    e = describe_or_reject(layer, shape)
    assert_ids_are_what_einops_repeats(e.norm, shape)


@given(norms())
def test_ids_of_norms_are_what_einops_repeats(drawn):
    assert_ids_are_what_einops_repeats(*drawn)


def assert_ids_are_what_einops_repeats(norm, shape):
    assert np.array_equal(ids(stat_tables(norm, shape)), repeated_by_einops(norm, shape, norm.pattern.right))
    tables = param_tables(norm, shape)
    if norm.params is None:
        assert tables is None
    else:
        assert np.array_equal(ids(tables), repeated_by_einops(norm, shape, norm.gamma_axes))


def repeated_by_einops(norm, shape, kept):
    """0, 1, 2, ... in the shape of the kept names, laid along x by ``einops.repeat``."""
    sizes = norm.axis_sizes(shape)
    parts = dict(zip(norm.axes, norm.pattern.left, strict=True))
    source = " ".join(f"({' '.join(parts[name])})" if len(parts.get(name, "1")) > 1 else name for name in kept)
    numbers = np.arange(prod(sizes[name] for name in kept)).reshape([sizes[name] for name in kept])
    left = norm.stats.split(" ->")[0]
    return repeat(numbers, f"{source} -> {left}", **{name: sizes[name] for name in norm.pattern.names})


@given(norms())
def test_ids_split_x_into_groups_of_one_size(drawn):
    norm, shape = drawn
    e = describe(norm, shape)
    for found, groups in ((e.stat_ids, e.counts.statistics), (e.param_ids, prod(e.counts.gamma_shape or ()))):
        if found is not None:
            numbers, sizes = np.unique(found, return_counts=True)
            assert (found.dtype, found.shape) == (np.int64, shape)
            assert numbers.tolist() == list(range(groups))
            assert set(sizes) == {prod(shape) // groups}
    assert np.bincount(e.stat_ids.ravel())[0] == e.counts.elements_per_statistic


@given(layers_that_fit(), st.data())
def test_groups_are_numbered_by_their_first_elements(drawn, data):
    layer, shape = drawn
    e = describe_or_reject(layer, shape)
    _, first = np.unique(e.stat_ids, return_index=True)
    assert first.tolist() == sorted(first.tolist())


@given(norms(), st.data())
def test_peers_are_the_elements_with_the_same_id(drawn, data):
    norm, shape = drawn
    e = describe(norm, shape)
    index = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    for found, table in ((e.peers(index), e.stat_ids), (e.parameter_peers(index), e.param_ids)):
        same = [] if table is None else [tuple(i) for i in np.argwhere(table == table[index]).tolist()]
        assert found == [other for other in same if other != index]
    assert len(e.peers(index)) == e.counts.elements_per_statistic - 1


def test_peers_by_hand():
    e = explain("LayerNorm(3)", (2, 3))
    assert e.peers((1, 0)) == [(1, 1), (1, 2)]
    assert e.peers((-1, -3)) == [(1, 1), (1, 2)]
    assert e.peers(np.array([1, 0])) == [(1, 1), (1, 2)]
    assert e.parameter_peers((1, 0)) == [(0, 0)]
    assert explain("InstanceNorm1d(3)", (2, 3, 4)).parameter_peers((0, 0, 0)) == []


@pytest.mark.parametrize(
    "index", [(2, 0), (0, 3), (-3, 0), (0,), (0, 0, 0), (), None, 3, "00", (0.5, 1), ("0", "1"), (None, 1)]
)
def test_an_index_outside_x_raises_an_error(index):
    e = explain("LayerNorm(3)", (2, 3))
    message = re.escape(
        "is not an element of a tensor of shape (2, 3); give one whole number for each axis, less than its size."
    )
    for ask in (e.peers, e.parameter_peers):
        with pytest.raises(NormvizError, match=f"^index .*{message}"):
            ask(index)


def test_the_error_for_an_index_names_it():
    with pytest.raises(NormvizError, match=re.escape("index (2, 0) is not an element")):
        explain("LayerNorm(3)", (2, 3)).peers((2, 0))


def test_a_norm_alone_has_no_buffers():
    assert counts(Norm("n c -> n"), (2, 3)).buffers == 0


def test_the_error_for_a_long_index_is_short():
    with pytest.raises(NormvizError) as caught:
        explain("LayerNorm(3)", (2, 3)).peers("0" * 10_000)
    assert len(str(caught.value)) < 250


def test_ids_are_read_only():
    e = explain("LayerNorm(3)", (2, 3))
    for found in (e.stat_ids, e.param_ids):
        with pytest.raises(ValueError, match="read-only"):
            found[0, 0] = 7


def test_tables_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        stat_tables(Norm("n c -> n"), (2, 3))[0][0] = 7


def test_the_limits_themselves_are_allowed():
    check_groups(MOST_IDS)
    with pytest.raises(NormvizError, match="9,007,199,254,740,993 groups are too many to number"):
        check_groups(MOST_IDS + 1)
    check_limit((2, LIMIT // 2))
    with pytest.raises(NormvizError, match="an array of 67,108,865 elements, more than 67,108,864"):
        check_limit((1, LIMIT + 1))


def test_peers_take_tables():
    assert peers((np.array([0, 0]), np.array([0, 1])), (0, 1)) == [(1, 1)]


def test_counts_for_a_shape_that_does_not_fit_raise_an_error():
    with pytest.raises(NormvizError, match="has rank 2 and x has rank 3"):
        counts(Norm("n c -> n"), (1, 2, 3))
