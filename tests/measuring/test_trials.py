"""The trials of a function whose output is right for the given x: strides, sizes, gradients elsewhere, repeated calls, and that x is not changed."""

import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv
from normviz.measuring.check import TRIALS

PAGE = Path(nv.__file__).parents[1] / "docs/how-it-measures.md"
SHAPE = (4, 16)
LIKE = "LayerNorm(16)"


def whats(fn, x=SHAPE, like=LIKE, **more):
    return [one.what for one in nv.check(fn, x, like, **more).differences]


def rows(x):
    return F.layer_norm(x, x.shape[-1:])


def test_a_right_function_passes_all_trials():
    assert whats(rows) == []
    assert whats(lambda x, gamma, beta: rows(x) * gamma + beta, params={"gamma": torch.ones(16), "beta": torch.zeros(16)}) == []  # fmt: skip
    assert whats(nn.LayerNorm(16)) == []
    assert whats(lambda x: rows(x), torch.randn(16, 4).T) == []
    assert whats(lambda x: rows(x), torch.randn(4, 32)[:, ::2]) == []
    assert whats(lambda x: rows(x), torch.randn(1, 16).expand(4, 16)) == []


def test_the_documentation_has_the_table_of_trials():
    rows_of = [f"| {one.name} | {f'`{one.what}`' if one.what else 'a note'} | {one.tries} |" for one in TRIALS]
    page = PAGE.read_text(encoding="utf-8")
    assert "\n".join(["| trial | difference | what is tried |", "| --- | --- | --- |", *rows_of]) in page


# What was tried


def test_a_pass_says_what_was_tried_and_what_was_left_out():
    trials = nv.check(rows, SHAPE, LIKE).trials
    assert [one.trial for one in trials] == [one.name for one in TRIALS]
    results = {one.trial: one.result for one in trials}
    assert [name for name, result in results.items() if result != "right"] == [
        "equal values",
        "residual",
        "batch",
        "half precision",
        "modes",
        "gradients in modes",
    ]
    lines = str(trials).splitlines()
    assert lines[0] == "right: the given x, as it is, with the gamma and beta of the function"
    assert "right: an x of shape (1, 16), (3, 16), (65, 16), (4, 17), (4, 15), (4, 100)" in lines
    assert lines[-2].startswith("left out: a module in its other mode")
    assert lines[-1].endswith("(it has no train and eval mode)")
    assert repr(trials) == str(trials)
    assert trials.to_dict()[0] == {"trial": "given x", "tried": trials[0].tried, "result": "right", "reason": ""}


def test_the_first_difference_is_the_last_trial():
    trials = nv.check(writes, SHAPE, LIKE).trials
    assert (trials[-1].trial, trials[-1].result) == ("in place", "differs")
    assert {one.result for one in trials[:-1]} == {"right", "left out"}


def test_what_is_left_out_has_its_reason():
    def contiguous(x):
        assert x.is_contiguous()
        return rows(x)

    def of_four_rows(x):
        assert len(x) == 4
        return rows(x)

    def reasons(fn, **more):
        return {one.trial: one.reason for one in nv.check(fn, SHAPE, LIKE, **more).trials if one.result == "left out"}

    assert "AssertionError" in reasons(contiguous)["strides"]
    assert reasons(nn.LayerNorm(16), backward=False)["gradients"] == "backward=False"
    assert "requires no gradient" in reasons(torch.no_grad()(rows))["gradients"]
    assert "modes" not in reasons(nn.LayerNorm(16))
    assert reasons(of_four_rows)["other shapes"] == "LayerNorm(16) and the function take no other shape"


def test_without_the_stored_statistics_nothing_is_tried():
    mean, var = torch.randn(6), torch.rand(6) + 0.5
    found = nv.check(lambda x: (x - mean) / (var + 1e-5).sqrt(), (4, 6), nn.BatchNorm1d(6, affine=False).eval())
    assert found
    assert {(one.result, one.reason) for one in found.trials} == {("left out", "its stored statistics are not known")}


def test_without_like_nothing_is_compared():
    assert str(nv.check(rows, SHAPE).trials) == "Nothing was compared; give like."


# Writing into x


def writes(x):
    y = rows(x)
    x += 1
    return y


def test_a_function_that_writes_into_x():
    assert whats(writes) == ["in_place"]
    x = torch.randn(SHAPE)
    before = x.clone()
    found = nv.check(writes, x, LIKE)
    assert "It writes into x: after the call, x has other values." in str(found)
    assert torch.equal(x, before)


# Strides


def ignores_strides(x):
    flat = torch.as_strided(x, x.shape, (*x.stride()[:-1], 1))
    return (flat - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + 1e-5).sqrt()


def test_a_function_that_ignores_strides():
    assert whats(ignores_strides) == ["strides"]
    found = nv.check(ignores_strides, torch.randn(4, 32)[:, ::2], LIKE)
    assert [one.what for one in found.differences] == ["strides"]
    assert "the same values with the strides (32, 2)" in str(found)


def test_a_function_that_takes_no_other_strides_is_noted():
    def contiguous(x):
        assert x.is_contiguous()
        return rows(x)

    found = nv.check(contiguous, SHAPE, LIKE)
    assert found
    assert "An x that is not contiguous is not tried" in str(found)


# Sizes


def padded(x):
    d = x.shape[-1]
    wide = F.pad(x, (0, (1 << (d - 1).bit_length()) - d))
    centered = wide - wide.sum(-1, keepdim=True) / d
    return (centered / (centered.square().sum(-1, keepdim=True) / d + 1e-5).sqrt())[..., :d]


def blocks_of_rows(x):
    y = rows(x)
    return torch.cat([y[: len(x) // 2 * 2], torch.zeros_like(x[len(x) // 2 * 2 :])])


def capped(x):
    return rows(x[:, :64]) if x.shape[1] <= 64 else torch.cat([rows(x[:, :64]), x[:, 64:]], 1)


def rows_in_fours(x):
    return torch.cat([rows(x[:64]), x[64:]])


def eps_of_sizes(x):
    return F.layer_norm(x, x.shape[-1:], eps=1e-5 * x.shape[-1] / 16)


OF_OTHER_SIZES = {
    padded: "Its variance counts 15 zeros of padding in each group",
    capped: "It returns 144 elements of x as they are: the first is at [0, 64].",
    rows_in_fours: "It returns 16 elements of x as they are: the first is at [64, 0].",
    eps_of_sizes: "Its eps is 6.25e-05, not 1e-05.",
}


@pytest.mark.parametrize("fn", OF_OTHER_SIZES)
def test_a_function_that_is_wrong_for_other_sizes(fn):
    first, second, *_others = nv.check(fn, SHAPE, LIKE).differences
    assert first.what == "sizes"
    assert second.sentence.startswith(OF_OTHER_SIZES[fn])
    if fn in (padded, eps_of_sizes):
        params = {"weight": torch.ones(16)}
        with_gamma = nv.check(lambda x, weight: fn(x) * weight, SHAPE, "LayerNorm(16, bias=False)", params=params)
        assert [one.sentence for one in with_gamma.differences[1:]] == [second.sentence]


def test_a_function_that_is_wrong_for_other_numbers_of_rows():
    found = nv.check(blocks_of_rows, SHAPE, LIKE)
    assert "sizes" in [one.what for one in found.differences]
    assert "It is right on (4, 16), but not on (" in str(found)


# Gradients elsewhere


class BlocksInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return rows(x) * weight

    @staticmethod
    def backward(ctx, dout):
        x, weight = ctx.saved_tensors
        with torch.enable_grad():
            leaf = x.detach().requires_grad_()
            dx = torch.autograd.grad(rows(leaf), leaf, dout * weight)[0]
        whole = len(x) // 4 * 4
        return dx, (rows(x) * dout)[:whole].sum(0)


def test_a_gradient_without_its_last_rows():
    found = nv.check(lambda x, weight: BlocksInBackward.apply(x, weight), SHAPE, "LayerNorm(16, bias=False)", params={"weight": torch.ones(16)})  # fmt: skip
    assert [one.what for one in found.differences] == ["backward"]
    assert "dgamma differs" in str(found)
    assert "This is the gradient on an x of shape (65, 16)." in str(found)


class StridesInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return rows(x)

    @staticmethod
    def backward(ctx, dout):
        flat = torch.as_strided(dout, dout.shape, (*dout.stride()[:-1], 1))
        leaf = ctx.saved_tensors[0].detach().requires_grad_()
        with torch.enable_grad():
            return torch.autograd.grad(rows(leaf), leaf, flat)[0]


# Again


def from_call(number):
    calls = []

    def fn(x):
        calls.append(1)
        return rows(x) if len(calls) < number else rows(x) + 1

    return fn


@pytest.mark.parametrize("number", [6, 11, 20])
def test_a_function_that_is_wrong_from_a_call_on(number):
    assert whats(from_call(number)) == ["repeat"]


class WrongLater(nn.Module):
    calls = 0

    def forward(self, x):
        self.calls += 1
        return rows(x) + (self.calls > 5)


def test_a_module_that_is_wrong_from_a_call_on():
    assert whats(WrongLater()) == ["repeat"]


def test_a_function_that_returns_the_same_memory_each_time():
    kept = {}

    def fn(x):
        buffer = kept.setdefault((x.shape, x.dtype), torch.empty_like(x))
        with torch.no_grad():
            return buffer.copy_(rows(x))

    assert whats(fn) == ["repeat"]


def test_a_function_that_keeps_results_by_address():
    kept = {}

    def fn(x):
        key = (x.data_ptr(), x.shape, x.dtype)
        if key not in kept:
            kept[key] = (x, rows(x))
        return kept[key][1]

    assert whats(fn) == ["repeat"]


# "right" stands for what was run


class FixedAndContiguous(nn.LayerNorm):
    def forward(self, x):
        assert x.is_contiguous()
        assert x.shape == (4, 16)
        return super().forward(x)


def line(fn, trial, x=SHAPE, like=LIKE, **more):
    found = nv.check(fn, x, like, **more)
    assert found, found
    return next(str(one) for one in found.trials if one.trial == trial)


def test_a_trial_that_raises_each_time_is_left_out():
    for trial in ("gradients elsewhere", "strides"):
        assert line(FixedAndContiguous(16), trial).startswith("left out: ")
        assert "AssertionError" in line(FixedAndContiguous(16), trial)


def test_what_was_tried_of_the_gradients_elsewhere():
    strided = "right: the gradients for an x and a dout that are not contiguous"
    assert line(nn.LayerNorm(16), "gradients elsewhere") == f"{strided} and an x of shape (65, 16)"
    of_ten_rows = lambda x: rows(x) if len(x) < 10 else 1 / 0  # noqa: E731
    assert line(of_ten_rows, "gradients elsewhere") == f"{strided} and an x of shape (4, 17)"


def test_what_was_tried_of_other_values():
    norm = "LayerNorm(16, elementwise_affine=False"
    no_eps = "right: other values of x, gamma and beta"
    assert line(lambda x: F.layer_norm(x, (16,), eps=0.0), "other values", like=f"{norm}, eps=0.0)") == no_eps
    assert line(rows, "other values", like=f"{norm})") == f"{no_eps}, and an x so small that eps counts"
    assert line(nn.BatchNorm1d(16).eval(), "other values", like=nn.BatchNorm1d(16).eval()) == no_eps

    def positive(x, gamma):
        assert (gamma > 0).all()
        return rows(x) * gamma

    ones = {"gamma": torch.ones(16)}
    assert line(positive, "other values", like="LayerNorm(16, bias=False)", params=ones) == "right: other values of x"


def test_few_rows_are_tried_in_the_interpreter_of_triton(monkeypatch):
    def tried():
        return next(one.tried for one in nv.check(layer_norm, (2, 6), "LayerNorm(6)").trials if one.trial == "sizes")

    def layer_norm(x):
        return F.layer_norm(x, x.shape[-1:])

    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setitem(sys.modules, "triton", None)
    assert "(9, 6)" in tried()
    assert "(65, 6)" not in tried()
    monkeypatch.setenv("TRITON_INTERPRET", "0")
    assert "(65, 6)" in tried()


# Differences that can be told together


def detached(x, gamma, beta):
    """A wrong divisor, and a mean that is a constant for autograd."""
    y = (x - x.mean(-1, keepdim=True).detach()) / (x.var(-1, keepdim=True) + 1e-5).sqrt()
    return y * gamma + beta


def test_a_wrong_output_does_not_hide_wrong_gradients():
    params = {"gamma": torch.rand(16) + 0.5, "beta": torch.rand(16)}
    found = nv.check(detached, SHAPE, LIKE, params=params)
    assert [one.what for one in found.differences] == ["variance", "backward"]
    assert str(found).endswith("Its gradient is not that of its output: dx is wrong.")
    assert whats(lambda x, gamma, beta: rows(x) * gamma.detach() * 2 + beta, params=params) == ["gamma", "backward"]
    assert [one.what for one in nv.check(detached, SHAPE, LIKE, params=params, backward=False).differences] == [
        "variance"
    ]
    assert whats(lambda x: rows(x).half().to(x.dtype)) == ["precision"]  # no gradient is that of a staircase
    assert whats(lambda x: rows(x).relu()) == ["values"]


def test_a_wrong_output_does_not_hide_that_x_changes():
    found = nv.check(lambda x: rows(x.mul_(2) / 2) + 1, SHAPE, LIKE)
    assert [one.what for one in found.differences] == ["offset", "in_place"]


class Detached(nn.BatchNorm1d):
    """The gradient is wrong, and the output in eval mode."""

    def forward(self, x):
        if not self.training:
            return F.batch_norm(x, 0 * self.running_mean, self.running_var, self.weight, self.bias)
        y = super().forward(x)
        return (x - x.mean(0)) * ((y - self.bias) / self.weight / (x - x.mean(0))).detach() * self.weight + self.bias


def test_a_wrong_gradient_does_not_hide_another_mode():
    found = nv.check(Detached(5), (8, 5), "BatchNorm1d(5)")
    assert [one.what for one in found.differences] == ["backward", "running"]


# Examples in the other mode, and what is said where nothing explains the output


class InOneMode(nn.LayerNorm):
    def __init__(self, right):
        super().__init__(4)
        self.right = right

    def forward(self, x):
        return super().forward(x) * (1 if self.training == self.right else 1.1)


@pytest.mark.parametrize("training", [True, False])
def test_a_mode_that_is_wrong_has_an_example(training):
    module = InOneMode(training).train(training)
    example = nv.check(module, (3, 4), "LayerNorm(4)").example
    assert torch.allclose(example.got, 1.1 * example.expected)
    assert f"    module.{'eval' if training else 'train'}()\n" in str(example)
    scope = {"module": module}
    exec(str(example), scope)
    with pytest.raises(AssertionError):
        scope["test_module"]()
    module.right = module.training
    scope["test_module"]()


def test_an_output_without_a_reason_says_what_holds():
    text = str(nv.check(lambda x: F.softmax(x, -1), SHAPE, LIKE))
    assert "gives its output. Its groups are those of LayerNorm(16)" in text
    assert "Its groups" not in str(nv.check(lambda x: F.softmax(x, 0), SHAPE, LIKE))


def test_a_variance_of_squares_in_float32_is_told_far_from_zero():
    def fast(x, of=lambda x: x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / ((of(x) * of(x)).mean(-1, keepdim=True) - of(mean) * of(mean) + 1e-5).sqrt()

    far = torch.randn(4, 16, generator=torch.Generator().manual_seed(1)) + 300
    told = "It computes the variance as E[x^2] - E[x]^2 in float32."
    assert str(nv.check(fast, far, "LayerNorm(16)")).endswith(told)
    noisy = nv.check(lambda x: rows(x) + (1e-2 * x.cos() if x.dtype == torch.float32 else 0), far, "LayerNorm(16)")
    assert not noisy
    assert told not in str(noisy)


def test_a_failure_has_few_calls():
    calls = []
    found = nv.check(lambda x: calls.append(1) or F.softmax(x, -1) + x.sin(), (20, 30), "LayerNorm(30)")
    assert not found
    assert len(calls) <= 600
    assert found.sampled


def test_results_that_are_kept_by_shape_are_told():
    kept = {}

    def cached(x):
        root = kept.setdefault(x.shape, (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt())
        return x * root

    found = nv.check(cached, SHAPE, "RMSNorm(16, eps=1e-6)")
    assert [one.what for one in found.differences] == ["repeat"]
    assert str(found).endswith("it keeps results by the shape of x.")


def test_a_function_of_gamma_that_gives_equal_factors_is_no_other_pattern():
    params = {"gamma": torch.rand(16) + 0.5, "beta": torch.rand(16)}
    found = nv.check(lambda x, gamma, beta: rows(x) * gamma.clamp(0, 1) + beta, SHAPE, LIKE, params=params)
    assert str(found) == "It uses gamma, but not as one factor."


def test_stored_statistics_that_are_used_otherwise_have_an_example():
    class HalfOfTheMean(nn.BatchNorm1d):
        def forward(self, x):
            return F.batch_norm(x, self.running_mean / 2, self.running_var, self.weight, self.bias)

    found = nv.check(HalfOfTheMean(5).eval(), (8, 5), "BatchNorm1d(5).eval()")
    assert found.example is not None
    assert "groups" not in str(found)
