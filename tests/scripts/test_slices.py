"""The slices of a large tensor that the reader moves, without new values from torch."""

import json

import pytest

from normviz.analysis.description import describe
from normviz.figures.payload import view_payload
from normviz.layers.axes import layout_text, parse_layout
from normviz.layers.fit import default_layer
from normviz.scene.edits import with_start
from normviz.scene.grid import grid
from normviz.scene.scene import Scene
from tests.scripts.test_texts import DESCRIBE, view
from tests.support.javascript import evaluate
from tests.support.strategies import random_tensor

SHAPES = [
    ((2, 64, 4, 4), "NCHW"),
    ((8, 56, 56, 96), "NHWC"),
    ((32, 128, 768), "NLC"),
    ((2**40,), "D"),
    ((1, 7, 300, 2), "NCHW"),
]


@pytest.mark.parametrize(("shape", "layout"), SHAPES)
def test_the_browser_chooses_the_slices_that_python_chooses(shape, layout):
    axes = parse_layout(layout, len(shape))
    data = {"shape": shape, "indices": grid(shape, axes).indices}
    starts = [[size * share // 4 for size in shape] for share in range(5)]
    moved = evaluate("args[1].map((start) => movedGrid(args[0], start).indices)", data, starts)
    assert moved == [json.loads(json.dumps(grid(shape, axes, tuple(start)).indices)) for start in starts]


MOVES = [  # the shape, the drawn slices, the selected element, and where the reader moves the slices
    ((2, 64, 4, 4), (0, 0, 0, 0), (1, 2, 0, 3), (0, 8, 0, 0)),
    ((2, 64, 4, 4), (0, 8, 0, 0), (1, 10, 0, 3), (0, 41, 0, 0)),
    ((2, 64, 4, 4), (0, 8, 0, 0), (1, 63, 0, 3), (0, 0, 0, 0)),  # the last index is always drawn
    ((2, 64, 4, 4), (0, 0, 0, 0), (1, 40, 0, 3), (0, 41, 0, 0)),  # an element that is not drawn stays
    ((2, 64, 4, 4), (0, 0, 0, 0), None, (0, 63, 0, 0)),
    ((32, 128, 768), (0, 0, 0), (1, 2, 3), (9, 60, 500)),
]


@pytest.mark.parametrize(("shape", "start", "at", "wanted"), MOVES)
def test_the_selected_element_keeps_its_place_as_in_python(shape, start, at, wanted):
    axes = parse_layout("NCHW" if len(shape) == 4 else "NLC", len(shape))
    scene = Scene(shape, layout_text(axes), default_layer("LayerNorm", shape, axes), at=at, start=start)
    there = with_start(scene, wanted).scene
    found = evaluate("afterMove(...args)", {"shape": shape, "indices": scene.grid.indices}, wanted, at)
    assert (found["grid"]["indices"], found["at"]) == tuple(json.loads(json.dumps([there.grid.indices, there.at])))


LAYERS = ["BatchNorm2d(64)", "LayerNorm([64, 4, 4])", "GroupNorm(16, 64)", "InstanceNorm2d(64, affine=True)"]


@pytest.mark.parametrize("layer", LAYERS)
def test_the_groups_of_other_slices_follow_without_python(layer):
    e, start = describe(layer, (2, 64, 4, 4)), (0, 41, 0, 0)
    first, second = (view_payload(e, grid(e.shape, e.axes, at)) for at in ((), start))
    groups = "(({ stats, params }) => [stats.tables, params.tables])"
    moved = evaluate(f"{groups}(decodeData(args[0], movedGrid(args[0].grid, args[1])))", first, start)
    assert moved == evaluate(f"{groups}(decodeData(args[0]))", second)


MOVED = DESCRIBE.replace("decodeData(args[0])", "decodeData(args[0], movedGrid(args[0].grid, [0, 8, 0, 0]))")


def test_an_element_whose_values_were_not_sent_is_described_by_its_groups():
    assert MOVED != DESCRIBE
    data = view(describe("BatchNorm2d(64)", random_tensor((2, 64, 4, 4), 0)))
    text = evaluate(MOVED.replace("arithmeticLines(fake, args[1])", "null"), data, [1, 2, 0, 3])[0]
    assert text == (
        "x[1, 10, 0, 3] · shares its mean and variance with 31 others · shares gamma[10] and beta[10] with 31 others"
    )


def test_an_element_whose_values_were_sent_keeps_them():
    data = view(describe("BatchNorm2d(64)", random_tensor((2, 64, 4, 4), 0)))
    last, lines = evaluate(MOVED, data, [1, 3, 0, 3])
    assert [last, lines] == evaluate(DESCRIBE, data, [1, 3, 0, 3])
    assert "x[1, 63, 0, 3] = " in last
