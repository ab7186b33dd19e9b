"""Models of Flax: their norms are listed in both modes, and compared with those of a port to torch."""

import pytest
import torch
from torch import nn

import normviz as nv
from normviz.texts.errors import NormvizError

jax = pytest.importorskip("jax")
linen, nnx = pytest.importorskip("flax.linen"), pytest.importorskip("flax.nnx")
X = jax.random.normal(jax.random.key(0), (4, 6))


class Own(linen.Module):
    @linen.compact
    def __call__(self, x):
        gamma = self.param("gamma", linen.initializers.ones, (x.shape[-1],))
        return (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-3) * gamma


class OfLinen(linen.Module):
    @linen.compact
    def __call__(self, x, train):
        x = linen.BatchNorm(use_running_average=not train, name="bn")(linen.Dense(8)(x))
        x = linen.Dropout(0.5, deterministic=not train)(x)
        return Own(name="own")(linen.relu(x))


class OfNnx(nnx.Module):
    def __init__(self):
        self.bn = nnx.BatchNorm(6, epsilon=1e-3, rngs=nnx.Rngs(0))
        self.blocks = nnx.List([nnx.RMSNorm(6, rngs=nnx.Rngs(0))])

    def __call__(self, x):
        return self.blocks[0](self.bn(x))


class Port(nn.Module):
    def __init__(self, eps=1e-3):
        super().__init__()
        self.bn, self.norm = nn.BatchNorm1d(6, eps=eps, momentum=0.01), nn.LayerNorm(6, eps=1e-6, bias=False)

    def forward(self, x):
        return self.norm(self.bn(x))


@pytest.mark.parametrize(("train", "layer"), [(True, "BatchNorm1d(8)"), (False, "BatchNorm1d(8).eval()")])
def test_the_norms_of_linen_are_listed_in_both_modes(train, layer):
    model = OfLinen()
    variables = model.init({"params": jax.random.key(0)}, X, train=False)
    found = nv.norms(model.bind(variables), X, train=train)
    assert [(row.name, row.kind, row.layer, row.reduced) for row in found] == [
        ("bn", "BatchNorm", layer, (0,) if train else ()),
        ("own", "Own", "LayerNorm([8], eps=0.001, bias=False)", (1,)),
    ]
    assert [(row.parameters, row.buffers) for row in found] == [(16, 16), (8, 0)]
    assert found[1].departures == ("It adds eps to the standard deviation, outside the root, not to the variance.",)
    assert found.model_parameters == 6 * 8 + 8 + 24


def test_a_model_of_nnx_is_as_it_was_and_is_compared_with_its_port():
    model = OfNnx()
    found = nv.norms(model, X)
    assert [(row.name, row.layer) for row in found] == [
        ("bn", "BatchNorm1d(6, eps=0.001)"),
        ("blocks.0", "RMSNorm([6], eps=1e-06)"),
    ]
    assert not model.bn.mean[...].any()  # not updated
    assert "call" not in vars(nnx.BatchNorm)["__call__"].__qualname__.split(".")  # hooks are gone
    port = nv.norms(Port(), torch.randn(4, 6))
    assert port.diff(found) == (
        "bn, second model: After two batches in train mode, its running_var differs.",
        "norm / blocks.0, second model: It does not subtract the mean.",
    )


def test_what_cannot_run_says_why():
    with pytest.raises(NormvizError, match=r"^OfLinen has no variables; give model\.bind\(variables\)"):
        nv.norms(OfLinen(), X, train=False)
    found = nv.norms(OfNnx(), X[:, :5])
    assert found.failure.startswith("The forward pass failed in bn (BatchNorm) on an input of shape (4, 5): ")
