"""The views of a file as JSON: what is equal is stored once, and a view can be found by its settings."""

import gzip
import json
from dataclasses import replace
from functools import cache

import pytest

from normviz.export.links import output_of_query
from normviz.export.output import Choices
from normviz.export.playable import VERSION, Pool, search, views_data
from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES

SHAPES = ((2, 6, 3, 5), (5, 7))  # of other tensors
GROWTH = 150_000  # bytes, compressed, by which a file that answers may be larger than one with a single view


def unpacked(value, pool):
    """The value without references to the pool."""
    if isinstance(value, dict) and "$" in value:
        return unpacked(pool[value["$"]], pool)
    if isinstance(value, dict):
        return {name: unpacked(one, pool) for name, one in value.items()}
    return [unpacked(one, pool) for one in value] if isinstance(value, list) else value


@cache
def found(name, **choices):
    return search(PAGES[name], PAGES[name].view(""), **choices).playable_views()


@cache
def data_of(name="explore", app="", **choices):
    return sent(views_data(PAGES[name], found(name, **choices), app))


@cache
def views_of(name="explore", **choices):
    data = data_of(name, **choices)
    return unpacked(data["views"], data["pool"])


def test_a_long_value_is_stored_once():
    pool = Pool()
    text, numbers = "x" * 50, list(range(50))
    value = {"a": text, "b": [text, numbers], "c": [text, numbers], "d": [1, 2], "e": None}
    assert pool.pack(value) == {"$": 2}
    pair = [{"$": 0}, {"$": 1}]  # short
    assert pool.values == [text, numbers, {"a": {"$": 0}, "b": pair, "c": pair, "d": [1, 2], "e": None}]
    assert unpacked({"$": 2}, pool.values) == value


def test_the_drawn_slices_do_not_identify_a_view_because_a_reader_moves_them():
    start = PAGES["explore"].view("shape=2,64,4,4&layer=BatchNorm2d(64)&from=0,8,0,0")
    views = search(PAGES["explore"], start, layers=("BatchNorm2d(64)", "GroupNorm(4, 64)")).playable_views()
    data = sent(views_data(PAGES["explore"], views, ""))
    assert "from" not in data["common"]
    for view in unpacked(data["views"], data["pool"]):
        assert "from" not in view["state"]
        assert view["query"]["from"] == "0,8,0,0"


def test_equal_arrays_of_a_file_are_stored_once():
    data = data_of(shapes=SHAPES)
    texts = [json.dumps(value) for value in data["pool"]]
    assert len(set(texts)) == len(texts)
    inputs = {
        figure["panels"][2]["z"]["data"] for view in unpacked(data["views"], data["pool"]) for figure in view["figures"]
    }
    assert len(inputs) == 3  # one x for each tensor
    assert sum(any(array in text for array in inputs) for text in texts) == 3


def test_the_default_file_is_at_most_150_kb_larger_than_one_with_a_single_view():
    fixed = output_of_query("explore", {})
    sizes = [
        len(gzip.compress(output.to_html(plotlyjs="plotly.min.js").encode()))
        for output in (fixed, replace(fixed, choices=Choices()))
    ]
    assert 0 < sizes[1] - sizes[0] < GROWTH


def test_the_file_has_a_version_and_the_name_of_its_page():
    data = data_of()
    assert (data["version"], data["page"], data["app"]) == (VERSION, "explore", "") == (2, "explore", "")


def test_a_view_has_the_query_of_its_link_and_the_settings_that_differ_from_other_views():
    first = views_of()[0]
    assert (first["query"], first["state"]) == ({}, {"layer": "LayerNorm([4,3,5])"})
    common = data_of()["common"]
    assert common | {"data": "normal", "seed": "0", "shape": "2,4,3,5", "layout": "NCHW"} == common
    assert {tuple(view["state"]) for view in views_of(shapes=SHAPES)} == {("shape", "layout", "layer")}


@pytest.mark.parametrize("name", ["explore", "train_and_eval", "gradients", "numerics"])
def test_no_two_views_have_the_same_settings(name):
    states = [json.dumps(view["state"]) for view in views_of(name)]
    assert len(set(states)) == len(states)


def test_an_input_says_which_view_each_of_its_values_leads_to():
    views = views_of(shapes=SHAPES)
    inputs = {one["key"]: one for row in views[0]["rows"] for one in row["inputs"]}
    sizes = inputs["size_c"]
    assert (sizes["values"], sizes["low"], sizes["high"], sizes["value"]) == ([4, 6], 4, 6, 4)
    assert [views[to]["state"]["shape"] for to in sizes["to"]] == ["2,4,3,5", "2,6,3,5"]
    assert inputs["size_n"]["disabled"]
    family = inputs["family"]
    to = family["to"][family["options"].index("BatchNorm2d")]
    assert views[to]["state"]["layer"] == "BatchNorm2d(4)"
    assert "Your own pattern" not in family["options"]


def test_several_layers_are_the_bits_of_a_number():
    views = views_of("compare")
    (shown,) = [one for row in views[0]["rows"] for one in row["inputs"] if one["key"] == "layers"]
    view = views[shown["to"][shown["values"].index(0b1101)]]
    assert view["state"]["layers"] == ";".join(shown["options"][place] for place in (0, 2, 3))


def test_links_to_the_app_are_only_there_with_its_address():
    assert not any("nv-go" in text for text in map(json.dumps, data_of()["pool"]))
    with_app = map(json.dumps, data_of(app="https://example.org/lab")["pool"])
    assert any("https://example.org/lab/questions" in text for text in with_app)
