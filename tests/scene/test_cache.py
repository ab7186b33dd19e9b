"""Descriptions are computed once, cached within limits, and shared."""

import gc
import weakref
from dataclasses import fields, replace

import pytest
import torch

from normviz.lessons.pages import PAGES
from normviz.parts.part import flat
from normviz.scene import scene as scenes
from normviz.scene.view import read
from tests.support.scenes import scene

LARGE = [f"shape=2,{channels},40,40" for channels in range(3, 3 + scenes.MOST_LARGE + 1)]


def test_scenes_that_differ_in_the_selected_element_share_an_explanation():
    one, other = scene("layer=BatchNorm2d(3)&at=0,0,0,0"), scene("layer=BatchNorm2d(3)&at=1,1,1,1")
    assert one.description is other.description
    assert one.shape_description is other.shape_description


@pytest.mark.parametrize(
    "field", [{"seed": 7}, {"data": "counting"}, {"params": "random"}, {"values": tuple(map(float, range(6)))}]
)
def test_scenes_with_other_values_have_other_explanations(field):
    one = scene("shape=2,3&layer=LayerNorm(3)")
    assert replace(one, **field).description is not one.description


@pytest.mark.parametrize(("one", "other"), [("1", "1.0"), ("0", "-0.0")])
def test_equal_norms_have_the_same_text(one, other):
    norms = [scene(f"shape=2,3&layer=Norm('n d -> n',eps={eps})").description.norm for eps in (one, other)]
    assert norms[0] == norms[1]
    assert repr(norms[0]) == repr(norms[1])


def test_an_error_is_raised_again():
    first, again = (read({"shape": "2,3", "layer": "GroupNorm(2,3)"}).problem for _ in range(2))
    assert first == again
    assert "num_groups" in first


def test_only_the_last_large_tensors_stay_in_memory_while_views_of_all_are_open():
    opened = [scene(query) for query in LARGE]
    held = [weakref.ref(one.description.trace.output) for one in opened]
    gc.collect()
    assert [tensor() is None for tensor in held] == [True] + [False] * scenes.MOST_LARGE
    assert opened[0].description.trace.output.shape == opened[0].shape


def test_all_small_explanations_together_take_at_most_64_mb():
    """All that is cached: the small ones with every step take tens of MB, the large ones a few hundred."""
    e = scene("shape=4,4,16,16").description
    kept = [e.x, *(getattr(e.trace, field.name) for field in fields(e.trace))]
    size = sum(tensor.nbytes for tensor in kept if isinstance(tensor, torch.Tensor)) + e.stat_ids.nbytes
    assert e.x.numel() == scenes.SMALL
    assert size * scenes.MOST_SMALL < 64 * 2**20


def tensors(e):
    parts = [e, e.trace, e.layer_values()]
    return {
        (number, field.name): value.clone()
        for number, part in enumerate(parts)
        for field in fields(part)
        if isinstance(value := getattr(part, field.name), torch.Tensor)
    }


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("layer", ["LayerNorm([3,4,4])", "BatchNorm2d(3)", "BatchNorm2d(3).eval()", "GroupNorm(3,3)"])
def test_no_page_writes_into_a_shared_explanation(page, layer):
    view = PAGES[page].view(f"layer={layer}&params=random")
    e = view.scene.description
    before = tensors(e)
    assert before
    first, second = (list(flat(PAGES[page].parts(view))) for _ in range(2))
    assert [type(part) for part in first] == [type(part) for part in second]
    after = tensors(e)
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
