"""The exercises of the bank: small ones by hand, a sample against torch, and the same choice in Python and JavaScript."""

from collections import Counter
from math import prod
from pathlib import Path

import pytest

from normviz.export.links import page_and_query
from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES
from normviz.lessons.practice.bank import bank, choose, choose_places, index
from normviz.lessons.practice.case import members
from normviz.lessons.practice.confusions import CONFUSIONS
from normviz.lessons.practice.exercise import EXERCISE_KINDS, Exercise
from normviz.lessons.practice.settings import BUILD, CHOICE, FIRST_FORMS, FORMS, MARK, TOPICS
from normviz.lessons.questions.page import QUESTIONS
from normviz.lessons.random import Random
from normviz.texts.errors import NormvizError
from tests.support.javascript import evaluate
from tests.support.needs import whole
from tools.make_practice import MAKERS
from tools.practice import building, choices
from tools.practice.own import own_answer, torch_answer

CHOOSE = Path(__file__).parents[3] / "normviz/lessons/practice/bank.ts"
ALL = bank()
SAMPLE = Random(12).shuffled(ALL)[:60]


def only(kind: str, layer: str, shape: tuple[int, ...], at: tuple[int, ...] | None = None) -> Exercise:
    """An exercise of the bank."""
    return next(
        each for each in ALL
        if (each.kind, each.case.text, each.case.shape) == (kind, layer, shape) and at in (None, each.at)
    )  # fmt: skip


def test_answers_on_a_table_of_two_rows_and_three_columns():
    answers = {
        (kind, layer): only(kind, layer, (2, 3)).answer
        for kind in ("means", "elements_per_mean", "gammas", "parameters")
        for layer in ("LayerNorm(3)", "BatchNorm1d(3)")
    }
    assert answers == {
        ("means", "LayerNorm(3)"): 2, ("means", "BatchNorm1d(3)"): 3,
        ("elements_per_mean", "LayerNorm(3)"): 3, ("elements_per_mean", "BatchNorm1d(3)"): 2,
        ("gammas", "LayerNorm(3)"): 3, ("gammas", "BatchNorm1d(3)"): 3,
        ("parameters", "LayerNorm(3)"): 6, ("parameters", "BatchNorm1d(3)"): 6,
    }  # fmt: skip


@whole
def test_wrong_answers_are_those_of_their_confusions():
    wrong = dict(only("means", "LayerNorm(3)", (2, 3)).wrong)
    assert wrong["batchnorm"] == 3
    assert wrong["whole_tensor"] == 1
    assert dict(only("gammas", "LayerNorm(3)", (2, 3)).wrong)["gamma_per_mean"] == 2
    assert dict(only("parameters", "RMSNorm(3)", (2, 3)).wrong)["rms_bias"] == 6
    group_size = dict(only("means", "GroupNorm(2, 6)", (2, 6, 2, 2)).wrong)["group_size"]
    assert group_size == 2 * 3  # three groups of two channels in each of two examples


def test_peers_leave_the_framed_element_out_and_what_moves_keeps_it():
    peers = next(each for each in ALL if each.kind == "peers" and each.case.text == "BatchNorm1d(3)")
    assert list(peers.at) not in peers.json()["answer"]
    assert peers.json()["answer"] == [[row, peers.at[1]] for row in range(peers.case.shape[0]) if row != peers.at[0]]
    moves = next(each for each in ALL if each.kind == "moves" and each.case.text == "BatchNorm1d(3)")
    assert list(moves.at) in moves.json()["answer"]


def test_thousands_of_exercises_have_every_kind_and_level_and_names_of_their_own():
    assert len(ALL) == len({each.id for each in ALL}) > 3000
    for level in (1, 2, 3):
        assert {each.kind for each in ALL if each.level == level} == set(EXERCISE_KINDS)
    assert {len(each.case.shape) for each in ALL if each.level == 1} == {2}


@pytest.mark.parametrize("odd", [
    lambda case: case.text == "LayerNorm(4)" and case.shape[1] == case.shape[-1] == 4 and len(case.shape) == 4,  # C = W
    lambda case: len(case.shape) > 2 and len(set(case.shape)) == 1,  # every axis has the same size
    lambda case: case.text.startswith("GroupNorm(4, 4)") and len(case.shape) == 2,  # groups of one
    lambda case: case.text == "LayerNorm([2, 3, 2, 2])",  # the batch axis is normalized
])  # fmt: skip
def test_odd_cases_are_in_the_bank(odd):
    assert any(odd(each.case) for each in ALL)


def test_a_sample_agrees_with_torch_and_with_normviz():
    for each in SAMPLE:
        assert own_answer(each) == torch_answer(each), each.row()
        remade = [
            made
            for make in (*MAKERS, choices.mode, building.build)
            for made in make(each.level, _in_train(each))
            if made.id == each.id
        ]
        assert remade == [each]


def _in_train(each: Exercise):
    return type(each.case)(each.case.text.removesuffix(".eval()"), each.case.shape, each.case.layout)


@whole
def test_every_wrong_option_has_a_documented_confusion_and_differs_from_the_answer():
    for each in ALL:
        assert each.wrong
        texts = [each.text_of(each.answer), *(each.text_of(value) for _confusion, value in each.wrong)]
        assert len(texts) == len(set(texts)), each.row()
    used = {confusion for each in ALL for confusion, _value in each.wrong}
    assert used == set(CONFUSIONS)
    assert {confusion.question for confusion in CONFUSIONS.values()} <= set(QUESTIONS)


OF_FORM = {MARK: {"at"}, BUILD: {"at", "accepted"}, CHOICE: {"options"}}


def test_json_has_the_documented_fields_which_are_null_where_they_do_not_apply():
    fields = {"id", "kind", "level", "layer", "shape", "prompt", "answer", "explanation", "link"}
    for each in SAMPLE:
        found = each.json()
        assert set(found) == fields | {"options", "accepted", "at"}
        assert {name for name, value in found.items() if value is not None} == fields | OF_FORM.get(
            each.about.form, set()
        )
        if EXERCISE_KINDS[each.kind].form == CHOICE:
            assert found["answer"] in found["options"]
            assert 2 <= len(found["options"]) <= 4
        else:
            assert found["options"] is None
        assert "{" not in found["prompt"] + found["explanation"]


def test_the_browser_gets_positions_and_confusions():
    each = only("peers", "BatchNorm2d(3)", (2, 3, 2, 2))
    data = sent(each.data())
    assert data["names"] == ["n", "c", "h", "w"]
    channel = each.at[1]
    same = [n * 12 + channel * 4 + place for n in range(2) for place in range(4)]
    own = each.at[0] * 12 + channel * 4 + each.at[2] * 2 + each.at[3]
    assert data["answer"] == sorted(set(same) - {own})
    assert {confusion for confusion, _positions in data["wrong"]} <= set(CONFUSIONS)


def test_links_open_the_view_that_settles_an_exercise():
    links = {(each.kind, each.case.family, len(each.case.shape)): each.link for each in ALL}
    for link in links.values():
        page, query = page_and_query(link)
        view = PAGES[page].view(query)
        assert not PAGES[page].problem(view), link
        assert not view.scene.shape_description.layer or str(view.scene.shape_description.layer.name) in link


def test_a_set_mixes_all_kinds_and_begins_with_the_first_level():
    chosen = choose(7, 11)
    assert {each.kind for each in chosen} == {
        kind for kind, about in EXERCISE_KINDS.items() if about.form in FIRST_FORMS
    }
    assert [each.level for each in chosen] == sorted(each.level for each in chosen)
    assert len({each.id for each in choose(7, 100)}) == 100
    assert [each.id for each in chosen] == [each.id for each in choose(7, 11)]
    assert [each.id for each in chosen] != [each.id for each in choose(8, 11)]


def test_sets_of_one_mixture_have_the_same_kinds_and_levels_in_the_same_order():
    one, other = choose(7, 20, mixture=3), choose(8, 20, mixture=3)
    assert [(each.kind, each.level) for each in one] == [(each.kind, each.level) for each in other]
    assert [(each.kind, each.level) for each in one] == [(each.kind, each.level) for each in choose(3, 20)]
    assert [(each.kind, each.level) for each in one] != [(each.kind, each.level) for each in choose(7, 20, mixture=4)]
    assert not {each.id for each in one} & {each.id for each in other}


def test_a_set_has_its_topics_and_its_level():
    chosen = choose(3, 20, ["statistics", "parameters"], 1)
    assert {each.about.topic for each in chosen} == {"statistics", "parameters"}
    assert {each.level for each in chosen} == {1}


def test_a_set_has_the_kinds_that_it_names_and_without_a_name_only_the_first_ones():
    assert {each.about.form for each in choose(3, 100)} == set(FIRST_FORMS)
    assert {each.about.form for each in choose(3, 20, forms=["build"])} == {BUILD}
    assert {each.about.form for each in choose(3, 40, forms=list(FORMS))} == set(FORMS)


def test_to_build_the_groups_of_layernorm_on_a_table_only_the_features_are_averaged():
    each = only("build", "LayerNorm(3)", (2, 3))
    assert (each.steps, each.answer) == ([[0, 1], [0, 1]], ((0, 1),))
    assert each.target == [(each.at[0], column) for column in range(3)]
    assert (each.json()["answer"], each.json()["accepted"]) == ("d", ["d"])


def test_every_position_of_the_toggles_that_makes_the_groups_is_accepted():
    on_one_example = next(each for each in ALL if each.kind == "build" and 1 in each.case.shape)
    axis = on_one_example.case.shape.index(1)  # along an axis of size 1, the toggle changes nothing
    assert {toggles[axis] for toggles in on_one_example.answer} == {0, 1}
    grouped = [each for each in ALL if each.variant == "groups"]
    assert {each.case.family for each in grouped} == {"GroupNorm"}
    for each in grouped:
        channels = each.case.axes.index(each.case.channel)
        assert {toggles[channels] for toggles in each.answer} == {each.case.layer.given["num_groups"]}


def test_the_first_position_of_the_toggles_is_never_the_answer():
    for each in ALL:
        if each.kind == "build":
            assert tuple(steps[0] for steps in each.steps) not in each.answer


@whole
def test_families_come_up_about_equally_often():
    families = Counter(each.case.family for seed in range(40) for each in choose(seed, 10, level=3))
    assert min(families[name] for name in ("BatchNorm", "LayerNorm", "GroupNorm", "InstanceNorm", "RMSNorm")) > 30


def test_python_and_javascript_choose_the_same_exercises():
    wanted = [
        {"seed": seed, "count": count, "topics": topics, "level": level, "forms": forms, "mixture": mixture}
        for seed, mixture in ((0, None), (7, None), (2**31 - 1, None), (7, 0), (8, 2**31 - 1))
        for count, topics, level, forms in [
            (10, [], None, []), (100, [], 2, []), (30, ["train_and_eval", "numbers"], 1, []), (5, list(TOPICS), 3, ["build", "mark"]),
        ]
    ]  # fmt: skip
    expression = "((index, wanted) => wanted.map((each) => choosePlaces(index, each)))(...args)"
    expected = [choose_places(**each) for each in wanted]
    assert evaluate(expression, index(), wanted, entry=CHOOSE) == expected


@pytest.mark.parametrize(("arguments", "words"), [
    ({"seed": -1}, "seed=-1 must be a whole number from 0"),
    ({"seed": 1, "count": 0}, "count=0 must be a whole number from 1 to 100"),
    ({"seed": 1, "mixture": -1}, "mixture=-1 must be a whole number from 0"),
    ({"seed": 1, "level": 4}, "level=4 must be a whole number from 1 to 3"),
    ({"seed": 1, "topics": ["shape"]}, "topics='shape' is not a topic of practice; choose statistics, parameters"),
    ({"seed": 1, "forms": ["drag"]}, "kinds='drag' is unknown; choose number, mark, choice or build"),
    ({"seed": 1, "topics": ["code"], "forms": ["build"]}, "no exercise is of these topics, of this level and of these kinds"),
])  # fmt: skip
def test_arguments_out_of_range_are_refused(arguments, words):
    with pytest.raises(NormvizError, match=words):
        choose(**arguments)


def test_what_moves_is_not_asked_where_the_output_is_about_a_sign():
    asked = [each for each in ALL if each.kind == "moves" and each.variant == "train"]
    assert not [each for each in asked if each.case.text == "RMSNorm(1)"]
    assert not [
        each
        for each in asked
        if each.case.text.startswith("BatchNorm") and each.case.shape[0] * prod(each.case.shape[2:]) == 2
    ]
    assert not [each for each in asked if each.case.text == "LayerNorm(2)" and each.case.norm.pattern.reduced == ("d",)]


def test_the_elements_of_a_set_without_elements_are_none():
    none = next(each for each in ALL if each.kind == "moves" and each.answer == ())
    assert members(none.answer) == []
    assert none.text_of(none.answer) == "none"


def test_the_topics_of_the_setting_are_those_that_have_exercises():
    assert tuple(dict.fromkeys(kind.topic for kind in EXERCISE_KINDS.values())) == TOPICS
