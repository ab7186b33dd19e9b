"""``check`` refuses every wrong implementation with the right reason, and accuses no right one."""

import importlib.util

import pytest
import torch
from torch import nn

from normviz.api.check import check
from normviz.measuring import probe
from tests.measuring.mutations import JAX_RIGHT, JAX_WRONG, RIGHT, WRONG, contradictions
from tests.support.needs import HAS_RMS_NORM, cases_in_torch

MOST_CALLS_OF_RIGHT, MOST_CALLS_OF_WRONG = 100, 600
if importlib.util.find_spec("jax"):
    RIGHT, WRONG = [*RIGHT, *JAX_RIGHT], [*WRONG, *JAX_WRONG]


@pytest.fixture
def calls(monkeypatch):
    """The calls of the checked function."""
    made, run = [], probe.Function._run
    monkeypatch.setattr(probe.Function, "_run", lambda *arguments: made.append(1) or run(*arguments))
    return made


@cases_in_torch
@pytest.mark.parametrize("one", WRONG, ids=lambda one: one.name)
def test_a_wrong_implementation_is_refused_with_the_reason(one, calls):
    assert contradictions(one)
    found = one.check()
    assert {difference.what for difference in found.differences} == one.differs, found
    assert len(calls) <= MOST_CALLS_OF_WRONG


@cases_in_torch
@pytest.mark.parametrize("one", RIGHT, ids=lambda one: one.name)
def test_a_right_implementation_is_not_accused(one, calls):
    assert not contradictions(one)
    found = one.check()
    assert found.ok, found
    assert len(calls) <= MOST_CALLS_OF_RIGHT


@cases_in_torch
@pytest.mark.parametrize("one", RIGHT, ids=lambda one: one.name)
def test_without_a_layer_there_are_not_many_calls(one, calls):
    one.check(like=None, shapes=())
    assert len(calls) <= MOST_CALLS_OF_WRONG


LARGE = [
    (nn.BatchNorm2d(8), (2, 8, 16, 16), "BatchNorm2d(8)"),
    (nn.LayerNorm([32, 12, 12]), (4, 32, 12, 12), "LayerNorm([32, 12, 12])"),
    (nn.GroupNorm(2, 8), (2, 8, 16, 16), "GroupNorm(2, 8)"),
    *([(nn.RMSNorm(1024), (2, 160, 1024), "RMSNorm(1024)")] if HAS_RMS_NORM else []),
]


@pytest.mark.parametrize(("module", "shape", "like"), LARGE, ids=lambda value: str(value))
def test_the_number_of_calls_does_not_grow_with_x(module, shape, like, calls):
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    assert check(module, x, like)
    assert len(calls) <= MOST_CALLS_OF_RIGHT
    calls.clear()
    assert not check(module, x, f"LayerNorm({shape[-1]}, eps=1e-3)")
    assert len(calls) <= MOST_CALLS_OF_WRONG


def test_the_table_is_large():
    assert len(WRONG) >= 120
    assert len(RIGHT) >= 40
    assert len({one.name for one in [*WRONG, *RIGHT]}) == len(WRONG) + len(RIGHT)
