"""The toggles of a file: torch's numbers for each position, within 150 kB."""

import json
from base64 import b64decode
from dataclasses import replace
from functools import cache
from itertools import chain, combinations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from normviz.export.document import compressed
from normviz.export.playable import search, views_data
from normviz.layers.norm import Norm
from normviz.lessons.pages import PAGES
from normviz.parts.html import data
from normviz.scene.toggles import GAMMA, MEAN, toggle_rows
from tests.export.test_packing import unpacked
from tests.support.needs import needs_rms_norm

EXPLORE = PAGES["explore"]
LARGEST = 150_000  # bytes
EPS, SMALLEST = 1e-5, torch.finfo(torch.float32).eps  # of LayerNorm, and of RMSNorm


@cache
def searched(query="", **choices):
    return search(EXPLORE, EXPLORE.view(query), **choices)


@cache
def file_of(query="", **choices):
    """Each view of a file as its data, with its scene."""
    found = searched(query, **choices).playable_views()
    packed = json.loads(data(views_data(EXPLORE, found, "")))
    views = [unpacked(view, packed["pool"]) for view in packed["views"]]
    return [(one.page_view.view.scene, view) for one, view in zip(found.values(), views, strict=True)]


def position(scene):
    """The axes of the mean, the axes of gamma, the number of groups, and whether there is a mean: what the toggles of a scene show."""
    rows, norm = toggle_rows(scene), scene.shape_description.norm
    groups = max(one.groups for one in rows[MEAN].toggles)
    mean, gamma = ("".join(one.axis for one in rows[row].toggles if one.pressed) for row in (MEAN, GAMMA))
    return mean, gamma, groups, norm.center


def subsets(letters):
    return [
        "".join(one) for one in chain.from_iterable(combinations(letters, size) for size in range(len(letters) + 1))
    ]


FILES = [("", "nchw", (1, 2, 4)), ("shape=2,5,4", "nlc", (1, 2, 4)), ("shape=4,6", "nd", (1, 2, 3, 6))]


@needs_rms_norm
@pytest.mark.parametrize(("query", "axes", "_groups"), FILES)
def test_a_file_has_each_position_with_no_gamma_one_for_each_channel_and_one_for_each_normalized_element(
    query, axes, _groups
):
    shown = [position(scene) for scene, _view in file_of(query)]
    found = {
        (mean, gamma, center) for mean, gamma, groups, center in shown if groups in (0, 1)
    }  # one group is all channels
    channel = "d" if axes == "nd" else "c"
    for mean in subsets(axes):
        for center in (True, False):
            assert {(mean, gamma, center) for gamma in ("", channel, mean)} <= found


@pytest.mark.parametrize(("query", "axes", "groups"), FILES[:2])
def test_a_file_has_each_number_of_groups_with_each_position_of_the_other_axes(query, axes, groups):
    found = {position(scene)[:3] for scene, _view in file_of(query)}
    for number in groups:
        for others in subsets(axes.replace("c", "")):
            mean = "".join(sorted([*others, *("c" if number == 1 else "")], key=axes.index))
            assert {(mean, "", number), (mean, "c", number)} <= found


def array(packed):
    return np.frombuffer(b64decode(packed["data"]), "<f4").reshape(packed["shape"])


def by_torch(x, scene):
    """Normalized, from the position of the toggles alone."""
    mean, _gamma, groups, center = position(scene)
    over, shape = [scene.axes.index(axis) for axis in mean if not (axis in "cd" and groups)], x.shape
    if groups:
        channels = scene.axes.index("c" if "c" in scene.axes else "d")
        x = x.unflatten(channels, (groups, -1))
        over = [axis + (axis > channels) for axis in over] + [channels + 1]
    middle = x.mean(over, keepdim=True) if center and over else x if center else torch.zeros(1)
    square = (x - middle).square()
    var = square.mean(over, keepdim=True) if over else square
    return ((x - middle) / (var + (EPS if center else SMALLEST)).sqrt()).reshape(shape)


@pytest.mark.parametrize(("query", "_axes", "_groups"), FILES)
def test_the_numbers_of_each_position_are_those_of_torch(query, _axes, _groups):
    toggled = set(map(str, (one.view.scene.layer for one in searched(query).toggled.values())))
    checked = 0
    for scene, view in file_of(query):
        if str(scene.layer) in toggled:
            (figure,) = view["figures"]
            values = {panel["key"]: array(panel["z"]) for panel in figure["panels"] if panel["z"]}
            expected = by_torch(torch.from_numpy(values["x"].copy()).double(), scene)
            assert_allclose(values["normalized"], expected, atol=2e-5, err_msg=str(scene.layer))
            assert_allclose(values["output"], expected, atol=2e-5)  # gamma is 1 and beta is 0 at first
            checked += 1
    assert checked == len(searched(query).toggled) > 10


def test_a_toggle_leads_to_the_view_of_its_position_and_gamma_follows_the_normalized_axes():
    views = file_of()
    for scene, view in views:
        before = position(scene)
        for press, to in view["toggles"].items():
            row, axis, _by = press.split()
            after = position(views[to][0])
            if row == GAMMA:
                assert (set(after[1]), after[0]) == (set(before[1]) ^ {axis}, before[0])
            elif before[2] == after[2]:
                assert set(after[0]) == set(before[0]) ^ {axis}
                assert after[1] == (before[1] if before[1] in ("", "c") else after[0])
            assert after[3] == before[3]
    assert {press for _scene, view in views[:1] for press in view["toggles"]} >= {f"mean {axis} 1" for axis in "nchw"}


def test_what_only_toggles_lead_to_has_no_code():
    found = searched()
    patterns = [
        scene for scene, view in file_of() if not any(key.startswith("details") for key, _html in view["parts"])
    ]
    assert {str(scene.layer) for scene in patterns} == {str(one.view.scene.layer) for one in found.toggled.values()}
    assert any(isinstance(scene.layer, Norm) for scene in patterns)


@pytest.mark.parametrize("query", ["", "layout=NCDHW", "shape=2,12,3,2"])
def test_the_positions_of_the_toggles_make_a_file_at_most_150_kb_larger(query):
    def size(found):
        return len(compressed(data(views_data(EXPLORE, found.playable_views(), "")).encode()))

    whole = searched(query)
    assert size(whole) - size(replace(whole, toggled={})) <= LARGEST


def test_toggles_for_which_there_is_no_room_are_at_rest():
    assert searched("shape=8,12,8,8").toggled == {}
    assert {press for _scene, view in file_of("shape=8,12,8,8")[:1] for press in view["toggles"]} == {"mean c 1"}
