"""What an output does not depend on: other examples, padding, a factor, an added number, a bias."""

import torch
from hypothesis import strategies as st
from torch import nn

from tests.claims.drawing import (
    FAMILIES,
    OVER_LAST_AXES,
    PER_EXAMPLE,
    SUBTRACT_MEAN,
    changed,
    close,
    draw_case,
    draw_shape,
    make_layer,
    normal,
    run,
)
from tests.claims.predicates import predicate
from tests.support.needs import HAS_RMS_NORM

POSITIVE = (0.3, 2.0, 50.0)


@predicate(
    {
        "The output stays the same when you multiply all of x by any number": {"factors": (-1.0,)},
        "RMSNorm alone does not see a factor; eps plays no part": {"eps": 0.5},
    }
)
def a_positive_factor_changes_nothing_but_for_eps(draw, factors=POSITIVE, eps=1e-14):
    """Multiplying all of x by a positive number changes no output in train mode, apart from eps."""
    case = draw_case(draw, least=3, eps=eps)
    close(run(case.layer, case.x * draw(st.sampled_from(factors))), run(case.layer, case.x), 1e-6)


@predicate({"A factor of one channel disappears in every layer.": {"families": FAMILIES}})
def each_group_loses_its_own_factor(draw, families=("InstanceNorm",)):
    """Multiplying one channel of one example by a positive number changes nothing in InstanceNorm and LayerNorm over planes, apart from eps."""
    case = draw_case(draw, *families, shape=draw_shape(draw, 4, 4, least=2), eps=1e-14)
    x = case.x.clone()
    x[0, 0] *= draw(st.sampled_from(POSITIVE))
    close(run(case.layer, x), run(case.layer, case.x), 1e-6)
    planes = nn.LayerNorm(list(x.shape[2:]), eps=1e-14).double()
    close(run(planes, x), run(planes, case.x), 1e-6)


@predicate(
    {
        "RMSNorm does not see what is added to all features alike": {"blind": FAMILIES},
        "LayerNorm sees it": {"blind": ()},
    },
    needs=HAS_RMS_NORM,
)
def only_rmsnorm_sees_an_added_number(draw, blind=SUBTRACT_MEAN):
    """Adding a number to all of x changes nothing in a layer that subtracts a mean, and changes RMSNorm's output."""
    case = draw_case(draw, least=3, fresh=True, dtype=torch.float64)
    found, before = run(case.layer, case.x + draw(st.sampled_from([0.7, 4.0]))), run(case.layer, case.x)
    assert (float((found - before).abs().max()) < 1e-9) == (case.family in blind)


@predicate({"The output of BatchNorm for an example does not depend on the others.": {"families": FAMILIES}})
def each_example_is_normalized_alone(draw, families=PER_EXAMPLE):
    """In InstanceNorm, GroupNorm, LayerNorm and RMSNorm, other examples change nothing, nor does their number; in both modes."""
    case = draw_case(draw, *families, shape=(draw(st.integers(2, 4)), *draw_shape(draw, 2, 3, least=2)))
    layer, before = case.layer.train(draw(st.booleans()) or "BatchNorm" in families), run(case.layer, case.x)
    for by in (1.7, 1e200, float("nan")):
        assert torch.equal(run(layer, changed(case.x, slice(1, None), by))[0], before[0])
    close(run(layer, case.x[:1])[0], before[0], 1e-12)


@predicate({"LayerNorm's output depends on the other examples": {"family": "LayerNorm"}})
def batchnorm_in_train_mode_depends_on_the_other_examples(draw, family="BatchNorm"):
    """In train mode, BatchNorm's output for an example changes with the other examples."""
    case = draw_case(draw, family, shape=(draw(st.integers(2, 4)), *draw_shape(draw, 2, 3, least=2)))
    x = case.x.clone()
    x[1:] = normal(draw, *x[1:].shape, offset=1.0)
    assert bool((run(case.layer, x)[0] != run(case.layer, case.x)[0]).any())


@predicate({"torch's layers skip the padding.": {"skip": True}})
def torchs_layers_do_not_know_padding(draw, skip=False):
    """More zeros at the end of (N, C, L) change the outputs of real positions in BatchNorm, InstanceNorm and GroupNorm in train mode."""
    case = draw_case(
        draw,
        "BatchNorm",
        "InstanceNorm",
        "GroupNorm",
        shape=(2, draw(st.integers(2, 4)), draw(st.integers(3, 5))),
        dtype=torch.float64,
    )
    longer = nn.functional.pad(case.x, (0, draw(st.integers(1, 4))))
    same = torch.allclose(run(case.layer, longer)[:, :, : case.x.shape[2]], run(case.layer, case.x), atol=1e-6)
    assert same == skip


@predicate({"LayerNorm([L, C]) does not depend on other tokens": {"depth": 2}})
def a_norm_of_each_token_depends_on_no_other_token(draw, depth=1):
    """LayerNorm(C) and RMSNorm(C) on (N, L, C): other tokens, padding and the length change nothing for a token."""
    x = normal(draw, *draw_shape(draw, 3, 3, least=2))
    layer = make_layer(draw, draw(st.sampled_from(OVER_LAST_AXES)), tuple(x.shape), depth)
    before = run(layer, x)[0, 0]
    assert torch.equal(run(layer, changed(x, (slice(None), slice(1, None))))[0, 0], before)
    if depth == 1:
        assert torch.equal(run(layer, nn.functional.pad(x, (0, 0, 0, 3)))[0, 0], before)


@predicate({"GroupNorm on (N, C, T, H, W) normalizes each frame by itself": {"fold": False}})
def with_t_moved_into_n_each_frame_is_normalized_by_itself(draw, fold=True):
    """GroupNorm averages over T on (N, C, T, H, W): the first frame sees the last. With T moved into N it does not."""
    x = normal(draw, draw(st.integers(1, 2)), 4, draw(st.integers(2, 3)), 2, 2)
    layer, later = nn.GroupNorm(2, 4).double(), changed(x, (slice(None), slice(None), -1), 5.0) * 1.5
    later[:, :, 0] = x[:, :, 0]

    def frames(values: torch.Tensor) -> torch.Tensor:
        if not fold:
            return run(layer, values)
        return run(layer, values.movedim(2, 1).flatten(0, 1)).unflatten(0, (len(values), -1)).movedim(1, 2)

    assert torch.equal(frames(x)[:, :, 0], frames(later)[:, :, 0])
    assert not torch.equal(run(layer, x)[:, :, 0], run(layer, later)[:, :, 0])


@predicate(
    {
        "RMSNorm removes a bias before it": {"family": "RMSNorm"},
        "LayerNorm removes a bias for each feature": {"family": "LayerNorm"},
        "In eval mode, BatchNorm removes a new bias": {"training": False},
        "BatchNorm removes any bias before it, also one before a ReLU": {"between": torch.relu},
    }
)
def batchnorm_in_training_removes_a_bias(draw, family="BatchNorm", training=True, between=lambda values: values):
    """In train mode, a number added to each feature directly before it changes nothing in BatchNorm, and its gradient is zero."""
    x = normal(draw, draw(st.integers(3, 6)), draw(st.integers(2, 5)))
    layer = make_layer(draw, family, tuple(x.shape), 1).train(training)
    bias = normal(draw, x.shape[1], scale=4.0).requires_grad_()
    out = layer(between(x + bias))
    (out * normal(draw, *x.shape)).sum().backward()
    close(out.detach(), run(layer, between(x)), 1e-6)
    assert float(bias.grad.abs().max()) < 1e-6


@predicate({"A lower contrast stays one after InstanceNorm": {"family": "BatchNorm"}})
def instancenorm_removes_brightness_and_contrast(draw, family="InstanceNorm"):
    """A positive factor and an added number for each color of each picture change nothing in InstanceNorm but through eps; its means are 0."""
    shape = (2, draw(st.integers(1, 3)), draw(st.integers(2, 4)), draw(st.integers(2, 4)))
    x, layer = normal(draw, *shape), make_layer(draw, family, shape, eps=1e-14, affine=False)
    factor, tint = normal(draw, *shape[:2], 1, 1).abs() + 0.1, normal(draw, *shape[:2], 1, 1)
    close(run(layer, x * factor + tint), run(layer, x), 1e-6)
    assert float(run(layer, x).mean((2, 3)).abs().max()) < 1e-9


@predicate({"BatchNorm divides each picture by its own number": {"family": "InstanceNorm"}})
def batchnorm_divides_all_pictures_by_the_same_number(draw, family="BatchNorm"):
    """For each color, BatchNorm moves and divides all pictures alike: ratios of distances stay."""
    shape = (2, draw(st.integers(1, 3)), 2, draw(st.integers(2, 4)))
    x = normal(draw, *shape)
    out = run(make_layer(draw, family, shape), x)
    spread = [(values[0].std((1, 2)) / values[1].std((1, 2))) for values in (x, out)]
    close(spread[1], spread[0], 1e-6)


@predicate({"With weights a little too large, the values shrink.": {"grows": False}})
def values_grow_or_shrink_from_layer_to_layer(draw, grows=True):
    """In a deep ReLU network, weights above the size that keeps the deviation make the values grow, weights below it make them shrink."""
    width = 200
    x = normal(draw, 100, width)
    size = draw(st.sampled_from([0.5, 0.7, 1.5, 2.0]))
    deviations = []
    for _layer in range(8):
        x = x.relu() @ (normal(draw, width, width) * size * (2 / width) ** 0.5)
        deviations.append(float(x.std()))
    assert (deviations[-1] > deviations[0]) == ((size > 1) == grows)


@predicate({"BatchNorm keeps the size of the weights": {"norm": lambda x: x}})
def after_batchnorm_the_size_of_the_weights_does_not_matter(
    draw, norm=lambda x: run(nn.BatchNorm1d(x.shape[1], eps=1e-14).double(), x)
):
    """A positive factor of the weights before BatchNorm changes no output, apart from eps: every layer has a standard deviation of 1."""
    x, weights = normal(draw, 20, 10), normal(draw, 10, 8)
    out = norm(x @ weights * draw(st.sampled_from(POSITIVE)))
    close(out, norm(x @ weights), 1e-6)
    assert abs(float(out.std(correction=0)) - 1) < 1e-6


@predicate(
    {
        "Accumulated gradients of BatchNorm are those of the whole batch": {"family": "BatchNorm"},
        "LayerNorm needs no exchange between devices, however x is split": {"axis": 1},
    }
)
def micro_batches_are_normalized_separately(draw, family="LayerNorm", axis=0):
    """A batch of which the examples are split has the outputs of the whole batch in LayerNorm, and others in BatchNorm."""
    x = normal(draw, 6, 2 * draw(st.integers(1, 2)))
    parts = x.split(x.shape[axis] // 2, axis)
    found = torch.cat([run(make_layer(draw, family, tuple(part.shape), 1), part) for part in parts], axis)
    close(found, run(make_layer(draw, family, tuple(x.shape), 1), x), 1e-9)
    batch = make_layer(draw, "BatchNorm", tuple(x.shape))
    assert not torch.allclose(torch.cat([run(batch, part) for part in x.split(3)]), run(batch, x))


@predicate({"averaging the variances is enough": {"means": False}})
def means_variances_and_counts_give_those_of_the_whole_batch(draw, means=True):
    """The variance of a batch is the mean of its parts' variances and of their means' squared distances, weighted by their counts."""
    parts = [
        normal(draw, draw(st.integers(2, 5)), offset=draw(st.sampled_from([0.0, 2.0, 5.0])))
        for _ in range(draw(st.integers(2, 3)))
    ]
    counts = torch.tensor([len(part) for part in parts], dtype=torch.float64)
    averages, variances = (
        torch.stack([f(part) for part in parts]) for f in (torch.mean, lambda part: part.var(correction=0))
    )
    mean = (counts * averages).sum() / counts.sum()
    var = (counts * (variances + (averages - mean).square() * means)).sum() / counts.sum()
    close(torch.stack([mean, var]), torch.stack([torch.cat(parts).mean(), torch.cat(parts).var(correction=0)]))


@predicate({"a change of one token reaches the tokens of its own sequence only": {"others": False}})
def a_token_in_batchnorm_depends_on_all_tokens(draw, others=True):
    """With BatchNorm's means, one for each feature, a change of one token reaches every token of every sequence."""
    x = normal(draw, *draw_shape(draw, 3, 3, least=2))
    layer = make_layer(draw, "BatchNorm", tuple(x.shape))
    found = run(layer, x) != run(layer, changed(x, (0, slice(None), 0)))
    assert bool(found[0].all())
    assert bool(found[1:].all()) == others
