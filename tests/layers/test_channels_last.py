"""The layers with channels last: BatchNorm, InstanceNorm and GroupNorm over C of (N, L, C), (N, H, W, C) and (N, D, H, W, C).

They are compared with torch's own layers on an x whose channels are moved to axis 1 by hand.
"""

import re

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from normviz.analysis.description import describe
from normviz.code.programs import FLAVORS, code
from normviz.layers.catalogue import KINDS
from normviz.layers.layer import Layer
from normviz.layers.naming import torch_layer
from normviz.layers.norm import Norm
from normviz.texts.errors import NormvizError
from tests.support.needs import needs_refused_eps
from tests.support.strategies import (
    describe_or_reject,
    forward,
    layers_that_fit,
    module_with_random_numbers,
    random_tensor,
)

NAMES = tuple(name for name, kind in KINDS.items() if kind.channels_last)
BY_HAND = {
    "ChannelsLastBatchNorm": {3: nn.BatchNorm1d, 4: nn.BatchNorm2d, 5: nn.BatchNorm3d},
    "ChannelsLastInstanceNorm": {3: nn.InstanceNorm1d, 4: nn.InstanceNorm2d, 5: nn.InstanceNorm3d},
    "ChannelsLastGroupNorm": dict.fromkeys((3, 4, 5), nn.GroupNorm),
}


def test_there_is_one_for_each_family_with_channels():
    assert {KINDS[name].family: name for name in NAMES} == {
        "BatchNorm": "ChannelsLastBatchNorm",
        "InstanceNorm": "ChannelsLastInstanceNorm",
        "GroupNorm": "ChannelsLastGroupNorm",
    }
    assert [KINDS[name].layout(rank) for name in NAMES for rank in (3, 4, 5)] == ["NLC", "NHWC", "NDHWC"] * 3


def by_hand(layer, rank, state):
    """torch's layer for channels on axis 1, on x with the channels moved there and back."""
    module = BY_HAND[layer.name][rank](**dict(layer.arguments), dtype=torch.float64).train(layer.training)
    module.load_state_dict(state)
    return lambda x: forward(module, x.movedim(-1, 1).contiguous()).movedim(1, -1)


@given(layers_that_fit(NAMES), st.integers(0, 100))
def test_the_output_is_that_of_torchs_layer_on_moved_channels(drawn, seed):
    layer, shape = drawn
    module, x = module_with_random_numbers(layer, torch.float64, seed), random_tensor(shape, seed)
    e = describe_or_reject(module, x)
    expected = by_hand(layer, len(shape), module.state_dict())(x)
    torch.testing.assert_close(e.trace.output, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
    if layer.given["eps"] >= 0:
        assert e.agreement < 1e-6


@pytest.mark.parametrize("shape", [(1, 5, 4), (2, 5, 4), (1, 3, 5, 4), (2, 2, 3, 2, 4)])
@pytest.mark.parametrize(
    "text", ["ChannelsLastBatchNorm(4)", "ChannelsLastInstanceNorm(4, affine=True)", "ChannelsLastGroupNorm(2, 4)"]
)
def test_its_gradients_are_right(text, shape):
    module = Layer.parse(text).module(torch.float64)
    assert torch.autograd.gradcheck(module, random_tensor(shape, 0).requires_grad_())


PATTERNS = [
    ("ChannelsLastBatchNorm(4)", (2, 5, 4), "n l c -> c", "c", 9),
    ("ChannelsLastBatchNorm(4)", (2, 3, 5, 4), "n h w c -> c", "c", 29),
    ("ChannelsLastBatchNorm(4)", (2, 2, 3, 5, 4), "n d h w c -> c", "c", 59),
    ("ChannelsLastInstanceNorm(4)", (2, 5, 4), "n l c -> n c", None, 4),
    ("ChannelsLastInstanceNorm(4, affine=True)", (2, 3, 5, 4), "n h w c -> n c", "c", 14),
    ("ChannelsLastInstanceNorm(4, track_running_stats=True).eval()", (2, 5, 4), "n l c -> c", None, 9),
    ("ChannelsLastGroupNorm(2, 4)", (2, 5, 4), "n l (g k) -> n g", "c", 9),
    ("ChannelsLastGroupNorm(2, 4)", (2, 3, 5, 4), "n h w (g k) -> n g", "c", 29),
]


@pytest.mark.parametrize(("text", "shape", "stats", "params", "others"), PATTERNS)
def test_who_shares_a_mean_and_who_a_gamma(text, shape, stats, params, others):
    e = describe(text, shape)
    assert (e.norm.stats, e.norm.params) == (stats, params)
    assert len(e.peers((0,) * len(shape))) == others
    assert e.notes == ()


@pytest.mark.parametrize(
    "text", ["ChannelsLastBatchNorm(4)", "ChannelsLastInstanceNorm(4)", "ChannelsLastGroupNorm(2, 4)"]
)
@pytest.mark.parametrize("shape", [(2, 5, 4), (2, 3, 5, 4)])
def test_a_pattern_is_found_to_be_the_layer(text, shape):
    norm = describe(text, shape).norm
    assert str(torch_layer(norm, shape)) == text
    assert str(torch_layer(Norm(norm.stats, norm.params, sizes=norm.sizes), shape)) == text


REFUSED = [
    ("ChannelsLastBatchNorm(5)", (2, 5, 4), "ChannelsLastBatchNorm has num_features=5, and axis 2 of x, its channel axis, has size 4 in (2, 5, 4)."),
    ("ChannelsLastGroupNorm(2, 6)", (2, 5, 4), "ChannelsLastGroupNorm has num_channels=6, and axis 2 of x"),
    ("ChannelsLastGroupNorm(3, 4)", (2, 5, 4), "C=4 channels cannot be split into 3 equal groups"),
    ("ChannelsLastBatchNorm(4)", (2, 4), "ChannelsLastBatchNorm takes an x of rank 3, 4 or 5, and this x has rank 2, shape (2, 4)."),
    ("ChannelsLastBatchNorm(4)", (1, 1, 4), "Expected more than 1 value per channel when training"),
    ("ChannelsLastInstanceNorm(4)", (2, 1, 4), "Expected more than 1 spatial element when training"),
    pytest.param("ChannelsLastBatchNorm(4, eps=0)", (2, 5, 4), "batch_norm eps must be positive during training", marks=needs_refused_eps),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shape", "words"), REFUSED)
def test_what_torch_refuses_is_refused(text, shape, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        describe(text, shape)


@pytest.mark.parametrize(
    "text",
    ["ChannelsLastBatchNorm(4).eval()", "ChannelsLastGroupNorm(2, 4, eps=0.1)", "nv.ChannelsLastInstanceNorm(4)"],
)
def test_it_is_parsed_and_read_back_from_its_module(text):
    layer = Layer.parse(text)
    assert Layer.parse(str(layer)) == layer
    assert Layer.of(layer.module()) == layer


MOVED = [
    ("ChannelsLastBatchNorm(4)", (2, 5, 4), "nn.BatchNorm1d(4)", "layer(x.transpose(1, 2)).transpose(1, 2)"),
    ("ChannelsLastBatchNorm(4).eval()", (2, 3, 5, 4), "nn.BatchNorm2d(4).eval()", "layer(x.movedim(-1, 1)).movedim(1, -1)"),
    ("ChannelsLastGroupNorm(2, 4)", (2, 2, 3, 2, 4), "nn.GroupNorm(2, 4)", "layer(x.movedim(-1, 1)).movedim(1, -1)"),
    ("ChannelsLastInstanceNorm(4)", (2, 5, 4), "nn.InstanceNorm1d(4)", "layer(x.transpose(1, 2)).transpose(1, 2)"),
    ("ChannelsLastInstanceNorm(4)", (2, 3, 5, 4), "nn.InstanceNorm1d(4)", "layer(x.flatten(1, -2).transpose(1, 2)).transpose(1, 2).reshape(x.shape)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "shape", "constructor", "call"), MOVED)
def test_the_torch_code_moves_the_channels(text, shape, constructor, call):
    x = random_tensor(shape, 0, torch.float32)
    lines = code(describe(text, x), "torch").splitlines()
    assert lines[-2:] == [f"layer = {constructor}", f"y = {call}"]
    found: dict = {}
    exec("\n".join(lines), found)
    torch.testing.assert_close(found["y"], describe(text, found["x"]).trace.output, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("flavor", FLAVORS)
@pytest.mark.parametrize(
    "text", ["ChannelsLastBatchNorm(4)", "ChannelsLastInstanceNorm(4)", "ChannelsLastGroupNorm(2, 4)"]
)
def test_every_flavor_of_code_has_it(flavor, text):
    assert "No layer of torch" not in code(describe(text, (2, 5, 4)), flavor)
