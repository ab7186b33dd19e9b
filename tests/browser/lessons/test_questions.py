"""The questions in a browser: predicting, links to questions and back, and searching."""

import re
from itertools import islice
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import expect

from normviz.lessons.questions.page import CORE, QUESTIONS
from normviz.lessons.questions.question import answer, facts_of, prose
from tests.browser.lessons.lesson import READY, Lesson
from tests.lessons.questions.searching import search

pytestmark = pytest.mark.browser

ANSWER_BATCH = (one for one in QUESTIONS.values() if prose(one.key).options and facts_of(one)["right"] == "batch")
SAME_ANSWER = list(islice(ANSWER_BATCH, 2))
CHOICE = next(one for one in QUESTIONS.values() if prose(one.key).options and one.page.name == "compare")


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
    lesson.page.get_by_text("Check", exact=True).click()
    lesson.wait_for_address(q=CHOICE.key, guess=right)
    expect(lesson.page.get_by_text("Your prediction is correct.")).to_be_visible()
    expect(lesson.find(READY).locator("visible=true")).to_have_count(1)
    shown = " ".join(lesson.find("div.nv-text").all_inner_texts())
    assert first_words(answer(CHOICE)) in re.sub(r"\s+", " ", shown)
    address = lesson.address
    figure = lesson.find(".nv-title").all_inner_texts()
    opener = lesson.page.get_by_role("link", name=f"Open in {CHOICE.page.title}")
    opener.click()
    expect(opener).to_have_count(0)
    lesson.wait_for_address(q=None, **dict(parse_qsl(CHOICE.query)))
    lesson.ready()
    assert lesson.find(".nv-title").all_inner_texts() == figure
    assert lesson.find(".nv-problem").count() == 0
    lesson.page.go_back()
    expect(lesson.page.get_by_text("Your prediction is correct.")).to_be_visible()
    assert lesson.address == address


def test_the_answer_on_means_does_not_show_who_shares_a_gamma_which_later_questions_ask(lesson: Lesson) -> None:
    on_means = next(
        QUESTIONS[key]
        for key in CORE
        if QUESTIONS[key].topic.key == "statistics" and QUESTIONS[key].page.name == "explore"
    )
    on_gammas = next(
        QUESTIONS[key]
        for key in CORE
        if QUESTIONS[key].topic.key == "parameters" and QUESTIONS[key].page.name == "explore"
    )
    for question, shows_gammas in ((on_means, 0), (on_gammas, 1)):
        lesson.go_to("questions", f"?q={question.key}&guess={facts_of(question)['right']}")
        expect(lesson.find(".nv-panel-stats:visible")).to_have_count(1)
        expect(lesson.find(".nv-panel-params:visible")).to_have_count(shows_gammas)


def test_an_opened_answer_closes_on_back_and_stays_open_after_a_reload(lesson: Lesson) -> None:
    right = facts_of(CHOICE)["right"]
    lesson.go_to("questions", f"?q={CHOICE.key}")
    option = lesson.find(f".nv-option input[value='{right}']")
    option.click()
    lesson.page.get_by_text("Check", exact=True).click()
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


def test_the_summary_of_the_core_path_waits_for_the_last_answer(lesson: Lesson) -> None:
    lesson.go_to("questions", f"?q={CORE[-1]}")
    expect(lesson.page.get_by_text("Show the answer")).to_be_visible()
    summary = lesson.find(".nv-after-answer")
    expect(summary).to_be_attached()
    expect(summary).to_be_hidden()
    lesson.page.get_by_text("Show the answer").click()
    expect(summary).to_be_visible()


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


def test_back_closes_an_answer_opened_a_moment_ago_and_the_next_question_starts_closed(lesson: Lesson) -> None:
    lesson.go_to("questions", f"?q={CHOICE.key}")
    lesson.find(".nv-option input").first.click()
    lesson.page.get_by_text("Check", exact=True).evaluate(OPEN_AND_BACK)
    expect(lesson.find(".nv-answer > .nv-text").first).to_be_hidden()
    lesson.wait_for_address(q=CHOICE.key, guess=None)
    expect(lesson.find(".nv-option input:checked")).to_have_count(0)
    first, second = SAME_ANSWER
    lesson.go_to("questions", f"?q={first.key}")
    lesson.page.get_by_text("Show the answer").click()
    expect(lesson.find(".nv-answer > .nv-text").first).to_be_visible()
    lesson.go_to("questions", f"?q={second.key}")
    expect(lesson.page.get_by_role("heading", name=prose(second.key).title)).to_be_visible()
    expect(lesson.find(".nv-answer > .nv-text").first).to_be_hidden()


OTHERS = ".nv-asked-fold > .nv-small a[data-page=questions]"


def test_the_question_at_the_end_of_a_page_is_answered_there_and_counts(lesson: Lesson) -> None:
    lesson.go_to("train_and_eval", "?show=modes&shape=4,6&layer=LayerNorm(6)")
    box, answered = lesson.find(".nv-asked .nv-prediction"), prose("s1c")
    expect(box).to_have_attribute("data-question", "s1c")
    expect(box).to_be_hidden()
    lesson.find(".nv-asked-fold > summary").click()
    before = lesson.address
    box.get_by_role("radio", name=answered.options["layer"], exact=True).check()
    box.get_by_text("Check", exact=True).click()
    expect(box.locator(".nv-verdict")).to_contain_text("That is not correct.")
    expect(box.locator(".nv-answer > .nv-text")).to_be_visible()
    assert lesson.address == before
    assert lesson.page.evaluate("JSON.parse(localStorage.getItem('normviz.questions')).s1c") == "wrong"
    lesson.page.get_by_role("radio", name="Small batches").click()
    # While the page changes, Streamlit shows the old question below the new one for a moment.
    lesson.find('.nv-asked .nv-prediction[data-question="s2c"]').wait_for(state="attached")
    expect(lesson.find(".nv-asked .nv-prediction")).to_have_count(1)
    expect(lesson.find(".nv-asked .nv-answer > .nv-text")).to_be_hidden()


def test_a_link_to_a_question_opens_it_without_loading_the_app_again_or_in_a_new_tab(lesson: Lesson) -> None:
    lesson.go_to("compare", "?shape=3,4")
    lesson.page.evaluate("window.nvSameApp = true")
    lesson.find(".nv-asked-fold > summary").click()
    lesson.find(OTHERS).click()
    link, before = lesson.find(".nv-links-list a").first, lesson.address
    with lesson.page.context.expect_page() as opened:
        link.click(button="middle")
    opened.value.wait_for_url(link.get_attribute("href") or "")
    opened.value.close()
    assert lesson.address == before
    title, address = link.inner_text(), link.get_attribute("href")
    link.click()
    expect(lesson.page.get_by_role("heading", name=title)).to_be_visible()
    assert lesson.address == address == f"{lesson.server}/questions?q={lesson.query['q']}"
    assert lesson.page.evaluate("window.nvSameApp")


def test_a_link_in_an_embedded_view_keeps_it_embedded(lesson: Lesson) -> None:
    lesson.page.goto(f"{lesson.server}/compare?shape=3,4&embed=true&embed_options=dark_theme")
    lesson.ready()
    lesson.forget_app()  # the next test loads the app again: the style of an embedded page, without room for the header, stays until then
    lesson.find(".nv-asked-fold > summary").click()
    lesson.find(OTHERS).click()
    title = lesson.find(".nv-links-list a").first.inner_text()
    lesson.find(".nv-links-list a").first.click()
    expect(lesson.page.get_by_role("heading", name=title)).to_be_visible()
    assert lesson.query.items() >= {"embed": "true", "embed_options": "dark_theme"}.items()
    assert "q" in lesson.query
    lesson.page.get_by_role("link", name="All questions").click()
    lesson.find(".nv-links-path a").first.wait_for()
    assert lesson.query == {"embed": "true", "embed_options": "dark_theme"}
    expect(lesson.page.get_by_role("navigation")).to_have_count(0)


SCROLLED = "() => document.querySelector('[data-testid=stMain]').scrollTop"
IS_SCROLLED = "position => document.querySelector('[data-testid=stMain]').scrollTop === position"


def test_the_search_answers_while_one_types_also_to_an_error_message_and_back_returns_to_what_it_found(
    lesson: Lesson,
) -> None:
    words = "running_mean should contain"
    (found,) = search(words)
    lesson.go_to_questions()
    field, shown = lesson.page.get_by_role("searchbox"), lesson.find(".nv-topic li").locator("visible=true")
    field.press_sequentially("running_mean should contain 64 elements not 128")  # without Enter
    expect(lesson.find(".nv-found a").first).to_contain_text("BatchNorm2d(128) on (2, 64, 3, 5)")
    expect(lesson.find(".nv-search [role=status]")).to_have_text("1 found")
    expect(shown).to_have_text([prose(found.key).title.replace("`", "")])  # it has most of the words
    expect(lesson.find(".nv-none")).to_be_hidden()
    expect(field).to_be_focused()
    field.press("Backspace")
    expect(lesson.find(".nv-found a").first).to_contain_text("BatchNorm2d(12) on (2, 64, 3, 5)")
    field.fill("")
    expect(lesson.find(".nv-found")).to_have_count(0)
    expect(lesson.find(".nv-path").first).to_be_visible()
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
