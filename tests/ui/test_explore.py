import pytest

from normviz import explain
from normviz.analysis.explanation import describe
from normviz.analysis.number_format import format_difference
from normviz.code.generate import FLAVORS, code
from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.lessons.parts.code_tabs import LABELS
from normviz.scene.controls.scene_controls import FAMILY_LABELS, LAYOUTS
from normviz.scene.settings.scene_settings import DATA_LABELS, PARAMETER_LABELS
from normviz.ui.controls.rows import MORE
from tests.ui.driver import (
    check,
    figure_data,
    open_explore,
    open_more,
    query,
    scene,
    sentence_text,
    set_control,
    unescaped,
    warning_texts,
)
from tests.ui.pages import tabs


def numbers(text):
    """The counts in a sentence, in order: means, elements of each, gammas and betas."""
    return [
        int(word.strip("*;,.").replace(",", ""))
        for word in text.split("`")[2].split(": ")[1].split()
        if word[0].isdigit()
    ]


def test_without_a_query_explore_shows_a_layer_norm():
    app = open_explore()
    check(app)
    counts = explain("LayerNorm([3, 4, 4])", (2, 3, 4, 4)).counts
    assert sentence_text(app).startswith("`LayerNorm([3, 4, 4])` on (2, 3, 4, 4): ")
    gammas = counts.parameters // 2
    assert numbers(sentence_text(app)) == [
        counts.statistics,
        counts.statistics,
        counts.elements_per_statistic,
        gammas,
        gammas,
    ]
    assert query(app) == {}
    assert not app.warning
    assert figure_data(app)["at"] == [1, 2, 0, 3]


CONTROLS = [
    # address, control, its new value, the resulting layer, shape and layout
    ("", "layout", "ND", "LayerNorm(6)", (2, 6), "ND"),
    ("", "layout", "NLC", "LayerNorm([4, 3])", (2, 4, 3), "NLC"),
    ("shape=2,6", "layout", "NCHW", "LayerNorm(4)", (2, 3, 4, 4), "NCHW"),
    ("", "more_layout", "NHWC", "LayerNorm([4, 4, 3])", (2, 4, 4, 3), "NHWC"),
    ("layer=GroupNorm(3,3)", "more_layout", "NCL", "GroupNorm(3, 3)", (2, 3, 4), "NCL"),
    ("", "size_n", 5, "LayerNorm([3, 4, 4])", (5, 3, 4, 4), "NCHW"),
    ("", "size_c", 5, "LayerNorm([5, 4, 4])", (2, 5, 4, 4), "NCHW"),
    ("", "size_h", 1, "LayerNorm([3, 1, 4])", (2, 3, 1, 4), "NCHW"),
    ("", "size_w", 100_000, "LayerNorm([3, 4, 100000])", (2, 3, 4, 100_000), "NCHW"),
    ("", "size_w", 2**40, f"LayerNorm([3, 4, {2**40}])", (2, 3, 4, 2**40), "NCHW"),
    ("shape=2,5,3", "size_l", 7, "LayerNorm([7, 3])", (2, 7, 3), "NLC"),
    ("shape=2,5", "size_d", 7, "LayerNorm(7)", (2, 7), "ND"),
    ("", "family", "RMSNorm", "RMSNorm([3, 4, 4])", (2, 3, 4, 4), "NCHW"),
    ("", "family", "BatchNorm", "BatchNorm2d(3)", (2, 3, 4, 4), "NCHW"),
    ("", "family", "InstanceNorm", "InstanceNorm2d(3)", (2, 3, 4, 4), "NCHW"),
    ("shape=2,4,3,3", "family", "GroupNorm", "GroupNorm(2, 4)", (2, 4, 3, 3), "NCHW"),
    ("", "family", "ChannelsFirstLayerNorm", "ChannelsFirstLayerNorm(3)", (2, 3, 4, 4), "NCHW"),
    ("", "family", "DimNorm", "DimNorm(4, dim=0)", (2, 3, 4, 4), "NCHW"),
    ("layer=BatchNorm2d(3)", "family", "LayerNorm", "LayerNorm([3, 4, 4])", (2, 3, 4, 4), "NCHW"),
    ("", "depth", 2, "LayerNorm([4, 4])", (2, 3, 4, 4), "NCHW"),
    ("", "depth", 1, "LayerNorm(4)", (2, 3, 4, 4), "NCHW"),
    ("layer=RMSNorm(4)", "depth", 3, "RMSNorm([3, 4, 4])", (2, 3, 4, 4), "NCHW"),
    ("shape=2,6", "depth", 2, "LayerNorm([2, 6])", (2, 6), "ND"),
    ("shape=2,6,3,3&layer=GroupNorm(2,6)", "num_groups", 3, "GroupNorm(3, 6)", (2, 6, 3, 3), "NCHW"),
    ("shape=2,64,3,3&layer=GroupNorm(2,64)", "num_groups", 32, "GroupNorm(32, 64)", (2, 64, 3, 3), "NCHW"),
    ("layer=DimNorm(4,dim=0)&layout=NCHW", "dim", 3, "DimNorm(4, dim=3)", (2, 3, 4, 4), "NCHW"),
    ("layer=DimNorm(4)&layout=NCHW", "dim", 1, "DimNorm(4, dim=1)", (2, 3, 4, 4), "NCHW"),
    ("", "elementwise_affine", False, "LayerNorm([3, 4, 4], elementwise_affine=False)", (2, 3, 4, 4), "NCHW"),
    ("", "bias", False, "LayerNorm([3, 4, 4], bias=False)", (2, 3, 4, 4), "NCHW"),
    ("layer=BatchNorm2d(3)", "affine", False, "BatchNorm2d(3, affine=False)", (2, 3, 4, 4), "NCHW"),
    ("layer=InstanceNorm2d(3)", "affine", True, "InstanceNorm2d(3, affine=True)", (2, 3, 4, 4), "NCHW"),
    ("layer=BatchNorm2d(3)", "bias", False, "BatchNorm2d(3, bias=False)", (2, 3, 4, 4), "NCHW"),
    ("layer=BatchNorm2d(3)", "track_running_stats", False, "BatchNorm2d(3, track_running_stats=False)", (2, 3, 4, 4), "NCHW"),
    ("layer=BatchNorm2d(3)", "training", False, "BatchNorm2d(3).eval()", (2, 3, 4, 4), "NCHW"),
    ("layer=BatchNorm2d(3).eval()", "training", True, "BatchNorm2d(3)", (2, 3, 4, 4), "NCHW"),
    ("layer=InstanceNorm2d(3,track_running_stats=True)", "training", False, "InstanceNorm2d(3, track_running_stats=True).eval()", (2, 3, 4, 4), "NCHW"),
    ("", "eps", "0.001", "LayerNorm([3, 4, 4], eps=1e-3)", (2, 3, 4, 4), "NCHW"),
    ("", "eps", "0.25", "LayerNorm([3, 4, 4], eps=0.25)", (2, 3, 4, 4), "NCHW"),
    ("", "eps", "0", "LayerNorm([3, 4, 4], eps=0.0)", (2, 3, 4, 4), "NCHW"),
    ("", "eps", "-0.5", "LayerNorm([3, 4, 4], eps=-0.5)", (2, 3, 4, 4), "NCHW"),
    ("layer=RMSNorm(4,eps=0.5)", "eps", "None", "RMSNorm(4)", (2, 3, 4, 4), "NCHW"),
]  # fmt: skip


@pytest.mark.parametrize(("link", "key", "value", "layer", "shape", "layout"), CONTROLS)
def test_a_control_changes_the_sentence_and_the_address(link, key, value, layer, shape, layout):
    app = set_control(open_explore(link), key, value)
    check(app)
    e = describe(layer, shape, layout=layout)
    assert not app.warning
    assert sentence_text(app).startswith(f"`{Layer.parse(layer)}` on {shape}: ")
    counts = numbers(sentence_text(app))
    assert counts[0] == e.counts.statistics
    assert e.norm.running or e.counts.elements_per_statistic in counts
    gammas = e.counts.parameters // (1 + e.norm.bias)
    assert gammas == 0 or gammas in counts
    assert scene(app).layout == layout
    assert figure_data(app)["facts"][0]["value"] == f"{e.counts.statistics:,}"
    assert app.get_by_key(key).value == (value if key != "eps" else str(None if value == "None" else float(value)))


DATA_CONTROLS = [
    ("data", "counting", {"data": "counting"}),
    ("data", "scales", {"data": "scales"}),
    ("data", "images", {"data": "images"}),
    ("seed", 7, {"seed": "7"}),
    ("params", "index", {"params": "index"}),
    ("params", "random", {"params": "random"}),
]


@pytest.mark.parametrize(("key", "value", "written"), DATA_CONTROLS)
def test_the_values_of_x_of_gamma_and_of_beta_can_be_chosen(key, value, written):
    before = open_explore()
    was = figure_data(before)
    app = set_control(before, key, value)
    check(app)
    assert query(app) == written
    assert figure_data(app)["panels"][4]["z"] != was["panels"][4]["z"]
    assert sentence_text(app) == sentence_text(open_explore())


def test_counting_data_has_no_seed_and_a_layer_without_gamma_has_no_choice_of_parameters():
    assert "seed" not in keys(open_more(open_explore("data=counting")))
    assert "params" not in keys(open_more(open_explore("layer=InstanceNorm2d(3)")))
    assert {"seed", "params"} <= keys(open_more(open_explore()))


def keys(app):
    kinds = ("selectbox", "number_input", "toggle", "text_input", "slider", "button_group", "button")
    return {widget.key for kind in kinds for widget in app.get(kind)}


CHOICES = [
    ("", "layout", ["N, D", "N, L, C", "N, C, H, W"]),
    ("shape=2,4,4,3&layout=NHWC", "layout", ["N, D", "N, L, C", "N, C, H, W", "N, H, W, C"]),
    ("", "depth", ["C, H, W", "H, W", "W"]),
    ("layer=LayerNorm([2,3,4,4])", "depth", ["N, C, H, W", "C, H, W", "H, W", "W"]),
    ("shape=6", "depth", ["D"]),
    ("shape=2,6,3,3&layer=GroupNorm(2,6)", "num_groups", ["1", "2", "3", "6"]),
    ("shape=2,7,3,3&layer=GroupNorm(1,7)", "num_groups", ["1", "7"]),
    ("shape=2,64,3,3&layer=GroupNorm(1,64)", "num_groups", ["1", "2", "4", "8", "16", "32", "64"]),
    ("layer=DimNorm(4)&layout=NCHW", "dim", ["0 (N)", "1 (C)", "2 (H)", "3 (W)"]),
    ("layer=BatchNorm2d(3)", "training", ["train()", "eval()"]),
    ("", "data", list(DATA_LABELS.values())),
    ("", "params", list(PARAMETER_LABELS.values())),
    ("", "family", ["LayerNorm", "RMSNorm", "BatchNorm2d", "InstanceNorm2d", "GroupNorm", *FAMILY_LABELS.values()]),
    ("shape=2,6", "family", ["LayerNorm", "RMSNorm", "BatchNorm1d", "InstanceNorm1d", "GroupNorm", *FAMILY_LABELS.values()]),
    ("shape=6", "family", ["LayerNorm", "RMSNorm", "One axis (dim)", "Your own pattern"]),
]  # fmt: skip


@pytest.mark.parametrize(("link", "key", "options"), CHOICES)
def test_a_control_offers_the_valid_options(link, key, options):
    assert list(open_more(open_explore(link)).get_by_key(key).options) == options


def test_the_normalized_shape_is_shown_beside_its_axes():
    app = open_explore("layer=LayerNorm([4,4])")
    assert app.get_by_key("depth").proto.label == "normalized_shape = [4, 4]"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_can_be_chosen_and_changed_again(layout):
    app = set_control(open_explore("shape=2,6"), "more_layout", layout)
    check(app)
    assert scene(app).layout == layout
    check(set_control(app, "more_layout", "NLC"))


NO_EPS = ["nonsense", "nan", "-inf", "1e400", "None", " "]


@pytest.mark.parametrize("typed", NO_EPS)
def test_an_invalid_eps_changes_nothing(typed):
    app = set_control(open_explore("layer=LayerNorm(4,eps=0.5)"), "eps", typed)
    assert not app.exception
    (warning,) = warning_texts(app)
    assert warning.startswith("eps=")
    assert query(app)["layer"] == "LayerNorm([4],eps=0.5)"
    assert app.get_by_key("eps").value == "0.5"
    check(set_control(app, "eps", "0.001"))


def test_the_controls_under_more_are_created_when_it_opens_and_show_the_current_scene():
    app = open_explore("data=counting")
    closed = keys(app)
    assert {"more_layout", "data", "eps"}.isdisjoint(closed)
    assert set_control(app, "data", "scales").selectbox(key="data").value == "scales"
    app.session_state[MORE] = False
    assert keys(app.run()) == closed
    assert open_more(app.get_by_key("reset").click().run()).selectbox(key="data").value == "normal"


def test_bias_can_be_chosen_only_where_there_is_a_gamma():
    assert not open_more(open_explore()).toggle(key="bias").disabled
    assert open_more(open_explore("layer=LayerNorm(4,elementwise_affine=False)")).toggle(key="bias").disabled


def test_a_custom_pattern_can_be_typed():
    app = set_control(open_explore(), "family", "Norm")
    check(app)
    assert sentence_text(app).startswith("`Norm('n c h w -> n', 'c h w')` on (2, 3, 4, 4): ")
    app = set_control(app, "own_stats", "n c h w -> n h w")
    check(app)
    app = set_control(app, "own_params", "c")
    check(app)
    counts = explain("Norm('n c h w -> n h w', 'c')", (2, 3, 4, 4)).counts
    assert numbers(sentence_text(app))[:4] == [counts.statistics, counts.statistics, counts.elements_per_statistic, 3]
    app = set_control(app, "own_params", "none")
    check(app)
    assert sentence_text(app).endswith("no gamma and no beta.")
    app = set_control(app, "own_params", "")
    check(app)
    assert "one of each for all 96 elements" in sentence_text(app)


BAD_PATTERNS = [
    ("own_stats", "n c h w", "is not a pattern"),
    ("own_stats", "n c h w -> x", "names 'x', which is not an axis of x"),
    ("own_stats", "n c -> n", "has rank 2 and x has rank 4"),
    ("own_stats", "n (g k) h w -> n g", "the sizes of g and k in (g k) are unknown"),
    ("own_stats", "", "is not a pattern"),
    ("own_params", "x", "names 'x', which is not an axis of x"),
    ("own_params", "c c", "names 'c' twice"),
    ("own_params", "<script>", "is not an axis name"),
]


@pytest.mark.parametrize(("key", "text", "words"), BAD_PATTERNS)
def test_an_invalid_pattern_gives_one_warning_and_changes_nothing(key, text, words):
    app = open_explore("layer=Norm('n c h w -> n','c')")
    before = sentence_text(app)
    app = set_control(app, key, text)
    assert not app.exception
    (warning,) = warning_texts(app)
    assert words in warning
    assert sentence_text(app) == before
    assert query(app)["layer"] == "Norm('n c h w -> n','c')"


def test_the_groups_can_be_removed_from_the_pattern_of_a_group_norm():
    app = set_control(open_explore("shape=2,4,3&layer=GroupNorm(2,4)"), "family", "Norm")
    check(app)
    app = set_control(app, "own_stats", "n c l -> n")
    check(app)
    assert not app.warning


def test_a_window_moves_over_a_large_tensor_and_the_counts_are_of_the_whole_tensor():
    app = open_explore("shape=2,64,56,56&layer=BatchNorm2d(64)")
    before = sentence_text(app)
    slider = app.slider(key="from_c")
    assert slider.label == "Drawn: C 0 to 1 of 64"
    assert (slider.min, slider.max) == (0, 62)
    app = set_control(app, "from_c", 40)
    check(app)
    assert app.slider(key="from_c").label == "Drawn: C 40 to 41 of 64"
    assert query(app)["from"] == "0,40,0,0"
    assert sentence_text(app) == before
    assert figure_data(app)["grid"]["start"] == [0, 40, 0, 0]
    assert figure_data(app)["at"] == [1, 41, 0, 55]


WINDOWS = [
    "shape=1000,1000",
    "shape=1000",
    "shape=3,70,56,56",
    "shape=2,3000,2000",
    "shape=150,150",
    f"shape=2,{2**40}",
]


@pytest.mark.parametrize("link", WINDOWS)
def test_the_window_reaches_the_end(link):
    app = open_explore(link)
    for key in [slider.key for slider in app.slider]:
        slider = app.slider(key=key)
        assert (slider.max - slider.min) % slider.step == 0
        app = set_control(app, key, slider.max)
        assert not app.warning
        assert app.slider(key=key).value == slider.max
    check(app)
    grid = scene(app).grid
    assert grid.partial
    for axis in grid.partial:
        assert grid.window[axis].stop == grid.shape[axis]


def test_a_tensor_that_fits_the_drawing_has_no_window():
    assert not open_explore("shape=4,16,16,16").slider
    assert len(open_explore("shape=1000,1000").slider) == 2


ODD = [
    "shape=1", "shape=6&layer=DimNorm(6)", f"shape={','.join('1' * 12)}", f"shape={','.join('2' * 12)}", "shape=2,2,2&layout=ND1D2",
    "shape=2,3,4&layout=XYZ", "shape=2,2&layer=Norm('a1 a2 -> a1','a2')", "shape=2,4&layer=Norm('n (g k) -> k','g',sizes={'g':2})",
    "shape=4&layer=Norm('(g k) ->','',sizes={'g':2})", "layer=Norm('n c h w -> c','c',running=True)", "layer=SyncBatchNorm(3)",
    "layer=Norm('n c h w -> n',center=False,eps=None)", "shape=2,3&layer=LayerNorm(3,eps=0)&values=1,1,1,2,2,2", "at=none",
    "shape=2,4,4,3&layout=NHWC&layer=GroupNorm(2,4,affine=False)", "layer=LayerNorm([2,3,4,4])", "shape=4,4,3&layout=HWC&data=images",
    "layer=BatchNorm2d(3,momentum=None).eval()&params=random", "shape=3,4,4&layer=InstanceNorm2d(3,affine=True)&params=index",
]  # fmt: skip


@pytest.mark.parametrize("link", ODD)
def test_unusual_valid_addresses_work(link):
    app = open_explore(link)
    assert not app.warning
    check(app)
    app = set_control(app, "family", "Norm")
    check(app)
    assert not app.warning
    check(set_control(app, "more_layout", "NLC"))


def test_reset_restores_the_defaults():
    app = open_explore("shape=2,6&layer=BatchNorm1d(6)&data=counting&seed=3&at=0,0")
    app = app.button(key="reset").click().run()
    check(app)
    assert query(app) == {}
    assert sentence_text(app) == sentence_text(open_explore())


def test_two_changes_are_both_applied():
    app = set_control(set_control(open_explore(), "size_c", 5), "family", "BatchNorm")
    check(app)
    assert query(app) == {"shape": "2,5,4,4", "layer": "BatchNorm2d(5)", "at": "1,2,0,3"}


def test_a_changed_address_overrides_the_controls():
    app = set_control(open_explore(), "size_c", 5)
    app.query_params.clear()
    app.run()  # Back
    assert sentence_text(app) == sentence_text(open_explore())
    assert app.number_input(key="size_c").value == 3


def test_a_warning_is_shown_once():
    app = open_explore("layer=GroupNorm(2,3)")
    assert len(app.warning) == 1
    app = set_control(app, "size_h", 5)
    assert not app.warning
    assert query(app) == {"shape": "2,3,5,4", "layer": "GroupNorm(1,3)"}


def test_a_note_explains_a_channel_axis_that_is_not_c():
    (note,) = open_explore("shape=2,4,3&layout=NLC&layer=BatchNorm1d(4)").info
    assert "BatchNorm1d always uses axis 1 of x as the channel axis; in NLC that is L (size 4)" in unescaped(note.value)
    assert not open_explore("shape=2,4,3&layer=BatchNorm1d(4)").info


def test_every_flavor_of_code_has_a_tab():
    app = open_explore()
    e = scene(app).explanation
    assert tabs(app) == {LABELS[flavor]: code(e, flavor) for flavor in FLAVORS}


def test_the_torch_tab_shows_the_error_if_torch_has_no_such_layer():
    app = open_explore("layer=Norm('n c h w -> h','w')")
    e = scene(app).explanation
    with pytest.raises(NormvizError) as refusal:
        code(e, "torch")
    assert tabs(app)["torch.nn"] == str(refusal.value)
    assert not any("matches torch" in caption.value for caption in app.caption)


@pytest.mark.parametrize(
    "layer", ["LayerNorm([3,4,4])", "BatchNorm2d(3).eval()", "GroupNorm(3,3)", "InstanceNorm2d(3)", "RMSNorm(4)"]
)
def test_the_caption_states_the_largest_difference_from_torch(layer):
    app = open_explore(f"layer={layer}")
    (text,) = [caption.value for caption in app.caption if "matches" in caption.value]
    e = scene(app).explanation
    assert e.agreement < 1e-5
    assert text == f"The output matches torch.nn.{e.layer.name}: largest difference {format_difference(e.agreement)}"
