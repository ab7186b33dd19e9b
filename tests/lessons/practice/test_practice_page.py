"""The page of practice as a value: the exercises of a set, what a link hides, and the bank that a file carries."""

import gzip
import json
from base64 import b64decode
from html import unescape
from typing import Any

import pytest

from normviz.lessons.pages import PAGES, PageView, page_view
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.part import Problem
from normviz.lessons.practice.bank import LEVELS, bank, choose, index
from normviz.lessons.practice.case import TOPICS
from normviz.lessons.practice.case import TOPICS as PRACTICE_TOPICS
from normviz.lessons.practice.confusions import CONFUSIONS
from normviz.lessons.practice_page import SETTINGS, SHOWN_BY_STEP, Practice
from normviz.lessons.start import LESSON_STEPS
from normviz.lessons.style import BROWSER
from tests.figures.linked.javascript import evaluate

LINK = "seed=7&count=4&topics=statistics,parameters&level=1"


def page_of(query: str) -> PageView:
    return page_view(PAGES["practice"], PAGES["practice"].view(query))


def part_of(made: PageView) -> Practice:
    (part,) = (part for part in made.parts if isinstance(part, Practice))
    return part


def data_of(query: str, body: Body | None = None) -> dict[str, Any]:
    """What the browser reads."""
    html = part_of(page_of(query)).html(body or Body(app=""))
    data: dict[str, Any] = json.loads(unescape(html.split('data-practice="')[1].split('"')[0]))
    return data


def test_the_link_of_a_set_chooses_its_exercises():
    data = data_of(LINK)
    assert data["set"] == {"seed": "7", "count": "4", "topics": "statistics,parameters", "level": "1"}
    chosen = choose(7, 4, ("statistics", "parameters"), 1)
    assert [one["id"] for one in data["exercises"]] == [one.id for one in chosen]
    assert page_of(LINK).whole_query == dict(pair.split("=") for pair in LINK.split("&"))


def test_without_a_link_there_are_ten_exercises_of_all_topics_and_levels():
    data = data_of("")
    assert data["set"] == {"seed": "0", "count": "10", "topics": "", "level": "all"}
    assert len(data["exercises"]) == 10
    assert page_of("").whole_query == {"seed": "0", "count": "10", "level": "all"}


def test_the_browser_reads_the_limits_and_options_of_the_settings_from_their_declarations():
    settings = data_of("")["settings"]
    assert list(settings) == [setting.name for setting in SETTINGS]
    assert settings["seed"] == {"label": "Seed", "low": 0, "high": 2**31 - 1}
    assert settings["count"] == {"label": "Exercises", "low": 1, "high": 100}
    assert [key for key, _title in settings["topics"]["options"]] == list(TOPICS)
    assert settings["level"]["options"] == [["all", "all"], ["1", "1"], ["2", "2"], ["3", "3"]]
    for name, setting in settings.items():
        values = (
            [key for key, _title in setting["options"]] if "options" in setting else [setting["low"], setting["high"]]
        )
        assert not any(isinstance(part, Problem) for value in values for part in page_of(f"{name}={value}").parts)


OWN = "seed=3&count=20&topics=statistics,code&level=1"


@pytest.mark.parametrize(
    ("address", "changed"),
    [
        ("", {}),
        ("#seed=8", {"seed": "8"}),
        ("?seed=8&count=5", {"seed": "8", "count": "5"}),
        ("#topics=&level=all", {"topics": "", "level": "all"}),
        ("#topics=Code,+numbers,axes", {"topics": "code,numbers"}),
        (f"#topics={','.join(TOPICS)}", {"topics": ""}),
        ("#seed=99999999999&count=0", {"seed": "2147483647", "count": "1"}),
        ("#seed=x&count=&level=4", {}),
        ("#hide=time", {}),
    ],
)
def test_the_address_of_a_file_changes_the_values_that_it_names(address, changed):
    asked = "(globalThis.location = { hash: '', search: '', ...args[1] }, setOfAddress(args[0]))"
    place = {"hash" if address.startswith("#") else "search": address}
    data = data_of(OWN)
    found = evaluate(asked, data, place, entry=BROWSER / "practice/form.js")
    assert found == {"set": data["set"] | changed, "timed": "hide" not in address}


@pytest.mark.parametrize("own", ["", OWN])
@pytest.mark.parametrize("query", ["", LINK, "topics=code", "count=20&level=2"])
def test_the_link_of_a_set_is_read_back_as_the_same_set_in_the_app_and_in_a_file(own, query):
    data, wanted = data_of(own), data_of(query)["set"]
    link = evaluate("writeSet(args[0], true, args[1])", wanted, data["set"], entry=BROWSER / "practice/form.js")
    assert data_of(link[1:])["set"] == wanted
    read = "(globalThis.location = { hash: args[1], search: '' }, setOfAddress(args[0]).set)"
    assert evaluate(read, data, f"#{link[1:]}", entry=BROWSER / "practice/form.js") == wanted


SHARED = {"query": [["seed", "0"], ["count", "10"], ["level", "all"], ["lang", "es"]], "hidden": ["exercises"]}


@pytest.mark.parametrize(("timed", "hidden"), [(True, ["exercises"]), (False, ["exercises", "time"])])
def test_share_has_the_set_of_the_open_form(timed, hidden):
    wanted = {"seed": "3", "count": "5", "topics": "", "level": "1"}
    shared = evaluate("shareSet(args[0], args[1], args[2])", SHARED, wanted, timed, entry=BROWSER / "practice/form.js")
    assert shared == {"query": [["seed", "3"], ["count", "5"], ["level", "1"], ["lang", "es"]], "hidden": hidden}


def test_each_wrong_answer_that_is_sent_has_its_confusion_with_a_question_to_read():
    data = data_of("seed=3&count=30")
    named = {confusion for one in data["exercises"] for confusion, _answer in one["wrong"]}
    assert data["confusions"].keys() == named
    assert all(one["name"] and one["sentence"] and one["title"] for one in data["confusions"].values())


def test_a_confusion_that_a_step_of_start_here_clears_up_names_the_step():
    steps = [step.key for step in LESSON_STEPS]
    known = {confusion for named in SHOWN_BY_STEP.values() for confusion in named}
    assert sum(map(len, SHOWN_BY_STEP.values())) == len(known)
    assert known < CONFUSIONS.keys()
    assert SHOWN_BY_STEP.keys() < set(steps)
    found = data_of("count=100&level=1")["confusions"]
    assert found["unbiased"]["step"] == [steps.index("numbers") + 1, "Normalize four numbers"]
    assert found["batchnorm"]["step"] == [steps.index("layernorm") + 1, "And LayerNorm?"]
    assert found["not_centered"]["step"] is None


@pytest.mark.parametrize(
    ("query", "timed", "controls"),
    [("", True, True), ("hide=time", False, True), ("hide=exercises", True, False), ("hide=all", False, False)],
)
def test_a_link_can_hide_the_time_and_the_choice_of_exercises(query, timed, controls):
    data = data_of(query)
    assert (data["timed"], data["controls"], len(data["exercises"])) == (timed, controls, 10)


def test_every_topic_has_exercises_of_every_level_so_that_no_link_is_empty():
    assert TOPICS == PRACTICE_TOPICS
    assert {(one.topic, one.level) for one in index()} == {(topic, level) for topic in TOPICS for level in LEVELS}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("topics=statistics,stats", "topics='stats' is unknown; choose statistics, parameters, code"),
        ("level=4", "level='4' is unknown; choose all, 1, 2 or 3"),
        ("count=1000", "count='1000' must be a whole number from 1 to 100"),
    ],
)
def test_a_wrong_link_says_what_is_allowed_and_shows_the_nearest_set(query, message):
    made = page_of(query)
    assert isinstance(made.parts[0], Problem)
    assert made.view.problem is not None
    assert made.view.problem.startswith(message)
    assert part_of(made).chosen.exercises()


def test_a_file_carries_all_exercises_because_no_server_chooses_them():
    body = Body(carries=True)
    packed = part_of(page_of(LINK)).html(body).split('class="nv-bank">')[1].split("<")[0]
    carried = json.loads(gzip.decompress(b64decode(packed)))
    assert carried["index"] == [list(entry) for entry in index()]
    assert carried["exercises"] == json.loads(json.dumps([one.data() for one in bank()]))
    assert {confusion for one in bank() for confusion, _answer in one.wrong} == data_of(LINK, body)["confusions"].keys()
    assert len(packed) < 400_000


def test_as_text_a_set_is_a_numbered_list_with_its_options():
    text = part_of(page_of("seed=7&count=2&topics=code")).plain_text()
    for number, one in enumerate(choose(7, 2, ("code",)), 1):
        assert f"{number}. {one.prompt}" in text
        assert all(f"- {one.text_of(value)}" in text for _confusion, value in one.choices)


@pytest.mark.parametrize(
    ("language", "times"),
    [("en", ["That.", "That (2 times)."]), ("es", ["That.", "That (2 veces)."]), ("zh", ["That。", "That（2 次）。"])],
)
def test_the_summary_counts_confusions_in_the_plural_forms_of_the_language(language, times):
    counted = "args[0].map((count) => timesText({ name: 'that' }, count))"
    assert evaluate(counted, [1, 2], entry=BROWSER / "practice/summary.js", language=language) == times


@pytest.mark.parametrize(("language", "line"), [("en", "- That. Read: T"), ("zh", "- That。阅读：T")])
def test_the_copied_summary_joins_sentences_as_the_language_does(language, line):
    exercise = {"prompt": "P", "answer": "4", "form": "number"}
    data = {"confusions": {"that": {"name": "that", "title": "T"}}}
    result = {"exercise": exercise, "value": "3", "isRight": False, "confusion": "that"}
    read = "summaryText([args[0]], { set: { seed: 7 }, data: args[1], link: '', seconds: null })"
    text = evaluate(read, result, data, entry=BROWSER / "practice/summary.js", language=language)
    assert text.splitlines()[-1] == line


def test_an_attempt_is_kept_where_nothing_can_be_stored_and_another_set_begins_anew():
    attempt = {"key": "a,b", "at": 1, "seconds": 9, "draft": "4", "answers": ["3"]}  # node has no sessionStorage
    read = "(keepAttempt(args[0]), [readAttempt('a,b', 2), readAttempt('b,c', 2)])"
    kept, other = evaluate(read, attempt, entry=BROWSER / "practice/practice.js")
    assert kept == attempt
    assert other == {"key": "b,c", "at": 0, "seconds": 0, "draft": None, "answers": []}
