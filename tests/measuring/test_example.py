"""The smallest x on which a function differs: as a value, and as a test to paste."""

import re
from functools import cache

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv

MOST_CALLS = 600


def rows(x):
    return F.layer_norm(x, x.shape[-1:])


def clipped(x):
    return rows(x).clamp(-1, 1)


def other_eps(x):
    return F.layer_norm(x, x.shape[-1:], eps=1e-6)


def cut(x):
    return torch.cat([rows(x[:, :16]), x[:, 16:]], 1)


def ignores_strides(x):
    flat = torch.as_strided(x, x.shape, (*x.stride()[:-1], 1))
    return (flat - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()


def overflows(x):
    return x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()


def root_mean_square(x):
    return (x.float() / (x.float().pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()).to(x.dtype)


def in_numpy(divisor):
    def norm(x, gamma, beta):
        centered = x - x.mean(1, keepdims=True)
        return centered / np.sqrt((centered**2).sum(1, keepdims=True) / (x.shape[1] - divisor) + 1e-5) * gamma + beta

    return norm


class Own(nn.GroupNorm):
    def forward(self, x):
        return F.group_norm(x, self.num_groups) * (1 + self.weight[:, None]) + self.bias[:, None]


def with_a_cache(right):
    return lambda x, gamma: (rows(x) * (gamma if right else -gamma), None)


NUMPY = {"gamma": np.ones(6), "beta": np.zeros(6)}
CASES = {
    # a wrong function, a right one, x, the layer, and other arguments of check
    "clips": (clipped, rows, (4, 6), "LayerNorm(6)", {}),
    "another eps": (other_eps, rows, (4, 6), "LayerNorm(6)", {}),
    "wrong for another size": (cut, rows, (4, 16), "LayerNorm(16)", {}),
    "strides": (ignores_strides, rows, (4, 6), "LayerNorm(6)", {}),
    "half precision": (overflows, root_mean_square, 400 * torch.ones(2, 8).half(), "RMSNorm(8, eps=1e-6)", {}),
    "NumPy": (in_numpy(1), in_numpy(0), (5, 6), "LayerNorm(6)", {"params": NUMPY}),
    "a module": (Own(2, 4), nn.GroupNorm(2, 4), (2, 4, 5), "GroupNorm(2, 4)", {}),
    "a tuple": (
        with_a_cache(False),
        with_a_cache(True),
        (2, 6),
        "LayerNorm(6, bias=False)",
        {"params": {"gamma": torch.ones(6)}},
    ),
    "many features": (clipped, rows, (4, 300), "LayerNorm(300)", {}),
    # none is right: the state in the test is that of a layer with running statistics
    "in eval mode": (nn.BatchNorm1d(4).eval(), None, (3, 4), "BatchNorm1d(4)", {}),
}


@cache
def example_of(name):
    fn, _right, x, like, more = CASES[name]
    return nv.check(fn, x, like, **more).example


def run(example, fn):
    """The pasted test, which calls this function."""
    called = re.search(r"got = (?:torch\.func\.functional_call\()?(\w+)", str(example))[1]
    pasted: dict[str, object] = {called: fn}
    exec(str(example), pasted)
    (test,) = [value for name, value in pasted.items() if name.startswith("test_")]
    test()


def fast_variance(x):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / (x.square().mean(-1, keepdim=True) - mean.square() + 1e-5).sqrt()


def two_passes(x):
    centered = x - x.mean(-1, keepdim=True)
    return centered / (centered.square().mean(-1, keepdim=True) + 1e-5).sqrt()


@pytest.mark.parametrize(("mean", "spread"), [(1e3, 1.0), (1e5, 0.02), (1e6, 0.3)])
def test_far_from_zero_the_pasted_test_passes_for_right_code_with_its_rounding(mean, spread):
    x = mean + spread * torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    example = nv.check(fast_variance, x, "LayerNorm(6, elementwise_affine=False)").example
    with pytest.raises(AssertionError):
        run(example, fast_variance)
    for right in (rows, two_passes):
        run(example, right)


def test_the_pasted_test_has_the_numbers_of_the_example():
    x = 1e5 + 0.02 * torch.randn(3, 5, generator=torch.Generator().manual_seed(0))
    example = nv.check(fast_variance, x, "LayerNorm(5, elementwise_affine=False)").example
    seen = []
    run(example, lambda x: (seen.append(x), example.expected)[1])
    assert torch.equal(seen[0], example.x)


@pytest.mark.parametrize("name", CASES)
def test_the_pasted_test_fails_for_the_function_and_passes_for_a_right_one(name):
    fn, right, *_ = CASES[name]
    with pytest.raises(AssertionError):
        run(example_of(name), fn)
    if right is not None:
        run(example_of(name), right)


def test_the_example_is_small_and_round():
    example = nv.check(clipped, torch.randn(7, 6, generator=torch.Generator().manual_seed(0)), "LayerNorm(6)").example
    assert example.x.shape == (1, 6)
    assert set(example.x.unique().tolist()) <= {0.0, 1.0}
    assert torch.equal(example.got, clipped(example.x))
    assert torch.allclose(example.expected, rows(example.x))
    assert example.to_dict()["x"] == example.x.tolist()


def test_values_that_cannot_be_0_or_1_have_few_digits():
    def wrong_for_other_numbers(x):
        are_distinct = torch.tensor([[float(len({0.0, *row.tolist()}) == 4)] for row in x])
        return rows(x) + are_distinct

    (row,) = nv.check(wrong_for_other_numbers, (4, 3), "LayerNorm(3)").example.x.tolist()
    assert len({0.0, *row}) == 4
    assert all(len(f"{value:.6g}".lstrip("-0.")) == 1 for value in row)


def test_a_gamma_that_cannot_be_1_is_an_integer():
    gamma = {"gamma": torch.ones(3)}
    example = nv.check(lambda x, gamma: rows(x) * gamma.abs(), (4, 3), "LayerNorm(3, bias=False)", params=gamma).example
    values = re.search(r"gamma=torch\.tensor\(\[(.*?)\]", str(example))[1].split(", ")
    assert any(float(value) < 0 for value in values)
    assert all(float(value).is_integer() for value in values)


def test_an_example_of_many_elements_has_one_output():
    text = str(example_of("many features"))
    assert "x = torch.zeros((1, 300))" in text
    assert len(text.splitlines()) < 14


def test_the_text_of_a_test():
    fn = lambda x, gamma: rows(x) * (1 + gamma)  # noqa: E731
    example = nv.check(fn, (4, 2), "LayerNorm(2, bias=False)", params={"gamma": torch.ones(2)}).example
    assert str(example) == "\n".join(
        [
            "import torch",
            "",
            "",
            "def test_it():",
            "    x = torch.tensor([[0.0, 1.0]])",
            "    got = fn(x, gamma=torch.tensor([1.0, 1.0]))",
            "    expected = torch.tensor([[-0.99998, 0.99998]])  # LayerNorm(2, bias=False)",
            "    torch.testing.assert_close(got, expected)",
        ]
    )


def test_a_right_function_has_no_example():
    assert nv.check(rows, (4, 6), "LayerNorm(6)").example is None
    assert nv.check(clipped, (4, 6)).example is None


class Detached(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) + 0 * x.sum() if not x.requires_grad else super().forward(x).detach() + x - x.detach()


def test_a_wrong_gradient_has_no_example():
    found = nv.check(Detached(6), (4, 6), "LayerNorm(6)")
    assert [one.what for one in found.differences] == ["backward"]
    assert found.example is None


@pytest.mark.parametrize("shape", [(4, 6), (2, 3, 16)])
def test_the_number_of_calls_of_a_failure(shape):
    calls = []

    def fn(x):
        calls.append(1)
        return (x - x.median(-1, keepdim=True).values) / (x.std(1, keepdim=True) + 0.3) * len(x)

    assert not nv.check(fn, shape, f"LayerNorm({shape[-1]})")
    assert len(calls) <= MOST_CALLS
