"""The Python API: ``explain``, and for each page of the app that shows a layer a function of the same name: ``nv.compare([...], x)``.

x is a tensor, an array, or a shape. For a shape, x is the app's example: standard normal numbers with two decimals.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import prod
from typing import TYPE_CHECKING, Any

from torch import nn

from normviz.analysis.checks import MOST_ELEMENTS
from normviz.analysis.comparison import Comparison
from normviz.analysis.comparison import compare as compared
from normviz.analysis.description import Description, describe
from normviz.analysis.examples import example
from normviz.analysis.sentences import sentence
from normviz.code.generate import code
from normviz.export.links import layer_on_shape, output_of_query, page_and_query
from normviz.export.links import questions as questions
from normviz.export.live.changes import view_of
from normviz.export.output import Output, title_of
from normviz.figures.payload import view_payload
from normviz.figures.plotly_figure import panels_figure
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.layers.sharing import check_index
from normviz.lessons import compare as comparing
from normviz.lessons import explore as exploring
from normviz.lessons import gradients as differentiating
from normviz.lessons import numerics as rounding
from normviz.lessons import step_by_step as stepping
from normviz.lessons import train_and_eval as training
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.markup import plain
from normviz.lessons.parts.part import Part
from normviz.lessons.subject import Subject, scene_of
from normviz.measuring.check import describe_own
from normviz.scene.grid import grid, start_with
from normviz.scene.scene import DEFAULT_SHAPE, default_at
from normviz.scene.scene_settings import SEED, check_seed
from normviz.scene.setting import write_settings
from normviz.scene.view import View
from normviz.texts.errors import NormvizError, NormvizWarning
from normviz.texts.languages import parse_language
from normviz.texts.messages import _, in_language

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from normviz.export.live.widget import Live

    AnyLayer = nn.Module | str | Norm | Layer


def explain(layer: AnyLayer, x: Any, *, layout: str | None = None) -> Explanation:
    """What ``layer`` does to ``x``: which elements share a mean and a variance, which share a gamma and a beta, and how many there are.

    layer   a torch.nn normalization module, or a module of your own that normalizes, which is measured; or its text, ``"GroupNorm(2, 4)"``, ``"BatchNorm2d(3).eval()"``; or a
            ``Norm(stats="n c h w -> n h w", params="c")``.
    x       a shape, as a tuple of sizes; or a tensor or NumPy array, for which values are computed too.
    layout  axis letters, ``"NCHW"``, ``"NLC"``, ...; default: the layer's own for the rank of x.

    Nothing is modified: neither the module's mode, buffers or gradients, nor x.

    Raises NormvizError if torch's own forward would raise, with torch's message and what it means.
    Warns (NormvizWarning) if the layer would use an axis as channels that is probably not the channel axis.

    >>> e = explain("LayerNorm([3, 4, 4])", (2, 3, 4, 4))
    >>> e.norm.stats, e.counts.statistics, e.counts.parameters
    ('n c h w -> n', 2, 96)
    >>> len(e.peers((1, 2, 0, 3))), e.parameter_peers((1, 2, 0, 3))
    (47, [(0, 2, 0, 3)])
    """
    found = Explanation.of(_described(layer, x, layout))
    for note in found.notes:
        warnings.warn(note, NormvizWarning, stacklevel=2)
    return found


def _described(layer: AnyLayer, x: Any, layout: str | None) -> Description:
    """The layer on x; a module with a forward of its own is measured."""
    own = describe_own(layer, x, layout) if isinstance(layer, nn.Module) else None
    return describe(layer, x, layout=layout) if own is None else own


@dataclass(frozen=True, eq=False)
class Explanation(Description):
    """What one layer does to one x, with its code, figure and page. Made by ``explain``."""

    @classmethod
    def of(cls, found: Description) -> Explanation:
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    def code(self, flavor: str = "torch") -> str:
        """The layer as text that runs: "torch", "torch-scratch", "numpy", "einops", "loops", "keras" or "flax"."""
        return code(self, flavor)

    def figure(self, theme: str = "light") -> go.Figure:
        """Both panels - shared mean and variance, shared gamma and beta - as one plain Plotly figure."""
        return panels_figure(view_payload(replace(self, x=None), grid(self.shape, self.axes)), theme)

    def output(self, **options: Any) -> Output:
        """The Explore page: linked figures, worked arithmetic, code. Options: theme, plotlyjs, caption."""
        return _explore_output(self).with_(**options)

    def to_html(self, **options: Any) -> str:
        """The Explore page as one HTML file that needs no server (``Output.to_html``)."""
        return self.output().to_html(**options)

    def url(self, base: str = "") -> str:
        """The link to the Explore page (``Output.url``)."""
        return self.output().url(base)

    def __str__(self) -> str:
        return plain(sentence(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.output()._repr_mimebundle_(include, exclude)

    def _repr_html_(self) -> str:
        return self.output()._repr_html_()


def explore(
    layer: AnyLayer, x: Any = DEFAULT_SHAPE, *, layout: str | None = None, at: Sequence[int] | None = None
) -> Output:
    """One layer on one tensor: which elements share what, how many parameters there are, and the numbers."""
    return _explore_output(describe(layer, _with_values(layer, x, layout), layout=layout), at)


def _explore_output(e: Description, at: Sequence[int] | None = None) -> Output:
    subject = _subject_of(e, at)
    return _output("explore", subject, exploring.parts(subject), {})


def compare(
    layers: Sequence[str | Layer | Norm],
    x: Any = DEFAULT_SHAPE,
    *,
    layout: str | None = None,
    at: Sequence[int] | None = None,
) -> Output:
    """Two to six layers on one tensor, side by side."""
    comparison, texts = _compared(layers, x, layout)
    subject = _subject_of(comparison.descriptions[0], at)
    parts = comparing.parts(comparison, subject.drawing, subject.at, comparing.ready_set(subject.e, texts))
    titles = ", ".join(e.title for e in comparison.descriptions)
    return _output("compare", subject, parts, {"layers": texts}, about=titles)


def _compared(layers: Sequence[str | Layer | Norm], x: Any, layout: str | None) -> tuple[Comparison, tuple[str, ...]]:
    """The comparison, and the layers as the setting ``layers`` holds them."""
    if not layout and not isinstance(layers, str) and layers:
        layout = describe(layers[0], x).layout
    comparison = compared(layers, x, layout or "")
    return comparison, tuple(e.title.replace(", ", ",") for e in comparison.descriptions)


def steps(
    layer: AnyLayer,
    x: Any = DEFAULT_SHAPE,
    *,
    layout: str | None = None,
    at: Sequence[int] | None = None,
    step: int = 1,
) -> Output:
    """The forward pass, one step at a time."""
    subject = _subject(layer, x, layout, at)
    settings = stepping.PAGE.parse({"step": step})
    return _output("step_by_step", subject, stepping.parts(subject, settings["step"]), settings)


step_by_step = steps


def gradients(
    layer: AnyLayer,
    x: Any = DEFAULT_SHAPE,
    *,
    layout: str | None = None,
    at: Sequence[int] | None = None,
    show: str = "column",
    input: str = "x",
    seed: int = 0,
) -> Output:
    """Derivatives: ``show`` is "column", "matrix", "parameters" or "backward"; ``input`` is "x", "outlier" or "signs"."""
    subject = _subject(layer, x, layout, at, seed)
    settings = differentiating.PAGE.parse({"show": show, "input": input})
    return _output("gradients", subject, differentiating.parts(subject, settings), settings)


def train_and_eval(
    layer: AnyLayer = "BatchNorm2d(3)",
    x: Any = DEFAULT_SHAPE,
    *,
    layout: str | None = None,
    seed: int = 0,
    **settings: Any,
) -> Output:
    """BatchNorm over a stream of batches, in both modes, and where it fails; ``settings`` are the page's: ``show="modes"``."""
    subject = _subject(layer, x, layout, seed=seed)
    parsed = training.PAGE.parse(settings)
    return _output("train_and_eval", subject, training.parts(subject, parsed), parsed)


def live(
    page: AnyLayer,
    *given: Any,
    layout: str | None = None,
    at: Sequence[int] | None = None,
    lang: str = "",
    **settings: Any,
) -> Live:
    """A page with its controls, answered by torch in the kernel on your own x or module: ``nv.live("LayerNorm([3, 4, 4])", x)``.

    page      a layer; or a page and what its function takes: ``nv.live("steps", layer, x)``, ``nv.live("compare", [...], x)``
    lang      the language, such as "zh"; default: NORMVIZ_LANG, or English
    settings  of the page: ``show="matrix"``

    It has the traits ``query``, ``layer``, ``shape`` and ``at``, which can be set and observed, and an ``explanation``.
    Raises NormvizError for a layer that torch refuses on x, and if anywidget is not installed.
    """
    try:
        from normviz.export.live.widget import Live
    except ModuleNotFoundError as error:
        raise NormvizError(
            _('nv.live needs {module}, which is not installed; run pip install "normviz[notebook]".', module=error.name)
        ) from error
    name = {"steps": "step_by_step"}.get(str(page), str(page))
    if name not in PAGES:
        name, given = "explore", (page, *given)
    elif given and hasattr(given[0], "shape"):
        raise NormvizError(_('nv.live("{page}", x) has no layer; name it, or a list of layers, before x.', page=page))
    layer, x = (*(given or ["LayerNorm([3, 4, 4])"]), DEFAULT_SHAPE)[:2]
    if name == "compare" and given:
        layer, settings = layer[0], settings | {"layers": ";".join(_compared(layer, x, layout)[1])}
    named = parse_language(lang) if lang else ""
    with in_language(named):
        view = view_of(describe(layer, x, layout=layout), at, PAGES[name].parse(settings), named)
        return Live(name, view, Explanation.of)


def numerics(*, seed: int = 0, **settings: Any) -> Output:
    """What rounding does; ``settings`` are the page's: ``show="eps"``, ``dtype="float16"``."""
    parsed = rounding.PAGE.parse(settings)
    query = write_settings((*rounding.PAGE.settings, SEED), parsed | {SEED.name: seed})
    whole = rounding.PAGE.whole_query(rounding.PAGE.view(query))
    return Output(tuple(rounding.parts(parsed, seed)), title_of("numerics"), "numerics", whole)


def open(link: str) -> Output:
    """The view of any link of the app: "/compare?shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4])".

    Raises NormvizError if the app would show an error.
    """
    return output_of_query(*page_and_query(link))


def _output(
    page: str, subject: Subject, parts: Iterable[Part], settings: Mapping[str, Any], about: str | None = None
) -> Output:
    """The view of a page; its title says what it is ``about``, by default the layer and the shape."""
    scene = scene_of(subject)
    query = None
    if scene is not None:
        view = View(scene, {setting.name: setting.default for setting in PAGES[page].settings} | dict(settings))
        query = PAGES[page].whole_query(view) | write_settings((SEED,), {SEED.name: subject.seed})
    return Output(tuple(parts), title_of(page, about or layer_on_shape(subject.e)), page, query)


def _subject(layer: AnyLayer, x: Any, layout: str | None, at: Sequence[int] | None = None, seed: int = 0) -> Subject:
    return _subject_of(describe(layer, _with_values(layer, x, layout, seed), layout=layout), at, seed)


def _subject_of(e: Description, at: Sequence[int] | None, seed: int = 0) -> Subject:
    selected = default_at(e.shape, e.axes) if at is None else check_index(at, e.shape)
    return Subject(e, grid(e.shape, e.axes, start_with(selected, e.shape, e.axes)), selected, seed)


def _with_values(layer: AnyLayer, x: Any, layout: str | None, seed: int = 0) -> Any:
    """x; for a shape, the app's example of that shape and seed."""
    check_seed(seed, seed)
    if not isinstance(x, tuple | list):
        return x
    e = describe(layer, x, layout=layout)
    return example("normal", e.shape, e.axes, seed) if prod(e.shape) <= MOST_ELEMENTS else x
