"""Train and eval: what BatchNorm stores from batch to batch, what that changes, and where it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from normviz.analysis.running.sampling import DEFAULT_SIZES, Sequences, SmallBatches, per_time_step, spread
from normviz.analysis.running.stream import Stream, run
from normviz.layers.errors import NormvizError
from normviz.layers.messages import _
from normviz.lessons.figure_pages.train_and_eval import charts, experiments, modes
from normviz.lessons.figure_pages.value_panels import value_part
from normviz.lessons.parts.containers import Beside, Details
from normviz.lessons.parts.part import Chart, Note, Part, Sentence, Text, part_or_note, texts
from normviz.lessons.parts.table import Table
from normviz.lessons.subject import Subject, subject_of
from normviz.scene.view import View

Settings = Mapping[str, Any]


def view_parts(view: View) -> Iterator[Part]:
    return parts(subject_of(view.scene), view.settings)


def parts(subject: Subject, settings: Settings) -> Iterator[Part]:
    """The sentence and the figure of the experiment ``settings["show"]``."""
    return EXPERIMENTS[settings["show"]](subject, settings)


def _stream(subject: Subject, settings: Settings) -> Iterator[Part]:
    stream = Stream(settings["batch_size"], settings["momentum"], settings["drift"], settings["steps"], subject.seed)
    history = run(stream)
    yield Sentence(experiments.stream_sentence(stream, history))
    mean_alt = _("Batch mean, running mean and true mean over time.")
    var_alt = _("Batch, running and true variance over time.")
    yield Beside(
        (Chart("mean_chart", charts.mean_over_time(history), mean_alt),),
        (Chart("var_chart", charts.variance_over_time(history), var_alt),),
    )
    yield Text(experiments.buffers_text(stream))
    yield Details(_("Momentum, in torch and elsewhere"), texts(experiments.momentum_texts(stream, history)))


def _modes(subject: Subject, settings: Settings) -> Iterator[Part]:
    try:
        found = modes.both_modes(subject.e, subject.seed)
    except NormvizError as error:  # a pattern, or a layer that torch does not have
        yield Note(str(error))
        return
    yield Sentence(modes.sentence(found))
    yield value_part(subject, modes.outputs(found))
    yield from texts(modes.one_example_texts(found))
    yield Text(_("**The same comparison for other layers**"), of="table")
    yield part_or_note(lambda: Table(modes.COLUMNS, modes.rows(subject.e, subject.seed, found), "layer"))


def _batches(subject: Subject, settings: Settings) -> Iterator[Part]:
    chosen = settings["batch_size"]
    found = spread(SmallBatches(sorted({*DEFAULT_SIZES, chosen}), seed=subject.seed))
    yield Sentence(experiments.spread_sentence(found, chosen))
    alt = _("Standard deviation of the batch mean against the batch size.")
    yield Chart("spread_chart", charts.spread_by_size(found, chosen), alt)
    yield Text(experiments.refusal_text())


def _sequences(subject: Subject, settings: Settings) -> Iterator[Part]:
    found = per_time_step(Sequences(settings["count"], settings["longest"], subject.seed))
    yield Sentence(experiments.sequences_sentence(found))
    alt = _("Remaining sequences and error of the mean, by time step.")
    yield Chart("left_chart", charts.left_along_sequences(found), alt)


def _devices(subject: Subject, settings: Settings) -> Iterator[Part]:
    found = experiments.devices(settings["devices"], subject.seed)
    yield Sentence(experiments.devices_sentence(found))
    mean_alt, var_alt = _("The mean of channel 0 on each device."), _("The variance of channel 0 on each device.")
    yield Beside(
        (Chart("mean_chart", charts.over_devices(found, "mean"), mean_alt),),
        (Chart("var_chart", charts.over_devices(found, "var"), var_alt),),
    )
    yield Table(experiments.DEVICES_COLUMNS, experiments.devices_rows(found), "device")
    yield from texts(experiments.devices_texts(found))


EXPERIMENTS: dict[str, Callable[[Subject, Settings], Iterator[Part]]] = {
    "stream": _stream,
    "modes": _modes,
    "batches": _batches,
    "sequences": _sequences,
    "devices": _devices,
}
