"""Train and eval: what BatchNorm stores from batch to batch, what that changes, and where it fails. Numbers in texts are in ``**``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from normviz.analysis.comparison import one_of_each_family
from normviz.analysis.description import Description
from normviz.analysis.examples import example, from_array
from normviz.analysis.forward import Values
from normviz.analysis.running.modes import TrainAndEval, element_in_modes, example_alone, most_warm_up, train_and_eval
from normviz.analysis.running.momentum import half_life, other_momentum, two_forms
from normviz.analysis.running.sampling import (
    DEFAULT_SIZES,
    PerTimeStep,
    Sequences,
    SmallBatches,
    Spread,
    per_time_step,
    spread,
)
from normviz.analysis.running.shards import Sharded, even_sizes, shard
from normviz.analysis.running.stream import BATCH_SIZES, LARGEST_DRIFT, STEPS, Run, Stream, run, settle
from normviz.analysis.running.torch_module import buffers, torch_refusal
from normviz.figures.charts import Lines, axis, bars, chart, dots, line
from normviz.figures.payload import PanelValues
from normviz.layers.axes import example_axis
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons.page import SCENE_ROWS, ControlRow, Page
from normviz.lessons.train_and_eval.training import TRAINING_SETTINGS, training_parts
from normviz.parts.containers import Beside, Cell, Details, Table
from normviz.parts.part import Chart, Index, Note, Part, Sentence, Text, part_or_note, value_part
from normviz.parts.titles import LOOK_UP, TITLES
from normviz.scene import edits
from normviz.scene.controls import Control, Input, inputs_of
from normviz.scene.scene import OWN, Scene
from normviz.scene.setting import experiment, in_experiments, integer, number, number_or_none, slider
from normviz.scene.view import View, read
from normviz.texts.errors import NormvizError, listed
from normviz.texts.messages import N_, _, format_difference, format_fixed, format_number, join_sentences, ngettext

if TYPE_CHECKING:
    from torch import Tensor

MARGIN = {"l": 56, "r": 16, "t": 68, "b": 44}  # room for a legend of two lines, so that two charts in a row align
TICKS = [digit * 10.0**power for power in range(-4, 5) for digit in (1, 2, 5)]


def mean_over_time(history: Run) -> Lines:
    """Batch mean, running mean and true mean, step by step."""
    step = np.arange(1, len(history.batch_mean) + 1)
    traces = [
        dots(_("mean of the batch"), step, history.batch_mean, "few.0"),
        line("running_mean", step, history.running_mean, "accent", width=3),
        line(_("true mean"), step, history.true_mean, "muted", dash="dash"),
    ]
    return chart(traces, _("step"), _("mean"), height=302, margin=MARGIN)


def variance_over_time(history: Run) -> Lines:
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


def spread_by_size(found: Spread, chosen: int) -> Lines:
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


def over_devices(found: Sharded, statistic: str) -> Lines:
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


def left_along_sequences(found: PerTimeStep) -> Lines:
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


# The texts and rows of the experiments on running statistics, small batches, sequences and devices.

EXAMPLES, CHANNELS = 26, 2  # sizes of the batch that the devices share; no number of devices above 2 divides 26


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
    keras = other_momentum(stream.momentum)
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
    names = listed(buffers("BatchNorm1d(1)"), "and")
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


def devices_table(found: Sharded) -> Table:
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


def devices_texts(found: Sharded) -> Iterator[str]:
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


# train() and eval() of one layer on x: the texts, values and rows of the experiment "modes".

MOST_WARMED = 2**17  # elements in all batches of a warm-up, so that a page appears at once
MOST_COMPARED = 2**17  # elements of x; on a larger x, other layers are not compared


def both_modes(e: Description, seed: int, values: Values | None = None) -> TrainAndEval:
    """The layer on x in train mode and in eval mode: a new one after a warm-up, or one with the ``values`` of a module.

    Raises NormvizError if torch does not have the layer.
    """
    if e.layer is None:
        raise NormvizError("a pattern has neither train() nor eval(); choose a layer of torch.nn.")
    return train_and_eval(e.layer, _x(e), _warm_up(e), seed, e.layout, values)


def refusal(scene: Scene) -> str:
    """Why a reader's module cannot be shown in both modes; "" if it can."""
    if scene.own is None or scene.shown_params != OWN or not scene.own.module:
        return ""
    return _(
        "{module} has a forward of its own, so torch.nn does not know what it stores between batches; give a layer of "
        "torch.nn, such as BatchNorm2d(3).",
        module=scene.own.module,
    )


def _x(e: Description) -> Tensor:
    if e.x is None:
        raise NormvizError("this tensor is too large to compute values here; make it smaller.")
    return e.x


def _warm_up(e: Description) -> int:
    elements = _x(e).numel()
    return min(20, most_warm_up(elements), max(1, MOST_WARMED // elements))


def modes_sentence(found: TrainAndEval) -> str:
    """How many elements differ between the modes, and how many buffers one forward pass changes."""
    differing, layer = int(found.differs.sum()), found.layer
    if not differing and buffers(layer):
        return _(
            "`{layer}` gives the same output in train() and eval() on this x; on another x it may not, because it stores running statistics.",
            layer=layer,
        )
    if not differing:
        return _(
            "`{layer}` gives the same output in train() and eval(): it stores nothing between batches.", layer=layer
        )
    modes_outputs = ngettext(
        "`{layer}` differs in **{differing:,}** of **{n:,}** element, by up to **{largest:.3g}**.",
        "`{layer}` differs in **{differing:,}** of **{n:,}** elements, by up to **{largest:.3g}**.",
        found.differs.size,
        layer=layer,
        differing=differing,
        largest=found.largest_difference,
    )
    changed = ngettext(
        "One forward pass in train() changes **{n}** buffer, without any optimizer.",
        "One forward pass in train() changes **{n}** buffers, without any optimizer.",
        len(found.changed_by_train),
    )
    return join_sentences([modes_outputs, changed])


def modes_outputs(found: TrainAndEval) -> Iterator[PanelValues]:
    """The outputs of both modes, in which a color stands for the same value, and their difference."""
    outputs = np.abs([found.train, found.eval])
    most = float(outputs.max(initial=0, where=np.isfinite(outputs))) or None
    yield PanelValues("train", "train()", _used(found.train_norm), from_array(found.train), most=most)
    yield PanelValues("eval", "eval()", _used(found.eval_norm), from_array(found.eval), most=most)
    yield PanelValues("gap", "train() − eval()", _("zero where they agree"), from_array(found.train - found.eval))


def element_sentence(found: TrainAndEval, at: Index) -> str:
    """From which numbers the outputs for x[at] differ; "" if they do not."""
    if not found.differs[at]:
        return ""
    train, evaluated = element_in_modes(found, at)
    example = example_axis(found.train_norm.axes)
    shares = example is not None and found.train_norm.axes[example] not in found.train_norm.pattern.right
    return _(
        "x[{index}] = **{value}** gives **{train}** in train() and **{eval}** in eval(): **{difference}** apart, because the mean of its "
        "channel is **{mean}** {here} and **{running_mean}** in running_mean, and the variance **{var}** {here} and **{running_var}** in "
        "running_var.",
        index=", ".join(map(str, at)),
        value=format_number(float(found.warmed_up.x[at]), 3),
        train=format_number(train.output, 3),
        eval=format_number(evaluated.output, 3),
        difference=format_number(abs(train.output - evaluated.output), 3),
        here=_("in this batch") if shares else _("in this example"),
        mean=format_number(train.mean, 3),
        var=format_number(train.var, 3),
        running_mean=format_number(evaluated.mean, 3),
        running_var=format_number(evaluated.var, 3),
    )


def _used(norm: Norm) -> str:
    """Which statistics an output is normalized with."""
    if norm.running:
        return _("with running statistics")
    example = example_axis(norm.axes)
    if example is None:
        return _("with this input's statistics")
    if norm.axes[example] in norm.pattern.right:
        return _("with each example's own statistics")
    return _("with this batch's statistics")


def one_example_texts(found: TrainAndEval) -> Iterator[str]:
    """The first example alone, as in inference."""
    if example_axis(found.warmed_up.axes) is None:
        return
    alone = example_alone(found.warmed_up)
    for mode, outcome in (("train()", alone.train), ("eval()", alone.eval)):
        if outcome.refusal:
            yield _(
                "The first example alone, in {mode}: torch refuses. `{refusal}`", mode=mode, refusal=outcome.refusal
            )
        elif outcome.difference is not None:
            yield _(
                "The first example alone, in {mode}: largest difference from its output within the batch **{difference:.2g}**.",
                mode=mode,
                difference=outcome.difference,
            )


def _compared_layers(e: Description) -> list[Layer]:
    return [layer for layer in one_of_each_family(e.shape, e.layout).values() if layer.kind.module]


def draws_batches(scene: Scene) -> bool:
    """Whether random batches warm up the layer, or another layer of the table; a reader's module has statistics of its own."""
    e, is_own = scene.description, scene.shown_params == OWN
    warmed = [] if is_own or e.layer is None else [e.layer]
    if _x(e).numel() <= MOST_COMPARED:
        warmed += [layer for layer in _compared_layers(e) if layer != e.layer]
    return any(layer.tracks for layer in warmed)


def modes_table(e: Description, seed: int, known: TrainAndEval) -> Table:
    """The largest difference between the modes for each family of layers, and for BatchNorm without running statistics.

    known  ``both_modes(e, seed)``: if its layer is among them, it is not computed again

    Raises NormvizError above 2^17 elements.
    """
    if _x(e).numel() > MOST_COMPARED:
        raise NormvizError(
            ngettext(
                "other layers are compared on an x of up to {n:,} element, and this one has {elements:,}; make it smaller.",
                "other layers are compared on an x of up to {n:,} elements, and this one has {elements:,}; make it smaller.",
                MOST_COMPARED,
                elements=_x(e).numel(),
            )
        )
    layers = _compared_layers(e)
    untracked = [layer.with_(track_running_stats=False) for layer in layers if layer.tracks]
    heads = _("layer"), _("largest difference"), _("elements in buffers"), _("eval() uses running statistics")
    rows: list[tuple[Cell, ...]] = []
    for layer in (*layers, *untracked):
        try:
            found = known if layer == known.layer else train_and_eval(layer, _x(e), _warm_up(e), seed, e.layout)
        except NormvizError:  # torch refuses this x
            continue
        in_buffers = sum(map(prod, buffers(layer).values()))
        rows.append((str(layer), f"{found.largest_difference:.3g}", in_buffers, found.eval_norm.running))
    return Table(heads, tuple(rows), code=(0,))


# The page.

Settings = Mapping[str, Any]


def _stream(scene: Scene, settings: Settings) -> Iterator[Part]:
    stream = Stream(settings["batch_size"], settings["momentum"], settings["drift"], settings["steps"], scene.seed)
    history = run(stream)
    yield Sentence(stream_sentence(stream, history))
    mean_alt = _("Batch mean, running mean and true mean over time.")
    var_alt = _("Batch, running and true variance over time.")
    yield Beside(
        (Chart("mean_chart", mean_over_time(history), mean_alt),),
        (Chart("var_chart", variance_over_time(history), var_alt),),
    )
    yield Text(buffers_text(stream))
    yield Details(_("Momentum, in torch and elsewhere"), tuple(map(Text, momentum_texts(stream, history))))


def _modes(scene: Scene, settings: Settings) -> Iterator[Part]:
    e, is_own = scene.description, scene.shown_params == OWN
    try:
        if reason := refusal(scene):
            raise NormvizError(reason)
        found = both_modes(e, scene.seed, e.values if is_own else None)
    except NormvizError as error:  # a pattern, or a layer that torch does not have
        yield Note(str(error))
        return
    yield Sentence(modes_sentence(found))
    if explained := element_sentence(found, scene.at or _most_different(found)):
        yield Text(explained)
    yield value_part(e, scene.grid, scene.at, modes_outputs(found))
    yield from map(Text, one_example_texts(found))
    yield Text(_("**The same comparison for other layers**"), of="table")
    yield part_or_note(lambda: modes_table(e, scene.seed, found))


def _most_different(found: TrainAndEval) -> Index:
    gap = np.nan_to_num(np.abs(found.train - found.eval))
    return tuple(map(int, np.unravel_index(gap.argmax(), gap.shape)))


def _batches(scene: Scene, settings: Settings) -> Iterator[Part]:
    chosen = settings["batch_size"]
    found = spread(SmallBatches(sorted({*DEFAULT_SIZES, chosen}), seed=scene.seed))
    yield Sentence(spread_sentence(found, chosen))
    alt = _("Standard deviation of the batch mean against the batch size.")
    yield Chart("spread_chart", spread_by_size(found, chosen), alt)
    yield Text(refusal_text())


def _sequences(scene: Scene, settings: Settings) -> Iterator[Part]:
    found = per_time_step(Sequences(settings["count"], settings["longest"], scene.seed))
    yield Sentence(sequences_sentence(found))
    alt = _("Remaining sequences and error of the mean, by time step.")
    yield Chart("left_chart", left_along_sequences(found), alt)


def _devices(scene: Scene, settings: Settings) -> Iterator[Part]:
    found = devices(settings["devices"], scene.seed)
    yield Sentence(devices_sentence(found))
    mean_alt, var_alt = _("The mean of channel 0 on each device."), _("The variance of channel 0 on each device.")
    yield Beside(
        (Chart("mean_chart", over_devices(found, "mean"), mean_alt),),
        (Chart("var_chart", over_devices(found, "var"), var_alt),),
    )
    yield devices_table(found)
    yield from map(Text, devices_texts(found))


def _training(scene: Scene, settings: Settings) -> Iterator[Part]:
    yield from training_parts(settings["norm"], settings["batch"])


EXPERIMENTS: dict[str, Callable[[Scene, Settings], Iterator[Part]]] = {
    "training": _training,
    "stream": _stream,
    "modes": _modes,
    "batches": _batches,
    "sequences": _sequences,
    "devices": _devices,
}


def _experiment(view: View) -> list[Input]:
    """An experiment that opens on the layer that pages open with opens on its own layer."""
    (shown,) = inputs_of(SETTINGS[0], view)

    def change(view: View, chosen: str) -> View:
        changed: View = shown.edit(view, chosen)
        return _opening(changed) if chosen != shown.value and view.scene == read({}).scene else changed

    return [replace(shown, edit=change)]


def _opening(view: View) -> View:
    """The view without a chosen layer: for LayerNorm, with which pages open, train() and eval() are equal, so they open with BatchNorm."""
    if view.settings["show"] != "modes":
        return view
    batch_norm = edits.with_family(view.scene, "BatchNorm")
    return view if batch_norm.problem else replace(view, scene=batch_norm.scene)


def _rows(view: View) -> tuple[ControlRow, ...]:
    own = [setting for setting in SETTINGS[1:] if setting.widget]
    others = SCENE_ROWS if view.settings["show"] == "modes" else (ControlRow("controls", (own,)),)
    return (ControlRow("", ((EXPERIMENT,),)), *others)


MOST_DEVICES = 8
SETTINGS = (
    experiment(
        {
            "training": N_("Training a network"),
            "stream": N_("Over time"),
            "modes": N_("train() and eval()"),
            "batches": N_("Small batches"),
            "sequences": N_("Sequences"),
            "devices": N_("Several devices"),
        },
        "devices",
        default="stream",
    ),
    *TRAINING_SETTINGS,
    integer("batch_size", 2, BATCH_SIZES[-1], 8, widget=slider("2", "4", "8", "16", "32", "64", "128", "256", "512", "1024"), label=N_("batch size"), about=N_("the examples in a batch"), example="16", applies=in_experiments("stream", "batches"), in_file=("2", "8", "32")),
    number_or_none("momentum", 0, 1, 0.1, widget=slider("0", "0.001", "0.01", "0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9", "1", "none"), label=N_("momentum"), about=N_("the momentum of the running statistics; none for a cumulative average"), example="none", applies=in_experiments("stream"), in_file=("0.01", "0.1", "0.5", "none")),
    number("drift", -LARGEST_DRIFT, LARGEST_DRIFT, 0.0, widget=slider("-10", "-1", "-0.5", "-0.1", "-0.05", "0", "0.05", "0.1", "0.5", "1", "10"), label=N_("mean drifts by"), about=N_("how far the mean moves in each step"), example="0.5", applies=in_experiments("stream"), in_file=("0", "0.05")),
    integer("steps", STEPS[0], STEPS[-1], 60, widget=slider("1", "5", "10", "20", "40", "60", "100", "200", "500"), label=N_("steps"), about=N_("the number of batches"), example="100", applies=in_experiments("stream")),
    integer("count", 2, 256, 32, widget=slider("2", "4", "8", "16", "32", "64", "128", "256"), label=N_("sequences"), about=N_("the number of sequences"), example="64", applies=in_experiments("sequences"), in_file=("8", "32", "128")),
    integer("longest", 1, 100, 30, widget=slider("1", "2", "5", "10", "20", "30", "60", "100"), label=N_("longest"), about=N_("the length of the longest sequence"), example="50", applies=in_experiments("sequences"), in_file=("10", "30", "60")),
    integer("devices", 2, MOST_DEVICES, 4, widget=slider("2", "3", "4", "5", "6", "7", "8"), label=N_("devices"), about=N_("the number of devices"), example="8", applies=in_experiments("devices"), in_file=("2", "4", "8")),
)  # fmt: skip
RANDOM = ("stream", "modes", "batches", "sequences", "devices")  # the experiments that use the seed
ASKED = {"training": "s2r", "stream": "s2a", "modes": "q16", "batches": "s2c", "sequences": "s2b", "devices": "q27"}


def _asked(view: View) -> str:
    """The key of the question with which a view ends."""
    layer, show = view.scene.layer, view.settings["show"]
    has_modes = isinstance(layer, Layer) and layer.kind.family == "BatchNorm"
    return "s1c" if show == "modes" and not has_modes else ASKED[show]


EXPERIMENT = Control(SETTINGS[0].hidden_by, SETTINGS[0].label, _experiment)
PAGE = Page(
    "train_and_eval",
    *TITLES["train_and_eval"],
    lambda view: EXPERIMENTS[view.settings["show"]](view.scene, view.settings),
    SETTINGS,
    rows=_rows,
    start={"show": "training"},
    opening=_opening,
    whole_in_answer=True,
    asks=_asked,
    file_choices=(
        ("show", "family"),
        ("show", "set_batch_size", "set_momentum", "set_count", "set_longest", "set_devices", "set_drift"),
    ),
    group=LOOK_UP,
)
