"""The machinery of questions: prose, facts, guesses and the search."""

from __future__ import annotations

import pytest

from normviz.layers.errors import NormvizError
from normviz.lessons.questions import question as machinery
from normviz.lessons.questions import registry
from normviz.lessons.questions.facts import only, same, scene_of
from normviz.lessons.questions.outputs import normal
from normviz.lessons.questions.question import (
    Prose,
    Question,
    Source,
    answer,
    computed,
    matches,
    prose,
    shown,
)

PROSE = """# How many means?

> There is one for
> each batch.

## Predict

What does `LayerNorm(4)` have?

- [one] a single one
- [rows] one for each row

## Answer

{means} of them, and
{gammas} gammas.
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Writes prose files that are read in place of the package's."""
    monkeypatch.setattr(machinery, "files", lambda package: tmp_path)
    monkeypatch.setattr(machinery, "_FACTS", {})
    prose.cache_clear()

    def write(text: str, key: str = "made", language: str = "en") -> None:
        (tmp_path / f"{key}.{language}.md").write_text(text, encoding="utf-8")

    yield write
    prose.cache_clear()


def asked(key: str = "made", **facts: object) -> Question:
    return Question(key, "Means", lambda: facts, "explore", "shape=2,4", (Source("somebody"),))


def test_the_parts_of_a_prose(written):
    written(PROSE)
    assert prose("made") == Prose(
        title="How many means?",
        claim="There is one for each batch.",
        predict="What does `LayerNorm(4)` have?",
        options={"one": "a single one", "rows": "one for each row"},
        answer="{means} of them, and\n{gammas} gammas.",
    )


def test_a_translation_is_one_more_file(written):
    written(PROSE)
    written(PROSE.replace("How many means?", "Combien de moyennes ?"), language="fr")
    assert prose("made", "fr").title == "Combien de moyennes ?"
    assert answer(asked(means=2, gammas=4), "fr") == "2 of them, and\n4 gammas."


@pytest.mark.parametrize("part", ["# How many means?", "> There is one for\n> each batch.", "## Predict", "## Answer"])
def test_a_part_that_is_missing(written, part):
    written(PROSE.replace(part, ""))
    with pytest.raises(
        NormvizError, match=r"made\.en\.md must have a title \(#\), a claim \(>\), '## Predict' and '## Answer'"
    ):
        prose("made")


def test_a_placeholder_without_a_fact(written):
    written(PROSE)
    with pytest.raises(NormvizError, match=r"made: the answer names 'gammas', and facts has means and right\."):
        answer(asked(means=2, right="rows"))


SHOWN = [
    (48, "48"),
    (1605632, "1,605,632"),
    (0.123456, "0.123"),
    (4.0, "4"),
    (1e-12, "1e−12"),
    (1.7166e-05, "1.7e−5"),
    (-1605632, "−1,605,632"),
    (True, "yes"),
    (False, "no"),
    ((3, 4), "(3, 4)"),
    ("expected 2D", "expected 2D"),
]


@pytest.mark.parametrize(("value", "text"), SHOWN)
def test_how_a_fact_is_shown(value, text):
    assert shown(value) == text


def test_facts_are_computed_once(written):
    written(PROSE)
    calls = []
    once = Question("made", "Means", lambda: calls.append(1) or {"right": "rows"}, "explore", "", ())
    assert computed(once) is computed(once)
    assert calls == [1]


@pytest.mark.parametrize(
    ("search", "hit"), [("", True), ("MEANS", True), ("gammas batch", True), ("gammas eval", False)]
)
def test_the_search_wants_every_word(written, search, hit):
    written(PROSE)
    assert matches(asked(), search) is hit


def test_an_unknown_question():
    with pytest.raises(NormvizError, match=r"q='s99' is no question; leave q out to see them all\."):
        registry.question("s99")


def test_a_page_has_its_questions():
    pages = [registry.of_page(name) for name in {one.page for one in registry.QUESTIONS.values()}]
    assert sum(map(len, pages)) == len(registry.QUESTIONS)
    assert registry.of_page("nowhere") == []


# What facts are made of.


def test_the_one_option_that_is_true():
    assert only(a=False, b=True, c=False) == "b"


@pytest.mark.parametrize("options", [{"a": False, "b": False}, {"a": True, "b": True}])
def test_not_exactly_one_option(options):
    with pytest.raises(NormvizError, match=r"of the options \['a', 'b'\] one must be true, and these are: \[.*\]"):
        only(**options)


def test_equal_but_for_rounding():
    x = normal(2, 3)
    assert same(x, x + 1e-6)
    assert not same(x, x + 1e-3)


def test_the_scene_of_a_query():
    scene = scene_of("shape=2,4&layer=LayerNorm(4)&values=5,5,5,5,1,2,3,8&at=0,2&step=5")
    assert (scene.shape, scene.at, scene.values[-1]) == ((2, 4), (0, 2), 8.0)
