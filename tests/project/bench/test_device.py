"""The table of ``make test-device``, without an accelerator: on the CPU, and on a device that needs no hardware."""

import sys

import pytest
import torch
import torch.nn.functional as F

import normviz as nv
from bench import device
from tests.support import apart


def test_without_an_accelerator_it_says_so(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["bench.device"])
    monkeypatch.setattr(device, "accelerator", lambda: None)
    assert device.main() == 0
    assert capsys.readouterr().out == "skipped: there is no accelerator\n"


def test_a_wrong_verdict_is_seen():
    def right():
        return nv.check(lambda x: F.layer_norm(x, (6,)), (2, 6), "LayerNorm(6)")

    def wrong():
        return nv.check(lambda x: F.layer_norm(x, (6,), eps=0.1), (2, 6), "LayerNorm(6)")

    assert device.judged(device.Case("right", right))[0]
    assert not device.judged(device.Case("right", right, "eps"))[0]
    assert device.judged(device.Case("wrong", wrong, "eps"))[0]
    assert not device.judged(device.Case("wrong", wrong))[0]
    assert not device.judged(device.Case("wrong", wrong, "gamma"))[0]
    assert device.judged(device.Case("raises", lambda: 1 / 0)) == (False, "ZeroDivisionError: division by zero")
    assert not device.judged(device.Case("norms", lambda: "1 normalizations, not 2"))[0]


@pytest.mark.filterwarnings("ignore:input's size at dim=1")
def test_the_layers_and_the_models_are_right_on_a_device():
    names = ("BatchNorm1d, float32", "LayerNorm, float16", "wrong eps, bfloat16", "norms of a model")
    with apart.used():
        found = {
            one.name: device.judged(one)
            for one in [*device.layers(apart.PLACE), *device.models(apart.PLACE)]
            if one.name in names
        }
    assert {name: right for name, (right, _said) in found.items()} == dict.fromkeys(names, True), found
    assert torch.empty(0).device.type == "cpu"
