"""The distribution of a tensor that is not drawn whole: all values of the selected group, or a sample of them."""

import pytest
import torch

from normviz.analysis.description import describe
from normviz.figures.payload import view_payload
from normviz.scene.grid import grid
from normviz.scene.view import read
from tests.scripts.test_distribution import SOURCE
from tests.support.javascript import evaluate

GROUP = f"""(() => {{ {SOURCE}
  const data = decodeData(args[0]), {{ stages, peers, count, size }} = groupStages(sourceOf(data), args[1]);
  const bins = stages.map((stage) => stage.bins && [stage.bins.low, stage.bins.high, stage.bins.counts.reduce((a, b) => a + b)]);
  return {{ keys: stages.map(({{ key }}) => key), bins, values: stages.map(({{ values }}) => values), drawn: peers.filter(Boolean).length, count, size, note: notesOf(data, {{ stages, peers, others: [], count, size }}) }};
}})()"""


def sent_of(e, at):
    return view_payload(e, grid(e.shape, e.axes, ()), at=at)


def test_a_large_group_is_a_histogram_of_all_its_values():
    x = torch.randn(3, 40, 1000, generator=torch.Generator().manual_seed(0))
    e = describe("LayerNorm(1000)", x)
    found = evaluate(GROUP, sent_of(e, (0, 1, 0)), [0, 1, 0])
    own, trace = x[0, 1], e.trace
    assert found["keys"] == ["x", "centered", "normalized", "output"]
    assert [count for _low, _high, count in found["bins"]] == [1000] * 4
    for (low, high, _count), values in zip(
        found["bins"], (own, own - own.mean(), trace.normalized[0, 1], trace.output[0, 1]), strict=True
    ):
        assert (low, high) == (
            pytest.approx(float(values.min()), abs=1e-6),
            pytest.approx(float(values.max()), abs=1e-6),
        )
    assert (found["count"], found["size"]) == (1000, 1000)
    assert "sample" not in found["note"]


def test_a_small_group_has_a_dot_for_each_value():
    x = torch.randn(3, 40, 100, generator=torch.Generator().manual_seed(0))
    found = evaluate(GROUP, sent_of(describe("LayerNorm(100)", x), (0, 1, 0)), [0, 1, 0])
    assert found["bins"] == [None] * 4
    assert found["values"][0] == pytest.approx(x[0, 1].tolist())
    assert 0 < found["drawn"] < 100


def test_a_sample_is_called_one():
    scene = read({"shape": "2,1024,1024", "layer": "LayerNorm([1024,1024])"}).scene
    found = evaluate(GROUP, sent_of(scene.description, scene.at), list(scene.grid.place(scene.at)))
    assert "Estimated from a sample of 262,144 of the 1,048,576 values of the group." in found["note"]


def test_the_histogram_follows_the_sliders_of_gamma_and_beta():
    e = describe("LayerNorm(1000)", torch.randn(3, 40, 1000, generator=torch.Generator().manual_seed(0)))
    data = sent_of(e, (0, 1, 0))
    group = evaluate("withGammaAndBeta(decodeData(args[0]), { gamma: -2, beta: 1 }).group.bins", data)
    normalized, output = group["normalized"], group["output"]
    assert output["low"] == pytest.approx(1 - 2 * normalized["high"])
    assert output["high"] == pytest.approx(1 - 2 * normalized["low"])
    assert output["counts"] == normalized["counts"][::-1]


def test_outside_of_the_computed_group_x_is_known_and_its_statistics_are_not():
    scene = read({"shape": "2,1024,1024", "layer": "LayerNorm([1024,1024])"}).scene
    data = sent_of(scene.description, scene.at)
    text = f"(() => {{ {SOURCE} const source = sourceOf(decodeData(args[0])); return plainText(describeElement(source, args[1])); }})()"
    assert evaluate(text, data, list(scene.grid.place(scene.at))).count("mean and variance") == 0
    other = evaluate(text, data, [0, 0, 0])
    assert other.startswith("x[0, 0, 0] = ")
    assert "shares its mean and variance with 1,048,575 others" in other
    statistics = (
        "((data) => listStatistics(data, data.values, data.grid).map(({ index }) => index))(decodeData(args[0]))"
    )
    assert evaluate(statistics, data) == [[1]]
