"""Every pointer action by keyboard, and the texts for screen readers."""

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.view import Index, View, number, peers

pytestmark = pytest.mark.browser

QUESTIONS = {"stats": "Who shares my mean and variance?", "params": "Who shares my gamma and beta?"}
MOST = 16  # stops between two panels: toggles, the index, the dot, sliders and folds


def drawn_indices(view: View) -> np.ndarray:
    """The flat index of every element at its place on the screen, -1 in gaps."""
    scene = view.scene
    laid = scene.grid.flatten(np.arange(int(np.prod(scene.shape))).reshape(scene.shape))
    return np.where(np.isnan(laid), -1, laid).astype(int)


def element(view: View, flat: int) -> Index:
    return tuple(int(i) for i in np.unravel_index(flat, view.scene.shape))


def press(view: View, key: str) -> Index | None:
    view.page.keyboard.press(key)
    return view.readout.index


def test_arrow_keys_cross_the_gaps_between_facets_and_stop_at_the_border(look):
    view = look("?shape=5,2,3&layer=LayerNorm(3)&at=0,0,0")  # facets in two rows; the last row is not full
    view.panel("stats").focus()
    lines = [[element(view, flat) for flat in line if flat >= 0] for line in drawn_indices(view)]
    rows = [line for line in lines if line]
    columns = [[element(view, flat) for flat in line if flat >= 0] for line in drawn_indices(view).T if max(line) >= 0]
    for arrow, way in (("ArrowRight", rows[0]), ("ArrowLeft", rows[0][::-1])):
        assert [press(view, arrow) for _ in way] == [*way[1:], way[-1]]
    for arrow, way in (("ArrowDown", columns[0]), ("ArrowUp", columns[0][::-1])):
        assert [press(view, arrow) for _ in way] == [*way[1:], way[-1]]
    assert view.scene.at == rows[0][0]  # arrow keys select nothing


def test_every_panel_has_a_role_a_name_and_a_description_and_its_cursor_veils_cells_as_the_pointer_does(look):
    view = look("?shape=2,3,4,4&layer=BatchNorm2d(3)&at=0,0,0,0&open=values,worked")
    for key in ("stats", "params", "x", "normalized", "output"):
        panel, figure = view.panel(key), view.find(f".nv-panel-{key}")
        assert panel.get_attribute("role") == "application"
        if key in QUESTIONS:  # the title holds toggles, which are a group with the title's words
            group = figure.locator(".nv-title .nv-toggle-group")
            assert figure.locator(".nv-title > span").first.inner_text() == group.get_attribute("aria-label")
            assert group.get_by_role("button").count() == 4
            assert panel.get_attribute("aria-label") == QUESTIONS[key]
        else:
            assert panel.get_attribute("aria-label") == figure.locator(".nv-title").inner_text()
        about, read_out = (
            view.find(f"#{name}").inner_text() for name in panel.get_attribute("aria-describedby").split()
        )
        assert figure.locator(".nv-caption > span").inner_text() in about
        assert read_out == view.readout.text
    view.panel("params").focus()
    for _ in range(5):
        index = press(view, "ArrowRight")
    assert index == (0, 1, 0, 1)
    for key in ("stats", "params", "x", "normalized", "output"):
        assert view.open_elements(key) == peers(view.scene, key, index), key
        assert view.marked(key, "cursor") == index
    view.page.keyboard.press("Tab")  # the cursor disappears when the focus leaves
    assert view.readout.index == (0, 0, 0, 0)


def test_tab_reaches_every_panel_and_the_focus_is_visible(look):
    view = look("?shape=4,6&layer=LayerNorm(6)&open=values,worked")
    view.focus_start()
    for key in ("stats", "params", "x"):
        for _ in range(MOST):
            view.page.keyboard.press("Tab")
            if view.panel(key).evaluate("panel => panel === document.activeElement"):
                break
        expect(view.panel(key)).to_be_focused()
        outline = view.panel(key).evaluate("panel => getComputedStyle(panel).outline")
        assert "solid" in outline
        assert "2px" in outline


def test_enter_selects_and_escape_clears(look):
    view = look("?shape=2,3,4,4&layer=GroupNorm(3,3)&at=0,0,0,0&open=values,worked")
    view.panel("stats").focus()
    press(view, "ArrowDown")
    press(view, "ArrowDown")
    view.page.keyboard.press("Enter")
    view.wait_for_view(at="0,0,2,0")
    assert view.marked("stats") == (0, 0, 2, 0)
    assert "x[0, 0, 2, 0]" in view.find(".nv-worked h2").inner_text()
    expect(view.panel("stats")).to_be_focused()  # the focus has not moved
    assert press(view, "ArrowRight") == (0, 0, 2, 1)
    view.page.keyboard.press("Escape")
    view.wait_for_view(at="none")
    assert view.marked("stats") is None
    assert view.readout.index is None
    assert view.open_elements("stats") == set(np.ndindex(view.scene.shape))
    assert press(view, "ArrowRight") == (0, 0, 0, 0)  # an arrow key starts again


def test_the_element_at_the_cursor_is_announced(look):
    view = look("?shape=3,4&layer=LayerNorm(4)&at=1,1")
    announced = view.page.get_by_role("status").and_(view.find(".nv-hidden"))
    x = view.scene.description.x
    view.panel("stats").focus()
    for key, index in (
        ("ArrowRight", (1, 2)),
        ("n", (1, 3)),
        ("g", (2, 0)),
        ("Shift+G", (1, 0)),
        ("p", (2, 0)),
        ("End", (2, 3)),
    ):
        assert press(view, key) == index
        element, _, rest = announced.inner_text().partition(" = ")
        value, _, shares = rest.partition("; ")
        assert element == f"x[{index[0]}, {index[1]}]"
        assert number(value) == pytest.approx(float(x[index]), rel=1e-3)
        assert shares == f"shares its mean with 3 others: all of example {index[0]}"
    view.panel("params").focus()
    press(view, "ArrowLeft")
    assert announced.inner_text().endswith("; shares its gamma with 2 others: all of feature 0")
    assert (
        announced.evaluate("e => getComputedStyle(e).display !== 'none' && getComputedStyle(e).visibility") == "visible"
    )


def test_the_buttons_of_the_header_come_before_the_controls_and_tab_enters_a_row_of_buttons_at_the_chosen_one(look):
    view = look("?layer=BatchNorm2d(3)&at=0,0,0,0")
    view.page.get_by_role("button", name="Project", exact=True).focus()
    group = view.page.get_by_role("radiogroup", name="Layer", exact=True)
    view.page.keyboard.press("Tab")
    expect(view.page.get_by_role("combobox", name="Tensor")).to_be_focused()
    view.page.keyboard.press("Tab")
    expect(view.field("N")).to_be_focused()
    for _axis in view.scene.axes:
        view.page.keyboard.press("Tab")
    expect(group.get_by_role("radio", name="BatchNorm", exact=True)).to_be_focused()
    view.page.keyboard.press("Tab")
    view.page.keyboard.press("Shift+Tab")
    expect(group.get_by_role("radio", name="BatchNorm", exact=True)).to_be_focused()
