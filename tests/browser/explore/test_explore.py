"""The Explore page in a browser: the first view, clicks, and the controls that need more than one change.

What a single control changes is tested without a browser, in tests/lessons/explore.
"""

import pytest
from playwright.sync_api import expect

from normviz.analysis.sentences import sentence
from normviz.code.programs import code
from normviz.scene.options import DATA_LABELS
from normviz.scene.scene import DEFAULT_SHAPE
from normviz.texts.messages import format_difference
from tests.browser.agreement import assert_arithmetic
from tests.browser.view import View, number, peers

pytestmark = pytest.mark.browser
WARNING = ".nv-problem"


def test_without_a_query_everything_is_visible_without_scrolling_and_the_sentence_is_the_largest_text(look):
    view = look("?")
    view.find("[data-testid=stMain]").evaluate("main => main.scrollTo({ top: 0, behavior: 'instant' })")
    assert view.scene.shape == DEFAULT_SHAPE
    height, width = view.page.viewport_size["height"], view.page.viewport_size["width"]
    for part in (".st-key-controls", ".nv-sentence", ".nv-panel-stats", ".nv-panel-params", ".nv-readout"):
        box = view.find(part).bounding_box()
        assert min(box["x"], box["y"]) >= 0, part
        assert box["x"] + box["width"] <= width, part
        assert box["y"] + box["height"] <= height, part
    stats, params = (view.find(f".nv-panel-{key}").bounding_box() for key in ("stats", "params"))
    assert stats["y"] == params["y"]
    assert stats["x"] + stats["width"] <= params["x"]
    size = "element => parseFloat(getComputedStyle(element).fontSize)"
    largest = view.find(".nv-sentence").evaluate(size)
    others = view.find(".nv-title, .nv-readout, .nv-count dd, .st-key-controls label").evaluate_all(
        f"all => all.map({size})"
    )
    assert largest > max(others)
    assert "**" in sentence(view.scene.shape_description)
    number_color = view.find(".nv-sentence strong").first.evaluate("e => getComputedStyle(e).color")
    accent = view.find(".nv-frame").first.evaluate("e => getComputedStyle(e).stroke")
    assert number_color == accent


# What a reader presses, types in or opens on the page: a list with its button is one control, and the header is not of the page.
CONTROLS = """() => [...document.querySelectorAll("[data-testid=stMain] :is(button, a[href], input, select, textarea, summary, [role=slider])")].filter(
  (one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".nvs-corner, .nv-tools, [role=dialog]") && one.tabIndex >= 0
    && one.getBoundingClientRect().width > 1).length"""


def test_there_are_at_most_28_controls(look):
    for query, groups in (("?", 0), ("?layer=BatchNorm2d(4)", 0), ("?layer=GroupNorm(2,4)", 1)):
        view = look(query)
        view.show_stages(every=False)  # without the sliders
        assert 20 < view.page.evaluate(CONTROLS) <= 28 + groups, query  # channels in groups have two toggles


def test_a_click_selects_and_the_arithmetic_and_the_counts_are_those_of_torch(look):
    view = look("?layer=BatchNorm2d(3)&data=scales&params=index")
    assert_a_click_selects(view)
    e = view.scene.description
    assert e.norm.stats.replace("->", "→") in view.find(".nv-panel-stats .nv-caption").inner_text()
    assert [text.split("\n")[0] for text in view.unfold(".nv-count dd").all_inner_texts()][:2] == [
        f"{e.counts.statistics:,}",
        f"{e.counts.elements_per_statistic:,}",
    ]
    assert f"= {e.counts.parameters}" in view.find(".nv-count dd").nth(2).inner_text()


def test_a_click_selects_in_a_file_too(look_file):
    assert_a_click_selects(look_file("?shape=2,3,4,4&layer=LayerNorm([4,4])&params=random"))


def assert_a_click_selects(view: View) -> None:
    index = tuple(size - 2 for size in view.scene.shape)
    view.click("stats", index)
    view.wait_for_view(at=",".join(map(str, index)))
    view.leave()
    assert view.marked("stats") == view.marked("output") == index
    assert view.open_elements("x") == peers(view.scene, "x", index)
    assert f"x[{', '.join(map(str, index))}]" in view.unfold(".nv-worked h2").inner_text()
    assert_arithmetic(view.worked(), view.scene, index)


def test_names_that_depend_on_the_rank_follow_it_and_the_next_change_does_not_send_the_old_ones(look):
    """The browser keeps what is chosen in a control, and the rank changes its name: BatchNorm2d."""
    view = look("?shape=2,3,4,4&layer=BatchNorm2d(3,eps=0.001)")
    view.choose("Tensor", "N, L, C")
    view.wait_for_view(shape="2,5,3", layer="ChannelsLastBatchNorm(3,eps=0.001)")
    view.write("C", "6")
    view.wait_for_view(shape="2,5,6", layer="ChannelsLastBatchNorm(6,eps=0.001)")
    view.choose("Tensor", "N, C, H, W")
    view.wait_for_view(layer="BatchNorm2d(6,eps=0.001)")
    view.more()
    expect(view.page.get_by_role("combobox", name="Layer")).to_have_value("BatchNorm2d(6, eps=0.001)")
    view.less()
    view = look("?shape=2,3,4,4&layer=LayerNorm([3,4,4])")
    view.choose("Tensor", "N, L, C")
    view.wait_for_view(layer="LayerNorm([3])")
    view.write("C", "6")
    view.wait_for_view(shape="2,5,6", layer="LayerNorm([6])")


def test_more_shows_the_current_scene_when_it_is_opened_late_and_stays_open_for_several_changes(look):
    """The browser makes a popover's fields only when it opens, after any number of runs."""
    view = look("?shape=2,4,4,4&layer=GroupNorm(2,4,eps=1e-06)&data=scales&seed=3&params=index")
    view.click("stats", (0, 0, 0, 0))
    view.wait_for_view(at="0,0,0,0")
    view.go("?shape=2,3,5&layer=BatchNorm1d(3,eps=1e-08).eval()&data=images&seed=2&params=random&at=0,0,0")
    view.more()
    fields = {"Values of x": DATA_LABELS["images"], "Seed": "2", "Values of gamma and beta": "random", "eps": "1e-08"}  # fmt: skip
    for name, value in fields.items():
        expect(view.field(name)).to_have_value(value)
    expect(view.page.get_by_role("switch", name="bias")).to_be_checked()
    expect(view.page.get_by_role("radio", name="eval()")).to_be_checked()
    before = view.query
    view.choose("Values of x", DATA_LABELS["counting"])
    view.wait_for_view(data="counting")
    assert view.query == {name: text for name, text in before.items() if name != "data"} | {"data": "counting"}
    view.segment("Mode", "train()")
    view.wait_for_view(layer="BatchNorm1d(3,eps=1e-08)")
    view.toggle("affine")
    view.wait_for_view(layer="BatchNorm1d(3,eps=1e-08,affine=False)")
    view.less()


def test_a_file_has_the_code_of_the_layer_and_a_table_that_opens_and_closes_with_a_key(look_file):
    view = look_file("?shape=2,4,4,4&layer=GroupNorm(2,4)")
    e = view.scene.description
    tabs = {"torch.nn": "torch", "torch from scratch": "torch-scratch", "NumPy": "numpy", "einops": "einops", "loops": "loops"}  # fmt: skip
    view.unfold(".nv-code")
    for name, flavor in tabs.items():
        view.page.get_by_role("tab", name=name, exact=True).click()
        shown = view.find("[role=tabpanel] .nv-code code").locator("visible=true")
        expect(shown).to_have_text(code(e, flavor), use_inner_text=True)
    expect(view.page.get_by_text("matches torch.nn.GroupNorm")).to_contain_text(
        f"largest difference {format_difference(e.agreement)}"
    )
    view.unfold(".nv-counts, .nv-count")
    view.find(".nv-table summary").focus()
    view.page.keyboard.press("Enter")
    rows = view.find(".nv-table tbody tr")
    rows.nth(3).wait_for()
    means = [number(row.split("\t")[1]) for row in rows.all_inner_texts()]
    assert means == pytest.approx(e.trace.mean.flatten().tolist()[::2], abs=6e-4)  # two channels share a mean
    view.page.keyboard.press("Enter")  # the focus has not moved
    rows.first.wait_for(state="hidden")


LAYER_HELP = "Help for Layer as code, or an error of torch"


def test_the_tensor_and_the_layer_have_their_help_beside_them(tab) -> None:
    view, watch = tab
    view.visit("gradients?hide=")  # where the field has less room
    view.page.get_by_role("button", name=LAYER_HELP).hover()
    expect(view.page.get_by_role("tooltip").filter(has_text="F.layer_norm(x, x.shape[1:])")).to_be_visible()
    view.go("?at=none")
    view.more()
    for label, words in (
        ("Help for Values of x", "Above 1,048,576 elements, values are computed"),
        (LAYER_HELP, "F.layer_norm(x, x.shape[1:])"),
    ):
        view.page.get_by_role("button", name=label).hover()
        expect(view.page.get_by_role("tooltip").filter(has_text=words)).to_be_visible()
    view.less()
    watch.check()
