"""Train and eval: what BatchNorm stores from batch to batch, what that changes, and where it fails. Numbers in texts are in ``**``."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from normviz.analysis.examples import example
from normviz.analysis.running import sampling, torch_module
from normviz.analysis.running import stream as streams
from normviz.figures.charts import Lines, axis, bars, chart, dots, line
from normviz.layers.layer import Layer
from normviz.lessons import page
from normviz.lessons.train_and_eval.modes import MODES
from normviz.lessons.train_and_eval.training import TRAINING_SETTINGS, training_parts
from normviz.parts.part import Beside, Cell, Chart, Code, Details, Heading, Part, Sentence, Table, Text
from normviz.parts.titles import LOOK_UP, TITLES
from normviz.scene import edits
from normviz.scene.controls import Control, Input, inputs_of
from normviz.scene.setting import integer, number, number_or_none
from normviz.scene.view import View, read
from normviz.texts.errors import listed
from normviz.texts.messages import N_, _, cache_by_language, format_difference, format_fixed, join_sentences, ngettext
from normviz.texts.searching import simplified

if TYPE_CHECKING:
    from normviz.measuring.diagnosis.diagnose import Diagnosed


MARGIN = {"l": 56, "r": 16, "t": 68, "b": 44}  # room for a legend of two lines, so that two charts in a row align
TICKS = [digit * 10.0**power for power in range(-4, 5) for digit in (1, 2, 5)]


# Over time: the running statistics of a stream of batches.


def stream_parts(view: View) -> Iterator[Part]:
    stream = streams.Stream(
        view.settings["batch_size"],
        view.settings["momentum"],
        view.settings["drift"],
        view.settings["steps"],
        view.scene.seed,
    )
    history = streams.run(stream)
    yield Sentence(stream_sentence(stream, history))
    mean_alt = _("Batch mean, running mean and true mean over time.")
    var_alt = _("Batch, running and true variance over time.")
    yield Beside(
        (Chart("mean_chart", mean_over_time(history), mean_alt),),
        (Chart("var_chart", variance_over_time(history), var_alt),),
    )
    yield Text(buffers_text(stream))
    yield Details(_("Momentum, in torch and elsewhere"), tuple(map(Text, momentum_texts(stream, history))))


def stream_sentence(stream: streams.Stream, history: streams.Run) -> str:
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


def mean_over_time(history: streams.Run) -> Lines:
    """Batch mean, running mean and true mean, step by step."""
    step = np.arange(1, len(history.batch_mean) + 1)
    traces = [
        dots(_("mean of the batch"), step, history.batch_mean, "few.0"),
        line("running_mean", step, history.running_mean, "accent", width=3),
        line(_("true mean"), step, history.true_mean, "muted", dash="dash"),
    ]
    return chart(traces, _("step"), _("mean"), height=302, margin=MARGIN)


def variance_over_time(history: streams.Run) -> Lines:
    """Unbiased and biased batch variance, running variance in torch and in Keras, and the true variance.

    The biased ones are drawn after a click on the legend.
    """
    step = np.arange(1, len(history.batch_var) + 1)
    traces = [
        dots(_("batch, / (m − 1)"), step, history.batch_var_unbiased, "few.0"),
        line("running_var", step, history.running_var, "accent", width=3),
        line(_("true variance"), step, history.true_var, "muted", dash="dash"),
        dots(_("batch, / m"), step, history.batch_var, "few.2", visible="legendonly"),
        line(_("in Keras"), step, history.running_var_biased, "few.2", width=3, visible="legendonly"),
    ]
    return chart(traces, _("step"), _("variance"), height=302, margin=MARGIN)


def buffers_text(stream: streams.Stream) -> str:
    """What BatchNorm stores, and when the running mean is close to the true one."""
    names = listed(torch_module.buffers("BatchNorm1d(1)"), "and")
    settled = streams.settle(stream)
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


def momentum_texts(stream: streams.Stream, history: streams.Run) -> Iterator[str]:
    """Both conventions of momentum, both forms of the update, and how fast old batches are forgotten."""
    if stream.momentum is None:
        yield _(
            "`momentum=None`: every batch has the same weight, so the buffers are plain averages of all batches so far."
        )
        return
    keras = streams.other_momentum(stream.momentum)
    yield _(
        "torch's `momentum={torch:g}` is the weight of the *new* batch. In Keras, TensorFlow and Flax it is the weight "
        "of the *old* value: `momentum={keras:g}`.",
        torch=stream.momentum,
        keras=keras,
    )
    yield _forgetting(streams.half_life(stream.momentum))
    yield _(
        "`kept * momentum + new * (1 - momentum)` and `kept -= (kept - new) * (1 - momentum)` are the same update: largest "
        "difference here **{difference}**.",
        difference=format_difference(streams.two_forms(history.batch_mean, keras).largest_difference),
    )
    yield _("A lower momentum forgets old batches sooner in Keras's convention, and later in torch's.")


def _forgetting(steps: float) -> str:
    if steps == inf:
        return _("New batches have no weight: the buffers keep their first values.")
    if not steps:
        return _("Only the last batch has a weight.")
    rounded = float(f"{steps:.3g}")
    return ngettext(
        "The weight of an old batch halves every **{steps:g}** step.",
        "The weight of an old batch halves every **{steps:g}** steps.",
        int(rounded) if rounded.is_integer() else 2,  # gettext has no form for a fraction
        steps=rounded,
    )


BATCH_SIZE = integer(
    "batch_size", 2, streams.BATCH_SIZES[-1], 8, "2 4 8 16 32 64 128 256 512 1024", in_file=("2", "8", "32")
).described(N_("batch size"), N_("the examples in a batch"), "16")
MOMENTUM = number_or_none(
    "momentum", 0, 1, 0.1, "0 0.001 0.01 0.05 0.1 0.2 0.3 0.5 0.7 0.9 1 none", in_file=("0.01", "0.1", "0.5", "none")
).described(N_("momentum"), N_("the momentum of the running statistics; none for a cumulative average"), "none")
DRIFT = number(
    "drift",
    -streams.LARGEST_DRIFT,
    streams.LARGEST_DRIFT,
    0.0,
    "-10 -1 -0.5 -0.1 -0.05 0 0.05 0.1 0.5 1 10",
    in_file=("0", "0.05"),
).described(N_("mean drifts by"), N_("how far the mean moves in each step"), "0.5")
NUMBER_OF_BATCHES = integer("steps", streams.STEPS[0], streams.STEPS[-1], 60, "1 5 10 20 40 60 100 200 500").described(
    N_("steps"), N_("the number of batches"), "100"
)
STREAM = page.Experiment(
    "stream", N_("Over time"), stream_parts, "s2a", (BATCH_SIZE, MOMENTUM, DRIFT, NUMBER_OF_BATCHES), needs="seed"
)


# Small batches: how far the mean of a batch is from the true mean.


def batches_parts(view: View) -> Iterator[Part]:
    chosen = view.settings["batch_size"]
    found = sampling.spread(sampling.SmallBatches(sorted({*sampling.DEFAULT_SIZES, chosen}), seed=view.scene.seed))
    yield Sentence(spread_sentence(found, chosen))
    alt = _("Standard deviation of the batch mean against the batch size.")
    yield Chart("spread_chart", spread_by_size(found, chosen), alt)
    yield Text(refusal_text())


def spread_sentence(found: sampling.Spread, chosen: int) -> str:
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


def spread_by_size(found: sampling.Spread, chosen: int) -> Lines:
    """The standard deviation of the batch mean against the batch size, on logarithmic axes; the chosen size stands out."""
    here = found.batch_size == chosen
    traces = [
        line("sigma / √m", found.batch_size, found.expected_spread, "muted", dash="dash"),
        dots(_("spread of the batch mean, measured"), found.batch_size, found.mean_spread, "few.0", size=9),
        dots(f"m = {chosen}", found.batch_size[here], found.mean_spread[here], "accent", size=14),
    ]
    sizes = axis(_("batch size m"), type="log", tickvals=found.batch_size.tolist())
    deviations = axis(_("standard deviation of the batch mean"), type="log", tickvals=TICKS)
    return chart(traces, sizes, deviations, height=330)


def refusal_text() -> str:
    words = torch_module.torch_refusal("BatchNorm1d(3)", example("normal", (1, 3), ("n", "d")))
    return _(
        "In training, torch refuses a batch with a single value per channel, whose variance is 0: `{words}`. A batch of one image has one "
        "value per channel only if its height and width are 1.",
        words=words,
    )


BATCHES = page.Experiment("batches", N_("Small batches"), batches_parts, "s2c", (BATCH_SIZE,), needs="seed")


# Sequences of different lengths: fewer and fewer remain.


def sequences_parts(view: View) -> Iterator[Part]:
    found = sampling.per_time_step(
        sampling.Sequences(view.settings["count"], view.settings["longest"], view.scene.seed)
    )
    yield Sentence(sequences_sentence(found))
    alt = _("Remaining sequences and error of the mean, by time step.")
    yield Chart("left_chart", left_along_sequences(found), alt)


def sequences_sentence(found: sampling.PerTimeStep) -> str:
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


def left_along_sequences(found: sampling.PerTimeStep) -> Lines:
    """The number of sequences at each time step, and the error of the mean of that step."""
    step = np.arange(len(found.left))
    traces = [
        bars(_("sequences left"), step, found.left, "few.0"),
        line("sigma / √left", step, found.standard_error, "muted", dash="dash", yaxis="y2"),
        dots(_("error of the mean, over many draws"), step, found.rms_error, "accent", yaxis="y2"),
    ]
    # Its own ticks, because the ticks of the first axis would not be round numbers on the second.
    second = axis(
        _("error of the mean"), tickmode="auto", overlaying="y", side="right", showgrid=False, rangemode="tozero"
    )
    return chart(traces, _("time step t"), _("sequences left"), height=330, yaxis2=second)


COUNT = integer("count", 2, 256, 32, "2 4 8 16 32 64 128 256", in_file=("8", "32", "128")).described(
    N_("sequences"), N_("the number of sequences"), "64"
)
LONGEST = integer("longest", 1, 100, 30, "1 2 5 10 20 30 60 100", in_file=("10", "30", "60")).described(
    N_("longest"), N_("the length of the longest sequence"), "50"
)
SEQUENCES = page.Experiment("sequences", N_("Sequences"), sequences_parts, "s2b", (COUNT, LONGEST), needs="seed")


# Several devices: each has a part of the batch.

EXAMPLES, CHANNELS = 26, 2  # sizes of the batch that the devices share; no number of devices above 2 divides 26
MOST_DEVICES = 8


def devices_parts(view: View) -> Iterator[Part]:
    found = devices(view.settings["devices"], view.scene.seed)
    yield Sentence(devices_sentence(found))
    mean_alt, var_alt = _("The mean of channel 0 on each device."), _("The variance of channel 0 on each device.")
    yield Beside(
        (Chart("mean_chart", over_devices(found, "mean"), mean_alt),),
        (Chart("var_chart", over_devices(found, "var"), var_alt),),
    )
    yield devices_table(found)
    yield from map(Text, devices_texts(found))


def devices(count: int, seed: int = 0) -> sampling.Sharded:
    """A batch of 26 examples of two channels, split over ``count`` devices as evenly as possible."""
    x = example("scales", (EXAMPLES, CHANNELS), ("n", "c"), seed)
    return sampling.shard(x.double(), sampling.even_sizes(EXAMPLES, count))


def devices_sentence(found: sampling.Sharded) -> str:
    """Whether the devices' statistics differ, and how close the combined statistics are to the statistics of the whole batch."""
    means = len({tuple(mean) for mean in found.shard_mean.tolist()})
    return join_sentences(
        [
            ngettext("**{n}** device has a part of the batch.", "**{n}** devices share the batch.", len(found.sizes)),
            ngettext("They have **{n}** mean.", "They have **{n}** different means.", means),
            _(
                "Combined by their counts, as SyncBatchNorm does, the statistics equal those of the whole batch: largest difference "
                "**{difference}**.",
                difference=format_difference(max(found.mean_difference, found.var_difference)),
            ),
        ]
    )


def over_devices(found: sampling.Sharded, statistic: str) -> Lines:
    """The "mean" or "var" of channel 0 on each device, combined as SyncBatchNorm does, and of the whole batch."""
    names = [str(device) for device in range(len(found.sizes))]
    title, shards, combined, whole = {
        "mean": (_("mean of channel 0"), found.shard_mean, found.mean, found.whole_mean),
        "var": (_("variance of channel 0"), found.shard_var, found.var, found.whole_var),
    }[statistic]
    traces = [
        dots(_("on its own"), names, [float(each[0]) for each in shards], "few.0", size=11),
        line(_("with SyncBatchNorm"), names, [float(combined[0])] * len(names), "accent", width=3),
        line(_("whole batch"), names, [float(whole[0])] * len(names), "muted", dash="dash"),
    ]
    return chart(traces, axis(_("device"), type="category"), title, height=302, margin=MARGIN, hovermode="closest")


def devices_table(found: sampling.Sharded) -> Table:
    """The mean and variance of both channels on each device, combined, and of the whole batch."""
    names = [_("device {number}", number=number) for number in range(len(found.sizes))]
    total = sum(found.sizes)
    statistics = [
        *zip(names, found.sizes, found.shard_mean, found.shard_var, strict=True),
        (_("combined"), total, found.mean, found.var),
        (_("whole batch"), total, found.whole_mean, found.whole_var),
    ]
    heads = (
        _("device"),
        _("examples"),
        _("mean, channel 0"),
        _("mean, channel 1"),
        _("variance, channel 0"),
        _("variance, channel 1"),
    )
    rows: list[tuple[Cell, ...]] = [
        (name, examples, *(format_fixed(float(value), 4) for value in (*mean, *var)))
        for name, examples, mean, var in statistics
    ]
    return Table(heads, tuple(rows))


def devices_texts(found: sampling.Sharded) -> Iterator[str]:
    """The errors without SyncBatchNorm, and with a plain average of the variances."""
    yield _(
        "Without synchronization, outputs differ from those of the whole batch by up to **{without:.3g}**; with it, by **{with_sync}**.",
        without=found.shard_difference,
        with_sync=format_difference(found.output_difference),
    )
    ignored = _("the differences between the devices' means")
    if len(set(found.sizes)) > 1:
        ignored = _("the differences between the devices' means and between their numbers of examples")
    yield _(
        "The average of the devices' variances is wrong by up to **{difference:.3g}**, because it ignores {ignored}.",
        difference=found.naive_difference,
        ignored=ignored,
    )


DEVICES = integer("devices", 2, MOST_DEVICES, 4, "2 3 4 5 6 7 8", in_file=("2", "4", "8")).described(
    N_("devices"), N_("the number of devices"), "8"
)
SHARED = page.Experiment("devices", N_("Several devices"), devices_parts, "q27", (DEVICES,), needs="seed")


# Why eval mode gives other results: three small networks, each with one of the commonest causes, are run and diagnosed.
# ``is_symptom`` knows what readers type who see the results.


# What readers type, in the four languages: a word for eval mode, and words for other results.
EVAL = r"\beval|\binferen|\btest (?:time|mode)|\bavalia[rc]|评估|推理"
OTHER = (
    r"\bdiffer(?:s|ent|ently)?\b|\bother (?:results?|outputs?|values?)|\bworse\b|\bbad(?:ly)?\b|\bwrong\b|\bpoor(?:ly)?\b|\bdrops?\b|\bnot the same\b|"
    r"\bdifiere|\bdiferentes?\b|\bdistint[oa]s?\b|\botr[oa]s? (?:resultado|salida)|\bpeor|\bempeora|"
    r"\bdifere|\boutr[oa]s? (?:resultado|saida)|\bpior|"
    r"(?:结果|输出|精度|准确率|性能|效果|损失).*(?:不同|不一样|不一致|差|下降)|(?:不同|不一样|别|其他)的?(?:结果|输出)|变差"
)
NO_SYMPTOM = r"\bdifference between\b|\bdiferencia entre\b|\bdiferenca entre\b|区别|\?.*\blayernorm\b"


def is_symptom(typed: str) -> bool:
    """Whether a reader says that a model gives other results in eval mode.

    >>> [is_symptom(text) for text in ("eval gives other results than train", "model.eval() is worse", "eval mode")]
    [True, True, False]
    """
    words = simplified(typed)
    return not re.search(NO_SYMPTOM, words) and all(re.search(pattern, words) for pattern in (EVAL, OTHER))


@dataclass(frozen=True)
class EvalCause:
    """A network with a fault. title: the cause, as a message. make: the network and its batches."""

    title: str
    text: str
    make: Callable[[], tuple[nn.Module, list[Tensor]]]


FEATURES, WIDTH, STEPS = 8, 16, 4


def _network() -> nn.Sequential:
    sizes = (FEATURES, WIDTH, WIDTH, WIDTH)
    parts: dict[str, nn.Module] = OrderedDict()
    for i, (before, after) in enumerate(pairwise(sizes), 1):
        parts |= {f"fc{i}": nn.Linear(before, after), f"bn{i}": nn.BatchNorm1d(after), f"relu{i}": nn.ReLU()}
    return nn.Sequential(OrderedDict(parts, fc=nn.Linear(WIDTH, 4)))


def _batches(n: int, size: int = 64) -> list[Tensor]:
    return [2 + 3 * torch.randn(size, FEATURES) for _ in range(n)]


def _settled() -> nn.Module:
    """A network whose running statistics are those of many examples: with momentum=None, they are the mean over the batches."""
    network = _network()
    for module in network:
        if isinstance(module, nn.BatchNorm1d):
            module.momentum = None
    with torch.no_grad():
        network.train()(torch.cat(_batches(64)))
    return network.eval()


CASES = (
    EvalCause(
        N_("Statistics never updated"),
        N_("No batch went through the network in train mode, or its buffers were not loaded."),
        lambda: (_network().eval(), _batches(STEPS)),
    ),
    EvalCause(
        N_("Data of another kind"),
        N_(
            "Here x is 10 times as large as the data of the stored statistics, such as pixels that are not scaled as in training."
        ),
        lambda: (_settled(), [10 * x for x in _batches(STEPS)]),
    ),
    EvalCause(
        N_("Small batches, few elements"),
        N_("In train mode, a mean of 4 examples is far from that of all. The stored statistics are right."),
        lambda: (_settled(), _batches(STEPS, 4)),
    ),
)
NEXT = """import normviz as nv

found = nv.diagnose(model, batches)  # your model, and batches as in training: a list or a DataLoader
print(found)  # which layer, which cause, what to do
fixed = found.fixed()  # a copy with the measured statistics"""


@cache_by_language()
def diagnoses() -> tuple[Diagnosed, ...]:
    """What ``nv.diagnose`` finds in each network."""
    from normviz.measuring.diagnosis.diagnose import diagnosed
    from normviz.measuring.probe import measuring, same_random_states

    found = []
    with measuring(), same_random_states(), torch.device("cpu"):
        for case in CASES:
            torch.manual_seed(0)
            found.append(diagnosed(*case.make(), steps=STEPS))
    return tuple(found)


def causes_parts(_view: View) -> Iterator[Part]:
    yield Sentence(
        _(
            "Eval mode gives other results than train mode: here are three common causes. Each is in a network with three BatchNorm layers, which was run in both modes."
        )
    )
    first, second, third = (
        tuple(_case_parts(i, case, found)) for i, (case, found) in enumerate(zip(CASES, diagnoses(), strict=True))
    )
    yield Beside(first, (Beside(second, third),), (1, 2))
    yield Text(
        _(
            "**Next step:** `nv.diagnose` runs your model on your data in both modes, and says which layer makes the difference, why, and what to do."
        )
    )
    yield Code(NEXT)


def _case_parts(number: int, case: EvalCause, found: Diagnosed) -> Iterator[Part]:
    names, percents = zip(*((one.name, 100 * one.output_difference) for one in found.layers), strict=True)
    title = _("difference of the output between the modes, in %")
    drawn = bars(title, names, percents, "accent")
    lines = chart(
        [drawn], axis(_("layer"), type="category"), axis(_("difference, in %"), rangemode="tozero"), height=240
    )
    worst = found.findings[0]
    concerned = {one.layer for one in found.findings if one.cause == worst.cause}
    yield Heading(f"**{number + 1}. {_(case.title)}**")
    yield Chart(f"cause_{number}", lines, _("The difference between the modes at the output of each BatchNorm layer."))
    yield Text(
        _(
            "{text} The output of the network differs by **{percent} %**. `nv.diagnose` says: {layers}, *{cause}*. {remedy}",
            text=_(case.text), percent=f"{float(f'{100 * found.difference:.2g}'):g}", layers=_(", ").join(f"`{name}`" for name in names if name in concerned), cause=worst.cause, remedy=worst.remedy,
        )
    )  # fmt: skip


CAUSES = page.Experiment("causes", N_("Why eval differs"), causes_parts, "s3k", needs="")


# The page.

TRAINING = page.Experiment("training", N_("Training a network"), training_parts, "s2r", TRAINING_SETTINGS, needs="")
EXPERIMENTS = (TRAINING, STREAM, MODES, BATCHES, SEQUENCES, SHARED, CAUSES)
SETTINGS = page.settings_of(EXPERIMENTS, default="stream", example="devices")
SHOW, *OTHERS = SETTINGS


def _experiment(view: View) -> list[Input]:
    """An experiment that opens on the layer that pages open with opens on its own layer."""
    (show,) = inputs_of(SHOW, view)

    def change(view: View, chosen: str) -> View:
        changed: View = show.edit(view, chosen)
        return PAGE.opening(changed) if chosen != show.value and view.scene == read({}).scene else changed

    return [replace(show, edit=change)]


EXPERIMENT = Control(SHOW.hidden_by, SHOW.label, _experiment)


def _rows(view: View) -> tuple[page.ControlRow, ...]:
    own = [setting for setting in OTHERS if setting.widget]
    others = page.SCENE_ROWS if view.settings["show"] == MODES.name else (page.ControlRow("controls", (own,)),)
    return (page.ControlRow("", ((EXPERIMENT,),)), *others)


class TrainAndEvalPage(page.Page):
    """The page: it shows train() and eval() of a layer on x, and other experiments."""

    def opening(self, view: View) -> View:
        """For LayerNorm, with which pages open, train() and eval() are equal, so they open with BatchNorm."""
        if view.settings["show"] != MODES.name:
            return view
        batch_norm = edits.with_family(view.scene, "BatchNorm")
        return view if batch_norm.problem else replace(view, scene=batch_norm.scene)

    def asks(self, view: View) -> str:
        layer = view.scene.layer
        has_modes = isinstance(layer, Layer) and layer.kind.family == "BatchNorm"
        return "s1c" if view.settings["show"] == MODES.name and not has_modes else super().asks(view)

    def unused(self, view: View) -> tuple[str, ...]:
        """A layer without values of its own is new."""
        own = view.scene.own
        return () if own and own.values is not None else page.GAMMA_AND_BETA


PAGE = TrainAndEvalPage(
    "train_and_eval",
    *TITLES["train_and_eval"],
    page.shown_by(EXPERIMENTS),
    SETTINGS,
    EXPERIMENTS,
    rows=_rows,
    start={"show": "training"},
    file_choices=(("show", "family"), page.in_files(SETTINGS)),
    group=LOOK_UP,
    plan=page.Plan(
        N_("Students say which mean and variance BatchNorm uses in each mode, and why results change with eval()."),
        15,
        ("s3k", "q16", "q14"),
    ),
)
