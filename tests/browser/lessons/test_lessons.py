"""Compare, Step by step, Train and eval and Gradients in a browser: pointing, stepping, experiments."""

import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from normviz.analysis.comparison import compare
from normviz.analysis.description import Description
from normviz.analysis.excerpt import steps
from normviz.figures.palette import theme
from normviz.lessons.compare.page import fit_layers
from tests.browser.lessons.lesson import NARROW, READY, WIDE, Lesson
from tests.browser.view import Index

pytestmark = pytest.mark.browser

# Compare


def test_enter_adds_the_layer_that_was_typed(lesson: Lesson) -> None:
    """Other layers resemble it: RMSNorm([4, 4]), RMSNorm([3, 4, 4])."""
    lesson.go_to("compare", "?shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4])")
    field = lesson.page.get_by_role("combobox", name=re.compile("^Layers"))
    for typed in ("RMSNorm([4])", "LayerNorm(4,eps=0.1)"):
        field.press_sequentially(typed)
        field.press("Enter")
    field.press("Escape")  # closes the list
    lesson.wait_for_address(layers="BatchNorm2d(3);LayerNorm([3, 4, 4]);RMSNorm([4]);LayerNorm([4], eps=0.1)")


def group(e: Description, index: Index) -> set[Index]:
    return {index, *e.peers(index)}


def elements_with_the_same_parameters(e: Description, index: Index) -> set[Index]:
    return {index, *e.parameter_peers(index)} if e.norm.params is not None else set(np.ndindex(e.shape))


def filled_faces(view: Lesson, number: int) -> list[str]:
    """The paths of the filled faces of a layer's cube."""
    return (
        view.find(".nv-panel.nv-cube")
        .nth(number)
        .locator(".nv-fill")
        .evaluate_all("faces => faces.map(face => face.getAttribute('d'))")
    )


def test_pointing_at_an_element_shows_its_peers_under_every_layer_at_once(lesson: Lesson) -> None:
    layers = "BatchNorm2d(3);LayerNorm([3,4,4]);InstanceNorm2d(3);GroupNorm(3,3)"
    lesson.go_to("compare", f"?shape=2,3,4,4&layers={layers}&at=0,0,0,0")
    scene = lesson.scene
    explanations = compare(fit_layers(layers.split(";"), scene)[0], scene.shape, scene.layout).descriptions
    before, light = [filled_faces(lesson, number) for number in range(4)], theme("light")
    for cards, panel, index in (
        ("mean", "stats0", (1, 2, 0, 3)),
        ("gamma", "params1", (0, 1, 3, 2)),
        ("mean", "stats3", (1, 1, 2, 1)),
    ):
        lesson.show_cards(cards)
        readout = lesson.hover(panel, index)
        assert f"x[{', '.join(map(str, index))}]" in readout.text
        for number, e in enumerate(explanations):
            if cards == "mean":
                assert lesson.open_elements(f"stats{number}") == group(e, index)
            else:
                assert lesson.open_elements(f"params{number}") == elements_with_the_same_parameters(e, index)
            others = e.counts.elements_per_statistic - 1
            assert f"{e.title}: {others} share its mean" in readout.text
            label = lesson.find(".nv-panel.nv-cube svg").nth(number).get_attribute("aria-label")
            count = e.counts.statistics
            assert label == f"{e.title}: one of {count} groups, {others + 1} elements filled"
            assert lesson.find(".nv-panel.nv-cube").nth(number).locator(".nv-here").count() > 0
            color = (
                lesson.find(".nv-panel.nv-cube svg")
                .nth(number)
                .evaluate("cube => cube.style.getPropertyValue('--nv-brick')")
            )
            assert color == (light.few + light.more)[int(e.stat_ids[index])]
    after = [filled_faces(lesson, number) for number in range(4)]
    assert all(one != other for one, other in zip(before, after, strict=True))
    assert len({tuple(faces) for faces in after}) == 3  # GroupNorm(3, 3) has InstanceNorm's groups


# Do the filled faces of every cube lie within it?
FILLED_WITHIN = """() => [...document.querySelectorAll(".nv-cube-svg")].every((cube) => {
  const { left, right, top, bottom } = cube.getBoundingClientRect(), faces = [...cube.querySelectorAll(".nv-fill")].map((face) => face.getBoundingClientRect());
  return faces.length && faces.every((face) => face.left >= left && face.right <= right && face.top >= top && face.bottom <= bottom);
})"""


def test_the_group_is_drawn_within_its_cube_when_the_window_gets_narrow(lesson: Lesson) -> None:
    lesson.go_to("compare", "?shape=3,4,5,2&layers=BatchNorm2d(4);LayerNorm([4,5,2])&at=2,3,0,1&cards=cube")
    lesson.resize(NARROW)
    lesson.page.wait_for_function(FILLED_WITHIN)


def test_a_click_on_one_panel_selects_in_all_and_a_selection_by_keyboard_keeps_the_focus(lesson: Lesson) -> None:
    lesson.go_to("compare", "?shape=3,4&layers=BatchNorm1d(4);LayerNorm(4)&cards=gamma")
    lesson.click("params1", (0, 1))
    lesson.wait_for_address(at="0,1")
    expect(lesson.sentence).to_contain_text(
        "x[0, 1] shares its mean with 2 others under BatchNorm1d(4) and 3 others under"
    )
    lesson.leave()
    lesson.wait_until_drawn()
    assert {lesson.marked(key) for key in ("params0", "params1")} == {(0, 1)}
    lesson.show_cards("mean")
    assert {lesson.marked(key) for key in ("stats0", "stats1")} == {(0, 1)}
    panel = lesson.find(".nv-panel-stats1 .nv-over")
    panel.focus()
    for key in ("ArrowLeft", "Enter"):
        lesson.page.keyboard.press(key)
    lesson.wait_for_address(at="0,0")
    expect(lesson.sentence).to_contain_text("x[0, 0]")
    expect(panel).to_be_focused()
    lesson.go_to("compare", "?shape=3,4&layers=LayerNorm(4);BatchNorm1d(4);RMSNorm(4)&at=0,0")
    assert lesson.find(".nv-params .nv-panel").count() == 3
    expect(lesson.find(".nv-panel-stats1 .nv-title")).to_contain_text("BatchNorm1d")


def test_a_switch_chooses_what_is_drawn_of_each_layer_and_the_address_names_it(lesson: Lesson) -> None:
    lesson.go_to("compare", "?shape=2,3,4,2&layers=BatchNorm2d(3);LayerNorm([3,4,2])&at=1,2,0,1")
    group = lesson.page.get_by_role("radiogroup", name="What each layer shares")
    rows = [lesson.find(f".nv-row.nv-{row}") for row in ("stats", "params", "cube")]

    def expect_cards(number: int, name: str | None) -> None:
        lesson.wait_for_address(cards=name)
        for place, row in enumerate(rows):
            assert row.is_visible() == (place == number)
        expect(group.get_by_role("radio").nth(number)).to_be_checked()

    assert group.get_by_role("radio").count() == 3
    expect_cards(0, None)
    group.get_by_role("radio", checked=True).focus()
    for number, name in ((1, "gamma"), (2, "cube")):
        lesson.page.keyboard.press("ArrowRight")
        expect_cards(number, name)
    assert lesson.find(".nv-here").count() > 0
    lesson.page.keyboard.press("ArrowRight")
    expect_cards(0, None)
    lesson.click("stats0", (0, 0, 0, 0))  # another view does not change the cards
    lesson.wait_for_address(at="0,0,0,0", cards=None)
    lesson.visit("compare?shape=2,3,4,2&layers=BatchNorm2d(3);LayerNorm([3,4,2])&cards=gamma&hide=cube")
    expect(group.get_by_role("radio")).to_have_count(2)
    lesson.visit("compare?shape=2,3,4,2&layers=BatchNorm2d(3);LayerNorm([3,4,2])&cards=gamma&hide=cube,params")
    expect(group).to_have_count(0)
    expect(rows[0]).to_be_visible()


# By the width of the window, the largest height of the page in px.
TALLEST = ((WIDE, 1900), (NARROW, 2900))


def test_compare_is_short_and_its_table_opens(lesson: Lesson) -> None:
    lesson.go_to("compare", "?shape=2,4,3,5&layers=BatchNorm2d(4);LayerNorm([4,3,5]);InstanceNorm2d(4);GroupNorm(2,4)")
    for screen, tallest in TALLEST:
        lesson.resize(screen)
        for cards in ("gamma", "mean as a cube", "mean"):
            lesson.show_cards(cards)
            assert lesson.page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") <= tallest
    rows = lesson.find(".nv-table-box tbody tr").locator("visible=true")
    assert rows.count() == 5
    lesson.find(".nv-all-rows > summary").press("Enter")
    expect(rows).to_have_count(20)


# Step by step


def test_the_buttons_and_names_of_the_steps_change_panels_and_address(lesson: Lesson) -> None:
    lesson.go_to("step_by_step", "?shape=3,4&layer=LayerNorm(4)")
    made = steps(lesson.scene.description)
    chips = lesson.find(".nv-chip")
    assert chips.all_inner_texts() == [step.title for step in made]

    def expect_step(number: int) -> None:
        expect(lesson.find(".nv-chip.nv-now")).to_have_text(made[number].title)
        lesson.wait_for_address(step=str(number) if number != 1 else None)
        wanted = made[number].values.expand(3, 4).numpy()
        expect(lesson.find(".nv-panel-after .nv-title" if number else ".nv-panel-before .nv-title")).to_have_text(
            made[number].title
        )
        np.testing.assert_allclose(lesson.drawn("after" if number else "before"), wanted, rtol=1e-5)

    expect_step(1)
    lesson.page.get_by_role("button", name="Next step").click()
    expect_step(2)
    lesson.page.get_by_role("button", name="Previous step").click()
    expect_step(1)
    chips.nth(6).click()
    expect_step(6)
    chips.nth(0).click()
    expect_step(0)
    lesson.page.go_back()
    expect_step(6)
    lesson.page.get_by_role("button", name="More", exact=True).click()
    lesson.page.get_by_role("button", name="Back to the start").click()
    expect(lesson.find(".nv-chip.nv-now")).to_have_text(made[1].title)
    lesson.page.keyboard.press("Escape")
    expect(lesson.page.get_by_role("button", name="Back to the start")).to_have_count(0)


def test_play_continues_to_the_last_step_and_a_step_shows_the_arithmetic_of_the_selected_element(
    lesson: Lesson,
) -> None:
    lesson.go_to("step_by_step", "?shape=3,4&layer=RMSNorm(4)&step=3")
    lesson.page.get_by_role("button", name="Play").click()
    expect(lesson.find(".nv-chip.nv-now")).to_have_text("scaled")
    lesson.wait_for_address(step="4")
    expect(lesson.page.get_by_role("button", name="Play")).to_have_text("▶ Play")
    lesson.go_to("step_by_step", "?shape=2,2&layer=LayerNorm(2)&values=1,5,2,3&step=1&at=0,0")
    expect(lesson.find(".nv-worked .nv-how")).to_have_text("(1 + 5) / 2")
    expect(lesson.find(".nv-worked .nv-result")).to_have_text("= 3")
    assert lesson.find(".nv-loops .nv-now").all_inner_texts() == ["", "n = 0", "d = 0", "d = 0"]
    lesson.click("after", (1, 0))
    assert lesson.find(".nv-loops .nv-now").all_inner_texts() == ["", "n = 1", "d = 0", "d = 0"]
    expect(lesson.find(".nv-worked .nv-how")).to_have_text("(2 + 3) / 2")
    lesson.wait_for_address(at="1,0")


@pytest.mark.parametrize("layer", ["LayerNorm([4,3,5])", "BatchNorm2d(4)"])
def test_each_step_fits_into_one_screen_with_the_rows_of_dots_that_it_has_reached(lesson: Lesson, layer: str) -> None:
    lesson.page.set_viewport_size(WIDE)
    lesson.go_to("step_by_step", f"?shape=2,4,3,5&layer={layer}&step=0")
    for number, rows in enumerate([1, 1, 2, 2, 2, 3, 4]):  # x, mean, centered, squared, variance, normalized, output
        lesson.find(".nv-chip").nth(number).click()
        expect(lesson.find(".nv-chip.nv-now")).to_have_text(lesson.find(".nv-chip").nth(number).inner_text())
        lesson.wait_until_drawn()
        assert lesson.find(".nv-strips .nv-baseline").count() == lesson.find(".nv-strips .nv-rule-text").count() == rows
        for part in (".nv-formula", ".nv-strips", ".nv-panel-before", ".nv-panel-after"):
            box = lesson.find(part).bounding_box()
            assert box
            assert box["y"] + box["height"] <= WIDE["height"], (number, part)
        assert lesson.find("[data-testid=stMain]").evaluate("main => main.scrollTop") == 0
    expect(lesson.find(".nv-more pre").first).to_be_hidden()
    expect(lesson.find(".nv-loops pre")).to_be_visible()


# Train and eval, Gradients


def test_choosing_another_experiment_changes_the_figure(lesson: Lesson) -> None:
    lesson.go_to("train_and_eval", "?show=stream")
    expect(lesson.find(READY)).to_have_count(2)
    lesson.page.get_by_role("slider", name="momentum (0 to 1, or none)").press("End")
    lesson.wait_for_address(momentum="none")
    expect(lesson.find(".nv-text").filter(has_text="every batch has the same weight")).to_have_count(1)
    lesson.segment("Experiment", "Small batches")
    lesson.wait_for_address(show="batches")
    expect(lesson.find(".nv-chart-plot[role=img]")).to_have_count(1)
    expect(lesson.sentence).to_contain_text("the smaller the batch")
    lesson.page.go_back()
    expect(lesson.find(READY)).to_have_count(2)


def test_a_smaller_batch_changes_the_training_at_once_and_the_address_when_the_slider_rests(lesson: Lesson) -> None:
    lesson.go_to("train_and_eval")
    expect(lesson.page.get_by_role("slider", name="batch size")).to_have_attribute("aria-valuetext", "2")
    with_norm, _in_train, without = (
        float(text.rstrip(" %")) for text in lesson.find(".nv-training .nv-sentence strong").all_inner_texts()[1:]
    )
    assert without - with_norm > 20  # it opens where BatchNorm fails
    lesson.go_to("train_and_eval", "?show=training&batch=8")
    slider, figure = lesson.page.get_by_role("slider", name="batch size"), lesson.find(".nv-training")
    expect(lesson.sentence).to_contain_text("batches of 8 with BatchNorm")
    before = lesson.find(".nv-training-region.nv-class-1").last.get_attribute("d")
    moved = """slider => {
      slider.value = 0;
      slider.dispatchEvent(new InputEvent("input", { bubbles: true }));
      return document.querySelector(".nv-training .nv-sentence").textContent;
    }"""
    assert "batches of 2 with BatchNorm" in slider.evaluate(moved)  # while the reader drags
    assert lesson.find(".nv-training-region.nv-class-1").last.get_attribute("d") != before
    slider.press("ArrowRight")
    lesson.wait_for_address(batch="4")
    figure.get_by_role("radio", name="GroupNorm").check(force=True)
    lesson.wait_for_address(norm="GroupNorm", batch="4")
    expect(lesson.sentence).to_contain_text("batches of 4 with GroupNorm")
    expect(figure.get_by_role("img")).to_have_count(3)
    lesson.page.go_back()
    expect(lesson.sentence).to_contain_text("batches of 4 with BatchNorm")
    lesson.page.reload()
    expect(lesson.sentence).to_contain_text("batches of 4 with BatchNorm")


# What each visible panel draws in a cell: its color, and the ends of the scale.
SCALES = """() => [...document.querySelectorAll(".nv-panel")].filter((panel) => panel.checkVisibility())
  .map((panel) => panel.querySelector(".nv-key").innerText.replace(/same mean/, "").trim().split(/\\s+/))"""


def test_panels_that_are_compared_have_one_scale(lesson: Lesson) -> None:
    for address, panels in (
        ("step_by_step?step=2&shape=2,3,4,4&layer=LayerNorm([3,4,4])", 2),
        ("gradients?shape=2,3,4,4&layer=LayerNorm([3,4,4])", 3),
    ):
        lesson.visit(address)
        lesson.ready()
        scales = lesson.page.evaluate(SCALES)
        assert len(scales) == panels
        assert len(scales[0]) == 2  # both ends
        assert len({tuple(one) for one in scales}) == 1, (address, scales)


def test_the_shelf_saves_the_chosen_exercises_as_files(lesson: Lesson) -> None:
    lesson.visit("teach?seed=3&count=2&level=1")
    with lesson.page.expect_download() as saved:
        lesson.page.get_by_role("link", name="Moodle XML").first.click()
    assert saved.value.suggested_filename.endswith(".xml")
    assert Path(saved.value.path()).read_text(encoding="utf-8").count("<question type=") >= 2
    kinds = lesson.find("a[download]").evaluate_all(
        "all => all.map((link) => new URL(link.href).searchParams.get('format') ?? 'tour')"
    )
    assert set(kinds) == {"moodle", "qti", "anki", "scorm", "html", "paper", "answers", "json", "tour"}


def test_moving_another_input_changes_the_sentence(lesson: Lesson) -> None:
    lesson.go_to("gradients", "?shape=3,4&layer=LayerNorm(4)&at=0,1")
    expect(lesson.sentence).to_contain_text("4 of 12 derivatives with respect to x[0, 1] are not 0")
    assert set(map(tuple, np.argwhere(lesson.drawn("autograd")))) == {(0, column) for column in range(4)}
    lesson.click("autograd", (2, 2))
    lesson.wait_for_address(at="2,2")
    expect(lesson.sentence).to_contain_text("4 of 12 derivatives with respect to x[2, 2] are not 0")
    lesson.page.wait_for_function(
        "() => document.querySelector('.nv-panel-autograd .nv-plot').data[0].z[0].every(value => value === 0)"
    )
    assert set(map(tuple, np.argwhere(lesson.drawn("autograd")))) == {(2, column) for column in range(4)}
    assert lesson.open_elements("autograd") == {(2, column) for column in range(4)}


# The list of pages


def test_the_list_of_pages_keeps_the_scene(lesson: Lesson) -> None:
    lesson.visit("?shape=2,6&layer=RMSNorm(6)")
    lesson.wait_for_scene()
    lesson.page.get_by_role("navigation", name="Views of this tensor").get_by_role("link", name="Compare").click()
    lesson.wait_for_address(shape="2,6", layer="RMSNorm([6])")
    lesson.ready()
    expect(lesson.find(".nv-stats .nv-title").first).to_have_text("RMSNorm([6])")
