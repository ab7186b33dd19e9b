import inspect
import re

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from normviz import explain
from normviz.analysis.description import describe
from normviz.code.programs import FLAVORS, code
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError, listed
from tests.code.programs.run_programs import with_random_values
from tests.support.strategies import explained_or_reject, layers_that_fit, norms

SCRATCH = ("torch-scratch", "numpy", "einops")
FIVE = ("torch", *SCRATCH, "loops")

BY_HAND = [
    (
        "LayerNorm([3, 4, 5])",
        "torch",
        """
import torch
from torch import nn

x = torch.randn(2, 3, 4, 5)
layer = nn.LayerNorm([3, 4, 5])
y = layer(x)
""",
    ),
    (
        "LayerNorm([3, 4, 5])",
        "torch-scratch",
        """
import torch


def normalize(x, gamma, beta):
    mean = x.mean(dim=(1, 2, 3), keepdim=True)
    var = (x - mean).square().mean(dim=(1, 2, 3), keepdim=True)
    normalized = (x - mean) / torch.sqrt(var + 1e-05)
    return normalized * gamma + beta


x = torch.randn(2, 3, 4, 5)
gamma = torch.ones((3, 4, 5))
beta = torch.zeros((3, 4, 5))
y = normalize(x, gamma, beta)
""",
    ),
    (
        "BatchNorm2d(3).eval()",
        "numpy",
        """
import numpy as np


def normalize(x, running_mean, running_var, gamma, beta):
    mean, var = running_mean.reshape(1, 3, 1, 1), running_var.reshape(1, 3, 1, 1)
    normalized = (x - mean) / np.sqrt(var + 1e-05)
    return normalized * gamma.reshape(1, 3, 1, 1) + beta.reshape(1, 3, 1, 1)


x = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
running_mean = np.zeros((3,))
running_var = np.ones((3,))
gamma = np.ones((3,))
beta = np.zeros((3,))
y = normalize(x, running_mean, running_var, gamma, beta)
""",
    ),
    (
        "GroupNorm(3, 3, affine=False)",
        "einops",
        """
from einops import reduce, repeat
import torch


def normalize(x):
    mean = repeat(reduce(x, "n (g k) h w -> n g", "mean", g=3), "n g -> n (g k) h w", k=1, h=4, w=5)
    var = repeat(reduce((x - mean) ** 2, "n (g k) h w -> n g", "mean", g=3), "n g -> n (g k) h w", k=1, h=4, w=5)
    normalized = (x - mean) / torch.sqrt(var + 1e-05)
    return normalized


x = torch.randn(2, 3, 4, 5)
y = normalize(x)
""",
    ),
    (
        "LayerNorm([4, 5])",
        "loops",
        """
N, C, H, W = 2, 3, 4, 5
for n in range(N):
    for c in range(C):
        normalize([x[n, c, h, w] for h in range(H) for w in range(W)])
# then gamma and beta: one for each h w
""",
    ),
    (
        "GroupNorm(3, 3)",
        "loops",
        """
N, G, K, H, W = 2, 3, 1, 4, 5
for n in range(N):
    for g in range(G):
        normalize([x[n, g * K + k, h, w] for k in range(K) for h in range(H) for w in range(W)])
# then gamma and beta: one for each c
""",
    ),
    (
        "InstanceNorm2d(3, track_running_stats=True).eval()",
        "loops",
        """
N, C, H, W = 2, 3, 4, 5
for c in range(C):
    normalize([x[n, c, h, w] for n in range(N) for h in range(H) for w in range(W)], running_mean[c], running_var[c])
""",
    ),
    (
        Norm("n c h w ->", "", bias=False),
        "loops",
        """
N, C, H, W = 2, 3, 4, 5
normalize([x[n, c, h, w] for n in range(N) for c in range(C) for h in range(H) for w in range(W)])
# then gamma: one scalar
""",
    ),
]


@pytest.mark.parametrize(("layer", "flavor", "text"), BY_HAND, ids=[f"{b[0]} {b[1]}" for b in BY_HAND])
def test_the_code_by_hand(layer, flavor, text):
    assert explain(layer, (2, 3, 4, 5)).code(flavor) == text.strip()


def test_the_loops_of_a_known_article():
    """The loops of a well-known article: batch norm over (seq_len, hidden_size) loops, layer norm over (batch_size, seq_len)."""
    batch = explain(Norm("k i j -> i j"), (7, 5, 3)).code("loops").splitlines()
    assert batch == [
        "K, I, J = 7, 5, 3",
        "for i in range(I):",
        "    for j in range(J):",
        "        normalize([x[k, i, j] for k in range(K)])",
    ]
    layer = explain("LayerNorm(3)", (7, 5, 3), layout="IJK").code("loops").splitlines()
    assert layer[-2] == "        normalize([x[i, j, k] for k in range(K)])"


def run(text, **names):
    names.setdefault("__name__", "__code__")
    exec(compile(text, "<code>", "exec"), names)
    return names


def assert_code_gives_the_output(e, flavor):
    made = run(code(e, flavor))
    assert made["y"].shape == e.shape
    values, convert = e.layer_values(), np.asarray if flavor == "numpy" else torch.as_tensor
    given = {"x": convert(e.x)}
    for name in inspect.signature(made["normalize"]).parameters:
        if name != "x":
            given[name] = convert(getattr(values, name)).reshape(made[name].shape)
    for name, shape in (("gamma", e.counts.gamma_shape), ("beta", e.counts.beta_shape)):
        assert (name in given) == (shape is not None)
        if shape is not None:
            assert tuple(made[name].shape) == shape
    found = np.asarray(made["normalize"](**given))
    assert found.dtype == np.float64
    assert np.allclose(found, e.trace.output.numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("flavor", SCRATCH)
@given(layers_that_fit(), st.integers(0, 100))
def test_the_code_of_any_layer_gives_its_output(flavor, drawn, seed):
    layer, shape = drawn
    assert_code_gives_the_output(explained_or_reject(layer, shape, seed), flavor)


@pytest.mark.parametrize("flavor", SCRATCH)
@given(norms() | norms(running=True), st.integers(0, 100))
def test_the_code_of_any_norm_gives_its_output(flavor, drawn, seed):
    assert_code_gives_the_output(with_random_values(*drawn, dtype=torch.float64, seed=seed), flavor)


@given(layers_that_fit())
def test_the_torch_call_makes_the_layer(drawn):
    layer, shape = drawn
    e = explained_or_reject(layer, shape)
    assume(e.torch_layer is not None)
    made = run(code(e, "torch"))
    expected = e.torch_layer.module()
    if e.torch_layer.kind.channels_last:  # the call moves the channels
        made["layer"].load_state_dict(expected.state_dict())
        torch.testing.assert_close(made["y"], expected(made["x"]))
        return
    assert str(made["layer"]) == str(expected)
    assert made["layer"].training == expected.training
    assert Layer.of(made["layer"]) == Layer.of(expected)
    assert sum(p.numel() for p in made["layer"].parameters()) == e.counts.parameters
    assert made["y"].shape == shape


class Indices:
    """An x whose elements are their own indices."""

    def __getitem__(self, index):
        return index if isinstance(index, tuple) else (index,)


def assert_loops_visit_the_groups(e):
    calls = []
    recorder = {"x": Indices(), "normalize": lambda elements, *stats: calls.append((elements, stats))}
    running = Indices() if e.norm.pattern.right else ()
    run(code(e, "loops"), **recorder, running_mean=running, running_var=running)
    assert len(calls) == e.counts.statistics
    sizes = e.norm.axis_sizes(e.shape)
    for number, (elements, stats) in enumerate(calls):
        assert elements == [tuple(index) for index in np.argwhere(e.stat_ids == number).tolist()]
        kept = np.unravel_index(number, [sizes[name] for name in e.norm.pattern.right]) if e.norm.pattern.right else ()
        assert stats == ((kept, kept) if e.norm.running else ())


@given(layers_that_fit())
def test_the_loops_of_any_layer_visit_its_groups_in_order(drawn):
    layer, shape = drawn
    assert_loops_visit_the_groups(explained_or_reject(layer, shape))


@given(st.booleans().flatmap(norms))
def test_the_loops_of_any_norm_visit_its_groups_in_order(drawn):
    assert_loops_visit_the_groups(describe(*drawn))


@pytest.mark.parametrize(
    "name", ["x", "range", "normalize", "e", "torch", "np", "nn", "gamma", "beta", "mean", "einops", "dim"]
)
def test_any_axis_name_works_in_the_code(name):
    norm = Norm(f"{name} (g k) -> {name} g", f"{name} c", sizes={"g": 2})
    assert_loops_visit_the_groups(describe(norm, (3, 4)))
    for flavor in SCRATCH:
        assert_code_gives_the_output(with_random_values(norm, (3, 4), dtype=torch.float64), flavor)


SEVERAL_LAYERS = [
    (Norm("n c h w -> n", "c h w"), "LayerNorm([3, 4, 5])"),
    (Norm("n c h w -> n h w", "c"), None),
    (Norm("n c h w -> c", "c"), "BatchNorm2d(3)"),
    (Norm("n c h w -> n c"), "LayerNorm([4, 5], elementwise_affine=False)"),
    ("ChannelsFirstLayerNorm(3)", None),
    ("DimNorm(5)", "LayerNorm([5], eps=1e-12)"),
    ("DimNorm(5, dim=0)", None),
]


@pytest.mark.parametrize(("layer", "call"), SEVERAL_LAYERS)
def test_the_torch_call_of_a_norm_is_the_layer_that_does_the_same(layer, call):
    e = explain(layer, (2, 3, 4, 5))
    if call:
        assert f"layer = nn.{call}" in code(e, "torch")
    else:
        message = (
            f"No layer of torch.nn has these patterns ({e.norm}). Use the 'torch-scratch' code, "
            "or move the reduced axes to the end and use LayerNorm."
        )
        with pytest.raises(NormvizError, match=re.escape(message)):
            code(e, "torch")


@pytest.mark.parametrize(
    ("flavor", "meant"), [("", ""), ("jax", "flax"), ("Torch", "torch"), (None, ""), (3, ""), (["torch"], "torch")]
)
def test_an_unknown_flavor_raises_an_error_with_the_known_ones(flavor, meant):
    message = f"is not a flavor of code{f'. Did you mean {meant}?' if meant else f'; choose {listed(FLAVORS)}.'}"
    assert set(FIVE) <= set(FLAVORS)
    with pytest.raises(NormvizError, match=re.escape(message)):
        explain("LayerNorm(3)", (2, 3)).code(flavor)


@pytest.mark.parametrize("flavor", FIVE)
@pytest.mark.parametrize("text", ["LayerNorm([100000, 100000])", "GroupNorm(10, 100000)"])
def test_a_huge_shape_has_code(text, flavor):
    assert "100000" in explain(text, (10**5, 10**5, 10**5)).code(flavor)


@given(layers_that_fit())
def test_lines_of_code_are_short(drawn):
    layer, shape = drawn
    assume(len(shape) < 5)
    e = explained_or_reject(layer, shape)
    for flavor in ("torch-scratch", "numpy"):
        assert max(map(len, code(e, flavor).splitlines())) <= 100
