"""What scripts choose and remember without a server: a file's view, a set of exercises, what a search finds. JavaScript, in node."""

import gzip
import json
from base64 import b64encode

import pytest

from normviz.export.document import BROWSER as EXPORT
from tests.support.javascript import LESSONS, PARTS, evaluate

VIEWS = EXPORT / "views.ts"
BANK = LESSONS / "practice/bank.ts"
FORM = LESSONS / "practice/form.ts"
LIST = PARTS / "list.ts"


def test_values_that_views_share_are_put_back():
    packed = {"pool": [[1, 2], {"at": {"$": 0}}], "views": [{"a": {"$": 1}, "b": [{"$": 0}, None, "$"]}, {"a": 3}]}
    assert evaluate("unpackViews(args[0])", packed, entry=VIEWS) == [
        {"a": {"at": [1, 2]}, "b": [[1, 2], None, "$"]},
        {"a": 3},
    ]


STATES = [
    {"layer": "LayerNorm(4)", "eps": "0"},
    {"layer": "LayerNorm(4)", "eps": "1"},
    {"layer": "GroupNorm(2, 4)", "eps": "1"},
]


@pytest.mark.parametrize(
    ("asked", "number", "found"),
    [
        ("", 0, True),
        ("eps=1", 1, True),
        ("layer=GroupNorm(2, 4)&eps=1", 2, True),
        ("layer=nn.groupnorm(num_groups=2,num_channels=4)", 2, True),
        ("layer=LayerNorm([4])&eps=1", 1, True),
        ("layer=GroupNorm(2, 4)&eps=0", 0, False),  # one of two settings: the first view with as many
        ("layer=RMSNorm(4)", 0, False),
        ("other=1", 0, True),
        ("shape=2, 3,", 0, True),  # common to all views
        ("shape=2,4&eps=1", 1, False),
    ],
)
def test_the_view_with_most_of_the_settings_in_the_address_is_shown(asked, number, found):
    expression = (
        "viewNumber({ common: { shape: '2,3' } }, args[0].map((state) => ({ state })), new URLSearchParams(args[1]))"
    )
    assert evaluate(expression, STATES, asked, entry=VIEWS) == {"number": number, "found": found}


@pytest.mark.parametrize(
    ("given", "value", "place"),
    [
        ({}, "2", 2),
        ({"values": [0, 2, 4, 8], "value": 2}, 4, 2),
        ({"values": [0, 2, 4, 8], "value": 2}, 5, 3),  # upwards: the next larger one
        ({"values": [0, 2, 4, 8], "value": 8}, 5, 2),  # downwards: the next smaller one
        ({"values": [0, 2, 4, 8], "value": 8}, 9, -1),
        ({"values": [3, 5], "options": ["a", "b", "c"]}, ["c", "a"], 1),
        ({"values": [3, 5], "options": ["a", "b", "c"]}, ["b", "c"], -1),
    ],
)
def test_an_entered_value_leads_to_the_nearest_value_that_a_file_has(given, value, place):
    assert evaluate("optionOf(...args)", given, value, entry=VIEWS) == place


@pytest.mark.parametrize(
    ("setting", "text", "nearest"),
    [
        ({"low": 1, "high": 100}, "17", "17"),
        ({"low": 1, "high": 100}, "2.6", "3"),
        ({"low": 1, "high": 100}, "-5", "1"),
        ({"low": 1, "high": 100}, "1e9", "100"),
        ({"low": 1, "high": 100}, " ", None),
        ({"low": 1, "high": 100}, None, None),
        ({"options": [["all", "All"], ["1", "Easy"]]}, " 1 ", "1"),
        ({"options": [["all", "All"], ["1", "Easy"]]}, "2", None),
        ({"several": True, "options": [["a", "A"], ["b", "B"], ["c", "C"]]}, "C,x,a", "a,c"),
        ({"several": True, "unnamed": ["a", "b"], "options": [["a", "A"], ["b", "B"]]}, "b,a", ""),
        ({"several": True, "unnamed": ["a"], "options": [["a", "A"], ["b", "B"]]}, "b,a", "a,b"),
        ({"several": True, "unnamed": ["a"], "options": [["a", "A"], ["b", "B"]]}, "a", ""),
        ({"several": True, "options": [["a", "A"], ["b", "B"]]}, "x", ""),
    ],
)
def test_a_link_to_a_set_is_read_as_the_nearest_valid_one(setting, text, nearest):
    assert evaluate("nearestText(...args)", setting, text, entry=FORM) == nearest


INDEX = [
    ["count", "a", 1, "axes", "number"],
    ["count", "b", 2, "axes", "number"],
    ["mean", "c", 1, "code", "choice"],
    ["mean", "d", 2, "code", "choice"],
    ["made", "e", 1, "axes", "build"],
]


@pytest.mark.parametrize(
    ("wanted", "ids"),
    [
        ({"seed": "3", "count": "9", "topics": "", "level": "all"}, {0, 1, 2, 3}),
        ({"seed": "3", "count": "9", "topics": "code", "level": "all"}, {2, 3}),
        ({"seed": "3", "count": "9", "topics": "axes,code", "level": "2"}, {1, 3}),
        ({"seed": "3", "count": "9", "topics": "axes", "level": "1"}, {0}),
        ({"seed": "3", "count": "9", "topics": "", "level": "all", "kinds": "build"}, {4}),
        ({"seed": "3", "count": "9", "topics": "", "level": "all", "kinds": "choice,build"}, {2, 3, 4}),
    ],
)
def test_a_file_unpacks_its_exercises_and_chooses_those_of_the_set(wanted, ids):
    bank = json.dumps({"index": INDEX, "exercises": [0, 1, 2, 3, 4]}).encode()
    root = "{ querySelector: () => ({ textContent: ` ${args[0]} ` }) }"
    chosen = evaluate(f"bankIn({root})(args[1])", b64encode(gzip.compress(bank)).decode(), wanted, entry=BANK)
    assert set(chosen) == ids
    assert len(chosen) == len(ids)


def test_a_page_without_exercises_asks_a_server():
    assert evaluate("bankIn({ querySelector: () => null })", entry=BANK) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "111"),
        ("  ", "111"),
        ("LAYER", "101"),
        ("batch mean", "010"),
        ("mean batch", "010"),
        ("media", "001"),
        ("batch layer", "010"),  # none has both: the word that fewer texts have
        ("zzz", "000"),
    ],
)
def test_a_search_finds_what_has_every_word_without_regard_to_case_order_and_accents(text, found):
    words = ["layer norm", "batch norm, its mean", "layer: la média"]
    expected = [sign == "1" for sign in found]
    assert evaluate("matches(args[0], [], args[1].map(simplified))", text, words, entry=LIST) == expected


STORE = """(() => {
  const kept = new Map(args[0] ? [[args[1], args[0]]] : []), refuses = args[2];
  const write = (key, value) => { if (refuses) throw new Error("full"); kept.set(key, value); };
  Object.defineProperty(globalThis, "localStorage", { configurable: true, value: { getItem: (key) => kept.get(key) ?? null, setItem: write } });
  RESULTS.isStored = true;
  RESULTS.last = null;
  for (const [question, result] of args[3]) rememberResult(question, result);
  return [Object.fromEntries(results()), kept.get(args[1]) ?? null];
})()"""


@pytest.mark.parametrize(
    ("stored", "answered", "results"),
    [
        (None, [], {}),
        (None, [["a", "wrong"], ["a", "right"]], {"a": "right"}),
        (None, [["a", "right"], ["a", "wrong"]], {"a": "wrong"}),  # the last prediction counts
        (None, [["a", "right"], ["a", "opened"], ["b", "opened"]], {"a": "right", "b": "opened"}),
        ('{"a": "right", "c": "lucky"}', [["b", "wrong"]], {"a": "right", "b": "wrong"}),
        ("[1, 2", [["b", "wrong"]], {"b": "wrong"}),
        ('"text"', [], {}),
    ],
)
@pytest.mark.parametrize("refuses", [False, True])
def test_results_are_remembered_also_where_nothing_can_be_stored(stored, answered, results, refuses):
    found, kept = evaluate(STORE, stored, "normviz.questions", refuses, answered, entry=LIST)
    assert found == results
    assert kept == (stored if refuses or not answered else json.dumps(results, separators=(",", ":")))
