"""The list of questions on the command line."""

import json

from normviz.lessons.questions.page import CORE, QUESTIONS, prediction
from normviz.lessons.questions.question import prose

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
