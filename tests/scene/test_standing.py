"""The table of all positions of the toggles: each layer of torch has one, and each name computes what its position says."""

from itertools import product
from math import prod

import pytest
import torch
from torch import nn

from normviz.layers import sharing
from normviz.layers.axes import divisors
from normviz.layers.layer import Layer
from normviz.layers.naming import layer_with_axes
from normviz.layers.norm import Norm
from normviz.scene.toggles import Standing, layers_of_toggles, layers_with_same_means, norm_of, standing_of
from tests.support.needs import HAS_RMS_NORM, needs_rms_norm
from tests.support.scenes import scene

TENSORS = [((2, 4, 2, 3), "nchw"), ((2, 6, 2, 2), "nchw"), ((2, 2, 2, 2), "nchw"), ((2, 4, 3), "ncl"), ((3, 2, 4), "nlc"), ((3, 4), "nd")]  # fmt: skip
EACH_TENSOR = pytest.mark.parametrize(("shape", "axes"), TENSORS)


def names(shape, axes):
    return {standing: str(layer) for standing, layer in layers_of_toggles(shape, tuple(axes)).items()}


@needs_rms_norm
def test_a_table_by_hand():
    found = {name: one for one, name in names((2, 4, 3, 5), "nchw").items()}
    assert found["BatchNorm2d(4)"] == Standing((1, 0, 1, 1), (0, 1, 0, 0))
    assert found["LayerNorm([3, 5])"] == Standing((0, 0, 1, 1), (0, 0, 1, 1))
    assert found["InstanceNorm2d(4)"] == Standing((0, 0, 1, 1), (0, 0, 0, 0))
    assert found["GroupNorm(2, 4)"] == Standing((0, 2, 1, 1), (0, 1, 0, 0))
    assert found["RMSNorm([4, 3, 5])"] == Standing((0, 1, 1, 1), (0, 1, 1, 1), center=False)
    assert found["ChannelsFirstLayerNorm(4)"] == Standing((0, 1, 0, 0), (0, 1, 0, 0))


def expected(standing, x, eps, weight, bias):
    """What a position says, in torch: a mean over the axes with 1, of each group of an axis with more."""
    sizes = [
        part for size, one in zip(x.shape, standing.means, strict=True) for part in (one or size, size // (one or size))
    ]
    split, over = x.reshape(sizes), [2 * axis + 1 for axis in range(x.dim())]
    centered = split - split.mean(over, keepdim=True) if standing.center else split
    y = (centered / (centered.square().mean(over, keepdim=True) + eps).sqrt()).reshape(x.shape)
    own = [size if one else 1 for size, one in zip(x.shape, standing.gamma, strict=True)]
    y = y if weight is None else y * weight.reshape(own)
    return y if bias is None else y + bias.reshape(own)


@EACH_TENSOR
def test_the_layer_of_a_position_computes_what_it_says(shape, axes):
    torch.manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64)
    for standing, layer in layers_of_toggles(shape, tuple(axes)).items():
        if not layer.kind.in_torch:
            continue
        module = layer.module(torch.float64)
        for parameter in module.parameters():
            nn.init.normal_(parameter)
        weight, bias = (getattr(module, name, None) for name in ("weight", "bias"))
        assert bool(sum(standing.gamma)) == (weight is not None), layer
        eps = torch.finfo(x.dtype).eps if module.eps is None else module.eps
        torch.testing.assert_close(module(x), expected(standing, x, eps, weight, bias), msg=str(layer))


def modules(shape):
    """Every layer of torch for an x of this shape that is meant for its axes, with and without gamma."""
    rank, channels = len(shape), shape[1]
    batch, instance = {
        2: ("BatchNorm1d", None),
        3: ("BatchNorm1d", "InstanceNorm1d"),
        4: ("BatchNorm2d", "InstanceNorm2d"),
    }[rank]
    for affine in (True, False):
        yield getattr(nn, batch)(channels, affine=affine)
        if instance:
            yield getattr(nn, instance)(channels, affine=affine)
        yield from (
            nn.GroupNorm(groups, channels, affine=affine) for groups in divisors(channels)[: None if rank > 2 else -1]
        )
        for kind in (nn.LayerNorm, *([nn.RMSNorm] if HAS_RMS_NORM else [])):
            yield from (kind(shape[start:], elementwise_affine=affine) for start in range(rank))


@pytest.mark.parametrize(("shape", "axes"), [(shape, axes) for shape, axes in TENSORS if axes != "nlc"])
def test_each_layer_of_torch_has_exactly_one_position(shape, axes):
    """Found by autograd: which inputs reach an output, and which outputs a gamma scales."""
    torch.manual_seed(1)
    x = torch.randn(shape, dtype=torch.float64)
    table = layers_of_toggles(shape, tuple(axes))
    for module in modules(shape):
        module = module.double()
        by_x = torch.autograd.functional.jacobian(module, x).reshape(x.numel(), -1)
        found = [one for one in table if is_position(one, module, by_x, shape, tuple(axes))]
        assert len(found) == 1, (module, found)


def is_position(standing, module, by_x, shape, axes):
    if standing.center == type(module).__name__.startswith("RMS"):
        return False
    gamma = getattr(module, "weight", None)
    own = [size for size, one in zip(shape, standing.gamma, strict=True) if one]
    groups = torch.tensor(sharing.ids(sharing.stat_tables(norm_of(standing, axes), shape)).flatten())
    has_gamma = (gamma is not None) == bool(own) and (gamma is None or gamma.numel() == prod(own))
    return has_gamma and torch.equal(by_x != 0, groups[:, None] == groups)


@EACH_TENSOR
def test_all_other_positions_have_no_name_in_torch(shape, axes):
    letters, table = tuple(axes), layers_of_toggles(shape, tuple(axes))
    steps = [[0, 1, *divisors(size)[1:-1]] if axis == "c" else [0, 1] for axis, size in zip(axes, shape, strict=True)]
    for means, gamma, center in product(product(*steps), product((0, 1), repeat=len(axes)), (True, False)):
        standing = Standing(means, gamma, center)
        norm = norm_of(standing, letters)
        assert standing_of(norm, shape, letters) == standing
        found = layer_with_axes(norm, shape, letters, Layer.parse("BatchNorm2d(4)"))
        if standing not in table:
            assert found is None or not found.kind.in_torch, found


def test_a_norm_of_one_group_is_the_mean_over_all_channels():
    one, each = (Norm("n (g k) l -> n g", sizes={"g": groups}) for groups in (1, 4))
    axes = ("n", "c", "l")
    assert standing_of(one, (2, 4, 3), axes).means == (0, 1, 1)
    assert standing_of(each, (2, 4, 3), axes).means == (0, 0, 1)


SAME_MEANS = [
    # a link, and the layers of torch that have its means; None where nothing is missing
    ("shape=2,4,3,5&layer=Norm('n c h w -> n c','c h w')", ["LayerNorm([3, 5])", "InstanceNorm2d(4)"]),
    ("shape=2,4,3,5&layer=Norm('n c h w -> c','h w')", ["BatchNorm2d(4)"]),
    ("shape=2,4,3,5&layer=Norm('n (g k) h w -> n g','h',sizes={'g':2})", ["GroupNorm(2, 4)"]),
    ("shape=2,4,3,5&layer=Norm('n c h w -> h','w')", []),
    ("shape=2,4,3,5&layer=Norm('n c h w -> c','c')", None),
    ("shape=2,4,3,5&layer=BatchNorm2d(4)", None),
]


@pytest.mark.parametrize(("link", "layers"), SAME_MEANS)
def test_a_pattern_that_torch_does_not_have_gets_the_layers_with_its_means(link, layers):
    same = layers_with_same_means(scene(link))
    assert (None if same is None else [str(layer) for layer in same]) == layers
