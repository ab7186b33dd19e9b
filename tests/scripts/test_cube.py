"""The cube that the browser draws: which bricks are filled, which of their sides are seen, and in which order."""

import pytest

from normviz.analysis.description import describe
from normviz.figures.payload import MOST_DRAWN, compare_payload
from normviz.layers.norm import Norm
from normviz.scene.grid import grid
from tests.support.javascript import evaluate

SIDES = """(() => {
  const data = decodeData(args[0]), cube = Object.create(Cube.prototype);
  Object.assign(cube, { cache: new Map(), title: {}, face: (kind, c, s, n) => [n, c, s].join() });
  cube.set(data.panels.find(({ row }) => row === "cube"), data);
  const drawn = cube.bricks(data.at).matchAll(/nv-fill nv-(\\w+)( nv-here)?" d="([\\d,]+)"/g);
  return [...drawn].map(([, kind, here, brick]) => [kind, !!here, brick.split(",").map(Number)]);
})()"""


def sides(pattern, shape, at):
    """The sides that are drawn: "top", "right" or "left"; whether it is of the selected element; and its brick at n, c, s."""
    e = describe(Norm(pattern), shape)
    data = compare_payload([e, e], grid(e.shape, e.axes), at=at)
    return [(kind, here, tuple(brick)) for kind, here, brick in evaluate(SIDES, data)]


FILLED = [
    # a pattern on (2, 3), with (1, 2) selected; the sides that are seen, by example and channel
    ("n c -> n", {(1, 0): ["left", "top"], (1, 1): ["left", "top"], (1, 2): ["left", "right", "top"]}),
    ("n c -> c", {(0, 2): ["right", "top"], (1, 2): ["left", "right", "top"]}),
    ("n c -> n c", {(1, 2): ["left", "right", "top"]}),
    (
        "n c ->",
        {(0, 0): ["top"], (0, 1): ["top"], (0, 2): ["right", "top"]}
        | {(1, 0): ["left", "top"], (1, 1): ["left", "top"], (1, 2): ["left", "right", "top"]},
    ),
]


@pytest.mark.parametrize(("pattern", "expected"), FILLED)
def test_the_bricks_of_the_group_are_filled_and_their_hidden_sides_are_not(pattern, expected):
    found: dict[tuple[int, int], list[str]] = {}
    for kind, here, (n, c, s) in sides(pattern, (2, 3), (1, 2)):
        assert s == 0
        assert here == ((n, c) == (1, 2))
        found.setdefault((n, c), []).append(kind)
    assert {brick: sorted(kinds) for brick, kinds in found.items()} == expected


def test_only_the_part_of_a_long_axis_with_the_element_is_drawn():
    assert MOST_DRAWN == (6, 10, 16)
    assert {brick for _kind, _here, brick in sides("n c l -> n c l", (8, 3, 20), (7, 2, 19))} == {(5, 2, 15)}
    assert {brick for _kind, _here, brick in sides("n c -> n c", (8, 12), (7, 3))} == {(5, 3, 0)}


def test_nearer_bricks_are_drawn_later():
    order = [brick for _kind, _here, brick in sides("n c h w -> h", (3, 4, 2, 2), (1, 2, 0, 1))]
    assert len(set(order)) == 3 * 4 * 2 - 2 * 3 * 1  # the innermost bricks have no visible side
    for number, (n, c, s) in enumerate(order):
        for nearer in ((n + 1, c, s), (n, c + 1, s), (n, c, s - 1)):
            assert nearer not in order[:number]
