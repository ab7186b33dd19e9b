"""One question: its prose, the facts in its answer, its search, and the building blocks of facts."""

from __future__ import annotations

import pytest
from torch import nn

from normviz.lessons.pages import PAGES
from normviz.lessons.questions import question as module
from normviz.lessons.questions.facts import Declared, normal, only, scene_of, which
from normviz.lessons.questions.page import QUESTIONS, find_question, questions_of_page
from normviz.lessons.questions.question import TOPICS, Prose, Question, answer, facts_of, format_fact, prose, reasons
from normviz.lessons.questions.sources import Source
from normviz.texts import messages
from normviz.texts.errors import NormvizError
from normviz.texts.messages import language
from tests.lessons.questions.searching import matches
from tests.lessons.questions.statements.measure import nearly_equal

PROSE = """# How many means?

> There is one for
> each batch.

## Predict

What does `LayerNorm(4)` have?

- [one] a single one
  Each example has one, and with {gammas}
  gammas it seems to need only one.
- [rows] one for each row

## Answer

{means} of them, and
{gammas} gammas.
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a prose file that is read in place of the package's."""
    monkeypatch.setattr(messages, "LOCALE", tmp_path)
    monkeypatch.setattr(module, "_FACTS", {})
    module._read_prose.cache_clear()

    def write_prose(text: str, name: str = "en") -> None:
        (tmp_path / name / "questions").mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "questions" / "made.md").write_text(text, encoding="utf-8")

    yield write_prose
    module._read_prose.cache_clear()


@pytest.fixture
def french():
    token = language.set("fr")
    yield
    language.reset(token)


def made(**facts: object) -> Question:
    return Question("made", TOPICS[3], lambda: facts, "explore", "shape=2,4", (Source("somebody"),))


def test_prose_has_six_parts_each_on_one_line(write):
    write(PROSE)
    assert prose("made") == Prose(
        title="How many means?",
        claim="There is one for each batch.",
        predict="What does `LayerNorm(4)` have?",
        options={"one": "a single one", "rows": "one for each row"},
        reasons={"one": "Each example has one, and with {gammas} gammas it seems to need only one."},
        answer="{means} of them, and {gammas} gammas.",
    )


def test_a_translation_is_one_more_file(write, french):
    write(PROSE)
    write(PROSE.replace("How many means?", "Combien de moyennes ?"), "fr")
    assert prose("made").title == "Combien de moyennes ?"
    assert answer(made(means=2, gammas=4)) == "2 of them, and 4 gammas."


def test_without_a_translation_the_prose_is_english(write, french):
    write(PROSE)
    assert prose("made").title == "How many means?"


def test_the_order_of_the_options_depends_on_the_key_alone(write):
    lines = [f"- [{option}] {option} of them" for option in ("two", "six", "ten", "all")]
    orders = set()
    for listed in (lines, lines[::-1]):
        write(PROSE.replace("- [rows] one for each row", "\n".join(listed)))
        module._read_prose.cache_clear()
        orders.add(tuple(prose("made").options))
    assert orders == {("all", "one", "ten", "six", "two")}


@pytest.mark.parametrize("part", ["# How many means?", "> There is one for\n> each batch.", "## Predict", "## Answer"])
def test_a_missing_part_raises_an_error(write, part):
    write(PROSE.replace(part, ""))
    with pytest.raises(
        NormvizError,
        match=r"en/questions/made\.md must have a title \(#\), a claim \(>\), '## Predict' and '## Answer'",
    ):
        prose("made")


def test_a_placeholder_without_a_fact_raises_an_error(write):
    write(PROSE)
    with pytest.raises(
        NormvizError, match=r"made: the answer has the placeholder 'gammas', but the facts are means and"
    ):
        answer(made(means=2, right="rows"))
    with pytest.raises(NormvizError, match=r"made: the reason of one has the placeholder 'gammas', but the facts are"):
        reasons(made(means=2, right="rows"))


def test_the_reason_of_a_wrong_option_has_its_numbers(write):
    write(PROSE)
    assert reasons(made(gammas=4)) == {"one": "Each example has one, and with 4 gammas it seems to need only one."}


FORMATTED = [
    (48, "48"),
    (1605632, "1,605,632"),
    (-1605632, "−1,605,632"),
    (0.123456, "0.123"),
    (4.0, "4"),
    (1e-12, "1e−12"),
    (1.7166e-05, "1.7e−5"),
    (True, "yes"),
    (False, "no"),
    ((3, 4), "(3, 4)"),
    ("expected 2D", "expected 2D"),
]


@pytest.mark.parametrize(("value", "text"), FORMATTED)
def test_format_of_a_fact(value, text):
    assert format_fact(value) == text


def test_facts_are_computed_once(write):
    calls = []
    once = Question("made", TOPICS[3], lambda: calls.append(1) or {"right": "rows"}, "explore", "", ())
    assert facts_of(once) is facts_of(once)
    assert calls == [1]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", True),
        ("MEANS", True),
        ("gammas batch", True),
        ("gammas eval", False),
        ("axes", True),
        ("what row", True),  # the prompt and an option
        ("{means}", False),
    ],
)
def test_a_search_needs_all_its_words_in_a_text_of_the_question(write, words, found):
    write(PROSE)
    assert matches(made(), words) is found


def test_an_unknown_question_raises_an_error():
    with pytest.raises(NormvizError, match=r"q='s99' is not a question; leave q out to see all questions\."):
        find_question("s99")


def test_every_question_belongs_to_one_page():
    pages = [questions_of_page(name) for name in {question.page for question in QUESTIONS.values()}]
    assert sum(map(len, pages)) == len(QUESTIONS)
    assert questions_of_page(PAGES["start"]) == []


# Facts that a front matter declares.

VIEW = "shape=2,3,4,4&layer=LayerNorm([3,4,4])&at=0,2,0,3"


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("statistics", 2),
        ("elements", 48),
        ("gammas", 48),
        ("gamma_shape", (3, 4, 4)),
        ("parameters", 96),
        ("peers", 1),  # the same place in the other image
        ("users", 2),
        ("size", 96),
        ("gammas of BatchNorm2d(3)", 3),
        ("buffers of BatchNorm2d(3)", 7),  # 3 means, 3 variances, and the number of batches
        ("gammas of BatchNorm2d(3,affine=False)", 0),
        ("elements of LayerNorm([4,4]) on 5,4,4", 16),
        ("difference of LayerNorm([3,4,4]) and GroupNorm(1,3)", 0.0),
        (25.3, 25.3),
        ([3, 4], (3, 4)),
    ],
)
def test_the_value_of_a_declared_fact(measure, value):
    assert Declared.read({}, VIEW).value(measure) == (
        pytest.approx(value, abs=1e-6) if isinstance(value, float) else value
    )


def test_the_words_of_a_layer_are_those_of_the_installed_torch():
    with pytest.raises(ValueError, match="must be divisible by num_groups") as refused:
        nn.GroupNorm(2, 3)
    assert Declared.read({}, VIEW).value("words of GroupNorm(2,3)") == str(refused.value)


def test_the_right_option_is_the_one_with_the_value_of_the_kind():
    front = {"facts": {"n": "gammas"}, "kind": "gammas", "options": {"one": 2, "elements": "elements", "all": "size"}}
    assert Declared.read(front, VIEW).values() == {"n": 48, "right": "elements"}
    small = {**front, "layer": "LayerNorm([4])", "shape": [2, 4]}
    assert Declared.read(small, VIEW).values() == {"n": 4, "right": "elements"}
    assert Declared.read({"kind": "gammas"}, VIEW).values() == {"right": 48}
    with pytest.raises(NormvizError, match=r"exactly one of the options \['a', 'b'\] must be true"):
        Declared.read({**front, "options": {"a": 3, "b": 4}}, VIEW).values()


@pytest.mark.parametrize("measure", ["gamas of LayerNorm(4)", "how many?"])
def test_a_fact_of_no_kind_raises_an_error(measure):
    with pytest.raises(
        NormvizError, match=r"is no kind of fact; a kind, such as gammas of LayerNorm\(4\) on 2,4, is one of"
    ):
        Declared.read({}, VIEW).value(measure)


# Building blocks of facts.


def test_only_returns_the_one_true_option():
    assert only(a=False, b=True, c=False) == "b"


@pytest.mark.parametrize("options", [{"a": False, "b": False}, {"a": True, "b": True}])
def test_only_needs_exactly_one_true_option(options):
    with pytest.raises(
        NormvizError, match=r"exactly one of the options \['a', 'b'\] must be true, but these are: \[.*\]"
    ):
        only(**options)


@pytest.mark.parametrize(
    ("a", "b", "key"), [(True, False, "a"), (False, True, "b"), (True, True, "both"), (False, False, "neither")]
)
def test_which_of_two_statements_is_true(a, b, key):
    assert which(a=a, b=b) == key


def test_nearly_equal_means_up_to_rounding():
    x = normal(2, 3)
    assert nearly_equal(x, x + 1e-6)
    assert not nearly_equal(x, x + 1e-3)


def test_the_scene_of_a_query():
    scene = scene_of("shape=2,4&layer=LayerNorm(4)&values=5,5,5,5,1,2,3,8&at=0,2&step=5")
    assert (scene.shape, scene.at, scene.values[-1]) == ((2, 4), (0, 2), 8.0)


def test_a_search_finds_words_with_and_without_accents(write, french):
    write(PROSE.replace("How many means?", "Combien de variances mémorisées ?"), "fr")
    question = made(means=2, gammas=4)
    assert [matches(question, words) for words in ("Mémorisées", "memorisees variances", "memorise mean?")] == [
        True,
        True,
        False,
    ]
