import re

import pytest

from normviz.layers.pasted import parse_layer_on_shape, refused_layer
from normviz.layers.torch_errors import check
from normviz.texts.errors import NormvizError
from tests.layers.refusals import REFUSALS, common, quoted
from tests.support.needs import cases_in_torch

PASTED = [
    # a message of torch, the layer, the shape of x; what the message does not say is an example
    (
        "Given normalized_shape=[96], expected input with shape [*, 96], but got input of size[8, 96, 56, 56]",
        "LayerNorm([96])",
        (8, 96, 56, 56),
    ),
    ("RuntimeError: running_mean should contain 64 elements not 128", "BatchNorm2d(128)", (2, 64, 3, 5)),
    ("ValueError: expected 4D input (got 3D input)", "BatchNorm2d(4)", (2, 4, 5)),
    ("expected 3D or 4D input (got 5D input)", "InstanceNorm2d(4)", (2, 4, 2, 3, 2)),
    ("num_channels must be divisible by num_groups", "GroupNorm(4, 6)", (2, 6, 3, 5)),
    ("Input tensor must have at least 2 dimensions, but got 1", "RMSNorm([2, 4])", (4,)),
    ("num_channels (6) must be divisible by num_groups (4)", "GroupNorm(4, 6)", (2, 6, 3, 5)),
    (
        "Expected number of channels in input to be divisible by num_groups, but got input of shape [2, 4, 3] and num_groups=3",
        "GroupNorm(3, 3)",
        (2, 4, 3),
    ),
    # groups that divide both numbers of channels: the most, but four
    ("number of channels in input, but got weight of shape [6] and input of shape [2, 4, 3]", "GroupNorm(2, 6)", (2, 4, 3)),
    ("number of channels in input, but got weight of shape [8] and input of shape [2, 16, 3]", "GroupNorm(4, 8)", (2, 16, 3)),
    ("number of channels in input, but got weight of shape [10] and input of shape [2, 5, 3]", "GroupNorm(1, 10)", (2, 5, 3)),
    ("Expected at least 2 dimensions for input tensor but received 1", "GroupNorm(1, 4)", (4,)),
    ("Expected more than 1 value per channel when training, got input size [1, 2, 1]", "GroupNorm(2, 2)", (1, 2, 1)),
    (
        "Expected more than 1 value per channel when training, got input size torch.Size([1, 3, 1, 1])",
        "BatchNorm2d(3)",
        (1, 3, 1, 1),
    ),
    ("Expected more than 1 value per channel when training, got input size torch.Size([1, 3])", "BatchNorm1d(3)", (1, 3)),
    (
        "Expected more than 1 spatial element when training, got input size torch.Size([2, 3, 1, 1])",
        "InstanceNorm2d(3)",
        (2, 3, 1, 1),
    ),
    ("running_var should contain 3 elements not 5", "BatchNorm2d(5)", (2, 3, 4, 5)),
    ("weight should contain 3 elements not 5", "BatchNorm2d(5, track_running_stats=False)", (2, 3, 4, 5)),
    ("expected input's size at dim=0 to match num_features (5), but got: 6.", "InstanceNorm2d(5, affine=True)", (6, 3, 5)),
    ("expected input's size at dim=1 to match num_features (5), but got: 6.", "InstanceNorm2d(5, affine=True)", (2, 6, 3, 5)),
    ("expected at least 2D input (got 1D input)", "SyncBatchNorm(4)", (4,)),
    ("expected 2D or 3D input (got 4D input)", "BatchNorm1d(4)", (2, 4, 3, 5)),
    ("expected 5D input (got 2D input)", "BatchNorm3d(4)", (2, 4)),
    ("batch_norm eps must be positive during training, but got 0.0", "BatchNorm2d(4, eps=0.0)", (2, 4, 3, 5)),
    ("batch_norm eps must be non-negative, but got -0.5", "BatchNorm2d(4, eps=-0.5).eval()", (2, 4, 3, 5)),
    ("x " * 2000 + "running_mean should contain 64 elements not 128", "BatchNorm2d(128)", (2, 64, 3, 5)),
    ("LayerNorm(96) on (8, 96, 56, 56)", "LayerNorm([96])", (8, 96, 56, 56)),
    ("LayerNorm(96) on x of shape [8, 96]", "LayerNorm([96])", (8, 96)),
    ("nn.BatchNorm2d(3).eval() on 2,4,4,4", "BatchNorm2d(3).eval()", (2, 4, 4, 4)),
    (
        "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    nn.RMSNorm(3)(x)\n"
        "RuntimeError: Given normalized_shape=[3], expected input with shape [*3], but got input of\n size[3, 4]\n",
        "RMSNorm([3])",
        (3, 4),
    ),
]  # fmt: skip


@cases_in_torch
@pytest.mark.parametrize(("text", "layer", "shape"), PASTED)
def test_a_message_names_the_layer_and_the_shape_of_x(text, layer, shape):
    found = refused_layer(text)
    assert (str(found.layer), found.shape) == (layer, shape)


@pytest.mark.parametrize(
    "words", [refusal[2] for refusal in REFUSALS if refusal[2].count("got") or "must" in refusal[2]]
)
def test_a_message_that_torch_writes_is_written_again_for_the_layer_that_was_read(words):
    if words.endswith("when training"):
        words += ", got input size torch.Size([2, 3, 1, 1])"  # the table has the beginning only
    found = refused_layer(words)
    with pytest.raises(NormvizError) as caught:
        check(found.layer, found.shape)
    assert quoted(str(caught.value)).startswith(common(words, quoted(str(caught.value))))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "gamma",
        "CUDA out of memory",
        "running_mean should contain x elements",
        "Norm('n c -> n') on 2,3",
        "Conv2d(3, 3) on 2,3,4,4",
        "num_channels (0) must be divisible by num_groups (0)",
        "expected 0D input (got 99D input)",
        "running_mean should contain 0 elements not 4",
    ],
)
def test_another_text_is_no_message_of_a_layer(text):
    assert refused_layer(text) is None


def test_a_layer_on_a_shape_may_be_in_backticks():
    layer, shape = parse_layer_on_shape(" `LayerNorm(96)` on `8,` ")
    assert (str(layer), shape) == ("LayerNorm([96])", (8,))


def test_sizes_may_have_spaces_and_a_last_comma_and_are_large():
    assert parse_layer_on_shape(f"LayerNorm(96) on ( 8, {2**40}, )")[1] == (8, 2**40)


def test_the_error_for_a_text_that_is_no_layer_on_a_shape_names_it():
    with pytest.raises(
        NormvizError,
        match=re.escape("'LayerNorm(4)' is not a layer on a shape; write it as in LayerNorm([768]) on 32,128,768."),
    ):
        parse_layer_on_shape("LayerNorm(4)")


@pytest.mark.parametrize("text", ["", "LayerNorm(4)", "on 2,3", "LayerNorm(4) on ", "LayerNorm(4) on 0,4"])
def test_a_layer_on_a_shape_names_both(text):
    with pytest.raises(NormvizError, match="is not a layer on a shape; write it as in"):
        parse_layer_on_shape(text)
