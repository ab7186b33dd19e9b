import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from normviz import explain
from normviz.analysis.description import describe
from normviz.analysis.excerpt import excerpt
from normviz.figures.payload import sharing_panels, value_panels, view_payload
from normviz.figures.plotly_figure import cell_values
from normviz.layers.norm import Norm
from normviz.scene.grid import grid
from normviz.scene.view import read
from tests.figures.test_payload import unpacked
from tests.support.strategies import norms, random_tensor

X = torch.tensor([[1.0, 2.0, 6.0], [4.0, 4.0, 4.0]])


def drawn(e, start=()):
    return grid(e.shape, e.axes, start)


def by_hand(layer, x=X):
    e = explain(layer, x)
    return {panel.key: panel for panel in (*sharing_panels(e), *value_panels(e, excerpt(e)))}


def test_layer_norm_on_a_matrix():
    panels = by_hand("LayerNorm(3)")
    assert list(panels) == ["stats", "params", "x", "normalized", "output"]
    assert unpacked(panels["x"].z).tolist() == X.tolist()
    assert [panel.links for panel in panels.values()] == ["stats", "params", "stats", "stats", "stats"]


HEADINGS = [
    ("LayerNorm(3)", "n d → n", "d", "groups", "parameters", "(x − mean) / √(var + eps)", "normalized · gamma + beta"),
    ("LayerNorm(3, bias=False)", "n d → n", "d", "groups", "parameters", "(x − mean) / √(var + eps)", "normalized · gamma"),
    ("RMSNorm(3)", "n d → n", "d", "groups", "parameters", "x / √(mean of x² + eps)", "normalized · gamma"),
    ("BatchNorm1d(3, affine=False)", "n d → d", "", "groups", "none", "(x − mean) / √(var + eps)", "as normalized"),
    ("GroupNorm(1, 3)", "n (g k) → n g", "d", "groups", "parameters", "(x − mean) / √(var + eps)", "normalized · gamma + beta"),
    (Norm("n d ->", ""), "n d →", "", "groups", "parameters", "(x − mean) / √(var + eps)", "normalized · gamma + beta"),
]  # fmt: skip


@pytest.mark.parametrize(("layer", "stats", "params", "groups", "scale", "normalized", "output"), HEADINGS)
def test_every_panel_has_a_pattern_a_scale_and_a_caption(layer, stats, params, groups, scale, normalized, output):
    panels = by_hand(layer)
    assert (panels["stats"].pattern, panels["params"].pattern) == (stats, params)
    assert (panels["stats"].scale, panels["params"].scale) == (groups, scale)
    assert (panels["x"].caption, panels["normalized"].caption, panels["output"].caption) == (
        "the input",
        normalized,
        output,
    )


def test_without_gamma_the_parameter_panel_has_one_color_and_no_links():
    panels = by_hand("LayerNorm(3, elementwise_affine=False)")
    assert (panels["params"].links, panels["params"].scale) == ("", "none")
    assert panels["output"].links == "stats"


def test_ids_fill_the_middle_of_their_color():
    stats = by_hand("LayerNorm(3)")["stats"]
    assert (stats.low, stats.high, stats.groups) == (-0.5, 1.5, 2)


def test_zero_is_the_middle_of_the_colors_of_values():
    panels = by_hand("LayerNorm(3)")
    assert (panels["x"].low, panels["x"].high) == (-6, 6)
    assert panels["output"].low == -panels["output"].high


def test_values_that_are_not_finite_are_drawn():
    x = torch.tensor([[1.0, float("nan")], [2.0, float("inf")]])
    panel = by_hand("LayerNorm(2)", x)["x"]
    assert (panel.low, panel.high) == (-2, 2)
    np.testing.assert_array_equal(unpacked(panel.z), x.numpy())


def test_a_tensor_of_zeros_has_a_color_scale():
    panels = by_hand("LayerNorm(3)", torch.zeros(2, 3))
    assert all((panel.low, panel.high) == (-1, 1) for panel in list(panels.values())[2:])


@given(norms(), st.integers(0, 9))
def test_cells_have_the_ids_and_the_values_of_the_trace(drawn_norm, seed):
    norm, shape = drawn_norm
    e = describe(norm, random_tensor(shape, seed, torch.float32))
    made = drawn(e)
    data = view_payload(e, made)
    stats, params, *values = (cell_values(panel, data) for panel in data.panels)
    np.testing.assert_array_equal(stats, made.flatten(made.take(e.stat_ids)))
    if e.param_ids is not None:
        np.testing.assert_array_equal(params, made.flatten(made.take(e.param_ids)))
        assert (params[~np.isnan(params)] < data.panels[1].groups).all()
    steps = (e.x, e.trace.normalized, e.trace.output)
    for panel, cells, step in zip(data.panels[2:], values, steps, strict=True):
        np.testing.assert_array_equal(cells, made.flatten(made.take(step.numpy())))
        assert panel.high >= np.nanmax(np.abs(cells)) > panel.low


WINDOWS = [
    ("shape=2,64,56,56&layer=GroupNorm(32,64)", (0, 40, 0, 0)),
    ("shape=300,200&layer=BatchNorm1d(200)", (172, 72)),
    ("shape=2,40,700&layer=LayerNorm(700)", None),
    ("shape=2,700,40&layout=LNC&layer=LayerNorm(40)", None),
    ("shape=20000&layer=LayerNorm(20000)", (9000,)),
]


@pytest.mark.parametrize(("link", "start"), WINDOWS)
def test_a_window_has_its_part_of_the_ids_and_values(link, start):
    query = dict(part.split("=", 1) for part in link.split("&"))
    whole = read(query).scene
    if start is None:
        start = tuple(size - part for size, part in zip(whole.shape, whole.grid.extent, strict=True))
    scene = read(query | {"from": ",".join(map(str, start))}).scene
    e, made = scene.description, scene.grid
    assert made.start == start
    assert made.partial
    data = view_payload(e, made)
    stats, params, values = (cell_values(panel, data) for panel in data.panels[:3])
    np.testing.assert_array_equal(stats, made.flatten(made.take(e.stat_ids)))
    np.testing.assert_array_equal(params, made.flatten(made.take(e.param_ids)))
    np.testing.assert_array_equal(values, made.flatten(made.take(e.x.numpy())))


def test_with_running_statistics_the_panel_is_that_of_the_buffers():
    e = describe("InstanceNorm1d(3, track_running_stats=True).eval()", (2, 3, 2))
    stats, _ = sharing_panels(e)
    assert (stats.title, stats.pattern, stats.caption) == (
        "Who shares my running mean and variance?",
        "n c l → c",
        "3 groups of 4",
    )
