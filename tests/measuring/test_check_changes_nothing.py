"""``check`` changes neither x, nor random numbers, nor modules, wherever a function finds them."""

import random

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import normviz as nv
from tests.measuring.implementations import SEQUENCES, OnePlus


@pytest.mark.parametrize("wrapped", [False, True])
def test_nothing_is_changed(wrapped):
    module = nn.BatchNorm1d(4)
    module(torch.randn(3, 4, 5)).sum().backward()
    module.eval().train()
    state = {name: value.clone() for name, value in module.state_dict().items()}
    gradients = [(parameter.grad, parameter.grad.clone()) for parameter in module.parameters()]
    places = [value.data_ptr() for value in module.state_dict().values()]
    x = torch.randn(3, 4, 5)
    before, states = x.clone(), (torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate())
    threads = torch.get_num_threads()
    nv.check((lambda x: module(x)) if wrapped else module, x, like="LayerNorm(5)")
    assert torch.equal(x, before)
    assert module.training
    assert all(torch.equal(value, state[name]) for name, value in module.state_dict().items())
    assert [value.data_ptr() for value in module.state_dict().values()] == places
    assert all(
        p.grad is own and torch.equal(own, copy) for p, (own, copy) in zip(module.parameters(), gradients, strict=True)
    )
    assert torch.equal(torch.get_rng_state(), states[0])
    assert np.array_equal(np.random.get_state()[1], states[1])
    assert random.getstate() == states[2]
    assert torch.get_num_threads() == threads


class Counting(nn.Module):
    """Keeps a count and its last input, and replaces its buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.last = 0, None
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        self.calls += 1
        self.last = x
        self.mean = 0.9 * self.mean + 0.1 * x.mean((0, 2))
        return nn.functional.instance_norm(x)


def test_attributes_of_a_module_are_restored():
    module = Counting()
    buffer = module.mean
    nv.check(module, SEQUENCES)
    assert (module.calls, module.last) == (0, None)
    assert module.mean is buffer
    assert torch.equal(buffer, torch.zeros(4))


def _calls(function):
    def call(x):
        return function(x)

    return call


class Listed:
    """Has modules in a list, where torch does not see them."""

    def __init__(self, *modules):
        self.modules = list(modules)

    def __call__(self, x):
        return self.modules[0](x)


@pytest.mark.parametrize("how", ["list", "inner function", "object", "dictionary", "method"])
def test_modules_that_a_function_finds_elsewhere_are_not_changed(how):
    module = nn.BatchNorm1d(4)
    found = {"norm": [module]}
    functions = {
        "list": lambda x: found["norm"][0](x),
        "inner function": _calls(_calls(lambda x: module(x))),
        "object": Listed(module),
        "dictionary": {"f": module}["f"].forward,
        "method": Listed(module).__call__,
    }
    assert nv.check(functions[how], SEQUENCES, like="BatchNorm1d(4)")
    assert (int(module.num_batches_tracked), float(module.running_mean.abs().sum())) == (0, 0)


def scripted_layer_norm(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()


@pytest.mark.filterwarnings("ignore:.*jit.script:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of torch.jit, in torch 2.15
def test_scripted_functions_and_modules_are_measured_and_not_changed():
    assert nv.check(torch.jit.script(scripted_layer_norm), SEQUENCES, like="LayerNorm(5)")
    module = torch.jit.script(nn.BatchNorm1d(4))
    assert nv.check(module, SEQUENCES).layer == "BatchNorm1d(4)"
    assert (int(module.num_batches_tracked), float(module.running_mean.abs().sum())) == (0, 0)


def test_running_statistics_that_are_no_buffers_are_not_changed():
    mean, var = torch.zeros(4), torch.ones(4)
    assert nv.check(lambda x: nn.functional.batch_norm(x, mean, var, training=True), SEQUENCES, like="BatchNorm1d(4)")
    assert (mean.tolist(), var.tolist()) == ([0] * 4, [1] * 4)


def test_no_gradient_is_left_after_a_failure():
    module = OnePlus(5)
    with pytest.raises(nv.NormvizError):
        nv.check(lambda x: module(x)[0], SEQUENCES)
    assert module.weight.grad is None
    assert module.weight.dtype == torch.float32
