"""Comparing a function with a layer: which tensors are gamma and beta, the reference, the tolerance, and the verdict."""

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import inf, isnan, nan

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.layers.norm import Norm
from normviz.measuring import verdict as verdicts
from normviz.measuring.check import _on_or_none, expect
from normviz.measuring.probe import ARRAYS, TENSORS, isolated
from normviz.measuring.trials import own_dtypes
from normviz.measuring.verdict import (  # fmt: skip
    Error,
    GammaBeta,
    LayerComparison,
    Reference,
    Role,
    compare,
    constant_is_finite,
    extremes,
    is_systematic,
    judge,
    on_shapes,
    reference_of,
)

X = torch.randn(4, 3, generator=torch.Generator().manual_seed(1))


def test_a_role_gives_the_parameter_of_the_layer():
    values = {1: torch.arange(6.0).reshape(2, 3), 2: torch.tensor([[0.0, 1]])}
    assert Role(1, (1, 0), (3, 2)).of(values).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert Role(1, None, (6,)).of(values).tolist() == [0, 1, 2, 3, 4, 5]
    assert Role(2, None, (2,), is_log=True).of(values).tolist() == pytest.approx([1, np.e])
    both = GammaBeta(Role(2, None, (2,)), Role(1, None, (6,)))
    assert {name: tuple(value.shape) for name, value in both.values(values).items()} == {"gamma": (2,), "beta": (6,)}
    assert (both.count, GammaBeta().count, GammaBeta(beta=both.beta).count) == (2, 0, 1)
    assert GammaBeta(beta=both.beta).values(values).keys() == {"beta"}


@contextmanager
def compared(fn, x=X, like="LayerNorm(3)", kind=TENSORS, params=None):
    expected = like if not isinstance(like, str | Norm) else expect(like, tuple(x.shape), None)
    with isolated(fn, x, kind, params or {}) as function:
        yield LayerComparison(function, expected, reference_of(function, expected), x)


def roles(fn, x=X, like="LayerNorm(3)"):
    with compared(fn, x, like) as found:
        names = found.function.names
        return [tuple(None if role is None else names.get(role.position, "?") for role in (pair.gamma, pair.beta)) for pair in found.alive]  # fmt: skip


def own(*names, size=3):
    module = nn.Module()
    for name in names:
        setattr(module, name, nn.Parameter(torch.ones(size)))
    module.forward = lambda x: x
    return module


ROLES = [
    (nn.LayerNorm(3), "LayerNorm(3)", [("weight", "bias")]),
    (own("gamma", "beta"), "LayerNorm(3)", [("gamma", "beta")]),
    (own("scale", "shift", "more"), "LayerNorm(3)", [("scale", "shift")]),
    (own("a", "b"), "LayerNorm(3)", [("a", "b"), ("b", "a")]),
    (own("weight", "b"), "LayerNorm(3)", [("weight", "b")]),
    (own("a", "beta"), "LayerNorm(3)", [("a", "beta")]),
    (own("weight"), "LayerNorm(3)", [("weight", None)]),
    (own("a"), "LayerNorm(3)", [("a", None), (None, "a")]),
    (own("a", "b"), "LayerNorm(3, bias=False)", [("a", None), ("b", None)]),
    (own("weight", "bias"), "LayerNorm(3, elementwise_affine=False)", [(None, None)]),
    (own("weight", "bias", size=2), "LayerNorm(3)", []),
    (own(), "LayerNorm(3)", [(None, None)]),
]


@pytest.mark.parametrize(("fn", "like", "wanted"), ROLES)
def test_gamma_and_beta_are_told_by_their_names_or_by_every_choice(fn, like, wanted):
    assert roles(fn, like=like) == wanted


def test_tensors_without_names_are_choices():
    tensors = [torch.ones(3, requires_grad=True)]
    assert roles(lambda x: x * tensors[0]) == [("?", None), (None, "?")]


def test_the_choices_are_not_too_many():
    assert len(roles(own(*"abcdefgh"))) == 24


def test_a_log_is_an_exponent_and_axes_may_be_permuted():
    with compared(own("log_gamma")) as found:
        assert [pair.gamma.is_log for pair in found.alive if pair.gamma] == [True]
    with compared(own("weight", size=(4, 3)), like="LayerNorm([4, 3])", x=X.reshape(1, 4, 3)) as found:
        assert (found.best.gamma.order, found.best.gamma.shape, found.best.gamma.is_log) == (None, (4, 3), False)
    with compared(own("weight", size=(3, 4)), like="LayerNorm([4, 3])", x=X.reshape(1, 4, 3)) as found:
        assert [pair.gamma.order for pair in found.alive] == [(1, 0)]
    with compared(own("weight", size=(2, 6)), like="LayerNorm([4, 3])", x=X.reshape(1, 4, 3)) as found:
        assert [pair.gamma.order for pair in found.alive] == [None]
    with compared(own("weight", size=(1, 3, 1)), X[..., None], "BatchNorm1d(3)") as found:
        assert (found.best.gamma.order, found.best.gamma.shape) == (None, (3,))


# The reference

NORM = expect("LayerNorm(3)", (4, 3), None).norm
ZERO_CENTERED = replace(NORM, zero_centered_gamma=True)
GAMMA, BETA = torch.tensor([1.0, 2, -3]), torch.tensor([0.5, 0, 1])


def test_the_reference_is_the_layer():
    given = {"gamma": GAMMA, "beta": BETA}
    assert torch.allclose(Reference(NORM)(X, given), F.layer_norm(X, (3,), GAMMA, BETA), atol=1e-6)
    assert torch.allclose(Reference(NORM)(X, {"gamma": GAMMA}), F.layer_norm(X, (3,), GAMMA), atol=1e-6)
    assert torch.allclose(Reference(ZERO_CENTERED)(X, given), F.layer_norm(X, (3,), 1 + GAMMA, BETA), atol=1e-6)
    assert torch.allclose(Reference(ZERO_CENTERED)(X, {"beta": BETA}), F.layer_norm(X, (3,)) + BETA, atol=1e-6)
    assert torch.allclose(Reference(NORM).trace(X, {}).mean.flatten()[:1], X.mean(1)[:1])


def test_the_rounding_of_a_mean_far_from_zero():
    far = X + 1000
    rounding = Reference(NORM).rounding(far, {"gamma": GAMMA.double()})
    wide = far.double()
    wanted = torch.finfo(torch.float32).eps * wide.mean(1, keepdim=True).abs() / (wide.var(1, keepdim=True, correction=0) + 1e-5).sqrt()  # fmt: skip
    assert torch.allclose(rounding.expand(4, 3), wanted * GAMMA.abs())
    assert torch.allclose(Reference(NORM).rounding(far, {}).expand(4, 3), wanted.expand(4, 3))


def test_stored_statistics_are_found_by_their_names():
    module = nn.BatchNorm1d(3).eval()
    module.running_mean += 2
    module.running_var += 3
    with compared(module, like="BatchNorm1d(3).eval()") as found:
        reference = found.reference
        assert reference.is_known
        assert [found.function.names[i] for i in reference.stats] == ["running_mean", "running_var"]
        assert torch.allclose(found.exact(X, {}), module.double()(X.double()).detach())
        module.float()
        mean, root = found.stored({})
        assert torch.allclose(mean.expand(4, 3), torch.tensor(2.0).double())
        assert torch.allclose(root.expand(4, 3), torch.tensor(4 + 1e-5).double().sqrt())
        other = found.stored({reference.stats[0]: torch.full((3,), 7.0)})[0]
        assert torch.allclose(other.expand(4, 3), torch.tensor(7.0).double())
    with compared(lambda x: x, like="BatchNorm1d(3).eval()") as found:
        assert (found.reference.stats, found.reference.is_known) == (None, False)
    module.running_var = torch.ones(4)
    with isolated(lambda x: x + 0 * module.running_mean, X, TENSORS, {}) as function:
        assert reference_of(function, expect("BatchNorm1d(3).eval()", (4, 3), None)).stats is None
    with compared(nn.BatchNorm1d(3), like="BatchNorm1d(3)") as found:
        assert (found.reference.stats, found.reference.is_known) == (None, True)


# The tolerance

EXACT = torch.tensor([1.0, -100.0, 0.0], dtype=torch.float64)


def error(difference, at=0, dtype=torch.float32, rounded=EXACT, exact=EXACT, **more):
    output = exact.clone()
    output[at] += difference
    return compare(output, exact, rounded, dtype, **more)


TOLERATED = [
    (1.1e-5, 0, torch.float32, True), (1.2e-5, 0, torch.float32, False), (1.3e-4, 1, torch.float32, True), (1.5e-4, 1, torch.float32, False),
    (0.9e-5, 2, torch.float32, True), (1.1e-5, 2, torch.float32, False), (1.9e-7, 0, torch.float64, True), (2.1e-7, 0, torch.float64, False),
    (1.0e-3, 0, torch.float16, True), (1.1e-3, 0, torch.float16, False), (1.6e-2, 0, torch.bfloat16, True), (1.7e-2, 0, torch.bfloat16, False),
]  # fmt: skip


@pytest.mark.parametrize(("difference", "at", "dtype", "ok"), TOLERATED)
def test_the_tolerance_is_that_of_assert_close(difference, at, dtype, ok):
    for sign in (1, -1):
        found = error(sign * difference, at, dtype)
        assert (found.ok, found.at, found.largest) == (ok, (at,), pytest.approx(difference, rel=1e-6))


def test_the_tolerance_has_five_times_the_error_of_the_rounded_reference():
    rounded = EXACT + torch.tensor([0, 0, 0.01])
    assert error(0.05, 2, rounded=rounded).ok
    assert not error(0.0501, 2, rounded=rounded).ok
    assert error(0.05, 0, rounded=rounded).ok
    assert error(0.05, 0, rounding=0.01).ok
    assert not error(0.051, 0, rounding=0.01).ok
    assert error(0.05, 0, rounding=torch.tensor([0.01, 0, 0])).ok
    assert not error(0.05, 2, rounding=torch.tensor([0.01, 0, 0])).ok
    assert not error(0.05, 0, rounded=torch.tensor([1.0, -100, nan])).ok


def test_the_tolerance_of_gradients_is_relative_to_the_largest():
    assert not error(1.2e-4).ok
    assert error(1.2e-4, relative_to_largest=True).ok
    assert not error(1.5e-4, relative_to_largest=True).ok
    infinite = torch.tensor([1.0, -100.0, inf], dtype=torch.float64)
    assert error(1.2e-4, exact=infinite, rounded=infinite, relative_to_largest=True).ok
    none = torch.full((3,), nan, dtype=torch.float64)
    assert error(0.0, exact=none, rounded=none, relative_to_largest=True).ok


def test_numbers_that_are_not_finite():
    def of(output, exact, rounded=None):
        both = [torch.tensor([0.0, one], dtype=torch.float64) for one in (output, exact, exact if rounded is None else rounded)]  # fmt: skip
        return compare(*both, torch.float32)

    assert of(inf, inf).ok
    assert of(nan, nan).ok
    assert of(nan, 1.0, nan).ok
    assert of(inf, 1e300, inf).ok
    assert not of(inf, -inf).ok
    assert not of(1.0, inf).ok
    assert not of(1.0, nan).ok
    found = of(nan, 1.0)
    assert (found.ok, found.at, isnan(found.largest)) == (False, (1,), True)
    assert of(inf, 1.0).largest == inf
    matrix = torch.zeros(2, 3, dtype=torch.float64)
    matrix[1, 2], matrix[0, 1] = 3, 2
    assert compare(matrix, torch.zeros_like(matrix), torch.zeros_like(matrix), torch.float32) == Error(3, (1, 2), False)
    matrix[0, 1] = nan
    assert compare(matrix, torch.zeros_like(matrix), torch.zeros_like(matrix), torch.float32).at == (0, 1)


def test_a_small_factor_of_all_outputs_is_no_rounding():
    zero = torch.zeros(3)
    assert is_systematic(EXACT * (1 + 2e-6), EXACT, zero, EXACT)
    assert is_systematic(EXACT * (1 - 2e-6), EXACT, zero, EXACT)
    assert not is_systematic(EXACT * (1 + 0.9e-6), EXACT, zero, EXACT)
    assert not is_systematic(EXACT * (1 + 2e-6), EXACT, zero, EXACT * (1 + 1e-6))
    assert is_systematic(EXACT * (1 + 6e-6), EXACT, zero, EXACT * (1 + 1e-6))
    assert not is_systematic(zero.double(), zero.double(), zero, zero)
    assert not is_systematic(EXACT * nan, EXACT, zero, EXACT)
    offset = torch.tensor([5.0, 5, 5])
    assert is_systematic(EXACT * (1 + 2e-6) + offset, EXACT + offset, offset, EXACT + offset)


# Values


def test_signed_values_differ_in_size_and_sign():
    tensors = {0: torch.zeros(1000), 3: torch.zeros(2, 3, dtype=torch.float64)}
    one = verdicts.signed_values(tensors, 1)
    sizes = one[0].abs()
    assert (one[0].dtype, one[3].dtype, one[3].shape) == (torch.float32, torch.float64, (2, 3))
    assert 0.5 <= float(sizes.min()) < 0.51
    assert 1.99 < float(sizes.max()) <= 2
    assert 0.35 < float((one[0] < 0).double().mean()) < 0.45
    assert torch.equal(one[0], verdicts.signed_values(tensors, 1)[0])
    assert not torch.equal(one[0], verdicts.signed_values(tensors, 2)[0])
    assert not torch.equal(one[3].flatten(), one[0].double()[:6])


def test_other_values_are_like_x():
    x = torch.tensor([[100.0, 300, nan, inf]])
    with compared(lambda x: x, torch.tensor([[100.0, 300, 100, 300]]), "LayerNorm(4)") as found:
        assert (found.mean, found.spread, found.near) == (200, 100, False)
        other = found.alike((400, 100), 5)
        assert (other.dtype, float(other.mean()), float(other.std())) == (torch.float64, pytest.approx(200, abs=2), pytest.approx(100, abs=2))  # fmt: skip
        found.near = True
        assert float(found.alike((400, 100), 5).mean()) == pytest.approx(0.5, abs=0.02)
        assert not torch.equal(found.alike((2, 3), 5), found.alike((2, 3), 6))
    with compared(torch.nan_to_num, x, "LayerNorm(4)") as found:
        assert (found.mean, found.spread) == (200, 100)
    for same in (torch.full((1, 4), 7.0), torch.full((1, 4), nan)):
        with compared(torch.nan_to_num, same, "LayerNorm(4)") as found:
            assert (found.mean, found.spread) == (0.5, 1.0)


def test_no_eps_is_that_of_the_dtype_in_which_torch_computes():
    for dtype, computed in ((torch.float16, torch.float32), (torch.float32, torch.float32), (torch.float64, torch.float64)):  # fmt: skip
        with compared(lambda x: x, X.to(dtype), "RMSNorm(3)") as found:
            assert found.reference.norm.eps == torch.finfo(computed).eps


# Comparing


def test_the_choices_that_do_not_agree_are_dropped():
    module = own("a", "b")
    module.forward = lambda x: F.layer_norm(x, (3,), module.b, module.a)
    with compared(module) as found:
        values = {0: GAMMA, 1: BETA}
        found.function.use(torch.float32)
        assert found.agrees(X, values, torch.float32).ok
        assert [found.function.names[role.position] for role in (found.best.gamma, found.best.beta)] == ["b", "a"]
        assert len(found.alive) == 1
        assert len(found.started) == 2
        again = found.on(expect("LayerNorm(3)", (2, 3), None))
        assert (len(again.alive), again.near, again.expected.shape) == (2, False, (2, 3))
        found.near = True
        assert found.on(found.expected).near


def test_the_smallest_error_is_told_if_no_choice_agrees():
    with compared(lambda x: F.layer_norm(x, (3,)) + 1) as found:
        found.function.use(torch.float32)
        assert found.agrees(X, {}, torch.float32) == Error(pytest.approx(1), found.agrees(X, {}, torch.float32).at, False)  # fmt: skip
        assert found.alive == found.started
        found.alive = []
        none = found.agrees(X, {}, torch.float32)
        assert (isnan(none.largest), none.at, none.ok) == (True, (0, 0), False)


def test_a_half_output_has_the_tolerance_of_half_where_it_is_given_so():
    with compared(lambda x: F.layer_norm(x, (3,)).half().float()) as found:
        found.function.use_own()
        assert not found.agrees(X, {}, torch.float32, strict=True).ok
        assert not found.agrees(X, {}, torch.float32).ok
    with compared(lambda x: F.layer_norm(x, (3,)).half()) as found:
        found.function.use_own()
        assert found.agrees(X, {}, torch.float32, strict=True).ok


def test_a_factor_that_rounding_would_hide_is_seen_in_float64():
    with compared(lambda x: F.layer_norm(x, (3,)) * (1 + 3e-6)) as found:
        assert found.agrees(X, {}, torch.float32).ok
        assert not found.agrees(X.double(), {}, torch.float64).ok
    module = nn.LayerNorm(3)
    nn.init.constant_(module.bias, 5.0)
    module.forward = lambda x: F.layer_norm(x, (3,), module.weight * (1 + 3e-6), module.bias)
    with compared(module) as found:
        assert not found.agrees(X.double(), {}, torch.float64).ok


TORCH = [
    ("LayerNorm(3)", (4, 3), None), ("BatchNorm1d(3)", (4, 3), None), ("BatchNorm1d(3)", (4, 5, 3), "NLC"),
    ("GroupNorm(1, 3)", (4, 3), None), ("RMSNorm(3)", (4, 3), None), ("InstanceNorm1d(3)", (4, 3, 5), None),
]  # fmt: skip


@pytest.mark.parametrize(("like", "shape", "layout"), TORCH)
def test_the_output_of_torch_is_that_of_the_reference(like, shape, layout):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    with compared(lambda x: x, x, expect(like, shape, layout)) as found:
        has = {name: value.double() for name, value in (("gamma", GAMMA), ("beta", BETA)) if found.expected.norm.params and (name == "gamma" or found.expected.norm.bias)}  # fmt: skip
        assert torch.allclose(found.torch_output(x, has), found.reference(x, has), atol=1e-6)
        assert found.torch_output(x.float(), has).dtype == torch.float32


def test_torch_has_no_layer_for_every_norm():
    with compared(lambda x: x, like=Norm("n d -> d", None)) as found:
        assert found.torch_output(X, {}) is None


# The verdict


def judged(fn, x=X, like="LayerNorm(3)", kind=TENSORS, params=None):
    with compared(fn, x, like, kind, params=params) as found:
        return judge(found.function, found.expected, found.reference, x)[0]


@contextmanager
def in_own_dtype(fn, x=X, like="LayerNorm(3)"):
    """The comparison with the layer, as after ``judge``."""
    with compared(fn, x, like) as found:
        comparison = judge(found.function, found.expected, found.reference, x)[1]
        with own_dtypes(found.function):
            yield comparison


def unlike(fn, x=X):
    with in_own_dtype(fn, x) as comparison:
        return list(extremes(comparison))


def rows(x):
    return F.layer_norm(x, x.shape[1:])


def test_a_right_function():
    found = judged(rows)
    assert (found.right, found.only_near, found.own_right) == (True, False, True)
    assert (found.given.ok, found.dtype) == (True, None)
    assert unlike(rows) == []


def test_other_values_show_what_x_hides():
    hidden = lambda x: rows(x) if torch.equal(x.float(), X) else 2 * rows(x)  # noqa: E731
    found = judged(hidden)
    assert (found.right, found.given.ok) == (False, True)
    found = judged(lambda x: F.layer_norm(x, (3,), eps=1e-6))
    assert not found.right
    found = judged(lambda x: 2 * rows(x) if torch.equal(x.float(), X) else rows(x))
    assert (found.right, found.own_right, found.given.ok) == (True, False, False)


def test_a_dtype_that_is_another_one():
    assert judged(lambda x: rows(x).half()).dtype == (torch.float16, torch.float32)
    assert judged(lambda x: rows(x).double()).dtype == (torch.float64, torch.float32)
    numpy = lambda x, gamma: (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * gamma  # noqa: E731
    assert judged(numpy, kind=ARRAYS, params={"gamma": np.ones(3)}).dtype is None
    assert judged(lambda x, gamma: numpy(x, gamma).astype(np.float32), kind=ARRAYS, params={"gamma": np.ones(3)}).dtype == (torch.float32, torch.float64)  # fmt: skip
    assert judged(lambda x, gamma: rows(x) * gamma, params={"gamma": torch.ones(3).double()}).dtype == (torch.float64, torch.float32)  # fmt: skip


def test_rounding_far_from_zero():
    def one_pass(x):
        mean = x.float().mean(1, keepdim=True)
        return ((x - mean) / ((x.float() ** 2).mean(1, keepdim=True) - mean**2 + 1e-5).sqrt()).to(x.dtype)

    far = judged(one_pass, X + 3000)
    assert (far.right, far.only_near, far.given.ok) == (True, True, False)
    near = judged(one_pass)
    assert (near.right, near.only_near, near.given.ok) == (True, False, True)
    assert [name for name, _largest in unlike(one_pass)] == ["far"]
    assert "far" in [name for name, _largest in unlike(one_pass, 100 * X)]


def test_an_x_that_is_much_larger_or_smaller():
    def clips(x):
        return torch.where(x.abs().max() > 200, 0.0, rows(x))

    def floors(x):
        return torch.where(x.abs().max() < 1e-2, torch.where(x.abs().max() > 0.5e-3, 1 + rows(x), rows(x)), rows(x))

    assert [name for name, _largest in unlike(clips)] == ["far", "large"]
    found = unlike(lambda x: rows(x) if x.dtype == torch.float64 else floors(x))
    assert [name for name, _largest in found] == ["small"]
    assert found[0][1] == pytest.approx(1, rel=1e-3)


def test_an_eps_that_vanishes_in_half_precision():
    def half(x):
        centered = x - x.mean(1, keepdim=True)
        return centered / (centered.square().mean(1, keepdim=True) + 1e-8).sqrt()

    def is_finite(fn, x):
        with in_own_dtype(fn, x, "LayerNorm(3, eps=1e-8)") as comparison:
            return constant_is_finite(comparison)

    assert not is_finite(half, X.half())
    assert is_finite(half, X)
    assert is_finite(lambda x: F.layer_norm(x, (3,), eps=1e-8), X.half())


ANY = Norm("n d -> n", None)


OTHER_SHAPES = [
    (lambda x: rows(x) if x.shape[1] == 3 else 2 * rows(x), X, ANY, (), (5, 7)),
    (lambda x: rows(x) if x.shape[1] == 3 else 2 * rows(x), X, ANY, [(4, 3), (4, 8), (4, 9)], (4, 8)),
    (lambda x: rows(x) if x.shape[1] == 3 else 2 * rows(x), X, "LayerNorm(3)", (), None),  # it has no other size
    (lambda x: rows(x) if len(x) == 4 else 2 * rows(x), X, "LayerNorm(3)", (), (5, 3)),
    (lambda x: rows(x) if len(x) == 5 else 2 * rows(x), X.repeat(2, 1)[:5], "LayerNorm(3)", (), (7, 3)),
    (lambda x: rows(x) if x.shape in ((4, 3), (4, 5)) else 1 / 0, X, ANY, (), None),
    (lambda x: rows(x) if len(x) == 1 else 2 * rows(x), X[:1], "LayerNorm(3)", (), (3, 3)),
    (lambda x: 1 / 0 if len(x) == 3 else rows(x) if x.shape[1] == 3 else 2 * rows(x), X[:1], ANY, (), (5, 7)),
    (lambda x: F.layer_norm(x.float(), x.shape[1:]).to(x.dtype), X + 1000, ANY, (), None),
]  # fmt: skip


def first_wrong(fn, x, like, shapes):
    with compared(fn, x, like) as found:
        comparison = judge(found.function, found.expected, found.reference, x)[1]
        errors = on_shapes(comparison, shapes, partial(_on_or_none, found.expected))
        return next((shape for shape, error in errors if not error.ok), None)


@pytest.mark.parametrize(("fn", "x", "like", "shapes", "wrong"), OTHER_SHAPES)
def test_other_shapes(fn, x, like, shapes, wrong):
    assert first_wrong(fn, x, like, shapes) == wrong


def test_a_shape_that_was_asked_for_must_be_taken():
    with pytest.raises(nv.NormvizError):
        first_wrong(lambda x: rows(x) if len(x) == 4 else 1 / 0, X, "LayerNorm(3)", [(9, 3)])


def test_candidates_of_an_implementation_with_other_parameter_order():
    found = judged(nn.LayerNorm(3))
    assert found.right
    swapped = own("weight", "bias")
    swapped.forward = lambda x: F.layer_norm(x, (3,), swapped.bias, swapped.weight)
    assert not judged(swapped).right
