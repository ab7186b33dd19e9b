"""What the module writes about any element of any layer agrees with torch."""

from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest

from normviz.figures.payload import view_payload
from normviz.scene.scene import Scene
from normviz.scene.view import read
from tests.browser.agreement import assert_arithmetic, assert_readout
from tests.browser.readout import Index, Readout
from tests.scripts.test_texts import DESCRIBE
from tests.support.javascript import evaluate

LAYERS = [
    "?",
    "?layer=BatchNorm2d(3)",
    "?shape=2,4,4,4&layer=GroupNorm(2,4)&params=random",
    "?layer=ChannelsFirstLayerNorm(3)&params=index",
    "?shape=2,3,4,5&layer=Norm('n c h w -> n h w','h w')",
    "?shape=2,4,2,3&layer=Norm('n (g k) h w -> g h',None,sizes={'g':2})",
    "?layer=Norm('n c h w ->','')",
    "?layer=InstanceNorm2d(3)",
    "?shape=3,4,5&layer=LayerNorm(5)&params=random",
    "?shape=3,4,5&layer=RMSNorm([4,5])&data=scales",
    "?shape=2,4,5&layer=BatchNorm1d(4)",
    "?shape=4,6&layer=BatchNorm1d(6).eval()",
    "?shape=4,6&layer=LayerNorm(6,bias=False)",
    "?shape=6&layer=LayerNorm(6)",
    "?shape=2,3,4,3&layout=NHWC&layer=ChannelsFirstLayerNorm(3)",
    "?shape=2,3,2,3,4&layer=BatchNorm3d(3)",
]
CLICKED = [
    "?layer=LayerNorm([4,4])&params=random",
    "?layer=BatchNorm2d(3)&data=scales&params=index",
    "?layer=BatchNorm2d(3).eval()&params=random",
    "?shape=3,4&layer=RMSNorm(4)&params=random",
    "?shape=3,4&layer=LayerNorm(4,elementwise_affine=False)&data=counting",
    "?shape=2,4,3,3&layer=GroupNorm(4,4,eps=0.1)&data=images",
]


def scene_of(query: str) -> Scene:
    return read(dict(parse_qsl(query.removeprefix("?")))).scene


def described(scene: Scene, index: Index) -> Any:
    """The read-out of an element, and the lines of its arithmetic."""
    return evaluate(DESCRIBE, view_payload(scene.description, scene.grid), list(index))


def three_elements(scene: Scene) -> list[Index]:
    """The first element, the last, and one in between."""
    last = int(np.prod(scene.shape)) - 1
    return [tuple(int(i) for i in np.unravel_index(flat, scene.shape)) for flat in (0, last * 3 // 5, last)]


@pytest.mark.parametrize("query", LAYERS)
def test_the_read_out_has_the_values_and_counts_of_the_element(query):
    scene = scene_of(query)
    for index in three_elements(scene):
        assert_readout(Readout(described(scene, index)[0]), scene, index)


@pytest.mark.parametrize("query", CLICKED)
def test_every_line_of_the_arithmetic_is_correct_and_gives_what_torch_gives(query):
    scene = scene_of(query)
    for index in three_elements(scene):
        assert_arithmetic([tuple(line) for line in described(scene, index)[1]], scene, index)
