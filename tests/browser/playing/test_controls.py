"""The controls of files that answer, opened from disk without a network, used as a reader uses them."""

import re
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from tests.browser.playing.files import choose, expect_fragment, expect_sentence, segment, select_first_element

pytestmark = pytest.mark.browser


def test_a_reader_chooses_every_layer_and_its_arguments_and_the_selected_element_stays(show):
    page = show("explore")
    families = page.get_by_label("Layer", exact=True).locator("option").all_inner_texts()
    assert families == [
        "BatchNorm2d", "LayerNorm", "InstanceNorm2d", "GroupNorm", "RMSNorm", "LayerNorm, C first", "One axis (dim)",
    ]  # fmt: skip
    assert select_first_element(page).startswith("x[0, 0, 0, 0]")
    segment(page, re.compile("normalized_shape"), "H, W")
    expect_sentence(page, "LayerNorm([4, 4]) on (2, 3, 4, 4): 6 means")
    choose(page, "Layer", "GroupNorm")
    segment(page, "num_groups", "3")
    expect_sentence(page, "GroupNorm(3, 3) on (2, 3, 4, 4): 6 means")
    for family in families:
        choose(page, "Layer", family)
        expect(page.locator(".nv-readout")).to_contain_text("x[0, 0, 0, 0]")
    expect_fragment(page, "#layer=DimNorm(4,dim=0)&at=0,0,0,0")


def test_a_change_writes_the_new_groups_and_keeps_the_texts_that_stay(show):
    page = show("explore")
    texts = ".nv-panel-stats .nv-text text"
    page.evaluate("texts => document.querySelectorAll(texts).forEach(text => text.before = text.textContent)", texts)
    segment(page, re.compile("normalized_shape"), "H, W")
    expect_sentence(page, "LayerNorm([4, 4])")
    seen = page.evaluate(
        "texts => [...document.querySelectorAll(texts)].map(text => [text.textContent, text.before ?? ''])", texts
    )
    planes = [f"mean {plane}" for plane in range(6)]
    assert sorted(text for text, _ in seen) == sorted(2 * planes)  # each in a muted and in a strong text
    kept = [[text, before] for text, before in seen if before]
    assert kept == 2 * [["mean 0", "mean 0"]]  # the first channel of the first example


def test_the_toggles_lead_to_positions_with_and_without_a_name_and_the_others_to_the_app(show):
    page = show("shapes")

    def toggle(panel, axis):
        return page.locator(f".nv-panel-{panel} .nv-toggle-group").get_by_role("button", name=axis)

    toggle("stats", "N, examples").click()
    expect_sentence(page, "LayerNorm([2, 3, 4, 4]) on (2, 3, 4, 4): 1 mean and 1 variance")
    toggle("stats", "H, rows").click()
    expect_sentence(page, "on (2, 3, 4, 4): 4 means and 4 variances, each from 24 elements")
    expect(toggle("params", "H, rows")).to_have_attribute(
        "aria-pressed", "false"
    )  # gamma is for each normalized element
    assert unquote(page.evaluate("location.hash")) == "#shape=2,3,4,4&layer=Norm('n c h w -> h','n c w')"
    expect(toggle("params", "C, channels")).to_be_disabled()
    link = page.locator(".nv-panel-params .nv-rest a")
    expect(link).to_have_text("Others in the app")
    assert link.get_attribute("href").startswith("https://example.org/lab/")
    choose(page, "Layer", "GroupNorm")
    page.get_by_role("button", name="more groups").click()
    expect_sentence(page, "GroupNorm(1, 3)")
    page.go_back()
    page.go_back()
    expect_sentence(page, "4 means and 4 variances")


def test_a_changed_value_ends_with_the_next_view(show):
    page = show("explore")
    line = page.locator(".nv-readout")
    expect(line).to_contain_text("x[1, 2, 0, 3] = 0.73")
    page.get_by_role("slider", name="x[1, 2, 0, 3]").press("End")
    expect(line).not_to_contain_text("x[1, 2, 0, 3] = 0.73")
    segment(page, re.compile("normalized_shape"), "H, W")
    expect(line).to_contain_text("x[1, 2, 0, 3] = 0.73")


def test_the_trained_networks_that_a_reader_chooses_are_in_the_fragment(show):
    page = show("train")
    segment(page, "Experiment", "Training a network")
    page.get_by_role("slider", name="batch size").press("End")
    expect_sentence(page, "batches of 128 with BatchNorm")
    page.locator(".nv-training").get_by_role("radio", name="LayerNorm").check(force=True)
    page.wait_for_function("() => location.hash.endsWith('&show=training&norm=LayerNorm&batch=128')")
    page.reload()
    expect_sentence(page, "batches of 128 with LayerNorm")
    segment(page, "Experiment", "Small batches")
    page.wait_for_function("() => location.hash.endsWith('&show=batches&batch_size=8')")


def test_gamma_and_beta_of_the_sliders_are_in_the_fragment_until_another_layer_is_chosen(show):
    page = show("shapes")
    page.get_by_role("button", name="Show all four").click()
    page.get_by_role("slider", name="gamma").fill("1.8")
    expect_fragment(page, "#shape=2,3,4,4&layer=LayerNorm([3,4,4])&gamma=1.8&beta=0")
    assert "gamma=1.8&beta=0" in page.locator(".nv-app-link").first.get_attribute("href")
    page.reload()
    expect(page.locator(".nv-slider output")).to_have_text(["1.8 for every element", "0 for every element"])
    expect(page.locator(".nv-no-view")).to_be_hidden()
    page.get_by_role("button", name="The layer's own").click()
    expect_fragment(page, "#shape=2,3,4,4&layer=LayerNorm([3,4,4])")
    page.get_by_role("slider", name="gamma").fill("2")
    segment(page, re.compile("normalized_shape"), "H, W")
    expect_fragment(page, "#shape=2,3,4,4&layer=LayerNorm([4,4])")
    expect(page.locator(".nv-slider output").first).to_have_text("1")


def test_more_has_the_switches_of_a_layer_or_says_why_it_has_no_mode_and_stays_open(show):
    page = show("explore")
    page.get_by_text("More", exact=True).click()
    note = page.get_by_text("train() and eval() do the same for this layer.")
    expect(note).to_be_visible()
    page.keyboard.press("Escape")
    choose(page, "Layer", "BatchNorm2d")
    page.get_by_text("More", exact=True).click()
    expect(note).to_have_count(0)
    segment(page, "Mode", "eval()")
    expect_sentence(page, "BatchNorm2d(3).eval() on (2, 3, 4, 4): 3 running means")
    page.get_by_role("switch", name="affine: gamma, beta").uncheck()
    expect_sentence(page, "no gamma and no beta")
    expect(page.get_by_role("switch", name="affine: gamma, beta")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_text("Mode", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Back to the start").click()
    expect_sentence(page, "LayerNorm([3, 4, 4])")


def test_the_help_of_a_control_describes_it_and_opens_with_the_keyboard_and_a_click(show):
    page = show("shapes")
    text = page.locator(".nv-control-help > p")
    group = page.get_by_role("radiogroup", name="Tensor", exact=True)
    expect(group).to_have_accessible_description(re.compile("N: examples"))
    button = page.get_by_label("Help: Tensor")
    button.press("Enter")
    expect(text).to_be_visible()
    page.keyboard.press("Escape")
    expect(text).to_be_hidden()
    expect(button).to_be_focused()
    button.click()
    expect(text).to_be_visible()
    page.locator(".nv-sentence").click()
    expect(text).to_be_hidden()


def test_sizes_and_the_layout_lead_to_the_tensors_of_the_file(show):
    page = show("shapes")
    size = page.get_by_label("C", exact=True)
    size.press("ArrowUp")  # the file has no tensor of that size
    expect_sentence(page, "LayerNorm([6, 8, 8]) on (2, 6, 8, 8)")
    expect(size).to_have_value("6")
    expect(size).to_be_focused()
    expect(page.get_by_label("N", exact=True)).to_be_disabled()
    segment(page, "Tensor", "N, D")
    expect_sentence(page, "LayerNorm([7]) on (5, 7)")
    expect_fragment(page, "#shape=5,7&layer=LayerNorm([7])")
    # a name for each mean, and none of the tensor before
    expect(page.locator(".nv-panel-stats .nv-text text")).to_have_count(2 * 5)
    segment(page, "Tensor", "N, C, H, W")
    expect_sentence(page, "on (2, 3, 4, 4)")


def test_layers_narrow_the_choice(show):
    page = show("layers")
    options = page.get_by_label("Layer", exact=True).locator("option").all_inner_texts()
    assert options == ["BatchNorm2d(3)", "BatchNorm2d(3).eval()", "LayerNorm([4, 4])"]
    choose(page, "Layer", "BatchNorm2d(3).eval()")
    expect_sentence(page, "3 running means")
    expect(page.get_by_role("radiogroup")).to_have_count(0)


def test_compare_has_ready_made_sets_and_its_sentence_names_the_selected_element(show):
    page = show("compare")
    sets = page.get_by_label("Ready-made sets", exact=True)
    expect(sets.locator("option:checked")).to_have_text("The four on images")
    expect(page.locator(".nv-panel.nv-cube")).to_have_count(4)
    expect_sentence(page, "x[2, 3, 0, 1] shares its mean with 29 others under BatchNorm2d(4)")
    select_first_element(page, "stats0")
    expect_sentence(page, "x[0, 0, 0, 0] shares its mean with 29 others under BatchNorm2d(4)")
    page.get_by_role("radio", name="gamma", exact=True).check()
    expect(page.locator(".nv-row.nv-params")).to_be_visible()
    expect(page.locator(".nv-row.nv-stats")).to_be_hidden()
    assert "cards=gamma" in page.url
    page.get_by_role("radio", name="mean", exact=True).check()
    page.get_by_role("button", name="Remove BatchNorm2d(4)").click()
    expect(page.locator(".nv-sentence")).not_to_contain_text("BatchNorm2d")
    expect(sets.locator("option:checked")).to_have_text("your own")
    choose(page, "Layers (2 to 6)", "RMSNorm([2])")
    expect_sentence(page, "x[0, 0, 0, 0] shares its mean with 39 others under LayerNorm([4, 5, 2]), 9 others")
    expect_sentence(page, "1 other under RMSNorm([2])")
    choose(page, "Ready-made sets", "All called LayerNorm")
    expect(page.locator(".nv-panel.nv-cube")).to_have_count(3)
    expect_sentence(page, "x[0, 0, 0, 0] shares its mean with 39 others under LayerNorm([4, 5, 2]), 3 others")
    choose(page, "Ready-made sets", "your own")
    expect_sentence(page, "BatchNorm2d(4)")
    page.locator(".nv-panel-stats0 .nv-over").press("Escape")
    expect(page.locator(".nv-sentence")).to_be_hidden()


def test_step_by_step_keeps_the_step_when_the_layer_changes(show):
    page = show("steps")
    page.get_by_role("button", name="variance", exact=True).click()
    choose(page, "Layer", "BatchNorm2d(3)")
    expect_sentence(page, "BatchNorm2d(3)")
    expect(page.locator(".nv-chip.nv-now")).to_have_text("variance")


EXPERIMENTS = {
    "train": ("Several devices", "devices", "8"),
    "gradients": ("Change one input", "Special values of x", "alternating −1 and 1"),
    "numerics": ("eps inside or outside", re.compile("^eps"), "0.001"),
}


def test_a_page_of_experiments_answers_its_stated_settings_and_a_slider_shows_its_value(show, subtests):
    page = show("numerics")
    page.get_by_role("slider").press("ArrowLeft")
    expect(page.locator(".nv-control-value")).to_have_text("10⁵")
    expect_sentence(page, "At a distance of 10⁵ in")
    for name in EXPERIMENTS:
        with subtests.test(name):
            experiment, label, option = EXPERIMENTS[name]
            page = show(name)
            segment(page, "Experiment", experiment)
            before = page.locator(".nv-sentence").inner_text()
            if name == "gradients":
                page.locator(".nv-control-more > summary").click()
            page.get_by_role("combobox", name=label).select_option(label=option)
            expect(page.locator(".nv-sentence")).not_to_have_text(before)
            page.go_back()
            expect(page.locator(".nv-sentence")).to_have_text(before)


def test_a_fixed_file_has_no_controls(show):
    page = show("fixed", "layer=BatchNorm2d(3)")
    expect_sentence(page, "LayerNorm([3, 4, 4])")
    expect(page.locator(".nv-controls")).to_have_count(0)


def test_the_controls_fit_a_phone_in_both_themes(show):
    page = show("explore")
    for width, scheme in ((390, "light"), (320, "dark"), (1280, "light")):
        page.set_viewport_size({"width": width, "height": 780})
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "width => innerWidth === width && document.documentElement.scrollWidth <= width", arg=width
        )
        fold = page.get_by_role("button", name="Explore: LayerNorm([3, 4, 4])")
        expect(fold).to_have_count(int(width < 760))
        if fold.count() and fold.get_attribute("aria-expanded") == "false":
            expect(page.get_by_label("Layer", exact=True)).to_be_hidden()
            expect(page.get_by_role("button", name="Share", exact=True)).to_be_visible()
            fold.click()
        page.get_by_text("More", exact=True).click()
        menu = page.locator(".nv-control-menu").bounding_box()
        assert menu["x"] >= 0
        assert menu["x"] + menu["width"] <= width
        page.keyboard.press("Escape")
    controls = page.locator(".nv-control-row[data-key=controls] > .nv-control")  # one line on a laptop
    expect(controls.locator(".nv-control-field")).to_have_count(5)  # the sizes and the layer
    expect(controls.locator(".nv-segments")).to_have_count(1)  # the argument
    assert len({one.bounding_box()["y"] for one in controls.locator(".nv-control-field, .nv-segments").all()}) == 1
