"""Channels that dominate the statistics which they share: planted ones are found, and random values have none."""

import pytest
import torch

from normviz import explain
from normviz.analysis.outliers import outliers, outliers_note
from normviz.texts.errors import NormvizError
from tests.support.opened import opened


def tokens(seed=0, shape=(8, 40, 96)):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    x[..., 13] += 30
    x[..., 70] *= 25
    return x


def test_shares_are_those_of_the_sum_of_squares():
    x = torch.ones(2, 16)
    x[0, 3], x[1, 3] = 7.0, 15.0
    (found,) = outliers(explain("RMSNorm(16)", x))
    share = (49 / 64 + 225 / 240) / 2
    assert (found.channel, found.share, found.times) == (3, pytest.approx(share), pytest.approx(16 * share))
    assert outliers_note(explain("RMSNorm(16)", x)) == (
        "**1** of 16 channels makes **85.2 %** of the mean square of its groups: channel **3**."
    )


@pytest.mark.parametrize("layer", ["LayerNorm(96)", "RMSNorm(96)", "LayerNorm([40, 96])"])
def test_planted_channels_are_found_and_x_is_as_before(layer):
    x = tokens()
    before, found = x.clone(), outliers(explain(layer, x))
    assert {one.channel for one in found} == {13, 70}
    assert found[0].share >= found[1].share > 0.1
    assert torch.equal(x, before)


def test_a_groups_own_channels_share_its_statistics():
    x = tokens().movedim(-1, 1)
    found = outliers(explain("GroupNorm(2, 96)", x))
    assert {one.channel for one in found} == {13, 70}
    assert all(one.share > 0.9 for one in found)
    percent = 100 * sum(one.share for one in found) / 2  # of different groups
    assert f"**{percent:.3g} %** of the variance" in outliers_note(explain("GroupNorm(2, 96)", x))


@pytest.mark.parametrize("layer", ["BatchNorm1d(96)", "InstanceNorm1d(96)", "BatchNorm1d(96).eval()"])
def test_channels_with_statistics_of_their_own_dominate_nothing(layer):
    assert outliers(explain(layer, tokens().movedim(-1, 1))) == ()


@pytest.mark.parametrize("rows", [1, 2, 10])
def test_random_values_have_none(rows):
    for seed in range(40):
        x = torch.randn(rows, 768, generator=torch.Generator().manual_seed(seed))
        assert outliers_note(explain("LayerNorm(768)", x)) == ""


def test_constant_groups_and_infinite_values_are_no_error():
    x = torch.ones(4, 32)
    x[0, 0] = torch.inf
    assert outliers(explain("LayerNorm(32)", x)) == ()


def test_values_are_needed():
    with pytest.raises(NormvizError, match="there are no values"):
        explain("LayerNorm(8)", (2, 8)).outliers()
    assert outliers_note(explain("LayerNorm(8)", (2, 8))) == ""


def test_x_may_have_one_axis():
    x = torch.ones(64)
    x[5] = 100.0
    assert [one.channel for one in outliers(explain("RMSNorm(64)", x))] == [5]


def test_explore_searches_a_readers_own_x_and_no_example(monkeypatch):
    x = torch.ones(2, 64)
    x[:, 5] = 100.0
    own = "of 64 channels makes"
    assert own in str(explain("LayerNorm(64)", x).output().parts)
    query = {"shape": "2,64", "layer": "LayerNorm(64)"}
    values = ",".join(f"{value:g}" for value in x.flatten().tolist())
    assert own in str(opened("explore", query | {"values": values}).data)
    monkeypatch.setattr("normviz.lessons.explore.page.outliers_note", lambda e: own)
    assert own not in str(opened("explore", query).data)
