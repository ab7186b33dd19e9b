import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from normviz import Layer, Norm
from normviz.analysis.running.modes import most_warm_up, one_example, train_and_eval
from normviz.analysis.running.torch_module import torch_refusal
from normviz.layers.torch_errors import check
from normviz.texts.errors import NormvizError
from tests.support.needs import cases_in_torch, needs_momentum_none
from tests.support.strategies import IN_TORCH, layers_that_fit, random_tensor

DOUBLE = torch.float64


def test_two_outputs_by_hand():
    """One feature with values 2 and 4: mean 3, variance 1. With eps 8, sqrt(var + eps) is 3, also for the initial buffers 0 and 1."""
    x = torch.tensor([[2.0], [4.0]], dtype=DOUBLE)
    both = train_and_eval("BatchNorm1d(1, eps=8)", x, warmup=0)
    assert both.train == pytest.approx(np.array([[-1 / 3], [1 / 3]]))
    assert both.eval == pytest.approx(np.array([[2 / 3], [4 / 3]]))
    assert both.differs.tolist() == [[True], [True]]
    assert both.largest_difference == pytest.approx(1)


def test_a_warm_up_of_one_batch_by_hand():
    """1 and 3 have mean 2 and unbiased variance 2; with momentum 0.5 the buffers go from (0, 1) to (1, 1.5). sqrt(1.5 + eps) is 2."""
    x, batch = torch.tensor([[2.0], [4.0]], dtype=DOUBLE), torch.tensor([[1.0], [3.0]], dtype=DOUBLE)
    both = train_and_eval("BatchNorm1d(1, eps=2.5, momentum=0.5)", x, warmup=[batch])
    assert both.eval.tolist() == [[0.5], [1.5]]


NO_DIFFERENCE = [
    ("LayerNorm([3, 4, 4])", (2, 3, 4, 4)),
    ("RMSNorm([4])", (2, 3, 4, 4)),
    ("GroupNorm(3, 6)", (2, 6, 4, 4)),
    ("InstanceNorm2d(3)", (2, 3, 4, 4)),
    ("InstanceNorm1d(3)", (3, 5)),
    ("BatchNorm2d(3, track_running_stats=False)", (2, 3, 4, 4)),
]


@pytest.mark.parametrize(("layer", "shape"), NO_DIFFERENCE)
def test_without_running_statistics_the_mode_makes_no_difference(layer, shape):
    both = train_and_eval(layer, random_tensor(shape, 0, torch.float32))
    assert both.largest_difference == 0
    assert not both.differs.any()
    assert both.changed_by_train == both.changed_by_eval == ()
    assert both.changed_by_train == ()
    assert both.train_norm == both.eval_norm
    assert not both.eval_norm.running


def expected_changes(layer: Layer) -> tuple[str, ...]:
    """torch's InstanceNorm never counts its batches, and treats momentum=None as 0, not as a cumulative average."""
    per_instance = layer.kind.per_instance
    moves = layer.tracks and not (per_instance and layer.given["momentum"] is None)
    counts = layer.tracks and not per_instance
    return ("running_mean", "running_var") * moves + ("num_batches_tracked",) * counts


DIFFERENCE = [
    ("BatchNorm1d(3)", (5, 3), "n d -> d"),
    ("BatchNorm2d(3)", (2, 3, 4, 4), "n c h w -> c"),
    ("BatchNorm2d(3).eval()", (2, 3, 4, 4), "n c h w -> c"),
    ("BatchNorm2d(3, momentum=None)", (2, 3, 4, 4), "n c h w -> c"),
    ("SyncBatchNorm(3)", (2, 3, 4, 4), "n c h w -> c"),
    ("InstanceNorm2d(3, track_running_stats=True)", (2, 3, 4, 4), "n c h w -> c"),
    ("InstanceNorm2d(3, track_running_stats=True)", (3, 4, 4), "c h w -> c"),
]


@pytest.mark.parametrize(("layer", "shape", "in_eval"), DIFFERENCE)
def test_with_running_statistics_the_mode_makes_a_difference(layer, shape, in_eval):
    both = train_and_eval(layer, random_tensor(shape, 0, torch.float32))
    assert both.largest_difference > 0.01
    assert both.changed_by_train == expected_changes(both.layer)
    assert both.changed_by_eval == ()
    assert (both.eval_norm.stats, both.eval_norm.running, both.train_norm.running) == (in_eval, True, False)


def test_tracking_instance_norm_uses_one_mean_and_variance_per_channel_in_eval():
    x = random_tensor((2, 3, 4, 4), 0)
    both = train_and_eval("InstanceNorm2d(3, track_running_stats=True)", x)
    assert both.train_norm.stats == "n c h w -> n c"
    slopes = [
        np.polyfit(x[n, c].flatten().numpy(), both.eval[n, c].ravel(), 1) for n in range(2) for c in range(3)
    ]  # in eval, every example of a channel is transformed by the same affine function
    assert np.allclose(slopes[:3], slopes[3:])
    assert both.train.mean(axis=(2, 3)) == pytest.approx(0, abs=1e-12)
    assert np.abs(both.eval.mean(axis=(2, 3))).min() > 1e-4


@needs_momentum_none
def test_what_one_forward_in_train_mode_changes():
    x = random_tensor((4, 3, 5), 0)
    changed = {
        text: train_and_eval(text, x).changed_by_train
        for text in (
            "BatchNorm1d(3)",
            "InstanceNorm1d(3, track_running_stats=True)",
            "InstanceNorm1d(3, track_running_stats=True, momentum=None)",
            "LayerNorm(5)",
        )
    }
    assert list(changed.values()) == [
        ("running_mean", "running_var", "num_batches_tracked"),
        ("running_mean", "running_var"),
        (),
        (),
    ]


def test_momentum_zero_changes_only_the_counter():
    both = train_and_eval("BatchNorm1d(3, momentum=0.0)", random_tensor((4, 3), 0))
    assert both.changed_by_train == ("num_batches_tracked",)


def test_a_longer_warm_up_brings_eval_nearer_to_train():
    x = 5 + 3 * random_tensor((64, 3), 0)
    differences = [train_and_eval("BatchNorm1d(3)", x, warmup=count).largest_difference for count in (0, 5, 20, 100)]
    assert differences == sorted(differences, reverse=True)
    assert differences[-1] < 0.3 < 4 < differences[0]


@cases_in_torch
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, DOUBLE], ids=str)
@pytest.mark.parametrize("name", IN_TORCH)
def test_every_layer_of_torch_gives_what_its_module_gives(name, dtype):
    @settings(max_examples=15)
    @given(layers_that_fit((name,)), st.integers(0, 3), st.integers(0, 1000))
    def agree(drawn, count, seed):
        layer, shape = drawn
        layer = layer.with_(training=True)
        try:
            check(layer, shape)
        except NormvizError:
            return
        x = random_tensor(shape, seed, dtype)
        batches = [random_tensor(shape, seed + 1 + i, dtype, offset=2) for i in range(count)]
        both = train_and_eval(layer, x, warmup=batches)
        module = layer.module(dtype)
        with torch.no_grad():
            for batch in batches:
                module(batch)
            assert np.array_equal(both.eval, module.eval()(x).double().numpy(), equal_nan=True)
            assert np.array_equal(both.train, module.train()(x).double().numpy(), equal_nan=True)
        assert both.train.shape == both.eval.shape == both.differs.shape == shape
        assert (both.largest_difference == 0) == (not both.differs.any())
        assert layer.tracks or both.largest_difference == 0
        if dtype in (torch.float32, DOUBLE):  # in half precision a step may be rounded to 0
            assert both.changed_by_train == expected_changes(layer)
        assert set(both.changed_by_train) <= set(expected_changes(layer))

    agree()


def test_x_is_not_changed_and_the_result_is_repeatable():
    x = random_tensor((4, 3), 0)
    before = x.clone()
    one, other = (train_and_eval("BatchNorm1d(3)", x, seed=7) for _ in range(2))
    assert torch.equal(x, before)
    assert one.eval.tolist() == other.eval.tolist()
    assert one.eval.tolist() != train_and_eval("BatchNorm1d(3)", x, seed=8).eval.tolist()
    assert not one.train.flags.writeable
    assert not one.differs.flags.writeable


REFUSED = [
    ("BatchNorm2d(3)", (1, 3, 1, 1)),
    ("InstanceNorm2d(3)", (2, 3, 1, 1)),
    ("GroupNorm(3, 3)", (1, 3)),
    ("GroupNorm(2, 3)", (4, 3)),
    ("BatchNorm1d(3)", (4, 5)),
    ("LayerNorm(3)", (4, 5)),
    ("BatchNorm2d(3)", (4, 3)),
]


@pytest.mark.parametrize(("layer", "shape"), REFUSED)
def test_a_refusal_quotes_torch(layer, shape):
    words = torch_refusal(layer, torch.zeros(shape))
    assert words
    with pytest.raises(NormvizError, match=re.escape(f'torch refuses: "{words}"')):
        train_and_eval(layer, torch.zeros(shape))


def test_there_is_no_error_if_torch_runs():
    assert torch_refusal("BatchNorm1d(3).eval()", torch.zeros(1, 3)) == ""


x23 = torch.zeros(2, 3)
WRONG = [
    (lambda: train_and_eval("ChannelsFirstLayerNorm(3)", x23), "torch.nn has no ChannelsFirstLayerNorm; give a layer of torch.nn, such as BatchNorm2d(3)."),
    (lambda: train_and_eval("LayerNorm(3, zero_centered_gamma=True)", x23), "torch.nn has no LayerNorm(..., zero_centered_gamma=True); give a layer of torch.nn, such as BatchNorm2d(3)."),
    (lambda: train_and_eval(Norm("n d -> n"), x23), "Norm('n d -> n') has no train and eval mode"),
    (lambda: train_and_eval("Norm('n d -> n')", x23), "Norm('n d -> n') has no train and eval mode"),
    (lambda: train_and_eval(nn.LayerNorm(3), x23), "has no train and eval mode"),
    (lambda: train_and_eval("nonsense", x23), "'nonsense' is not a layer"),
    (lambda: train_and_eval("BatchNorm1d(3)", (2, 3)), "x=(2, 3) is neither a shape (a tuple of sizes) nor a tensor"),
    (lambda: train_and_eval("BatchNorm1d(3)", torch.zeros(2, 3, dtype=torch.int64)), "x is int64; normalization divides"),
    (lambda: train_and_eval("BatchNorm1d(3)", torch.zeros(0, 3)), "train_and_eval takes an x of 1 to 1,048,576 elements, and this x has 0."),
    (lambda: train_and_eval("LayerNorm(3)", torch.zeros(2**19, 3)), "and this x has 1,572,864."),
    (lambda: train_and_eval("BatchNorm1d(3)", x23, warmup=101), "warmup=101 must be a whole number from 0 to 100."),
    (lambda: train_and_eval("BatchNorm1d(3)", x23, warmup=-1), "warmup=-1 must be a whole number from 0 to 100."),
    (lambda: train_and_eval("BatchNorm1d(3)", x23, warmup=1.5), "warmup=1.5 must be a whole number from 0 to 100."),
    (lambda: train_and_eval("LayerNorm(3)", x23, warmup=101), "warmup=101 must be a whole number from 0 to 100."),
    (lambda: train_and_eval("BatchNorm1d(3)", x23, warmup=[x23] * 101), "warmup=101 must be a whole number"),
    (lambda: train_and_eval("BatchNorm1d(3)", x23, warmup=[x23.double()]), "x is torch.float32 and a batch of warmup is torch.float64"),
    (lambda: train_and_eval("BatchNorm1d(3)", x23, warmup=[torch.zeros(2, 4)]), "running_mean should contain 4 elements not 3"),
    (lambda: train_and_eval("BatchNorm1d(4)", torch.zeros(2**18, 4)), "warmup=20 batches of 1,048,576 elements have more than 2,097,152 elements in all; give at most 2."),
    (lambda: train_and_eval("BatchNorm1d(3)", x23, seed=-1), "seed=-1 must be a whole number"),
    (lambda: train_and_eval("BatchNorm1d(3)", x23, layout="NCHW"), "layout"),
    (lambda: one_example("BatchNorm1d(3)", x23, example=2), "example=2 must be a whole number from 0 to 1."),
    (lambda: one_example("BatchNorm1d(4)", torch.zeros(1, 3)), "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])"),
    (lambda: one_example("GroupNorm(2, 3)", torch.zeros(1, 3)), "C=3 channels cannot be split into 2 equal groups"),
    (lambda: torch_refusal("BatchNorm1d(1099511627776)", x23), "'BatchNorm1d(1099511627776)' is too large to run; give sizes of at most 1,048,576 in all."),
    (lambda: torch_refusal("LayerNorm([2048, 2048])", x23), "'LayerNorm([2048, 2048])' is too large to run"),
    (lambda: most_warm_up(0), "elements=0 must be a whole number"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_invalid_arguments(call, words):
    with pytest.raises(NormvizError, match=re.escape(words)):
        call()


@pytest.mark.parametrize("shape", [(2**18, 4), (2, 2**19), (1024, 4, 16, 16)])
def test_the_largest_x(shape):
    layer = f"BatchNorm{'2' if len(shape) == 4 else '1'}d({shape[1]})"
    both = train_and_eval(layer, torch.ones(shape), warmup=most_warm_up(2**20))
    assert both.train.shape == shape


def test_the_longest_warm_up():
    assert most_warm_up(20_971) == 100
    assert len(train_and_eval("BatchNorm1d(1)", torch.ones(20_971, 1), warmup=100).changed_by_train) == 3


def test_a_layer_as_a_value_is_the_same_as_its_text():
    x = random_tensor((4, 3), 0)
    layer = Layer.parse("BatchNorm1d(3)")
    assert train_and_eval(layer, x).eval.tolist() == train_and_eval("BatchNorm1d(3)", x.numpy()).eval.tolist()
