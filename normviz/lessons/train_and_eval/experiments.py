"""What the experiments of "Train and eval" say, with their numbers: sentences, lines and rows. Numbers stand in ``**``."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

from normviz.analysis.comparison import suggestions
from normviz.analysis.examples import example, from_array
from normviz.analysis.explanation import Explanation
from normviz.analysis.number_format import format_difference, format_fixed
from normviz.analysis.running.modes import TrainAndEval, most_warm_up, one_example, train_and_eval
from normviz.analysis.running.momentum import forgetting, half_life, to_keras, two_forms
from normviz.analysis.running.sampling import PerStep, Spread
from normviz.analysis.running.shards import Sharded, even_sizes, shard
from normviz.analysis.running.stream import Run, Stream, settle
from normviz.analysis.running.torch_module import buffers, torch_words
from normviz.layers.axes import example_axis
from normviz.layers.errors import NormvizError
from normviz.layers.layer import Layer
from normviz.layers.messages import N_
from normviz.lessons.parts.table import Column

if TYPE_CHECKING:
    from torch import Tensor

MOST_DEVICES = 8
MOST_WARMED = 2**17  # elements of all batches of a warm-up, so that a page answers at once
MOST_ASKED = 2**17  # elements of an x that is put to every other layer too
EXAMPLES, CHANNELS = 26, 2  # of the batch that the devices share; no number of devices above 2 divides 26


def stream_sentence(stream: Stream, found: Run) -> str:
    """Where the running mean stands at the end, and where the truth is."""
    step, kept, true = stream.steps, found.running_mean[-1], found.true_mean[-1]
    return (
        f"After **{step:,}** batches of **{stream.batch_size:,}**, running_mean is **{format_fixed(kept, 2)}** (the true mean is "
        f"**{format_fixed(true, 2)}**) and running_var **{found.running_var[-1]:.2f}** (the true variance is **{found.true_var[-1]:.2f}**)."
    )


def momentum_lines(stream: Stream, found: Run) -> Iterator[str]:
    """The two conventions, the two forms of the update, and what is forgotten when."""
    if stream.momentum is None:
        yield "`momentum=None`: every batch weighs the same, so the buffers are plain averages of all batches so far."
        return
    keras = to_keras(stream.momentum)
    yield (
        f"torch's `momentum={stream.momentum:g}` weighs the *new* batch. Keras, TensorFlow and most articles weigh the *old* value: "
        f"there it is `momentum={keras:g}`. Either way {_fading(half_life(stream.momentum))}."
    )
    forms = two_forms(found.batch_mean, keras)
    yield (
        "`kept * momentum + new * (1 - momentum)` and `kept -= (kept - new) * (1 - momentum)` are the same update: "
        f"largest difference here **{format_difference(forms.largest_difference)}**."
    )
    sooner = {True: "forgets sooner", False: "forgets later"}
    yield (
        f"A lower momentum {sooner[forgetting('keras').lower_forgets_sooner]} in Keras's convention, and "
        f"{sooner[forgetting('torch').lower_forgets_sooner]} in torch's."
    )


def _fading(life: float) -> str:
    if life == inf:
        return "new batches do not count, and the buffers stay as they began"
    return f"the weight of an old batch halves in **{life:.3g}** steps" if life else "only the last batch counts"


def keeping_line(stream: Stream) -> str:
    """What must be kept, and when it is near the truth."""
    kept = buffers("BatchNorm1d(1)")
    found = settle(stream)
    names = ", ".join(buffer.name for buffer in kept)
    when = "not in this run" if found.mean_steps is None else f"from step **{found.mean_steps}** on"
    return (
        f"Beside gamma and beta, BatchNorm keeps {names}. Here running_mean is within **{found.tolerance:g}** standard deviations of the truth, and stays "
        f"there, {when}."
    )


def modes(e: Explanation, seed: int) -> TrainAndEval:
    """x through train() and eval() of its layer. Raises NormvizError where torch has no such layer."""
    return train_and_eval(_layer(e), _x(e), _warm_up(e), seed, e.layout)


def _layer(e: Explanation) -> Layer:
    if e.layer is not None:
        return e.layer
    raise NormvizError("a pattern has neither train() nor eval(); choose a layer of torch.nn.")


def _x(e: Explanation) -> Tensor:
    if e.x is None:
        raise NormvizError("this tensor is too large to compute values here; make it smaller.")
    return e.x


def _warm_up(e: Explanation) -> int:
    return min(20, most_warm_up(_x(e).numel()), max(1, MOST_WARMED // _x(e).numel()))


def modes_sentence(found: TrainAndEval) -> str:
    """Do the modes differ, where, and what one forward alone changes."""
    number = int(found.differs.sum())
    if not number:
        return f"`{found.layer}` gives the same in train() and eval(): it keeps nothing between batches."
    changed = f"one forward in train() changes **{found.buffers_changed}** buffers, without any optimizer"
    return (
        f"`{found.layer}` differs in **{number:,}** of **{found.differs.size:,}** elements, by up to "
        f"**{found.largest_difference:.3g}**; {changed}."
    )


def modes_panels(found: TrainAndEval) -> Iterator[tuple[str, str, str, Tensor]]:
    """Both outputs and their difference."""
    yield (
        "train",
        "train()",
        "with this batch's statistics" if not found.train_norm.running else "",
        from_array(found.train),
    )
    stored = "with running statistics" if found.eval_norm.running else "with this input's statistics"
    yield "eval", "eval()", stored, from_array(found.eval)
    yield "gap", "train() − eval()", "zero where they agree", from_array(found.train - found.eval)


def one_example_lines(e: Explanation, seed: int) -> Iterator[str]:
    """One example alone, as at inference."""
    if example_axis(e.axes) is None:
        return
    alone = one_example(_layer(e), _x(e), warmup=_warm_up(e), seed=seed, layout=e.layout)
    for mode, outcome in (("train()", alone.train), ("eval()", alone.eval)):
        if outcome.refusal:
            yield f"The first example alone, in {mode}: torch refuses. `{outcome.refusal}`"
        elif outcome.difference is not None:
            yield f"The first example alone, in {mode}: largest difference from its output within the batch **{outcome.difference:.2g}**."


MODES_COLUMNS = (
    Column("layer", N_("layer"), code=True),
    Column("difference", N_("largest difference")),
    Column("buffers", N_("buffers kept")),
    Column("running", N_("eval() uses running statistics")),
)


def modes_rows(e: Explanation, seed: int) -> list[dict[str, object]]:
    """The largest difference between the modes, layer by layer, BatchNorm without running statistics among them.

    Raises NormvizError above 2^17 elements.
    """
    if _x(e).numel() > MOST_ASKED:
        raise NormvizError(
            f"other layers are asked for x of up to {MOST_ASKED:,} elements, and this one has {_x(e).numel():,}; make it smaller."
        )
    return list(_modes_rows(e, seed))


def _modes_rows(e: Explanation, seed: int) -> Iterator[dict[str, object]]:
    families: dict[str, Layer] = {}
    for text in suggestions(e.shape, e.layout):
        layer = Layer.parse(text)
        if isinstance(layer, Layer) and layer.kind.module:
            families.setdefault(layer.kind.family, layer)
    untracked = [layer.with_(track_running_stats=False) for layer in families.values() if layer.tracks]
    for layer in (*families.values(), *untracked):
        try:
            both = train_and_eval(layer, _x(e), _warm_up(e), seed, e.layout)
        except NormvizError:
            continue
        yield {
            "layer": str(layer),
            "difference": f"{both.largest_difference:.3g}",
            "buffers": sum(buffer.elements for buffer in buffers(layer)),
            "running": both.eval_norm.running,
        }


def spread_sentence(found: Spread) -> str:
    """How much the mean of a small batch is off."""
    small, large = found.batch_size[0], found.batch_size[-1]
    return (
        f"Means of batches of **{small}** spread by **{found.mean_spread[0]:.2f}**, of batches of **{large}** by "
        f"**{found.mean_spread[-1]:.2f}**: the smaller the batch, the noisier what BatchNorm subtracts."
    )


def refusal_lines() -> Iterator[str]:
    """A batch of one, in torch's own words."""
    words = torch_words("BatchNorm1d(3)", example("normal", (1, 3), ("n", "d")))
    yield f"A batch of one has no spread at all, and torch refuses it in training: `{words}`"


def sequences_sentence(found: PerStep) -> str:
    """How many sequences are left at the last step."""
    last = len(found.left) - 1
    if not last:
        return f"All **{found.left[0]}** sequences end after one step: nothing is lost along the way."
    refused = (
        f" At **{int(found.refused.sum())}** steps one sequence is left, and torch refuses." if found.refusal else ""
    )
    return (
        f"At step 0 all **{found.left[0]}** sequences have a value, at step **{last}** only **{found.left[-1]}**: statistics for every time "
        f"step get noisier along the way.{refused}"
    )


def devices(count: int, seed: int = 0) -> Sharded:
    """A batch of 26 examples of two channels, cut for ``count`` devices as evenly as it can be."""
    x = example("scales", (EXAMPLES, CHANNELS), ("n", "c"), seed)
    return shard(x.double(), even_sizes(EXAMPLES, count))


def devices_sentence(found: Sharded) -> str:
    """Per-shard statistics differ; combined by their counts they are the whole batch's."""
    different = len({tuple(mean) for mean in found.shard_mean.tolist()})
    return (
        f"**{len(found.sizes)}** devices, **{different}** different means. Combined by their counts, as SyncBatchNorm does, they are those of the "
        f"whole batch: largest difference **{format_difference(max(found.mean_gap.largest, found.var_gap.largest))}**."
    )


DEVICES_COLUMNS = (
    Column("device", N_("device")),
    Column("examples", N_("examples")),
    Column("mean0", N_("mean, channel 0")),
    Column("mean1", N_("mean, channel 1")),
    Column("var0", N_("variance, channel 0")),
    Column("var1", N_("variance, channel 1")),
)


def devices_rows(found: Sharded) -> list[dict[str, object]]:
    """Each device's mean and variance of both channels, then combined, then BatchNorm on the whole batch."""

    def row(name: str, count: int, mean: object, var: object) -> dict[str, object]:
        values = {
            f"{kind}{channel}": format_fixed(float(numbers[channel]), 4)  # type: ignore[index]
            for kind, numbers in (("mean", mean), ("var", var))
            for channel in range(CHANNELS)
        }
        return {"device": name, "examples": count, **values}

    shards = [row(f"device {i}", size, found.shard_mean[i], found.shard_var[i]) for i, size in enumerate(found.sizes)]
    total = sum(found.sizes)
    return [
        *shards,
        row("combined", total, found.mean, found.var),
        row("whole batch", total, found.whole_mean, found.whole_var),
    ]


def devices_lines(found: Sharded) -> Iterator[str]:
    """What goes wrong without SyncBatchNorm, and with the plain average of variances."""
    yield (
        f"Without synchronizing, outputs differ from the whole batch's by up to **{found.shard_difference:.3g}**; with it, by "
        f"**{format_difference(found.output_gap.largest)}**."
    )
    yield (
        f"Averaging the devices' variances is not enough: it is off by up to **{found.naive_difference:.3g}**, because it leaves "
        "out how far the devices' means are apart."
    )
