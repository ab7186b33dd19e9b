"""The lesson pages in a browser: pointing, stepping, experiments, predicting."""

import re
from urllib.parse import parse_qsl

import numpy as np
import pytest
from playwright.sync_api import expect

from normviz.analysis.comparing.comparison import compare
from normviz.analysis.description import Description
from normviz.analysis.steps import steps
from normviz.figures.palette import theme
from normviz.lessons.figure_pages.compare.fit_layers import fit_layers
from normviz.lessons.page.pages import PAGES
from normviz.lessons.questions.question import answer, facts_of, prose
from normviz.lessons.questions.registry import QUESTIONS, search
from tests.browser.lessons.lesson import NARROW, READY, Lesson
from tests.browser.view import Index

pytestmark = pytest.mark.browser

SAME_ANSWER = [one for one in QUESTIONS.values() if prose(one.key).options and facts_of(one)["right"] == "batch"][:2]
CHOICE = next(one for one in QUESTIONS.values() if prose(one.key).options and one.page == "compare")


# Compare


def test_enter_adds_the_layer_that_was_typed(lesson: Lesson) -> None:
    """Other layers resemble it: RMSNorm([4, 4]), RMSNorm([3, 4, 4])."""
    lesson.go_to("compare", "?layers=BatchNorm2d(3);LayerNorm([3,4,4])")
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
    lesson.go_to("compare", f"?layers={layers}&at=0,0,0,0")
    scene = lesson.scene
    explanations = compare(fit_layers(layers.split(";"), scene)[0], scene.shape, scene.layout).descriptions
    before, light = [filled_faces(lesson, number) for number in range(4)], theme("light")
    for panel, index in (("stats0", (1, 2, 0, 3)), ("params1", (0, 1, 3, 2)), ("stats3", (1, 1, 2, 1))):
        readout = lesson.hover(panel, index)
        assert f"x[{', '.join(map(str, index))}]" in readout.text
        for number, e in enumerate(explanations):
            assert lesson.open_elements(f"stats{number}") == group(e, index)
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
    lesson.go_to("compare", "?shape=3,4,5,2&layers=BatchNorm2d(4);LayerNorm([4,5,2])&at=2,3,0,1")
    lesson.resize(NARROW)
    lesson.page.wait_for_function(FILLED_WITHIN)


def test_a_click_on_one_panel_selects_in_all_and_changes_the_sentence(lesson: Lesson) -> None:
    lesson.go_to("compare", "?shape=3,4&layers=BatchNorm1d(4);LayerNorm(4)")
    lesson.click("params1", (0, 2))
    lesson.wait_for_address(at="0,2")
    expect(lesson.sentence).to_contain_text(
        "x[0, 2] shares its mean with 2 others under BatchNorm1d(4) and 3 others under"
    )
    lesson.leave()
    lesson.wait_until_drawn()
    assert {lesson.marked(key) for key in ("stats0", "params0", "stats1", "params1")} == {(0, 2)}


def test_a_selection_by_keyboard_keeps_the_panels_and_the_focus(lesson: Lesson) -> None:
    lesson.go_to("compare", "?shape=3,4&layers=BatchNorm1d(4);LayerNorm(4)&at=0,0")
    panel = lesson.find(".nv-panel-stats1 .nv-over")
    panel.focus()
    for key in ("ArrowRight", "Enter"):
        lesson.page.keyboard.press(key)
    lesson.wait_for_address(at="0,1")
    expect(lesson.sentence).to_contain_text("x[0, 1]")
    expect(panel).to_be_focused()
    lesson.go_to("compare", "?shape=3,4&layers=LayerNorm(4);BatchNorm1d(4);RMSNorm(4)&at=0,1")
    assert lesson.find(".nv-params .nv-panel").count() == 3
    expect(lesson.find(".nv-panel-stats1 .nv-title")).to_contain_text("BatchNorm1d")


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
    lesson.page.get_by_role("button", name="Back to the start").click()
    expect(lesson.find(".nv-chip.nv-now")).to_have_text(made[1].title)


def test_play_continues_to_the_last_step(lesson: Lesson) -> None:
    lesson.go_to("step_by_step", "?shape=3,4&layer=RMSNorm(4)&step=3")
    lesson.page.get_by_role("button", name="Play").click()
    expect(lesson.find(".nv-chip.nv-now")).to_have_text("scaled")
    lesson.wait_for_address(step="4")
    expect(lesson.page.get_by_role("button", name="Play")).to_have_text("▶ Play")


def test_a_step_shows_the_arithmetic_of_the_selected_element(lesson: Lesson) -> None:
    lesson.go_to("step_by_step", "?shape=2,2&layer=LayerNorm(2)&values=1,5,2,3&step=1&at=0,0")
    expect(lesson.find(".nv-worked .nv-how")).to_have_text("(1 + 5) / 2")
    expect(lesson.find(".nv-worked .nv-result")).to_have_text("= 3")
    expect(lesson.find(".nv-iteration")).to_have_text("This iteration: n = 0; d runs from 0 to 1.")
    lesson.click("after", (1, 0))
    expect(lesson.find(".nv-worked .nv-how")).to_have_text("(2 + 3) / 2")
    lesson.wait_for_address(at="1,0")


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


def test_moving_another_input_changes_the_sentence(lesson: Lesson) -> None:
    lesson.go_to("gradients", "?shape=3,4&layer=LayerNorm(4)&at=0,1")
    expect(lesson.sentence).to_contain_text("Move x[0, 1] and 4 of 12 outputs move")
    assert set(map(tuple, np.argwhere(lesson.drawn("autograd")))) == {(0, column) for column in range(4)}
    lesson.click("autograd", (2, 2))
    lesson.wait_for_address(at="2,2")
    expect(lesson.sentence).to_contain_text("Move x[2, 2] and 4 of 12 outputs move")
    lesson.page.wait_for_function(
        "() => document.querySelector('.nv-panel-autograd .nv-plot').data[0].z[0].every(value => value === 0)"
    )
    assert set(map(tuple, np.argwhere(lesson.drawn("autograd")))) == {(2, column) for column in range(4)}
    assert lesson.open_elements("autograd") == {(2, column) for column in range(4)}


# Questions


def test_a_prediction_reveals_the_answer_and_its_figure_and_a_link_to_the_view(lesson: Lesson) -> None:
    words, right = prose(CHOICE.key), facts_of(CHOICE)["right"]
    lesson.go_to_questions()
    lesson.open_topics()
    lesson.find(".nv-topic").get_by_role("link", name=words.title, exact=True).click()
    lesson.wait_for_address(q=CHOICE.key)
    lesson.find(f".nv-option input[value='{right}']").click()
    assert lesson.query == {"q": CHOICE.key}
    expect(lesson.find(".nv-answer > .nv-text").first).to_be_hidden()
    expect(lesson.find(".nv-view").locator("visible=true")).to_have_count(0)
    lesson.page.get_by_text("Show the answer").click()
    lesson.wait_for_address(q=CHOICE.key, guess=right)
    expect(lesson.page.get_by_text("Your prediction is correct.")).to_be_visible()
    expect(lesson.find(READY).locator("visible=true")).to_have_count(1)
    shown = " ".join(lesson.find("div.nv-text").all_inner_texts())
    assert first_words(answer(CHOICE)) in re.sub(r"\s+", " ", shown)
    address = lesson.address
    figure = lesson.find(".nv-title").all_inner_texts()
    opener = lesson.page.get_by_role("link", name=f"Open in {PAGES[CHOICE.page].title}")
    opener.click()
    expect(opener).to_have_count(0)
    lesson.wait_for_address(q=None, **dict(parse_qsl(CHOICE.query)))
    lesson.ready()
    assert lesson.find(".nv-title").all_inner_texts() == figure
    assert lesson.find(".nv-problem").count() == 0
    lesson.page.go_back()
    expect(lesson.page.get_by_text("Your prediction is correct.")).to_be_visible()
    assert lesson.address == address


def test_an_opened_answer_closes_on_back_and_stays_open_after_a_reload(lesson: Lesson) -> None:
    right = facts_of(CHOICE)["right"]
    lesson.go_to("questions", f"?q={CHOICE.key}")
    option = lesson.find(f".nv-option input[value='{right}']")
    option.click()
    lesson.page.get_by_text("Show the answer").click()
    lesson.wait_for_address(guess=right)
    lesson.page.go_back()
    lesson.wait_for_address(guess=None)
    expect(lesson.find(".nv-answer > .nv-text").first).to_be_hidden()
    expect(option).not_to_be_checked()
    lesson.page.go_forward()
    expect(lesson.find(".nv-answer > .nv-text").first).to_be_visible()
    expect(option).to_be_checked()
    lesson.page.reload()
    lesson.ready()
    expect(option).to_be_checked()
    expect(lesson.page.get_by_text("Your prediction is correct.")).to_be_visible()


def first_words(markdown: str) -> str:
    """The displayed start of an answer, up to its first code or bold number."""
    return re.split(r"[`*\n]", markdown)[0].strip()


# Opens the answer, and goes back before the server has answered.
OPEN_AND_BACK = """async show => {
  const opened = new Promise((done) => show.closest("details").addEventListener("toggle", done, { once: true }));
  show.click();
  await opened;
  history.back();
}"""


def test_back_closes_an_answer_that_was_opened_a_moment_ago(lesson: Lesson) -> None:
    lesson.go_to("questions", f"?q={CHOICE.key}")
    lesson.find(".nv-option input").first.click()
    lesson.page.get_by_text("Show the answer").evaluate(OPEN_AND_BACK)
    expect(lesson.find(".nv-answer > .nv-text").first).to_be_hidden()
    lesson.wait_for_address(q=CHOICE.key, guess=None)
    expect(lesson.find(".nv-option input:checked")).to_have_count(0)


def test_the_next_question_starts_closed_although_the_answer_was_opened_without_a_guess(lesson: Lesson) -> None:
    first, second = SAME_ANSWER
    lesson.go_to("questions", f"?q={first.key}")
    lesson.page.get_by_text("Show the answer").click()
    expect(lesson.find(".nv-answer > .nv-text").first).to_be_visible()
    lesson.go_to("questions", f"?q={second.key}")
    expect(lesson.page.get_by_role("heading", name=prose(second.key).title)).to_be_visible()
    expect(lesson.find(".nv-answer > .nv-text").first).to_be_hidden()


def test_a_link_to_a_question_opens_it_without_loading_the_app_again(lesson: Lesson) -> None:
    lesson.go_to("compare", "?shape=3,4")
    lesson.page.evaluate("window.nvSameApp = true")
    link = lesson.find(".nv-links-questions a").first
    title, address = link.inner_text(), link.get_attribute("href")
    link.click()
    expect(lesson.page.get_by_role("heading", name=title)).to_be_visible()
    assert lesson.address == address == f"{lesson.server}/questions?q={lesson.query['q']}"
    assert lesson.page.evaluate("window.nvSameApp")


def test_the_middle_button_opens_a_link_in_a_new_tab(lesson: Lesson) -> None:
    lesson.go_to("compare", "?shape=3,4")
    link, before = lesson.find(".nv-links-questions a").first, lesson.address
    with lesson.page.context.expect_page() as opened:
        link.click(button="middle")
    opened.value.wait_for_url(link.get_attribute("href") or "")
    opened.value.close()
    assert lesson.address == before


def test_a_link_in_an_embedded_view_keeps_it_embedded(lesson: Lesson) -> None:
    lesson.page.goto(f"{lesson.server}/compare?shape=3,4&embed=true&embed_options=dark_theme")
    lesson.ready()
    lesson.forget_app()  # the next test loads the app again: the style of an embedded page, without room for the header, stays until then
    title = lesson.find(".nv-links-questions a").first.inner_text()
    lesson.find(".nv-links-questions a").first.click()
    expect(lesson.page.get_by_role("heading", name=title)).to_be_visible()
    assert lesson.query.items() >= {"embed": "true", "embed_options": "dark_theme"}.items()
    assert "q" in lesson.query
    lesson.page.get_by_role("link", name="All questions").click()
    lesson.find(".nv-links-path a").first.wait_for()
    assert lesson.query == {"embed": "true", "embed_options": "dark_theme"}
    expect(lesson.page.get_by_role("navigation")).to_have_count(0)


def test_the_list_of_pages_keeps_the_scene(lesson: Lesson) -> None:
    lesson.visit("?shape=2,6&layer=RMSNorm(6)")
    lesson.wait_for_scene()
    lesson.page.get_by_role("link", name="Compare").click()
    lesson.wait_for_address(shape="2,6", layer="RMSNorm([6])")
    lesson.ready()
    expect(lesson.find(".nv-stats .nv-title").first).to_have_text("RMSNorm([6])")


SCROLLED = "() => document.querySelector('[data-testid=stMain]').scrollTop"
IS_SCROLLED = "position => document.querySelector('[data-testid=stMain]').scrollTop === position"


def test_the_search_answers_while_one_types_and_back_returns_to_what_it_found(lesson: Lesson) -> None:
    words = "running_mean should contain"
    (found,) = search(words)
    lesson.go_to_questions()
    field, shown = lesson.page.get_by_role("searchbox"), lesson.find(".nv-topic li").locator("visible=true")
    field.press_sequentially(words)
    expect(shown).to_have_text([prose(found.key).title.replace("`", "")])
    assert lesson.query == {}
    field.press("Enter")
    lesson.wait_for_address(search=words)
    shown.get_by_role("link").click()
    lesson.wait_for_address(q=found.key, search=None)
    lesson.page.go_back()
    expect(field).to_have_value(words)
    expect(shown).to_have_count(1)


def test_a_whole_error_message_in_the_search_leads_to_its_view_and_is_not_called_a_search_without_results(
    lesson: Lesson,
) -> None:
    lesson.go_to_questions()
    field = lesson.page.get_by_role("searchbox")
    field.press_sequentially("running_mean should contain 64 elements not 128")  # without Enter
    expect(lesson.find(".nv-found a").first).to_contain_text("BatchNorm2d(128) on (2, 64, 4, 4)")
    expect(lesson.find(".nv-search [role=status]")).to_have_text("")
    expect(lesson.find(".nv-none")).to_be_hidden()
    expect(field).to_be_focused()
    field.press("Backspace")
    expect(lesson.find(".nv-found a").first).to_contain_text("BatchNorm2d(12) on (2, 64, 4, 4)")
    field.fill("")
    expect(lesson.find(".nv-found")).to_have_count(0)
    expect(lesson.find(".nv-path").first).to_be_visible()


def test_a_question_opens_at_its_top_and_back_returns_to_the_position_in_the_list(lesson: Lesson) -> None:
    lesson.go_to_questions()
    lesson.open_topics()
    last = lesson.find(".nv-topic a").last
    last.scroll_into_view_if_needed()
    position = lesson.page.evaluate(SCROLLED)
    assert position > 500
    last.click()
    lesson.find(".nv-predict").wait_for()
    lesson.page.wait_for_function(IS_SCROLLED, arg=0)
    lesson.page.go_back()
    lesson.page.wait_for_function(IS_SCROLLED, arg=position)
    expect(last).to_be_in_viewport()
