"""All layers: a map of every layer that there can be on one tensor.

A row is a set of axes that the mean is taken over, and a column a set of axes with a gamma for each index. Layers stand where their
patterns put them (``normviz.scene.toggles``); below the sets of whole axes are the rows of layers that split an axis.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from math import log, prod

from normviz.analysis.sentences import axis_nouns
from normviz.figures.wire import Payload
from normviz.layers.axes import SIZES as EXAMPLE_SIZES
from normviz.layers.axes import divisors
from normviz.layers.layer import Layer
from normviz.layers.naming import layer_with_axes
from normviz.layers.norm import Norm
from normviz.layers.sharing import counts
from normviz.lessons.page import ControlRow, Page, Plan
from normviz.parts.html import Body, data, escape
from normviz.parts.part import Link, Note, Part, Sentence, SmallTensor
from normviz.parts.titles import EXPLORE, LOOK_UP, TITLES
from normviz.scene.controls import SIZES, TENSOR
from normviz.scene.grid import roles
from normviz.scene.scene import Scene, compact
from normviz.scene.toggles import Standing, layers_of_toggles, norm_of, standing_of, toggle_rows
from normviz.scene.view import View, link
from normviz.texts.messages import N_, _, format_count, ngettext

MOST_AXES = 5  # 31 rows
MOST_DRAWN = 240  # elements; the groups of a larger tensor are drawn on a small one
LONGEST_DRAWN = 8


@dataclass(frozen=True)
class OtherLayer:
    """A layer that torch.nn does not have, and that the catalogue does not describe.

    axes  of the tensors that it is meant for
    kept  the axes with a mean each
    part  the axis of which each part has a mean of its own
    own   the axes with a gamma each
    exact whether it has the formula of all other layers
    """

    name: str
    source: str
    axes: frozenset[str]
    kept: frozenset[str]
    part: str = ""
    own: tuple[str, ...] = ()
    center: bool = True
    exact: bool = True

    def norm(self, axes: tuple[str, ...]) -> Norm:
        """Its patterns; a split axis has two parts."""
        left = " ".join("(g k)" if axis == self.part else axis for axis in axes)
        right = " ".join("g" if axis == self.part else axis for axis in axes if axis == self.part or axis in self.kept)
        own, sizes = " ".join(self.own) or None, {"g": 2} if self.part else {}
        return Norm(f"{left} -> {right}", own, center=self.center, bias=bool(own) and self.center, sizes=sizes)

    def suits(self, shape: tuple[int, ...], axes: tuple[str, ...]) -> bool:
        sizes = dict(zip(axes, shape, strict=True))
        is_split = not self.part or (sizes.get(self.part, 0) >= 4 and sizes[self.part] % 2 == 0)
        return is_split and (self.axes == {*axes} or (self.part == "n" and self.axes <= {*axes}))


# PONO, GRN, RetNet and RWKV-6: the axes are those of the authors' code. PixelNorm and Ghost BatchNorm: those of implementations of others.
IMAGES, SEQUENCES = frozenset("nchw"), frozenset("nlc")
OTHERS = (
    OtherLayer("Ghost BatchNorm", "Hoffer et al. 2017", frozenset("nc"), frozenset("c"), "n", ("c",)),
    OtherLayer("PixelNorm", "Karras et al. 2018", IMAGES, frozenset("nhw"), center=False),
    OtherLayer("PONO", "Li et al. 2019", IMAGES, frozenset("nhw")),
    OtherLayer("GRN", "ConvNeXt V2, Woo et al. 2023", IMAGES, frozenset("nc"), own=("c",), center=False, exact=False),
    OtherLayer("RetNet, per head", "Sun et al. 2023 (torchscale)", SEQUENCES, frozenset("nl"), "c", center=False),
    OtherLayer("RWKV-6, per head", "Peng et al. 2024", SEQUENCES, frozenset("nl"), "c", ("c",)),
)


@dataclass(frozen=True)
class MapLine(Payload):
    """A row or a column of the map.

    axes   in words, such as "H, W"
    drawn  how the toggles stand for it on the tensor that is drawn
    code   the statistics pattern, or the axes of gamma
    groups of a split axis; 0: none is split
    count  of means or of parameters
    heat   0 for one, 1 for one for each element
    about  the count, and how many elements share
    """

    axes: str
    drawn: tuple[int, ...]
    code: str
    groups: int
    count: str
    heat: float
    about: str


@dataclass(frozen=True)
class PlacedLayer(Payload):
    """A layer at its place.

    layer     as a link writes it
    sign      its letter in the map
    source    of one that torch does not have
    center    whether it subtracts the mean
    """

    row: int
    column: int
    name: str
    layer: str
    sign: str
    source: str
    center: bool


@dataclass(frozen=True, kw_only=True)
class MapData(SmallTensor):
    """The map of a tensor, and a small tensor on which groups are drawn.

    labels  the names of the axes
    steps   how each toggle of the means may stand
    whole   the number of rows with whole axes, which come first
    now     the row and the column of the reader's layer, if it has a place
    same    the families on the diagonal, where the two rows of toggles are equal
    once    those where each axis is in one of the two
    query   of the tensor, which that of a layer follows
    scale   the tensor whose groups are drawn is a small one
    """

    labels: list[str]
    steps: list[list[int]]
    rows: list[MapLine]
    columns: list[MapLine]
    whole: int
    layers: list[PlacedLayer]
    now: tuple[int, int] | None
    same: str
    once: str
    query: str
    scale: str


Row = tuple[int, ...]


def subsets(count: int) -> list[Row]:
    """All sets of axes: for each axis 1 or 0. Sets that are complements are equally far from the two ends.

    >>> subsets(2)
    [(0, 0), (1, 0), (0, 1), (1, 1)]
    """
    chosen = chain.from_iterable(combinations(range(count), size) for size in range(count + 1))
    return [tuple(int(axis in one) for axis in range(count)) for one in chosen]


def placed(scene: Scene) -> list[tuple[Standing, Layer | OtherLayer]]:
    """The layers on the scene's tensor: those of torch and the catalogue, with one number of groups, and the others."""
    shape, axes = scene.shape, scene.axes
    groups = _number_of_groups(scene)
    found: dict[Standing, Layer | OtherLayer] = {}
    for one, layer in layers_of_toggles(shape, axes, moved=True).items():
        means = tuple(groups[axis] if number > 1 else number for axis, number in enumerate(one.means))
        settled = one if means == one.means else replace(one, means=means)
        named = layer_with_axes(norm_of(settled, axes), shape, axes, layer)
        found |= {settled: named or layer}
    others = (other for other in OTHERS if other.suits(shape, axes))
    return [*found.items(), *((standing_of(other.norm(axes), shape, axes), other) for other in others)]


def _number_of_groups(scene: Scene) -> list[int]:
    """For each axis the number of groups that GroupNorm has in the map: that of the reader's layer, else the smallest."""
    own = standing_of(scene.shape_description.norm, scene.shape, scene.axes).means
    return [
        number if number > 1 else next(iter(divisors(size)[1:-1]), 0)
        for number, size in zip(own, scene.shape, strict=True)
    ]


def map_data(scene: Scene) -> MapData:
    """The map of the scene's tensor."""
    shape, axes, norm = scene.shape, scene.axes, scene.shape_description.norm
    found, own = placed(scene), standing_of(norm, shape, axes)
    sets, has_place = subsets(len(axes)), any(own.means) and not any(row.rest for row in toggle_rows(scene).values())
    means = list(
        dict.fromkeys(
            [*sets[1:], *sorted({one.means for one, _layer in found} | ({own.means} if has_place else set()))]
        )
    )
    drawn = _drawn_shape(shape, axes, means)
    layers = [_placed(means.index(one.means), sets.index(one.gamma), layer, axes) for one, layer in found]
    torch = [(one, layer.kind.family) for one, layer in found if isinstance(layer, Layer) and layer.kind.module]
    steps = [sorted({row[axis] for row in _on_drawn(means, shape, drawn)}) for axis in range(len(axes))]
    now = (means.index(own.means), sets.index(own.gamma)) if has_place else None
    kept = ("shape", "layout", "data", "seed", "values", "at", "from")
    query = {name: text for name, text in View(scene, {}).whole_scene_query().items() if name in kept}
    return MapData(
        shape=drawn, names=axes, **vars(roles(axes)), labels=[_label(axis, axes) for axis in axes], steps=steps,
        rows=[_row(row, on_drawn, shape, axes) for row, on_drawn in zip(means, _on_drawn(means, shape, drawn), strict=True)],
        columns=[_column(own, shape, axes) for own in sets], whole=len(sets) - 1, layers=layers, now=now,
        same=_families(torch, lambda means, gamma: means == gamma),
        once=_families(torch, lambda means, gamma: means == tuple(1 - each for each in gamma)),
        query=link(query | {"layout": scene.layout}),
        scale="" if drawn == shape else _("Drawn on a small tensor, {shape}; the counts are those of {whole}.", shape=drawn, whole=shape),
    )  # fmt: skip


def _families(layers: Sequence[tuple[Standing, str]], is_there: Callable[[Row, Row], bool]) -> str:
    """The families that have a layer with a gamma at such a place."""
    found = (family for one, family in layers if any(one.gamma) and is_there(one.means, one.gamma))
    return ", ".join(dict.fromkeys(found))


def _label(axis: str, axes: tuple[str, ...]) -> str:
    return _("{first}, {second}", first=axis.upper(), second=axis_nouns(axis, axes)[1])


def _drawn_shape(shape: tuple[int, ...], axes: tuple[str, ...], means: Sequence[Row]) -> tuple[int, ...]:
    """The tensor on which groups are drawn: the scene's, or a small one, whose split axes have two parts of two."""
    if prod(shape) <= MOST_DRAWN and max(shape) <= LONGEST_DRAWN:
        return shape
    split = [any(row[axis] > 1 for row in means) for axis in range(len(axes))]
    return tuple(
        4 if is_split else min(size, EXAMPLE_SIZES.get(axis, 3))
        for axis, size, is_split in zip(axes, shape, split, strict=True)
    )


def _on_drawn(means: Sequence[Row], shape: tuple[int, ...], drawn: tuple[int, ...]) -> list[Row]:
    return [row if drawn == shape else tuple(min(number, 2) for number in row) for row in means]


def _row(means: Row, drawn: Row, shape: tuple[int, ...], axes: tuple[str, ...]) -> MapLine:
    norm = norm_of(Standing(means, (0,) * len(axes)), axes)
    found, groups = counts(norm, shape), max(max(means), 1)
    words = [
        f"{axis.upper()}/{number}" if number > 1 else axis.upper()
        for axis, number in zip(axes, means, strict=True)
        if number
    ]
    about = ngettext(
        "{n} mean of {size} elements", "{n} means, each of {size} elements", found.statistics,
        n=format_count(found.statistics), size=format_count(found.elements_per_statistic),
    ) if found.elements_per_statistic > 1 else _("a mean for each element")  # fmt: skip
    return MapLine(
        ", ".join(words), drawn, norm.stats, groups if groups > 1 else 0, format_count(found.statistics), _heat(found.statistics, shape), about
    )  # fmt: skip


def _column(own: Row, shape: tuple[int, ...], axes: tuple[str, ...]) -> MapLine:
    names = [axis for axis, is_own in zip(axes, own, strict=True) if is_own]
    number = prod(size for size, is_own in zip(shape, own, strict=True) if is_own)
    about = _("no gamma") if not names else ngettext(
        "{n} gamma for {size} elements", "{n} gammas, each for {size} elements", number,
        n=format_count(number), size=format_count(prod(shape) // number),
    ) if number < prod(shape) else _("a gamma for each element")  # fmt: skip
    count, heat = (format_count(2 * number), _heat(number, shape)) if names else ("0", 0)
    return MapLine(", ".join(names).upper(), own, " ".join(names), 0, count, heat, about)


def _heat(count: int, shape: tuple[int, ...]) -> float:
    return round(log(count) / log(prod(shape)), 3) if prod(shape) > 1 else 0


def _placed(row: int, column: int, layer: Layer | OtherLayer, axes: tuple[str, ...]) -> PlacedLayer:
    if isinstance(layer, OtherLayer):
        source = layer.source if layer.exact else _("{source}; with another formula", source=layer.source)
        return PlacedLayer(row, column, layer.name, compact(layer.norm(axes)), layer.name[0], source, layer.center)
    kind = layer.kind
    source = (
        ""
        if kind.in_torch
        else kind.source or _("torch's {family}, with the channels moved to axis 1", family=kind.family)
    )
    sign = (kind.label or kind.family)[0]
    return PlacedLayer(row, column, str(layer), compact(layer), sign, source, kind.center)


@dataclass(frozen=True)
class LayerMap(Part):
    """The map. ``all_layers.ts`` draws it; until then, it is a list."""

    data: MapData
    name = "panels"

    def html(self, body: Body) -> str:
        body.exercises = True
        address = None if body.app is None else Link("", EXPLORE).address
        explore = body.address(address) if address else None
        items = "".join(f"<li>{escape(line)}</li>" for line in self._lines())
        return f'<div class="nv-map" data-map="{escape(data(self.data))}" data-explore="{escape(explore or "")}"><ul>{items}</ul></div>'

    def _lines(self) -> Iterator[str]:
        for layer in self.data.layers:
            row, column = self.data.rows[layer.row], self.data.columns[layer.column]
            own = _("own gamma for each {axes}", axes=column.axes) if column.axes else _("no gamma")
            yield _("{layer}: mean over {axes}, {gamma}", layer=layer.name, axes=row.axes, gamma=own)

    def plain_text(self) -> str:
        return "\n".join(f"- {line}" for line in self._lines())


def view_parts(view: View) -> Iterator[Part]:
    scene = view.scene
    if len(scene.axes) > MOST_AXES:
        axes = f"({', '.join(scene.axes).upper()})"
        yield Note(_("The map of {axes} has too many rows; choose a tensor with fewer axes.", axes=axes))
        return
    data = map_data(scene)
    yield Sentence(summary_of(data))
    yield LayerMap(data)


def summary_of(data: MapData) -> str:
    """How many places the map has, and at how many of them torch has a layer."""
    torch = {(one.row, one.column) for one in data.layers if not one.source}
    return _(
        "Ways to share a mean and a gamma: **{places}**; torch has a layer for **{n}** of them.",
        places=format_count(len(data.rows) * len(data.columns)), n=len(torch),
    )  # fmt: skip


class AllLayersPage(Page):
    """The page: it shows the scene's layer as one of all."""

    def summary(self, view: View) -> str:
        return _("{layer} on {shape}", layer=view.scene.layer, shape=view.scene.shape)


ROWS = (ControlRow("controls", ((TENSOR, SIZES),), "xsmall", reset=True),)
PAGE = AllLayersPage(
    "all_layers",
    *TITLES["all_layers"],
    view_parts,
    rows=lambda _view: ROWS,
    call=lambda view: f'nv.all_layers("{compact(view.scene.layer)}", x)',
    file_choices=(("layout",),),
    group=LOOK_UP,
    plan=Plan(
        N_("Students place each layer by two choices: the axes of its means, and the axes of its gammas."),
        10,
        ("s0h", "s2f", "q5"),
    ),
)
