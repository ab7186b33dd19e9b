"""What a link hides is not drawn, still holds, and stays hidden; a caption is text."""

import html
import json

import pytest

from normviz.scene.visibility import CONTROLS
from normviz.ui.state import OFFERED
from tests.ui.driver import more, opened, payload, query, sent, turned, warned
from tests.ui.pages import gone, page

HOSTILE = "<script>alert(1)</script> **bold** [x](javascript:alert(1)) `c` $x$ :material/close: \"'"


def keys(app):
    """The keys of the controls that are drawn."""
    widgets = [*app.number_input, *app.selectbox, *app.text_input, *app.button, *app.toggle, *app.multiselect]
    found = {widget.key for widget in [*widgets, *app.select_slider, *app.slider, *app.radio] if widget.key}
    return found | {widget.key for kind in ("button_group",) for widget in app.get(kind) if widget.key}


def components(app):
    """What the page's own components were given, by kind."""
    return {data["kind"]: data for data in (json.loads(found.proto.json)[0] for found in app.get("bidi_component"))}


def test_nothing_is_hidden_without_a_wish():
    app = more(opened())
    assert {"layout", "size_n", "family", "depth", "data", "seed", "params", "eps", "reset"} <= keys(app)
    assert "open" not in components(app)


HIDDEN = [
    ("layer", {"family"}),
    ("tensor", {"layout"}),
    ("sizes", {"size_n", "size_c", "size_h", "size_w"}),
    ("arguments", {"depth"}),
    ("data", {"data"}),
    ("data,seed,parameters", {"data", "seed", "params"}),
    ("eps,bias,elementwise_affine", {"eps", "bias", "elementwise_affine"}),
    ("layout", {"more_layout"}),
    ("reset", {"reset"}),
    ("more", {"more_layout", "data", "seed", "params", "eps", "bias", "elementwise_affine"}),
]


@pytest.mark.parametrize(("hide", "lacks"), HIDDEN)
def test_a_hidden_control_is_not_drawn_and_all_others_are(hide, lacks):
    assert keys(more(opened())) - keys(more(opened(f"hide={hide}"))) == lacks


def test_where_all_of_more_is_hidden_its_button_goes_too():
    inside = "layout,data,seed,parameters,eps,elementwise_affine,bias"
    assert len(opened(f"hide={inside}").get("popover")) == 0
    assert len(opened(f"hide={inside.removesuffix(',bias')}").get("popover")) == 1


EVERYWHERE = [
    ("explore", ""),
    ("explore", "layer=Norm('n c h w -> n','c')"),
    ("explore", "layer=BatchNorm2d(64)&shape=2,64,56,56"),
    ("explore", "layer=GroupNorm(3,3)"),
    ("compare", ""),
    ("step_by_step", ""),
    ("train_and_eval", ""),
    ("train_and_eval", "show=modes&layer=BatchNorm2d(3)"),
    ("train_and_eval", "show=sequences"),
    ("gradients", ""),
    ("numerics", ""),
    ("numerics", "show=placement"),
    ("questions", ""),
]


@pytest.mark.parametrize(("name", "link"), EVERYWHERE)
def test_hide_controls_hides_every_control_of_every_page(name, link):
    whole, bare = page(name, link), page(name, f"{link}&hide=controls")
    assert keys(whole)
    assert {key for key in keys(bare) if not key.startswith("ask_")} == set()
    assert set(whole.session_state[OFFERED]) <= set(CONTROLS)
    assert not bare.warning
    assert not bare.exception


@pytest.mark.parametrize(("name", "link"), EVERYWHERE)
def test_every_control_has_a_name_that_hides_it(name, link):
    whole = page(name, link)
    hidden = page(name, f"{link}&hide={','.join(whole.session_state[OFFERED])}")
    assert {key for key in keys(hidden) if not key.startswith("ask_")} == set()


def test_a_hidden_control_obeys_the_link():
    app = opened("hide=layer,data&layer=BatchNorm2d(3)&data=counting")
    assert "BatchNorm2d(3)" in app.subheader[0].value
    assert not warned(app)


def test_a_frame_goes_along_with_every_change_and_not_to_another_page():
    app = turned(opened("hide=data,code&caption=Look here"), "size_n", 3)
    framed = {"hide": "data,code", "caption": "Look here"}
    assert query(app).items() >= (framed | {"shape": "3,3,4,4"}).items()
    app = sent(app, "select", {"at": [0, 0, 0, 0], "turn": 1})
    assert query(app).items() >= (framed | {"at": "0,0,0,0"}).items()
    app.get_by_key("reset").click().run()
    assert query(app) == framed
    assert "hide" not in query(gone(app, "step_by_step"))


def test_a_panel_is_hidden_by_the_module():
    assert payload(opened("hide=x,facts"))["hidden"] == ["facts", "x"]
    assert payload(opened("hide=all"))["hidden"] == ["facts", "table", "worked"]
    assert "hidden" not in payload(opened("hide=layer"))


def test_a_caption_is_shown_as_it_is():
    app = page("explore", {"caption": HOSTILE})
    (shown,) = [
        found.proto.body
        for found in app.get("html")
        if "nv-legend" in found.proto.body and "<style" not in found.proto.body
    ]
    assert shown == f'<p class="nv-legend">{html.escape(HOSTILE)}</p>'
    assert not [part for part in app.markdown if "alert" in part.value]


WRONG = [
    ({"hide": "layer,color"}, "hide='color' is not the name of a control or a part"),
    ({"hide": "<b>x</b>"}, "hide='<b>x</b>' is not the name"),
    ({"v": "2"}, "v='2' is an unknown version of links; this app reads v=1"),
    ({"caption": "a" * 400}, "is too long; give at most 300 characters."),
]


@pytest.mark.parametrize("name", ["explore", "compare", "questions"])
@pytest.mark.parametrize(("link", "words"), WRONG)
def test_a_wrong_frame_is_told_in_one_line(name, link, words):
    (told,) = warned(page(name, link))
    assert words in told


def test_what_is_hidden_can_be_opened_in_full():
    given = components(opened("hide=all&layer=BatchNorm2d(3)&caption=c"))
    assert given["open"] == {
        "kind": "open",
        "page": "explore",
        "query": [["shape", "2,3,4,4"], ["layer", "BatchNorm2d(3)"]],
    }
    assert "share" in given


TITLES = [
    ("compare", {"layers": "BatchNorm2d(3);GroupNorm(1,3)"}, "Compare: BatchNorm2d(3), GroupNorm(1, 3) on a (2, 3, 4, 4) tensor", 'nv.compare(["BatchNorm2d(3)", "GroupNorm(1, 3)"], x)'),
    ("step_by_step", {}, "Step by step: LayerNorm([3, 4, 4]) on a (2, 3, 4, 4) tensor", 'nv.steps("LayerNorm([3,4,4])", x)'),
    ("gradients", {"show": "matrix"}, "Gradients: The whole Jacobian: LayerNorm([3, 4, 4]) on a (2, 3, 4, 4) tensor", 'nv.gradients("LayerNorm([3,4,4])", x)'),
    ("numerics", {"show": "eps"}, "Numerics: How small may eps be?", ""),
    ("train_and_eval", {}, "Train and eval: Over time", ""),
    ("questions", {}, "Questions on normalization layers", ""),
    ("questions", {"q": "nothing"}, "Questions on normalization layers", ""),
]  # fmt: skip


class TestWhatShareIsTold:
    def test_the_view_without_its_frame_and_what_is_hidden(self):
        given = components(opened("hide=code,layer&caption=c&at=0,0,0,0"))["share"]
        assert given["query"] == [["at", "0,0,0,0"]]
        assert (given["hidden"], given["caption"]) == (["code", "layer"], "c")
        assert given["title"] == "Explore: LayerNorm([3, 4, 4]) on a (2, 3, 4, 4) tensor"

    @pytest.mark.parametrize(("name", "link"), EVERYWHERE)
    def test_all_that_is_there_by_groups(self, name, link):
        app = page(name, link)
        groups = components(app)["share"]["groups"]
        assert [group["title"] for group in groups] == ["Controls", "Page", "Figure"]
        assert {one["name"] for one in groups[0]["names"]} == set(app.session_state[OFFERED])
        assert all(one["label"] for group in groups for one in group["names"])
        assert name == "questions" or any(one["figure"] for group in groups for one in group["names"])

    def test_where_tables_are_the_figure_they_stay(self):
        given = components(page("gradients", "show=backward"))["share"]
        (tables,) = [one for group in given["groups"] for one in group["names"] if one["name"] == "table"]
        assert tables["figure"]
        assert "table" not in given["short"]

    @pytest.mark.parametrize(("name", "link", "title", "hint"), TITLES)
    def test_what_it_is_called(self, name, link, title, hint):
        given = components(page(name, link))["share"]
        assert (given["title"], given["hint"]) == (title, hint)
