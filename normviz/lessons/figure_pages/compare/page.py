"""Compare: two to six layers on one tensor. Point at an element to see its peers under every layer at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from normviz.analysis.comparing.comparison import COLUMNS, Comparison, compare, sentence
from normviz.analysis.description import Description
from normviz.figures.payload.compare import compare_payload
from normviz.layers.messages import N_, _, join_sentences
from normviz.lessons.figure_pages.compare.fit_layers import default_layers, fit_layers
from normviz.lessons.figure_pages.compare.ready_sets import READY_SETS, ReadySet
from normviz.lessons.parts.code_tabs import framework_tabs
from normviz.lessons.parts.part import Caption, Panels, Part, Sentence, Text, part_or_note
from normviz.lessons.parts.table import Column, Table
from normviz.lessons.subject import Index
from normviz.scene.grid import Grid
from normviz.scene.scene import Scene
from normviz.scene.view import View

HEADING = Column("", N_("**the output stays the same when you**"))  # heading above the columns of comparison.LABELS
CODE = {"layer", "stats", "params", "gamma_shape", "beta_shape"}


def layers_of(view: View) -> tuple[tuple[str, ...], str | None]:
    """The layers that are compared, and the first error in them, if any."""
    return fit_layers(view.settings["layers"] or default_layers(view.scene), view.scene)


def problem(view: View) -> str | None:
    """The first error in the link, if any."""
    return view.problem or layers_of(view)[1]


def ready_set(scene: Scene | Description, layers: tuple[str, ...]) -> ReadySet | None:
    """The ready-made set of these layers on the scene's shape and layout, if there is one."""

    def shows(ready: ReadySet) -> bool:
        return (ready.shape, ready.layout) == (scene.shape, scene.layout) and set(ready.layers) == set(layers)

    return next(filter(shows, READY_SETS.values()), None)


def view_parts(view: View) -> Iterator[Part]:
    scene, layers = view.scene, layers_of(view)[0]
    return parts(compare(layers, scene.shape, scene.layout), scene.grid, scene.at, ready_set(scene, layers))


def parts(comparison: Comparison, drawing: Grid, at: Index | None, ready: ReadySet | None = None) -> Iterator[Part]:
    """The sentence, the linked panels, the table, and the names in other frameworks."""
    if at is not None:
        yield Sentence(sentence(comparison, at), ", ".join(map(str, at)))
    if ready:
        yield Text(join_sentences([ready.text, ready.loops_text]))
    for note in dict.fromkeys(note for e in comparison.descriptions for note in e.notes):
        yield Caption(note)
    yield panels(comparison, drawing, at)
    yield Text(_("**Side by side**"), of="table")
    rows = comparison.rows()
    yield Table(_columns(rows[0]), rows, "layer", transposed=True)
    yield Caption(_("The last rows are measured on a small copy of x."), of="table")
    yield Text(_("**The same layer in torch, Keras and Flax**"), of="code")
    yield framework_tabs(comparison.descriptions)


def _columns(row: Mapping[str, object]) -> tuple[Column, ...]:
    columns = [Column(key, COLUMNS[key], key in CODE) for key in row]
    first = list(row).index("batch_dependent") + 1
    return (*columns[:first], HEADING, *columns[first:])


def panels(comparison: Comparison, drawing: Grid, at: Index | None) -> Part:
    """The statistics, parameters and cube of every layer, linked."""
    descriptions = comparison.descriptions
    return part_or_note(lambda: Panels(compare_payload(descriptions, drawing, at=at), ("select",)))
