"""The list of questions on the command line."""

import json
import re

import pytest
import yaml

from normviz.lessons.questions.page import CORE, QUESTIONS, READING_ORDER, prediction
from normviz.lessons.questions.question import facts_of, prose, reasons
from normviz.texts.languages import languages
from normviz.texts.messages import in_language

FIELDS = ["id", "title", "topic", "core", "prompt", "options", "answer", "sources"]


def test_json_has_one_object_for_each_question_and_begins_with_the_core_path(run):
    code, out, err = run("questions", "--json")
    assert (code, err) == (0, "")
    objects = json.loads(out)
    assert [one["id"] for one in objects if one["core"]] == list(CORE)
    assert [one["core"] for one in objects] == [*range(1, len(CORE) + 1), *[None] * (len(QUESTIONS) - len(CORE))]
    assert {one["id"] for one in objects} == set(QUESTIONS)
    for one in objects:
        question, text = QUESTIONS[one["id"]], prose(one["id"])
        assert list(one) == FIELDS
        assert (one["title"], one["prompt"], one["topic"]) == (text.title, text.predict, question.topic.key)
        assert one["options"] == (list(text.options.values()) or None)
        if one["options"] is None:
            assert prediction(question).is_right(str(one["answer"]))
        else:
            (right,) = (key for key, option in text.options.items() if option == one["answer"])
            assert prediction(question).is_right(right)
        assert [source["name"] for source in one["sources"]] == [source.name for source in question.sources]


def test_without_json_each_question_is_one_line(run):
    code, out, _err = run("questions")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()][: len(CORE)] == list(CORE)
    assert len(out.splitlines()) == len(QUESTIONS)
    assert "`" not in out


def test_the_list_goes_to_a_file(run, tmp_path):
    printed = run("questions", "--json")[1]
    assert run("questions", "--json", "-o", "questions.json")[1].startswith("questions.json: ")
    assert (tmp_path / "questions.json").read_text(encoding="utf-8") == printed


@pytest.mark.parametrize("lang", languages())
def test_the_file_for_quiqui_follows_its_format(run, lang):
    """The limits are those of QuiQui's server: a map with a list, 2 to 6 texts to choose from, a letter, 100 kB. Phones know a question by 40 characters."""
    code, out, err = run("questions", "--format", "quiqui", "--lang", lang)
    found = yaml.safe_load(out)
    asked = [QUESTIONS[key] for key in READING_ORDER if prose(key).options]
    assert code == 0
    assert str(len(QUESTIONS) - len(asked)) in err
    assert len(out.encode()) < 100 * 1024
    assert list(found["config"]) == ["title"]  # without an address of its own, QuiQui makes one
    assert len({one["question"][:40] for one in found["questions"]}) == len(asked)
    for one, question in zip(found["questions"], asked, strict=True):
        with in_language(lang):
            options, why = prose(question.key).options, reasons(question)
            assert options[str(facts_of(question)["right"])] == one["answers"]["ABCDEF".index(one["correct"])]
        tempting = {"ABCDEF"[[*options].index(key)]: reason for key, reason in why.items()}
        assert all(f" {letter}: {reason}" in one["explanation"] for letter, reason in tempting.items())
        assert one["correct"] not in tempting
        assert one["type"] == "single"
        assert 2 <= len(one["answers"]) <= 6
        texts = [one["question"], *one["answers"], one["explanation"]]
        assert all(isinstance(text, str) and text.strip() for text in texts)
        assert not any("$" in text or "<" in re.sub("`[^`]*`| < ", "", text) for text in texts)  # no formula, no HTML


def test_only_some_questions_and_those_of_a_page_are_written(run):
    chosen = json.loads(run("questions", "--format", "json", "--only", "s0", "numerics")[1])
    assert {one["id"] for one in chosen} == {"s0"} | {
        key for key, one in QUESTIONS.items() if one.page.name == "numerics"
    }
    assert chosen[0]["id"] == "s0"  # in the order of reading
    assert (
        run("questions", "--only", "nothing")[2]
        .strip()
        .endswith("'nothing' is neither a question nor a page with questions.")
    )
    code, out, err = run("questions", "--format", "quiqui", "--only", "q4")
    assert (code, out) == (2, "")
    assert "choose others with --only" in err
