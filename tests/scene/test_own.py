"""A reader's own x and module in a scene: they are used where they fit, and no link holds a large x."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from normviz.analysis.forward import Values
from normviz.layers.layer import Layer
from normviz.scene import edits
from normviz.scene.controls import MORE_ABOUT_X
from normviz.scene.edits import with_fields
from normviz.scene.scene import OWN, Own
from normviz.scene.view import View, read
from tests.support.needs import cases_in_torch

X = torch.arange(144.0, dtype=torch.float64).reshape(2, 3, 4, 6)


def scene_on(x=X, layer=None):
    """A LayerNorm on the reader's own x, or their own module on it."""
    layer = layer or nn.LayerNorm(x.shape[-1], dtype=x.dtype)
    own = Own(x, Layer.of(layer), Values.of(layer))
    scene = read({"shape": ",".join(map(str, x.shape)), "layer": str(own.layer)}).scene
    return replace(scene, own=own, data=OWN, params=OWN)


def options_of(scene, key):
    inputs = [shown for control in MORE_ABOUT_X for shown in control.inputs(View(scene, {}))]
    (shown,) = (shown for shown in inputs if shown.key == key)
    return shown, list(shown.widget.options)


def test_a_scene_shows_the_readers_own_tensors():
    layer = nn.LayerNorm(6, dtype=torch.float64)
    layer.weight.data.fill_(3)
    e = scene_on(layer=layer).description
    assert e.x is X
    torch.testing.assert_close(e.trace.output, layer(X).detach())
    assert e.agreement < 1e-12


@cases_in_torch
@pytest.mark.parametrize("family", ["BatchNorm", "GroupNorm", "RMSNorm", "Norm"])
def test_x_stays_when_the_layer_changes(family):
    scene = edits.with_family(scene_on(), family).scene
    assert scene.description.x is X
    assert scene.description.trace.output.dtype == torch.float64
    assert scene.shown_params == "init"
    back = edits.with_family(scene, "LayerNorm").scene
    assert with_fields(back, layer=Layer.parse("LayerNorm(6)")).scene.shown_params == OWN


@pytest.mark.parametrize(
    ("arguments", "own"),
    [({"eps": 0.5}, True), ({"bias": False}, False), ({"elementwise_affine": False}, False), ({"normalized_shape": [4, 6]}, False)],
)  # fmt: skip
def test_a_modules_values_are_used_if_they_have_the_right_shape(arguments, own):
    scene = edits.with_arguments(scene_on(), **arguments).scene
    assert (scene.shown_params == OWN) == own
    assert scene.description.trace.output.shape == X.shape


def test_a_module_keeps_its_running_statistics_in_both_modes():
    layer = nn.BatchNorm2d(3, dtype=torch.float64).eval()
    layer.running_mean.fill_(7)
    scene = scene_on(layer=layer)
    assert scene.description.trace.mean.flatten()[0] == 7
    assert edits.with_arguments(scene, training=True).scene.description.values.running_mean[0] == 7


def test_an_x_of_another_shape_is_the_example_until_the_shape_returns():
    wider = edits.with_size(scene_on(), "n", 3).scene
    assert (wider.shown_data, wider.description.x.shape[0]) == ("normal", 3)
    assert edits.with_size(wider, "n", 2).scene.description.x is X


def test_the_reader_can_leave_the_own_x_and_return_to_it():
    shown, options = options_of(scene_on(), "data")
    assert (shown.value, options[0]) == (OWN, OWN)
    other = shown.changed(View(scene_on(), {}), "counting").scene
    shown, options = options_of(other, "data")
    assert (shown.value, options[0]) == ("counting", OWN)
    assert shown.changed(View(other, {}), OWN).scene.description.x is X


def test_the_reader_can_leave_the_modules_gamma_and_return_to_it():
    shown, _ = options_of(scene_on(), "params")
    other = shown.changed(View(scene_on(), {}), "index").scene
    assert (shown.value, other.description.values.gamma.tolist()) == (OWN, [0, 1, 2, 3, 4, 5])
    assert options_of(other, "params")[0].changed(View(other, {}), OWN).scene.shown_params == OWN


def test_a_scene_without_own_tensors_does_not_offer_them():
    scene = read({}).scene
    assert OWN not in [*options_of(scene, "data")[1], *options_of(scene, "params")[1]]
    assert with_fields(scene, data=OWN).problem


def test_an_edited_x_keeps_its_dtype_and_its_other_values():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float16)
    edited = edits.with_value(scene_on(x), (0, 1), 9).scene
    assert edited.description.x.dtype == torch.float16
    assert edited.description.x.tolist() == [[1, 9], [3, 4]]
    assert options_of(edited, "data")[0].changed(View(edited, {}), OWN).scene.description.x is x


def test_the_link_holds_the_values_of_a_small_x():
    small = scene_on(torch.tensor([[1.0, 2.5], [3.0, 4.0]]))
    assert small.query()["values"] == "1,2.5,3,4"
    assert set(small.query()) == {"shape", "layer", "values"}


@pytest.mark.parametrize("x", [X, torch.tensor([[1.0, float("nan")]]), torch.tensor([[1.0, 1e30]])])
def test_a_link_without_the_values_opens_with_an_example(x):
    query = scene_on(x).query()
    assert not {"values", "data", "params"} & set(query)
    assert read(query).problem is None
