"""The catalogue with an older torch, whose GroupNorm has no ``bias``."""

import re
from dataclasses import replace
from inspect import signature

import pytest
import torch
from torch import nn

from normviz.layers.catalogue import FAMILIES, GROUP_ARGUMENTS, KINDS, as_installed
from normviz.layers.layer import Layer
from normviz.layers.naming import torch_layer
from normviz.layers.norm import Norm
from normviz.scene.controls import SCENE_CONTROLS
from normviz.scene.edits import repair
from normviz.scene.view import View
from normviz.texts.errors import NormvizError


class OlderGroupNorm(nn.GroupNorm):
    def __init__(self, num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None):
        super().__init__(num_groups, num_channels, eps, affine, device, dtype)


@pytest.fixture
def older(monkeypatch):
    kind = as_installed(replace(KINDS["GroupNorm"], arguments=GROUP_ARGUMENTS, module=OlderGroupNorm))
    monkeypatch.setitem(KINDS, "GroupNorm", kind)
    monkeypatch.setitem(FAMILIES, "GroupNorm", (kind,))
    return kind


def message(name="bias=False"):
    version = ".".join(torch.__version__.split(".")[:2])
    return re.escape(
        f"torch {version} has no {name} of GroupNorm; install a newer torch, or describe the layer with a Norm."
    )


def test_every_argument_of_the_catalogue_is_one_of_the_installed_torch():
    for kind in KINDS.values():
        if kind.module is not None:
            assert {argument.name for argument in kind.arguments if argument.in_torch} <= set(
                signature(kind.module).parameters
            )
            assert not set(kind.missing) & set(signature(kind.module).parameters)


def test_an_argument_that_torch_has_not_is_no_argument(older):
    assert older.missing == ("bias",)
    assert [argument.name for argument in older.arguments] == ["num_groups", "num_channels", "eps", "affine"]


def test_the_layer_is_made_without_it(older):
    layer = Layer.make("GroupNorm", 2, 6)
    assert str(layer) == "GroupNorm(2, 6)"
    assert isinstance(layer.module(), OlderGroupNorm)
    assert layer.norm(("n", "c", "l")).bias
    assert not Layer.make("GroupNorm", 2, 6, affine=False).norm(("n", "c", "l")).bias
    assert Layer.of(OlderGroupNorm(2, 6)) == layer


@pytest.mark.parametrize("bias", [True, False])
def test_the_error_names_the_version_of_torch(older, bias):
    with pytest.raises(NormvizError, match=message(f"bias={bias}")):
        Layer.make("GroupNorm", 2, 6, bias=bias)


def test_a_module_whose_beta_was_removed_is_refused(older):
    module = OlderGroupNorm(2, 6)
    module.bias = None
    with pytest.raises(NormvizError, match=message()):
        Layer.of(module)


def test_a_pattern_gets_no_layer_that_torch_cannot_make(older):
    patterns = {"params": "c", "sizes": {"g": 2}}
    assert torch_layer(Norm("n (g k) h -> n g", **patterns), (2, 6, 4)) == Layer.make("GroupNorm", 2, 6)
    assert torch_layer(Norm("n (g k) h -> n g", bias=False, **patterns), (2, 6, 4)) is None


def test_no_control_offers_it(older):
    def inputs(*layer):
        view = View(repair(shape=(2, 6, 3, 5), layer=Layer.make(*layer)).scene, {})
        return {one.key for control in SCENE_CONTROLS for one in control.inputs(view)}

    assert "bias" in inputs("LayerNorm", 5)
    assert "affine" in inputs("GroupNorm", 3, 6)
    assert "bias" not in inputs("GroupNorm", 3, 6)
