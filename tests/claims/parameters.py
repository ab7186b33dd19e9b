"""Who shares a gamma, and how many parameters a layer has."""

from math import prod

import torch
from hypothesis import strategies as st
from torch import nn

from tests.claims.drawing import (
    FAMILIES,
    OVER_LAST_AXES,
    WITH_CHANNELS,
    WITH_NORMALIZED_SHAPE,
    close,
    draw_case,
    draw_shape,
    indices,
    make_layer,
    normal,
    only,
    run,
)
from tests.claims.predicates import predicate


def users(draw, case) -> tuple[int, torch.Tensor]:
    """A gamma's number, and the outputs that change with it."""
    number = draw(st.integers(0, case.layer.weight.numel() - 1))
    before = run(case.layer, case.x)
    with torch.no_grad():
        case.layer.weight.view(-1)[number] += 3
    return number, run(case.layer, case.x) != before


@predicate({"gamma has one number for each channel in LayerNorm": {"channels": OVER_LAST_AXES}})
def gamma_has_normalized_shape_or_the_channels(draw, last=OVER_LAST_AXES, channels=WITH_CHANNELS):
    """The shape of gamma is normalized_shape in LayerNorm and RMSNorm, and (C,) in the others; each moves exactly the elements at its place."""
    case = draw_case(draw, least=2)
    if case.family in channels:
        assert case.layer.weight.shape == (case.x.shape[1],)
        number, moved = users(draw, case)
        assert only(moved, indices(case.x.shape)[1] == number, case.x.dtype)
    if case.family in last:
        assert tuple(case.layer.weight.shape) == tuple(case.layer.normalized_shape)
        number, moved = users(draw, case)
        assert only(moved, case.gamma == number, case.x.dtype)


@predicate({"there is a gamma for every element of every example, N included": {"per_example": True}})
def examples_share_gammas(draw, per_example=False):
    """Every example uses every gamma, and a larger batch has no more parameters (the batch axis is not in normalized_shape)."""
    case = draw_case(draw, least=2, dtype=torch.float64)
    count = sum(parameter.numel() for parameter in case.layer.parameters())
    larger = torch.cat([case.x, case.x + 1])
    run(case.layer, larger)  # the same layer takes it
    assert count * (2 if per_example else 1) == sum(parameter.numel() for parameter in case.layer.parameters())
    _number, moved = users(draw, case)
    assert bool(moved.flatten(1).any(1).all())


@predicate({"RMSNorm has the same gamma and beta as LayerNorm": {"without": ()}})
def rmsnorm_has_no_beta(draw, without=("RMSNorm",)):
    """RMSNorm learns a gamma and no beta, LayerNorm both, each of normalized_shape."""
    shape = draw_shape(draw, 2, 5)
    for family in WITH_NORMALIZED_SHAPE:
        layer = make_layer(draw, family, shape)
        names = {name for name, _parameter in layer.named_parameters()}
        assert names == ({"weight"} if family in without else {"weight", "bias"})
        assert all(tuple(parameter.shape) == tuple(layer.normalized_shape) for parameter in layer.parameters())


@predicate({"Every normalization layer has a gamma and a beta by default.": {"nothing": ()}})
def only_instancenorm_learns_nothing_by_default(draw, nothing=("InstanceNorm",)):
    """By default, LayerNorm, RMSNorm, BatchNorm and GroupNorm have a gamma, and InstanceNorm has none."""
    family = draw(st.sampled_from(FAMILIES))
    shape, c = draw_shape(draw, 3, 5), draw(st.integers(1, 5))
    made = {
        "LayerNorm": lambda: nn.LayerNorm(list(shape[1:])),
        "RMSNorm": lambda: nn.RMSNorm(list(shape[1:])),
        "GroupNorm": lambda: nn.GroupNorm(1, c),
    }.get(family, lambda: getattr(nn, f"{family}{len(shape) - 2}d")(c))()
    assert bool(list(made.parameters())) == (family not in nothing)


@predicate({"InstanceNorm with `affine=True` has one gamma for each plane": {"axes": (0, 1)}})
def affine_instancenorm_has_a_gamma_per_channel(draw, axes=(1,)):
    """With affine=True, InstanceNorm has one gamma and one beta for each channel, which all examples use."""
    case = draw_case(draw, "InstanceNorm")
    count = prod(case.x.shape[axis] for axis in axes)
    assert case.layer.weight.numel() == case.layer.bias.numel() == count
    number, moved = users(draw, case)
    assert only(moved, indices(case.x.shape)[1] == number, case.x.dtype)


@predicate({"A layer without affine keeps its beta.": {"left": 1}})
def without_affine_there_are_no_parameters(draw, left=0):
    """affine=False, or elementwise_affine=False, leaves out gamma and beta; the output is that of a fresh layer."""
    case = draw_case(draw, fresh=True)
    depth = len(case.layer.normalized_shape) if case.family in OVER_LAST_AXES else None
    options = {"num_groups": case.layer.num_groups} if case.family == "GroupNorm" else {}
    bare = make_layer(draw, case.family, tuple(case.x.shape), depth, affine=False, eps=case.layer.eps, **options).to(
        case.x.dtype
    )
    assert len(list(bare.parameters())) == left
    close(run(bare, case.x), run(case.layer, case.x))


@predicate({"gamma starts as zeros": {"gamma": 0.0}})
def fresh_gammas_are_ones_and_betas_zeros(draw, gamma=1.0, beta=0.0):
    """Before training, every gamma is 1 and every beta 0."""
    layer = draw_case(draw, fresh=True, affine=True).layer
    assert bool((layer.weight == gamma).all())
    assert getattr(layer, "bias", None) is None or bool((layer.bias == beta).all())


@predicate(
    {
        "The number of means gives the number of gammas.": {"of": "means"},
        "In all layers there are as many gammas as elements in each mean.": {"families": FAMILIES},
    }
)
def as_many_gammas_as_elements_in_a_mean(draw, families=OVER_LAST_AXES, of="elements"):
    """In LayerNorm and RMSNorm there are as many gammas as elements that are normalized together."""
    case = draw_case(draw, *families)
    assert case.layer.weight.numel() == (case.groups if of == "means" else case.group_size)


@predicate({"In BatchNorm, no two elements share both a mean and a gamma.": {"families": ("BatchNorm",)}})
def means_and_gammas_of_layernorm_cross(draw, families=OVER_LAST_AXES):
    """In LayerNorm, no two elements share both a mean and a gamma."""
    case = draw_case(draw, *families, least=2, dtype=torch.float64)
    both = case.group * case.x.numel() + case.gamma
    assert len(both.unique()) == case.x.numel()
    _number, moved = users(draw, case)
    assert all(int((moved & case.members(group)).sum()) == 1 for group in range(case.groups))


@predicate(
    {
        "In InstanceNorm, elements that share a gamma share a mean.": {
            "families": ("InstanceNorm", "GroupNorm"),
            "back": True,
        },
        "In LayerNorm, elements that share a mean share a gamma.": {"families": ("LayerNorm",)},
    }
)
def in_batchnorm_elements_that_share_a_mean_share_a_gamma(draw, families=("BatchNorm",), back=True):
    """In BatchNorm, the groups of the means and those of the gammas are the same."""
    case = draw_case(draw, *families, least=2)
    for number in range(case.groups):
        assert len(case.gamma[case.members(number)].unique()) == 1
    for number in case.gamma.unique():
        assert not back or len(case.group[case.gamma == number].unique()) == 1


@predicate({"Normalized over H and W only, each channel has a gamma for every row and column": {"axes": (1, 2, 3)}})
def layernorm_over_planes_shares_gammas_between_channels(draw, axes=(2, 3)):
    """LayerNorm([H, W]) has H · W gammas; the elements at one place of every channel and example use the same one."""
    case = draw_case(draw, "LayerNorm", shape=draw_shape(draw, 4, 4, least=2), depth=2, dtype=torch.float64)
    assert case.layer.weight.numel() == prod(case.x.shape[axis] for axis in axes)
    number, moved = users(draw, case)
    h, w = divmod(number, case.x.shape[3])
    assert bool(moved[:, :, h, w].all())
    assert int(moved.sum()) == case.x.shape[0] * case.x.shape[1]


@predicate({"`LayerNorm([heads, D])` has a mean for each head": {"depth": 2}})
def no_layernorm_has_means_and_gammas_per_head(draw, depth=None):
    """On (batch, token, head, D), no normalized_shape gives each head of each token a mean of its own and gamma the shape (heads, D)."""
    shape = draw_shape(draw, 4, 4, least=2)
    layer = nn.LayerNorm(list(shape[-(depth or draw(st.integers(1, 4))) :])).double()
    x = normal(draw, *shape)
    other = x.clone()
    other[:, :, 0] += normal(draw, *shape[:2], shape[3])
    per_head = torch.equal(run(layer, x)[:, :, 1:], run(layer, other)[:, :, 1:])
    assert not (per_head and tuple(layer.weight.shape) == shape[2:])
    assert depth is None or per_head


@predicate({"An optimizer changes running_mean.": {"learned": ("weight", "bias", "running_mean")}})
def an_optimizer_sees_only_gamma_and_beta(draw, learned=("weight", "bias")):
    """parameters() has gamma and beta; running_mean, running_var and num_batches_tracked are buffers."""
    layer = draw_case(draw, "BatchNorm").layer
    assert tuple(name for name, _parameter in layer.named_parameters()) == learned
    assert {name for name, _buffer in layer.named_buffers()} == {"running_mean", "running_var", "num_batches_tracked"}
    c = layer.num_features
    assert (sum(p.numel() for p in layer.parameters()), sum(b.numel() for b in layer.buffers())) == (2 * c, 2 * c + 1)
