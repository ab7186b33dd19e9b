import re

import pytest
import torch
from torch import nn

from normviz.analysis.running.modes import one_example, train_and_eval
from normviz.analysis.running.torch_module import attempt
from tests.support.strategies import random_tensor


def test_one_example_is_refused_in_train_and_runs_in_eval():
    x = random_tensor((4, 3), 0)
    alone = one_example("BatchNorm1d(3)", x, example=2)
    assert alone.x.tolist() == x[2:3].tolist()
    assert alone.train.output is None
    assert alone.train.difference is None
    assert (
        alone.train.refusal == "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])"
    )
    with pytest.raises(ValueError, match=re.escape(alone.train.refusal)):
        nn.BatchNorm1d(3)(x[2:3].float())
    assert alone.eval.refusal == ""
    assert alone.eval.difference == pytest.approx(0, abs=1e-12)
    assert alone.eval.output == pytest.approx(train_and_eval("BatchNorm1d(3)", x).eval[2:3], abs=1e-12)


ALONE = [
    # layer, shape, whether the output of an example depends on the others in train mode, and in eval mode
    ("BatchNorm2d(3)", (4, 3, 5, 5), True, False),
    ("BatchNorm2d(3, track_running_stats=False)", (4, 3, 5, 5), True, True),
    ("InstanceNorm2d(3)", (4, 3, 5, 5), False, False),
    ("InstanceNorm2d(3, track_running_stats=True)", (4, 3, 5, 5), False, False),
    ("LayerNorm([3, 5, 5])", (4, 3, 5, 5), False, False),
    ("RMSNorm(5)", (4, 3, 5, 5), False, False),
    ("GroupNorm(3, 3)", (4, 3, 5, 5), False, False),
    ("InstanceNorm2d(3)", (3, 5, 5), False, False),
    ("LayerNorm(5)", (5,), False, False),
]


@pytest.mark.parametrize(("layer", "shape", "in_train", "in_eval"), ALONE)
def test_which_layers_depend_on_the_other_examples(layer, shape, in_train, in_eval):
    alone = one_example(layer, random_tensor(shape, 0), example=0)
    assert (alone.train.difference > 1e-3, alone.eval.difference > 1e-3) == (in_train, in_eval)
    assert alone.train.refusal == alone.eval.refusal == ""


def test_without_running_statistics_one_example_is_refused_in_eval_too():
    alone = one_example("BatchNorm1d(3, track_running_stats=False)", random_tensor((4, 3), 0))
    assert alone.eval.output is None
    assert alone.eval.refusal == alone.train.refusal != ""


@pytest.mark.parametrize("layer", ["BatchNorm1d(3)", "BatchNorm1d(3, track_running_stats=False)", "LayerNorm(3)"])
def test_an_x_of_one_example_is_answered_too(layer):
    alone = one_example(layer, random_tensor((1, 3), 0))
    assert (alone.train.output is None) == ("Batch" in layer)
    assert (alone.eval.output is None) == ("False" in layer)


def test_one_example_of_a_normalization_over_n_has_no_answer():
    alone = one_example("LayerNorm([2, 3])", random_tensor((2, 3), 0))
    words = "Given normalized_shape=[2, 3], expected input with shape [*, 2, 3], but got input of size[1, 3]"
    assert alone.train.refusal == alone.eval.refusal == words


def test_the_example_is_taken_from_axis_n_at_any_position():
    x = random_tensor((5, 4, 3), 0)
    assert one_example("LayerNorm(3)", x, example=3, layout="LNC").x.tolist() == x[:, 3:4].tolist()


def test_a_refused_forward_does_not_count_as_a_batch():
    x, module = random_tensor((4, 3), 0).double(), nn.BatchNorm1d(3, momentum=None, dtype=torch.float64)
    batch = 2 * x + 1
    module(batch)
    refused_first = one_example("BatchNorm1d(3, momentum=None)", x, warmup=[batch]).eval.output
    assert refused_first == pytest.approx(module.eval()(x[:1]).detach().numpy(), abs=1e-12)


@pytest.mark.parametrize(
    ("examples", "changed"), [(1, ()), (4, ("running_mean", "running_var", "num_batches_tracked"))]
)
def test_a_forward_pass_leaves_the_buffers_as_they_are(examples, changed):
    module = nn.BatchNorm1d(3, dtype=torch.float64)
    before = {name: value.clone() for name, value in module.named_buffers()}
    with torch.no_grad():
        passed = attempt(module, random_tensor((examples, 3), 0))
    assert (passed.refusal == "", passed.changed) == (examples > 1, changed)
    assert before.keys() == dict(module.named_buffers()).keys()
    for name, value in module.named_buffers():
        assert torch.equal(value, before[name]), name
