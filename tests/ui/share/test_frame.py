"""Parts that a link hides are not drawn, keep their values, and stay hidden; a caption is plain text."""

import html

import pytest

from normviz.lessons.pages import PAGES, controls
from tests.support.driver import figure_data, open_explore, open_more, query, send_event, sentence_text, set_control
from tests.support.opened import opened
from tests.support.pages import go_to_page, open_page
from tests.support.shown import elements, page_data, page_html, problems

HOSTILE = "<script>alert(1)</script> **bold** [x](javascript:alert(1)) `c` $x$ :material/close: \"'"


def keys(app):
    """The keys of the controls that are drawn."""
    widgets = [*app.number_input, *app.selectbox, *app.text_input, *app.button, *app.toggle, *app.multiselect]
    found = {widget.key for widget in [*widgets, *app.select_slider, *app.slider, *app.radio] if widget.key}
    return found | {widget.key for kind in ("button_group",) for widget in app.get(kind) if widget.key}


def control_names(name, link):
    """The names of the controls of a view in ``hide=``."""
    return {key for row in PAGES[name].input_rows(PAGES[name].view(link)) for key in row.names}


def test_nothing_is_hidden_by_default():
    app = open_more(open_explore())
    assert {"layout", "layer", "size_n", "family", "data", "seed", "params", "eps", "reset"} <= keys(app)
    assert "open" not in page_data(app)


HIDDEN = [
    ("layer", {"family", "layer"}),
    ("tensor", {"layout"}),
    ("sizes", {"size_n", "size_c", "size_h", "size_w"}),
    ("data", {"data"}),
    ("data,seed,parameters", {"data", "seed", "params"}),
    ("eps,bias,elementwise_affine", {"eps", "bias", "elementwise_affine"}),
    ("reset", {"reset"}),
    ("more", {"layer", "data", "seed", "params", "eps", "bias", "elementwise_affine"}),
]


@pytest.fixture(scope="module")
def all_keys():
    return keys(open_more(open_explore()))


@pytest.mark.parametrize(("hide", "lacks"), HIDDEN)
def test_a_hidden_control_is_not_drawn_and_all_others_are_drawn(all_keys, hide, lacks):
    assert all_keys - keys(open_more(open_explore(f"hide={hide}"))) == lacks


def test_the_more_button_is_hidden_if_all_its_controls_are_hidden():
    inside = "layer,data,seed,parameters,eps,elementwise_affine,bias"
    assert len(open_explore(f"hide={inside}").get("popover")) == 0
    assert len(open_explore(f"hide={inside.removesuffix(',bias')}").get("popover")) == 1


def test_the_more_button_is_shown_if_all_other_controls_of_its_row_are_hidden():
    assert len(open_explore("hide=layer,tensor,sizes,arguments,reset").get("popover")) == 1


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
    whole, bare = open_page(name, link), open_page(name, f"{link}&hide=controls")
    assert keys(whole) or name == "questions"  # its search is a part of the page
    assert keys(bare) == set()
    assert control_names(name, link) <= set(controls())
    assert not problems(bare)
    assert not bare.exception


@pytest.mark.parametrize(("name", "link"), EVERYWHERE)
def test_every_control_has_a_name_that_hides_it(name, link):
    assert keys(open_page(name, f"{link}&hide={','.join(control_names(name, link))}")) == set()


def test_the_link_sets_the_value_of_a_hidden_control():
    app = open_explore("hide=layer,data&layer=BatchNorm2d(3)&data=counting")
    assert "BatchNorm2d(3)" in sentence_text(app)
    assert not problems(app)


def test_hide_and_caption_stay_after_a_change_and_are_dropped_on_another_page():
    app = set_control(open_explore("hide=data,code&caption=Look here"), "size_n", 3)
    framed = {"hide": "data,code", "caption": "Look here"}
    assert query(app).items() >= (framed | {"shape": "3,4,3,5"}).items()
    app = send_event(app, "select", {"at": [0, 0, 0, 0], "turn": 1})
    assert query(app).items() >= (framed | {"at": "0,0,0,0"}).items()
    open_more(app).get_by_key("reset").click().run()
    assert query(app) == framed
    assert "hide" not in query(go_to_page(app, "step_by_step"))


def test_the_hidden_panels_are_passed_to_the_module():
    assert figure_data(open_explore("hide=x,facts"))["hidden"] == ["facts", "x"]
    assert figure_data(open_explore("hide=all"))["hidden"] == ["distribution", "facts", "loops", "table", "worked"]
    assert "hidden" not in figure_data(open_explore("hide=layer"))


def test_a_caption_is_shown_as_plain_text():
    app = open_page("explore", {"caption": HOSTILE})
    (shown,) = elements(app, "nv-legend")
    assert shown.text == HOSTILE
    assert len(shown) == 0
    assert page_html(app).count("alert") == 2 == html.escape(HOSTILE).count("alert")


WRONG = [
    ({"hide": "layer,color"}, "hide='color' is not the name of a control or a part"),
    ({"hide": "<b>x</b>"}, "hide='<b>x</b>' is not the name"),
    ({"v": "2"}, "v='2' is an unknown version of links; this app reads v=1"),
    ({"caption": "a" * 400}, "is too long; use at most 300 characters."),
]


@pytest.mark.parametrize(("opens", "name"), [(opened, "explore"), (opened, "compare"), (open_page, "questions")])
@pytest.mark.parametrize(("link", "words"), WRONG)
def test_an_invalid_hide_caption_or_version_gives_one_warning(opens, name, link, words):
    (warning,) = problems(opens(name, link))
    assert words in warning


def test_a_view_with_hidden_parts_links_to_the_full_view():
    data = page_data(open_explore("hide=all&shape=2,3,4,4&layer=BatchNorm2d(3)&caption=c"))
    assert data["open"] == {"page": "explore", "query": [["shape", "2,3,4,4"], ["layer", "BatchNorm2d(3)"]]}
    assert "share" in data


TITLES = [
    ("compare", {"shape": "2,3,4,4", "layers": "BatchNorm2d(3);GroupNorm(1,3)"}, "Compare: BatchNorm2d(3), GroupNorm(1, 3) on a (2, 3, 4, 4) tensor", 'nv.compare(["BatchNorm2d(3)", "GroupNorm(1, 3)"], x)'),
    ("step_by_step", {}, "Step by step: LayerNorm([4, 3, 5]) on a (2, 4, 3, 5) tensor", 'nv.steps("LayerNorm([4,3,5])", x)'),
    ("gradients", {"show": "matrix"}, "Gradients: The whole Jacobian: LayerNorm([4, 3, 5]) on a (2, 4, 3, 5) tensor", 'nv.gradients("LayerNorm([4,3,5])", x)'),
    ("numerics", {"show": "eps"}, "Numerics: How small may eps be?", ""),
    ("train_and_eval", {}, "Train and eval: Training a network", ""),
    ("train_and_eval", {"show": "stream"}, "Train and eval: Over time", ""),
    ("questions", {}, "Questions on normalization layers", ""),
    ("questions", {"q": "nothing"}, "Questions on normalization layers", ""),
]  # fmt: skip


class TestDataOfShare:
    def test_it_has_the_view_without_hide_and_caption_and_the_hidden_names(self):
        data = page_data(open_explore("hide=code,layer&caption=c&at=0,0,0,0"))["share"]
        assert dict(data["query"]).keys() == {"shape", "layer", "data", "seed", "params", "at"}
        assert dict(data["query"])["at"] == "0,0,0,0"
        assert (data["hidden"], data["caption"]) == (["code", "layer"], "c")
        assert data["title"] == "Explore: LayerNorm([4, 3, 5]) on a (2, 4, 3, 5) tensor"

    @pytest.mark.parametrize(("name", "link"), EVERYWHERE)
    def test_it_lists_the_names_that_can_be_hidden_by_group(self, name, link):
        app = open_page(name, link)
        groups = page_data(app)["share"]["groups"]
        assert [group["title"] for group in groups] == ["Controls", "Page", "Figure"]
        links = {"questions", "search"} if name == "questions" else {"questions"}  # "questions": the lesson plan, too
        assert {one["name"] for one in groups[0]["names"]} == control_names(name, link) | links
        assert all(one["label"] for group in groups for one in group["names"])
        assert name == "questions" or any(one["figure"] for group in groups for one in group["names"])

    def test_tables_are_kept_if_they_replace_the_figure(self):
        data = page_data(
            open_page("compare", "shape=134217728,134217728&layers=Norm('n d -> n d');LayerNorm(134217728)")
        )["share"]
        (tables,) = [one for group in data["groups"] for one in group["names"] if one["name"] == "table"]
        assert tables["figure"]
        assert "table" not in data["presets"][0]["hidden"]

    def test_the_front_page_has_none(self):
        assert page_data(open_page("home"))["share"] is None

    @pytest.mark.parametrize("name", [name for name in PAGES if name != "home"])
    def test_no_two_choices_hide_the_same(self, name):
        presets = page_data(open_page(name))["share"]["presets"]
        hidden = [preset["hidden"] for preset in presets]
        assert [hidden.index(one) for one in hidden] == list(range(len(hidden)))
        assert ("Everything", []) in [(preset["label"], preset["hidden"]) for preset in presets]

    def test_a_set_of_exercises_is_shared_as_an_exercise_or_as_a_whole(self):
        labels = [preset["label"] for preset in page_data(open_page("practice"))["share"]["presets"]]
        assert labels == ["Exercise", "Everything"]

    def test_a_question_is_shared_as_an_exercise(self):
        data = page_data(open_page("questions", "q=s0"))["share"]
        assert data["exercise"]
        assert [preset["label"] for preset in data["presets"]] == ["Exercise", "Everything"]
        hidden = data["presets"][0]["hidden"]
        assert {"questions", "worked", "output"} <= set(hidden)
        exercise = open_page("questions", {"q": "s0", "hide": ",".join(hidden)})
        assert elements(exercise, "nv-option")
        assert not [link for paragraph in ("nv-back", "nv-next") for link in elements(exercise, paragraph)]
        assert {"worked", "output"} <= set(figure_data(exercise)["hidden"])

    def test_a_set_of_exercises_is_shared_without_the_choice_of_others(self):
        data = page_data(open_page("practice", "seed=7"))["share"]
        assert data["exercise"]
        assert {preset["label"]: preset["hidden"] for preset in data["presets"]} == {
            "Exercise": ["exercises", "questions"],  # the others, and the lesson plan
            "Everything": [],
        }

    def test_two_panels_are_shared_without_anything_else(self):
        data = page_data(open_explore())["share"]
        (two,) = [preset["hidden"] for preset in data["presets"] if preset["label"] == "Two panels"]
        app = open_explore(f"hide={','.join(two)}")
        assert keys(app) == set()
        shown = figure_data(app)
        visible = [panel["key"] for panel in shown["panels"] if panel["key"] not in shown["hidden"]]
        assert visible == ["stats", "params"]
        assert not elements(app, "nv-sentence")

    @pytest.mark.parametrize(("name", "link", "title", "hint"), TITLES)
    def test_it_has_the_title_and_the_python_call(self, name, link, title, hint):
        data = page_data(open_page(name, link))["share"]
        assert (data["title"], data["hint"]) == (title, hint)
