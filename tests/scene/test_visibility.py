import re
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.lessons.pages import controls, names_of_links
from normviz.scene.view import ALL, ALL_CONTROLS, MOST_CAPTION, PANELS, PARTS, Display, link, read_display, read_view

BY_HAND = [
    # link, hidden names, caption
    ("", (), ""),
    ("hide=layer,data", ("layer", "data"), ""),
    ("hide= Layer , code,layer,", ("layer", "code"), ""),
    ("hide=all,readout", ("all", "readout"), ""),
    ("hide=", (), ""),
    ("caption=Look  at%0Arow 2.", (), "Look at row 2."),
    ("caption=<b>**x**</b>", (), "<b>**x**</b>"),
    ("v=1", (), ""),
]


@pytest.mark.parametrize(("text", "hidden", "caption"), BY_HAND)
def test_a_link_hides_parts_and_adds_a_caption(text, hidden, caption):
    assert read_display(dict(parse_qsl(text)), controls()) == (Display(hidden, caption), None)


WRONG = [
    ({"hide": "layer,color"}, "hide='color' is not the name of a control or a part; write, for example, hide=layer,code", ("layer",), ""),
    ({"hide": "a,b,code"}, "hide='a' and 'b' are not names of controls or parts", ("code",), ""),
    ({"hide": "<script>"}, "hide='<script>' is not the name", (), ""),
    ({"caption": "a" * 301}, "is too long; use at most 300 characters.", (), "a" * 300),
    ({"v": "2"}, "v='2' is an unknown version of links; this app reads v=1", (), ""),
    ({"v": ""}, "v='' is an unknown version of links", (), ""),
]  # fmt: skip


@pytest.mark.parametrize(("query", "words", "hidden", "caption"), WRONG)
def test_an_unknown_name_gives_one_message_and_the_other_names_still_apply(query, words, hidden, caption):
    frame, problem = read_display(query, controls())
    assert words in problem
    assert "\n" not in problem
    assert frame == Display(hidden, caption)


NAMES = (ALL, ALL_CONTROLS, *controls(), *PARTS, *PANELS)


def test_an_unknown_version_is_the_first_error_and_the_rest_is_read():
    view = read_view({"v": "9", "layer": "BatchNorm2d(3)", "seed": "-1", "hide": "nothing"}, (), names_of_links())
    assert view.problem.startswith("v='9' is an unknown version of links")
    assert str(view.scene.layer) == "BatchNorm2d(3)"


def test_an_error_in_the_layer_comes_before_one_in_hide():
    assert "BatchNorm9d" in read_view({"layer": "BatchNorm9d(3)", "hide": "nothing"}, (), names_of_links()).problem


def test_a_name_hides_only_itself():
    for name in (*controls(), *PARTS, *PANELS):
        assert [other for other in NAMES if Display((name,)).hides(other)] == [name]


def test_hide_controls_hides_every_control():
    hidden = {name for name in NAMES if Display(("controls",)).hides(name)} - {"controls"}
    assert hidden == set(controls())


def test_hide_all_leaves_only_the_figure():
    left = {name for name in NAMES if not Display(("all",)).hides(name)}
    assert {"panels", "stats", "params", "readout", "stepper", "cube"} <= left
    assert (
        left & {*controls(), "sentence", "text", "table", "code", "details", "distribution", "facts", "worked", "loops"}
        == set()
    )


def test_names_need_no_quoting_in_a_link():
    assert all(re.fullmatch(r"[a-z][a-z_]*", name) for name in NAMES)
    assert len(set(NAMES)) == len(NAMES)


frames = st.builds(
    Display,
    st.lists(st.sampled_from(NAMES), unique=True).map(tuple),
    st.text(max_size=MOST_CAPTION).map(lambda text: read_display({"caption": text})[0].caption),
)


@given(frames)
def test_a_display_reads_back_from_its_link(frame):
    text = link(frame.query())
    assert read_display(dict(parse_qsl(text[1:])), controls()) == (frame, None)
    assert re.fullmatch(r"(\?[A-Za-z0-9,()\[\]=.:'>_%&;~-]*)?", text)
