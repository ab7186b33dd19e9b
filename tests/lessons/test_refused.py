"""An invalid entry stays in its input, with its message, until it is corrected."""

import pytest

from normviz.lessons.pages import PAGES, page_view
from normviz.parts.part import Problem
from tests.support.needs import cases_in_torch
from tests.support.scenes import summary


def inputs(name, view):
    return {one.key: one for row in PAGES[name].input_rows(view) for one in row.all_inputs}


def enter(name, view, key, value):
    return inputs(name, view)[key].changed(view, value)


def messages(name, view):
    return [part.text for part in page_view(PAGES[name], view).parts if isinstance(part, Problem)]


WRONG = [
    # a page, a link, an input, a value, words of the message, a value that is valid
    ("explore", "", "size_n", 0, "N=0 must be a whole number from 1 to 1,099,511,627,776.", 2),
    ("explore", "", "size_c", -3, "C=-3 must be a whole number from 1 to", 5),
    ("explore", "", "seed", -1, "seed='-1' must be a whole number from 0 to", 0),
    ("explore", "", "eps", "abc", "eps='abc' is not a number; write one such as 1e-5.", "1e-06"),
    ("explore", "", "layer", "CUDA out of memory", "'CUDA out of memory': what is read here is a layer, such as LayerNorm(96) on (8, 96, 56, 56)", "LayerNorm([4, 3, 5])"),
    ("explore", "", "layer", "Conv2d(3, 4, 5)", "'Conv2d(3, 4, 5)': what is read here is a layer", "BatchNorm2d(4)"),
    ("explore", "", "layer", "__import__('os').system('ls')", "what is read here is a layer", "RMSNorm([5])"),
    ("numerics", "show=single", "set_scale", "two", "scale='two' must be a number from 0 to", "0.1"),
    ("numerics", "show=constant", "set_value", "1e9", "value='1e9' must be a number from", "2"),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("name", "link", "key", "value", "words", "valid"), WRONG)
def test_it_stays_and_the_view_is_as_before_until_it_is_corrected(name, link, key, value, words, valid):
    before = PAGES[name].view(link)
    view = enter(name, before, key, value)
    (message,) = messages(name, view)
    assert words in message
    assert inputs(name, view)[key].value == value
    assert (view.scene, view.settings) == (before.scene, before.settings)
    view = enter(name, view, key, valid)
    assert messages(name, view) == []
    assert str(inputs(name, view)[key].value) == str(valid)


def test_the_fields_of_a_pattern_stay_together():
    view = PAGES["explore"].view("layer=Norm('n c h w -> n','c')")
    view = enter("explore", view, "own_stats", ("garbage(", "c"))
    assert (inputs("explore", view)["own_stats"].value, inputs("explore", view)["own_params"].value) == (
        "garbage(",
        "c",
    )
    (message,) = messages("explore", view)
    assert message.startswith("'garbage(' is not a pattern")
    view = enter("explore", view, "own_stats", ("n c h w -> n h w", "c"))
    assert view.scene.layer.stats == "n c h w -> n h w"
    assert messages("explore", view) == []


def test_another_change_leaves_it_and_both_have_their_messages():
    view = enter("explore", PAGES["explore"].view(""), "size_n", 0)
    view = enter("explore", view, "size_c", 5)
    assert (view.scene.shape, inputs("explore", view)["size_n"].value) == ((2, 5, 3, 5), 0)
    view = enter("explore", view, "size_h", 0)
    assert [message[:3] for message in messages("explore", view)] == ["H=0", "N=0"]
    view = enter("explore", view, "size_n", 3)
    assert [message[:3] for message in messages("explore", view)] == ["H=0"]


@pytest.mark.parametrize(("key", "value"), [("layout", "ND"), ("family", "Norm")])
def test_it_is_forgotten_with_its_input(key, value):
    view = enter("explore", PAGES["explore"].view(""), "size_n", 0)
    view = enter("explore", view, key, value)
    assert messages("explore", view) == []
    assert view.refused == ()


def test_a_pasted_error_becomes_the_view_that_it_is_about():
    view = PAGES["explore"].view("data=counting")
    view = enter("explore", view, "layer", "RuntimeError: running_mean should contain 64 elements not 128")
    assert (str(view.scene.layer), view.scene.shape) == ("BatchNorm2d(64)", (2, 64, 3, 5))
    assert inputs("explore", view)["layer"].value == "BatchNorm2d(64)"
    (message,) = messages("explore", view)
    assert message.startswith('torch refuses: "running_mean should contain 64 elements not 128". ')
    assert [str(remedy.layer) for remedy in view.remedies] == ["BatchNorm2d(64)", "BatchNorm2d(128)"]


TYPED = [
    # what is typed into the field Layer, the layer and the tensor that are shown
    ("GroupNorm(2,4)", "NCHW (2, 4, 3, 5) GroupNorm(2, 4)"),
    ("nn.BatchNorm2d(4).eval()", "NCHW (2, 4, 3, 5) BatchNorm2d(4).eval()"),
    ("batchnorm(4)", "NCHW (2, 4, 3, 5) BatchNorm2d(4)"),
    ("layernorm(5)", "NCHW (2, 4, 3, 5) LayerNorm([5])"),
    ("`RMSNorm([3, 5])`", "NCHW (2, 4, 3, 5) RMSNorm([3, 5])"),
    ("DimNorm", "NCHW (2, 4, 3, 5) DimNorm(5, dim=0)"),
    ("Norm('n c h w -> c', 'c')", "NCHW (2, 4, 3, 5) Norm('n c h w -> c', 'c')"),
    ("ChannelsLastBatchNorm(4) on (2, 5, 4)", "NLC (2, 5, 4) ChannelsLastBatchNorm(4)"),
    ("LayerNorm(96) on (8, 56, 56, 96)", "NCHW (8, 56, 56, 96) LayerNorm([96])"),
]


@cases_in_torch
@pytest.mark.parametrize(("text", "wanted"), TYPED)
def test_a_typed_layer_is_shown(text, wanted):
    view = enter("explore", PAGES["explore"].view(""), "layer", text)
    assert (summary(view.scene), view.problem, view.refused) == (wanted, None, ())


def test_a_typed_layer_that_does_not_fit_gets_its_remedies_the_last_one_a_tensor_of_its_size():
    view = enter("explore", PAGES["explore"].view(""), "layer", "LayerNorm(96)")
    assert view.problem.startswith('torch refuses: "Given normalized_shape=[96], expected input with shape [*, 96]')
    assert [remedy.label for remedy in view.remedies] == [
        "`LayerNorm([5])`",
        "`LayerNorm([4, 3, 5])`",
        "`LayerNorm([96])` on `torch.randn(2, 5, 96)`",
    ]
