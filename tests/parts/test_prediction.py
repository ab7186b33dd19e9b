"""A prediction compares the guess with the right choice or the right number."""

import json
import re
from dataclasses import replace
from html import unescape

import pytest

from normviz.lessons.questions.page import QUESTIONS, prediction
from normviz.lessons.questions.question import facts_of, prose
from normviz.parts.html import Body, text
from normviz.parts.part import BareTensor, Prediction, Text
from normviz.texts.errors import NormvizError
from tests.support.javascript import PARTS, evaluate

CHOICE = Prediction("How many?", {"one": "a single `mean`", "rows": "one for each row"}, "rows", (Text("Two."),))
EXPLAINED = replace(CHOICE, reasons={"one": "One **example** has one."})
NUMBER = Prediction("How many means?", {}, 15, (Text("Fifteen."),))


@pytest.mark.parametrize(
    ("guess", "is_right"), [("15", True), (" 15.0 ", True), ("14", False), ("1,500", False), ("-15", False)]
)
def test_a_number_is_compared_by_its_value(guess, is_right):
    assert NUMBER.is_right(guess) is is_right


def test_a_phone_offers_a_minus_sign_for_a_number():
    """The keyboard for decimals of some phones has none."""
    assert 'inputmode="text"' in NUMBER.html(Body())


def test_commas_between_thousands_are_accepted():
    assert Prediction("How many?", {}, 1500, ()).is_right("1,500")


@pytest.mark.parametrize("guess", ["", "many", "1 5", "0x10", "nan", "inf", "-inf", "1e999"])
def test_a_guess_must_be_a_finite_number(guess):
    with pytest.raises(NormvizError, match=re.escape(f"'{guess}' is not a number; write one, such as 48.")):
        NUMBER.is_right(guess)


def test_a_guess_must_be_one_of_the_choices():
    assert CHOICE.is_right("rows")
    assert not CHOICE.is_right("one")
    with pytest.raises(NormvizError, match="guess='two' is not a choice; choose one or rows"):
        CHOICE.is_right("two")


def test_the_html_has_the_messages_of_a_verdict():
    html = unescape(CHOICE.html(Body()))
    assert 'data-correct="Your prediction is correct."' in html
    assert 'data-predicted="You predicted: {guess}."' in html
    assert 'data-wrong="That is not correct."' in html


def test_the_html_has_the_choices_or_a_field_then_the_closed_answer():
    choice, number = Body().html([CHOICE]), Body().html([NUMBER])
    assert choice.count('type="radio"') == 2
    assert 'type="text"' in number
    for html, right, answer in ((choice, "rows", "Two."), (number, "15", "Fifteen.")):
        assert f'data-right="{right}"' in html
        before, _, after = html.partition('<details class="nv-answer"><summary>')
        assert answer in after
        assert answer not in before


def test_the_tensor_of_a_question_is_beside_the_choices_and_before_the_closed_answer():
    html = Body().html([replace(CHOICE, about=BareTensor((2, 3), ("n", "d"), (0, 1), (1, 2, 3, 4, 5, 6)))])
    before, _, _after = html.partition('<details class="nv-answer">')
    drawn = unescape(re.findall('data-tensor="(.*?)"', before)[0])
    assert json.loads(drawn) == {"shape": [2, 3], "names": ["n", "d"], "at": [0, 1], "values": [1, 2, 3, 4, 5, 6]} | {
        "facets": [],
        "row": 0,
        "col": 1,
    }
    assert "<figcaption>x has the shape (N, D) = (2, 3).</figcaption>" in before


def test_the_figure_of_an_answer_follows_the_answer_and_takes_the_place_of_the_tensor():
    shown = replace(CHOICE, about=BareTensor((2, 3), ("n", "d")), figure=(Text("A figure."),))
    _before, _, after = Body().html([shown]).partition("</details>")
    assert after.startswith('<div class="nv-shown">\n<div class="nv-text"><p>A figure.</p>')
    assert "Answer:\n\nTwo.\n\nA figure." in text([shown])
    assert "nv-shown" not in Body().html([CHOICE])


def test_two_predictions_on_a_page_have_different_radio_groups():
    names = re.findall(r' name="(\w+)"', Body().html([CHOICE, CHOICE]))
    assert len(names) == 4
    assert len(set(names)) == 2


def test_as_plain_text_the_answer_follows_the_choices():
    assert text([CHOICE]) == "How many?\n\n- a single mean\n- one for each row\n\nAnswer:\n\nTwo."


def test_the_reason_of_a_wrong_choice_follows_it_and_in_plain_text_it_follows_the_answer():
    html = Body().html([EXPLAINED])
    assert html.count('<p class="nv-reason">') == 1
    assert '<span class="nv-mark"></span></label><p class="nv-reason">One <strong>example</strong> has one.</p>' in html
    assert text([EXPLAINED]).endswith("Answer:\n\nTwo.\n\nThe other options:\n\n- a single mean: One example has one.")


# What the browser makes of an entered guess: a box with the data of the page, and a chosen option or a field.
JUDGE = """args[0].map(({ right, guess, isNumber }) => {
  globalThis.HTMLInputElement = Object;
  const input = { value: guess }, predict = { querySelector: (selector) => ((selector === "input:checked") === isNumber ? null : input) };
  return guessOf({ dataset: { right }, querySelector: () => predict }).isRight;
})"""


def test_the_browser_tells_a_right_guess_from_a_wrong_one_at_every_question():
    guesses = []
    for question in QUESTIONS.values():
        (right,) = re.findall('data-right="(.*?)"', Body().html([prediction(question, ())]))
        options = prose(question.key).options
        wrong = next(option for option in options if option != unescape(right)) if options else f"{float(right) + 1:g}"
        guesses += [
            {"right": unescape(right), "guess": guess, "isNumber": not options}
            for guess in (str(facts_of(question)["right"]), wrong)
        ]
    assert evaluate(JUDGE, guesses, entry=PARTS / "page.ts") == [True, False] * len(QUESTIONS)


def test_the_browser_reads_numbers_as_python_does():
    guesses = ["15", " 15.0 ", "1.5e1", "14", "-15", "1,5", "15,", "many", "1 5", "0x10", "nan", "inf", "1e999"]
    found = evaluate(
        JUDGE, [{"right": "15", "guess": guess, "isNumber": True} for guess in guesses], entry=PARTS / "page.ts"
    )
    for guess, is_right in zip(guesses, found, strict=True):
        if is_right is None:
            with pytest.raises(NormvizError):
                NUMBER.is_right(guess)
        else:
            assert NUMBER.is_right(guess) is is_right, guess
