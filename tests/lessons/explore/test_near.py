"""Explore, where the toggles show no layer of torch: what it says beside them, and where the text fields of a pattern are."""

from normviz.lessons.explore.page import toggles_of
from normviz.lessons.pages import PAGES

EXPLORE = PAGES["explore"]


def test_it_links_to_the_layers_of_torch_with_the_same_means():
    view = EXPLORE.view("shape=2,4,3,5&layer=Norm('n c h w -> n c','c h w')&seed=3")
    toggles = toggles_of(view)["stats"]
    assert toggles.said == "Not a layer of torch for (N, C, H, W)."
    assert [near.name for near in toggles.near] == ["LayerNorm([3, 5])", "InstanceNorm2d(4)"]
    shown = [EXPLORE.view(near.query.removeprefix("?")).scene for near in toggles.near]
    assert [(str(scene.layer), scene.shape, scene.seed) for scene in shown] == [
        (near.name, view.scene.shape, 3) for near in toggles.near
    ]
    assert toggles_of(EXPLORE.view("layer=BatchNorm2d(4)&shape=2,4,3,5"))["stats"].said == ""


def test_the_fields_of_a_pattern_are_behind_more():
    rows = EXPLORE.input_rows(EXPLORE.view("layer=Norm('n c h w -> n c','c h w')&shape=2,4,3,5"))
    shown = {one.key for row in rows for group in row.groups for one in group}
    behind_more = {one.key for row in rows for group in row.more for one in group}
    assert {"own_stats", "own_params"} <= behind_more - shown
