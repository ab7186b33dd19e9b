"""The Explore page in a browser: the first view, clicks, and the controls that need more than one change."""

import re
from math import sqrt

import pytest
from playwright.sync_api import expect

from normviz.analysis.forward import run_module
from normviz.analysis.sentences import sentence
from normviz.code.generate import code
from normviz.scene.controls import FAMILY_LABELS
from normviz.scene.scene import DEFAULT_SHAPE, PATTERN_FAMILY, Scene
from normviz.scene.scene_settings import DATA_LABELS, PARAMETER_LABELS
from normviz.texts.numbers import format_difference
from tests.browser.view import number, peers

pytestmark = pytest.mark.browser
WARNING = ".nv-problem"


def test_without_a_query_everything_is_visible_without_scrolling(look):
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
    heading, greeting = (view.find(part).bounding_box() for part in ("h1 span span", ".nv-greeting"))
    assert heading["x"] + heading["width"] < greeting["x"]


def test_a_newcomer_is_offered_start_here_until_it_has_been_opened(look):
    view, offer = look("?"), ".nv-greeting a[data-page=start]"
    view.page.evaluate("localStorage.removeItem('normviz.start')")
    view = look("?at=0,0,0,0")
    view.find(offer).click()
    view.find("[data-testid=stMain] .nv-start-path").wait_for()
    view = look("?")
    expect(view.find(offer)).to_have_count(0)


def test_a_panel_shows_its_question_and_pattern_and_the_counts(look):
    view = look("?layer=GroupNorm(3,3)")
    e = view.scene.description
    assert e.norm.stats.replace("->", "→") in view.find(".nv-panel-stats .nv-caption").inner_text()
    assert [text.split("\n")[0] for text in view.find(".nv-count dd").all_inner_texts()][:2] == [
        f"{e.counts.statistics:,}",
        f"{e.counts.elements_per_statistic:,}",
    ]
    assert f"= {e.counts.parameters}" in view.find(".nv-count dd").nth(2).inner_text()


CLICKED = [
    "?layer=LayerNorm([4,4])&params=random",
    "?layer=BatchNorm2d(3)&data=scales&params=index",
    "?layer=BatchNorm2d(3).eval()&params=random",
    "?shape=3,4&layer=RMSNorm(4)&params=random",
    "?shape=3,4&layer=LayerNorm(4,elementwise_affine=False)&data=counting",
    "?shape=2,4,3,3&layer=GroupNorm(4,4,eps=0.1)&data=images",
]


@pytest.mark.parametrize(
    ("look_both", "query"), [("file", CLICKED[0]), *(("app", query) for query in CLICKED[1:])], indirect=["look_both"]
)
def test_a_click_selects_and_the_arithmetic_agrees_with_torch(look_both, query):
    view = look_both(query)
    index = tuple(size - 2 for size in view.scene.shape)
    view.click("stats", index)
    view.wait_for_view(at=",".join(map(str, index)))
    view.leave()
    assert view.marked("stats") == view.marked("output") == index
    assert view.open_elements("x") == peers(view.scene, "x", index)
    assert f"x[{', '.join(map(str, index))}]" in view.find(".nv-worked h2").inner_text()
    assert_arithmetic(view.worked(), view.scene, index)


def assert_arithmetic(lines: list[tuple[str, str, str]], scene: Scene, index: tuple[int, ...]) -> None:
    """Assert that each result is that of torch, and that each line of arithmetic is correct."""
    e = scene.description
    group = e.x[e.stat_ids == e.stat_ids[index]].double()
    mean, variance = (group.mean(), group.var(unbiased=False)) if e.norm.center else (0, group.square().mean())
    held = e.layer_values()
    if e.norm.running:
        mean, variance = (float(stat[index[1]]) for stat in (held.running_mean, held.running_var))
    expected = {
        "sum": group.sum(),
        "mean": mean,
        "squared deviations": variance * len(group),
        "squares": variance * len(group),
        "variance": variance,
        "mean square": variance,
        "deviation": e.x[index] - mean,
        "normalized": (float(e.x[index]) - mean) / (variance + e.trace.eps) ** 0.5,
        "output": run_module(e.torch_layer, e.x, held)[index],
    }
    assert {"normalized", "output"} <= {what for what, _, _ in lines}
    for what, how, result in lines:
        shown = number(result.removeprefix("="))
        assert shown == pytest.approx(float(expected[what]), rel=2e-3, abs=2e-3), what
        if not re.search("[a-z…]", how):
            largest = max(abs(number(word)) for word in re.findall(r"[\d.e]+(?:e\u2212\d+)?", how))
            assert evaluate(how) == pytest.approx(shown, rel=5e-3, abs=2e-3 * max(1, largest)), (what, how)


def evaluate(how: str) -> float:
    """The value of a line of arithmetic, which may contain only digits and signs."""
    text = how.replace("\u2212", "-").replace("²", "**2").replace("·", "*").replace(",", "")
    assert re.fullmatch(r"[\d\s.e()√*/+-]+", text), how
    return float(eval(text.replace("√", "sqrt"), {"__builtins__": {}, "sqrt": sqrt}))


def test_the_layer_has_the_torch_name_for_its_rank(look):
    """The browser keeps the chosen name; after the rank has changed the name, the next change must not send the old one."""
    view = look("?layer=BatchNorm2d(3,eps=0.001)")
    view.segment("Tensor", "N, L, C")
    view.wait_for_view(shape="2,4,3", layer="BatchNorm1d(4,eps=0.001)")
    expect(view.page.get_by_role("combobox", name="Layer")).to_have_value("BatchNorm1d")
    view.write("L", "5")
    view.wait_for_view(shape="2,5,3", layer="BatchNorm1d(5,eps=0.001)")
    view.segment("Tensor", "N, C, H, W")
    view.wait_for_view(layer="BatchNorm2d(3,eps=0.001)")
    expect(view.page.get_by_role("combobox", name="Layer")).to_have_value("BatchNorm2d")


def test_the_trailing_axes_stay_chosen_when_their_letters_change(look):
    view = look("?layer=LayerNorm([4])")
    view.segment("Tensor", "N, L, C")
    view.wait_for_view(layer="LayerNorm([3])")
    expect(
        view.page.get_by_role("radiogroup", name="normalized_shape").get_by_role("radio", name="C", exact=True)
    ).to_be_checked()
    view.write("C", "6")
    view.wait_for_view(shape="2,4,6", layer="LayerNorm([6])")


def test_num_groups_offers_the_divisors_of_c(look):
    view = look("?shape=2,6,4,4&layer=GroupNorm(2,6)")
    assert view.find(".st-key-num_groups [role=radio]").all_inner_texts() == ["1", "2", "3", "6"]
    view.segment("num_groups", "3")
    view.wait_for_view(layer="GroupNorm(3,6)")


def test_more_has_the_data_the_parameters_and_the_other_arguments_of_the_layer(look):
    view = look("?layer=BatchNorm2d(3)")
    view.more()
    view.choose("Values of x", DATA_LABELS["counting"])
    view.wait_for_view(data="counting")
    view.choose("Values of gamma and beta", PARAMETER_LABELS["random"])
    view.wait_for_view(params="random")
    view.choose("eps", "0.001")
    view.wait_for_view(layer="BatchNorm2d(3,eps=0.001)")
    view.segment("Mode", "eval()")
    view.wait_for_view(layer="BatchNorm2d(3,eps=0.001).eval()")
    view.segment("Mode", "train()")
    view.toggle("track_running_stats")
    view.wait_for_view(layer="BatchNorm2d(3,eps=0.001,track_running_stats=False)")
    view.toggle("affine")
    view.wait_for_view(layer="BatchNorm2d(3,eps=0.001,affine=False,track_running_stats=False)")
    assert view.scene.shape_description.counts.parameters == 0
    view.choose("Layout", "(N, H, W, C)")
    view.wait_for_view(layout="NHWC")
    view.less()


def test_more_shows_the_current_scene_when_it_is_opened_late(look):
    """The browser makes a popover's fields only when it opens, after any number of runs."""
    view = look("?shape=2,4,4,4&layer=GroupNorm(2,4,eps=1e-06)&data=scales&seed=3&params=index")
    view.click("stats", (0, 0, 0, 0))
    view.wait_for_view(at="0,0,0,0")
    view.go("?shape=2,3,5&layer=BatchNorm1d(3,eps=1e-08).eval()&data=images&seed=2&params=random&at=0,0,0")
    view.more()
    fields = {"Layout": "(N, C, L)", "Values of x": DATA_LABELS["images"], "Seed": "2", "Values of gamma and beta": "random", "eps": "1e-08"}  # fmt: skip
    for name, value in fields.items():
        expect(view.field(name)).to_have_value(value)
    expect(view.page.get_by_role("switch", name="bias")).to_be_checked()
    expect(view.page.get_by_role("radio", name="eval()")).to_be_checked()
    before = view.query
    view.choose("Values of x", DATA_LABELS["counting"])
    view.wait_for_view(data="counting")
    assert view.query == {name: text for name, text in before.items() if name != "data"} | {"data": "counting"}
    view.less()


def test_reset_restores_the_defaults(look):
    view = look("?shape=4,6&layer=BatchNorm1d(6)&data=counting&at=1,2")
    view.page.get_by_role("button", name="Back to the start").click()
    view.wait_for_view(shape=None, layer=None, data=None, at=None)
    assert view.scene == Scene(DEFAULT_SHAPE, "NCHW", view.scene.layer, at=view.scene.at)


def test_a_custom_pattern_can_be_typed(look):
    view = look("?")
    view.choose("Layer", FAMILY_LABELS[PATTERN_FAMILY])
    stats, params = (view.find(f".st-key-own_{part} input") for part in ("stats", "params"))
    expect(stats).to_have_value(
        view.wait_for_view(layer="Norm('n c h w -> n','c h w')").scene.shape_description.norm.stats
    )
    view.write(stats, "n c h w -> h w")
    view.wait_for_view(layer="Norm('n c h w -> h w','c h w')")
    view.write(params, "none")
    view.wait_for_view(layer="Norm('n c h w -> h w')")
    view.write(stats, "n c h w -> q")
    warning = view.find(WARNING)
    warning.wait_for()
    assert "'q'" in warning.inner_text()
    view.wait_for_view(layer="Norm('n c h w -> h w')")


def test_the_code_of_the_layer_and_its_agreement_with_torch_are_shown(look_both):
    view = look_both("?shape=2,4,4,4&layer=GroupNorm(2,4)")
    e = view.scene.description
    tabs = {"torch.nn": "torch", "torch from scratch": "torch-scratch", "NumPy": "numpy", "einops": "einops", "loops": "loops"}  # fmt: skip
    for name, flavor in tabs.items():
        view.page.get_by_role("tab", name=name, exact=True).click()
        shown = view.find("[role=tabpanel] .nv-code code").locator("visible=true")
        expect(shown).to_have_text(code(e, flavor), use_inner_text=True)
    expect(view.page.get_by_text("matches torch.nn.GroupNorm")).to_contain_text(
        f"largest difference {format_difference(e.agreement)}"
    )


def test_the_table_of_statistics_opens_and_closes_with_a_key(look_both):
    view = look_both("?layer=BatchNorm2d(3)")
    summary, e = view.find(".nv-table summary"), view.scene.description
    summary.focus()
    view.page.keyboard.press("Enter")
    rows = view.find(".nv-table tbody tr")
    rows.nth(2).wait_for()
    means = [number(row.split("\t")[1]) for row in rows.all_inner_texts()]
    assert means == pytest.approx(e.trace.mean.flatten().tolist(), abs=6e-4)
    view.page.keyboard.press("Enter")  # the focus has not moved
    rows.first.wait_for(state="hidden")


def test_the_sentence_is_the_largest_text(look):
    view = look("?")
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
