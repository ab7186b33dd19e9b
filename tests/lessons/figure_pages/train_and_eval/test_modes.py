"""train() and eval(): the outputs, texts and table of both modes, compared with torch's own modules."""

import re

import pytest
import torch
from torch import nn

from normviz.lessons import train_and_eval
from normviz.texts.errors import NormvizError
from tests.browser.readout import number
from tests.lessons.sentences import numbers_in
from tests.scenes import scene

LAYERS_WITH_BUFFERS = [
    "layer=BatchNorm2d(3)", "layer=BatchNorm2d(3).eval()", "layer=BatchNorm2d(3,momentum=None)", "shape=5,4&layer=BatchNorm1d(4)&data=scales",
    "layer=InstanceNorm2d(3,track_running_stats=True)", "shape=2,4,3,2&layout=NHWC&layer=BatchNorm2d(4)",
]  # fmt: skip


@pytest.mark.parametrize("link", LAYERS_WITH_BUFFERS)
def test_a_layer_with_buffers_differs_between_the_modes(link):
    on = scene(link)
    found = train_and_eval.both_modes(on.description, on.seed)
    train, evaluated, difference = train_and_eval.modes_outputs(found)
    assert [panel.key for panel in (train, evaluated, difference)] == ["train", "eval", "gap"]
    assert evaluated.caption == "with running statistics"
    torch.testing.assert_close(difference.values, train.values - evaluated.values)
    module = on.layer.with_(training=True).module()
    torch.testing.assert_close(train.values.float(), module(on.description.x).detach())
    said = numbers_in(train_and_eval.modes_sentence(found))
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


def buffers_around(layer, x):
    """Each buffer before and after the first forward in train mode."""
    module = layer.module()
    before = [value.clone() for value in module.buffers()]
    module(x)
    return zip(before, module.buffers(), strict=True)


@pytest.mark.parametrize(
    "layer",
    ["LayerNorm(4)", "RMSNorm(4)", "GroupNorm(3,3)", "InstanceNorm2d(3)", "BatchNorm2d(3,track_running_stats=False)"],
)
def test_a_layer_without_buffers_gives_the_same_in_both_modes(layer):
    on = scene(f"layer={layer}")
    found = train_and_eval.both_modes(on.description, on.seed)
    assert train_and_eval.modes_sentence(found) == (
        f"`{on.layer}` gives the same output in train() and eval(): it stores nothing between batches."
    )
    assert not list(train_and_eval.modes_outputs(found))[2].values.any()


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
    on = scene(f"layer={layer}")
    panels = list(train_and_eval.modes_outputs(train_and_eval.both_modes(on.description, on.seed)))
    assert [panel.caption for panel in panels[:2]] == [train, evaluated]


def test_equal_outputs_on_one_x_do_not_mean_that_a_layer_stores_nothing():
    on = scene("shape=4,1&layer=BatchNorm1d(1)&values=0,0,0,0").description
    found = train_and_eval.both_modes(on, 0)
    assert not found.differs.any()
    assert train_and_eval.modes_sentence(found).endswith(
        "on this x; on another x it may not, because it stores running statistics."
    )
    assert train_and_eval.both_modes(scene("shape=4,1&layer=BatchNorm1d(1)").description, 0).differs.any()


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
    return list(train_and_eval.one_example_texts(train_and_eval.both_modes(scene(link).description, 0)))


def test_the_modes_of_other_layers():
    e = scene().description
    table = train_and_eval.modes_table(e, 0, train_and_eval.both_modes(e, 0))
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
    e = scene(f"layer={layer}").description
    default = scene().description
    torch.testing.assert_close(e.x, default.x)
    assert train_and_eval.modes_table(e, 0, train_and_eval.both_modes(e, 0)) == train_and_eval.modes_table(
        default, 0, train_and_eval.both_modes(default, 0)
    )


NO_MODES = [
    ("layer=Norm('n c h w -> c')", "a pattern has neither train() nor eval(); choose a layer of torch.nn."),
    ("layer=DimNorm(4)&layout=NCHW", "torch.nn has no DimNorm"),
    ("shape=100000,100000", "too large to compute values here; make it smaller."),
]


@pytest.mark.parametrize(("link", "words"), NO_MODES)
def test_views_without_modes_are_refused(link, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        train_and_eval.both_modes(scene(link).description, 0)
