"""The texts and rows of the experiments on running statistics, small batches, sequences and devices. Numbers are in ``**``."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from normviz.analysis.examples import example
from normviz.analysis.number_format import format_difference, format_fixed
from normviz.analysis.running.momentum import half_life, to_keras, two_forms
from normviz.analysis.running.sampling import PerTimeStep, Spread
from normviz.analysis.running.shards import Sharded, even_sizes, shard
from normviz.analysis.running.stream import Run, Stream, settle
from normviz.analysis.running.torch_module import buffers, torch_refusal
from normviz.layers.errors import listed
from normviz.layers.messages import N_, _, join_sentences, ngettext
from normviz.lessons.parts.table import Column, Row

EXAMPLES, CHANNELS = 26, 2  # sizes of the batch that the devices share; no number of devices above 2 divides 26
DEVICES_COLUMNS = (
    Column("device", N_("device")),
    Column("examples", N_("examples")),
    Column("mean0", N_("mean, channel 0")),
    Column("mean1", N_("mean, channel 1")),
    Column("var0", N_("variance, channel 0")),
    Column("var1", N_("variance, channel 1")),
)


def stream_sentence(stream: Stream, history: Run) -> str:
    """The running statistics at the end, and the true ones."""
    return ngettext(
        "After **{n:,}** batch of **{batch_size:,}**, running_mean is **{mean}** (the true mean is **{true_mean}**) and "
        "running_var **{var}** (the true variance is **{true_var}**).",
        "After **{n:,}** batches of **{batch_size:,}**, running_mean is **{mean}** (the true mean is **{true_mean}**) and "
        "running_var **{var}** (the true variance is **{true_var}**).",
        stream.steps,
        batch_size=stream.batch_size,
        mean=format_fixed(history.running_mean[-1], 2),
        true_mean=format_fixed(history.true_mean[-1], 2),
        var=format_fixed(history.running_var[-1], 2),
        true_var=format_fixed(history.true_var[-1], 2),
    )


def momentum_texts(stream: Stream, history: Run) -> Iterator[str]:
    """Both conventions of momentum, both forms of the update, and how fast old batches are forgotten."""
    if stream.momentum is None:
        yield _(
            "`momentum=None`: every batch has the same weight, so the buffers are plain averages of all batches so far."
        )
        return
    keras = to_keras(stream.momentum)
    yield _(
        "torch's `momentum={torch:g}` is the weight of the *new* batch. In Keras, TensorFlow and Flax it is the weight "
        "of the *old* value: `momentum={keras:g}`.",
        torch=stream.momentum,
        keras=keras,
    )
    yield _forgetting(half_life(stream.momentum))
    yield _(
        "`kept * momentum + new * (1 - momentum)` and `kept -= (kept - new) * (1 - momentum)` are the same update: largest "
        "difference here **{difference}**.",
        difference=format_difference(two_forms(history.batch_mean, keras).largest_difference),
    )
    yield _("A lower momentum forgets old batches sooner in Keras's convention, and later in torch's.")


def _forgetting(steps: float) -> str:
    if steps == inf:
        return _("New batches have no weight: the buffers keep their first values.")
    if not steps:
        return _("Only the last batch has a weight.")
    shown = float(f"{steps:.3g}")
    return ngettext(
        "The weight of an old batch halves every **{steps:g}** step.",
        "The weight of an old batch halves every **{steps:g}** steps.",
        int(shown) if shown.is_integer() else 2,  # gettext has no form for a fraction
        steps=shown,
    )


def buffers_text(stream: Stream) -> str:
    """What BatchNorm stores, and when the running mean is close to the true one."""
    names = listed([buffer.name for buffer in buffers("BatchNorm1d(1)")], "and")
    settled = settle(stream)
    stored = _("Besides gamma and beta, BatchNorm stores {names}.", names=names)
    if settled.mean_steps is None:
        when = _(
            "In this run, running_mean does not stay within **{tolerance:g}** standard deviations of the true mean.",
            tolerance=settled.tolerance,
        )
    else:
        when = _(
            "Here running_mean stays within **{tolerance:g}** standard deviations of the true mean from step **{step}** on.",
            tolerance=settled.tolerance,
            step=settled.mean_steps,
        )
    return join_sentences([stored, when])


def spread_sentence(found: Spread, chosen: int) -> str:
    """How far the means of batches of the chosen size and of the largest batches, or else of the smallest, are from the true mean."""
    other = -1 if chosen < found.batch_size[-1] else 0
    return ngettext(
        "The means of batches of **{n}** independent value have a standard deviation of **{spread:.2f}**, those "
        "of batches of **{other}** one of **{other_spread:.2f}**: the smaller the batch, the noisier the mean "
        "that BatchNorm subtracts.",
        "The means of batches of **{n}** independent values have a standard deviation of **{spread:.2f}**, those "
        "of batches of **{other}** one of **{other_spread:.2f}**: the smaller the batch, the noisier the mean "
        "that BatchNorm subtracts.",
        chosen,
        spread=float(found.mean_spread[found.batch_size == chosen][0]),
        other=found.batch_size[other],
        other_spread=found.mean_spread[other],
    )


def refusal_text() -> str:
    words = torch_refusal("BatchNorm1d(3)", example("normal", (1, 3), ("n", "d")))
    return _(
        "In training, torch refuses a batch with a single value per channel, whose variance is 0: `{words}`. A batch of one image has one "
        "value per channel only if its height and width are 1.",
        words=words,
    )


def sequences_sentence(found: PerTimeStep) -> str:
    """How many sequences remain at the last step."""
    count, last = int(found.left[0]), len(found.left) - 1
    if not last:
        return ngettext(
            "**{n}** sequence ends after one step.",
            "All **{n}** sequences end after one step: none is shorter than another.",
            count,
        )
    sentence = ngettext(
        "At step 0 **{n}** sequence has a value, at step **{last}** only **{left}**: statistics for every time step "
        "get noisier as sequences end.",
        "At step 0 all **{n}** sequences have a value, at step **{last}** only **{left}**: statistics for every time step "
        "get noisier as sequences end.",
        count,
        last=last,
        left=found.left[-1],
    )
    if not found.refusal:
        return sentence
    refused = ngettext(
        "At **{n}** step only one sequence remains, and torch refuses it in training.",
        "At **{n}** steps only one sequence remains, and torch refuses it in training.",
        int(found.refused.sum()),
    )
    return join_sentences([sentence, refused])


def devices(count: int, seed: int = 0) -> Sharded:
    """A batch of 26 examples of two channels, split over ``count`` devices as evenly as possible."""
    x = example("scales", (EXAMPLES, CHANNELS), ("n", "c"), seed)
    return shard(x.double(), even_sizes(EXAMPLES, count))


def devices_sentence(found: Sharded) -> str:
    """The devices' statistics differ; combined by their counts they equal those of the whole batch."""
    means = len({tuple(mean) for mean in found.shard_mean.tolist()})
    return join_sentences(
        [
            ngettext("**{n}** device has a part of the batch.", "**{n}** devices share the batch.", len(found.sizes)),
            ngettext("They have **{n}** mean.", "They have **{n}** different means.", means),
            _(
                "Combined by their counts, as SyncBatchNorm does, the statistics equal those of the whole batch: largest difference "
                "**{difference}**.",
                difference=format_difference(max(found.mean_difference.largest, found.var_difference.largest)),
            ),
        ]
    )


def devices_rows(found: Sharded) -> tuple[Row, ...]:
    """The mean and variance of both channels on each device, combined, and of the whole batch."""
    names = [_("device {number}", number=number) for number in range(len(found.sizes))]
    total = sum(found.sizes)
    statistics = [
        *zip(names, found.sizes, found.shard_mean, found.shard_var, strict=True),
        (_("combined"), total, found.mean, found.var),
        (_("whole batch"), total, found.whole_mean, found.whole_var),
    ]
    return tuple(
        {"device": name, "examples": examples}
        | {f"mean{channel}": format_fixed(float(mean[channel]), 4) for channel in range(CHANNELS)}
        | {f"var{channel}": format_fixed(float(var[channel]), 4) for channel in range(CHANNELS)}
        for name, examples, mean, var in statistics
    )


def devices_texts(found: Sharded) -> Iterator[str]:
    """The errors without SyncBatchNorm, and with a plain average of the variances."""
    yield _(
        "Without synchronization, outputs differ from those of the whole batch by up to **{without:.3g}**; with it, by **{with_sync}**.",
        without=found.shard_difference,
        with_sync=format_difference(found.output_difference.largest),
    )
    ignored = _("the differences between the devices' means")
    if len(set(found.sizes)) > 1:
        ignored = _("the differences between the devices' means and between their numbers of examples")
    yield _(
        "The average of the devices' variances is wrong by up to **{difference:.3g}**, because it ignores {ignored}.",
        difference=found.naive_difference,
        ignored=ignored,
    )
