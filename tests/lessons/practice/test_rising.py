"""Practice that rises: the level after some answers, the second try, what returns, and the reader's own progress. In node."""

from typing import Any

import numpy as np
import pytest

from normviz.figures.wire import sent
from normviz.lessons.practice.bank import bank, choose
from normviz.lessons.practice.settings import FORMS, LEVELS
from tests.support.javascript import LESSONS, evaluate

PRACTICE, SHARING = LESSONS / "practice", LESSONS.parent / "parts" / "browser" / "sharing_panel.ts"
RIGHT, SECOND, WRONG, SHOWN = ["right"], ["wrong", "right"], ["wrong", "wrong"], [None]


def exercise(
    name: str, level: int = 1, kind: str = "means", confusions: tuple[str, ...] = (), layer: str = ""
) -> dict[str, Any]:
    """An exercise as the browser has it; its right answer is "right"."""
    wrong = [[confusion, confusion] for confusion in confusions]
    shape = [2, 3] if level == 1 else [2, 3, 4]
    return {
        "id": name,
        "level": level,
        "kind": kind,
        "form": "build" if kind == "build" else "choice",
        "layer": layer or name,
        "shape": shape,
        "answer": "right",
        "wrong": wrong,
    }


def result(asked: dict[str, Any], *tries: str | None) -> dict[str, Any]:
    found: dict[str, Any] = evaluate("resultOfTries(args[0], args[1])", asked, tries, entry=PRACTICE / "exercise.ts")
    return found


@pytest.mark.parametrize(
    ("answers", "level"),
    [
        ([], 1),
        ([RIGHT], 1),
        ([RIGHT, RIGHT], 2),
        ([RIGHT, SECOND, RIGHT], 1),  # two that were right at the first try, but not in a row
        ([RIGHT, RIGHT, RIGHT], 2),
        ([RIGHT] * 4, 3),
        ([RIGHT] * 8, 3),
        ([RIGHT, RIGHT, WRONG], 2),
        ([RIGHT, RIGHT, WRONG, SHOWN], 1),
        ([RIGHT, RIGHT, WRONG, RIGHT, WRONG], 2),
        ([WRONG] * 4, 1),
    ],
)
def test_the_level_goes_up_after_two_right_first_tries_and_down_after_two_wrong_answers(answers, level):
    results = "args[0].map((tries) => resultOfTries(args[1], tries))"
    assert evaluate(f"levelAfter({results})", answers, exercise("a"), entry=PRACTICE / "practice.ts") == level


@pytest.mark.parametrize(
    ("tries", "is_done", "is_right"),
    [(["wrong"], False, False), (RIGHT, True, True), (SECOND, True, True), (WRONG, True, False), (SHOWN, True, False), (["wrong", None], True, False)],
)  # fmt: skip
def test_a_first_error_leaves_a_second_try_and_a_second_error_ends_the_exercise(tries, is_done, is_right):
    found = result(exercise("a"), *tries)
    assert (found["isDone"], found["isRight"]) == (is_done, is_right)


@pytest.mark.parametrize(("tries", "outcome"), [(RIGHT, "right"), (SECOND, "second"), (WRONG, "wrong"), (SHOWN, "wrong")])  # fmt: skip
def test_both_tries_are_counted(tries, outcome):
    found = result(exercise("a"), *tries)
    assert evaluate("outcomeOf(args[0])", found, entry=PRACTICE / "summary.ts") == outcome


def test_the_confusions_of_both_tries_are_kept():
    asked = exercise("a", confusions=("batchnorm", "example"))
    found = result(asked, "batchnorm", "example")
    assert (found["confusions"], found["confusion"]) == (["batchnorm", "example"], "example")


def following(pool: list[dict[str, Any]], results: list[dict[str, Any]], seed: int = 5, due: tuple[str, ...] = ()):
    """The id of the next exercise."""
    found = evaluate("nextExercise(args[0], args[1], args[2], args[3])?.id ?? null", pool, results, seed, due, entry=PRACTICE / "rising.ts")  # fmt: skip
    return found


def test_the_next_exercise_has_the_level_and_a_kind_that_came_up_least():
    pool = [exercise("a", 1, "means"), exercise("b", 1, "means"), exercise("c", 1, "gammas"), exercise("d", 2, "code")]
    assert {following(pool, [], seed) for seed in range(12)} == {"a", "b", "c"}
    assert following(pool, [result(pool[0], *WRONG)]) == "c"
    assert following(pool, [result(pool[0], *RIGHT), result(pool[2], *RIGHT)]) == "d"


def test_no_exercise_comes_twice_and_where_none_is_left_there_is_none():
    pool = [exercise("a"), exercise("b")]
    assert following(pool, [result(pool[0], *RIGHT)]) == "b"
    assert following(pool, [result(one, *WRONG) for one in pool]) is None


def test_what_was_wrong_returns_in_another_exercise_of_the_same_confusion_after_others_and_not_at_once():
    pool = [
        exercise("a", kind="means", confusions=("batchnorm",)),
        exercise("b", kind="peers", confusions=("batchnorm",)),
        *(exercise(name, kind=kind) for name, kind in (("c", "gammas"), ("d", "mode"), ("e", "value"), ("f", "code"))),
    ]
    mistaken = result(pool[0], "batchnorm", "right")
    seeds = range(20)
    assert {following(pool, [mistaken], seed) for seed in seeds} > {"b"}  # by chance, as others
    between = [mistaken, *(result(one, *SECOND) for one in pool[2:4])]
    assert {following(pool, between, seed) for seed in seeds} == {"b"}
    overcome = [mistaken, result(pool[1], *RIGHT), *(result(one, *SECOND) for one in pool[2:4])]
    more = [*pool, exercise("g", kind="peers", confusions=("batchnorm",))]
    assert {following(more, overcome, seed) for seed in seeds} >= {"e", "f"}


def test_what_came_up_in_earlier_sets_returns_too():
    pool = [exercise("a"), exercise("b"), exercise("c"), exercise("d", confusions=("example",))]
    done = [result(one, *SECOND) for one in pool[:2]]
    assert {following(pool, done, seed, ("example",)) for seed in range(12)} == {"d"}


def test_no_question_comes_in_the_same_words_while_there_are_others():
    pool = [exercise("a", layer="BatchNorm1d(4)"), exercise("b", layer="BatchNorm1d(4)"), exercise("c", layer="LayerNorm([5])")]  # fmt: skip
    seeds = range(12)
    assert {following(pool, [result(pool[0], *SECOND)], seed) for seed in seeds} == {"c"}
    assert following(pool, [result(pool[0], *SECOND), result(pool[2], *SECOND)]) == "b"


def test_no_layer_is_built_of_an_axis_with_one_element():
    pool = [exercise("a", kind="build") | {"shape": [2, 1]}, exercise("b", kind="build"), exercise("c") | {"shape": [2, 1]}]  # fmt: skip
    assert {following(pool, [], seed) for seed in range(12)} == {"b", "c"}


def test_the_level_of_sequences_and_images_has_no_tables():
    pool = [sent(one.data()) for one in choose(0, 60, (), 2, tuple(FORMS))]
    tables = {one["id"] for one in pool if len(one["shape"]) == 2}
    assert tables
    assert following([one for one in pool if one["id"] in tables], []) is None
    assert not tables & {following(pool, [], seed) for seed in range(20)}


def test_from_the_bank_a_reader_who_is_always_right_meets_every_level_and_build():
    pool = [sent(one.data()) for level in LEVELS for one in choose(0, 60, (), level, tuple(FORMS))]
    walk = """(() => {
      const results = [];
      while (results.length < 12) {
        const next = nextExercise(args[0], results, 3, []);
        results.push(resultOfTries(next, [next.answer]));
      }
      return results.map(({ exercise }) => [exercise.level, exercise.form, exercise.id]);
    })()"""
    found = evaluate(walk, pool, entry=PRACTICE / "practice.ts")
    assert [level for level, _form, _id in found] == [1, 1, 2, 2, *[3] * 8]
    assert "build" in {form for _level, form, _id in found}
    assert len({name for _level, _form, name in found}) == 12


STORE = "globalThis.localStorage = { kept: {}, getItem(key) { return this.kept[key] ?? null; }, setItem(key, value) { this.kept[key] = value; } }"  # fmt: skip


def remembered(results: list[dict[str, Any]], store: str = STORE) -> Any:
    return evaluate(
        f"({store}, Object.assign(PROGRESS, {{ last: null, isStored: true }}), args[0].forEach(keepProgress), [readProgress(), openInProgress()])",
        results,
        entry=PRACTICE / "progress.ts",
    )


def test_progress_counts_a_confusion_until_an_exercise_in_which_it_may_come_up_is_right_at_the_first_try():
    asked, other = exercise("a", confusions=("batchnorm", "example")), exercise("b", confusions=("example",))
    results = [result(asked, "batchnorm", "right"), result(asked, "example", "batchnorm"), result(other, "right")]
    progress, still_open = remembered(results)
    assert progress == {"batchnorm": {"times": 2, "isOpen": True}, "example": {"times": 1, "isOpen": False}}
    assert still_open == ["batchnorm"]
    second_try = [*results[:2], result(other, "wrong", "right")]
    assert set(remembered(second_try)[1]) == {"batchnorm", "example"}


@pytest.mark.parametrize("kept", ["null", "[1]", '{"batchnorm": 3, "example": {"times": "x"}}', "{"])
def test_progress_that_cannot_be_read_is_none(kept):
    store = f"{STORE}, localStorage.kept['normviz.confusions'] = {kept!r}"
    assert remembered([], store) == [{}, []]


def test_without_a_store_progress_is_empty_and_nothing_fails():
    refusing = (
        "globalThis.localStorage = { getItem() { throw new DOMException(); }, setItem() { throw new DOMException(); } }"
    )
    progress, still_open = remembered([result(exercise("a", confusions=("example",)), "example", "right")], refusing)
    assert still_open == list(progress)


def test_every_accepted_position_of_toggles_is_right_and_the_figure_outlines_its_elements():
    each = next(one for one in bank() if one.kind == "build" and len(one.answer) > 1)
    data = sent(each.data())
    for accepted in data["accepted"]:
        assert result(data, accepted)["isRight"]
        standing = [int(one) for one in accepted.split(",")]
        groups = evaluate("groupsOf(args[0], args[1])", standing, data["shape"], entry=SHARING)
        framed = groups[np.ravel_multi_index(data["at"], data["shape"])]
        assert [position for position, group in enumerate(groups) if group == framed] == data["target"]
    confusion, position = data["wrong"][0]
    assert result(data, position)["confusion"] == confusion


def test_the_feedback_is_about_the_tensor_that_is_shown():
    each = next(one for one in bank() if one.case.layout == "NCL" and "instancenorm" in dict(one.wrong))
    known = {"sentence": "On {axes}, over {over}: {layer}."}
    sentence = evaluate(
        "sentenceOf(args[0], 'instancenorm', args[1])", known, each.data(), entry=PRACTICE / "exercise.ts"
    )
    assert sentence == f"On (N, C, L), over L: {each.case.text}."
