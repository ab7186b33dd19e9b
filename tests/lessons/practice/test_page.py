"""The page of practice as a value: the exercises of a set, what a link hides, and the bank that a file carries."""

import gzip
import json
from base64 import b64decode
from html import unescape
from typing import Any

import pytest

from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES, PageView, page_view
from normviz.lessons.practice.bank import bank, choose, index
from normviz.lessons.practice.confusions import CONFUSIONS
from normviz.lessons.practice.page import POOL, SETTINGS, SHOWN_BY_STEP, Practice
from normviz.lessons.practice.settings import FIRST_FORMS, FORMS, LEVELS, TOPICS
from normviz.lessons.start.page import LESSON_STEPS
from normviz.parts.html import Body
from normviz.parts.part import Problem
from tests.support.javascript import LESSONS, evaluate

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
    assert data["set"] == {
        "seed": "7",
        "count": "4",
        "topics": "statistics,parameters",
        "level": "1",
        "kinds": "",
        "mixture": "",
    }
    chosen = choose(7, 4, ("statistics", "parameters"), 1)
    assert [one["id"] for one in data["exercises"]] == [one.id for one in chosen]
    assert page_of(LINK).whole_query == dict(pair.split("=") for pair in LINK.split("&"))


def carried_by(query: str, body: Body) -> dict[str, Any]:
    """The exercises that a page carries, and what a choice needs of them."""
    packed = part_of(page_of(query)).html(body).split('class="nv-bank">')[1].split("<")[0]
    carried: dict[str, Any] = json.loads(gzip.decompress(b64decode(packed)))
    return carried


def test_without_a_setting_a_set_rises_and_the_browser_gets_exercises_of_every_level_and_kind():
    data = data_of("")
    assert data["set"] == {"seed": "0", "count": "10", "topics": "", "level": "rising", "kinds": "", "mixture": ""}
    assert data["exercises"] == []
    assert page_of("").whole_query == {"seed": "0", "count": "10", "level": "rising"}
    pool = carried_by("", Body(app=""))["exercises"]
    assert {(one["level"], one["form"]) for one in pool} == {(level, form) for level in LEVELS for form in FORMS}
    assert {one["topic"] for one in pool} == set(TOPICS)
    assert len(pool) == POOL * len(LEVELS)


@pytest.mark.parametrize(
    "query", ["seed=0", "count=10", "level=all", "topics=code", "kinds=mark", "mixture=3", "time=true"]
)
def test_any_setting_makes_a_fixed_set(query):
    assert data_of(query)["exercises"]


@pytest.mark.parametrize("query", ["", "hide=time", "lang=es", "level=rising", "level=rising&kinds=build&time=true"])
def test_what_is_hidden_and_the_language_choose_no_set(query):
    assert data_of(query)["set"]["level"] == "rising"
    assert page_of(query).view.problem is None


def test_a_link_names_the_kinds_of_its_exercises():
    assert {one["form"] for one in data_of("count=40")["exercises"]} == set(FIRST_FORMS)
    built = data_of("kinds=build&count=3")["exercises"]
    assert [one["form"] for one in built] == ["build"] * 3
    assert all(one["steps"] and one["accepted"] and one["target"] for one in built)
    pool = carried_by("level=rising&kinds=build&topics=statistics", Body(app=""))["exercises"]
    assert {one["form"] for one in pool} == {"build"}


def test_the_browser_reads_the_limits_and_options_of_the_settings_from_their_declarations():
    settings = data_of("")["settings"]
    assert list(settings) == [setting.name for setting in SETTINGS]
    assert settings["seed"] == {"label": "Seed", "low": 0, "high": 2**31 - 1}
    assert settings["count"] == {"label": "Exercises", "low": 1, "high": 100}
    assert [key for key, _title in settings["topics"]["options"]] == list(TOPICS)
    assert settings["level"]["options"] == [
        ["rising", "rising with your answers"], ["all", "all"],
        ["1", "1: tables"], ["2", "2: sequences and images"], ["3", "3: groups and odd shapes"],
    ]  # fmt: skip
    assert [key for key, _title in settings["kinds"]["options"]] == list(FORMS)
    assert settings["kinds"]["unnamed"] == list(FIRST_FORMS)
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
        ("#kinds=build", {"kinds": "build"}),
        ("#kinds=choice,mark,number", {}),
        ("#level=rising", {"level": "rising"}),
        ("#hide=time", {}),
        ("#time=true", {}),
        ("#time=true&hide=time", {}),
    ],
)
def test_the_address_of_a_file_changes_the_values_that_it_names(address, changed):
    asked = "(globalThis.location = { hash: '', search: '', ...args[1] }, setOfAddress(args[0]))"
    place = {"hash" if address.startswith("#") else "search": address}
    data = data_of(OWN)
    found = evaluate(asked, data, place, entry=LESSONS / "practice/form.ts")
    assert found == {"set": data["set"] | changed, "timed": "time=true" in address and "hide" not in address}


@pytest.mark.parametrize(
    ("address", "level"),
    [("", "rising"), ("#hide=time", "rising"), ("#seed=8", "all"), ("#kinds=build", "all"), ("#level=2", "2")],
)
def test_any_setting_in_the_address_of_a_rising_file_makes_a_fixed_set(address, level):
    asked = "(globalThis.location = { hash: args[1], search: '' }, setOfAddress(args[0]).set.level)"
    assert evaluate(asked, data_of(""), address, entry=LESSONS / "practice/form.ts") == level


@pytest.mark.parametrize("own", ["", OWN])
@pytest.mark.parametrize("query", ["", LINK, "topics=code", "count=20&level=2", "kinds=build", "level=rising"])
def test_the_link_of_a_set_is_read_back_as_the_same_set_in_the_app_and_in_a_file(own, query):
    data, wanted = data_of(own), data_of(query)["set"]
    link = evaluate("writeSet(args[0], true, args[1])", wanted, data["set"], entry=LESSONS / "practice/form.ts")
    assert data_of(link[1:])["set"] == wanted
    read = "(globalThis.location = { hash: args[1], search: '' }, setOfAddress(args[0]).set)"
    assert evaluate(read, data, f"#{link[1:]}", entry=LESSONS / "practice/form.ts") == wanted


SHARED = {"query": [["seed", "0"], ["count", "10"], ["level", "all"], ["lang", "es"]], "hidden": ["exercises"]}


@pytest.mark.parametrize(("timed", "time"), [(True, [["time", "true"]]), (False, [])])
def test_share_has_the_set_of_the_open_form(timed, time):
    wanted = {"seed": "3", "count": "5", "topics": "", "level": "1", "kinds": "build"}
    shared = evaluate("shareSet(args[0], args[1], args[2])", SHARED, wanted, timed, entry=LESSONS / "practice/form.ts")
    query = [["seed", "3"], ["count", "5"], ["level", "1"], ["kinds", "build"], *time, ["lang", "es"]]
    assert shared == {"query": query, "hidden": ["exercises"]}


def test_every_confusion_is_sent_because_a_readers_progress_may_name_any_with_a_question_to_read():
    data = data_of("seed=3&count=3")
    assert data["confusions"].keys() == CONFUSIONS.keys()
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
    [
        ("", False, True),
        ("time=true", True, True),
        ("time=true&hide=time", False, True),
        ("hide=exercises", False, False),
        ("hide=all", False, False),
    ],
)
def test_a_link_can_show_the_time_and_hide_it_and_the_choice_of_exercises(query, timed, controls):
    data = data_of(f"seed=0&{query}")
    assert (data["timed"], data["controls"], len(data["exercises"])) == (timed, controls, 10)


def test_every_topic_has_exercises_of_every_level_so_that_no_link_is_empty():
    assert {(one.topic, one.level) for one in index()} == {(topic, level) for topic in TOPICS for level in LEVELS}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("topics=statistics,stats", "topics='stats' is unknown; choose statistics, parameters, code"),
        ("level=4", "level='4' is unknown; choose rising, all, 1, 2 or 3"),
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
    carried = carried_by(LINK, Body(carries=True))
    assert carried["index"] == [list(entry) for entry in index()]
    assert carried["exercises"] == json.loads(json.dumps([sent(one.data()) for one in bank()]))
    assert len(part_of(page_of(LINK)).html(Body(carries=True))) < 500_000


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
    assert evaluate(counted, [1, 2], entry=LESSONS / "practice/summary.ts", language=language) == times


@pytest.mark.parametrize(("language", "line"), [("en", "- That. Read: T"), ("zh", "- That。阅读：T")])
def test_the_copied_summary_joins_sentences_as_the_language_does(language, line):
    exercise = {"id": "i", "prompt": "P", "answer": "4", "form": "number", "names": [], "over": {}}
    data = {"confusions": {"that": {"name": "that", "sentence": "S", "title": "T"}}}
    result = {"exercise": exercise, "tries": ["3"], "isRight": False, "confusions": ["that"]}
    read = "summaryText([args[0]], { set: { seed: 7 }, data: args[1], link: '', seconds: null })"
    text = evaluate(read, result, data, entry=LESSONS / "practice/summary.ts", language=language)
    assert text.splitlines()[-1] == line


def test_an_attempt_is_kept_where_nothing_can_be_stored_and_another_set_begins_anew():
    attempt = {
        "key": "a,b",
        "at": 1,
        "seconds": 9,
        "draft": "4",
        "tries": [["3"]],
        "ids": ["a", "b"],
        "seed": 5,
        "due": [],
    }
    read = "(keepAttempt(args[0]), [readAttempt('a,b', 2), readAttempt('b,c', 2)])"  # node has no sessionStorage
    kept, other = evaluate(read, attempt, entry=LESSONS / "practice/practice.ts")
    assert kept == attempt
    assert other == {
        "key": "b,c",
        "at": 0,
        "seconds": 0,
        "draft": None,
        "tries": [],
        "ids": [],
        "seed": other["seed"],
        "due": [],
    }
