"""Compare: two to six layers on one tensor. Point at an element to see its peers under every layer at once."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod

from normviz.analysis import description, examples, forward
from normviz.analysis.comparison import (
    COLUMNS,
    FEWEST,
    LABELS,
    MOST,
    Comparison,
    compare,
    one_of_each_family,
    sentence,
    suggestions,
)
from normviz.analysis.sentences import groups_note
from normviz.figures.payload import CARDS, Cards, compare_payload
from normviz.layers import axes, fit, norm
from normviz.layers.layer import Layer
from normviz.lessons.alternatives import lookalike_links
from normviz.lessons.page import ControlRow, Page, Plan, title_on_tensor
from normviz.parts.part import Caption, Index, Panels, Part, Sentence, Table, Text, part_or_note
from normviz.parts.titles import LOOK_UP, TITLES
from normviz.scene import controls, edits, grid
from normviz.scene.scene import Scene, compact
from normviz.scene.setting import Choice, Several, plain_signs, texts, word
from normviz.scene.view import View
from normviz.texts.errors import NormvizError
from normviz.texts.messages import N_, _, format_difference, join_sentences, ngettext

# The layers of a comparison on a tensor that may have changed since they were chosen.

DEFAULT_FAMILIES = ("BatchNorm", "LayerNorm", "InstanceNorm", "GroupNorm")


def fit_layers(texts: Sequence[str], scene: Scene) -> tuple[tuple[str, ...], str | None]:
    """The texts of two to six layers that take the scene's tensor, and the first error, if any.

    A layer of the catalogue whose sizes do not fit is refitted without a message. A layer without a form on this tensor, a pattern for
    other axes, or a text that is not a layer, is left out with a message. If fewer than two layers remain, the default layers are added.
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
    layer, families = scene.layer, one_of_each_family(scene.shape, scene.layout)
    own_family = layer.kind.family if isinstance(layer, Layer) else ""
    others = [str(families[family]) for family in DEFAULT_FAMILIES if family in families and family != own_family]
    layers = tuple(dict.fromkeys((_fit(layer, scene.shape, scene.layout), *others)))[:4]
    spare = [text for text in suggestions(scene.shape, scene.layout) if text not in layers]
    return (*layers, *spare[: max(0, FEWEST - len(layers))])


@lru_cache(maxsize=1024)
def _fit(layer: Layer | norm.Norm, shape: tuple[int, ...], layout: str) -> str:
    """The text of the layer, refitted where its sizes do not fit the tensor."""
    try:
        description.describe_shape(layer, shape, layout)
    except NormvizError:
        if not isinstance(layer, Layer):
            raise
        layer = fit.carried(layer, _axes_meant(layer, len(shape)), shape, axes.parse_layout(layout, len(shape)))[0]
        description.describe_shape(layer, shape, layout)
    return str(layer) if isinstance(layer, Layer) else repr(layer)


def _axes_meant(layer: Layer, rank: int) -> tuple[str, ...]:
    """The axes of the x that a layer was probably written for, where it does not fit an x of ``rank``."""
    low, high = layer.kind.ranks
    if "normalized_shape" in layer.given:
        depth = len(layer.given["normalized_shape"])
        rank = rank if 1 < depth < rank else max(3, depth + 1)
    elif not layer.kind.takes_rank(rank):
        rank = high or low
    return axes.parse_layout(layer.kind.layout(rank), rank)


def after_tensor(before: View, after: View) -> View:
    """After a change of the tensor, the layers keep their idea. One without a form on the tensor stays in the list, and returns with its form."""
    old, new, layers = before.scene, after.scene, before.settings["layers"]
    if (old.shape, old.axes) == (new.shape, new.axes) or layers != after.settings["layers"]:
        return after
    found = [_on_tensor(text, old, new) for text in layers]
    sentences = (sentence for _layer, sentence in found)
    problem = next(filter(None, sentences), None) if old.axes != new.axes else after.problem
    return after.with_settings(problem, layers=tuple(dict.fromkeys(layer for layer, _sentence in found)))


def _on_tensor(text: str, old: Scene, new: Scene) -> tuple[str, str | None]:
    try:
        layer = Layer.parse(text)
        with suppress(NormvizError):  # it waits for a tensor that has a form for it
            layer = Layer.parse(_fit(layer, old.shape, old.layout))  # as it is shown
    except NormvizError:  # the list of layers names it
        return text, None
    if isinstance(layer, norm.Norm):
        return text, None
    try:
        found, sentence = fit.carried(layer, old.axes, new.shape, new.axes)
        return str(found), sentence
    except NormvizError:  # torch may take (N, D) for one example, (C, L): the text is one that does not take it
        other = next((kind for kind in layer.kind.siblings if not kind.takes_rank(len(new.shape))), layer.kind)
        return str(replace(layer, name=other.name)), None


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
    x = examples.example("normal", shape, ("n", "l", "c"), seed).double()
    gamma, beta = (number.double() for number in examples.parameters("random", shape[1:], seed))
    loops = replace(description.describe(LOOPS, x), values=forward.Values(gamma, beta))
    flat = description.describe(f"BatchNorm1d({shape[1] * shape[2]})", x.flatten(1))
    assert flat.layer is not None
    fresh = replace(flat.layer_values(), gamma=gamma.flatten(), beta=beta.flatten())
    return forward.largest_difference(
        loops.trace.output.flatten(1), forward.run_module(flat.layer, x.flatten(1), fresh)
    )


IMAGES, IMAGES_LAST, SEQUENCES, TOKENS = (3, 4, 5, 2), (3, 5, 2, 4), (4, 3, 6), (4, 3, 5)

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
            "sequences", N_("The four on sequences"), SEQUENCES, "NLC",
            ("ChannelsLastBatchNorm(6)", "LayerNorm([6])", "ChannelsLastInstanceNorm(6)", "ChannelsLastGroupNorm(2, 6)"),
            N_("BatchNorm averages over N and L, LayerNorm over C, InstanceNorm over L, GroupNorm over L and a group of channels. "
               "torch's layers with channels use axis 1, which is L here; these move C there and back: `bn(x.transpose(1, 2)).transpose(1, 2)`."),
        ),
        ReadySet(
            "dim-0", N_("dim=0 is not BatchNorm"), IMAGES_LAST, "NHWC",
            ("DimNorm(4, dim=0)", "ChannelsLastBatchNorm(4)"),
            N_("`dim=0` averages over N only: **{0.counts.statistics}** means. BatchNorm averages over N, H and W: "
               "**{1.counts.statistics}**, one per channel."),
        ),
        ReadySet(
            "loops", N_("The loops compute a different BatchNorm"), TOKENS, "NLC",
            (LOOPS, "ChannelsLastBatchNorm(5)"),
            N_("The loops average over N only: **{0.counts.statistics}** means. BatchNorm has one per channel: **{1.counts.statistics}**. "
               "On x flattened to ND, `BatchNorm1d({0.counts.statistics})` equals the loops."),
        ),
    )
}  # fmt: skip


# The page.

FIRST_ROWS = ("layer", "statistics", "elements_per_statistic", "parameters", "train_equals_eval", "batch_dependent")
CODE = ("layer", "stats", "params", "gamma_shape", "beta_shape")  # the columns whose values are code


def layers_of(view: View) -> tuple[tuple[str, ...], str | None]:
    """The layers that are compared, and the first error in them, if any."""
    return fit_layers(view.settings["layers"] or default_layers(view.scene), view.scene)


def ready_set(scene: Scene | description.Description, layers: tuple[str, ...]) -> ReadySet | None:
    """The ready-made set of these layers on the scene's shape and layout, if there is one."""
    here, chosen = (scene.shape, scene.layout), set(layers)
    return next(
        (one for one in READY_SETS.values() if (one.shape, one.layout) == here and set(one.layers) == chosen), None
    )


def view_parts(view: View) -> Iterator[Part]:
    scene, layers = view.scene, layers_of(view)[0]
    comparison, ready = compare(layers, scene.shape, scene.layout), ready_set(scene, layers)
    return parts(comparison, scene.grid, scene.at, ready, view.settings["cards"])


def parts(
    comparison: Comparison, drawing: grid.Grid, at: Index | None, ready: ReadySet | None = None, cards: Cards = CARDS[0]
) -> Iterator[Part]:
    """The sentence, the linked panels and the table."""
    if at is not None:
        yield Sentence(sentence(comparison, at), ", ".join(map(str, at)))
    notes = [note for e in comparison.descriptions for note in (*e.notes, groups_note(e), _own_name(e))]
    for note in dict.fromkeys(filter(None, notes)):
        yield Caption(note)
    yield panels(comparison, drawing, at, cards)
    if ready:
        yield Text(join_sentences([ready.text, ready.loops_text]))
    yield Text(_("**Side by side**"), of="table")
    yield _table(comparison)


def _own_name(e: description.Description) -> str:
    """That torch has no layer of this name."""
    if e.layer is None or e.layer.kind.in_torch:
        return ""
    return _("torch.nn has no `{layer}`. Explore shows the code.", layer=e.layer.name)


def _table(comparison: Comparison) -> Table:
    """Five rows, and below them all others, with a heading before the changes of x that leave the output the same."""
    rows = comparison.rows()
    keys = list(dict.fromkeys((*FIRST_ROWS, *rows[0])))
    heads, cells = [_(COLUMNS[key]) for key in keys], [[row[key] for key in keys] for row in rows]
    first = next(place for place, key in enumerate(keys) if key in LABELS)
    heads.insert(
        first, _("**the output stays the same when you** (but for eps; measured on small tensors of other values)")
    )
    for values in cells:
        values.insert(first, "")
    return Table(tuple(heads), tuple(map(tuple, cells)), tuple(map(keys.index, CODE)), transposed=True, five=True)


def panels(
    comparison: Comparison, drawing: grid.Grid, at: Index | None, cards: Cards = CARDS[0], differs: Sequence[str] = ()
) -> Part:
    """The statistics, parameters and cube of every layer, linked; ``differs`` as in ``ComparePayload``."""

    def figure() -> Panels:
        data = compare_payload(comparison.descriptions, drawing, at=at, cards=cards, differs=differs)
        return Panels(data, ("select", "cards"))

    return part_or_note(figure)


def _ready_sets(view: View) -> list[controls.Input]:
    chosen_set = ready_set(view.scene, layers_of(view)[0])
    options = {OWN_SET: _("your own")} | {key: ready.title for key, ready in READY_SETS.items()}
    return [
        controls.Input(
            "set",
            _("Ready-made sets"),
            chosen_set.key if chosen_set else OWN_SET,
            Choice(options),
            _with_ready_set,
            width=270,
            in_file="sets",
        )
    ]


def _with_ready_set(view: View, key: str) -> View:
    if key not in READY_SETS:
        return view
    ready = READY_SETS[key]
    return view.with_scene(edits.with_tensor(view.scene, ready.shape, ready.layout)).with_settings(layers=ready.layers)


def _layers(view: View) -> list[controls.Input]:
    layers = layers_of(view)[0]
    options = dict.fromkeys([*layers, *suggestions(view.scene.shape, view.scene.layout)])
    label = _("Layers (2 to {most}; type your own, such as Norm('n c h w -> n h w', 'c'))", most=MOST)
    return [controls.Input("layers", label, list(layers), Several(tuple(options), MOST), _with_layers)]


def _with_layers(view: View, texts: Sequence[str]) -> View:
    """If no layer is chosen, the default layers are used, also after the tensor has changed."""
    layers, problem = fit_layers(list(map(plain_signs, texts)), view.scene) if texts else ((), None)
    return view.with_settings(problem=problem, layers=layers)


def _lookalike_links(page: Page, view: View) -> Iterator[Part]:
    """From a comparison on a large tensor the link to the look-alikes of its layers, with the true shape as the caption."""
    scene = view.scene

    def current() -> View:
        others = (fit.lookalike(Layer.parse(text), scene.shape, scene.axes)[0] for text in layers_of(view)[0])
        caption = _("A small look-alike of {shape}: the same patterns on fewer elements.", shape=scene.shape)
        display = replace(view.display, caption=caption)
        return replace(view, display=display).with_settings(layers=tuple(dict.fromkeys(map(compact, others))))

    return lookalike_links(page, scene, current)


OWN_SET = ""
SETTINGS = (
    texts("layers", (), MOST).described(
        N_("Layers"), N_("the layers, separated by semicolons"), "BatchNorm2d(4);LayerNorm([4,3,5])"
    ),
    word("cards", CARDS, CARDS[0]).described("", N_("what is drawn of each layer: mean, gamma or cube"), "gamma"),
)
SET = controls.Control("set", N_("Ready-made sets"), _ready_sets)
ROWS = (
    ControlRow("controls", ((controls.TENSOR, controls.SIZES), (SET,)), "xsmall", reset=True),
    ControlRow("", ((controls.Control("layers", N_("Layers"), _layers),),)),
)


class ComparePage(Page):
    """The page: it shows layers of its own on the scene's tensor."""

    shows_layer = False

    def settled(self, view: View) -> View:
        layers = [text.replace(", ", ",") for text in layers_of(view)[0]]
        return view.with_settings(view.problem, layers=layers)

    def after_tensor(self, before: View, after: View) -> View:
        return after_tensor(before, after)

    def problem(self, view: View) -> str | None:
        return view.problem or layers_of(view)[1]

    def summary(self, view: View) -> str:
        count, shape = len(layers_of(view)[0]), view.scene.shape
        return ngettext("{n} layers on {shape}", "{n} layers on {shape}", count, shape=shape)

    def share_title(self, view: View) -> str:
        return title_on_tensor(self.title, ", ".join(layers_of(view)[0]), view)

    def file_title(self, view: View) -> str:
        layers, scene = layers_of(view)[0], view.scene
        return ", ".join(description.describe(layer, scene.shape, layout=scene.layout).title for layer in layers)


PAGE = ComparePage(
    "compare",
    *TITLES["compare"],
    view_parts,
    SETTINGS,
    rows=lambda _view: ROWS,
    start=READY_SETS["four"].query,
    other_views=_lookalike_links,
    call=lambda view: "nv.compare([{}], x)".format(", ".join(f'"{layer}"' for layer in layers_of(view)[0])),
    file_choices=(("set",), ("set", "layers")),
    group=LOOK_UP,
    plan=Plan(
        N_(
            "Students tell layers apart that look alike: the same means with other gammas, or the same sizes on other axes."
        ),
        10,
        ("q6", "s0g|s1b", "q1"),
    ),
)
