"""What is shown of a large tensor: the numbers that torch computes from the same x, at the cost of the groups that are drawn."""

from dataclasses import replace

import pytest
import torch

from normviz import explain
from normviz.analysis.excerpt import MOST_OF_A_GROUP, excerpt, sample_note, steps
from normviz.analysis.forward import Values, forward, run_module
from normviz.analysis.outliers import outliers_note
from normviz.scene.grid import grid
from normviz.scene.view import read
from normviz.texts.errors import NormvizError
from tests.support.needs import cases_in_torch

NCHW = "32,64,32,32"  # 2^21 elements
LAYERS = [
    (NCHW, "BatchNorm2d(64)"),
    (NCHW, "BatchNorm2d(64).eval()"),
    (NCHW, "InstanceNorm2d(64)"),
    (NCHW, "GroupNorm(4,64)"),
    (NCHW, "LayerNorm([64,32,32])"),
    (NCHW, "Norm('n c h w -> n h w','c')"),
    (NCHW, "Norm('n (g k) h w -> g w','g h',sizes={'k':16})"),
    (NCHW, "Norm('n c h w -> n h w','c',center=False,bias=False,zero_centered_gamma=True)"),
    ("8,512,512", "LayerNorm(512)"),
    ("8,512,512", "RMSNorm(512)"),
    ("64,32,1024", "RMSNorm([32,1024])"),
]


def large(shape, layer, **more):
    found = read({"shape": shape, "layer": layer, **more})
    assert found.problem is None
    return found.scene


def by_torch(e):
    """The output for the whole x in float64, and x."""
    x = e.on_demand["x"].whole()
    held = {name: one.whole() for name, one in e.on_demand.items() if name != "x"} | e.layer_values().tensors
    values = Values(**{name: value.double() for name, value in held.items()})
    if e.torch_layer is None:
        return x, forward(e.norm, x.double(), values).output
    return x, run_module(e.torch_layer, x.double(), values)


@cases_in_torch
@pytest.mark.parametrize(("shape", "layer"), LAYERS)
@pytest.mark.parametrize("data", ["normal", "scales"])
def test_the_output_is_that_of_torch_on_the_whole_tensor(shape, layer, data):
    scene = large(shape, layer, data=data, params="init" if "InstanceNorm" in layer else "random")
    e, drawn = scene.description, scene.grid
    found, (x, y) = excerpt(e, drawn.indices, scene.at), by_torch(scene.description)
    assert torch.equal(found.x, drawn.take(x))
    torch.testing.assert_close(found.trace.output.double(), drawn.take(y), rtol=2e-5, atol=2e-5)
    assert found.computed is None
    assert found.group.count == found.group.size == e.counts.elements_per_statistic


@pytest.mark.parametrize(("shape", "layer"), LAYERS[:4])
def test_the_group_has_the_values_of_its_elements(shape, layer):
    scene = large(shape, layer, at="31,63,0,31")
    e, (x, y) = scene.description, by_torch(scene.description)
    group = excerpt(e, scene.grid.indices, scene.at).group
    members = torch.from_numpy(e.stat_ids == e.stat_ids[scene.at])
    assert group.number == e.stat_ids[scene.at]
    for stage, expected in (("x", x[members]), ("output", y[members])):
        torch.testing.assert_close(
            group.stages[stage].double().sort()[0], expected.double().sort()[0], rtol=1e-4, atol=1e-4
        )


def test_of_a_large_group_some_values_stand_for_all():
    scene = large("8,1024,1024", "LayerNorm([1024,1024])")
    e = scene.description
    found, (_x, y) = excerpt(e, scene.grid.indices, scene.at), by_torch(e)
    assert (found.group.count, found.group.size) == (MOST_OF_A_GROUP, 2**20)
    assert found.computed == (7,)
    assert abs(float(found.moments["x"].mean[scene.grid.place(scene.at)[0]])) < 5 / MOST_OF_A_GROUP**0.5
    known = ~found.trace.output.isnan()
    assert known[-1].all()
    assert not known[:-1].any()
    torch.testing.assert_close(found.trace.output[known].double(), scene.grid.take(y)[known], rtol=0.02, atol=0.02)
    assert sample_note(e).startswith(
        "The statistics are estimated from a sample of the elements of the group, **262,144** of **1,048,576**."
    )


@pytest.mark.parametrize(
    "layer", ["Norm('n c h w -> c','c',bias=False)", "Norm('n c h w -> c','c',zero_centered_gamma=True)"]
)
@pytest.mark.parametrize("channel", [0, 1])
def test_one_channel_is_not_taken_for_all_gammas(layer, channel):
    """Where only one channel is computed, its gamma may be as in a new layer, and the others not."""
    for params, unchanged in (("index", False), ("init", True)):
        e = large("64,8,256,256", layer, params=params, at=f"0,{channel},0,0").description
        scaled = steps(e, excerpt(e, [[0], [channel], [0], [0]], (0, channel, 0, 0)))[-1]
        assert ("no value changes yet" in scaled.why) == unchanged


def test_running_statistics_are_known_where_the_group_is_not_computed():
    scene = large("64,64,256,256", "BatchNorm2d(64).eval()")
    found = excerpt(scene.description, scene.grid.indices, scene.at)
    torch.testing.assert_close(found.trace.output, found.x / (1 + 1e-5) ** 0.5)
    assert found.computed == (63,)
    assert found.moments["x"].mean.isnan().sum() == 2
    assert sample_note(scene.description).startswith("The distribution shows a sample of")


def test_running_statistics_of_more_channels_than_memory_holds_are_one_number():
    stored = large(f"2,{2**40}", f"BatchNorm1d({2**40}).eval()").description.values
    assert (stored.running_mean.shape, stored.running_var.shape) == ((2**40,), (2**40,))


def test_a_group_of_few_values_has_their_indices():
    scene = large("1000,1000,300", "LayerNorm(300)")
    group = excerpt(scene.description, scene.grid.indices, scene.at).group
    assert group.elements == tuple((*scene.at[:2], c) for c in range(300))


def test_the_largest_tensor_has_values_without_an_axis_in_memory():
    scene = large(f"{2**40},{2**40}", f"LayerNorm({2**40})", params="random")
    found = excerpt(scene.description, scene.grid.indices, scene.at)
    assert found.group.count == MOST_OF_A_GROUP
    assert not found.trace.output[scene.grid.place(scene.at)].isnan()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_a_readers_own_large_tensor_is_shown_as_torch_computes_it(dtype):
    x = torch.randn(3, 700, 512, generator=torch.Generator().manual_seed(0)).to(dtype)
    layer = torch.nn.LayerNorm(512, dtype=dtype)
    e, drawn = explain(layer, x), grid((3, 700, 512), ("n", "l", "c"), ())
    found = excerpt(e, drawn.indices, (1, 2, 3))
    assert found.trace.output.dtype == dtype
    torch.testing.assert_close(found.trace.output, drawn.take(layer(x).detach()))


def test_a_small_tensor_has_the_steps_of_its_trace():
    e = read({"shape": "64,64,8,8", "layer": "GroupNorm(2,64)", "params": "random"}).scene.description
    drawn, trace = grid(e.shape, e.axes, ()), e.trace
    found = excerpt(e, drawn.indices, (0, 0, 0, 0))
    for step in ("mean", "var", "centered", "normalized", "output"):
        assert torch.equal(getattr(found.trace, step), drawn.take(getattr(trace, step)))
    assert sample_note(e) == ""


def test_without_values_there_is_nothing_to_show():
    e = explain("LayerNorm(4)", (2, 4))
    with pytest.raises(NormvizError, match="there are no values: x was given as the shape"):
        excerpt(e)
    with pytest.raises(NormvizError, match="there are no values"):
        excerpt(replace(e, shape=(2, 4)), [[0], [0]])


def test_an_x_that_is_too_large_to_compute_whole_is_shown():
    x = torch.ones(()).expand(8, 4096, 4097)  # one number in memory
    e = explain("LayerNorm(4097)", x)
    found = excerpt(e, grid(e.shape, e.axes, ()).indices, (0, 0, 0))
    assert (found.group.count, found.trace.output.unique().tolist()) == (4097, [0.0])
    assert e.agreement is None
    assert outliers_note(e) == ""
    assert e.output().parts
