"""Train and eval: what BatchNorm keeps from batch to batch, what that changes, and where it fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from normviz.analysis.explanation import Explanation
from normviz.analysis.running.sampling import Sequences, SmallBatches, per_step, spread
from normviz.analysis.running.stream import BATCH_SIZES, LARGEST_DRIFT, STEPS, Stream, run
from normviz.figures.payload.values import Shown
from normviz.layers.errors import NormvizError
from normviz.lessons.parts.part import Beside, Chart, Details, Note, Part, Sentence, Text, part_or_note, texts
from normviz.lessons.parts.table import Table
from normviz.lessons.parts.value_panels import value_part
from normviz.lessons.train_and_eval import charts as figures
from normviz.lessons.train_and_eval import experiments
from normviz.scene.grid import Grid
from normviz.scene.settings import Field, choice, number_or_none, real, whole
from normviz.scene.view import View

TITLES = {
    "stream": "Over time",
    "modes": "train() and eval()",
    "batches": "Small batches",
    "sequences": "Sequences",
    "devices": "Several devices",
}
FIELDS: tuple[Field, ...] = (
    choice("show", tuple(TITLES)),
    whole("batch_size", 2, BATCH_SIZES[-1], 8),
    number_or_none("momentum", 0, 1, 0.1),
    real("drift", -LARGEST_DRIFT, LARGEST_DRIFT, 0.0),
    whole("steps", STEPS[0], STEPS[-1], 60),
    whole("count", 2, 256, 32),
    whole("longest", 1, 100, 30),
    whole("devices", 2, experiments.MOST_DEVICES, 4),
)


@dataclass(frozen=True)
class Case:
    """What an experiment is set to, and the layer on x that "modes" runs in both modes."""

    settings: Mapping[str, Any]
    e: Explanation
    drawing: Grid
    at: tuple[int, ...] | None
    seed: int = 0


def view_parts(view: View) -> Iterator[Part]:
    scene = view.scene
    yield from parts(Case(view.settings, scene.explanation, scene.grid, scene.at, scene.seed))


def parts(case: Case) -> Iterator[Part]:
    """The sentence and the figure of one of ``TITLES``."""
    yield from EXPERIMENTS[case.settings["show"]](case)


def _stream(case: Case) -> Iterator[Part]:
    set_to = case.settings
    stream = Stream(set_to["batch_size"], set_to["momentum"], set_to["drift"], set_to["steps"], case.seed)
    found = run(stream)
    yield Sentence(experiments.stream_sentence(stream, found))
    mean, var = figures.mean_over_time(found), figures.variance_over_time(found)
    yield Beside(
        (Chart("mean_chart", mean, "Batch mean, running mean and true mean over time."),),
        (Chart("var_chart", var, "Batch, running and true variance over time."),),
    )
    yield Text(experiments.keeping_line(stream))
    yield Details("Momentum, in torch and elsewhere", texts(experiments.momentum_lines(stream, found)))


def _modes(case: Case) -> Iterator[Part]:
    try:
        found = experiments.modes(case.e, case.seed)
    except NormvizError as error:  # the wish is legal, and this layer has no modes
        yield Note(str(error))
        return
    yield Sentence(experiments.modes_sentence(found))
    yield value_part(case.e, case.drawing, (Shown(*panel) for panel in experiments.modes_panels(found)), case.at)
    yield from texts(experiments.one_example_lines(case.e, case.seed))
    yield Text("**The same question to other layers**", of="table")
    yield part_or_note(
        lambda: Table(experiments.MODES_COLUMNS, tuple(experiments.modes_rows(case.e, case.seed)), "layer")
    )


def _batches(case: Case) -> Iterator[Part]:
    found = spread(SmallBatches(seed=case.seed))
    yield Sentence(experiments.spread_sentence(found))
    yield Chart("spread_chart", figures.spread_by_size(found), "Spread of the batch mean against the batch size.")
    yield from texts(experiments.refusal_lines())


def _sequences(case: Case) -> Iterator[Part]:
    found = per_step(Sequences(case.settings["count"], case.settings["longest"], case.seed))
    yield Sentence(experiments.sequences_sentence(found))
    yield Chart(
        "left_chart", figures.left_along_sequences(found), "Sequences left and error of the mean, by time step."
    )


def _devices(case: Case) -> Iterator[Part]:
    found = experiments.devices(case.settings["devices"], case.seed)
    yield Sentence(experiments.devices_sentence(found))
    yield Table(experiments.DEVICES_COLUMNS, tuple(experiments.devices_rows(found)), "device")
    yield from texts(experiments.devices_lines(found))


EXPERIMENTS: dict[str, Callable[[Case], Iterator[Part]]] = {
    "stream": _stream,
    "modes": _modes,
    "batches": _batches,
    "sequences": _sequences,
    "devices": _devices,
}
