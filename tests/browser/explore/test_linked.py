"""The linked panels: all panels veil every cell except the peers of the element under the pointer, and the read-out describes it.

The read-out and the outlined elements of other layers are tested in node, in tests/scripts.
"""

import itertools

import numpy as np
import pytest

from normviz.scene.grid import MOST_COLUMNS, MOST_ROWS
from tests.browser.agreement import assert_readout
from tests.browser.view import Index, View, peers

pytestmark = pytest.mark.browser

PANELS = ("stats", "params", "x", "normalized", "output")


def assert_only_peers_open(view: View, index: Index) -> None:
    """Assert that every panel veils all cells except the peers of the element under its own sharing."""
    for key in PANELS:
        assert view.open_elements(key) == peers(view.scene, key, index), key


def assert_linked(view: View, places: dict[str, Index]) -> None:
    """Assert that the view responds to the pointer at these elements, each in its panel."""
    for key, index in places.items():
        assert_readout(view.hover(key, index), view.scene, index)
        assert_only_peers_open(view, index)
        assert view.marked("stats", "cursor") == (None if index == view.scene.at else index)


def test_pointing_at_an_element_veils_all_cells_except_its_peers_in_every_panel(look, subtests):
    """Facets of images, of which two axes are beside each other, and a matrix; groups that no axis ends; no beta, and no gamma."""
    for query, places in (
        (
            "?layer=Norm('n (g k) h w -> g h',None,sizes={'g':2})&shape=2,4,2,3",
            [(0, 0, 0, 0), (1, 0, 1, 1), (1, 3, 1, 2)],
        ),
        ("?shape=2,3,4,3&layout=NHWC&layer=ChannelsFirstLayerNorm(3)", [(0, 0, 0, 0), (1, 0, 2, 1), (1, 2, 3, 2)]),
        ("?shape=4,6&layer=LayerNorm(6,bias=False)", [(0, 0), (2, 1), (3, 5)]),
    ):
        with subtests.test(query):
            assert_linked(look(query), dict(zip(("stats", "params", "output"), places, strict=True)))


def test_a_file_responds_to_the_pointer_too(look_file):
    view = look_file("?shape=2,4,4,4&layer=GroupNorm(2,4)&params=random")
    assert_linked(view, {"stats": (0, 0, 0, 0), "params": (1, 0, 3, 0), "output": (1, 3, 3, 3)})


def test_without_a_pointer_the_selected_element_is_shown_or_nothing_is_veiled(look):
    view = look("?shape=2,3,4,4&layer=BatchNorm2d(3)&at=0,1,2,3")
    assert_readout(view.readout, view.scene, (0, 1, 2, 3))
    assert_only_peers_open(view, (0, 1, 2, 3))
    view.hover("stats", (1, 2, 0, 0))
    assert_only_peers_open(view, (1, 2, 0, 0))
    assert view.marked("stats") == (0, 1, 2, 3)  # the frame stays at the selected element
    spots = view.spots("stats")
    (left, top), (right, _) = spots[0, 0, 1, 3], spots[0, 1, 1, 0]
    view.page.mouse.move((left + right) / 2, top)  # the gap between facets
    assert_readout(view.readout, view.scene, (0, 1, 2, 3))
    view.leave()
    assert_readout(view.readout, view.scene, (0, 1, 2, 3))
    assert_only_peers_open(view, (0, 1, 2, 3))
    view = look("?at=none")
    everything = set(np.ndindex(view.scene.shape))
    assert all(view.open_elements(key) == everything for key in PANELS)
    assert view.readout.index is None
    assert view.marked("stats") is None


def test_a_large_tensor_responds_to_the_pointer_whole_or_as_a_schematic_that_counts_every_element(look):
    view = look("?shape=4,4,32,32&layer=GroupNorm(2,4)")
    drawn = {*itertools.product((0, 1, 3), (0, 1, 3), (0, 1, 2, 31), (0, 1, 2, 31))}
    assert all(view.spots(key).keys() == drawn for key in PANELS)
    for index in ((3, 3, 31, 2), (0, 1, 2, 31)):
        readout = view.hover("stats", index)
        assert_readout(readout, view.scene, index)
        assert readout.others == 2 * 32 * 32 - 1
        assert_only_peers_open(view, index)
    view = look(f"?shape={MOST_ROWS},{MOST_COLUMNS}&layer=LayerNorm({MOST_COLUMNS})")
    assert all(view.spots(key).keys() == {*np.ndindex(view.scene.shape)} for key in PANELS)
    for index in ((MOST_ROWS - 1, MOST_COLUMNS - 2), (7, 19)):
        assert_readout(view.hover("stats", index), view.scene, index)
        assert_only_peers_open(view, index)
