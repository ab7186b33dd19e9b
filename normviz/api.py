"""The Python API: ``explain``, and what each page of the app shows as a function of the same name: ``nv.compare([...], x)``.

x is a tensor, an array, or a shape; of a shape, x is the example that the app shows: standard normal numbers of two decimals.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from typing import TYPE_CHECKING, Any

from normviz.analysis.comparison import compare as compared
from normviz.analysis.examples import example
from normviz.analysis.explanation import Explanation as Described
from normviz.analysis.explanation import describe
from normviz.code.generate import code
from normviz.export.links import asked_by, layer_on_shape, of_query
from normviz.export.links import questions as questions
from normviz.export.output import Output, title_of
from normviz.figures.payload.view import view_payload
from normviz.figures.plotly_figure import panels_figure
from normviz.layers.errors import NormvizError, NormvizWarning, echo, listed
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import check_index
from normviz.lessons import explore as exploring
from normviz.lessons import step_by_step as stepping
from normviz.lessons.compare import page as comparing
from normviz.lessons.gradients import page as differentiating
from normviz.lessons.numerics import page as rounding
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.part import Part
from normviz.lessons.subject import Subject
from normviz.lessons.train_and_eval import page as training
from normviz.scene.grid import Grid, grid
from normviz.scene.repair import repair
from normviz.scene.scene import MOST_VALUES, default_at
from normviz.scene.settings.page_settings import PAGE_SETTINGS
from normviz.scene.settings.scene_settings import LARGEST_SEED, MOST_EDITABLE
from normviz.scene.settings.setting import Setting, write_settings

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from torch import nn

    AnyLayer = nn.Module | str | Norm | Layer

USUAL_SHAPE = (2, 3, 4, 4)


def explain(layer: AnyLayer, x: Any, *, layout: str | None = None) -> Explanation:
    """What ``layer`` does to ``x``: which elements share a mean and a variance, which share a gamma and a beta, and how many there are.

    layer   a torch.nn normalization module; or its text, ``"GroupNorm(2, 4)"``, ``"BatchNorm2d(3).eval()"``; or a
            ``Norm(stats="n c h w -> n h w", params="c")``.
    x       a shape, as a tuple of sizes; or a tensor or NumPy array, and then values are computed too.
    layout  axis letters, ``"NCHW"``, ``"NLC"``, ...; default: what the layer means by x's rank.

    Nothing is changed: not the module's mode, buffers or gradients, and not x.

    Raises NormvizError where torch's own forward would refuse, with torch's words and what they mean.
    Warns (NormvizWarning) where an axis that is not the channel axis stands where the layer looks for channels.

    >>> e = explain("LayerNorm([3, 4, 4])", (2, 3, 4, 4))
    >>> e.norm.stats, e.counts.statistics, e.counts.parameters
    ('n c h w -> n', 2, 96)
    >>> len(e.peers((1, 2, 0, 3))), e.parameter_peers((1, 2, 0, 3))
    (47, [(0, 2, 0, 3)])
    """
    found = describe(layer, x, layout=layout)
    for note in found.notes:
        warnings.warn(note, NormvizWarning, stacklevel=2)
    return Explanation(**{field.name: getattr(found, field.name) for field in fields(found)})


@dataclass(frozen=True, eq=False)
class Explanation(Described):
    """What one layer does to one x, with its code, figure and page. Made by ``explain``."""

    def code(self, flavor: str = "torch") -> str:
        """The layer as text that runs: "torch", "torch-scratch", "numpy", "einops", "loops", "keras" or "flax"."""
        return code(self, flavor)

    def figure(self, theme: str = "light") -> go.Figure:
        """Both panels - who shares a mean and a variance, who shares a gamma and a beta - as one plain Plotly figure."""
        return panels_figure(view_payload(replace(self, x=None), grid(self.shape, self.axes)), theme)

    def output(self, **options: Any) -> Output:
        """The page Explore of this: linked figures, worked arithmetic, code. Options: theme, plotlyjs, caption."""
        return output_of(self).with_(**options)

    def to_html(self, **options: Any) -> str:
        """The same as one HTML file that needs no server (``Output.to_html``)."""
        return self.output().to_html(**options)

    def url(self, base: str = "") -> str:
        """The link to it in the app (``Output.url``)."""
        return self.output().url(base)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.output()._repr_mimebundle_(include, exclude)

    def _repr_html_(self) -> str:
        return self.output()._repr_html_()


@dataclass(frozen=True)
class Case:
    """A layer on an x, how x is drawn, the selected element, and the query that says it, if one can."""

    e: Described
    drawing: Grid
    at: tuple[int, ...]
    query: dict[str, str] | None


def explore(
    layer: AnyLayer, x: Any = USUAL_SHAPE, *, layout: str | None = None, at: Sequence[int] | None = None
) -> Output:
    """One layer on one tensor: who shares what, how many parameters that makes, and with which numbers."""
    return output_of(describe(layer, _values(layer, x, layout), layout=layout), at)


def output_of(e: Described, at: Sequence[int] | None = None) -> Output:
    """The page Explore of an Explanation."""
    case = _case(e, at)
    parts = tuple(exploring.parts(Subject(e, case.drawing, case.at)))
    return Output(parts, title_of("explore", layer_on_shape(e)), "explore", case.query)


def compare(
    layers: Sequence[str | Layer | Norm],
    x: Any = USUAL_SHAPE,
    *,
    layout: str | None = None,
    at: Sequence[int] | None = None,
) -> Output:
    """Two to six layers on one tensor, side by side."""
    if not layout and not isinstance(layers, str) and layers:
        layout = describe(layers[0], x).layout
    comparison = compared(layers, x, layout or "")
    case = _case(comparison.explanations[0], at)
    texts = tuple(e.title.replace(", ", ",") for e in comparison.explanations)
    query = None if case.query is None else case.query | write_settings(PAGE_SETTINGS["compare"], {"layers": texts})
    parts = tuple(comparing.parts(comparison, case.drawing, case.at, comparing.ready_set(case.e, texts)))
    return Output(parts, title_of("compare", ", ".join(e.title for e in comparison.explanations)), "compare", query)


def steps(
    layer: AnyLayer,
    x: Any = USUAL_SHAPE,
    *,
    layout: str | None = None,
    at: Sequence[int] | None = None,
    step: int = 1,
) -> Output:
    """The forward pass, one step at a time."""
    case = _case(describe(layer, _values(layer, x, layout), layout=layout), at)
    settings = _settings(PAGE_SETTINGS["step_by_step"], {"step": step})
    parts = tuple(stepping.parts(Subject(case.e, case.drawing, case.at), settings["step"]))
    return _output("step_by_step", case, parts, settings)


step_by_step = steps


def gradients(
    layer: AnyLayer,
    x: Any = USUAL_SHAPE,
    *,
    layout: str | None = None,
    at: Sequence[int] | None = None,
    show: str = "column",
    input: str = "x",
    seed: int = 0,
) -> Output:
    """Derivatives: ``show`` is "column", "matrix", "parameters" or "backward"; ``input`` is "x", "outlier" or "signs"."""
    case = _case(describe(layer, _values(layer, x, layout, seed), layout=layout), at)
    settings = _settings(PAGE_SETTINGS["gradients"], {"show": show, "input": input})
    parts = tuple(differentiating.parts(Subject(case.e, case.drawing, case.at, seed), settings))
    return _output("gradients", case, parts, settings, seed)


def train_and_eval(
    layer: AnyLayer = "BatchNorm2d(3)",
    x: Any = USUAL_SHAPE,
    *,
    layout: str | None = None,
    seed: int = 0,
    **settings: Any,
) -> Output:
    """BatchNorm over a stream of batches, in both modes, and where it fails; ``settings`` are the page's: ``show="modes"``."""
    case = _case(describe(layer, _values(layer, x, layout, seed), layout=layout), None)
    chosen = _settings(PAGE_SETTINGS["train_and_eval"], settings)
    parts = tuple(training.parts(Subject(case.e, case.drawing, case.at, seed), chosen))
    return _output("train_and_eval", case, parts, chosen, seed)


def numerics(*, seed: int = 0, **settings: Any) -> Output:
    """What rounding does; ``settings`` are the page's: ``show="eps"``, ``dtype="float16"``."""
    chosen = _settings(PAGE_SETTINGS["numerics"], settings)
    query = write_settings(PAGE_SETTINGS["numerics"], chosen) | ({"seed": str(seed)} if seed else {})
    return Output(tuple(rounding.parts(chosen, seed)), title_of("numerics"), "numerics", query)


def open(link: str) -> Output:
    """The view of any link of the app: "/compare?shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4])".

    Raises NormvizError where the app would show a message.
    """
    return of_query(*asked_by(link))


def _output(page: str, case: Case, parts: tuple[Part, ...], settings: Mapping[str, Any], seed: int = 0) -> Output:
    query = None if case.query is None else case.query | write_settings(PAGES[page].settings, settings)
    if query is not None and seed:
        query["seed"] = str(seed)
    return Output(parts, title_of(page, layer_on_shape(case.e)), page, query)


def _values(layer: AnyLayer, x: Any, layout: str | None, seed: int = 0) -> Any:
    """x, or the app's example of that shape and seed."""
    if not isinstance(seed, int) or not 0 <= seed < LARGEST_SEED:
        raise NormvizError(f"seed={echo(seed)} must be a whole number from 0 to {LARGEST_SEED - 1}.")
    if not isinstance(x, tuple | list):
        return x
    e = describe(layer, x, layout=layout)
    return example("normal", e.shape, e.axes, seed) if prod(e.shape) <= MOST_VALUES else x


def _case(e: Described, at: Sequence[int] | None) -> Case:
    chosen = default_at(e.shape, e.axes) if at is None else check_index(at, e.shape)
    whole = grid(e.shape, e.axes)
    start = tuple(i - i % part for i, part in zip(chosen, whole.extent, strict=True))
    return Case(e, grid(e.shape, e.axes, start), chosen, _query(e, chosen))


def _query(e: Described, at: tuple[int, ...]) -> dict[str, str] | None:
    """The query of the layer and the shape, with x's values where there are few; None where no link can say it."""
    wanted: dict[str, Any] = {"shape": e.shape, "layout": e.layout, "layer": e.layer or e.norm, "at": at}
    try:
        if e.x is not None and prod(e.shape) <= MOST_EDITABLE:
            values = tuple(map(float, e.x.flatten().tolist()))
            if values != tuple(example("normal", e.shape, e.axes, 0).flatten().tolist()):
                wanted["values"] = values
        reading = repair(**wanted)
    except NormvizError:
        return None
    return None if reading.problem else reading.scene.query()


def _settings(settings: Sequence[Setting], given: Mapping[str, Any]) -> dict[str, Any]:
    """A page's settings. Raises NormvizError for a name that it does not have, and for a value that is out of bounds."""
    known = {setting.name: setting for setting in settings}
    values = {name: setting.default for name, setting in known.items()}
    for name, value in given.items():
        if name not in known:
            raise NormvizError(f"{name}={echo(value)} is no setting here; choose {listed(known)}.")
        values[name] = known[name].parse("none" if value is None else str(value))
    return values
