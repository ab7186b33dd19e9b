"""Files that answer their controls, opened from disk without a network, used as a reader uses them."""

import re
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from normviz.cli import main
from normviz.figures.bundle import plotly_js
from tests.browser.conftest import new_context
from tests.browser.readout import Readout
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser
READY = ".nv-view[data-state=ready]"
LAYER = ("LayerNorm([3,4,4])", "--shape", "2,3,4,4")
FILES = {
    "explore": LAYER,
    "shapes": (*LAYER, "--shapes", "2,6,8,8; 5,7", "--app", "https://example.org/lab"),
    "layers": ("--layers", "BatchNorm2d(3)", "BatchNorm2d(3).eval()", "LayerNorm([4,4])"),
    "compare": ("--lesson", "compare"),
    "steps": ("--lesson", "step_by_step"),
    "train": ("--lesson", "train_and_eval"),
    "gradients": ("--lesson", "gradients"),
    "numerics": ("--lesson", "numerics"),
    "fixed": (*LAYER, "--fixed"),
}
Open = Callable[..., Page]
Place = Page | FrameLocator


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, with plotly.js beside them, so that the browser compiles it only once; and one that contains it."""
    place = tmp_path_factory.mktemp("files")
    (place / "plotly.min.js").write_bytes(plotly_js())
    for name, arguments in FILES.items():
        assert main(["export", *arguments, "--plotlyjs", "plotly.min.js", "-o", str(place / f"{name}.html")]) == 0
    assert main(["export", *LAYER, "-o", str(place / "whole.html")]) == 0
    return place


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Watch]:
    context = new_context(browser, offline=True, permissions=["clipboard-read", "clipboard-write"])
    yield Watch(context.new_page())
    context.close()


@pytest.fixture
def show(tab: Watch, folder: Path) -> Iterator[Open]:
    """Open a file: ``show("explore", "layer=BatchNorm2d(3)")``. The test fails if the browser reports an error."""

    def go(name: str, fragment: str = "") -> Page:
        tab.page.goto("about:blank")
        tab.page.goto(f"{(folder / name).as_uri()}.html{fragment and '#'}{fragment}")
        tab.page.locator(READY).first.wait_for()
        return tab.page

    yield go
    tab.check()


def choose(place: Place, label: str, option: str) -> None:
    place.get_by_label(label, exact=True).select_option(label=option)


def segment(place: Place, name: str | re.Pattern[str], option: str) -> None:
    place.get_by_role("radiogroup", name=name).get_by_role("radio", name=option, exact=True).check()


def expect_sentence(place: Place, text: str) -> None:
    expect(place.locator(".nv-sentence")).to_contain_text(text)


def expect_fragment(page: Page, text: str) -> None:
    page.wait_for_function("text => location.hash === text", arg=text)


def select_element(place: Place, key: str = "stats") -> str:
    """Select the element in the upper left corner: ``x[0, 0, 0, 0]``."""
    panel = place.locator(f".nv-panel-{key} .nv-over")
    panel.focus()
    for arrow in ("ArrowUp", "ArrowLeft") * 12:
        panel.press(arrow)
    panel.press("Enter")
    return place.locator(".nv-readout").inner_text()


def test_a_reader_chooses_every_layer_and_its_arguments_and_the_selected_element_stays(show):
    page = show("explore")
    families = page.get_by_label("Layer", exact=True).locator("option").all_inner_texts()
    assert families == [
        "LayerNorm", "RMSNorm", "BatchNorm2d", "InstanceNorm2d", "GroupNorm", "LayerNorm, C first", "One axis (dim)",
    ]  # fmt: skip
    assert select_element(page).startswith("x[0, 0, 0, 0]")
    segment(page, re.compile("normalized_shape"), "H, W")
    expect_sentence(page, "LayerNorm([4, 4]) on (2, 3, 4, 4): 6 means")
    choose(page, "Layer", "GroupNorm")
    segment(page, "num_groups", "3")
    expect_sentence(page, "GroupNorm(3, 3) on (2, 3, 4, 4): 6 means")
    for family in families:
        choose(page, "Layer", family)
        expect(page.locator(".nv-readout")).to_contain_text("x[0, 0, 0, 0]")
    expect_fragment(page, "#layer=DimNorm(4,dim=0)&at=0,0,0,0")


def test_more_has_the_switches_of_a_layer_and_stays_open(show):
    page = show("explore")
    choose(page, "Layer", "BatchNorm2d")
    page.get_by_text("More", exact=True).click()
    segment(page, "Mode", "eval()")
    expect_sentence(page, "BatchNorm2d(3).eval() on (2, 3, 4, 4): 3 running means")
    page.get_by_role("switch", name="affine: gamma, beta").uncheck()
    expect_sentence(page, "no gamma and no beta")
    expect(page.get_by_role("switch", name="affine: gamma, beta")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Mode", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Back to the start").click()
    expect_sentence(page, "LayerNorm([3, 4, 4])")


def test_sizes_and_the_layout_lead_to_the_tensors_of_the_file(show):
    page = show("shapes")
    size = page.get_by_label("C", exact=True)
    size.press("ArrowUp")  # 4 is not in the file
    expect_sentence(page, "LayerNorm([6, 8, 8]) on (2, 6, 8, 8)")
    expect(size).to_have_value("6")
    expect(size).to_be_focused()
    expect(page.get_by_label("N", exact=True)).to_be_disabled()
    segment(page, "Tensor", "N, D")
    expect_sentence(page, "LayerNorm([7]) on (5, 7)")
    expect_fragment(page, "#shape=5,7&layer=LayerNorm([7])")
    segment(page, "Tensor", "N, C, H, W")
    expect_sentence(page, "on (2, 3, 4, 4)")


def test_layers_narrow_the_choice(show):
    page = show("layers")
    options = page.get_by_label("Layer", exact=True).locator("option").all_inner_texts()
    assert options == ["BatchNorm2d(3)", "BatchNorm2d(3).eval()", "LayerNorm([4, 4])"]
    choose(page, "Layer", "BatchNorm2d(3).eval()")
    expect_sentence(page, "3 running means")
    expect(page.get_by_role("radiogroup")).to_have_count(0)


def test_the_fragment_holds_the_view_for_back_reload_and_a_copied_link(show):
    page = show("explore")
    choose(page, "Layer", "BatchNorm2d")
    expect_fragment(page, "#layer=BatchNorm2d(3)")
    select_element(page)
    expect_fragment(page, "#layer=BatchNorm2d(3)&at=0,0,0,0")
    choose(page, "Layer", "RMSNorm")
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.evaluate("location.href")
    page.go_back()
    expect_sentence(page, "BatchNorm2d(3)")
    expect(page.locator(".nv-readout")).to_contain_text("x[0, 0, 0, 0]")
    page.reload()
    expect_sentence(page, "BatchNorm2d(3)")
    page.goto(copied)
    expect_sentence(page, "RMSNorm([3, 4, 4])")
    page.locator(READY).wait_for()


@pytest.mark.parametrize(
    ("fragment", "sentence"),
    [
        ("layer=BatchNorm2d(3)&at=1,2,0,3", "BatchNorm2d(3)"),
        ("layer=LayerNorm((4, 4))&v=1", "LayerNorm([4, 4])"),
        ("layer=nn.GroupNorm(num_groups=3, num_channels=3)", "GroupNorm(3, 3)"),
        ("?shape=(2, 3, 4, 4)&layer=LayerNorm(4)&hide=code&data=normal".removeprefix("?"), "LayerNorm([4])"),
        ("layer=BatchNorm2d(3).eval()", "BatchNorm2d(3).eval()"),
        ("main", "LayerNorm([3, 4, 4])"),
    ],
)
def test_a_link_can_say_where_the_file_opens_in_other_words_too(show, fragment, sentence):
    page = show("explore", fragment)
    expect_sentence(page, f"{sentence} on (2, 3, 4, 4)")
    expect(page.locator(".nv-no-answer")).to_be_hidden()


@pytest.mark.parametrize("fragment", ["layer=LayerNorm([9])", "data=counting", "layer=<img src=x onerror=alert(1)>"])
def test_what_the_file_has_no_answer_for_is_said_and_leads_to_the_app_if_there_is_one(show, fragment):
    page = show("explore", fragment)
    expect(page.locator(".nv-no-answer")).to_contain_text("This file has no answer for ")
    expect(page.locator(".nv-no-answer *")).to_have_count(0)
    expect_sentence(page, "LayerNorm([3, 4, 4]) on (2, 3, 4, 4)")
    choose(page, "Layer", "RMSNorm")
    expect(page.locator(".nv-no-answer")).to_be_hidden()
    link = show("shapes", fragment).get_by_role("link", name="Open it in the app")
    assert link.get_attribute("href").startswith(f"https://example.org/lab/?{fragment[:5]}")


def test_links_to_the_app_follow_the_view(show):
    page = show("shapes")
    choose(page, "Layer", "GroupNorm")
    link = page.get_by_role("link", name="Open in the app")
    expect(link).to_have_attribute("href", "https://example.org/lab/?shape=2,3,4,4&layer=GroupNorm(1,3)")
    select_element(page)
    expect(link).to_have_attribute("href", "https://example.org/lab/?shape=2,3,4,4&layer=GroupNorm(1,3)&at=0,0,0,0")
    expect(show("explore").get_by_role("link", name="Open in the app")).to_have_count(0)


def test_compare_has_ready_made_sets_and_its_sentence_names_the_selected_element(show):
    page = show("compare")
    expect_sentence(page, "x[1, 2, 0, 3] shares its mean with 47 others under LayerNorm([3, 4, 4])")
    select_element(page, "stats0")
    expect_sentence(page, "x[0, 0, 0, 0] shares its mean with 47 others under LayerNorm([3, 4, 4])")
    page.get_by_role("button", name="Remove BatchNorm2d(3)").click()
    expect(page.locator(".nv-sentence")).not_to_contain_text("BatchNorm2d")
    choose(page, "Layers (2 to 6)", "LayerNorm([4])")
    expect_sentence(page, "x[0, 0, 0, 0] shares its mean with 47 others under LayerNorm([3, 4, 4]), 15 others")
    expect_sentence(page, "3 others under LayerNorm([4])")
    choose(page, "Ready-made sets", "The four on images")
    expect(page.locator(".nv-panel.nv-cube")).to_have_count(4)
    choose(page, "Ready-made sets", "your own")
    expect_sentence(page, "BatchNorm2d(3)")
    page.locator(".nv-panel-stats0 .nv-over").press("Escape")
    expect(page.locator(".nv-sentence")).to_be_hidden()


def test_step_by_step_keeps_the_step_when_the_layer_changes(show):
    page = show("steps")
    page.get_by_role("button", name="variance", exact=True).click()
    choose(page, "Layer", "BatchNorm2d")
    expect_sentence(page, "BatchNorm2d(3)")
    expect(page.locator(".nv-chip.nv-now")).to_have_text("variance")


EXPERIMENTS = {
    "train": ("Several devices", "devices (2 to 8)", "8"),
    "gradients": ("Change one input", "Values of x", "alternating −1 and 1"),
    "numerics": ("eps inside or outside", re.compile("^eps"), "0.001"),
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_page_of_experiments_answers_its_stated_settings(show, name):
    experiment, label, option = EXPERIMENTS[name]
    page = show(name)
    segment(page, "Experiment", experiment)
    before = page.locator(".nv-sentence").inner_text()
    page.get_by_role("combobox", name=label).select_option(label=option)
    expect(page.locator(".nv-sentence")).not_to_have_text(before)
    page.go_back()
    expect(page.locator(".nv-sentence")).to_have_text(before)


def test_a_slider_shows_its_value_and_changes_the_view(show):
    page = show("numerics")
    page.get_by_role("slider").press("ArrowLeft")
    expect(page.locator(".nv-control-value")).to_have_text("10⁵")
    expect_sentence(page, "At 10⁵")


def test_a_fixed_file_has_no_controls(show):
    page = show("fixed", "layer=BatchNorm2d(3)")
    expect_sentence(page, "LayerNorm([3, 4, 4])")
    expect(page.locator(".nv-controls")).to_have_count(0)


FRAMES = {
    "without storage": '<iframe sandbox="allow-scripts" src="whole.html#layer=BatchNorm2d(3)"></iframe>',
    "of the same site": '<iframe src="whole.html#layer=BatchNorm2d(3)"></iframe>',
    "srcdoc": '<iframe sandbox="allow-scripts" srcdoc="{html}"></iframe>',
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_file_answers_in_a_frame(tab, folder, kind):
    html = FRAMES[kind].format(html=escape((folder / "whole.html").read_text(encoding="utf-8")))
    (folder / "host.html").write_text(
        f"<!doctype html><style>iframe{{width:900px;height:700px}}</style>{html}", encoding="utf-8"
    )
    tab.page.goto((folder / "host.html").as_uri())
    frame = tab.page.frame_locator("iframe")
    frame.locator(READY).wait_for()
    expect_sentence(frame, "LayerNorm([3, 4, 4])" if kind == "srcdoc" else "BatchNorm2d(3)")
    choose(frame, "Layer", "GroupNorm")
    expect_sentence(frame, "GroupNorm(1, 3)")
    assert select_element(frame).startswith("x[0, 0, 0, 0]")
    copy = frame.get_by_role("button", name="Copy link")
    expect(copy).to_have_count(0 if kind == "srcdoc" else 1)
    if kind != "srcdoc":
        copy.click()
        expect(frame.get_by_role("button", name="Copied")).to_be_visible()
    tab.check()


def test_the_controls_fit_a_phone_in_both_themes(show):
    page = show("explore")
    for width, scheme in ((390, "light"), (320, "dark"), (1280, "light")):
        page.set_viewport_size({"width": width, "height": 780})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "width => innerWidth === width && document.documentElement.scrollWidth <= width", arg=width
        )
        page.get_by_text("More", exact=True).click()
        menu = page.locator(".nv-control-menu").bounding_box()
        assert menu["x"] >= 0
        assert menu["x"] + menu["width"] <= width
        page.keyboard.press("Escape")
    fields = page.locator("input[type=number].nv-control-field, select.nv-control-field")
    assert len({field.bounding_box()["y"] for field in fields.all()}) == 1  # one row on a laptop


OLD = Path(__file__).parents[1] / "export" / "old"


def test_a_file_of_version_1_still_opens(tab, folder):
    (folder / "lib").mkdir(exist_ok=True)
    (folder / "lib" / "plotly.min.js").write_bytes(plotly_js())
    (folder / "old.html").write_bytes((OLD / "view-v1.html").read_bytes())
    tab.page.goto((folder / "old.html").as_uri())
    tab.page.locator(READY).wait_for()
    expect_sentence(tab.page, "LayerNorm([3]) on (2, 3): 2 means")
    assert Readout(tab.page.locator(".nv-readout").inner_text()).index == (0, 1)
    tab.check()
