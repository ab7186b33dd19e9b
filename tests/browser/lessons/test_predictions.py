"""A prediction in the page of the browser, in a blank tab with data made by hand: only "Show the answer" commits it."""

from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from normviz.lessons.questions.page import CORE, QUESTIONS, list_parts, prediction
from normviz.lessons.questions.question import Question, facts_of, prose
from normviz.parts.part import Note, Text
from tests.browser.lessons.conftest import Show
from tests.browser.lessons.lesson import NARROW, WIDE

pytestmark = pytest.mark.browser

CHOICE = next(question for question in QUESTIONS.values() if prose(question.key).options)
NUMBER = next(question for question in QUESTIONS.values() if not prose(question.key).options)


def right_and_wrong(question: Question) -> tuple[str, str]:
    """A right and a wrong guess."""
    right, options = facts_of(question)["right"], prose(question.key).options
    wrong = next(option for option in options if option != right) if options else f"{float(right) + 1:g}"
    return str(right), wrong


def test_the_answer_is_visible_with_a_guess_only_and_the_verdict_stays_when_another_part_changes(
    show: Show, subtests: pytest.Subtests
) -> None:
    for name, question in (("choice", CHOICE), ("number", NUMBER)):
        with subtests.test(name):
            right, wrong = right_and_wrong(question)
            shown = prediction(question, (Text("answer"),))
            tab = show([shown], guess="")
            expect(tab.locator(".nv-answer .nv-text")).to_be_hidden()
            show([shown], guess=right)
            expect(tab.locator(".nv-answer .nv-text")).to_be_visible()
            show([Note("new"), shown], guess=right)
            expect(tab.locator(".nv-verdict")).to_have_text("Your prediction is correct.")
            show([shown], guess=wrong)
            expect(tab.locator(".nv-verdict")).to_contain_text("That is not correct.")
            for nothing in ("", "zzz"):
                show([shown], guess=nothing)
                expect(tab.locator(".nv-answer .nv-text")).to_be_hidden()
            assert tab.evaluate("window.sent") == []


def test_the_tensor_of_a_question_is_drawn_beside_the_options_and_below_them_on_a_phone(show: Show) -> None:
    tab = show([])
    tab.set_viewport_size(WIDE)
    show([prediction(QUESTIONS["s0d"], (Text("answer"),))])
    figure, first = tab.locator(".nv-bare"), tab.locator(".nv-option").first
    expect(figure.locator("table")).to_have_count(2 * 3)
    expect(figure.locator(".nv-numbers-framed")).to_have_count(1)
    expect(figure.locator("th[scope=col]").first).to_have_text("0")
    assert figure.bounding_box()["x"] > first.bounding_box()["x"] + first.bounding_box()["width"]
    tab.set_viewport_size(NARROW)
    below = "([figure, line]) => figure.getBoundingClientRect().top > line.getBoundingClientRect().top"
    tab.wait_for_function(below, arg=[figure.element_handle(), tab.get_by_text("Show the answer").element_handle()])
    show([prediction(QUESTIONS["s1a"], (Text("answer"),))])  # another question has its own tensor
    expect(figure.locator("td")).to_have_count(4 * 6)
    expect(figure.locator("figcaption")).to_have_text("x has the shape (N, D) = (4, 6).")
    tab.set_viewport_size(WIDE)


def test_a_guess_is_sent_when_the_answer_opens_and_when_it_changes(show: Show) -> None:
    tab = show([prediction(CHOICE, (Text("answer"),))], guess="")
    expect(tab.get_by_text("Check", exact=True)).to_be_hidden()  # without a guess, "Show the answer" opens it
    tab.locator(".nv-option input").first.check()
    assert tab.evaluate("window.sent") == []
    expect(tab.get_by_text("Show the answer")).to_be_hidden()
    tab.get_by_text("Check", exact=True).click()
    expect(tab.locator(".nv-verdict")).to_be_visible()
    tab.locator(".nv-option input").nth(1).check()
    chosen = tab.locator(".nv-option input").evaluate_all("all => all.slice(0, 2).map(input => `guess ${input.value}`)")
    assert tab.evaluate("window.sent.splice(0)") == chosen


def test_the_keyboard_moves_between_options_and_only_show_the_answer_commits(show: Show) -> None:
    tab = show([prediction(CHOICE, (Text("answer"),))], guess="")
    options = tab.locator(".nv-option input")
    tab.keyboard.press("Tab")
    for number in (0, 1, 2):
        tab.keyboard.press("ArrowDown" if number else "Space")
        expect(options.nth(number)).to_be_checked()
    tab.keyboard.press("Enter")
    expect(tab.locator(".nv-answer .nv-text")).to_be_hidden()
    assert tab.evaluate("window.sent") == []
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    expect(tab.locator(".nv-verdict")).to_be_visible()
    assert tab.evaluate("window.sent") == [f"guess {options.nth(2).input_value()}"]


def test_the_options_say_in_words_which_is_right_and_which_was_chosen_and_why_the_others_are_wrong(show: Show) -> None:
    right, wrong = right_and_wrong(CHOICE)
    shown = prediction(CHOICE, (Text("answer"),))
    marks = {wrong: "✗ your prediction", right: "✓ right answer"}
    tab = show([shown], guess=wrong)
    for option in tab.locator(".nv-option").all():
        expect(option.locator(".nv-mark")).to_have_text(marks.get(option.locator("input").input_value(), ""))
    assert (
        tab.locator(".nv-verdict").evaluate("verdict => getComputedStyle(verdict, '::before').content") == '"✗\u00a0"'
    )
    show([Note("new"), shown], guess=right)
    expect(tab.locator(".nv-mark:not(:empty)")).to_have_text(["✓ right answer"])
    show([shown], guess="")
    expect(tab.locator(".nv-mark:not(:empty)")).to_have_count(0)
    others = [option for option in prose(CHOICE.key).options if option != right]
    shown = replace(prediction(CHOICE, (Text("answer"),)), reasons={option: f"because {option}" for option in others})
    reasons = show([shown], guess="").locator(".nv-reason")
    expect(reasons.first).to_be_hidden()
    show([shown], guess=wrong)
    expect(reasons.filter(visible=True)).to_have_text([f"because {option}" for option in others])
    colors = reasons.evaluate_all("all => all.map(one => getComputedStyle(one).borderLeftColor)")
    assert colors.count(colors[others.index(wrong)]) == 1


def test_enter_in_the_field_opens_the_answer_to_a_number_only(show: Show) -> None:
    tab = show([prediction(NUMBER, (Text("answer"),))], guess="")
    field, refusal = tab.locator(".nv-predict input"), tab.locator(".nv-refusal")
    field.press("Enter")
    expect(tab.locator(".nv-answer .nv-text")).to_be_hidden()
    field.fill("many")
    field.press("Enter")
    expect(refusal).to_have_text("'many' is not a number; write one, such as 48.")
    expect(tab.locator(".nv-answer .nv-text")).to_be_hidden()
    assert tab.evaluate("window.sent") == []
    field.fill("1,500")
    field.press("Enter")
    expect(refusal).to_be_hidden()
    expect(tab.locator(".nv-verdict")).to_contain_text("You predicted: 1,500.")
    assert tab.evaluate("window.sent") == ["guess 1500"]  # as every language reads it


# Clicks on the summary of a section, and waits until the page knows that it is open.
OPEN = """summary => new Promise((done) => {
  summary.parentElement.addEventListener("toggle", done, { once: true });
  summary.click();
})"""


def opened(tab: Page, show: Show, question: Question, guess: str) -> None:
    """Open the answer to a question after a guess, or after none."""
    show([prediction(question, (Text("answer"),))], guess="")
    if guess:
        tab.locator(f".nv-option input[value={guess}]").check()
    tab.locator(".nv-answer > summary").evaluate(OPEN)
    expect(tab.locator(".nv-answer .nv-text")).to_be_visible()


def in_list(tab: Page, show: Show) -> dict[str, str]:
    """What the list says about each answered question of the core path."""
    show(list(list_parts()))
    signs = tab.locator(".nv-path li:has(.nv-outcome:not(:empty))")
    return dict(
        signs.evaluate_all("all => all.map(one => [one.dataset.question, one.querySelector('.nv-outcome').ariaLabel])")
    )


# An empty storage that stores, or refuses to, as in some frames.
STORAGE = """stores => {
  localStorage.clear();
  window.setItem ??= Storage.prototype.setItem;
  Storage.prototype.setItem = stores ? window.setItem : () => { throw new Error("no storage"); };
}"""


def test_the_list_says_how_questions_were_answered_until_the_reader_resets_it(
    show: Show, subtests: pytest.Subtests
) -> None:
    for stores in (True, False):
        with subtests.test("with storage" if stores else "without storage"):
            first, second, third, linked = [QUESTIONS[key] for key in CORE if prose(key).options][:4]
            tab = show([prediction(linked, (Text("answer"),))], guess=right_and_wrong(linked)[0])
            tab.evaluate(STORAGE, stores)
            expect(tab.locator(".nv-verdict")).to_be_visible()
            opened(tab, show, first, right_and_wrong(first)[0])
            opened(tab, show, first, "")  # an answer that is opened again takes nothing away
            opened(tab, show, second, right_and_wrong(second)[1])
            opened(tab, show, third, "")
            tab.locator(".nv-option input").first.check()  # too late for a prediction
            assert in_list(tab, show) == {
                first.key: "answered correctly",
                second.key: "answered incorrectly",
                third.key: "opened without a prediction",
            }
            expect(tab.locator(".nv-progress")).to_have_text(f"3 of {len(CORE)} answered, 1 correctly")
            counts = tab.locator(".nv-count").all_inner_texts()
            assert sum(int(count.split(" of ")[0]) for count in counts if "of" in count) == 3
            tab.get_by_role("button", name="Reset progress").click()
            expect(tab.locator(".nv-progress")).to_have_text("")
            expect(tab.get_by_role("button", name="Reset progress")).to_be_hidden()
            assert in_list(tab, show) == {}
            tab.evaluate(STORAGE, True)


def test_a_topic_that_the_reader_opened_is_open_again_and_a_search_closes_what_it_opened(show: Show) -> None:
    tab = show(list(list_parts()), search="")
    tab.locator(".nv-topic > summary", has_text="Gamma and beta").evaluate(OPEN)
    show([prediction(CHOICE, (Text("answer"),))], guess="")
    show(list(list_parts()), search="")
    opened_topics = tab.locator(".nv-topic[open] h3")
    expect(opened_topics).to_have_text(["Gamma and beta"])
    tab.get_by_role("searchbox").fill("momentum")
    expect(tab.locator(".nv-path")).to_be_hidden()
    expect(tab.locator(".nv-topic:not([open])").filter(visible=True)).to_have_count(0)
    tab.get_by_role("searchbox").fill("")
    expect(opened_topics).to_have_text(["Gamma and beta"])
    expect(tab.locator(".nv-path")).to_be_visible()
