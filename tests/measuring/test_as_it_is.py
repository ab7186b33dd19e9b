"""``like`` as a function, or as a module with a forward of its own."""

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv

IMAGE = torch.randn(3, 4, 5, 6, generator=torch.Generator().manual_seed(1)) + 0.5
TABLE = torch.randn(5, 6, generator=torch.Generator().manual_seed(2))


class OwnBatchNorm(nn.Module):
    def __init__(self, eps=1e-5, momentum=0.1, m_minus_one=True, names=("running_mean", "running_var")):
        super().__init__()
        self.eps, self.momentum, self.m_minus_one, self.names = eps, momentum, m_minus_one, names
        self.weight, self.bias = nn.Parameter(torch.rand(4) + 0.5), nn.Parameter(torch.rand(4))
        for name, value in zip(names, (torch.randn(4), torch.rand(4) + 0.5), strict=True):
            self.register_buffer(name, value)

    def forward(self, x):
        stored, shape = [getattr(self, name) for name in self.names], (1, -1, 1, 1)
        mean, var = stored
        if self.training:
            mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0)
            with torch.no_grad():
                stored[0].lerp_(mean, self.momentum)
                stored[1].lerp_(x.var((0, 2, 3), correction=int(self.m_minus_one)), self.momentum)
        normalized = (x - mean.view(shape)) / (var.view(shape) + self.eps).sqrt()
        return normalized * self.weight.view(shape) + self.bias.view(shape)


class FrozenBatchNorm(nn.Module):
    """As in torchvision: buffers, and one forward for both modes."""

    def __init__(self):
        super().__init__()
        for name, value in {"weight": 1.5, "bias": 0.5, "running_mean": 0.3, "running_var": 2.0}.items():
            self.register_buffer(name, torch.full((4,), value) + 0.1 * torch.arange(4))

    def forward(self, x):
        scale = self.weight * (self.running_var + 1e-5).rsqrt()
        return x * scale[:, None, None] + (self.bias - self.running_mean * scale)[:, None, None]


class Twice(nn.LayerNorm):
    def forward(self, x):
        return 2 * super().forward(x)


def squashed(x, weight=1.0):
    """No Norm: a mean of absolute deviations, and a function after it."""
    d = x - x.mean(-1, keepdim=True)
    return torch.tanh(d / (d.abs().mean(-1, keepdim=True) + 1e-3) * weight)


@pytest.mark.parametrize("training", [True, False])
def test_an_own_module_with_running_statistics_is_what_it_is(training):
    torch.manual_seed(0)
    module = OwnBatchNorm().train(training)
    before = copy.deepcopy(module.state_dict())
    assert nv.check(module, IMAGE, module), nv.check(module, IMAGE, module)
    assert nv.check(OwnBatchNorm().train(training), IMAGE, module)
    assert nv.check(OwnBatchNorm(names=("moving_mean", "moving_variance")).train(training), IMAGE, module)
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())


def test_the_groups_of_an_own_module_are_those_of_its_norm():
    found = nv.check(OwnBatchNorm(), IMAGE, OwnBatchNorm())
    assert (found.norm.stats, found.reduced) == ("n c h w -> c", (0, 2, 3))
    assert str(found) == "Your function does what OwnBatchNorm does: it averages over N, H and W."


def test_an_own_module_that_does_something_else_is_told():
    told = {
        "eps": (OwnBatchNorm(eps=1e-3), "Its eps is 0.001, not 1e-05."),
        "momentum": (OwnBatchNorm(momentum=0.2), "Its running_mean after two batches differs from that of OwnBatchNorm. Its running_var after two batches differs from that of OwnBatchNorm."),
        "biased": (OwnBatchNorm(m_minus_one=False), "Its running_var after two batches differs from that of OwnBatchNorm."),
    }  # fmt: skip
    for module, sentence in told.values():
        assert str(nv.check(module, IMAGE, OwnBatchNorm())) == sentence
    assert "stored statistics" in str(nv.check(OwnBatchNorm().eval(), IMAGE, OwnBatchNorm()))
    in_eval = nv.check(OwnBatchNorm(eps=1e-2).eval(), IMAGE, OwnBatchNorm().eval())
    assert str(in_eval) == "Its eps is 0.01, not 1e-05."


def test_a_subclass_with_a_forward_of_its_own_is_no_layer_of_torch():
    assert nv.check(Twice(6), TABLE, Twice(6))
    assert nv.check(lambda x: 2 * F.layer_norm(x, (6,)), TABLE, Twice(6))
    found = nv.check(nn.LayerNorm(6), TABLE, Twice(6))
    assert [one.what for one in found.differences] == ["values"]
    assert torch.allclose(2 * found.example.got, found.example.expected)


def test_a_function_is_compared_with_a_function():
    assert nv.check(squashed, TABLE, squashed)
    weight = {"weight": torch.rand(6) + 0.5}
    assert nv.check(lambda x, weight: squashed(x, weight), TABLE, squashed, params=weight)
    assert str(nv.check(squashed, TABLE, squashed)) == "Your function does what squashed does."
    wrong = nv.check(lambda x: squashed(x, 1.01), TABLE, squashed)
    assert str(wrong).startswith("Its output differs from that of squashed by up to")
    assert wrong.example is not None
    detached = nv.check(lambda x: squashed(x) - (t := squashed(x)) + t.detach(), TABLE.requires_grad_(), squashed)
    assert [one.what for one in detached.differences] == ["backward"]


class Scaled(torch.autograd.Function):
    """Its input, with another gradient."""

    @staticmethod
    def forward(_context, x):
        return x.clone()

    @staticmethod
    def backward(_context, dout):
        return 1.5 * dout


class WrongGradient(OwnBatchNorm):
    def __init__(self, wrong):
        super().__init__()
        self.wrong = wrong

    def forward(self, x):
        parameter = getattr(self, self.wrong)
        delattr(self, self.wrong)
        setattr(self, self.wrong, Scaled.apply(parameter))
        try:
            return super().forward(x)
        finally:
            delattr(self, self.wrong)
            setattr(self, self.wrong, parameter)


@pytest.mark.parametrize(("wrong", "name"), [("weight", "dgamma"), ("bias", "dbeta")])
@pytest.mark.parametrize("training", [True, False])
def test_the_gradients_of_parameters_with_the_same_meaning_are_compared(wrong, name, training):
    found = nv.check(WrongGradient(wrong).train(training), IMAGE, OwnBatchNorm().train(training))
    assert str(found).startswith(f"Its output is right, but not its gradient: {name} differs by up to")
    assert nv.check(WrongGradient(wrong).train(training), IMAGE, OwnBatchNorm().train(training), backward=False)


class WrongInEval(OwnBatchNorm):
    def forward(self, x):
        return super().forward(x) if self.training else Scaled.apply(super().forward(x))


@pytest.mark.parametrize("training", [True, False])
def test_the_gradients_in_the_other_mode_are_compared(training):
    found = nv.check(WrongInEval().train(training), IMAGE, OwnBatchNorm().train(training))
    assert str(found).startswith("Its output is right, but not its gradient: dx, dgamma and dbeta differ by up to")
    assert str(found).endswith("This is the gradient in eval mode.") == training
    right = nv.check(WrongInEval().train(training), IMAGE, WrongInEval().train(training))
    assert right, right
    assert {one.trial: one.result for one in right.trials}["gradients in modes"] == "right"


def test_the_gradient_of_a_parameter_of_a_function_is_compared():
    weight = {"weight": torch.rand(6) + 0.5}
    found = nv.check(lambda x, weight: squashed(x, Scaled.apply(weight)), TABLE, squashed, params=weight)
    assert str(found).startswith("Its output is right, but not its gradient: dgamma differs by up to")
    right = nv.check(lambda x, weight: squashed(x, weight), TABLE, squashed, params=weight)
    assert "the gradients of x, gamma and beta" in [one.tried for one in right.trials]
    assert "the gradient of x" in [one.tried for one in nv.check(squashed, TABLE, squashed).trials]


@pytest.mark.parametrize("backward", [None, True])
@pytest.mark.parametrize(
    "like", [torch.no_grad()(squashed), lambda x: torch.from_numpy(np.asarray(squashed(torch.from_numpy(x.numpy()))))]
)
def test_a_like_without_a_gradient_is_no_fault_of_the_function(like, backward):
    found = nv.check(squashed, TABLE.detach(), like, backward=backward)
    assert found, found
    assert found.notes == (f"Its gradients are not compared: {like.__name__} has no gradient.",)
    with_reason = {one.trial: one.reason for one in found.trials}
    assert with_reason["gradients"] == with_reason["gradients elsewhere"] == f"{like.__name__} has no gradient"


def test_where_no_norm_describes_like_a_wrong_size_has_no_reason():
    found = nv.check(lambda x: squashed(x) + (len(x) == 65), TABLE, squashed)
    assert str(found) == "It is right on (5, 6), but not on (65, 6): there its output differs by up to 1."


def test_of_a_function_that_a_norm_describes_the_difference_is_told():
    def by_hand(x, weight, bias):
        return F.layer_norm(x, (6,), weight, bias)

    params = {"weight": torch.rand(6), "bias": torch.rand(6)}
    assert nv.check(by_hand, TABLE, by_hand, params=params)
    wrong = nv.check(
        lambda x, weight, bias: F.layer_norm(x, (6,), 1 + weight, bias, 1e-3), TABLE, by_hand, params=params
    )
    assert str(wrong) == "Its eps is 0.001, not 1e-05. It multiplies by 1 + gamma, not by gamma."


@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
def test_frozen_statistics_are_right_in_both_modes():
    batch_norm, frozen = nn.BatchNorm2d(4).eval(), FrozenBatchNorm()
    traced = torch.jit.trace(batch_norm, IMAGE)
    for fn, like in (
        (frozen, batch_norm),
        (batch_norm, frozen),
        (traced, batch_norm),
        (batch_norm, traced),
        (frozen, frozen),
    ):
        for training in (True, False):
            found = nv.check(fn if fn is batch_norm else fn.train(training), IMAGE, like)
            assert found, found
    assert not nv.check(nn.BatchNorm2d(4), IMAGE, frozen)


def test_what_is_no_normalization_is_no_like():
    with pytest.raises(nv.NormvizError, match="like='GELU' is not one normalization"):
        nv.check(F.relu, TABLE, nn.GELU())
    with pytest.raises(nv.NormvizError, match="like='squashed' is a function whose gradients are not known"):
        nv.check_backward(lambda dout, cache: dout, TABLE, squashed, forward=lambda x: (x, x))


# Stored statistics with the names of other libraries


class Moving(nn.Module):
    def __init__(self, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.register_buffer("moving_mean", torch.randn(4))
        self.register_buffer("moving_variance", torch.rand(4) + 0.5)

    def forward(self, x):
        return (x - self.moving_mean[:, None, None]) / (self.moving_variance[:, None, None] + self.eps).sqrt()


def test_moving_statistics_are_stored_ones():
    right = nv.check(Moving(), IMAGE, "BatchNorm2d(4).eval()")
    assert right
    assert right.notes == ()
    assert str(nv.check(Moving(eps=1e-3), IMAGE, "BatchNorm2d(4).eval()")) == "Its eps is 0.001, not 1e-05."


def test_the_statistics_of_flax_are_stored_ones():
    def apply(x, variables):
        mean, var = (variables["batch_stats"][name][:, None, None] for name in ("mean", "var"))
        return (x - mean) / (var + 1e-3).sqrt()

    variables = {"params": {}, "batch_stats": {"mean": torch.randn(4), "var": torch.rand(4) + 0.5}}
    assert nv.check(apply, IMAGE, "BatchNorm2d(4, eps=1e-3).eval()", params={"variables": variables}).notes == ()
    found = nv.check(apply, IMAGE, "BatchNorm2d(4).eval()", params={"variables": variables})
    assert str(found) == "Its eps is 0.001, not 1e-05."
