"""The two differs: a page takes over new HTML, and the controls take over new inputs, without making again what stays the same.

They run in node on the nodes of dom.ts.
"""

from pathlib import Path

import pytest

from tests.support.javascript import evaluate

DIFFERS = Path(__file__).with_name("differs.ts")

MORPHED = {
    "the same": (['<p id="a">one</p>', '<p id="a">one</p>'], [], None, ["a"]),
    "another text": (['<p id="a">one</p>', '<p id="a">two</p>'], [], None, ["a"]),
    "another attribute": (['<p id="a">one</p>', '<p id="a" hidden="">one</p>'], [], None, []),
    "another tag": (['<p id="a">one</p>', '<b id="a">one</b>'], [], None, []),
    "deep inside": (['<p id="a"><b id="b">one</b>, <i id="c">x</i></p>', '<p id="a"><b id="b">two</b>, <i id="c">x</i></p>'], [], None, ["a", "b", "c"]),
    "an element more": (['<p id="a">one</p>', '<p id="a">one</p><p id="b">two</p>'], [], None, ["a"]),
    "an element less": (['<p id="a">one</p><p id="b">two</p>', '<p id="a">one</p>'], [], None, ["a"]),
    "text in place of an element": (['<b id="a">one</b>', "one"], [], None, []),
    "an element in place of text": (["one", '<b id="a">one</b>'], [], None, []),
    "there and back": (['<p id="a">one</p>', '<p id="a">two</p>', '<p id="a">one</p>'], [], None, ["a"]),
    "a reader has opened it": (
        ['<details id="a"><p id="b">one</p></details>', '<details id="a"><p id="b">two</p></details>'],
        [["a", "open", "yes"]],
        '<details id="a" open="yes"><p id="b">two</p></details>',
        ["a", "b"],
    ),
    "a script has filled it": (
        ['<div id="a"><p id="b"></p><p id="c">one</p></div>', '<div id="a"><p id="b"></p><p id="c">two</p></div>'],
        [["b", "text", "Right."]],
        '<div id="a"><p id="b">Right.</p><p id="c">two</p></div>',
        ["a", "b", "c"],
    ),
    "Python writes something else than a script has filled in": (
        ['<p id="a">one</p>', '<p id="a">two</p>'], [["a", "text", "Right."]], '<p id="a">two</p>', ["a"]
    ),
    "a figure is drawn": (
        ['<div id="a" class="drawn">one</div>', '<div id="a" class="drawn">two</div>'],
        [["a", "text", "picture"]],
        '<div id="a" class="drawn">picture</div>',
        ["a"],
    ),
    "another figure": (
        ['<div id="a" class="drawn">one</div>', '<div id="a" class="drawn" data-n="1">two</div>'],
        [["a", "text", "picture"]],
        '<div id="a" class="drawn" data-n="1">two</div>',
        [],
    ),
    "colored code": (['<code id="a">x = 1</code>!', '<code id="a">x = 1</code>?'], [["a", "text", "X"]], '<code id="a">X</code>?', ["a"]),
    "other code": (['<code id="a">x = 1</code>', '<code id="a">x = 2</code>'], [["a", "text", "X"]], '<code id="a">x = 2</code>', ["a"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MORPHED)
def test_a_page_takes_over_new_html_and_keeps_what_stays(name):
    texts, edits, shown, kept = MORPHED[name]
    assert evaluate("show(...args)", texts, edits, entry=DIFFERS) == [shown or texts[-1], kept]


def alike(before, wanted, state=(), typed=None):
    return evaluate("makeAlike(...args)", [before, wanted], state, typed, entry=DIFFERS)


@pytest.mark.parametrize(
    ("before", "wanted", "kept"),
    [
        ('<div><b id="a">x</b></div>', '<div><b id="a">y</b></div>', ["a"]),
        ('<div><b id="a" class="c">x</b></div>', '<div><b id="a" class="d">x</b></div>', []),
        ('<div><input id="a" type="text"></div>', '<div><input id="a" type="range"></div>', []),
        ('<div><b id="a">x</b></div>', '<div><i id="a">x</i></div>', []),
        ('<div><b id="a">x</b><b id="b">y</b></div>', '<div><b id="a">x</b></div>', ["a"]),
        ('<div><b id="a">x</b></div>', '<div><b id="a">x</b><b id="b">y</b></div>', ["a"]),
        ('<div title="t"><b id="a">x</b></div>', '<div lang="l"><b id="a">x</b></div>', ["a"]),
        ('<div><b id="a" data-key="a">x</b></div>', '<div><b id="n" data-key="n">z</b><b id="a" data-key="a">x</b></div>', ["a"]),
        ('<div><b id="a" data-key="a">x</b><b id="b" data-key="b">y</b></div>', '<div><b id="b" data-key="b">y</b><b id="a" data-key="a">x</b></div>', ["a"]),
        ('<div><b id="a" class="c">x</b><b id="b">y</b></div>', '<div><b id="a" class="d">x</b><b id="b">z</b></div>', ["b"]),
        ('<div><b id="a" data-key="a">x</b><b id="b" data-key="b">y</b></div>', '<div><b id="b" data-key="b">y</b></div>', ["b"]),
        ('<div><b id="a">x</b></div>', "<div>x</div>", []),
    ],
)  # fmt: skip
def test_inputs_become_the_wanted_ones_and_the_same_element_stays_one(before, wanted, kept):
    assert alike(before, wanted)[:2] == [wanted, kept]


def test_what_a_reader_has_opened_and_what_a_script_has_named_stays():
    opened = '<div><details id="a" open="" role="group" aria-label="Help" hidden="">x</details></div>'
    shown = alike(opened, '<div><details id="a">y</details></div>')[0]
    assert shown == '<div><details id="a" open="" role="group" aria-label="Help">y</details></div>'


FIELD = '<div><input id="a" value="{}"></div>'


@pytest.mark.parametrize(("typed", "value"), [(None, "2"), ("a", "17")])
def test_only_the_field_that_a_reader_is_typing_into_keeps_its_text(typed, value):
    state = [["page", "a", "value", "17"]]
    assert alike(FIELD.format(1), FIELD.format(2), state, typed)[2] == {"a": [value, False]}


@pytest.mark.parametrize("checked", [True, False])
def test_a_box_is_ticked_as_the_wanted_one(checked):
    box = '<div><input id="a" type="checkbox"></div>'
    state = [["page", "a", "checked", not checked], ["wanted", "a", "checked", checked]]
    assert alike(box, box, state)[2] == {"a": ["", checked]}


def test_a_list_has_the_wanted_option_although_its_options_have_moved():
    before = '<div><select id="a"><option value="1">one</option></select></div>'
    wanted = '<div><select id="a"><option value="1">one</option><option value="2">two</option></select></div>'
    shown, kept, fields = alike(before, wanted, [["wanted", "a", "value", "2"]])
    assert (shown, kept, fields) == (wanted, ["a"], {"a": ["2", None]})
