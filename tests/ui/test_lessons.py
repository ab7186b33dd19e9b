"""The lesson pages without a browser: every page at its extremes, every control, and what hostile addresses do."""

import re
from urllib.parse import parse_qsl

import pytest

from normviz.comparison import compare, sentence
from normviz.exhibit import gradients
from normviz.lessons import experiments as experiments_told
from normviz.lessons.question import answer, computed, prose
from normviz.lessons.questions import QUESTIONS, found, of_page
from normviz.lessons.sets import READY_SETS
from normviz.running import Stream, run
from normviz.ui import experiments
from normviz.ui.asking import MOST_LINKS
from tests.ui.driver import opened, query, said, scene, sent, turned, unescaped, warned
from tests.ui.pages import complete, figures, gone, page, tabs, texts

LESSONS = ("compare", "step_by_step", "train_and_eval", "gradients", "questions")


def layers(app):
    """The layers that Compare's figure shows."""
    return [layer["name"] for layer in figures(app)[0]["layers"]]


def told(app):
    """What is said in place of a figure."""
    return [unescaped(note.value) for note in app.info]


# Each page as it opens, and the way from one to another


@pytest.mark.parametrize("name", LESSONS)
def test_a_page_opens_bare(name):
    app = page(name)
    assert not app.exception
    assert not app.warning
    assert query(app) == {}
    assert bool(figures(app)) == (name != "questions")


@pytest.mark.parametrize("name", LESSONS[:-1])
def test_the_scene_goes_along_from_explore(name):
    explore = turned(turned(opened(), "layout", "NLC"), "family", "RMSNorm")
    before = scene(explore)
    app = gone(sent(explore, "select", {"at": [1, 0, 2]}), name)
    complete(app)
    assert (scene(app).shape, scene(app).layer, scene(app).at) == (before.shape, before.layer, (1, 0, 2))


def test_from_explore_to_compare_and_back_the_scene_stays_and_the_layers_of_compare_are_left_there():
    app = gone(turned(opened("shape=2,6"), "size_d", 4), "compare")
    assert layers(app) == ["LayerNorm([4])", "BatchNorm1d(4)", "InstanceNorm1d(2)", "GroupNorm(1, 4)"]
    app = turned(app, "layers", ["RMSNorm([4])", "BatchNorm1d(4)"])
    app = gone(turned(app, "size_d", 5), "explore")
    assert query(app) == {"shape": "2,5", "layer": "LayerNorm([5])", "at": "1,3"}
    assert said(app).startswith("`LayerNorm([5])` on (2, 5): ")


@pytest.mark.parametrize("name", LESSONS[:-1])
def test_at_its_end_a_page_leads_to_the_questions_that_it_settles(name):
    links = [link.proto for link in page(name).get("page_link")]
    asked = [QUESTIONS[link.query_string.removeprefix("q=")] for link in links]
    assert 0 < len(set(asked)) == len(asked) == min(MOST_LINKS, len(of_page(name)))
    assert {question.page for question in asked} == {name}
    assert [(link.page, link.label) for link in links] == [
        ("questions", prose(question.key).title) for question in asked
    ]


@pytest.mark.parametrize(
    ("name", "show"),
    list(
        dict.fromkeys(
            (one.page, *re.findall(r"show=\w+", one.query)) for one in QUESTIONS.values() if "show=" in one.query
        )
    ),
)
def test_the_questions_about_what_shows_come_first(name, show):
    first = page(name, show).get("page_link")[0].proto
    assert show in QUESTIONS[first.query_string.removeprefix("q=")].query


# Compare


def test_compare_says_with_whom_an_element_shares_its_mean_under_each_layer():
    app = page("compare", "shape=2,3&layers=LayerNorm(3);BatchNorm1d(3)&at=0,1")
    complete(app)
    assert said(app) == ("x[0, 1] shares its mean with 2 others under `LayerNorm([3])` and 1 under `BatchNorm1d(3)`.")
    table = {line.split("|")[1].strip(): line for line in texts(app).splitlines() if line.startswith("|")}
    assert [cell.strip() for cell in table["number of statistics"].split("|")[2:4]] == ["2", "3"]
    assert [cell.strip() for cell in table["depends on the batch?"].split("|")[2:4]] == ["no", "yes"]
    assert [cell.strip() for cell in table["train = eval?"].split("|")[2:4]] == ["yes", "no"]


COMPARE_CONTROLS = [
    # address, control, its value, the layers then
    ("", "layout", "ND", ["LayerNorm([6])", "BatchNorm1d(6)", "InstanceNorm1d(2)", "GroupNorm(1, 6)"]),
    ("", "size_c", 4, ["LayerNorm([4, 4, 4])", "BatchNorm2d(4)", "InstanceNorm2d(4)", "GroupNorm(1, 4)"]),
    ("layers=GroupNorm(3,3);LayerNorm([4,4])", "size_c", 6, ["GroupNorm(3, 6)", "LayerNorm([4, 4])"]),
    ("layers=GroupNorm(3,3);LayerNorm(4)", "size_n", 100_000, ["GroupNorm(3, 3)", "LayerNorm([4])"]),
    ("shape=6", "size_d", 7, ["LayerNorm([7])", "RMSNorm([7])"]),
    ("", "layers", ["RMSNorm([4])", "BatchNorm2d(3)"], ["RMSNorm([4])", "BatchNorm2d(3)"]),
    ("", "layers", [f"LayerNorm([4], eps={eps})" for eps in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)],
     [f"LayerNorm([4], eps={eps})" for eps in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]),
]  # fmt: skip


@pytest.mark.parametrize(("link", "key", "value", "then"), COMPARE_CONTROLS)
def test_a_control_of_compare_changes_the_layers_the_sentence_and_the_address(link, key, value, then):
    before = page("compare", link)
    was = query(before)
    if key == "layers":
        before.multiselect(key=key).options.extend(value)  # what a browser allows where new options are accepted
    app = turned(before, key, value)
    complete(app)
    assert query(app) != was
    on = scene(app)
    assert layers(app) == then == app.multiselect(key="layers").value
    assert said(app) == sentence(compare(then, on.shape, on.layout), on.at).replace("**", "")


@pytest.mark.parametrize("key", READY_SETS)
def test_every_ready_made_set_comes_with_its_own_tensor_and_its_words(key):
    ready = READY_SETS[key]
    app = turned(page("compare"), "set", key)
    complete(app)
    assert (scene(app).shape, scene(app).layout, tuple(layers(app))) == (ready.shape, ready.layout, ready.layers)
    assert ready.text in texts(app)
    assert app.selectbox(key="set").value == key
    app = turned(app, f"size_{scene(app).axes[-1]}", 7)
    assert app.selectbox(key="set").value == ""
    assert ready.text not in texts(app)


def test_a_layer_of_ones_own_is_compared_and_one_that_is_none_is_told_once():
    app = page("compare")
    app.multiselect(key="layers").options.append("Norm('n c h w -> h', 'h')")
    app = turned(app, "layers", ["BatchNorm2d(3)", "Norm('n c h w -> h', 'h')"])
    complete(app)
    app.multiselect(key="layers").options.append("Conv2d(3, 3)")
    app = turned(app, "layers", ["BatchNorm2d(3)", "Norm('n c h w -> h', 'h')", "Conv2d(3, 3)"])
    (warning,) = warned(app)
    assert "'Conv2d' is no layer of the catalogue" in warning
    assert layers(app) == ["BatchNorm2d(3)", "Norm('n c h w -> h', 'h')"]


def test_without_any_layer_chosen_the_usual_ones_are_compared():
    app = turned(page("compare", "layers=RMSNorm(4);BatchNorm2d(3)"), "layers", [])
    complete(app)
    assert layers(app) == layers(page("compare"))
    assert query(app) == {}


def test_a_click_on_any_panel_of_compare_selects():
    app = sent(page("compare"), "select", {"at": [0, 1, 2, 3]})
    complete(app)
    assert query(app) == {"at": "0,1,2,3"}
    assert said(app).startswith("x[0, 1, 2, 3] shares")
    app = sent(app, "select", {"at": None})
    complete(app)
    assert figures(app)[0]["at"] is None
    assert not app.subheader


# Step by step


@pytest.mark.parametrize("step", range(7))
def test_every_step_has_its_address(step):
    app = page("step_by_step", f"step={step}&layer=BatchNorm2d(3)")
    complete(app)
    assert figures(app)[0]["step"] == step


@pytest.mark.parametrize("layer", ["RMSNorm(4)", "InstanceNorm2d(3)", "BatchNorm2d(3,affine=False).eval()"])
def test_a_step_that_a_layer_has_not_is_its_last(layer):
    (data,) = figures(page("step_by_step", f"step=6&layer={layer}"))
    assert data["step"] == len(data["panels"]) - 1 < 6


def test_the_button_of_a_step_changes_the_address_and_a_control_keeps_the_step():
    app = sent(page("step_by_step"), "step", {"step": 4})
    complete(app)
    assert query(app) == {"step": "4"}
    app = turned(app, "family", "BatchNorm")
    complete(app)
    assert query(app)["step"] == "4"
    assert said(app).startswith("`BatchNorm2d(3)` on (2, 3, 4, 4): ")
    assert app.button(key="reset").click().run().query_params == {}


HOSTILE_STEPS = [
    {"step": "x"},
    {"step": None},
    {"step": 1e400},
    {"step": [1]},
    {"step": True},
    {"step": 2.5},
    {},
    "x",
    5,
]


@pytest.mark.parametrize("value", HOSTILE_STEPS, ids=str)
def test_steps_that_the_module_never_sends_do_no_harm(value):
    app = sent(page("step_by_step", "step=2"), "step", value)
    complete(app)
    assert query(app) == {"step": "2"}


@pytest.mark.parametrize(("step", "nearest"), [(-1, "0"), (10**9, "6")])
def test_a_step_beyond_the_last_is_the_last(step, nearest):
    app = sent(page("step_by_step", "step=2"), "step", {"step": step})
    complete(app)
    assert query(app) == {"step": nearest}


def test_a_tensor_too_large_for_values_has_no_steps_and_says_so():
    app = page("step_by_step", "shape=100000,100000")
    complete(app)
    assert figures(app) == []
    assert any("too large to compute" in note for note in told(app))


def test_the_courses_own_functions_are_shown():
    shown = "\n".join(tabs(page("step_by_step")).values())
    assert "def layernorm_forward(" in shown
    assert "def layernorm_backward(" in shown


# Train and eval

EXTREMES = [
    "steps=1", "steps=500&batch_size=1024", "steps=500&batch_size=2", "momentum=0", "momentum=1", "momentum=none", "momentum=1e-12",
    "drift=10&steps=500", "drift=-10&steps=500&momentum=none", "seed=2147483647", "show=batches", "show=batches&seed=2147483647",
    "show=sequences", "show=sequences&count=2&longest=1", "show=sequences&count=256&longest=100", "show=sequences&count=2&longest=100",
    "show=devices", "show=devices&devices=2", "show=devices&devices=8", "show=modes", "show=modes&shape=2,1",
    "show=modes&layer=BatchNorm2d(3)", "show=modes&layer=BatchNorm2d(3).eval()", "show=modes&layer=BatchNorm2d(3,momentum=None)",
    "show=modes&layer=BatchNorm2d(3,track_running_stats=False)", "show=modes&layer=InstanceNorm2d(3,track_running_stats=True)",
    "show=modes&layer=SyncBatchNorm(3)", "show=modes&shape=6", "show=modes&shape=3,4,4&layer=InstanceNorm2d(3)",
    "show=modes&shape=2,4,4,3&layout=NHWC&layer=BatchNorm2d(4)", "show=modes&shape=5,4&layer=BatchNorm1d(4)&data=counting",
    "show=modes&shape=2,3&layer=LayerNorm(3,eps=0)&values=1,1,1,2,2,2",
]  # fmt: skip


@pytest.mark.parametrize("link", EXTREMES)
def test_train_and_eval_at_its_extremes(link):
    app = page("train_and_eval", link)
    complete(app)
    assert app.subheader
    assert figures(app) or "devices" in link
    assert not told(app)
    assert not re.search(r"\b(nan|inf)\b", said(app) + texts(app))


def test_modes_says_what_differs():
    app = page("train_and_eval", "show=modes&layer=BatchNorm2d(3)")
    assert said(app).startswith("`BatchNorm2d(3)` differs in 96 of 96 elements, by up to ")
    assert [panel["title"] for panel in figures(app)[0]["panels"]] == ["train()", "eval()", "train() − eval()"]
    assert said(page("train_and_eval", "show=modes")) == (
        "`LayerNorm([3, 4, 4])` gives the same in train() and eval(): it keeps nothing between batches."
    )


TRAINING_CONTROLS = [
    # address, control, its value, the address then
    ("", "show", "modes", {"show": "modes"}),
    ("", "show", "batches", {"show": "batches"}),
    ("", "show", "sequences", {"show": "sequences"}),
    ("", "show", "devices", {"show": "devices"}),
    ("show=devices", "show", "stream", {}),
    ("", "set_batch_size", "2", {"batch_size": "2"}),
    ("", "set_batch_size", " 1024 ", {"batch_size": "1024"}),
    ("", "set_momentum", "none", {"momentum": "none"}),
    ("", "set_momentum", "0", {"momentum": "0"}),
    ("", "set_momentum", "1", {"momentum": "1"}),
    ("momentum=none", "set_momentum", "0.1", {}),
    ("", "set_drift", "-10", {"drift": "-10"}),
    ("", "set_drift", "10", {"drift": "10"}),
    ("", "set_steps", "1", {"steps": "1"}),
    ("", "set_steps", "500", {"steps": "500"}),
    ("show=sequences", "set_count", "2", {"show": "sequences", "count": "2"}),
    ("show=sequences", "set_count", "256", {"show": "sequences", "count": "256"}),
    ("show=sequences", "set_longest", "1", {"show": "sequences", "longest": "1"}),
    ("show=sequences", "set_longest", "100", {"show": "sequences", "longest": "100"}),
    ("show=devices", "set_devices", "2", {"show": "devices", "devices": "2"}),
    ("show=devices", "set_devices", "8", {"show": "devices", "devices": "8"}),
    ("show=modes", "family", "BatchNorm", {"show": "modes", "layer": "BatchNorm2d(3)", "shape": "2,3,4,4"}),
    ("show=modes", "layout", "ND", {"show": "modes", "layer": "LayerNorm([6])", "shape": "2,6"}),
]  # fmt: skip


@pytest.mark.parametrize(("link", "key", "value", "then"), TRAINING_CONTROLS)
def test_a_control_of_train_and_eval_changes_the_sentence_and_the_address(link, key, value, then):
    before = page("train_and_eval", link)
    was = said(before)
    app = turned(before, key, value)
    complete(app)
    assert {name: text for name, text in query(app).items() if name != "at"} == then
    assert said(app) != was
    if key.startswith("train_"):
        assert app.text_input(key=key).value == value.strip()


def test_every_control_of_train_and_eval_states_its_limits():
    for name, names in experiments.TRAINING.items():
        app = page("train_and_eval", f"show={name}")
        for control in names:
            low, high = re.findall(r"[−\d,]+", app.text_input(key=f"set_{control}").label)[-2:]
            for number, beyond in ((low, -1), (high, 1)):
                end = int(number.replace(",", "").replace("−", "-"))
                tried = turned(page("train_and_eval", f"show={name}"), f"set_{control}", str(end))
                assert not tried.warning
                assert turned(tried, f"set_{control}", str(end + beyond)).warning


TYPED_WRONG = [
    ("batch_size", "1", "from 2 to 1,024"),
    ("batch_size", "1025", "from 2 to 1,024"),
    ("batch_size", "eight", "a whole number"),
    ("momentum", "2", "momentum='2' must be a number, or none, from 0 to 1."),
    ("momentum", "", "momentum='' must be a number, or none, from 0 to 1."),
    ("drift", "10.5", "from -10 to 10."),
    ("steps", "1000000000", "from 1 to 500"),
    ("steps", "0", "from 1 to 500"),
]


@pytest.mark.parametrize(("name", "typed", "words"), TYPED_WRONG)
def test_what_is_typed_wrong_is_told_once_and_changes_nothing(name, typed, words):
    before = page("train_and_eval", "steps=20&momentum=0.5")
    was = said(before)
    app = turned(before, f"set_{name}", typed)
    assert not app.exception
    (warning,) = warned(app)
    assert words in warning
    assert said(app) == was
    assert query(app) == {"steps": "20", "momentum": "0.5"}
    app = turned(app, "set_drift", "1")
    complete(app)


def test_a_batch_of_one_is_refused_in_the_words_of_torch():
    words = "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])"
    assert words in texts(page("train_and_eval", "show=batches"))
    alone = "The first example alone, in train(): torch refuses. `Expected more than 1 value per channel when training"
    assert alone in texts(page("train_and_eval", "show=modes&shape=4,3&layer=BatchNorm1d(3)"))


NO_MODES = [
    ("layer=Norm('n c h w -> c','c')", "a pattern has neither train() nor eval()"),
    ("layer=DimNorm(4,dim=0)&layout=NCHW", "torch.nn has no DimNorm"),
    ("shape=100000,100000", "too large to compute values"),
]


@pytest.mark.parametrize(("link", "words"), NO_MODES)
@pytest.mark.parametrize("more", ["", "&momentum=7"])
def test_where_there_are_no_modes_it_is_said_in_place_of_the_figure(link, words, more):
    app = page("train_and_eval", f"show=modes&{link}{more}")
    assert not app.exception
    assert any(words in note for note in told(app))
    assert len(app.warning) == bool(more)
    assert figures(app) == []


# Gradients

GRADIENTS = [
    "", "layer=RMSNorm(4)", "layer=BatchNorm2d(3)", "layer=BatchNorm2d(3).eval()", "layer=Norm('n c h w ->','')", "shape=1", "shape=1,1",
    "shape=4096&layer=LayerNorm(4096)", "shape=4,16,8,8", "layer=InstanceNorm2d(3)", "at=none", "input=outlier", "input=signs",
    "shape=2,2,2,2,2,2,2,2,2,2,2,2", "shape=2,3&layer=LayerNorm(3,eps=0)&values=1,1,1,2,2,2", "shape=2,3&layer=RMSNorm(3,eps=0)&values=0,0,0,0,0,0",
    "shape=2,3&values=1e12,-1e12,1e12,-1e12,0,1e-30", "shape=5,4&layer=BatchNorm1d(4)&data=counting",
]  # fmt: skip


@pytest.mark.parametrize("show", gradients.TITLES)
@pytest.mark.parametrize("link", GRADIENTS)
def test_gradients_at_its_extremes(link, show):
    app = page("gradients", "&".join(filter(None, [link, f"show={show}"])))
    complete(app)
    assert app.subheader or told(app)
    assert bool(figures(app)) == (show != "backward" and not told(app))


def test_moving_one_input_says_how_many_outputs_move():
    app = page("gradients", "shape=2,3&layer=LayerNorm(3)&values=1,2,6,4,4,5&at=0,1")
    assert said(app) == (
        "Move x[0, 1] and 3 of 6 outputs move, all in its statistics group of 3; the 3 derivatives outside are exactly 0."
    )
    keys = [panel["key"] for panel in figures(app)[0]["panels"]]
    assert keys == ["autograd", "itself", "mean", "var"]
    assert [panel["key"] for panel in figures(page("gradients", "layer=RMSNorm(4)"))[0]["panels"]] == keys[:2] + keys[
        3:
    ]
    in_eval = page("gradients", "layer=BatchNorm2d(3).eval()")
    assert [panel["key"] for panel in figures(in_eval)[0]["panels"]] == keys[:2]
    assert "and 1 of 96 outputs move" in said(in_eval)


def test_in_eval_mode_the_jacobian_of_batch_norm_is_diagonal():
    assert "Only the diagonal is left" not in said(page("gradients", "show=matrix&layer=BatchNorm2d(3)"))
    app = page("gradients", "show=matrix&layer=BatchNorm2d(3).eval()")
    assert said(app).startswith("Of 9,216 derivatives 9,120 are exactly 0. Only the diagonal is left")


@pytest.mark.parametrize(("elements", "words"), [(128, ""), (256, "the first 128 of 256 are drawn")])
def test_a_jacobian_that_is_not_drawn_whole_says_so(elements, words):
    (data,) = figures(page("gradients", f"shape={elements}&layer=LayerNorm({elements})&show=matrix"))
    assert data["grid"]["extent"] == [128, 128]
    caption = data["panels"][0]["caption"]
    assert words in caption
    assert ("drawn" in caption) == bool(words)


GRADIENT_CONTROLS = [
    ("", "show", "matrix", {"show": "matrix"}),
    ("", "show", "parameters", {"show": "parameters"}),
    ("", "show", "backward", {"show": "backward"}),
    ("show=matrix", "show", "column", {}),
    ("", "input", "outlier", {"input": "outlier"}),
    ("", "input", "signs", {"input": "signs"}),
    ("input=signs", "input", "x", {}),
    ("", "family", "BatchNorm", {"layer": "BatchNorm2d(3)", "shape": "2,3,4,4"}),
    ("", "layout", "ND", {"layer": "LayerNorm([6])", "shape": "2,6"}),
    ("layer=BatchNorm2d(3)", "training", False, {"layer": "BatchNorm2d(3).eval()", "shape": "2,3,4,4"}),
]


@pytest.mark.parametrize(("link", "key", "value", "then"), GRADIENT_CONTROLS)
def test_a_control_of_gradients_changes_the_sentence_and_the_address(link, key, value, then):
    before = page("gradients", link)
    was = said(before)
    app = turned(before, key, value)
    complete(app)
    assert {name: text for name, text in query(app).items() if name != "at"} == then
    assert said(app) != was


def test_a_click_moves_another_input():
    app = sent(page("gradients", "layer=BatchNorm2d(3)"), "select", {"at": [0, 1, 2, 3]})
    complete(app)
    assert said(app).startswith("Move x[0, 1, 2, 3] and ")
    assert query(app)["at"] == "0,1,2,3"


NO_FIGURE = [
    ("shape=4097&layer=LayerNorm(4097)", "up to 4,096 elements"),
    ("shape=1024,1024", "up to 4,096 elements"),
    ("shape=257&layer=LayerNorm(257)&show=matrix", "up to 256 elements"),
    ("layer=InstanceNorm2d(3)&show=parameters", "InstanceNorm2d(3) has no gamma"),
    ("shape=2,3&input=signs", "groups of an even size"),
    ("layer=RMSNorm(4)&input=signs", '"signs" needs a mean'),
]


@pytest.mark.parametrize(("link", "words"), NO_FIGURE)
@pytest.mark.parametrize("more", ["", "&at=x"])
def test_where_there_is_no_derivative_to_show_it_is_said_in_place_of_the_figure(link, words, more):
    app = page("gradients", link + more)
    assert not app.exception
    assert any(words in note for note in told(app))
    assert len(app.warning) == bool(more)
    assert figures(app) == []


# Questions

CHOICE = next(question for question in QUESTIONS.values() if prose(question.key).options)
NUMBER = next(question for question in QUESTIONS.values() if not prose(question.key).options)


def titles(app):
    return [button.label for button in app.button if button.key and button.key.startswith("ask_")]


def wrong_guess(question):
    right = computed(question)["right"]
    options = prose(question.key).options
    return next(option for option in options if option != right) if options else f"{float(right) + 1:g}"


def test_all_questions_are_listed_under_their_topics():
    app = page("questions")
    complete(app)
    assert sorted(titles(app)) == sorted(prose(key).title for key in QUESTIONS)
    assert [part.value for part in app.subheader] == list(dict.fromkeys(one.topic for one in QUESTIONS.values()))


@pytest.mark.parametrize("words", ["gamma", "  GAMMA  eval ", "momentum"])
def test_the_search_leaves_those_that_have_all_its_words(words):
    app = turned(page("questions"), "search", words)
    complete(app)
    assert query(app) == {"search": words.strip()}
    assert sorted(titles(app)) == sorted(prose(one.key).title for one in found(words))
    assert 0 < len(titles(app)) < len(QUESTIONS)


def test_a_search_that_finds_nothing_says_so():
    app = page("questions", "search=zzzz")
    complete(app)
    assert titles(app) == []
    assert len(told(app)) == 1


def test_a_question_is_opened_from_the_list_and_left_again():
    app = page("questions").button(key=f"ask_{CHOICE.key}").click().run()
    complete(app)
    assert query(app) == {"q": CHOICE.key}
    assert said(app) == prose(CHOICE.key).title
    app = app.button[0].click().run()
    complete(app)
    assert query(app) == {}
    assert len(titles(app)) == len(QUESTIONS)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda question: question.key)
def test_a_question_asks_first_and_answers_after_a_prediction(question):
    before = page("questions", f"q={question.key}")
    assert not before.exception
    assert not before.warning
    assert figures(before) == []
    assert answer(question) not in texts(before)
    assert before.get("page_link") == []
    control = f"guess_{question.key}"
    for guess, verdict in (
        (str(computed(question)["right"]), "As you predicted"),
        (
            wrong_guess(question),
            f"You expected: {prose(question.key).options.get(wrong_guess(question), wrong_guess(question))}",
        ),
    ):
        app = turned(before, control, guess)
        assert not app.exception, [error.message for error in app.exception]
        assert not app.warning
        assert query(app) == {"q": question.key, "guess": guess}
        assert f"**{verdict}" in texts(app)
        assert answer(question) in texts(app)
        (link,) = app.get("page_link")
        assert dict(parse_qsl(link.proto.query_string)) == dict(parse_qsl(question.query))
        figures(app)


@pytest.mark.parametrize("question", [CHOICE, NUMBER], ids=["choice", "number"])
def test_an_answered_question_has_its_own_address(question):
    complete(turned(page("questions", f"q={question.key}"), f"guess_{question.key}", wrong_guess(question)))


def test_from_a_question_one_link_opens_the_page_with_the_case():
    app = page("questions", f"q={CHOICE.key}&guess={computed(CHOICE)['right']}")
    (link,) = app.get("page_link")
    shown = page(CHOICE.page, dict(parse_qsl(link.proto.query_string)))
    assert not shown.exception
    assert not shown.warning
    assert figures(shown)[0]["panels"] == figures(app)[0]["panels"]


def test_the_figure_of_a_question_changes_nothing_on_the_server():
    app = page("questions", "q=s0&guess=one")
    (figure,) = figures(app)
    assert figure["alone"]
    assert not figure["editable"]


@pytest.mark.parametrize("typed", ["abc", "1/2", "4 8", "<b>", "--"])
def test_a_prediction_that_is_no_number_is_told_once_and_reveals_nothing(typed):
    app = turned(page("questions", f"q={NUMBER.key}"), f"guess_{NUMBER.key}", typed)
    assert not app.exception
    (warning,) = warned(app)
    assert warning == f"{typed!r} is no number; write one, such as 48."
    assert answer(NUMBER) not in texts(app)
    assert figures(app) == []
    app = turned(app, f"guess_{NUMBER.key}", f" {computed(NUMBER)['right']} ")
    complete(app)
    assert "As you predicted" in texts(app)


# Hostile addresses

HOSTILE = {
    "compare": [
        "layers=", "layers=;;", "layers=x", "layers=x;y", "layers=Conv2d(3,3);LayerNorm(4)", "layers=__import__('os');LayerNorm(4)",
        f"layers={'LayerNorm(4);' * 9}", f"layers={'x' * 5000}", "layers=<script>;LayerNorm(4)", "layers=![x](https://example.org/x.png)",
        "layers=Norm('n c -> n');LayerNorm(4)", "shape=6&layers=BatchNorm2d(3)", "shape=0", "shape=0&layers=x", "at=9,9,9,9&layers=x",
        f"shape={2**40},{2**40}&layer=Norm('n d -> n d','n d')&layers=x", "layer=GroupNorm(2,3)",
    ],
    "step_by_step": ["step=7", "step=-1", "step=x", "step=", "step=1e9", "step=nan", "step=0.5", "shape=0&step=99", "layer=Conv2d(3,3)"],
    "train_and_eval": [
        "show=", "show=zzz", "batch_size=0", "batch_size=1", "batch_size=1025", "momentum=2", "momentum=-0.1", "momentum=nan", "momentum=",
        "drift=11", "drift=-1e300", "drift=inf", "steps=0", "steps=1000000000", "steps=<b>", "show=sequences&count=1", "show=sequences&count=257",
        "show=sequences&longest=0", "show=sequences&longest=101", "show=devices&devices=1", "show=devices&devices=9", "show=modes&shape=0",
        "seed=-1", "show=modes&layer=GroupNorm(2,3)&momentum=7", "batch_size=x&momentum=x&drift=x&steps=x&count=x&longest=x&devices=x&show=x",
    ],
    "gradients": ["show=", "show=zzz", "input=", "input=zzz", "show=<b>&input=<b>", "at=x", "at=9,9", "shape=0&show=matrix", "layer=GroupNorm(2,3)&show=backward"],
    "questions": [
        "q=nope", "q=<b>", f"q={'x' * 21}", f"q={'x' * 5000}", f"q={CHOICE.key}&guess=zzz", f"q={CHOICE.key}&guess={'x' * 41}", f"q={NUMBER.key}&guess=abc",
        f"q={NUMBER.key}&guess={'x' * 41}", f"search={'a' * 81}", f"q={'x' * 21}&search={'a' * 81}", "q=../../etc/passwd", "shape=0",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "link"),
    [(name, link) for name, links in HOSTILE.items() for link in links],
    ids=[f"{name}-{number}" for name, links in HOSTILE.items() for number in range(len(links))],
)
def test_a_hostile_address_gives_one_message_and_a_valid_view(name, link):
    app = page(name, link)
    assert not app.exception, [error.message for error in app.exception]
    (warning,) = warned(app)
    assert 20 < len(warning) < 700
    assert (
        figures(app)
        or name == "questions"
        or "devices" in link
        or "too many" in "".join(told(app))
        or "backward" in link
    )
    assert query(app) == dict(part.split("=", 1) for part in link.split("&"))  # the address stays the reader's own


def test_from_a_hostile_address_a_reader_goes_on():
    app = turned(page("train_and_eval", "steps=1000000000&show=x"), "set_drift", "1")
    complete(app)
    assert query(app) == {"steps": "500", "drift": "1"}
    app = turned(page("compare", "layers=RMSNorm(4);LayerNorm(4)&at=z"), "size_w", 5)
    complete(app)
    assert layers(app) == ["RMSNorm([5])", "LayerNorm([5])"]


def test_neighbouring_paragraphs_are_one_element():
    lines = "\n\n".join(experiments_told.momentum_lines(Stream(), run(Stream())))
    assert lines in [one.value for one in page("train_and_eval").markdown]
