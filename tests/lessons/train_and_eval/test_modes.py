"""train() and eval(): the outputs, texts and table of both modes, compared with torch's own modules."""

import re
from urllib.parse import parse_qsl

import pytest
import torch
from torch import nn

from normviz.analysis.examples import example
from normviz.figures.payload import values_payload
from normviz.lessons.pages import PAGES, page_view, view_of_link
from normviz.lessons.train_and_eval import modes
from normviz.parts.part import Text
from normviz.scene.edits import with_family
from normviz.texts.errors import NormvizError
from tests.browser.readout import number
from tests.support.needs import cases_in_torch, needs_rms_norm
from tests.support.scenes import scene
from tests.support.sentences import numbers_in

LAYERS_WITH_BUFFERS = [
    "layer=BatchNorm2d(3)", "layer=BatchNorm2d(3).eval()", "layer=BatchNorm2d(3,momentum=None)", "shape=5,4&layer=BatchNorm1d(4)&data=scales",
    "layer=InstanceNorm2d(3,track_running_stats=True)", "shape=2,4,3,2&layout=NHWC&layer=BatchNorm2d(4)",
]  # fmt: skip


@pytest.mark.parametrize("link", LAYERS_WITH_BUFFERS)
def test_a_layer_with_buffers_differs_between_the_modes(link):
    on = scene(link)
    found = modes.both_modes(on.description, on.seed)
    train, evaluated, difference = modes.modes_outputs(found)
    assert [panel.key for panel in (train, evaluated, difference)] == ["train", "eval", "gap"]
    assert evaluated.caption == "with running statistics"
    torch.testing.assert_close(difference.values, train.values - evaluated.values)
    module = on.layer.with_(training=True).module()
    torch.testing.assert_close(train.values.float(), module(on.description.x).detach())
    said = numbers_in(modes.modes_sentence(found))
    changed = sum(
        not torch.equal(old, new) for old, new in buffers_around(on.layer.with_(training=True), on.description.x)
    )
    differing = int((difference.values != 0).sum())
    assert said == [
        str(differing),
        str(difference.values.numel()),
        f"{float(difference.values.abs().max()):.3g}",
        str(changed),
    ]


@pytest.mark.parametrize("link", LAYERS_WITH_BUFFERS)
def test_a_color_stands_for_the_same_value_in_both_modes(link):
    on = scene(link)
    train, evaluated, _difference = modes.modes_outputs(modes.both_modes(on.description, on.seed))
    assert train.most == evaluated.most == float(torch.stack([train.values, evaluated.values]).abs().max())
    first, second = values_payload(on.description, on.grid, [train, evaluated]).panels
    assert (first.low, first.high) == (second.low, second.high)


@pytest.mark.parametrize(
    ("layer", "at", "own"),
    [
        ("BatchNorm2d(3)", (1, 2, 0, 3), lambda x: x[:, 2]),
        ("BatchNorm2d(3,momentum=None)", (0, 1, 3, 2), lambda x: x[:, 1]),
        ("InstanceNorm2d(3,track_running_stats=True)", (1, 2, 0, 3), lambda x: x[1, 2]),
    ],
)
def test_the_outputs_of_an_element_are_explained_by_this_batch_and_the_buffers(layer, at, own):
    on = scene(f"shape=2,3,4,5&data=scales&layer={layer}")
    x, found = on.description.x, modes.both_modes(on.description, on.seed)
    module, group = found.warmed_up.module, own(x)
    outputs = [float(output[at]) for output in (found.train, found.eval)]
    said = [number(text) for text in numbers_in(modes.element_sentence(found, at))]
    expected = [
        float(x[at]), *outputs, abs(outputs[0] - outputs[1]), float(group.mean()), float(module.running_mean[at[1]]),
        float(group.var(correction=0)), float(module.running_var[at[1]]),
    ]  # fmt: skip
    assert said == pytest.approx(expected, rel=5e-3)
    for output, (mean, var) in zip(outputs, ((expected[4], expected[6]), (expected[5], expected[7])), strict=True):
        assert output == pytest.approx((expected[0] - mean) / (var + module.eps) ** 0.5, rel=1e-3)


def test_the_sentence_names_the_batch_or_the_example():
    for layer, here in (
        ("BatchNorm2d(3)", "in this batch"),
        ("InstanceNorm2d(3,track_running_stats=True)", "in this example"),
    ):
        on = scene(f"shape=2,3,4,5&layer={layer}")
        said = modes.element_sentence(modes.both_modes(on.description, on.seed), (0, 0, 0, 0))
        assert said.count(here) == 2


def test_equal_outputs_are_not_explained():
    on = scene("shape=2,3,4,5&layer=LayerNorm(5)")
    assert modes.element_sentence(modes.both_modes(on.description, on.seed), (0, 0, 0, 0)) == ""


def test_without_a_selected_element_the_largest_difference_is_explained():
    view = PAGES["train_and_eval"].view("show=modes&shape=5,4&layer=BatchNorm1d(4)&at=none")
    found = modes.both_modes(view.scene.description, view.scene.seed)
    (explained,) = [one.text for one in page_view(PAGES["train_and_eval"], view).parts if isinstance(one, Text)][:1]
    assert f"**{found.largest_difference:.3g}** apart" in explained


def opened(query):
    return str(PAGES["train_and_eval"].view(query).scene.layer)


@pytest.mark.parametrize(
    ("query", "layer"),
    [
        ("show=modes&shape=2,3,4,5", "BatchNorm2d(3)"),
        ("show=modes&shape=2,3", "BatchNorm1d(3)"),
        ("show=modes&shape=6", "LayerNorm([6])"),  # BatchNorm needs a batch
        ("show=modes&shape=2,3&layer=LayerNorm(3)", "LayerNorm([3])"),
        ("show=stream&shape=2,3", "LayerNorm([3])"),
    ],
)
def test_without_a_layer_both_modes_are_those_of_batch_norm(query, layer):
    assert opened(query) == layer


def test_a_link_opens_what_a_click_on_the_experiment_opens():
    page = PAGES["train_and_eval"]
    (chosen,) = page.input_rows(page.view(""))[0].inputs
    assert chosen.changed(page.view(""), "modes") == page.view("show=modes")
    assert opened("show=modes").startswith("BatchNorm2d(")


@pytest.mark.parametrize("query", ["", "show=modes", "show=modes&seed=3", "show=modes&shape=2,3"])
def test_a_view_with_another_layer_keeps_it_in_its_link(query):
    page = PAGES["train_and_eval"]
    view = page.view(query)
    for family in ("LayerNorm", "BatchNorm"):
        other = view.with_scene(with_family(view.scene, family))
        assert page.view(page.query(other)) == other


def buffers_around(layer, x):
    """Each buffer before and after the first forward in train mode."""
    module = layer.module()
    before = [value.clone() for value in module.buffers()]
    module(x)
    return zip(before, module.buffers(), strict=True)


@cases_in_torch
@pytest.mark.parametrize(
    "layer",
    ["LayerNorm(4)", "RMSNorm(4)", "GroupNorm(3,3)", "InstanceNorm2d(3)", "BatchNorm2d(3,track_running_stats=False)"],
)
def test_a_layer_without_buffers_gives_the_same_in_both_modes(layer):
    on = scene(f"shape=2,3,4,4&layer={layer}")
    found = modes.both_modes(on.description, on.seed)
    assert modes.modes_sentence(found) == (
        f"`{on.layer}` gives the same output in train() and eval(): it stores nothing between batches."
    )
    assert not list(modes.modes_outputs(found))[2].values.any()


@pytest.mark.parametrize(
    ("layer", "train", "evaluated"),
    [
        ("BatchNorm2d(3)", "with this batch's statistics", "with running statistics"),
        ("BatchNorm2d(3,track_running_stats=False)", "with this batch's statistics", "with this batch's statistics"),
        ("InstanceNorm2d(3,track_running_stats=True)", "with each example's own statistics", "with running statistics"),
        ("LayerNorm(4)", "with each example's own statistics", "with each example's own statistics"),
        ("LayerNorm([2,3,4,4])", "with this batch's statistics", "with this batch's statistics"),
    ],
)
def test_the_panels_say_which_statistics_each_mode_uses(layer, train, evaluated):
    on = scene(f"shape=2,3,4,4&layer={layer}")
    panels = list(modes.modes_outputs(modes.both_modes(on.description, on.seed)))
    assert [panel.caption for panel in panels[:2]] == [train, evaluated]


def test_equal_outputs_on_one_x_do_not_mean_that_a_layer_stores_nothing():
    on = scene("shape=4,1&layer=BatchNorm1d(1)&values=0,0,0,0").description
    found = modes.both_modes(on, 0)
    assert not found.differs.any()
    assert modes.modes_sentence(found).endswith(
        "on this x; on another x it may not, because it stores running statistics."
    )
    assert modes.both_modes(scene("shape=4,1&layer=BatchNorm1d(1)").description, 0).differs.any()


def test_the_output_of_one_example_alone():
    refused, runs = one_example_texts("shape=4,3&layer=BatchNorm1d(3)")
    module = nn.BatchNorm1d(3)
    with pytest.raises(ValueError, match="more than 1 value per channel") as words:
        module(torch.zeros(1, 3))
    assert refused == f"The first example alone, in train(): torch refuses. `{words.value}`"
    assert (*numbers_in(runs),) == ("0",)
    for line in one_example_texts("shape=4,3&layer=LayerNorm(3)"):
        assert numbers_in(line) == ["0"]
    training, evaluating = one_example_texts("layer=BatchNorm2d(3)")
    assert number(numbers_in(training)[0]) > 0.01
    assert numbers_in(evaluating) == ["0"]
    assert one_example_texts("shape=6") == []


def one_example_texts(link):
    return list(modes.one_example_texts(modes.both_modes(scene(link).description, 0)))


@needs_rms_norm
def test_the_modes_of_other_layers():
    e = scene("shape=2,3,4,4").description
    table = modes.modes_table(e, 0, modes.both_modes(e, 0))
    rows = {layer: measured for layer, *measured in table.rows}
    same = ["0", 0, False]  # largest difference, elements in buffers, whether eval() uses running statistics
    batch = rows.pop("BatchNorm2d(3)")
    assert rows == dict.fromkeys(
        [
            "LayerNorm([3, 4, 4])",
            "RMSNorm([3, 4, 4])",
            "InstanceNorm2d(3)",
            "GroupNorm(3, 3)",
            "BatchNorm2d(3, track_running_stats=False)",
        ],
        same,
    )
    assert float(batch[0]) > 0.01
    assert batch[1:] == [7, True]


@pytest.mark.parametrize(
    "layer",
    ["BatchNorm2d(3)", "BatchNorm2d(3).eval()", "BatchNorm2d(3,eps=0.5)", "BatchNorm2d(3,track_running_stats=False)"],
)
def test_the_rows_of_other_layers_do_not_depend_on_the_shown_one(layer):
    e = scene(f"shape=2,3,4,4&layer={layer}").description
    default = scene("shape=2,3,4,4").description
    torch.testing.assert_close(e.x, default.x)
    assert modes.modes_table(e, 0, modes.both_modes(e, 0)) == modes.modes_table(
        default, 0, modes.both_modes(default, 0)
    )


NO_MODES = [
    ("layer=Norm('n c h w -> c')", "a pattern has neither train() nor eval(); choose a layer of torch.nn."),
    ("layer=DimNorm(4)&layout=NCHW", "torch.nn has no DimNorm"),
]


@pytest.mark.parametrize(("link", "words"), NO_MODES)
def test_views_without_modes_are_refused(link, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        modes.both_modes(scene(link).description, 0)


LARGE = [
    ("shape=32,128,768&layer=BatchNorm1d(128)", "the groups that are drawn (elements: 122,880 of 3,145,728)", 0),
    ("shape=64,128,16,16&layer=GroupNorm(8,128)&data=scales", "the groups that are drawn (elements: 24,576 of", 0),
    ("shape=16,8,112,112&layer=InstanceNorm2d(8,track_running_stats=True)&at=9,5,70,3", "the groups that are drawn", 0),
    ("shape=16,8,112,112&layer=LayerNorm([112,112])", "the groups that are drawn", 0),
    ("shape=4,2,512,512&layer=BatchNorm2d(2)&at=3,1,200,7", "a sample of the groups that are drawn (elements: 256,320 of", 0.02),
]  # fmt: skip


@pytest.mark.parametrize(("link", "words", "tolerance"), LARGE)
def test_a_large_x_has_the_outputs_of_torch_where_it_is_drawn(link, words, tolerance):
    view = view_of_link(PAGES["train_and_eval"], {"show": "modes"} | dict(parse_qsl(link)))
    on, near = view.scene, modes.near_drawn(view.scene)
    found = modes.both_modes(near.layer, on.seed)
    x, layer = example(on.data, on.shape, on.axes, on.seed), on.layer.with_(training=True)
    expected = layer.module()(x).detach()
    torch.testing.assert_close(
        near.take(torch.from_numpy(found.train.copy())).float(),
        on.grid.take(expected),
        rtol=1e-5,
        atol=tolerance or 1e-5,
    )
    assert float(near.layer.x[near.at]) == float(x[on.at])
    assert float(found.train[near.at]) == pytest.approx(float(expected[on.at]), abs=tolerance or 1e-5)
    said, note, element = [part.plain_text() for part in page_view(PAGES["train_and_eval"], view).parts[:3]]
    assert said.startswith(f"{layer} ")
    assert words in note
    assert ("are approximate" in note) == near.sampled == bool(tolerance)
    assert element.startswith(f"x[{', '.join(map(str, on.at))}] = ") == layer.tracks


def test_a_refusal_of_one_example_names_the_size_of_all_of_it():
    view = view_of_link(PAGES["train_and_eval"], {"show": "modes", "shape": "100000,128", "layer": "BatchNorm1d(128)"})
    said = [part.text for part in page_view(PAGES["train_and_eval"], view).parts if isinstance(part, Text)]
    assert any("got input size torch.Size([1, 128])" in text for text in said)
