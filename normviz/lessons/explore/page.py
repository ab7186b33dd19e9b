"""Explore: one layer on one tensor. Which elements share statistics and parameters, how many parameters there are, and the values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from normviz.analysis.description import Description
from normviz.analysis.excerpt import sample_note
from normviz.analysis.outliers import outliers_note
from normviz.analysis.sentences import groups_note, pairs_note, sentence
from normviz.figures.payload import NearLayer, Toggles, view_payload
from normviz.layers.layer import Layer
from normviz.lessons.alternatives import views_of_one_layer
from normviz.lessons.page import Page, Plan
from normviz.parts.part import Caption, HowMany, LayerNote, Panels, Part, Sentence, code_parts, part_or_note
from normviz.parts.titles import EXPLORE, LOOK_UP, TITLES
from normviz.scene import controls, edits, toggles
from normviz.scene.scene import OWN, Scene, compact
from normviz.scene.view import ALL, ALL_CONTROLS, View, link
from normviz.texts.messages import N_, _


def toggles_of(view: View) -> dict[str, Toggles]:
    """The toggles of the panels, by key. They rest where the link hides the arguments of the layer."""
    hidden = hides_toggles(view)

    def data(row: toggles.Row) -> Toggles:
        rest = " " if hidden and not row.rest else row.rest  # hidden without a word
        return Toggles(row.label, row.toggles, rest)

    rows, same = toggles.toggle_rows(view.scene), toggles.layers_with_same_means(view.scene)
    said = "" if same is None else _("Not a layer of torch for {axes}.", axes=f"({', '.join(view.scene.axes).upper()})")
    means = replace(data(rows[toggles.MEAN]), said=said, near=[_near(view, layer) for layer in same or ()])
    return {"stats": means, "params": data(rows[toggles.GAMMA])}


def _near(view: View, layer: Layer) -> NearLayer:
    query = view.with_scene(edits.with_layer(view.scene, layer)).query(PAGE.settings)
    return NearLayer(str(layer), link(query))


def hides_toggles(view: View) -> bool:
    """Whether a link lets the toggles rest."""
    return bool({controls.ARGUMENTS.hidden_by, ALL_CONTROLS, ALL} & set(view.display.hide))


def parts(
    e: Description, scene: Scene, toggles: Mapping[str, Toggles] | None = None, opened: Sequence[str] = ()
) -> Iterator[Part]:
    """The sentence, the linked panels, and the code.

    e        the layer of the scene, on its x or on a shape alone
    toggles  in the titles of the panels
    opened   the names of parts that are open
    """
    yield from map(LayerNote, e.notes)
    if toggles is not None and not e.norm.running:
        yield HowMany(e.counts.statistics, e.norm.center)
    yield Sentence(sentence(e))
    is_example = scene.values is None and scene.shown_data != OWN  # in which no channel is an outlier
    for note in filter(None, (groups_note(e), pairs_note(e), sample_note(e), "" if is_example else outliers_note(e))):
        yield Caption(note)
    changes = {"editable": scene.editable, "scaled": scene.scaled}
    yield part_or_note(
        lambda: Panels(
            view_payload(e, scene.grid, at=scene.at, **changes, toggles=toggles, opened=opened),
            ("select", "edit", "scale", "toggle"),
        )
    )
    yield code_parts(e, "code" in opened)


class ExplorePage(Page):
    """The page: the toggles in the titles of its two panels stand for some of its controls."""

    has_two_panels = True
    in_toggles = ("depth", "num_groups", "dim")


PAGE = ExplorePage(
    EXPLORE,
    *TITLES[EXPLORE],
    lambda view: parts(view.scene.description, view.scene, toggles_of(view), view.display.open),
    other_views=views_of_one_layer,
    call=lambda view: f'nv.explain("{compact(view.scene.layer)}", x)',
    file_choices=controls.FILE_CHOICES,
    group=LOOK_UP,
    plan=Plan(
        N_(
            "Students find the elements that share a mean, and those that share a gamma, and see that these are two questions."
        ),
        10,
        ("s0", "q8", "s0e"),
    ),
)
