"""A new layer is one entry of Kind: this adds one, and sees it wherever layers are read, listed, found and explained."""

from dataclasses import replace

import pytest
import torch
from torch import nn

import normviz as nv
from normviz.analysis.comparison import one_of_each_family, suggestions
from normviz.layers import naming
from normviz.layers.catalogue import FAMILIES, KINDS, Argument, Kind, Patterns
from normviz.layers.fit import default_layer, example_for, refit
from normviz.layers.layer import Layer
from normviz.layers.naming import layer_with_axes, torch_layer
from normviz.layers.norm import Norm
from normviz.layers.pasted import typed_layer
from normviz.scene.controls import NAMES, SCENE_CONTROLS, families_for, family_label, with_typed
from normviz.scene.edits import repair, with_family
from normviz.scene.toggles import with_toggle
from normviz.scene.view import View


def rule(given, axes, running):
    """The batch and the last axis share a mean; gamma has an element for each last index."""
    return Patterns(f"{' '.join(axes)} -> {' '.join(axes[1:-1])}", axes[-1])


TOY = Kind(
    "ToyNorm", "ToyNorm",
    (Argument("num_features", "size"), Argument("eps", "eps", 0.5), Argument("affine", "flag", True), Argument("bias", "flag", True)),
    "7", rule, {3: "NLC", 4: "NHWC"}, (2, 4), None, channel_axis=-1, label="Toy", place=8,
)  # fmt: skip


class ToyNorm(nn.Module): ...


FOUND_ONCE = (
    suggestions,
    naming._kinds_on,
    naming._layers_with_axes,
    naming.torch_layer,
)  # what depends on the catalogue, for an x
SHAPE, AXES = (3, 5, 7), ("n", "l", "c")


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setitem(KINDS, "ToyNorm", TOY)
    monkeypatch.setitem(FAMILIES, "ToyNorm", (TOY,))
    for found_once in FOUND_ONCE:
        found_once.cache_clear()
    yield
    for found_once in FOUND_ONCE:
        found_once.cache_clear()


def test_it_is_read_from_text():
    layer = Layer.parse("nn.ToyNorm(7, eps=1e-3)")
    assert str(layer) == "ToyNorm(7, eps=0.001)"
    assert typed_layer("toynorm(7)", AXES) == Layer.make("ToyNorm", 7)
    with pytest.raises(nv.NormvizError, match=r"ToyNorm needs num_features, as in ToyNorm\(7\)\."):
        Layer.parse("ToyNorm()")
    with pytest.raises(nv.NormvizError, match="Did you mean ToyNorm"):
        Layer.parse("ToyNrm(7)")


def test_it_fits_a_tensor():
    assert str(default_layer("ToyNorm", SHAPE, AXES)) == "ToyNorm(7)"
    assert str(refit(Layer.make("ToyNorm", 2, bias=False), SHAPE, AXES)) == "ToyNorm(7, bias=False)"
    assert example_for(Layer.make("ToyNorm", 7)) == (2, 3, 5, 7)


def test_a_comparison_suggests_it():
    assert suggestions(SHAPE, "NLC")[-1] == "ToyNorm(7)"
    assert str(one_of_each_family(SHAPE, "NLC")["ToyNorm"]) == "ToyNorm(7)"


def test_a_norm_with_its_axes_has_its_name():
    norm = Norm("n l c -> l", "c", eps=0.5)
    assert str(layer_with_axes(norm, SHAPE, AXES, norm)) == "ToyNorm(7)"


def test_the_controls_list_it_and_show_its_arguments():
    scene = repair(shape=SHAPE, layout="NLC").scene
    assert families_for(scene)[-2:] == ["ToyNorm", "Norm"]
    assert family_label("ToyNorm") == "Toy"
    assert (
        str(with_family(scene, "ToyNorm").scene.layer) == str(with_typed(scene, "ToyNorm").scene.layer) == "ToyNorm(7)"
    )
    view = View(with_family(scene, "ToyNorm").scene, {})
    inputs = {one.key: one for control in SCENE_CONTROLS for one in control.inputs(view)}
    assert inputs["layer"].widget.options == {
        "ToyNorm(7)": "ToyNorm(7)", "DimNorm": "One axis (dim)", "ToyNorm": "Toy", "Norm": "Your own pattern",
    }  # fmt: skip
    assert {"eps", "affine", "bias"} <= set(inputs)


def test_the_toggles_find_it_and_leave_it():
    scene = repair(shape=SHAPE, layout="NLC", layer=Layer.parse("LayerNorm(7)")).scene
    toy = with_toggle(scene, "mean", "n").scene
    assert str(toy.layer) == "ToyNorm(7)"
    assert str(with_toggle(toy, "gamma", "c").scene.layer) == "ToyNorm(7, affine=False)"
    assert str(with_toggle(toy, "mean", "n").scene.layer) == "LayerNorm([7])"


def test_with_a_module_of_torch_it_has_a_button_and_is_the_layer_of_a_norm(monkeypatch):
    in_torch = replace(TOY, module=ToyNorm)
    monkeypatch.setitem(KINDS, "ToyNorm", in_torch)
    monkeypatch.setitem(FAMILIES, "ToyNorm", (in_torch,))
    buttons = next(iter(NAMES.inputs(View(repair(shape=SHAPE, layout="NLC").scene, {}))))
    assert list(buttons.widget.options.values())[:5] == ["BatchNorm", "LayerNorm", "InstanceNorm", "GroupNorm", "Toy"]
    assert str(torch_layer(Norm("n l c -> l", "c", eps=0.25), SHAPE)) == "ToyNorm(7, eps=0.25)"


def test_it_is_explained():
    x = torch.randn(SHAPE)
    e = nv.explain("ToyNorm(7)", x)
    assert (e.norm.stats, e.counts.statistics, e.counts.parameters) == ("n l c -> l", 5, 14)
    expected = (x - x.mean((0, 2), keepdim=True)) / (x.var((0, 2), keepdim=True, correction=0) + 0.5).sqrt()
    torch.testing.assert_close(e.trace.output, expected)
    assert "ToyNorm(7)" in str(e)
