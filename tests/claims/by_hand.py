"""Layers written by hand, and facts from papers that a table settles."""

import torch
from hypothesis import strategies as st
from torch import nn

from tests.claims.drawing import close, draw_shape, normal, run
from tests.claims.predicates import predicate

IMAGENET_ERRORS = {
    "BatchNorm": 23.6,
    1: 25.3,
    32: 24.1,
    "one channel a group": 28.4,
}  # ResNet-50, Wu and He (2018), table 1


@predicate({"`dim=-1` is not LayerNorm": {"dim": 0}})
def dim_minus_one_by_hand_is_layernorm(draw, dim=-1):
    """(x - mean) / sqrt(var + eps) over dim=-1, with the mean of the squares as variance, is LayerNorm with the same eps."""
    x, eps = normal(draw, *draw_shape(draw, 2, 4, least=2)), draw(st.sampled_from([1e-12, 1e-5, 0.5]))
    centered = x - x.mean(dim, keepdim=True)
    found = centered / (centered.square().mean(dim, keepdim=True) + eps).sqrt()
    close(found, run(nn.LayerNorm(x.shape[-1], eps=eps).double(), x), 1e-6)


@predicate({"The mean over `dim=0` is BatchNorm2d's": {"dims": (0,)}})
def the_mean_over_all_but_the_channels_is_batchnorm(draw, dims=(0, 1, 2)):
    """On (B, H, W, C), normalizing over dim=(0, 1, 2) is BatchNorm2d with the channels moved; x.mean(0) has a mean for each pixel and channel."""
    x = normal(draw, *draw_shape(draw, 4, 4, least=2))
    assert x.mean(0).numel() == x[0].numel()
    centered = x - x.mean(dims, keepdim=True)
    found = centered / (centered.square().mean(dims, keepdim=True) + 1e-5).sqrt()
    close(found.movedim(-1, 1), run(nn.BatchNorm2d(x.shape[-1]).double(), x.movedim(-1, 1)))


@predicate(
    {
        "`x.var()` gives the layer's output": {"correction": 1},
        "with `x.var()` the numbers by hand are larger": {"larger": True},
    }
)
def x_var_divides_by_m_minus_1_and_gives_smaller_numbers(draw, correction=0, larger=False):
    """x.var(correction=0) gives LayerNorm's output; x.var() divides by m - 1 and gives smaller numbers."""
    x = normal(draw, draw(st.integers(2, 30)))
    own = run(nn.LayerNorm(len(x)).double(), x)
    close((x - x.mean()) / (x.var(correction=correction) + 1e-5).sqrt(), own)
    by_hand = (x - x.mean()) / (x.var() + 1e-5).sqrt()
    assert bool((by_hand.abs() > own.abs()).all() if larger else (by_hand.abs() <= own.abs()).all())


@predicate({"dim also decides which elements share a gamma": {"along": 0}})
def gamma_broadcasts_along_the_last_axis(draw, along=-1):
    """gamma * x_norm, with gamma of one number for each feature, multiplies along the last axis, whatever was averaged."""
    x, dim = normal(draw, *draw_shape(draw, 2, 4, least=2)), draw(st.sampled_from([0, -1]))
    gamma = normal(draw, x.shape[-1])
    x_norm = (x - x.mean(dim, keepdim=True)) / x.std(dim, keepdim=True)
    shape = [1] * x.ndim
    shape[along] = x.shape[-1]
    if x.shape[along] != x.shape[-1]:
        raise AssertionError("gamma does not fit along this axis")
    assert torch.equal(gamma * x_norm, gamma.reshape(shape) * x_norm)


@predicate(
    {
        "Wu and He measured a higher error with one group than with more groups, or with BatchNorm.": {
            "others": ("BatchNorm", 32, "one channel a group")
        }
    }
)
def one_group_had_a_higher_error_than_32_groups_or_batchnorm(draw, others=("BatchNorm", 32)):
    """The ImageNet error of ResNet-50 with one group is above that with 32 groups and with BatchNorm, in Wu and He's table."""
    assert IMAGENET_ERRORS[1] > IMAGENET_ERRORS[draw(st.sampled_from(others))]
