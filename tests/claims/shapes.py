"""Which shapes a layer takes."""

import torch
from hypothesis import strategies as st
from torch import nn

from tests.claims.drawing import OVER_LAST_AXES, WITH_CHANNELS, accepts, draw_case, draw_shape, make_layer, normal, run
from tests.claims.predicates import predicate


@predicate(
    {
        "LayerNorm over [C, H, W] accepts images of another size": {"any_size": (*WITH_CHANNELS, "LayerNorm")},
        "BatchNorm refuses images of another size": {"any_size": ("GroupNorm",)},
    }
)
def layers_with_a_gamma_per_channel_take_any_size(draw, any_size=WITH_CHANNELS):
    """BatchNorm, InstanceNorm and GroupNorm take images of any height and width, LayerNorm over [C, H, W] only those of its size."""
    family = draw(st.sampled_from((*WITH_CHANNELS, *OVER_LAST_AXES)))
    shape = draw_shape(draw, 4, 4, least=2)
    layer = make_layer(draw, family, shape, 3)
    for more in ((0, 0), (1, 0), (0, 2)):
        x = normal(draw, shape[0], shape[1], shape[2] + more[0], shape[3] + more[1])
        assert accepts(layer, x) == (family in any_size or more == (0, 0))


@predicate(
    {
        "Without gammas it accepts any image size": {"needs_gammas": True},
        "normalized_shape names the number of examples": {"fixes": lambda depth: depth + 1},
    }
)
def layernorm_takes_its_normalized_shape_alone(draw, needs_gammas=False, fixes=lambda depth: depth):
    """With gammas or without, LayerNorm and RMSNorm take the sizes of normalized_shape as the last ones, and any in front."""
    shape, affine = draw_shape(draw, 3, 4), draw(st.booleans())
    depth = draw(st.integers(1, len(shape) - 1))
    layer = make_layer(draw, draw(st.sampled_from(OVER_LAST_AXES)), shape, depth, affine)
    for axis in range(len(shape)):
        other = tuple(size + (place == axis) for place, size in enumerate(shape))
        is_fixed = axis >= len(shape) - fixes(depth) and (affine or not needs_gammas)
        assert accepts(layer, normal(draw, *other)) != is_fixed


@predicate({"A norm over the channels of each pixel accepts one image size.": {"depth": 3}})
def a_norm_of_each_pixel_takes_images_of_any_size(draw, depth=1):
    """LayerNorm over the channels of each pixel, moved last, takes images of any size."""
    shape = draw_shape(draw, 4, 4)
    layer = nn.LayerNorm(list(shape[-depth:])).double()
    assert accepts(layer, normal(draw, shape[0], shape[1] + 1, shape[2] + 2, shape[3]))


@predicate({"BatchNorm refuses every batch of one": {"refused": lambda shape: shape[0] == 1}})
def batchnorm_refuses_one_value_per_channel(draw, refused=lambda shape: shape[0] * shape[2:].numel() == 1):
    """In train mode, BatchNorm refuses x if a channel has one value, and only then."""
    shape = torch.Size(draw_shape(draw, 2, 5, most=2))
    layer = make_layer(draw, "BatchNorm", shape)
    assert accepts(layer, normal(draw, *shape)) != refused(shape)


@predicate({"BatchNorm without running statistics takes one row in eval mode.": {"tracked": True}})
def without_running_statistics_one_value_is_refused_in_both_modes(draw, tracked=False):
    """Without running statistics, BatchNorm and InstanceNorm refuse one value per channel in eval mode, too."""
    family = draw(st.sampled_from(["BatchNorm", "InstanceNorm"]))
    rank = draw(st.integers(3, 5))
    shape = (
        1 if family == "BatchNorm" else draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
        *(1 for _ in range(rank - 2)),
    )
    layer = make_layer(draw, family, shape, track_running_stats=tracked).train(draw(st.booleans()) and not tracked)
    assert not accepts(layer, normal(draw, *shape))


@predicate({"InstanceNorm accepts one pixel in a batch of two.": {"alone": True}})
def instancenorm_refuses_one_position(draw, alone=False):
    """In train mode, InstanceNorm refuses x with one position, whatever the batch."""
    shape = (draw(st.integers(1, 4)), draw(st.integers(1, 4)), *draw_shape(draw, 1, 3, most=2))
    layer = make_layer(draw, "InstanceNorm", shape, track_running_stats=draw(st.booleans()))
    one = torch.Size(shape[2:]).numel() == 1
    assert accepts(layer, normal(draw, *shape)) != (one and (shape[0] == 1 or not alone))


@predicate({"BatchNorm2d takes an image without a batch axis in eval mode": {"ranks": (3, 4)}})
def batchnorm2d_needs_a_batch_axis(draw, ranks=(4,)):
    """BatchNorm2d takes x of rank 4 and no other, in both modes; an axis of size one is enough in eval mode."""
    c = draw(st.integers(1, 4))
    layer = nn.BatchNorm2d(c).double().train(draw(st.booleans()))
    for rank in (2, 3, 4, 5):
        shape = (2, c, 2, 2, 2)[:rank] if rank != 3 else (c, 2, 2)
        assert accepts(layer, normal(draw, *shape)) == (rank in ranks)
    assert accepts(layer.eval(), normal(draw, 1, c, 1, 1))


@predicate({"normalized_shape must be an int, a list or a torch.Size; a tuple is refused.": {"refused": (tuple,)}})
def normalized_shape_may_be_a_tuple(draw, refused=()):
    """torch takes an int, a list, a tuple and a torch.Size, and makes the same layer of them."""
    x = normal(draw, *draw_shape(draw, 2, 4, least=2))
    layer = nn.LayerNorm(x.shape[-1]).double()
    for kind in (list, tuple, torch.Size):
        other = nn.LayerNorm(kind(x.shape[-1:])).double()
        assert (other.normalized_shape == layer.normalized_shape) == (kind not in refused)
        assert torch.equal(run(other, x), run(layer, x))


@predicate({"After channels_last, x is (N, H, W, C)": {"moves": True}})
def channels_last_changes_the_order_in_memory_only(draw, moves=False):
    """x.to(memory_format=torch.channels_last) keeps shape and values; the strides change, and layers compute the same but for rounding."""
    case = draw_case(draw, *WITH_CHANNELS, shape=draw_shape(draw, 4, 4, least=2))
    x, last = case.x.contiguous(), case.x.to(memory_format=torch.channels_last)
    assert tuple(last.shape) == (tuple(x.movedim(1, -1).shape) if moves else tuple(x.shape))
    assert torch.equal(last, x)
    assert last.stride() != x.stride()
    assert last.stride(1) == 1
    torch.testing.assert_close(run(case.layer, last), run(case.layer, x))


@predicate({"In torch's `F.normalize` the default axis is the last one": {"axis": -1}})
def f_normalize_takes_axis_1_by_default(draw, axis=1):
    """F.normalize(x) divides by the length along axis 1."""
    x = normal(draw, *draw_shape(draw, 3, 4, least=2))
    torch.testing.assert_close(nn.functional.normalize(x), x / x.square().sum(axis, keepdim=True).sqrt())


@predicate({"softmax(dim=d) sums to one along every axis": {"other": True}})
def softmax_sums_to_one_along_its_axis_only(draw, other=False):
    """x.softmax(dim=d) sums to one along d, and along no other axis."""
    x = normal(draw, *draw_shape(draw, 2, 4, least=2))
    d = draw(st.integers(0, x.ndim - 1))
    ones = [bool(((x.softmax(d).sum(axis) - 1).abs() < 1e-9).all()) for axis in range(x.ndim)]
    assert ones == [axis == d or other for axis in range(x.ndim)]


@predicate({"A wrong axis does not raise an error.": {"always": True}})
def without_keepdims_only_a_square_x_passes(draw, always=False):
    """The mean of each row, without keepdims, is subtracted without an error where x is square (or has one row or column), and nowhere else."""
    x = normal(draw, *draw_shape(draw, 2, 2, least=2)).numpy()
    try:
        x - x.mean(axis=1)
        passes = True
    except ValueError:
        passes = False
    assert passes == (always or x.shape[0] == x.shape[1])


@predicate({"the averaged axis is left out with keepdim=True": {"size": 0}})
def keepdim_keeps_the_averaged_axis_with_size_one(draw, size=1):
    """x.mean(-1, keepdim=True) has a last axis of size one, and x minus it the shape of x."""
    x = normal(draw, *draw_shape(draw, 2, 4, least=2))
    u = x.mean(-1, keepdim=True)
    assert tuple(u.shape) == (*x.shape[:-1], size)
    assert (x - u).shape == x.shape
    assert x.mean(-1).shape == x.shape[:-1]
