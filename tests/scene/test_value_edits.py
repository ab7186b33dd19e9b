"""Edits of the values, the window and the selected element, and any sequence of edits."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from normviz.analysis.checks import SEEDS
from normviz.analysis.forward import run_module
from normviz.layers.catalogue import FAMILIES
from normviz.scene import edits
from normviz.scene.controls import LAYOUTS
from normviz.scene.edits import with_fields
from normviz.scene.scene import Scene
from normviz.scene.view import read
from tests.support.needs import cases_in_torch, needs_rms_norm
from tests.support.scenes import done, scene


def test_an_edited_value_stays_and_is_selected():
    before = scene("shape=2,3&data=counting")
    after = done(edits.with_value(before, (1, 0), -2.5))
    assert after.values == (0, 1, 2, -2.5, 4, 5)
    assert after.at == (1, 0)
    assert after.description.x.tolist() == [[0, 1, 2], [-2.5, 4, 5]]
    twice = done(edits.with_value(after, (0, 2), 7))
    assert twice.values == (0, 1, 7, -2.5, 4, 5)


def test_an_edit_keeps_the_other_values():
    before = scene("shape=2,3&seed=5")
    after = done(edits.with_value(before, (0, 0), 1))
    assert after.description.x.flatten()[1:].tolist() == before.description.x.flatten()[1:].tolist()
    assert all(len(word) <= 5 for word in after.query()["values"].split(","))


def test_an_edit_that_is_taken_back_leaves_the_example():
    before = scene("shape=2,3&seed=5")
    value = float(before.description.x[1, 0])
    edited = done(edits.with_value(before, (1, 0), 7))
    again = done(edits.with_value(edited, (1, 0), value))
    assert again.values is None
    assert again == done(edits.with_selected(before, (1, 0)))


LAYERS = [
    "LayerNorm(3)",
    "RMSNorm(3)",
    "BatchNorm1d(3)",
    "BatchNorm1d(3).eval()",
    "LayerNorm(3,elementwise_affine=False)",
]


@cases_in_torch
@pytest.mark.parametrize("layer", LAYERS)
def test_one_gamma_and_one_beta_replace_those_of_the_layer(layer):
    before = scene(f"shape=4,3&layer={layer}&params=random")
    e = done(edits.with_scale(before, 1.8, -0.5)).description
    gamma, beta = (1, 0) if "affine" in layer else (1.8, 0 if "RMS" in layer else -0.5)
    torch.testing.assert_close(e.trace.output, gamma * before.description.trace.normalized + beta)
    torch.testing.assert_close(e.trace.output, run_module(e.layer, e.x, e.values))


@needs_rms_norm
def test_one_gamma_leaves_beta_and_both_go_with_the_layer():
    before = scene("shape=4,3&layer=LayerNorm(3)&params=index")
    after = done(edits.with_scale(before, 2, None))
    assert after.description.values.beta.equal(before.description.values.beta)
    assert after.description.values.gamma.tolist() == [2, 2, 2]
    assert done(edits.with_scale(after, None, None)) == before
    for other in (
        edits.with_family(after, "RMSNorm"),
        edits.with_shape(after, (5, 3)),
        edits.with_arguments(after, eps=1),
    ):
        assert not done(other).scaled
    assert done(edits.with_value(after, (0, 0), 1)).scaled


@pytest.mark.parametrize("text", ["9", "-3.5", "x", "nan"])
def test_a_gamma_that_is_not_valid_gets_a_message_and_the_layer_keeps_its_own(text):
    reading = read({"shape": "4,3", "layer": "LayerNorm(3)", "gamma": text})
    assert reading.problem == f"gamma={text!r} must be a number from -3 to 3."
    assert not reading.scene.scaled


def test_128_elements_can_be_edited_and_129_cannot():
    assert done(edits.with_value(scene("shape=8,16"), (7, 15), 1)).values[-1] == 1
    reading = edits.with_value(scene("shape=3,43"), (0, 0), 1)
    assert reading.problem == "only tensors of up to 128 elements can be edited; make the tensor smaller."
    assert reading.scene == scene("shape=3,43")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e13, 1e300, 10**400])
def test_a_value_that_is_too_large_changes_nothing(value):
    before = done(edits.with_value(scene("shape=2,2"), (0, 0), 5))
    reading = edits.with_value(before, (0, 1), value)
    assert reading.problem == "values contains a number outside -1e+12 to 1e+12."
    assert reading.scene == before


@pytest.mark.parametrize("index", [(), (0,), (0, 0, 0), (2, 0), (0, 2), (10**30, 0)])
def test_an_edit_outside_the_tensor_changes_nothing(index):
    reading = edits.with_value(scene("shape=2,2"), index, 1)
    assert f"index {index} is not an element of a tensor of shape (2, 2)" in reading.problem
    assert reading.scene == scene("shape=2,2")


def test_the_selected_element_moves_with_the_slices():
    before = scene("shape=2,64,4,4&layer=BatchNorm2d(64)&at=1,1,0,3")
    after = done(edits.with_start(before, (0, 32, 0, 0)))
    assert after.grid.indices[1] == (32, 33, 34, 63)
    assert after.at == (1, 33, 0, 3)
    assert done(edits.with_start(after, (0, 0, 0, 0))) == before
    assert done(edits.with_start(scene("shape=2,64,4,4&at=1,63,0,3"), (0, 32, 0, 0))).at == (1, 63, 0, 3)
    assert done(edits.with_start(scene("shape=2,64,4,4&at=none"), (0, 32, 0, 0))).at is None


@pytest.mark.parametrize(("first", "shown"), [(63, 60), (2**41, 60), (-1, 0)])
def test_slices_beyond_the_tensor_are_the_last_ones(first, shown):
    assert done(edits.with_start(scene("shape=2,64,4,4"), (0, first, 0, 0))).grid.start == (0, shown, 0, 0)


def test_another_element_or_none_can_be_selected():
    assert done(edits.with_selected(scene(), (0, 1, 2, 3))).at == (0, 1, 2, 3)
    assert done(edits.with_selected(scene(), None)).at is None
    reading = edits.with_selected(scene(), (0, 1, 2, 5))
    assert "at=(0, 1, 2, 5) is not an element" in reading.problem
    assert reading.scene == scene()


FIELDS = [("data", "images"), ("params", "index"), ("seed", 9)]


@pytest.mark.parametrize(("name", "value"), FIELDS)
def test_a_changed_field_leaves_the_others(name, value):
    before = scene("layer=BatchNorm2d(3)&at=0,0,0,0")
    after = done(with_fields(before, **{name: value}))
    assert getattr(after, name) == value
    assert with_fields(after, **{name: getattr(before, name)}).scene == before


FLAGS = st.sampled_from(["affine", "elementwise_affine", "bias", "track_running_stats", "training"])
STEPS = st.one_of(
    st.builds(lambda layout: ("with_layout", layout), st.sampled_from([*LAYOUTS, "NHWC", "AB", "ND1D2", "?"])),
    st.builds(lambda axis, size: ("with_size", axis, size), st.sampled_from("ncdhwlz"), st.integers(1, 5) | st.just(2**40)),
    st.builds(lambda family: ("with_family", family), st.sampled_from([*FAMILIES, "Norm"])),
    st.builds(lambda stats, params: ("with_pattern", stats, params), st.sampled_from(["n c h w -> n", "n d ->", "n l c -> c", "x"]), st.sampled_from([None, "", "n", "c"])),
    st.builds(lambda text: ("with_eps", text), st.sampled_from(["0", "0.1", "None", "x"])),
    st.builds(lambda start: ("with_start", start), st.lists(st.integers(-1, 2**40), max_size=4).map(tuple)),
    st.builds(lambda at: ("with_selected", at), st.none() | st.lists(st.integers(-1, 4), max_size=5).map(tuple)),
    st.builds(lambda at, value: ("with_value", at, value), st.lists(st.integers(-1, 4), max_size=4).map(tuple), st.floats()),
    st.builds(lambda name, value: ("with_arguments", {name: value}), FLAGS, st.booleans()),
    st.builds(lambda groups: ("with_arguments", {"num_groups": groups}), st.integers(-1, 4)),
    st.builds(lambda seed: ("with_fields", {"seed": seed}), st.integers(0, SEEDS[-1])),
)  # fmt: skip


@settings(max_examples=3 * settings.default.max_examples)
@given(st.lists(STEPS, max_size=6))
def test_any_sequence_of_edits_gives_valid_scenes(steps):
    now = scene()
    for name, *arguments in steps:
        named = arguments.pop() if isinstance(arguments[-1], dict) else {}
        reading = getattr(edits, name)(now, *arguments, **named)
        now = reading.scene
        assert isinstance(now, Scene)
        assert read(now.query()).scene == now
        assert reading.problem is None or 20 < len(reading.problem) < 700
