import re
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.scene.query import link, read_view
from normviz.scene.visibility import CONTROLS, MOST_CAPTION, NAMES, PANELS, PARTS, Display, read_display

BY_HAND = [
    # the link, what it hides, its caption
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
def test_what_a_link_frames(text, hidden, caption):
    assert read_display(dict(parse_qsl(text))) == (Display(hidden, caption), None)


WRONG = [
    ({"hide": "layer,colour"}, "hide='colour' is not the name of a control or a part; write such as hide=layer,code", ("layer",), ""),
    ({"hide": "a,b,code"}, "hide='a' and 'b' are not names of controls or parts", ("code",), ""),
    ({"hide": "<script>"}, "hide='<script>' is not the name", (), ""),
    ({"caption": "a" * 301}, "is too long; give up to 300 letters.", (), "a" * 300),
    ({"v": "2"}, "v='2' is an unknown version of links; this app reads v=1", (), ""),
    ({"v": ""}, "v='' is an unknown version of links", (), ""),
]  # fmt: skip


@pytest.mark.parametrize(("query", "words", "hidden", "caption"), WRONG)
def test_what_is_wrong_is_told_in_one_line_and_the_rest_holds(query, words, hidden, caption):
    frame, problem = read_display(query)
    assert words in problem
    assert "\n" not in problem
    assert frame == Display(hidden, caption)


def test_a_link_of_another_version_says_so_before_all_else_and_shows_what_is_understood():
    view = read_view({"v": "9", "layer": "BatchNorm2d(3)", "seed": "-1", "hide": "nothing"})
    assert view.problem.startswith("v='9' is an unknown version of links")
    assert str(view.scene.layer) == "BatchNorm2d(3)"


def test_a_wrong_layer_is_told_before_a_wrong_frame():
    assert "BatchNorm9d" in read_view({"layer": "BatchNorm9d(3)", "hide": "nothing"}).problem


def test_a_name_hides_itself_and_no_other():
    for name in (*CONTROLS, *PARTS, *PANELS):
        assert [other for other in NAMES if Display((name,)).hides(other)] == [name]


def test_controls_hides_the_controls():
    hidden = {name for name in NAMES if Display(("controls",)).hides(name)} - {"controls"}
    assert hidden == set(CONTROLS)


def test_all_leaves_the_figure_alone():
    left = {name for name in NAMES if not Display(("all",)).hides(name)}
    assert {"panels", "stats", "params", "readout", "stepper", "cube"} <= left
    assert left & {*CONTROLS, "sentence", "text", "table", "code", "details", "facts", "worked", "loops"} == set()


def test_names_are_words_that_a_link_carries_as_they_are():
    assert all(re.fullmatch(r"[a-z][a-z_]*", name) for name in NAMES)
    assert len(set(NAMES)) == len(NAMES)


frames = st.builds(
    Display,
    st.lists(st.sampled_from(NAMES), unique=True).map(tuple),
    st.text(max_size=MOST_CAPTION).map(lambda text: read_display({"caption": text})[0].caption),
)


@given(frames)
def test_a_frame_reads_back_from_its_link(frame):
    text = link(frame.query())
    assert read_display(dict(parse_qsl(text[1:]))) == (frame, None)
    assert re.fullmatch(r"(\?[A-Za-z0-9,()\[\]=.:'>_%&;~-]*)?", text)
