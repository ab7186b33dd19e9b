"""gamma and beta that a function makes from a condition, and statistics that are frozen."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import normviz as nv

IMAGE = (2, 4, 3, 5)
PER_EXAMPLE = nv.Norm("n c h w -> n c", "n c")


class ConditionalBatchNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.gamma, self.beta = nn.BatchNorm2d(4, affine=False), nn.Embedding(3, 4), nn.Embedding(3, 4)

    def forward(self, x, label):
        return self.gamma(label)[:, :, None, None] * self.norm(x) + self.beta(label)[:, :, None, None]


class Modulated(nn.Module):
    """AdaIN or FiLM: a linear layer makes gamma and beta of a style."""

    def __init__(self, normalize=F.instance_norm, added=0.0, outputs=8):
        super().__init__()
        self.linear, self.normalize, self.added = nn.Linear(3, outputs), normalize, added

    def forward(self, x, style):
        gamma, beta = self.linear(style)[:, :, None, None].chunk(2, 1)
        return (self.added + gamma) * self.normalize(x) + beta


class Spatial(nn.Module):
    """SPADE: gamma and beta of each pixel, by a convolution of a map."""

    def __init__(self):
        super().__init__()
        self.norm, self.gamma, self.beta = nn.BatchNorm2d(4, affine=False), nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(1, 4, 3, padding=1)  # fmt: skip

    def forward(self, x, segments):
        return self.norm(x) * (1 + self.gamma(segments)) + self.beta(segments)


STYLE = {"style": torch.randn(2, 3, generator=torch.Generator().manual_seed(1))}
CONDITIONS = [
    (ConditionalBatchNorm, nv.Norm("n c h w -> c", "n c"), {"label": torch.tensor([0, 2])}),
    (ConditionalBatchNorm, nv.Norm("n c h w -> c", "n c"), {"label": torch.tensor([2, 1])}),
    (Modulated, PER_EXAMPLE, STYLE),
    (lambda: Modulated(added=1.0), PER_EXAMPLE, STYLE),
    (Spatial, nv.Norm("n c h w -> c", "n c h w"), {"segments": torch.randn(2, 1, 3, 5)}),
]


def test_numbers_made_from_a_condition_may_be_near_each_other_by_chance():
    torch.manual_seed(0)
    segments = torch.randn(2, 1, 16, 24)
    assert nv.check(Spatial(), (2, 4, 16, 24), nv.Norm("n c h w -> c", "n c h w"), params={"segments": segments})


@pytest.mark.parametrize(("make", "like", "params"), CONDITIONS)
def test_what_multiplies_and_what_is_added_count_whoever_makes_them(make, like, params):
    torch.manual_seed(0)
    assert nv.check(make(), IMAGE, like, params=params)


def test_a_wrong_normalization_or_pattern_beside_a_condition_is_told():
    torch.manual_seed(0)
    found = nv.check(Modulated(lambda x: F.instance_norm(x, eps=1e-2)), IMAGE, PER_EXAMPLE, params=STYLE)
    assert "eps" in [one.what for one in found.differences]
    found = nv.check(Modulated(outputs=2, added=1.0), IMAGE, PER_EXAMPLE, params=STYLE)
    assert "It has one gamma for each index of N" in str(found)


def test_constants_are_not_made_from_a_condition():
    found = nv.check(lambda x: F.layer_norm(x, (6,)) * torch.arange(1.0, 7), (4, 6), "LayerNorm(6)")
    assert [one.what for one in found.differences] == ["factor"]


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.rand(4) + 0.5)
        self.register_buffer("bias", torch.rand(4))
        self.register_buffer("running_mean", torch.rand(4))
        self.register_buffer("running_var", torch.rand(4) + 0.5)

    def forward(self, x):
        return F.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, False, eps=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_frozen_statistics_are_right_in_both_modes(training):
    torch.manual_seed(0)
    assert nv.check(Frozen().train(training), IMAGE, "BatchNorm2d(4).eval()")


def test_learned_numbers_that_are_close_by_chance_are_no_groups():
    torch.manual_seed(0)
    layer = nn.BatchNorm2d(512).eval()
    for tensor, low in ((layer.running_mean, -1), (layer.running_var, 0.5), (layer.weight.data, 0.5), (layer.bias.data, -1)):  # fmt: skip
        tensor.uniform_(low, low + 1)
    assert nv.check(layer, (2, 512, 3, 3)).layer == "BatchNorm2d(512).eval()"
    assert nv.check(layer, (2, 512, 3, 3), "BatchNorm2d(512).eval()")
