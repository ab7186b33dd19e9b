"""What torch refuses, in its own words, and what normviz adds."""

import re

import torch

from normviz.layers.layer import is_in_torch
from tests.support.needs import REFUSES_EPS_0
from tests.support.strategies import forward, random_tensor

REFUSALS = [
    # the layer, the shape, torch's words, and ours after them
    (
        "LayerNorm(3)",
        (2, 3, 4, 4),
        "Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[2, 3, 4, 4]",
        "normalized_shape must be the last sizes of x, here [4], [4, 4], [3, 4, 4] or [2, 3, 4, 4]. "
        "Axis 1 has size 3: to normalize over it, move it to the end (x.movedim(1, -1)), or use a module of your own (ChannelsFirstLayerNorm here; torch.nn has none).",
    ),
    (
        "LayerNorm(4)",
        (4, 4, 5),
        "Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[4, 4, 5]",
        "Axis 1 has size 4: to normalize over it, move it to the end (x.movedim(1, -1)), or use a module of your own (ChannelsFirstLayerNorm here; torch.nn has none).",
    ),
    (
        "LayerNorm([3, 4])",
        (2, 3, 5),
        "Given normalized_shape=[3, 4], expected input with shape [*, 3, 4], but got input of size[2, 3, 5]",
        "normalized_shape must be the last sizes of x, here [5], [3, 5] or [2, 3, 5].",
    ),
    (
        "LayerNorm([3, 4])",
        (4,),
        "Given normalized_shape=[3, 4], expected input with shape [*, 3, 4], but got input of size[4]",
        "normalized_shape must be the last sizes of x, here [4].",
    ),
    (
        "LayerNorm(3)",
        (3, 4),
        "Given normalized_shape=[3], expected input with shape [*, 3], but got input of size[3, 4]",
        "Axis 0 has size 3: to normalize over it, move it to the end (x.movedim(0, -1)).",
    ),
    (
        "RMSNorm([2, 3])",
        (3,),
        "Input tensor must have at least 2 dimensions, but got 1",
        "normalized_shape must be the last sizes of x, here [3].",
    ),
    (
        "RMSNorm(3)",
        (3, 4),
        "Given normalized_shape=[3], expected input with shape [*3], but got input of size[3, 4]",
        "normalized_shape must be the last sizes of x, here [4] or [3, 4].",
    ),
    (
        "GroupNorm(4, 6)",
        (2, 6, 3),
        "num_channels (6) must be divisible by num_groups (4)",
        "C=6 channels cannot be split into 4 equal groups; num_groups must be 1, 2, 3 or 6.",
    ),
    (
        "GroupNorm(2, 1)",
        (2, 1, 3),
        "num_channels (1) must be divisible by num_groups (2)",
        "C=1 channel cannot be split into 2 equal groups; num_groups must be 1.",
    ),
    (
        "GroupNorm(3, 10000)",
        (2, 10000, 3),
        "num_channels (10000) must be divisible by num_groups (3)",
        "num_groups must be 1, 2, 4, 5, 8, 10, 16, 20, 25, 40, 50, 80, …, 5000 or 10000.",
    ),
    (
        "GroupNorm(5, 144)",
        (2, 144, 3),
        "num_channels (144) must be divisible by num_groups (5)",
        "num_groups must be 1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 24, 36, 48, 72 or 144.",
    ),
    (
        "GroupNorm(2, 6)",
        (2, 4, 3),
        "Expected weight to be a vector of size equal to the number of channels in input, "
        "but got weight of shape [6] and input of shape [2, 4, 3]",
        "x has size 4 on axis 1. Write num_channels=4.",
    ),
    (
        "GroupNorm(3, 6, affine=False)",
        (2, 4, 3),
        "Expected number of channels in input to be divisible by num_groups, "
        "but got input of shape [2, 4, 3] and num_groups=3",
        "x has size 4 on axis 1. Write num_channels=4 and choose a num_groups that divides it.",
    ),
    (
        "GroupNorm(2, 6)",
        (2, 5, 6, 7),
        "Expected number of channels in input to be divisible by num_groups, "
        "but got input of shape [2, 5, 6, 7] and num_groups=2",
        "x has size 5 on axis 1. If the channels are on axis 2, of size 6, move them to axis 1: x.movedim(2, 1). "
        "If axis 1 holds the channels, write num_channels=5 and choose a num_groups that divides it.",
    ),
    (
        "GroupNorm(2, 2)",
        (1, 2, 1),
        "Expected more than 1 value per channel when training, got input size [1, 2, 1]",
        "The variance of one value is 0. Use fewer groups, or more than one position.",
    ),
    (
        "GroupNorm(1, 1)",
        (1, 1),
        "Expected more than 1 value per channel when training, got input size [1, 1]",
        "The variance of one value is 0. Use more than one channel, or more than one position.",
    ),
    (
        "GroupNorm(3, 6)",
        (1, 3),
        "Expected more than 1 value per channel when training, got input size [1, 3]",
        "x has size 3 on axis 1. Write num_channels=3.",
    ),
    (
        "GroupNorm(1, 2)",
        (2,),
        "Expected at least 2 dimensions for input tensor but received 1",
        "x has rank 1, shape (2,). Give an x of rank 2 or higher.",
    ),
    (
        "BatchNorm2d(4)",
        (2, 3, 5, 5),
        "running_mean should contain 3 elements not 4",
        "BatchNorm2d has num_features=4, and axis 1 of x, its channel axis, has size 3 in (2, 3, 5, 5); "
        "write BatchNorm2d(3), or move the channels to axis 1.",
    ),
    (
        "BatchNorm1d(6)",
        (2, 4, 6),
        "running_mean should contain 4 elements not 6",
        "has size 4 in (2, 4, 6). If the channels are on axis 2, of size 6, move them to axis 1: x.movedim(-1, 1). "
        "If axis 1 holds the channels, write BatchNorm1d(4).",
    ),
    (
        "GroupNorm(2, 6)",
        (2, 4, 6),
        "Expected weight to be a vector of size equal to the number of channels in input, "
        "but got weight of shape [6] and input of shape [2, 4, 6]",
        "x has size 4 on axis 1. If the channels are on axis 2, of size 6, move them to axis 1: x.movedim(-1, 1). If axis 1 holds the channels, write num_channels=4.",
    ),
    (
        "BatchNorm1d(4, track_running_stats=False)",
        (2, 3),
        "weight should contain 3 elements not 4",
        "write BatchNorm1d(3, track_running_stats=False), or move the channels to axis 1.",
    ),
    (
        "BatchNorm2d(3)",
        (1, 3, 1, 1),
        "Expected more than 1 value per channel when training, got input size torch.Size([1, 3, 1, 1])",
        "The variance of one value is 0, so the output would not depend on x. Use a batch of at least two, "
        "or more than one position, or eval mode with running statistics.",
    ),
    (
        "BatchNorm1d(3, track_running_stats=False).eval()",
        (1, 3),
        "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])",
        "Use a batch of at least two",
    ),
    (
        "BatchNorm2d(3)",
        (2, 3),
        "expected 4D input (got 2D input)",
        "x has rank 2, shape (2, 3). For this x use BatchNorm1d.",
    ),
    (
        "BatchNorm2d(3)",
        (3, 2, 2),
        "expected 4D input (got 3D input)",
        "x has rank 3, shape (3, 2, 2). If x is one example without a batch axis, add the axis: x.unsqueeze(0). Otherwise use BatchNorm1d.",
    ),
    (
        "BatchNorm2d(3)",
        (3, 2, 1),
        "expected 4D input (got 3D input)",
        "If x is one example without a batch axis, add the axis: x.unsqueeze(0).",
    ),
    (
        "BatchNorm1d(6).eval()",
        (6,),
        "expected 2D or 3D input (got 1D input)",
        "x has rank 1, shape (6,). If x is one example, add a batch axis: x.unsqueeze(0).",
    ),
    (
        "BatchNorm1d(3)",
        (2, 3, 4, 4),
        "expected 2D or 3D input (got 4D input)",
        "x has rank 4, shape (2, 3, 4, 4). For this x use BatchNorm2d.",
    ),
    ("BatchNorm3d(3)", (3,), "expected 5D input (got 1D input)", "x has rank 1, shape (3,). Give an x of rank 5."),
    ("SyncBatchNorm(3)", (3,), "expected at least 2D input (got 1D input)", "Give an x of rank 2 or higher."),
    (
        "BatchNorm1d(3, eps=0)",
        (2, 3),
        "batch_norm eps must be positive during training, but got 0.0",
        "Give a small eps, such as 1e-5.",
    ),
    (
        "BatchNorm1d(3, eps=-0.5, track_running_stats=False).eval()",
        (2, 3),
        "batch_norm eps must be positive during training, but got -0.5",
        "Give a small eps, such as 1e-5.",
    ),
    (
        "SyncBatchNorm(3, eps=-0.5).eval()",
        (2, 3),
        "batch_norm eps must be non-negative, but got -0.5",
        "Give a small eps, such as 1e-5.",
    ),
    (
        "InstanceNorm1d(3)",
        (2, 3, 4, 4),
        "expected 2D or 3D input (got 4D input)",
        "For this x use InstanceNorm2d or InstanceNorm3d.",
    ),
    (
        "InstanceNorm2d(4, affine=True)",
        (2, 3, 5, 5),
        "expected input's size at dim=1 to match num_features (4), but got: 3.",
        "InstanceNorm2d has num_features=4, and axis 1 of x, its channel axis, has size 3 in (2, 3, 5, 5); "
        "write InstanceNorm2d(3, affine=True), or move the channels to axis 1.",
    ),
    (
        "InstanceNorm2d(4, affine=True)",
        (3, 5, 5),
        "expected input's size at dim=0 to match num_features (4), but got: 3.",
        "InstanceNorm2d has num_features=4, and axis 0 of x, its channel axis, has size 3",
    ),
    (
        "InstanceNorm1d(4, track_running_stats=True)",
        (2, 3, 5),
        "running_mean should contain 6 elements not 8",
        "InstanceNorm1d has num_features=4, and axis 1 of x, its channel axis, has size 3",
    ),
    (
        "InstanceNorm1d(4, track_running_stats=True).eval()",
        (3, 5),
        "running_mean should contain 3 elements not 4",
        "InstanceNorm1d has num_features=4, and axis 0 of x, its channel axis, has size 3",
    ),
    (
        "InstanceNorm2d(3)",
        (2, 3, 1, 1),
        "Expected more than 1 spatial element when training, got input size torch.Size([2, 3, 1, 1])",
        "The variance of one value is 0, so the output would not depend on x. Use a larger height, width or length.",
    ),
    (
        "InstanceNorm2d(3).eval()",
        (3, 1, 1),
        "Expected more than 1 spatial element when training, got input size torch.Size([1, 3, 1, 1])",
        "Use a larger height, width or length.",
    ),
    (
        "InstanceNorm2d(3, track_running_stats=True)",
        (2, 3, 1, 1),
        "Expected more than 1 spatial element when training",
        "Use a larger height, width or length, or eval mode with running statistics.",
    ),
]


def torch_error(layer, shape):
    """The message of torch's error for the layer or its forward on that shape; None if it runs."""
    try:
        forward(layer.module(), random_tensor(shape, 0, torch.float32))
    except (ValueError, RuntimeError, TypeError) as refused:
        return str(refused)
    return None


def quoted(message):
    return re.match(r'torch refuses: "(.*?)"\. ', message)[1]


def common(words, theirs):
    """The words that torch should write, or their beginning without the numbers, which older versions of torch leave out."""
    words = words if words in theirs else words.partition(" (")[0]
    assert words in theirs
    return words


REFUSALS = [
    one for one in REFUSALS if is_in_torch(one[0]) and (REFUSES_EPS_0 or not one[2].startswith("batch_norm eps"))
]
