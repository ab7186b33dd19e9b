"""The data of linked figures: the drawn elements, which of them share, values, and the selected element.

Python's own figure (``plotly_figure``) reads a payload as it is; the browser gets it as JSON (``wire.sent``).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar, Literal, TypedDict, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from normviz.analysis import description, sentences
from normviz.analysis.excerpt import Excerpt, GroupValues, Take, Token, excerpt, has_values, steps, whole_formula
from normviz.code.programs import code
from normviz.figures.wire import Payload, left_out
from normviz.layers.sharing import check_groups
from normviz.scene.grid import Grid
from normviz.scene.toggles import AxisToggle
from normviz.texts.messages import _, format_count

Index = tuple[int, ...]
Packed = NDArray[np.float32]
Scale = Literal["groups", "parameters", "values", "none", "cube"]
Cards = Literal["mean", "gamma", "cube"]
# What a comparison draws of each layer: who shares a mean, who shares a gamma, or the group of the mean in a cube.
CARDS: tuple[Cards, ...] = get_args(Cards)
UNITS = (["x", "mean", "centered"], ["squared", "var"], ["normalized", "output"])  # one scale for the values of a unit
MOST_DRAWN = (6, 10, 16)  # bricks of a cube along n, c and s


@dataclass(frozen=True)
class PanelValues:
    """Values of x's shape that one panel shows.

    links  the kind of sharing whose peers the panel outlines: "stats", "params" or ""
    most   the smallest absolute value that has the full color; None: the largest absolute value
    """

    key: str
    title: str
    caption: str
    values: Tensor
    links: str = "stats"
    most: float | None = None


# What the browser gets.


@dataclass(frozen=True)
class NamedAxis(Payload):
    """An index along ``name`` follows from an index of x: ``x[axis] // divide % modulo``."""

    name: str
    axis: int
    divide: int
    modulo: int


@dataclass(frozen=True)
class Statistics(Payload):
    """Which elements share a mean and a variance: the group of an element is its index along ``axes``.

    size  the elements of a group
    """

    count: int
    size: int
    axes: list[NamedAxis]
    center: bool
    running: bool


@dataclass(frozen=True)
class GammaAndBeta(Payload):
    """Which elements share a gamma and a beta: the group of an element is its index along ``axes``.

    size  the elements of a group
    """

    axes: list[NamedAxis]
    bias: bool
    zero_centered_gamma: bool
    size: int


@dataclass(frozen=True)
class NearLayer(Payload):
    """A layer, and the query of its view in Explore."""

    name: str
    query: str


@dataclass(frozen=True)
class Toggles(Payload):
    """A row of toggles in the title of a panel.

    rest  why it is at rest, or ""
    said  that torch has no such layer
    near  layers of torch that have the same means
    """

    label: str
    items: Sequence[AxisToggle]
    rest: str
    said: str = left_out("")
    near: Sequence[NearLayer] = left_out(())


@dataclass(frozen=True, kw_only=True)
class PanelData(Payload):
    """One heatmap.

    z       the values of the drawn elements; None if the cells are ids, which follow from ``links``
    groups  the number of groups if the cells are ids, else 0
    low     the value at the lower end of the scale
    high    the value at the upper end of the scale
    links   the kind of sharing whose peers the panel outlines: "stats", "params" or ""
    row     the row of panels that it belongs to
    """

    pattern: str = ""
    z: Packed | None = None
    groups: int = 0
    key: str
    title: str
    caption: str
    low: float
    high: float
    scale: Scale
    links: str
    row: str = left_out("")
    toggles: Toggles | None = left_out(None)


@dataclass(frozen=True, kw_only=True)
class StepData(PanelData):
    """The values that a step of the forward pass makes."""

    z: Packed
    why: str


@dataclass(frozen=True)
class Box(Payload):
    """Which axes of the drawn window are examples (n), channels (c) and positions (s), and how many bricks each has.

    example  the number of the axis; None if x has no such axis
    channel  the number of the axis; None if x has no such axis
    rest     the axes of the positions; the last one varies fastest
    whole    the number of bricks along n, c and s in the window
    drawn    the number of bricks along n, c and s that are drawn
    names    the labels of n, c and s
    """

    example: int | None
    channel: int | None
    rest: list[int]
    whole: tuple[int, int, int]
    drawn: tuple[int, int, int]
    names: tuple[str, str, str]


@dataclass(frozen=True, kw_only=True)
class CubePanel(Payload):
    """A cube of bricks in the colors of the groups."""

    key: str
    links: str
    title: str
    row: Literal["cube"] = "cube"
    scale: Literal["cube"] = "cube"
    box: Box
    pattern: ClassVar[str] = ""
    caption: ClassVar[str] = ""


@dataclass(frozen=True)
class MomentsData(Payload):
    """The mean and the variance of each group, at one stage of the forward pass."""

    mean: Packed
    var: Packed


@dataclass(frozen=True)
class Histogram(Payload):
    """How many values are in each of as many bins of the same width as there are counts.

    low   the lower end of the first bin
    high  the upper end of the last bin
    """

    low: float
    high: float
    counts: list[int]


@dataclass(frozen=True)
class GroupData(Payload):
    """The values of the selected group of a tensor that is not drawn whole, by stage: "x", "normalized", "output".

    id        the number of the group
    count     the number of values; of a sample, they are fewer than the group has
    elements  the index of each value, if there are few
    values    of each stage, if there are few
    bins      of each stage, if there are many
    """

    id: int
    count: int
    elements: Sequence[Index]
    values: dict[str, Packed]
    bins: dict[str, Histogram]


@dataclass(frozen=True, kw_only=True)
class LayerValues(Payload):
    """Mean, variance, gamma and beta as they broadcast over the drawn elements, and eps."""

    mean: Packed
    var: Packed
    gamma: Packed | None = left_out(None)
    beta: Packed | None = left_out(None)
    eps: float


@dataclass(frozen=True)
class Count(Payload):
    """A number of the layer."""

    label: str
    value: str
    note: str


@dataclass(frozen=True)
class LayerName(Payload):
    """A layer of a comparison."""

    name: str


@dataclass(frozen=True)
class Loops(Payload):
    """The forward pass as loops. ``runs``: the variables that run over the elements of a group."""

    code: str
    runs: list[NamedAxis]


Panel = PanelData | CubePanel
P = TypeVar("P", bound=PanelData)


@dataclass(frozen=True, kw_only=True)
class Linked(Payload):
    """What all figures of panels have that show one tensor.

    at        the selected element
    group     the values of its group, if x is not drawn whole
    computed  the ids of the groups whose means and variances are known; left out: of all
    """

    kind: str
    axes: tuple[str, ...]
    grid: Grid
    panels: Sequence[Panel]
    values: LayerValues | None = None
    group: GroupData | None = left_out(None)
    computed: Sequence[int] | None = left_out(None)
    at: Index | None = None
    editable: bool = False


@dataclass(frozen=True, kw_only=True)
class LinkedLayer(Linked):
    """A layer, and which elements share its statistics and its parameters."""

    panels: Sequence[PanelData]
    layer: str
    stats: Statistics
    params: GammaAndBeta | None


@dataclass(frozen=True, kw_only=True)
class ViewPayload(LinkedLayer):
    """The figure of Explore.

    moments   of each stage; None without values
    scaled    every gamma and beta has the value that the reader chose
    open      the parts that are opened: "values", "worked"
    """

    kind: Literal["view"] = "view"
    moments: dict[str, MomentsData] | None
    formula: Sequence[Token]
    loops: Loops
    facts: list[Count]
    scaled: bool
    open: Sequence[str] | None = left_out(None)
    hidden: Sequence[str] = left_out(())


@dataclass(frozen=True, kw_only=True)
class ValuesPayload(LinkedLayer):
    """Values of x's shape.

    name        the name of the tensor
    of_element  the numbers belong to the selected element
    square      the cells are as wide as high
    """

    kind: Literal["values"] = "values"
    name: str
    of_element: bool = left_out(False)
    square: bool = left_out(False)
    hidden: Sequence[str] = left_out(())


@dataclass(frozen=True, kw_only=True)
class StepsPayload(LinkedLayer):
    """The forward pass in steps.

    groups  beside x, which no step comes before
    step    the number of the step that is shown first
    """

    kind: Literal["steps"] = "steps"
    moments: dict[str, MomentsData] | None
    groups: PanelData
    formula: Sequence[Token]
    loops: Loops
    step: int
    scaled: bool
    hidden: Sequence[str] = left_out(())


@dataclass(frozen=True, kw_only=True)
class ComparePayload(Linked):
    """Several layers on one tensor.

    cards    what is drawn of each layer first
    differs  the sharings of a function and of the layer that it should be: where they differ, elements are marked
    """

    kind: Literal["compare"] = "compare"
    sharings: dict[str, Statistics | GammaAndBeta | None]
    layers: list[LayerName]
    cards: Cards
    differs: Sequence[str] = left_out(())
    hidden: Sequence[str] = left_out(())


LinkedPayload = ViewPayload | ValuesPayload | StepsPayload | ComparePayload


# The figures.


class OnTensor(TypedDict):
    """What figures know of the tensor that they show."""

    axes: tuple[str, ...]
    grid: Grid
    at: Index | None


def _on(drawing: Grid, at: Index | None) -> OnTensor:
    return {"axes": drawing.axes, "grid": drawing, "at": at}


def view_payload(
    e: description.Description,
    drawing: Grid,
    *,
    at: Index | None = None,
    editable: bool = False,
    scaled: bool = False,
    toggles: Mapping[str, Toggles] | None = None,
    opened: Sequence[str] | None = None,
) -> ViewPayload:
    """The panels of both kinds of sharing and, if ``e`` has values, of the values.

    editable  the reader can change values of x
    scaled    every gamma and beta has the value that the reader chose
    toggles   of the panels of sharing, by key, where the reader can change the layer by its axes
    opened    the names of parts that are open
    """
    sharing = [replace(panel, toggles=toggles[panel.key]) if toggles else panel for panel in sharing_panels(e)]
    shown = excerpt(e, drawing.indices, at) if has_values(e) else None
    return ViewPayload(
        **_on(drawing, at),
        panels=[*sharing, *(value_panels(e, shown) if shown else ())],
        **_of_values(shown),
        editable=editable,
        **_of_layer(e),
        formula=whole_formula(e),
        loops=loops_data(e),
        facts=counts(e),
        scaled=scaled,
        open=opened,
    )


def values_payload(
    e: description.Description,
    drawing: Grid,
    values: Iterable[PanelValues],
    *,
    name: str = "x",
    at: Index | None = None,
    of_element: bool = False,
    square: bool = False,
    take: Take | None = None,
) -> ValuesPayload:
    """A panel for each of ``values``, linked by the sharing of ``e``; ``name`` is the tensor's name.

    take  takes the drawn elements from the values; by default they are of x's shape
    """
    of_layer = _of_layer(e)
    if name != "x":
        of_layer["layer"] = ""
    panels = [_value_panel(replace(each, values=(take or drawing.take)(each.values))) for each in values]
    return ValuesPayload(**_on(drawing, at), panels=panels, **of_layer, name=name, of_element=of_element, square=square)


def steps_payload(
    e: description.Description, drawing: Grid, *, step: int = 0, at: Index | None = None, scaled: bool = False
) -> StepsPayload:
    """The forward pass in steps: the values that each step makes, the formula in tokens, and the loops. ``step`` is shown first."""
    panels, shown = [], excerpt(e, drawing.indices, at)
    for each in steps(e, shown):
        links = each.links if e.norm.params is not None else "stats"
        values = PanelValues(each.key, each.title, each.formula, each.values.float().expand(drawing.extent), links)
        panels.append(StepData(**vars(_value_panel(values)), why=each.why))
    return StepsPayload(
        **_on(drawing, at),
        panels=_on_one_scale(panels),
        **_of_values(shown),
        **_of_layer(e),
        groups=sharing_panels(e)[0],
        formula=whole_formula(e),
        loops=loops_data(e),
        step=max(0, min(step, len(panels) - 1)),
        scaled=scaled,
    )


def compare_payload(
    descriptions: Sequence[description.Description],
    drawing: Grid,
    *,
    at: Index | None = None,
    cards: Cards = CARDS[0],
    differs: Sequence[str] = (),
) -> ComparePayload:
    """The statistics, the parameters and the cube of each layer, all on one tensor; ``cards`` and ``differs`` as in ``ComparePayload``."""
    sharings: dict[str, Statistics | GammaAndBeta | None] = {}
    panels: list[Panel] = []
    bricks = box(descriptions[0].axes, drawing.extent)
    for number, e in enumerate(descriptions):
        stats, params, cube = f"stats{number}", f"params{number}", f"cube{number}"
        sharings |= {stats: statistics_data(e), params: parameters_data(e)}
        statistics, parameters = sharing_panels(e)
        links = params if parameters.links else ""
        panels += [
            replace(statistics, key=stats, links=stats, title=e.title, row="stats"),
            replace(parameters, key=params, links=links, title=_parameters_title(e), row="params"),
            CubePanel(key=cube, links=stats, title=e.title, box=bricks),
        ]
    layers = [LayerName(e.title) for e in descriptions]
    return ComparePayload(
        **_on(drawing, at), panels=panels, sharings=sharings, layers=layers, cards=cards, differs=differs
    )


def _parameters_title(e: description.Description) -> str:
    """The layer and its parameters. The title names the layer because a narrow page shows the panels below each other."""
    if e.norm.params is None:
        return _("{layer}: no gamma, no beta", layer=e.title)
    return _("{layer}: gamma and beta", layer=e.title) if e.norm.bias else _("{layer}: gamma", layer=e.title)


def box(axes: Sequence[str], extent: Sequence[int]) -> Box:
    """How the drawn window of a tensor with these axes fills a cube.

    >>> found = box(("n", "c", "h", "w"), (2, 3, 4, 4))
    >>> found.example, found.channel, found.rest, found.whole, found.names
    (0, 1, [2, 3], (2, 3, 16), ('N', 'C', 'H·W'))
    """
    channel = next((axes.index(name) for name in ("c", "d") if name in axes), None)
    example = axes.index("n") if "n" in axes else 0 if axes[0] == "b" else None  # a batch may be called b
    rest = [axis for axis in range(len(axes)) if axis not in (example, channel)]
    n, c = (1 if axis is None else extent[axis] for axis in (example, channel))
    s = prod(extent[axis] for axis in rest)
    most_n, most_c, most_s = MOST_DRAWN
    first, second = ("" if axis is None else axes[axis].upper() for axis in (example, channel))
    return Box(
        example,
        channel,
        rest,
        whole=(n, c, s),
        drawn=(min(n, most_n), min(c, most_c), min(s, most_s)),
        names=(first, second, "·".join(axes[axis].upper() for axis in rest)),
    )


# The panels.


def sharing_panels(e: description.Description) -> list[PanelData]:
    """Which elements share a mean and a variance; which share a gamma and a beta."""
    has_parameters = e.norm.params is not None
    kinds: tuple[tuple[str, int, Scale, str, str], ...] = (
        ("stats", e.counts.statistics, "groups", "stats", e.norm.stats.replace("->", "→")),
        ("params", prod(e.counts.gamma_shape or ()), "parameters", "params", " ".join(e.norm.gamma_axes))
        if has_parameters
        else ("params", 1, "none", "", ""),
    )
    texts = (
        (sentences.statistics_title(e), sentences.statistics_caption(e)),
        (sentences.parameters_title(e), sentences.parameters_caption(e)),
    )
    return [
        PanelData(
            key=key,
            title=title,
            pattern=pattern,
            caption=caption,
            low=-0.5,
            high=groups - 0.5,
            groups=groups,
            scale=scale,
            links=links,
        )
        for (key, groups, scale, links, pattern), (title, caption) in zip(kinds, texts, strict=True)
    ]


def value_panels(e: description.Description, shown: Excerpt) -> list[PanelData]:
    """x, normalized and output."""
    above = "(x − mean)" if e.norm.center or e.norm.running else "x"
    below = "var" if e.norm.center or e.norm.running else _("mean of x²")
    steps = (
        PanelValues("x", "x", _("the input"), shown.x),
        PanelValues("normalized", _("normalized"), f"{above} / √({below} + eps)", shown.trace.normalized),
        PanelValues(
            "output",
            _("output"),
            sentences.scaling(e) if e.norm.params is not None else _("as normalized"),
            shown.trace.output,
        ),
    )
    return _on_one_scale(list(map(_value_panel, steps)))


def _on_one_scale(panels: Sequence[P]) -> list[P]:
    """A value has the same color in all panels of its unit, which a reader compares."""
    most = {
        key: max((panel.high for panel in panels if panel.key in unit), default=1.0) for unit in UNITS for key in unit
    }
    return [replace(panel, low=-most[panel.key], high=most[panel.key]) for panel in panels]


def _value_panel(given: PanelValues) -> PanelData:
    """The values, colored from blue below zero to brown above."""
    drawn = as_array(given.values)
    finite = np.abs(drawn[np.isfinite(drawn)])
    most = given.most or (float(finite.max()) if finite.size and finite.max() > 0 else 1.0)
    return PanelData(
        key=given.key,
        title=given.title,
        caption=given.caption,
        z=drawn,
        low=-most,
        high=most,
        scale="values",
        links=given.links,
    )


# What figures have of a layer.


def counts(e: description.Description) -> list[Count]:
    """The numbers of statistics, elements, parameters and buffers, each with its label and a note."""
    found, has_means = e.counts, e.norm.center or e.norm.running
    gamma, beta = found.gamma_shape, found.beta_shape
    parameters, note = format_count(found.parameters), "" if gamma is None else f"gamma {gamma}"
    if gamma is not None and beta is not None:
        parameters, note = (
            f"{format_count(prod(gamma))} + {format_count(prod(beta))} = {parameters}",
            f"{note} + beta {beta}",
        )
    buffers = "running_mean, running_var, num_batches_tracked" if found.buffers else _("no running statistics")
    rows = (
        (_("(mean, variance) pairs") if has_means else _("mean squares"), format_count(found.statistics), ""),
        (_("elements in each group"), format_count(found.elements_per_statistic), ""),
        (_("parameters"), parameters, note),
        (_("buffers"), format_count(found.buffers), buffers),
    )
    return [Count(*row) for row in rows]


class OfLayer(TypedDict):
    """The layer, and which elements share its statistics and its parameters."""

    layer: str
    stats: Statistics
    params: GammaAndBeta | None


def _of_layer(e: description.Description) -> OfLayer:
    return {"layer": e.title, "stats": statistics_data(e), "params": parameters_data(e)}


def statistics_data(e: description.Description) -> Statistics:
    """Which elements share a mean and a variance, and the counts. Raises NormvizError for too many groups."""
    check_groups(e.counts.statistics)
    return Statistics(
        count=e.counts.statistics,
        size=e.counts.elements_per_statistic,
        axes=_indices(e, e.norm.pattern.right),
        center=e.norm.center or e.norm.running,
        running=e.norm.running,
    )


def parameters_data(e: description.Description) -> GammaAndBeta | None:
    """Which elements share a gamma and a beta; None for a layer without any. Raises NormvizError for too many groups."""
    if e.norm.params is None:
        return None
    elements = prod(e.counts.gamma_shape or ())
    check_groups(elements)
    return GammaAndBeta(
        axes=_indices(e, e.norm.gamma_axes),
        bias=e.norm.bias,
        zero_centered_gamma=e.norm.zero_centered_gamma,
        size=prod(e.shape) // elements,
    )


def _indices(e: description.Description, names: tuple[str, ...]) -> list[NamedAxis]:
    sizes = e.norm.axis_sizes(e.shape)
    indices = []
    for name in names:
        for axis, (whole, parts) in enumerate(zip(e.axes, e.norm.pattern.left, strict=True)):
            if name == whole or name in parts:
                after = parts[parts.index(name) + 1 :] if name in parts else ()
                divide = prod(sizes[part] for part in after)
                indices.append(NamedAxis(name, axis, divide, sizes[name]))
    return indices


def loops_data(e: description.Description) -> Loops:
    return Loops(code(e, "loops"), _indices(e, e.norm.pattern.reduced))


class OfValues(TypedDict):
    """The numbers of the layer at the drawn elements; None without values."""

    values: LayerValues | None
    moments: dict[str, MomentsData] | None
    group: GroupData | None
    computed: Sequence[int] | None


def _of_values(shown: Excerpt | None) -> OfValues:
    if shown is None:
        return {"values": None, "moments": None, "group": None, "computed": None}
    trace = shown.trace
    gamma, beta = (None if one is None else as_array(one) for one in (shown.gamma, shown.beta))
    return {
        "values": LayerValues(
            mean=as_array(trace.mean), var=as_array(trace.var), gamma=gamma, beta=beta, eps=trace.eps
        ),
        "moments": {
            stage: MomentsData(as_array(each.mean), as_array(each.var)) for stage, each in shown.moments.items()
        },
        "group": None if shown.group is None else _group_data(shown.group),
        "computed": shown.computed,
    }


def _group_data(group: GroupValues) -> GroupData:
    """Each value of a small group, or a histogram of a large one."""
    arrays = {stage: as_array(values) for stage, values in group.stages.items()}
    if group.elements:
        return GroupData(group.number, group.count, group.elements, arrays, {})
    return GroupData(group.number, group.count, (), {}, {stage: histogram(array) for stage, array in arrays.items()})


BINS = 120


def histogram(values: Packed) -> Histogram:
    """The finite values, from the lowest to the highest.

    >>> histogram(np.array([0.0, 1.0, 1.0, np.inf], np.float32)).counts[:: BINS - 1]
    [1, 2]
    """
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    high = high if high > low else low + 1
    places = ((finite - np.float32(low)) * np.float32(BINS / (high - low))).astype(np.int32)
    return Histogram(low, high, np.bincount(places.clip(0, BINS - 1), minlength=BINS).tolist())


def as_array(tensor: Tensor) -> NDArray[np.float32]:
    """The numbers that the browser gets."""
    array: NDArray[np.float32] = tensor.float().cpu().numpy()
    return array
