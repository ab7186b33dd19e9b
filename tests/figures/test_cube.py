"""The cube of a still picture: which bricks are filled, and that the browser draws the same."""

import re
from itertools import pairwise

import numpy as np
import pytest

from normviz.analysis.explanation import describe
from normviz.api import open as view_of
from normviz.figures import theme
from normviz.figures.cube import HIGH, MOST, Box, Projected, filled, labels
from normviz.figures.payload.compare import compare_payload
from normviz.layers.norm import Norm
from normviz.layers.sharing import stat_tables
from normviz.scene.grid import grid
from tests.figures.colours import mixed, rgb
from tests.figures.linked.javascript import evaluate

PAIR = (2, 3)  # n, c: one position
NEAREST = [
    # a pattern on (2, 3), at (1, 2); the sides that are seen, by example and channel
    ("n c -> n", {(1, 0): ["left", "top"], (1, 1): ["left", "top"], (1, 2): ["left", "right", "top"]}),
    ("n c -> c", {(0, 2): ["right", "top"], (1, 2): ["left", "right", "top"]}),
    ("n c -> n c", {(1, 2): ["left", "right", "top"]}),
    (
        "n c ->",
        {(0, 0): ["top"], (0, 1): ["top"], (0, 2): ["right", "top"]}
        | {(1, 0): ["left", "top"], (1, 1): ["left", "top"], (1, 2): ["left", "right", "top"]},
    ),
]


def faces_of(pattern, shape, at):
    e = describe(Norm(pattern), shape)
    drawing = grid(e.shape, e.axes)
    box = Box.of(e.axes, drawing.extent)
    return box, filled(box, stat_tables(e.norm, e.shape, drawing.window), at)


@pytest.mark.parametrize(("pattern", "wanted"), NEAREST)
def test_the_bricks_of_the_group_are_filled_and_hidden_sides_are_not(pattern, wanted):
    _, faces = faces_of(pattern, PAIR, (1, 2))
    found: dict[tuple[int, int], list[str]] = {}
    for _, kind, here, (n, c, s) in faces:
        assert s == 0
        assert here == ((n, c) == (1, 2))
        found.setdefault((n, c), []).append(kind)
    assert {brick: sorted(kinds) for brick, kinds in found.items()} == wanted


def test_of_a_long_axis_the_part_with_the_element_is_drawn():
    box, faces = faces_of("n c h w -> n c h w", (8, 12, 5, 5), (7, 3, 4, 4))
    assert box.whole == (8, 12, 25)
    assert box.drawn == MOST
    assert {face.brick for face in faces} == {(5, 3, 15)}


def test_what_is_nearer_is_drawn_later():
    _, faces = faces_of("n c h w -> h", (3, 4, 2, 2), (1, 2, 0, 1))
    order = [face.brick for face in faces]
    assert len(set(order)) == 3 * 4 * 2 - 2 * 3 * 1  # the innermost are seen from no side
    for number, (n, c, s) in enumerate(order):
        for nearer in ((n + 1, c, s), (n, c + 1, s), (n, c, s - 1)):
            assert nearer not in order[:number]


CASES = [
    (["LayerNorm([3, 4, 4])", "BatchNorm2d(3)", "InstanceNorm2d(3)"], (2, 3, 4, 4), (1, 2, 0, 3)),
    ([Norm("n (k g) h w -> n g", "c", sizes={"g": 3}), "BatchNorm2d(6)"], (2, 6, 4, 4), (1, 5, 2, 1)),
    (["LayerNorm(3)", "BatchNorm1d(3)"], (2, 3), (0, 1)),
    (["LayerNorm(12)", "GroupNorm(3, 12)"], (8, 12), (7, 3)),
    (["BatchNorm2d(16)", "GroupNorm(4, 16)"], (9, 16, 8, 8), (8, 15, 7, 7)),
    (["BatchNorm2d(3)", "LayerNorm(4)"], (2, 3, 4, 4), None),
]
DRAWN = """(async () => {
  const [data, number, room, high] = args, cube = Object.create(Cube.prototype), figure = data.panels.filter(({row}) => row === "cube")[number];
  Object.assign(cube, {view: {active: data.at}, title: {}, body: {style: {}}, svg: {setAttribute() {}}});
  cube.set(figure, data);
  await cube.draw(room, high);
  return [cube.svg.innerHTML, cube.body.style.height];
})()"""
PATH = re.compile(r'<path class="([^"]+)" d="([^"]+)"/>')
TEXT = re.compile(r'<text x="([\d.-]+)" y="([\d.-]+)" text-anchor="(\w+)">([^<]*)</text>')


def points(path):
    return [tuple(map(float, point.split(","))) for point in re.findall(r"[\d.-]+,[\d.-]+", path)]


def near(one, other):
    np.testing.assert_allclose(sorted(one), sorted(other), atol=0.11)  # the browser's have one decimal, or the next one


@pytest.mark.parametrize("room", [300.0, 432.0])
@pytest.mark.parametrize(("layers", "shape", "at"), CASES)
def test_the_browser_draws_the_same(layers, shape, at, room):
    explanations = [describe(layer, shape) for layer in layers]
    drawing = grid(shape, explanations[0].axes)
    data = compare_payload(explanations, drawing, at=at)
    for number, e in enumerate(explanations):
        svg, height = evaluate(DRAWN, data, number, room, HIGH)
        paths = [(kind, points(path)) for kind, path in PATH.findall(svg)]
        on = Projected(Box.of(e.axes, drawing.extent), room)
        assert float(height.removesuffix("px")) == pytest.approx(on.height)
        near(
            [p for kind, path in paths if kind == "nv-side" for p in path],
            [p for kind in ("top", "right", "left") for p in on.side(kind)],
        )
        (wire,) = (path for kind, path in paths if kind == "nv-wire")
        near(wire, [end for line in on.wires() for a, b in pairwise(line) for end in (a, b)])
        faces = [] if at is None else filled(on.box, stat_tables(e.norm, e.shape, drawing.window), at)
        for kind in ("top", "right", "left"):
            for here in (True, False):
                name = f"nv-fill nv-{kind}{' nv-here' if here else ''}"
                near(
                    [tuple(np.ravel(path)) for drawn, path in paths if drawn == name],
                    [
                        tuple(np.ravel(on.side(kind, face.brick)))
                        for face in faces
                        if (face.kind, face.here) == (kind, here)
                    ],
                )
        ends = {"start": "left", "end": "right"}
        said = [(float(x), float(y) - 4, ends[anchor], name) for x, y, anchor, name in TEXT.findall(svg)]
        ours = [(x, y, anchor, name) for (x, y), anchor, name in labels(on, on.box.names(e.axes))]
        assert [text[2:] for text in said] == [text[2:] for text in ours]
        near([text[:2] for text in said], [(x, y) for x, y, *_ in ours])


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_picture_of_a_comparison_has_a_cube_a_layer_inside_of_it(name):
    colours = theme(name)
    figure = view_of("/compare?layers=BatchNorm2d(3);LayerNorm([3,4,4]);InstanceNorm2d(3)&at=1,2,0,3").figure(name)
    cubes = {shape.name for shape in figure.layout.shapes} - {None}
    assert cubes == {"cube0", "cube1", "cube2"}
    for number in range(3):
        shapes = [shape for shape in figure.layout.shapes if shape.name == f"cube{number}"]
        fills = {shape.fillcolor for shape in shapes}
        tones = mixed(colours.group, "#ffffff", 0.3), rgb(colours.group), mixed(colours.group, "#000000", 0.18)
        solid = {fill for fill in fills if fill and fill.startswith("#")}
        assert colours.accent in solid
        assert len(solid) == 4
        for tone in tones:
            assert any(np.allclose(rgb(fill), tone, atol=1 / 255) for fill in solid)
        corners = np.array([point for shape in shapes for point in points(shape.path)])
        assert corners.min() >= 0
        assert corners.max() <= 1
        middle = (corners[:, 0].min() + corners[:, 0].max()) / 2
        assert number / 3 < middle < (number + 1) / 3


def test_without_an_element_nothing_is_filled_and_a_hidden_row_is_left_out():
    open_one = view_of("/compare?layers=BatchNorm2d(3);LayerNorm([3,4,4])&at=none").figure()
    assert {shape.fillcolor for shape in open_one.layout.shapes if shape.name} == {None, "rgba(223,227,234,0.25)"}
    hidden = view_of("/compare?layers=BatchNorm2d(3);LayerNorm([3,4,4])&hide=cube").figure()
    assert {shape.name for shape in hidden.layout.shapes} == {None}
    assert hidden.layout.height < open_one.layout.height
