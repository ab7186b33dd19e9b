"""The linked panels: all panels veil every cell except the peers of the element under the pointer, and the read-out describes it."""

import itertools

import numpy as np
import pytest

from normviz.scene.grid import MOST_COLUMNS, MOST_ROWS
from normviz.scene.scene import Scene
from tests.browser.view import Index, Readout, View, peers

pytestmark = pytest.mark.browser

LAYERS = [
    "?",
    "?layer=BatchNorm2d(3)",
    "?shape=2,4,4,4&layer=GroupNorm(2,4)&params=random",
    "?layer=ChannelsFirstLayerNorm(3)&params=index",
    "?shape=2,3,4,5&layer=Norm('n c h w -> n h w','h w')",
    "?shape=2,4,2,3&layer=Norm('n (g k) h w -> g h',None,sizes={'g':2})",
    "?layer=Norm('n c h w ->','')",
    "?layer=InstanceNorm2d(3)",
    "?shape=3,4,5&layer=LayerNorm(5)&params=random",
    "?shape=3,4,5&layer=RMSNorm([4,5])&data=scales",
    "?shape=2,4,5&layer=BatchNorm1d(4)",
    "?shape=4,6&layer=BatchNorm1d(6).eval()",
    "?shape=4,6&layer=LayerNorm(6,bias=False)",
    "?shape=6&layer=LayerNorm(6)",
    "?shape=2,3,4,3&layout=NHWC&layer=ChannelsFirstLayerNorm(3)",
    "?shape=2,3,2,3,4&layer=BatchNorm3d(3)",
]
PANELS = ("stats", "params", "x", "normalized", "output")


def three_elements(scene: Scene) -> list[Index]:
    """The first element, the last, and one in between."""
    last = int(np.prod(scene.shape)) - 1
    return [tuple(int(i) for i in np.unravel_index(flat, scene.shape)) for flat in (0, last * 3 // 5, last)]


def assert_readout(readout: Readout, scene: Scene, index: Index) -> None:
    """Assert that the read-out has the values and counts of the element."""
    e = scene.description
    near = {"rel": 1e-3, "abs": 6e-4}
    assert readout.index == index
    assert readout.value == pytest.approx(float(e.x[index]), **near)
    assert readout.others == len(e.peers(index)) == e.counts.elements_per_statistic - 1
    own = tuple(i if size > 1 else 0 for i, size in zip(index, e.trace.mean.shape, strict=True))
    assert readout.variance == pytest.approx(float(e.trace.var[own]), **near)
    assert readout.mean == (pytest.approx(float(e.trace.mean[own]), **near) if e.norm.center else None)
    assert readout.meeting == len(e.parameter_peers(index))
    if e.norm.params is None:
        assert readout.gamma == readout.beta == (None, None)
        return
    held, place = e.layer_values(), tuple(index[e.axes.index(name)] for name in e.norm.gamma_axes)
    assert readout.gamma == (place or None, pytest.approx(float(held.gamma[place]), **near))
    assert readout.beta == (
        (place or None, pytest.approx(float(held.beta[place]), **near)) if e.norm.bias else (None, None)
    )


def assert_only_peers_open(view: View, index: Index) -> None:
    """Assert that every panel veils all cells except the peers of the element under its own sharing."""
    for key in PANELS:
        assert view.open_elements(key) == peers(view.scene, key, index), key


@pytest.mark.parametrize(
    ("look_both", "query"),
    [*(("file", query) for query in LAYERS[:3]), *(("app", query) for query in LAYERS[3:])],
    indirect=["look_both"],
)
def test_pointing_at_an_element_veils_all_cells_except_its_peers_in_every_panel(look_both, query):
    view = look_both(query)
    for key, index in zip(("stats", "params", "output"), three_elements(view.scene), strict=True):
        readout = view.hover(key, index)
        assert_readout(readout, view.scene, index)
        assert_only_peers_open(view, index)
        assert view.marked("stats", "cursor") == (None if index == view.scene.at else index)


def test_the_selected_element_is_shown_again_when_the_pointer_leaves(look):
    view = look("?layer=BatchNorm2d(3)&at=0,1,2,3")
    assert_readout(view.readout, view.scene, (0, 1, 2, 3))
    assert_only_peers_open(view, (0, 1, 2, 3))
    view.hover("stats", (1, 2, 0, 0))
    assert_only_peers_open(view, (1, 2, 0, 0))
    assert view.marked("stats") == (0, 1, 2, 3)  # the frame stays at the selected element
    view.leave()
    assert_readout(view.readout, view.scene, (0, 1, 2, 3))
    assert_only_peers_open(view, (0, 1, 2, 3))


def test_nothing_is_veiled_without_a_selected_element(look):
    view = look("?at=none")
    everything = set(np.ndindex(view.scene.shape))
    assert all(view.open_elements(key) == everything for key in PANELS)
    assert view.readout.index is None
    assert view.marked("stats") is None


def test_pointing_at_the_gap_between_facets_points_at_no_element(look):
    view = look("?at=0,0,0,0")
    view.hover("stats", (1, 1, 2, 2))
    spots = view.spots("stats")
    (left, top), (right, _) = spots[0, 0, 1, 3], spots[0, 1, 1, 0]
    view.page.mouse.move((left + right) / 2, top)
    assert view.readout.index == (0, 0, 0, 0)


def test_the_schematic_of_a_large_tensor_responds_to_the_pointer_and_counts_every_element(look):
    view = look("?shape=4,4,32,32&layer=GroupNorm(2,4)")
    drawn = {*itertools.product((0, 1, 3), (0, 1, 3), (0, 1, 2, 31), (0, 1, 2, 31))}
    assert all(view.spots(key).keys() == drawn for key in PANELS)
    for index in ((3, 3, 31, 2), (0, 1, 2, 31)):
        readout = view.hover("stats", index)
        assert_readout(readout, view.scene, index)
        assert readout.others == 2 * 32 * 32 - 1
        assert_only_peers_open(view, index)


def test_the_largest_tensor_that_is_drawn_whole_responds_to_the_pointer(look):
    view = look(f"?shape={MOST_ROWS},{MOST_COLUMNS}&layer=LayerNorm({MOST_COLUMNS})")
    assert all(view.spots(key).keys() == {*np.ndindex(view.scene.shape)} for key in PANELS)
    for index in ((MOST_ROWS - 1, MOST_COLUMNS - 2), (7, 19)):
        assert_readout(view.hover("stats", index), view.scene, index)
        assert_only_peers_open(view, index)
