"""The widget's traits, and what its page sends: without a browser."""

import gzip
import re
import sys

import pytest
import torch
from torch import nn

import normviz as nv
from normviz.export.assets import plotly_js
from normviz.texts.errors import NormvizError
from tests.support.needs import cases_in_torch, needs_rms_norm

X = torch.arange(96.0).reshape(2, 3, 4, 4)


class Reader:
    """A page of the widget in a browser: it sends events, and ``replies`` are what the widget sends."""

    def __init__(self, widget):
        self.widget, self.turn, self.replies = widget, 0, []
        widget.send = lambda content, buffers=None: self.replies.append(content)

    def tell(self, name, **event):
        self.turn += 1
        message = {"name": name, "turn": self.turn, **event}
        self.widget._handle_custom_msg(message, [])
        return self.replies[-1]

    def enter(self, key, option):
        """Choose an option by its label, or enter a number or several texts."""
        shown = next(one for row in self.replies[-1]["rows"] for one in row["inputs"] if one["key"] == key)
        return self.tell("input", key=key, value=shown["options"].index(option) if isinstance(option, str) else option)


def sentence_of(reply):
    return next(html for key, html in reply["data"]["parts"] if key.startswith("sentence"))


def without_values(query):
    """The query without the values of the reader's x."""
    return re.sub("&?values=[^&]*", "", query).removeprefix("&")


@pytest.fixture
def widget():
    return nv.live("LayerNorm([3, 4, 4])", X)


@pytest.fixture
def reader(widget):
    reader = Reader(widget)
    reader.tell("look")
    return reader


def test_the_traits_say_what_the_page_shows(widget):
    assert (widget.layer, widget.shape, widget.at) == ("LayerNorm([3, 4, 4])", (2, 3, 4, 4), (1, 2, 0, 3))
    assert isinstance(widget.explanation, nv.Explanation)
    assert torch.equal(widget.explanation.x, X)


SET = [
    # a trait, its new value, and the query that follows
    ("layer", "BatchNorm2d(3)", "shape=2,3,4,4&layer=BatchNorm2d(3)"),
    ("layer", nn.GroupNorm(3, 3), "shape=2,3,4,4&layer=GroupNorm(3,3)"),
    ("layer", nv.Norm("n c h w -> n h w", "c"), "shape=2,3,4,4&layer=Norm('n%20c%20h%20w%20->%20n%20h%20w','c')"),
    ("shape", [2, 6, 4, 4], "shape=2,6,4,4&layer=LayerNorm([6,4,4])&at=1,2,0,3"),
    ("shape", (5, 7), "shape=5,7&layer=LayerNorm([7])"),
    ("at", (0, 1, 2, 3), "shape=2,3,4,4&layer=LayerNorm([3,4,4])&at=0,1,2,3"),
    ("at", None, "shape=2,3,4,4&layer=LayerNorm([3,4,4])&at=none"),
    ("query", "?shape=2,3,4,4&layer=RMSNorm(4)&at=0,0,0,0", "shape=2,3,4,4&layer=RMSNorm([4])&at=0,0,0,0"),
]


@cases_in_torch
@pytest.mark.parametrize(("name", "value", "query"), SET)
def test_a_trait_that_is_set_changes_the_page(widget, reader, name, value, query):
    setattr(widget, name, value)
    assert (without_values(widget.query), widget.problem) == (query, "")
    assert len(reader.replies) == 2
    again = nv.live("LayerNorm([3, 4, 4])", X)
    again.query = query
    assert [getattr(again, trait) for trait in ("layer", "shape", "at")] == [
        getattr(widget, trait) for trait in ("layer", "shape", "at")
    ]


def test_observers_see_all_traits_changed(widget):
    seen = []
    widget.observe(lambda change: seen.append((change.name, change.new, widget.layer, widget.shape)))
    widget.shape = (2, 6, 4, 4)
    now = ("LayerNorm([6, 4, 4])", (2, 6, 4, 4))
    assert seen == [("query", widget.query, *now), ("layer", now[0], *now), ("shape", now[1], *now)]


def test_an_observer_may_change_the_widget(widget):
    widget.observe(lambda change: setattr(widget, "at", (0, 0, 0, 0)), "layer")
    widget.layer = "BatchNorm2d(3)"
    assert widget.at == (0, 0, 0, 0)
    assert without_values(widget.query).endswith("layer=BatchNorm2d(3)&at=0,0,0,0")


def test_x_stays_when_the_layer_changes(widget, reader):
    for layer in ("BatchNorm2d(3)", "GroupNorm(1, 3)", "Norm('n c h w -> n h w', 'c')"):
        widget.layer = layer
        assert torch.equal(widget.explanation.x, X)
    reader.enter("family", "InstanceNorm")
    assert widget.layer == "InstanceNorm2d(3)"
    torch.testing.assert_close(widget.explanation.trace.output, nn.InstanceNorm2d(3)(X))


REFUSED = [
    ("layer", "LayerNorm(5)", "Given normalized_shape=.5."),
    ("layer", "LayerNorm(", "is not a layer"),
    ("layer", 3, "layer=3 is not a layer"),
    ("layer", None, "layer=None is not a layer"),
    ("shape", (0, 3), "has a size below 1"),
    ("shape", 7, "not iterable"),
    ("at", (9, 9, 9, 9), "is not an element"),
    ("at", (1.0, 0, 0, 0), "is not an element"),
    ("at", 5, "is not an element"),
]


@pytest.mark.parametrize(("name", "value", "words"), REFUSED)
def test_a_refused_value_changes_only_the_message(widget, reader, name, value, words):
    before = (widget.query, widget.layer, widget.shape, widget.at)
    setattr(widget, name, value)
    assert (widget.query, widget.layer, widget.shape, widget.at) == before
    with pytest.raises(AssertionError, match=words):
        raise AssertionError(widget.problem)
    key, html = reader.replies[-1]["data"]["parts"][0]
    assert key == "problem1"
    assert 'role="alert"' in html
    widget.at = (0, 0, 0, 0)
    assert widget.problem == ""


@pytest.mark.parametrize(
    ("query", "name"),
    [("lyaer=RMSNorm(4)", "'lyaer'"), ("?layer=RMSNorm(4)&sede=1", "'sede'"), ("/?shap=2,3", "'shap'"), ("RMSNorm(4)", r"'RMSNorm\(4\)'")],
)  # fmt: skip
def test_a_query_with_an_unknown_name_changes_nothing_and_the_message_says_what_is_unknown(widget, query, name):
    widget.layer = "BatchNorm2d(3)"
    before = (widget.query, widget.layer, widget.shape, widget.at)
    widget.query = query
    assert (widget.query, widget.layer, widget.shape, widget.at) == before
    assert re.match(f"{name} is not a setting of this page; choose .*shape, .*layer", widget.problem)


ERRORS = [
    ("shape=abc", "shape='abc'"),
    ("shape=2,3,4,4&layer=LayerNorm([5])", "torch refuses"),
    ("shape=2,3,4,4&at=9,9,9,9", "at"),
    ("/?shape=2,3&seed=x", "seed='x'"),
    ("hide=nothing", "hide='nothing'"),
]


@pytest.mark.parametrize(("query", "words"), ERRORS)
def test_a_query_with_an_error_changes_only_the_message(widget, reader, query, words):
    widget.layer = "BatchNorm2d(3)"
    widget.at = (0, 1, 2, 3)
    before = (widget.query, widget.layer, widget.shape, widget.at)
    widget.query = query
    assert (widget.query, widget.layer, widget.shape, widget.at) == before
    assert words in widget.problem
    assert torch.equal(widget.explanation.x, X)
    assert "(2, 3, 4, 4)" in sentence_of(reader.replies[-1])


@pytest.mark.parametrize("query", ["layers=BatchNorm2d(3);Nothing(9)", "cards=none"])
def test_a_comparison_keeps_its_layers_where_a_query_has_an_error(query):
    widget = nv.live("compare", ["BatchNorm2d(3)", "LayerNorm(4)"], X)
    before = widget.query
    widget.query = f"shape=2,3,4,4&{query}"
    assert widget.query == before
    assert widget.problem


def test_a_link_that_names_other_values_shows_these(widget):
    widget.query = "https://example.org/?shape=2,3,4,4&data=counting&seed=3"
    assert widget.explanation.x.flatten()[:3].tolist() == [0, 1, 2]
    widget.query = "shape=2,3,4,4"
    assert torch.equal(widget.explanation.x, X)


def test_the_link_of_a_small_x_holds_its_values():
    small = nv.live("LayerNorm(2)", torch.tensor([[1.0, 2.5], [3.0, 4.0]], dtype=torch.float64))
    assert "values=1,2.5,3,4" in small.query
    small.query = small.query.replace("LayerNorm([2])", "BatchNorm1d(2)")
    assert small.explanation.x.dtype == torch.float64
    small.query = small.query.replace("2.5", "9")
    assert small.explanation.x[0].tolist() == [1, 9]


def test_a_live_module_keeps_its_gamma():
    module = nn.LayerNorm([4, 4])
    module.weight.data.fill_(2)
    widget = nv.live(module, X)
    torch.testing.assert_close(widget.explanation.trace.output, module(X).detach())
    module.weight.data.fill_(5)
    assert torch.equal(widget.explanation.values.gamma, torch.full((4, 4), 2.0))
    widget.layer = module
    assert torch.equal(widget.explanation.values.gamma, torch.full((4, 4), 5.0))


# The reader's page


def test_every_change_is_answered_with_its_turn(reader):
    assert reader.replies[-1]["turn"] == 1
    reply = reader.enter("family", "BatchNorm")
    assert reply["turn"] == 2
    assert "BatchNorm2d(3)" in sentence_of(reply)
    first, second = reader.enter("size_c", 6), reader.enter("size_n", 5)
    assert "(2, 6, 4, 4)" in sentence_of(first)
    assert "(5, 6, 4, 4)" in sentence_of(second)


def test_a_click_selects_an_element_and_the_figure_gets_its_turn_back(widget, reader):
    reply = reader.tell("select", at=[0, 1, 2, 3], turn=7)
    assert widget.at == (0, 1, 2, 3)
    figure = reply["data"]["figures"][0]
    assert (figure["at"], figure["turn"], figure.get("alone")) == ([0, 1, 2, 3], 7, None)
    assert reader.tell("select", at=None, turn=8)["data"]["figures"][0]["at"] is None


def test_a_value_of_a_small_x_can_be_edited():
    widget = nv.live("LayerNorm(2)", torch.tensor([[1.0, 2.0]]))
    Reader(widget).tell("edit", at=[0, 1], value=5, turn=1)
    assert widget.explanation.x.tolist() == [[1, 5]]


def test_the_slices_of_a_large_x_move():
    widget = nv.live("LayerNorm(100)", (100, 100))
    figure = Reader(widget).tell("move", start=[40, 95], turn=1)["data"]["figures"][0]
    assert figure["grid"]["indices"] == [[40, 41, 42, 43, 44, 99], [94, 95, 96, 97, 98, 99]]
    assert "from=40,94" in widget.query


def test_the_steps_follow_the_page():
    widget = nv.live("steps", "LayerNorm(4)", X, step=2)
    assert Reader(widget).tell("step", step=99, turn=1)["data"]["figures"][0]["step"] == 6
    assert without_values(widget.query) == "shape=2,3,4,4&layer=LayerNorm([4])&step=6"


def test_back_to_the_start_shows_the_readers_own_view(widget, reader):
    reader.enter("size_n", 5)
    reader.tell("reset")
    assert torch.equal(widget.explanation.x, X)


HOSTILE = [
    {"name": "input"}, {"name": "input", "key": "family", "value": 99}, {"name": "input", "key": "family", "value": "x"}, {"name": "input", "key": "none", "value": 1},
    {"name": "input", "key": "size_n", "value": [1]}, {"name": "select", "at": [1]}, {"name": "select", "at": "x"}, {"name": "select"}, {"name": "edit", "at": [0, 0, 0, 9], "value": 1},
    {"name": "step", "step": 1}, {"name": "move"}, {"name": "move", "start": "x"}, {"name": "move", "start": [1]}, {"name": "what"}, {},
]  # fmt: skip


@pytest.mark.parametrize("event", HOSTILE, ids=str)
def test_an_event_that_is_not_valid_keeps_the_view(widget, reader, event):
    before = (widget.layer, widget.shape, widget.at)
    reader.tell(**{"name": "", **event})
    assert (widget.layer, widget.shape, widget.at) == before


def test_plotly_js_comes_from_the_kernel(widget):
    sent = []
    widget.send = lambda content, buffers=None: sent.append((content, buffers))
    widget._handle_custom_msg({"name": "plotly", "client": "one"}, [])
    assert sent[0][0] == {"plotly": "one"}
    assert gzip.decompress(sent[0][1][0]) == plotly_js()


# Pages and errors

PAGES = [
    (("LayerNorm(4)", X), "LayerNorm([4])"), ((), "LayerNorm([4, 3, 5])"), (("steps", "RMSNorm(4)", X), "RMSNorm([4])"),
    (("compare", ["BatchNorm2d(3)", "LayerNorm(4)"], X), "BatchNorm2d(3)"), (("gradients", "LayerNorm(4)", (2, 4)), "LayerNorm([4])"),
    (("train_and_eval",), "LayerNorm([4, 3, 5])"), (("numerics",), "LayerNorm([4, 3, 5])"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "layer"), PAGES)
def test_every_page_can_be_live(given, layer):
    widget = nv.live(*given) if given else nv.live("explore")
    assert widget.layer == layer
    assert Reader(widget).tell("look")["data"]["parts"]


@needs_rms_norm
def test_compare_shows_the_given_layers():
    widget = nv.live("compare", ["BatchNorm2d(3)", "LayerNorm(4)"], X)
    assert widget.query.endswith("layers=BatchNorm2d(3);LayerNorm([4])")
    reader = Reader(widget)
    reader.tell("look")
    reader.enter("layers", ["RMSNorm(4)", "GroupNorm(1,3)"])
    assert widget.query.endswith("layers=RMSNorm([4]);GroupNorm(1,%203)")


WRONG = [
    (("LayerNorm(5)", X), {}, "Given normalized_shape=.5."),
    (("LayerNorm(4)", X), {"step": 2}, "step=2 has no effect on explore; it belongs to start and step_by_step"),
    (("LayerNorm(4)", X), {"at": (9, 9)}, "is not an element"),
    (("compare", ["LayerNorm(4)"], X), {}, "2 to 6 layers"),
    (("compare", X), {}, "has no layer; name it, or a list of layers, before x"),
    (("LayerNorm(4)", torch.ones(2, 4, dtype=torch.int64)), {}, "floating-point"),
]


@pytest.mark.parametrize(("given", "options", "words"), WRONG)
def test_wrong_arguments_are_refused_at_once(given, options, words):
    with pytest.raises(NormvizError, match=words):
        nv.live(*given, **options)


def test_without_anywidget_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "normviz.api.live.widget", raising=False)
    with pytest.raises(NormvizError, match=r'nv.live needs anywidget, .* pip install "normviz\[notebook\]"'):
        nv.live("LayerNorm(4)", X)


@pytest.mark.parametrize(("front_end", "another"), [("JupyterLab", True), ("another", False)])
def test_a_page_that_receives_no_reply_gets_another_model_where_its_output_needs_no_view(
    monkeypatch, front_end, another
):
    monkeypatch.delenv("JPY_PARENT_PID", raising=False)
    widget = nv.live("LayerNorm([3, 4, 4])", X)
    if front_end == "JupyterLab":
        monkeypatch.setenv("JPY_PARENT_PID", "1")
    first, name = widget.comm, widget.model_id
    widget._handle_custom_msg({"name": "reopen", "turn": 1}, [])
    assert (widget.comm is not first) == first._closed == another
    assert widget.model_id == name
    assert str(widget.layer) == "LayerNorm([3, 4, 4])"
