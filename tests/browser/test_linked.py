"""The linked panels: whoever is pointed at, all panels leave open exactly its peers, and the read-out says who it is."""

import numpy as np
import pytest

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


def chosen(scene: Scene) -> list[Index]:
    """The first element, the last, and one in between."""
    last = int(np.prod(scene.shape)) - 1
    return [tuple(int(i) for i in np.unravel_index(flat, scene.shape)) for flat in (0, last * 3 // 5, last)]


def says(readout: Readout, scene: Scene, index: Index) -> None:
    """The read-out has the truth about the element."""
    e = scene.explanation
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


def opens(view: View, index: Index) -> None:
    """Every panel leaves open the peers of the element, by its own sharing, and veils the rest."""
    for key in PANELS:
        assert view.uncovered(key) == peers(view.scene, key, index), key


@pytest.mark.parametrize("query", LAYERS)
def test_pointing_at_an_element_leaves_exactly_its_peers_open_in_every_panel(look, query):
    each_panel_answers(look(query))


@pytest.mark.parametrize("query", LAYERS[:4])
def test_so_it_is_in_an_exported_file(look_file, query):
    each_panel_answers(look_file(query))


def each_panel_answers(view: View) -> None:
    for key, index in zip(("stats", "params", "output"), chosen(view.scene), strict=True):
        readout = view.hover(key, index)
        says(readout, view.scene, index)
        opens(view, index)
        assert view.marked("stats", "cursor") == (None if index == view.scene.at else index)


def test_pointing_elsewhere_gives_the_selected_element_back(look_both):
    view = look_both("?layer=BatchNorm2d(3)&at=0,1,2,3")
    says(view.readout, view.scene, (0, 1, 2, 3))
    opens(view, (0, 1, 2, 3))
    view.hover("stats", (1, 2, 0, 0))
    opens(view, (1, 2, 0, 0))
    assert view.marked("stats") == (0, 1, 2, 3)  # the frame stays with the selected one
    view.leave()
    says(view.readout, view.scene, (0, 1, 2, 3))
    opens(view, (0, 1, 2, 3))


def test_with_nothing_selected_nothing_is_veiled(look_both):
    view = look_both("?at=none")
    everything = set(np.ndindex(view.scene.shape))
    assert all(view.uncovered(key) == everything for key in PANELS)
    assert view.readout.index is None
    assert view.marked("stats") is None


def test_a_gutter_between_facets_is_nobody(look_both):
    view = look_both("?at=0,0,0,0")
    view.hover("stats", (1, 1, 2, 2))
    spots = view.spots("stats")
    (left, top), (right, _) = spots[0, 0, 1, 3], spots[0, 1, 1, 0]
    view.page.mouse.move((left + right) / 2, top)
    assert view.readout.index == (0, 0, 0, 0)


def test_all_16384_cells_draw_and_answer(look):
    view = look("?shape=4,4,32,32&layer=GroupNorm(2,4)")
    assert len(view.spots("stats")) == 16_384
    for index in ((3, 2, 31, 30), (0, 0, 0, 0), (2, 3, 7, 19)):
        says(view.hover("stats", index), view.scene, index)
        assert view.uncovered("stats") == peers(view.scene, "stats", index)
        assert view.uncovered("params") == peers(view.scene, "params", index)
