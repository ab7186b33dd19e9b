"""The toy of the front page: which groups it colors, which layers it calls the nearest, and the view of Explore that shows the same. JavaScript, in node."""

from itertools import product
from urllib.parse import parse_qs

import pytest

from normviz.layers import sharing
from normviz.layers.layer import Layer
from normviz.lessons.home.page import FIRST, TENSOR, toy_data
from normviz.scene.toggles import Standing, norm_of, standing_of
from tests.support.javascript import LESSONS, PARTS, evaluate
from tests.support.needs import needs_rms_norm

HOME, PANEL = LESSONS / "home" / "home.ts", PARTS / "sharing_panel.ts"
SHAPE, AXES = TENSOR


def test_the_colors_are_the_groups_of_python():
    for shape in (SHAPE, (3, 6, 2, 2)):
        positions = list(product((0, 1), (0, 1, 2), (0, 1), (0, 1)))
        found = evaluate("args[0].map((means) => groupsOf(means, args[1]))", positions, shape, entry=PANEL)
        for means, groups in zip(positions, found, strict=True):
            norm = norm_of(Standing(means, (0,) * 4), AXES)
            assert groups == sharing.ids(sharing.stat_tables(norm, shape)).flatten().tolist(), means


NEAREST = [
    # means over, own gammas for, whether the means are the same, and the layers
    ((0, 0, 1, 1), (0, 1, 1, 1), True, ["LayerNorm([3, 5])", "InstanceNorm2d(4)"]),
    ((1, 0, 1, 1), (0, 0, 0, 1), True, ["BatchNorm2d(4)"]),
    ((1, 0, 0, 1), (0, 1, 0, 0), False, ["BatchNorm2d(4)"]),
    ((0, 2, 0, 1), (0, 1, 0, 0), False, ["GroupNorm(2, 4)"]),
]


@pytest.mark.parametrize(("means", "gamma", "same", "layers"), NEAREST)
def test_without_a_name_it_offers_the_layers_with_the_same_means_or_the_nearest(means, gamma, same, layers):
    layers_of_toy, standing = toy_data(*TENSOR, FIRST).layers, {"means": means, "gamma": gamma, "center": True}
    found = evaluate("nearest(args[0], args[1])", layers_of_toy, standing, entry=HOME)
    assert (found["isSame"], [layer["name"] for layer in found["layers"]]) == (same, layers)


@needs_rms_norm
def test_with_mean_squares_only_layers_that_subtract_no_mean_have_the_same():
    standing = {"means": (0, 1, 1, 1), "gamma": (0, 1, 0, 0), "center": False}
    found = evaluate("nearest(args[0], args[1])", toy_data(*TENSOR, FIRST).layers, standing, entry=HOME)
    assert [layer["name"] for layer in found["layers"]] == ["RMSNorm([4, 3, 5])"]


def test_explore_shows_the_same_position():
    data = toy_data(*TENSOR, FIRST)
    positions = [
        Standing(means, gamma, center)
        for means in ((1, 0, 0, 0), (0, 2, 1, 0), (0, 0, 0, 0), (1, 1, 1, 1))
        for gamma in ((0, 0, 0, 0), (1, 0, 1, 0))
        for center in (True, False)
    ]
    queries = evaluate("args[1].map((one) => queryOf(args[0], one))", data, positions, entry=HOME)
    for standing, query in zip(positions, queries, strict=True):
        given = {name: values[0] for name, values in parse_qs(query[1:]).items()}
        assert given["shape"] == ",".join(map(str, SHAPE))
        assert standing_of(Layer.parse(given["layer"]), SHAPE, AXES) == standing
    assert (
        evaluate("queryOf(args[0], args[1], args[2])", data, FIRST, "LayerNorm([3, 5])", entry=HOME)
        == "?shape=2,4,3,5&layer=LayerNorm(%5B3%2C5%5D)"
    )
