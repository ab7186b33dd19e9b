"""The distribution of the selected group: it follows the selection, its dots are elements, and its sliders move gamma and beta."""

import numpy as np
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

SMALL = "?shape=3,4&layer=LayerNorm(4)&data=counting&at=0,3&open=values,worked"  # the rows 0 1 2 3, 4 5 6 7, 8 9 10 11


def test_the_sliders_change_all_results_a_dot_is_an_element_and_the_title_names_the_selected_one(look):
    view = look(SMALL)
    view.show_stages(every=True)
    normalized = view.scene.description.trace.normalized.numpy()
    for name, value in (("gamma", "2"), ("beta", "-1")):
        view.find(f".nv-slider:has-text('{name}') input").evaluate(
            "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')); }", value
        )
    expect(view.find(".nv-readout")).to_contain_text("gamma[3] = 2 and beta[3] = −1")
    assert "times gamma = 2, plus beta = −1; mean −1 · variance 3.99997" in view.find(".nv-strips").get_attribute(
        "aria-label"
    )
    view.page.wait_for_function("() => !document.querySelector('.nv-panel-output .nv-cells')")  # Plotly draws later
    drawn = view.page.evaluate(
        "() => document.querySelector('.nv-panel-output .nv-plot').data[0].z.map((line) => [...line])"
    )
    np.testing.assert_allclose(drawn, 2 * normalized - 1, rtol=1e-5)
    assert view.worked()[-1][2] == "= 1.683"
    view.page.get_by_role("button", name="The layer's own").click()
    expect(view.find(".nv-readout")).to_contain_text("gamma[3] = 1 and beta[3] = 0")
    view.wait_for_scene()

    title = view.find(".nv-distribution h2")
    expect(title).to_have_text("From x to the output: the 4 values in the group of x[0, 3]")
    dots = view.find(".nv-dot-shape")
    assert dots.count() == 16  # four values at four stages
    dots.first.hover()
    assert view.readout.index == (0, 0)
    dots.first.click()
    expect(title).to_contain_text("x[0, 0]")
    view.wait_for_view(at="0,0")
    view.click("x", (2, 1))
    expect(title).to_contain_text("x[2, 1]")
    view.wait_for_view(at="2,1")


# The paths that the outline of the statistics panel has until it stands still.
SLOWER = "delete performance.now; performance.now = () => Performance.prototype.now.call(performance) / 3"  # a busy machine draws few frames
RECORD = """() => {
  const path = () => document.querySelector(".nv-panel-stats .nv-outline")?.getAttribute("d");
  window.paths = [];
  new MutationObserver(() => path() && window.paths.push(path())).observe(document.body, { attributes: true, childList: true, subtree: true });
}"""


def test_the_outline_grows_into_the_one_of_another_layer_and_not_for_a_reader_who_prefers_reduced_motion(look):
    view = look("?shape=2,3,4,4&layer=LayerNorm([3,4,4])&at=0,0,0,0")
    expected = {}
    for motion in ("reduce", "no-preference"):
        view.page.emulate_media(reduced_motion="reduce")  # the clock must not turn back while an outline grows
        look("?shape=2,3,4,4&layer=LayerNorm([3,4,4])&at=0,0,0,0")
        view.page.emulate_media(reduced_motion=motion)
        view.page.evaluate(RECORD)
        view.page.evaluate(SLOWER)
        look("?shape=2,3,4,4&layer=LayerNorm([4,4])&at=0,0,0,0")
        view.page.wait_for_function(
            "last => paths.length && (!last || paths.at(-1) === last)", arg=expected.get("reduce")
        )
        expected[motion] = view.page.evaluate("paths.at(-1)")
        distinct = view.page.evaluate("new Set(paths).size")
        assert (distinct > 2) == (motion == "no-preference"), (motion, distinct)
    view.page.emulate_media(reduced_motion="reduce")
    view.page.evaluate("delete performance.now")
    assert expected["reduce"] == expected["no-preference"]
