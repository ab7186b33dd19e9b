"""Models of Flax: their norms are listed in both modes, and compared with those of a port to torch."""

from importlib import import_module
from types import ModuleType

import pytest
import torch
from torch import nn

import normviz as nv
from normviz.texts.errors import NormvizError


@pytest.fixture(scope="module")
def flax() -> ModuleType:
    """Imported where it is needed: every process imports all files of tests, and one of them runs these."""
    pytest.importorskip("flax")
    return import_module("tests.measuring.models.flax_modules")


class Port(nn.Module):
    def __init__(self, eps=1e-3):
        super().__init__()
        self.bn, self.norm = nn.BatchNorm1d(6, eps=eps, momentum=0.01), nn.LayerNorm(6, eps=1e-6, bias=False)

    def forward(self, x):
        return self.norm(self.bn(x))


@pytest.mark.parametrize(("train", "layer"), [(True, "BatchNorm1d(8)"), (False, "BatchNorm1d(8).eval()")])
def test_the_norms_of_linen_are_listed_in_both_modes(flax, train, layer):
    X, model = flax.X, flax.OfLinen()
    variables = model.init({"params": flax.jax.random.key(0)}, X, train=False)
    found = nv.norms(model.bind(variables), X, train=train)
    assert [(row.name, row.kind, row.layer, row.reduced) for row in found] == [
        ("bn", "BatchNorm", layer, (0,) if train else ()),
        ("own", "Own", "LayerNorm([8], eps=0.001, bias=False)", (1,)),
    ]
    assert [(row.parameters, row.buffers) for row in found] == [(16, 16), (8, 0)]
    assert found[1].departures == ("It adds eps to the standard deviation, outside the root, not to the variance.",)
    assert found.model_parameters == 6 * 8 + 8 + 24


def test_a_model_of_nnx_is_as_it_was_and_is_compared_with_its_port(flax):
    model = flax.OfNnx()
    found = nv.norms(model, flax.X)
    assert [(row.name, row.layer) for row in found] == [
        ("bn", "BatchNorm1d(6, eps=0.001)"),
        ("blocks.0", "RMSNorm([6], eps=1e-06)"),
    ]
    assert not model.bn.mean[...].any()  # not updated
    assert "call" not in vars(flax.nnx.BatchNorm)["__call__"].__qualname__.split(".")  # hooks are gone
    port = nv.norms(Port(), torch.randn(4, 6))
    assert port.diff(found) == (
        "bn, second model: After two batches in train mode, its running_var differs.",
        "norm / blocks.0, second model: It does not subtract the mean.",
    )


def test_what_cannot_run_says_why(flax):
    with pytest.raises(NormvizError, match=r"^OfLinen has no variables; give model\.bind\(variables\)"):
        nv.norms(flax.OfLinen(), flax.X, train=False)
    found = nv.norms(flax.OfNnx(), flax.X[:, :5])
    assert found.failure.startswith("The forward pass failed in bn (BatchNorm) on an input of shape (4, 5): ")
