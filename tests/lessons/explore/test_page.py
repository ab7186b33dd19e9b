"""What Explore shows: the first view, unusual layers, warnings, notes, and the code."""

import pytest

from normviz import explain
from normviz.code.programs import FLAVOR_LABELS, FLAVORS, code
from normviz.texts.errors import NormvizError
from normviz.texts.messages import format_difference
from tests.support.driver import (
    check,
    expected,
    figure_data,
    open_explore,
    query,
    scene,
    sentence_text,
    set_control,
    shown_counts,
)
from tests.support.opened import opened
from tests.support.pages import open_page
from tests.support.shown import captions, notes, problems, tabs


def test_without_a_query_explore_shows_a_layer_norm():
    app = open_explore()
    check(app)
    counts = explain("LayerNorm([4, 3, 5])", (2, 4, 3, 5)).counts
    assert sentence_text(app).startswith("`LayerNorm([4, 3, 5])` on (2, 4, 3, 5): ")
    gammas = counts.parameters // 2
    assert shown_counts(app) == [counts.statistics, counts.statistics, counts.elements_per_statistic, gammas, gammas]
    assert query(app) == {}
    assert not problems(app)
    assert figure_data(app)["at"] == [1, 3, 0, 4]


ODD = [
    "shape=1", "shape=6&layer=DimNorm(6)", f"shape={','.join('1' * 12)}", f"shape={','.join('2' * 12)}", "shape=2,2,2&layout=ND1D2",
    "shape=2,3,4&layout=XYZ", "shape=2,2&layer=Norm('a1 a2 -> a1','a2')", "shape=2,4&layer=Norm('n (g k) -> k','g',sizes={'g':2})",
    "shape=4&layer=Norm('(g k) ->','',sizes={'g':2})", "layer=Norm('n c h w -> c','c',running=True)", "layer=SyncBatchNorm(3)",
    "layer=Norm('n c h w -> n',center=False,eps=None)", "shape=2,3&layer=LayerNorm(3,eps=0)&values=1,1,1,2,2,2", "at=none",
    "shape=2,4,4,3&layout=NHWC&layer=GroupNorm(2,4,affine=False)", "layer=LayerNorm([2,3,4,4])", "shape=4,4,3&layout=HWC&data=images",
    "layer=BatchNorm2d(3,momentum=None).eval()&params=random", "shape=3,4,4&layer=InstanceNorm2d(3,affine=True)&params=index",
]  # fmt: skip


@pytest.mark.parametrize(("opens", "link"), [(opened, link) for link in ODD] + [(open_page, link) for link in ODD[::6]])
def test_unusual_valid_addresses_work(opens, link):
    app = opens("explore", link)
    assert not app.exception
    assert not problems(app)
    assert sentence_text(app) == expected(scene(app))
    app = set_control(app, "family", "Norm")
    check(app)
    assert not problems(app)
    app = set_control(app, "layout", "NLC")
    assert not app.exception
    assert scene(app).layout == "NLC"
    assert sentence_text(app) == expected(scene(app))


def test_a_warning_is_shown_once():
    app = open_explore("shape=2,3,4,4&layer=GroupNorm(2,3)")
    assert len(problems(app)) == 1
    app = set_control(app, "size_h", 5)
    assert not problems(app)
    assert query(app) == {"shape": "2,3,5,4", "layer": "GroupNorm(1,3)"}


def test_a_note_explains_a_channel_axis_that_is_not_c():
    (note,) = notes(open_explore("shape=2,4,3&layout=NLC&layer=BatchNorm1d(4)"))
    assert "BatchNorm1d uses axis 1 of x as the channel axis; in NLC that is L (size 4)" in note
    assert not notes(open_explore("shape=2,4,3&layer=BatchNorm1d(4)"))


def test_every_flavor_of_code_has_a_tab():
    app = open_explore()
    e = scene(app).description
    found = tabs(app)
    assert "torch" in found.pop("torch, Keras and Flax")
    assert found == {FLAVOR_LABELS[flavor]: code(e, flavor) for flavor in FLAVORS}


def test_the_torch_tab_shows_the_error_if_torch_has_no_such_layer():
    app = open_explore("layer=Norm('n c h w -> h','w')")
    e = scene(app).description
    with pytest.raises(NormvizError) as refusal:
        code(e, "torch")
    assert tabs(app)["torch.nn"] == str(refusal.value)
    assert not any("matches torch" in caption for caption in captions(app))


@pytest.mark.parametrize(
    "layer", ["LayerNorm([3,4,4])", "BatchNorm2d(3).eval()", "GroupNorm(3,3)", "InstanceNorm2d(3)", "RMSNorm(4)"]
)
def test_the_caption_states_the_largest_difference_from_torch(layer):
    app = open_explore(f"layer={layer}")
    (text,) = [caption for caption in captions(app) if "matches" in caption]
    e = scene(app).description
    assert e.agreement < 1e-5
    assert text == f"The output matches torch.nn.{e.layer.name}: largest difference {format_difference(e.agreement)}"
