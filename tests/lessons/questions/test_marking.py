"""The elements that the browser accepts as the answer to "mark all that share" are those that Python finds."""

from typing import Any

import numpy as np
import pytest

from normviz.analysis.description import describe
from normviz.figures.payload import statistics_data
from normviz.layers.layer import Layer
from normviz.layers.sharing import peers, stat_tables
from normviz.scene.grid import roles
from tests.support.javascript import PARTS, evaluate

ANSWER = "Object.assign(Object.create(Marking.prototype), { task: args[0], cells: args[1].map((index) => ({ index })) }).answer"


def task(layer: str, shape: tuple[int, ...], at: tuple[int, ...]) -> dict[str, Any]:
    """What the browser gets."""
    e = describe(Layer.parse(layer), shape)
    drawn = {"shape": shape, "names": e.axes, **vars(roles(e.axes))}
    return drawn | {"axes": statistics_data(e).axes, "at": at}


@pytest.mark.parametrize(
    ("layer", "shape", "at"),
    [
        ("BatchNorm1d(3)", (2, 3), (0, 1)),
        ("LayerNorm(3)", (2, 3), (0, 1)),
        ("InstanceNorm2d(3)", (2, 3, 2, 2), (1, 2, 0, 1)),
        ("GroupNorm(2, 4)", (2, 4, 2, 2), (1, 3, 0, 1)),
        ("BatchNorm1d(2)", (3, 2, 4), (2, 1, 3)),
        ("BatchNorm3d(2)", (2, 2, 2, 1, 2), (1, 0, 1, 0, 1)),
    ],
)
def test_the_answer_are_the_peers_that_python_finds(layer, shape, at):
    found = evaluate(ANSWER, task(layer, shape, at), list(np.ndindex(shape)), entry=PARTS / "marking.ts")
    assert found == [list(index) for index in peers(stat_tables(describe(layer, shape).norm, shape), at)]
