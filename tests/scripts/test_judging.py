"""Whether an answer is right, in practice and in predictions, and which confusion a wrong one follows from. JavaScript, in node."""

import pytest

from tests.support.javascript import LESSONS, PARTS, evaluate

EXERCISE = LESSONS / "practice/exercise.ts"
FIELDS = LESSONS / "practice/fields.ts"
PREDICTION = PARTS / "prediction.ts"

RIGHT = (True, None)
NUMBER = {"answer": 48, "wrong": [["batch", 12], ["again", 12], ["small", 1e-9]], "options": None}
CHOICE = {
    "answer": "c",
    "wrong": [["axes", "n"], ["shape", "h"]],
    "options": [["c", ""], ["n", "axes"], ["h", "given"], ["w", ""]],
}
MARKS = {"answer": [0, 3], "wrong": [["row", [0, 1, 2]], ["none", []]], "options": None}


@pytest.mark.parametrize(
    ("exercise", "value", "judged"),
    [
        (NUMBER, "48", RIGHT),
        (NUMBER, " 48.0 ", RIGHT),
        (NUMBER, "+4.8e1", RIGHT),
        (NUMBER, "48.00004", RIGHT),  # a relative error below 1e-6
        (NUMBER, "48.00006", (False, None)),
        (NUMBER, "-48", (False, None)),
        (NUMBER, "12", (False, "batch")),  # the first of two confusions
        (NUMBER, "0", (False, "small")),  # an absolute error of 1e-6 near 0
        (NUMBER, None, (False, None)),
        (NUMBER | {"tolerance": 0.5}, "48.5", RIGHT),
        (NUMBER | {"tolerance": 0.5}, "48.6", (False, None)),
        (NUMBER | {"tolerance": 0.5}, "12.4", (False, "batch")),
        (CHOICE, "c", RIGHT),
        (CHOICE, "n", (False, "axes")),
        (CHOICE, "h", (False, "given")),  # the option names the confusion, before the list of wrong answers
        (CHOICE, "w", (False, None)),
        (CHOICE, None, (False, None)),
        (MARKS, [0, 3], RIGHT),
        (MARKS, [3, 0], RIGHT),
        (MARKS, [0], (False, None)),
        (MARKS, [0, 3, 4], (False, None)),
        (MARKS, [2, 1, 0], (False, "row")),
        (MARKS, [], (False, "none")),
        (MARKS | {"answer": []}, [], RIGHT),
        (MARKS, "0,3", (False, None)),
    ],
)  # fmt: skip
def test_an_answer_is_judged_and_a_wrong_one_names_its_confusion(exercise, value, judged):
    found = evaluate("judgeAnswer(...args)", exercise, value, entry=EXERCISE)
    assert (found["isRight"], found["confusion"]) == judged


@pytest.mark.parametrize(
    ("language", "kind", "text", "value"),
    [
        ("en", "count", "12,000", "12000"),
        ("en", "value", " 0.20 ", "0.2"),
        ("es", "value", "0,2", "0.2"),
        ("pt", "value", "−0,2", "-0.2"),
        ("es", "count", "9 408", "9408"),
        ("zh", "count", "４８", "48"),
        ("en", "value", "0,2", None),
        ("es", "count", "9,408", None),
        ("es", "value", "1.234,5", None),
        ("en", "count", "many", None),
        ("en", "count", "", None),
    ],
)
def test_an_answer_in_practice_is_a_number_in_every_language_or_needs_another_text(language, kind, text, value):
    field = "Object.assign(Object.create(NumberField.prototype), { isWhole: args[1] !== 'value', input: { value: args[0] } })"
    found, needed = evaluate(
        f"(({{ value, needed }}) => [value, needed])({field})", text, kind, entry=FIELDS, language=language
    )
    assert found == value
    assert value or text in needed


GUESS = """([right, chosen, typed]) => {
  const radio = chosen && { value: chosen, nextElementSibling: { textContent: ` option ${chosen} ` } };
  const predict = { querySelector: (selector) => (selector === "input:checked" ? radio : typed === null ? null : { value: typed }) };
  return guessOf({ dataset: { right }, querySelector: () => predict });
}"""


@pytest.mark.parametrize(
    ("right", "chosen", "typed", "guess"),
    [
        ("b", "b", None, ("b", "option b", True)),
        ("b", "a", None, ("a", "option a", False)),
        ("b", None, None, None),
        ("4", None, "", None),
        ("4", None, "  ", None),
        ("4", None, " 4.0 ", ("4", "4.0", True)),
        ("4", None, "4.000001", ("4.000001", "4.000001", True)),
        ("4", None, "4.00001", ("4.00001", "4.00001", False)),
        ("0", None, "0.000001", ("0.000001", "0.000001", True)),
        ("-2000", None, "-2,000", ("-2000", "-2,000", True)),
        ("-2000", None, "2000", ("2000", "2000", False)),
        ("4", None, "four", ("four", "four", None)),
    ],
)
def test_a_prediction_is_right_wrong_or_no_number(right, chosen, typed, guess):
    found = evaluate(f"({GUESS})(args)", right, chosen, typed, entry=PREDICTION)
    assert (found and (found["value"], found["text"], found["isRight"])) == guess


@pytest.mark.parametrize(
    ("language", "right", "typed", "value", "is_right"),
    [
        ("es", "0.2", "0,2", "0.2", True),
        ("pt", "0.2", "2", "2", False),
        ("en", "0.2", "0,2", "0,2", None),
        ("en", "9408", "9,408", "9408", True),
        ("es", "9408", "9,408", "9,408", None),
        ("es", "9.408", "9,408", "9.408", True),
        ("es", "9408", "9\u202f408", "9408", True),
    ],
)
def test_a_prediction_has_the_readers_decimals_and_its_link_those_of_every_language(
    language, right, typed, value, is_right
):
    found = evaluate(f"({GUESS})(args)", right, None, typed, entry=PREDICTION, language=language)
    assert (found["value"], found["text"], found["isRight"]) == (value, typed, is_right)
    asks = evaluate(
        "notANumber({ dataset: { right: args[0], notANumber: 'none' } }, args[1])",
        right,
        typed,
        entry=PREDICTION,
        language=language,
    )
    assert is_right is not None or typed in asks


@pytest.mark.parametrize(("result", "opened"), [("right", "right"), ("wrong", "wrong"), (None, "opened")])
def test_an_answer_is_opened_after_a_right_or_a_wrong_prediction_or_without_one(result, opened):
    box = "{ querySelector: () => ({ querySelector: () => ({ dataset: { result: args[0] ?? undefined } }) }) }"
    assert evaluate(f"resultOf({box})", result, entry=PREDICTION) == opened


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (None, "count", "no answer"),
        (48, "count", "48"),
        ("LayerNorm(4)", "code", "LayerNorm(4)"),
        ([], "moves", "none"),
        ([], "mean", "no other element"),
        ([0, 5], "mean", "x[0, 0], x[1, 2]"),
        ([0, 1, 2, 3, 4, 5], "mean", "x[0, 0], x[0, 1], x[0, 2], x[1, 0], x[1, 1], x[1, 2]"),
        ([0, 1, 2, 3, 4, 5, 6], "mean", "x[0, 0], x[0, 1], x[0, 2], x[1, 0], x[1, 1], x[1, 2] and 1 more"),
    ],
)
def test_an_answer_is_said_in_words(answer, kind, text):
    shape = [3, 3]
    assert evaluate("answerText(...args)", answer, {"shape": shape, "kind": kind}, entry=EXERCISE) == text


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (9, "0:09"), (59.9, "0:59"), (60, "1:00"), (3725, "62:05")])
def test_the_time_is_minutes_and_seconds(seconds, text):
    assert evaluate("timeText(args[0])", seconds, entry=EXERCISE) == text
