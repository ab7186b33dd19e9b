"""The experiments of Train and eval: streams and batches of a few numbers by hand, then compared with torch's own modules."""

import re

import numpy as np
import pytest
import torch
from torch import nn

from normviz.analysis.running.sampling import Sequences, SmallBatches, even_sizes, per_time_step, shard, spread
from normviz.analysis.running.stream import Run, Stream, follow, run
from normviz.lessons.train_and_eval import page as train_and_eval
from normviz.lessons.train_and_eval.page import MOST_DEVICES
from tests.browser.readout import number
from tests.support.sentences import numbers_in

# A stream of batches

BATCHES = [[0.0, 4.0], [4.0, 8.0], [1.0, 3.0]]  # means 2, 6, 2; with momentum 1/2 the running mean is 1, 3.5, 2.75


def by_hand(momentum):
    history, true = follow(BATCHES, momentum), np.full(3, 3.0)
    return Run(**vars(history), true_mean=true, true_var=true + 1, expected_mean=true)


def test_the_sentence_of_three_batches():
    assert train_and_eval.stream_sentence(Stream(2, 0.5, steps=3), by_hand(0.5)) == (
        "After **3** batches of **2**, running_mean is **2.75** (the true mean is **3.00**) and "
        "running_var **4.12** (the true variance is **4.00**)."
    )


MOMENTA = [
    # torch's momentum, Keras's momentum, how fast the weight of an old batch decreases
    (0.1, "0.9", "The weight of an old batch halves every **6.58** steps."),
    (0.5, "0.5", "The weight of an old batch halves every **1** step."),
    (0.01, "0.99", "The weight of an old batch halves every **69** steps."),
    (1.0, "0", "Only the last batch has a weight."),
    (0.0, "1", "New batches have no weight: the buffers keep their first values."),
]


@pytest.mark.parametrize(("momentum", "keras", "fades"), MOMENTA)
def test_both_conventions_of_momentum_and_how_fast_batches_are_forgotten(momentum, keras, fades):
    stream = Stream(2, momentum, steps=3)
    conventions, forgetting_speed, forms, sooner = train_and_eval.momentum_texts(stream, by_hand(momentum))
    assert f"torch's `momentum={momentum:g}` is the weight of the *new* batch" in conventions
    assert f"the weight of the *old* value: `momentum={keras}`." in conventions
    assert forgetting_speed == fades
    assert number(numbers_in(forms)[0]) < 1e-14
    assert sooner == "A lower momentum forgets old batches sooner in Keras's convention, and later in torch's."


def test_without_momentum_all_batches_have_the_same_weight():
    (line,) = train_and_eval.momentum_texts(Stream(2, None, steps=3), by_hand(None))
    assert line.startswith("`momentum=None`: every batch has the same weight")
    assert by_hand(None).running_mean.tolist() == pytest.approx([2, 4, 10 / 3])


def test_the_buffers_and_the_step_from_which_the_running_mean_is_right():
    line = train_and_eval.buffers_text(Stream(1024, 1.0, steps=5))
    assert line.startswith(
        "Besides gamma and beta, BatchNorm stores running_mean, running_var and num_batches_tracked."
    )
    assert numbers_in(line) == ["0.25", "1"]
    assert train_and_eval.buffers_text(Stream(1024, 0.0, steps=5)).endswith(
        "does not stay within **0.25** standard deviations of the true mean."
    )


EXTREME = [
    Stream(2, steps=1),
    Stream(1024, None, 10, 500),
    Stream(1024, 0.0, -10, 500),
    Stream(2, 1.0, 10, 500, 2**31 - 1),
]


@pytest.mark.parametrize("stream", EXTREME, ids=str)
def test_the_texts_of_every_stream_have_finite_numbers(stream):
    found = run(stream)
    lines = [train_and_eval.stream_sentence(stream, found), train_and_eval.buffers_text(stream)]
    for line in (*lines, *train_and_eval.momentum_texts(stream, found)):
        assert not re.search(r"\b(nan|inf)\b", line)
        assert all(np.isfinite(number(text.replace(",", ""))) for text in numbers_in(line))


# Small batches, sequences


def test_the_spread_of_small_batches():
    found = spread(SmallBatches([4, 64]))
    small, first, large, last = numbers_in(train_and_eval.spread_sentence(found, 4))
    assert (small, large) == ("4", "64")
    assert numbers_in(train_and_eval.spread_sentence(found, 64)) == [large, last, small, first]
    assert (float(first), float(last)) == pytest.approx(tuple(found.mean_spread), abs=0.005)
    assert float(first) == pytest.approx(4 * float(last), rel=0.3)


def test_a_batch_of_one_quotes_torch():
    with pytest.raises(ValueError, match="more than 1 value per channel") as words:
        nn.BatchNorm1d(3)(torch.zeros(1, 3))
    assert str(words.value) in train_and_eval.refusal_text()


def test_a_batch_of_one_image_has_one_value_per_channel_only_without_height_and_width():
    nn.BatchNorm2d(3)(torch.randn(1, 3, 2, 2))
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        nn.BatchNorm2d(3)(torch.randn(1, 3, 1, 1))
    assert train_and_eval.refusal_text().endswith("one value per channel only if its height and width are 1.")


SEQUENCES = [
    # count, longest, seed; the sequences left at each step; the sentence
    (4, 3, 1, [4, 3, 2], "At step 0 all **4** sequences have a value, at step **2** only **2**: statistics for every time step get noisier as sequences end."),
    (4, 1, 0, [4], "All **4** sequences end after one step: none is shorter than another."),
]  # fmt: skip


@pytest.mark.parametrize(("count", "longest", "seed", "left", "said"), SEQUENCES)
def test_the_sentence_of_a_few_sequences(count, longest, seed, left, said):
    found = per_time_step(Sequences(count, longest, seed))
    assert found.left.tolist() == left
    assert train_and_eval.sequences_sentence(found) == said


def test_steps_with_one_sequence_are_refused_by_torch():
    found = per_time_step(Sequences(2, 100))
    number = int((found.left == 1).sum())
    assert number > 1
    assert train_and_eval.sequences_sentence(found).endswith(
        f" At **{number}** steps only one sequence remains, and torch refuses it in training."
    )


# Several devices

DEVICES = """
device      | examples | mean, channel 0 | mean, channel 1 | variance, channel 0 | variance, channel 1
device 0    | 2        | 1.0000          | 1.0000          | 1.0000              | 1.0000
device 1    | 2        | 5.0000          | 7.0000          | 1.0000              | 1.0000
combined    | 4        | 3.0000          | 4.0000          | 5.0000              | 10.0000
whole batch | 4        | 3.0000          | 4.0000          | 5.0000              | 10.0000
"""


def test_two_devices_of_two_examples():
    """Channel 0 is 0, 2 and 4, 6: within each device the variance is 1, of all four 5; channel 1 is 0, 2 and 6, 8."""
    found = shard(torch.tensor([[0.0, 0.0], [2.0, 2.0], [4.0, 6.0], [6.0, 8.0]], dtype=torch.float64), (2, 2))
    names, *wanted = [[cell.strip() for cell in line.split("|")] for line in DEVICES.strip().splitlines()]
    table = train_and_eval.devices_table(found)
    assert list(table.heads) == names
    assert [list(map(str, row)) for row in table.rows] == wanted
    assert numbers_in(train_and_eval.devices_sentence(found))[:2] == ["2", "2"]
    apart, averaged = train_and_eval.devices_texts(found)
    assert numbers_in(averaged) == ["9"]
    assert averaged.endswith("because it ignores the differences between the devices' means.")
    whole = nn.BatchNorm1d(2, affine=False, dtype=torch.float64)
    x = torch.tensor([[0.0, 0.0], [2.0, 2.0], [4.0, 6.0], [6.0, 8.0]], dtype=torch.float64)
    alone = torch.cat([nn.BatchNorm1d(2, affine=False, dtype=torch.float64)(part) for part in x.split(2)])
    assert number(numbers_in(apart)[0]) == pytest.approx(float((alone - whole(x)).abs().max()), rel=5e-3)
    assert number(numbers_in(apart)[1]) < 1e-12


def test_of_devices_with_equal_means_the_average_of_the_variances_is_wrong_if_their_numbers_of_examples_differ():
    """1, 3 and 0, 2, 4, 2, 2 have mean 2; the variances are 1 and 8/5, their average 13/10, and that of all seven 10/7."""
    x = torch.tensor([[1.0], [3.0], [0.0], [2.0], [4.0], [2.0], [2.0]], dtype=torch.float64)
    found = shard(x, (2, 5))
    assert found.naive_difference == pytest.approx(10 / 7 - 13 / 10)
    assert list(train_and_eval.devices_texts(found))[1].endswith("and between their numbers of examples.")


def test_devices_of_the_same_mean_are_counted_once():
    found = shard(torch.tensor([[0.0, 1.0], [2.0, 3.0], [2.0, 3.0], [0.0, 1.0], [5.0, 5.0], [6.0, 6.0]]), (2, 2, 2))
    assert numbers_in(train_and_eval.devices_sentence(found))[:2] == ["3", "2"]


@pytest.mark.parametrize("count", range(2, MOST_DEVICES + 1))
@pytest.mark.parametrize("seed", [0, 7])
def test_combined_statistics_equal_those_of_the_whole_batch(count, seed):
    found = train_and_eval.devices(count, seed)
    assert found.sizes == tuple(even_sizes(train_and_eval.EXAMPLES, count))
    assert (len(set(found.sizes)) == 1) == (count == 2)  # shards of unequal size are the interesting case
    *shards, combined, whole = train_and_eval.devices_table(found).rows
    assert len(shards) == count
    assert numbers_in(train_and_eval.devices_sentence(found))[:2] == [
        str(count),
        str(len({tuple(mean) for mean in found.shard_mean})),
    ]
    assert combined[1:] == whole[1:]
    assert number(numbers_in(train_and_eval.devices_sentence(found))[2]) < 1e-12
    apart, averaged = train_and_eval.devices_texts(found)
    assert number(numbers_in(apart)[0]) > 0.05 > 1e-12 > number(numbers_in(apart)[1])
    assert number(numbers_in(averaged)[0]) > 0.01
