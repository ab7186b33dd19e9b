"""Derivatives, and the sums of the backward pass."""

import torch
from hypothesis import strategies as st

from tests.claims.drawing import SUBTRACT_MEAN, close, draw_case, element, mean_of_groups, normal, run
from tests.claims.modes import with_random_statistics
from tests.claims.predicates import predicate


def backward(draw, case):
    """x with its gradient, dout, and the output before gamma and beta."""
    x = case.x.clone().requires_grad_()
    out = case.layer(x)
    dout = normal(draw, *out.shape)
    out.backward(dout)
    xhat = out.detach() - (case.layer.bias.view(-1)[case.gamma] if getattr(case.layer, "bias", None) is not None else 0)
    return x, dout, xhat.detach() / case.layer.weight.detach().view(-1)[case.gamma]


@predicate({"The gradient of gamma is a sum over a row.": {"by": "group"}})
def the_gradient_of_gamma_sums_over_the_elements_that_use_it(draw, by="gamma"):
    """Each entry of dgamma is the sum of dout · xhat over the elements that use this gamma, that of dbeta the sum of dout."""
    case = draw_case(draw)
    _x, dout, xhat = backward(draw, case)
    numbers = getattr(case, by).flatten()
    if by == "group" and int(numbers.max()) >= case.layer.weight.numel():
        raise AssertionError("more groups than gammas")
    zeros = torch.zeros(case.layer.weight.numel(), dtype=torch.float64)
    close(case.layer.weight.grad.flatten(), zeros.index_add(0, numbers, (dout * xhat).flatten()), 1e-8)
    if getattr(case.layer, "bias", None) is not None:
        close(case.layer.bias.grad.flatten(), zeros.index_add(0, numbers, dout.flatten()), 1e-8)


@predicate({"The gradient of x stays within its column.": {"by": "gamma"}})
def a_derivative_stays_within_its_group(draw, by="group"):
    """The derivative of an output with respect to an input of another group is zero."""
    case = draw_case(draw, least=2)
    x, at = case.x.clone().requires_grad_(), element(draw, case.x)
    case.layer(x)[at].backward()
    numbers = getattr(case, by)
    assert not bool((x.grad[numbers != numbers[at]] != 0).any())


@predicate({"In eval mode of BatchNorm the Jacobian has entries for the whole channel": {"training": True}})
def in_eval_mode_only_the_diagonal_is_left(draw, training=False):
    """In eval mode with running statistics, each output depends on its own input alone: its derivative there is gamma / sqrt(var + eps)."""
    case = draw_case(draw, "BatchNorm", "InstanceNorm", track_running_stats=True)
    layer, at = with_random_statistics(draw, case.layer).train(training), element(draw, case.x)
    x = case.x.clone().requires_grad_()
    layer(x)[at].backward()
    expected = torch.zeros_like(case.x)
    expected[at] = layer.weight[at[1]] / (layer.running_var[at[1]] + layer.eps).sqrt()
    close(x.grad, expected.detach())


@predicate({"Move x[0, 0] and 1 of 8 outputs moves, because one derivative is not 0.": {"by": 1.0, "tolerance": 1e-9}})
def a_zero_derivative_is_of_the_first_order(draw, by=1e-6, tolerance=1e-9):
    """In RMSNorm of one number and zeros, all derivatives of that number's output are zero: a change moves it by its square only, but moves it."""
    n = draw(st.integers(2, 6))
    x = torch.zeros(n, dtype=torch.float64)
    x[0] = draw(st.floats(1.0, 5.0))
    layer = torch.nn.RMSNorm(n, eps=1e-12).double()
    assert float(torch.autograd.functional.jacobian(layer, x)[0].abs().max()) < 1e-9
    other = x.clone()
    other[draw(st.integers(1, n - 1))] += by
    assert abs(float((run(layer, other) - run(layer, x))[0])) < tolerance


@predicate({"The backward pass may treat the mean as a constant.": {"mean": torch.zeros_like}})
def the_backward_pass_needs_xhat_gamma_and_the_root(draw, mean=lambda values: values):
    """dx follows from dout, xhat, gamma and sqrt(var + eps) alone: the means are not needed again."""
    case = draw_case(draw, *SUBTRACT_MEAN, least=2)
    x, dout, xhat = backward(draw, case)
    centered = case.x - mean_of_groups(case.x, case.group)
    root = (mean_of_groups(centered.square(), case.group) + case.layer.eps).sqrt()
    dxhat = dout * case.layer.weight.detach().view(-1)[case.gamma]
    dx = (dxhat - mean(mean_of_groups(dxhat, case.group)) - xhat * mean_of_groups(dxhat * xhat, case.group)) / root
    close(x.grad, dx, 1e-6)
