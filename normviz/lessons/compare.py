"""The layers of a comparison on a tensor that may have changed since they were chosen."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod

from normviz.analysis.comparison import (
    COLUMNS,
    FEWEST,
    MOST,
    Comparison,
    compare,
    one_of_each_family,
    sentence,
    suggestions,
)
from normviz.analysis.description import Description, describe, describe_shape
from normviz.analysis.examples import example, parameters
from normviz.analysis.forward import Values, largest_difference, run_module
from normviz.figures.payload import compare_payload
from normviz.layers.axes import parse_layout
from normviz.layers.fit import refit
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.substitutes import lookalike
from normviz.lessons.alternatives import FEW, on_shape, scene_link
from normviz.lessons.page import ControlRow, Page, title_on_tensor
from normviz.lessons.parts.containers import Table, framework_tabs
from normviz.lessons.parts.links import Links
from normviz.lessons.parts.part import Caption, Index, Panels, Part, Sentence, Text, part_or_note
from normviz.scene import edits
from normviz.scene.controls import SIZES, TENSOR, Control, Input
from normviz.scene.grid import Grid
from normviz.scene.scene import Scene, compact
from normviz.scene.setting import Choice, Several, texts
from normviz.scene.view import View
from normviz.texts.errors import NormvizError
from normviz.texts.messages import N_, _, format_difference, join_sentences, ngettext

DEFAULT_FAMILIES = ("BatchNorm", "LayerNorm", "InstanceNorm", "GroupNorm")


def fit_layers(texts: Sequence[str], scene: Scene) -> tuple[tuple[str, ...], str | None]:
    """The texts of two to six layers that take the scene's tensor, and the first error, if any.

    A layer of the catalogue whose sizes no longer fit is refitted without a message. A pattern for other axes, or a text that is not a
    layer, is omitted with a message. If fewer than two layers remain, the default layers are added.
    """
    kept, problem = _fit_each(texts[:MOST], scene)
    kept += default_layers(scene) if len(set(kept)) < FEWEST else ()
    return tuple(dict.fromkeys(kept))[:MOST], problem


def fitting(texts: Sequence[str], scene: Scene) -> list[str]:
    """The texts of those layers that can be fitted to the scene's tensor."""
    return _fit_each(texts, scene)[0]


def _fit_each(texts: Sequence[str], scene: Scene) -> tuple[list[str], str | None]:
    kept, problem = [], None
    for text in texts:
        try:
            kept.append(_fit(Layer.parse(text), scene.shape, scene.layout))
        except NormvizError as error:
            problem = problem or str(error)
    return kept, problem


def default_layers(scene: Scene) -> tuple[str, ...]:
    """The scene's own layer and one of each default family; at least two, for any tensor."""
    return _defaults(scene.shape, scene.layout, scene.layer)


# Cached by shape, layout and layer, not by scene: selecting an element makes a new scene, but the result is the same.


@lru_cache(maxsize=256)
def _defaults(shape: tuple[int, ...], layout: str, layer: Layer | Norm) -> tuple[str, ...]:
    families = one_of_each_family(shape, layout)
    own_family = layer.kind.family if isinstance(layer, Layer) else ""
    others = [str(families[family]) for family in DEFAULT_FAMILIES if family in families and family != own_family]
    layers = (_fit(layer, shape, layout), *others)[:4]
    spare = [text for text in suggestions(shape, layout) if text not in layers]
    return (*layers, *spare[: max(0, FEWEST - len(layers))])


@lru_cache(maxsize=1024)
def _fit(layer: Layer | Norm, shape: tuple[int, ...], layout: str) -> str:
    """The text of the layer, refitted where its sizes do not fit the tensor."""
    try:
        describe_shape(layer, shape, layout)
    except NormvizError:
        if not isinstance(layer, Layer):
            raise
        layer = refit(layer, shape, parse_layout(layout, len(shape)))
        describe_shape(layer, shape, layout)
    return str(layer) if isinstance(layer, Layer) else repr(layer)


# The ready-made sets of the page Compare: layers to see side by side, and why.

LOOPS = "Norm('n l c -> l c', 'l c')"  # for i in range(seq_len): for j in range(hidden): Norm(x[:, i, j])
MOST_VALUES = 2**18


@dataclass(frozen=True)
class ReadySet:
    """Layers to see side by side.

    key            in the link
    label          the title, displayed through ``_``
    shape, layout  of x
    layers         as text
    note           what to look at; ``{0.counts.parameters}`` is a number of the first Description, code is in backquotes
    """

    key: str
    label: str
    shape: tuple[int, ...]
    layout: str
    layers: tuple[str, ...]
    note: str

    @property
    def title(self) -> str:
        return _(self.label)

    @property
    def query(self) -> dict[str, str]:
        """The query of the page Compare that shows it."""
        shape = ",".join(map(str, self.shape))
        return {"shape": shape, "layout": self.layout, "layer": self.layers[0], "layers": ";".join(self.layers)}

    @cached_property
    def comparison(self) -> Comparison:
        """The layers on x."""
        return compare(self.layers, self.shape, self.layout)

    @property
    def loops_text(self) -> str:
        """For the loops: their difference from BatchNorm1d on the flattened x; empty for other sets."""
        if LOOPS not in self.layers:
            return ""
        n, length, channels = self.shape
        return _(
            "The loops on x and `BatchNorm1d({flat})` on x flattened to ({n}, {flat}): largest difference **{difference}**.",
            n=n,
            flat=length * channels,
            difference=format_difference(loops_difference((n, length, channels))),
        )

    @property
    def text(self) -> str:
        """The note with its numbers.

        >>> READY_SETS["loops"].text.split(".")[0]
        'The loops average over N only: **15** means'
        """
        return _(self.note).format(*self.comparison.descriptions)


@lru_cache(maxsize=32)
def loops_difference(shape: tuple[int, int, int], seed: int = 0) -> float:
    """The largest difference between the loops on x, (N, L, C), and torch's ``BatchNorm1d(L*C)`` on ``x.flatten(1)``, (N, L*C).

    Both have the same random gamma and beta, (L, C) and flattened to (L*C,), and compute in float64.

    Raises NormvizError unless x has three axes, two examples at least, and at most 2^18 elements.

    >>> loops_difference((2, 3, 4)) < 1e-12
    True
    """
    if len(shape) != 3 or prod(shape) > MOST_VALUES:
        raise NormvizError(
            ngettext(
                "shape={shape} must have the three sizes N, L and C and at most {n:,} element, as in (2, 3, 4).",
                "shape={shape} must have the three sizes N, L and C and at most {n:,} elements, as in (2, 3, 4).",
                MOST_VALUES,
                shape=shape,
            )
        )
    x = example("normal", shape, ("n", "l", "c"), seed).double()
    gamma, beta = (number.double() for number in parameters("random", shape[1:], seed))
    loops = replace(describe(LOOPS, x), values=Values(gamma, beta))
    flat = describe(f"BatchNorm1d({shape[1] * shape[2]})", x.flatten(1))
    assert flat.layer is not None
    fresh = replace(flat.layer_values(), gamma=gamma.flatten(), beta=beta.flatten())
    return largest_difference(loops.trace.output.flatten(1), run_module(flat.layer, x.flatten(1), fresh))


IMAGES, IMAGES_LAST, SEQUENCES = (3, 4, 5, 2), (3, 5, 2, 4), (4, 3, 5)

READY_SETS: dict[str, ReadySet] = {
    ready.key: ready
    for ready in (
        ReadySet(
            "four", N_("The four on images"), IMAGES, "NCHW",
            ("BatchNorm2d(4)", "LayerNorm([4, 5, 2])", "InstanceNorm2d(4)", "GroupNorm(2, 4)"),
            N_("One formula, four groups of elements that share a mean: one channel of all examples, one example, one channel of "
               "one example, or a group of channels of one example. In training, only BatchNorm depends on other examples."),
        ),
        ReadySet(
            "layer-norms", N_("All called LayerNorm"), IMAGES, "NCHW",
            ("LayerNorm([4, 5, 2])", "LayerNorm([5, 2])", "ChannelsFirstLayerNorm(4)", "GroupNorm(1, 4)"),
            N_("Each of these is called LayerNorm. `GroupNorm(1, C)` has the means of `LayerNorm([C, H, W])` but "
               "**{3.counts.parameters}** parameters, not **{0.counts.parameters}**: one gamma per channel, not per element."),
        ),
        ReadySet(
            "sequences", N_("BatchNorm and LayerNorm on sequences"), SEQUENCES, "NLC",
            ("Norm('n l c -> c', 'c')", "LayerNorm([5])"),
            N_("BatchNorm averages over N and L, LayerNorm over C. BatchNorm is written as a pattern here and has no mode. "
               "torch's `BatchNorm1d` uses axis 1 as channels, which is L here: permute x to NCL for it."),
        ),
        ReadySet(
            "dim-0", N_("dim=0 is not BatchNorm"), IMAGES_LAST, "NHWC",
            ("DimNorm(4, dim=0)", "Norm('n h w c -> c', 'c')"),
            N_("`dim=0` averages over N only: **{0.counts.statistics}** means. BatchNorm averages over N, H and W: "
               "**{1.counts.statistics}**, one per channel. It is a pattern here because torch's `BatchNorm2d` uses axis 1 as channels."),
        ),
        ReadySet(
            "loops", N_("The loops compute a different BatchNorm"), SEQUENCES, "NLC",
            (LOOPS, "Norm('n l c -> c', 'c')"),
            N_("The loops average over N only: **{0.counts.statistics}** means. `BatchNorm1d({1.counts.statistics})` on NCL, "
               "written as a pattern here, has **{1.counts.statistics}**. On x flattened to ND, `BatchNorm1d({0.counts.statistics})` equals the loops."),
        ),
    )
}  # fmt: skip


# Compare: two to six layers on one tensor. Point at an element to see its peers under every layer at once.

CODE = ("layer", "stats", "params", "gamma_shape", "beta_shape")  # the columns whose values are code


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
    yield _table(comparison)
    yield Caption(_("The last rows are measured on a small copy of x."), of="table")
    yield Text(_("**The same layer in torch, Keras and Flax**"), of="code")
    yield framework_tabs(comparison.descriptions)


def _table(comparison: Comparison) -> Table:
    """The rows, with a heading before the changes of x that leave the output the same."""
    rows = comparison.rows()
    keys = list(rows[0])
    heads, cells = [_(COLUMNS[key]) for key in keys], [list(row.values()) for row in rows]
    first = keys.index("batch_dependent") + 1
    heads.insert(first, _("**the output stays the same when you**"))
    for values in cells:
        values.insert(first, "")
    return Table(tuple(heads), tuple(map(tuple, cells)), tuple(map(keys.index, CODE)), transposed=True)


def panels(comparison: Comparison, drawing: Grid, at: Index | None) -> Part:
    """The statistics, parameters and cube of every layer, linked."""
    return part_or_note(lambda: Panels(compare_payload(comparison.descriptions, drawing, at=at), ("select",)))


def _ready_sets(view: View) -> list[Input]:
    shown = ready_set(view.scene, layers_of(view)[0])
    options = {OWN_SET: _("your own")} | {key: ready.title for key, ready in READY_SETS.items()}
    return [
        Input("set", _("Ready-made sets"), shown.key if shown else OWN_SET, Choice(options), _with_ready_set, width=270)
    ]


def _with_ready_set(view: View, key: str) -> View:
    if key not in READY_SETS:
        return view
    ready = READY_SETS[key]
    return view.with_scene(edits.with_tensor(view.scene, ready.shape, ready.layout)).with_settings(layers=ready.layers)


def _layers(view: View) -> list[Input]:
    layers = layers_of(view)[0]
    options = dict.fromkeys([*layers, *suggestions(view.scene.shape, view.scene.layout)])
    label = _("Layers (2 to {most}; type your own, such as Norm('n c h w -> n h w', 'c'))", most=MOST)
    return [Input("layers", label, list(layers), Several(tuple(options), MOST), _with_layers)]


def _with_layers(view: View, texts: Sequence[str]) -> View:
    """If no layer is chosen, the default layers are used, also after the tensor has changed."""
    layers, problem = fit_layers(texts, view.scene) if texts else ((), None)
    return view.with_settings(problem=problem, layers=layers)


def _lookalike_parts(page: Page, view: View) -> Iterator[Part]:
    """From a comparison on a large tensor the link to the look-alikes of its layers, with the true shape as the caption."""
    scene = view.scene
    if prod(scene.shape) <= FEW:
        return
    layer, shape = lookalike(scene.layer, scene.shape, scene.axes)
    if shape == scene.shape:
        return
    others = (lookalike(Layer.parse(text), scene.shape, scene.axes)[0] for text in layers_of(view)[0])
    texts = tuple(dict.fromkeys(map(compact, others)))
    caption = _("A small look-alike of {shape}: the same patterns on fewer elements.", shape=scene.shape)
    small = replace(view, display=replace(view.display, caption=caption)).with_settings(layers=texts)
    title = _("Show a small look-alike of shape {shape}", shape=shape)
    yield Links((scene_link(page, title, small, on_shape(scene, (layer, shape))),), kind="next")


def _file_title(view: View) -> str:
    layers, scene = layers_of(view)[0], view.scene
    return ", ".join(describe(layer, scene.shape, layout=scene.layout).title for layer in layers)


OWN_SET = ""
SETTINGS = (
    texts("layers", (), MOST, label=N_("Layers"), about=N_("the layers, separated by semicolons"), example="BatchNorm2d(3);LayerNorm([3,4,4])"),
)  # fmt: skip
SET = Control("set", N_("Ready-made sets"), _ready_sets)
ROWS = (
    ControlRow("controls", ((TENSOR, SIZES), (SET,)), "xsmall", reset=True),
    ControlRow("", ((Control("layers", N_("Layers"), _layers),),)),
)
PAGE: Page = Page(
    "compare",
    N_("Compare"),
    N_("Several layers on one tensor, element by element."),
    view_parts,
    SETTINGS,
    rows=lambda _view: ROWS,
    start=READY_SETS["four"].query,
    problem=problem,
    other_views=_lookalike_parts,
    shows_layer=False,
    summary=lambda view: ngettext(
        "{n} layers on {shape}", "{n} layers on {shape}", len(layers_of(view)[0]), shape=view.scene.shape
    ),
    share_title=lambda view: title_on_tensor(PAGE.title, ", ".join(layers_of(view)[0]), view),
    file_title=_file_title,
    call=lambda view: "nv.compare([{}], x)".format(", ".join(f'"{layer}"' for layer in layers_of(view)[0])),
    settled=lambda view: view.with_settings(
        view.problem, layers=[text.replace(", ", ",") for text in layers_of(view)[0]]
    ),
    file_choices=(("set",), ("set", "layers")),
)
