"""The map of all layers: where the layers stand, which rows and columns there are, and their counts."""

import pytest

from normviz.layers.layer import Layer
from normviz.lessons.all_layers.page import LayerMap, map_data, placed, subsets
from normviz.lessons.pages import PAGES
from normviz.scene.scene import Scene
from normviz.scene.toggles import standing_of
from tests.support.needs import needs_rms_norm


def scene_of(query: str = "") -> Scene:
    return PAGES["all_layers"].view(query).scene


def places(query: str = "") -> dict[str, tuple[str, str]]:
    """The axes of the mean and of gamma of each layer."""
    data = map_data(scene_of(query))
    return {one.name: (data.rows[one.row].axes, data.columns[one.column].axes) for one in data.layers}


BY_HAND = [
    ("", "BatchNorm2d(4)", "N, H, W", "C"),
    ("", "LayerNorm([3, 5])", "H, W", "H, W"),
    ("", "InstanceNorm2d(4)", "H, W", ""),
    ("", "GroupNorm(2, 4)", "C/2, H, W", "C"),
    ("", "ChannelsFirstLayerNorm(4)", "C", "C"),  # ConvNeXt's
    ("", "PixelNorm", "C", ""),
    ("", "GRN", "H, W", "C"),
    ("shape=4,4,3,5", "Ghost BatchNorm", "N/2, H, W", "C"),
    ("shape=4,6,8&layout=NLC", "ChannelsLastBatchNorm(8)", "N, L", "C"),
    ("shape=4,6,8&layout=NLC", "RetNet, per head", "C/2", ""),
    ("shape=4,6,8&layout=NLC", "RWKV-6, per head", "C/2", "C"),
    ("shape=6,5", "BatchNorm1d(5)", "N", "D"),
    ("shape=8,96,56,56&layer=GroupNorm(32,96)", "GroupNorm(32, 96)", "C/32, H, W", "C"),
]


@pytest.mark.parametrize(("query", "name", "means", "gamma"), BY_HAND)
def test_a_layer_stands_where_its_axes_are(query, name, means, gamma):
    assert places(query)[name] == (means, gamma)


@needs_rms_norm
def test_layer_norm_and_rms_norm_are_the_diagonal_and_batch_norm_has_each_axis_once():
    for query in ("", "shape=6,5", "shape=4,6,8&layout=NLC", "shape=2,4,6&layout=NCL&layer=BatchNorm1d(4)"):
        data = map_data(scene_of(query))
        assert (data.same, data.once) == ("LayerNorm, RMSNorm", "BatchNorm")


def test_the_diagonals_are_straight():
    for count in (1, 2, 4):
        sets = subsets(count)
        assert len(set(sets)) == 2**count
        assert [tuple(1 - axis for axis in one) for one in sets] == sets[::-1]


def test_every_layer_stands_at_its_own_patterns():
    for query in ("", "shape=4,6,8&layout=NLC", "shape=2,2,2,3,4&layout=NCDHW"):
        scene = scene_of(query)
        for standing, layer in placed(scene):
            norm = layer.norm(scene.axes)
            assert standing_of(norm, scene.shape, scene.axes) == standing, layer


def test_the_counts_are_those_of_the_tensor_however_large():
    data = map_data(scene_of("shape=8,96,56,56&layer=BatchNorm2d(96)"))
    assert data.shape == (4, 4, 3, 5)
    assert "(8, 96, 56, 56)" in data.scale
    row, column = data.now
    assert (data.rows[row].count, data.rows[row].about) == ("96", "96 means, each of 25,088 elements")
    assert (data.columns[column].count, data.columns[column].about) == ("192", "96 gammas, each for 25,088 elements")


@pytest.mark.parametrize("layer", ["Norm('n (g k) h w -> n k','c',sizes={'g':2})", "BatchNorm2d(4).eval()"])
def test_a_layer_that_toggles_cannot_show_has_no_place(layer):
    assert map_data(scene_of(f"shape=2,4,3,5&layer={layer}")).now is None


def test_the_readers_own_pattern_has_a_place():
    data = map_data(scene_of("shape=2,4,3,5&layer=Norm('n c h w -> c w','n h')"))
    row, column = data.now
    assert (data.rows[row].axes, data.columns[column].axes) == ("N, H", "N, H")
    assert not [one for one in data.layers if (one.row, one.column) == data.now]


def test_the_links_open_the_layer_on_the_same_tensor():
    scene = scene_of("shape=4,6,8&layout=NLC&layer=LayerNorm(8)&at=0,1,2")
    data = map_data(scene)
    for one in data.layers:
        found = PAGES["explore"].view(f"{data.query[1:]}&layer={one.layer}").scene
        assert (found.shape, found.axes, found.at) == (scene.shape, scene.axes, (0, 1, 2))
        if isinstance(found.layer, Layer):
            assert str(found.layer) == one.name


def test_a_tensor_of_many_axes_has_a_note_in_place_of_a_map():
    parts = list(PAGES["all_layers"].parts(PAGES["all_layers"].view("shape=2,2,2,2,2,2&layer=LayerNorm(2)")))
    assert [type(one).__name__ for one in parts] == ["Note"]
    assert parts[0].plain_text().startswith("The map of (")


def test_without_scripts_it_is_a_list():
    (layer_map,) = (one for one in PAGES["all_layers"].parts(PAGES["all_layers"].view("")) if isinstance(one, LayerMap))
    assert "- BatchNorm2d(4): mean over N, H, W, own gamma for each C" in layer_map.plain_text().splitlines()
