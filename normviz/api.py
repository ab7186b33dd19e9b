"""The Python API of the pages: for each page of the app that shows a layer a function of the same name, ``nv.compare([...], x)``.

x is a tensor, an array, or a shape. For a shape, x is the app's example: standard normal numbers with two decimals.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from torch import nn

from normviz.analysis.comparison import Comparison
from normviz.analysis.comparison import compare as compared
from normviz.analysis.description import Description, describe_shape, spec_of
from normviz.export.explained import Explanation
from normviz.export.output import Output, output_of_query, output_of_view, page_and_query, title_of, view_of
from normviz.export.output import questions as questions
from normviz.layers.fit import example_for
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons import compare as comparing
from normviz.lessons import gradients as differentiating
from normviz.lessons import numerics as numbers
from normviz.lessons import train_and_eval as training
from normviz.lessons.pages import PAGES
from normviz.measuring.own_modules import AnyLayer, describe_any, own_class
from normviz.scene.edits import repair, with_fields
from normviz.scene.scene import DEFAULT_SHAPE, SEED, axes_of, check_seed
from normviz.scene.view import View
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.languages import parse_language
from normviz.texts.messages import in_language

if TYPE_CHECKING:
    from normviz.export.live.widget import Live


def explore(layer: AnyLayer, x: Any = None, *, layout: str | None = None, at: Sequence[int] | None = None) -> Output:
    """One layer on one tensor: which elements share what, how many parameters there are, and the numbers.

    x  a tensor or a shape; None stands for an example that the layer takes, here as in the functions below

    Raises NormvizError for invalid arguments, and if torch refuses the layer on x.
    """
    return output_of_view("explore", _view("explore", layer, x, layout, at))


def compare(
    layers: Sequence[AnyLayer],
    x: Any = None,
    *,
    layout: str | None = None,
    at: Sequence[int] | None = None,
    cards: str = "mean",
) -> Output:
    """Two to six layers on one tensor, side by side; ``cards``, "mean", "gamma" or "cube", is what is drawn of each first.

    Raises NormvizError for invalid arguments, and if torch refuses the layer on x.
    """
    comparison, texts = _compared(layers, x, layout)
    view = view_of(comparison.descriptions[0], at, PAGES["compare"].parse({"layers": ";".join(texts), "cards": cards}))
    scene = view.scene
    parts = comparing.parts(comparison, scene.grid, scene.at, comparing.ready_set(scene, texts), cards)
    titles = ", ".join(e.title for e in comparison.descriptions)
    return replace(output_of_view("compare", view, parts=parts), title=title_of("compare", titles))


def _compared(layers: Sequence[AnyLayer], x: Any, layout: str | None) -> tuple[Comparison, tuple[str, ...]]:
    """The comparison, and the layers as the setting ``layers`` holds them."""
    x = _or_example(x, [layers] if isinstance(layers, str) else layers, layout)
    comparison = _on_common_axes(layers, x, layout)
    return comparison, tuple(e.title.replace(", ", ",") for e in comparison.descriptions)


def _on_common_axes(layers: Sequence[AnyLayer], x: Any, layout: str | None) -> Comparison:
    """The comparison with the axis names of the first layer; if another one has no such names, such as groups of a batch, with its own."""
    given: Any = layers
    if not layers or isinstance(layers, str):
        return compared(given, x, layout or "")  # raises NormvizError
    refusal: NormvizError | None = None
    for layer in layers if layout is None else layers[:1]:
        names = layout or describe_any(Description, layer, x).layout
        try:
            return compared(tuple(_spec(each, x, names) for each in layers), x, names)
        except NormvizError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def _or_example(x: Any, layers: Sequence[AnyLayer], layout: str | None) -> Any:
    """x; if it is None, the shape of an example that the layers take."""
    if x is not None:
        return x
    for layer in layers:
        if own_class(layer) and not _takes(layer, DEFAULT_SHAPE):
            raise NormvizError(
                "{layer} has a forward of its own, which is measured on x; give x, as a tensor or a shape.",
                layer=own_class(layer),
            )
        with suppress(NormvizError):
            shape = example_for(spec_of(layer), None if layout is None else axes_of(layout))
            for other in layers:
                describe_shape(spec_of(other), shape, layout)
            return shape
    return DEFAULT_SHAPE  # a layer is then refused on it


def _takes(layer: AnyLayer, shape: tuple[int, ...]) -> bool:
    try:
        describe_any(Description, layer, shape)
    except NormvizError:
        return False
    return True


def _spec(layer: AnyLayer, x: Any, layout: str) -> str | Layer | Norm:
    """The layer; of a module, the Layer or the Norm that computes the same."""
    if not isinstance(layer, nn.Module):
        return layer
    e = describe_any(Description, layer, x, layout)
    return e.layer or e.norm


def steps(
    layer: AnyLayer, x: Any = None, *, layout: str | None = None, at: Sequence[int] | None = None, step: int = 1
) -> Output:
    """The forward pass, one step at a time.

    Raises NormvizError for invalid arguments, and if torch refuses the layer on x.
    """
    return output_of_view("step_by_step", _view("step_by_step", layer, x, layout, at, step=step))


step_by_step = steps


def gradients(
    layer: AnyLayer,
    x: Any = None,
    *,
    layout: str | None = None,
    at: Sequence[int] | None = None,
    show: str = "column",
    input: str = "x",
    seed: int | None = None,
) -> Output:
    """Derivatives: ``show`` is "column", "matrix", "parameters" or "backward"; ``input`` is "x", "outlier" or "signs".

    Raises NormvizError for invalid arguments, and if torch refuses the layer on x.
    """
    view = _view("gradients", layer, x, layout, at, seed, show=show, input=input)
    return output_of_view("gradients", view, parts=differentiating.parts(view))


def train_and_eval(
    layer: AnyLayer | None = None, x: Any = None, *, layout: str | None = None, seed: int | None = None, **settings: Any
) -> Output:
    """A layer in both modes, with the running statistics of a module; without a layer and x, BatchNorm over a stream of batches.

    settings  of the page: ``show`` is "modes", which is the default with a layer or x, or an experiment that has batches of its own

    Raises NormvizError for a module with a forward of its own, and if an experiment does not use an argument.
    """
    view = _view("train_and_eval", layer, x, layout, None, seed, start="BatchNorm2d(4)", **settings)
    if view.settings["show"] == "modes" and (refusal := training.refusal(view.scene)):
        raise NormvizError(refusal)
    return output_of_view("train_and_eval", view)


def _view(
    page: str,
    layer: AnyLayer | None,
    x: Any,
    layout: str | None,
    at: Sequence[int] | None,
    seed: int | None = None,
    lang: str = "",
    start: str = "LayerNorm([4, 3, 5])",
    **settings: Any,
) -> View:
    """The view of a page on the layer and x; ``settings`` are the page's, ``start`` is shown without a layer.

    Raises NormvizError for an argument that it ignores.
    """
    given = {"layer": layer, "x": x, "layout": layout, "at": at, "seed": seed}
    names = [name for name, value in given.items() if value is not None]
    if page == "train_and_eval" and {*names} & {"layer", "x", "layout"}:
        settings = {"show": "modes"} | settings
    values = PAGES[page].parse(settings)
    _refuse_ignored(page, values, [*names, *settings])
    layer = start if layer is None else layer
    number = 0 if seed is None else check_seed(seed, seed)
    e = describe_any(Description, layer, _or_example(x, [layer], layout), layout)
    view = view_of(e, at, values, number, lang, own_class(layer))
    if seed is not None and not SEED.applies(view) and not _draws(page, view):
        raise _no_effect("seed", page, values)
    return view


def _draws(page: str, view: View) -> bool:
    """Whether the page draws random numbers for other things than x."""
    show = view.settings.get("show")
    if page == "gradients":
        return show not in ("column", "matrix")
    return page != "train_and_eval" or show != "modes" or training.draws_batches(view.scene)


def _refuse_ignored(page: str, values: Mapping[str, Any], names: Collection[str]) -> None:
    """Raise NormvizError if the page, with these values of its settings, ignores one of these arguments and settings."""
    show, of_tensor = values.get("show"), ("layer", "x", "layout", "at")
    view = View(repair().scene, values)
    ignored = [setting.name for setting in PAGES[page].settings if not setting.applies(view)]
    if page == "train_and_eval" and show != "modes":
        if given := [name for name in of_tensor if name in names]:
            raise NormvizError(
                "show={show} has batches of its own and does not use {names}; use show='modes', or leave {names} out.",
                show=repr(show),
                names=listed(given, "and"),
            )
        ignored += [] if show in training.RANDOM else ["seed"]
    elif PAGES[page].uses != "tensor":
        ignored += of_tensor
    elif page == "gradients" and show == "matrix":
        ignored += ["at", *(["layout"] if "x" in names else [])]
    if page == "numerics" and show not in numbers.RANDOM:
        ignored.append("seed")
    if unused := [name for name in names if name in ignored]:
        raise _no_effect(unused[0], page, values)


def _no_effect(name: str, page: str, values: Mapping[str, Any]) -> NormvizError:
    where = f"{page}(show={values['show']!r})" if "show" in values else page
    return NormvizError("{name} has no effect on {view}; leave it out.", name=name, view=where)


def live(
    page: AnyLayer,
    *given: Any,
    layout: str | None = None,
    at: Sequence[int] | None = None,
    lang: str = "",
    **settings: Any,
) -> Live:
    """A page with its controls, answered by torch in the kernel on your own x or module: ``nv.live("LayerNorm([4, 3, 5])", x)``.

    page      a layer; or a page and what its function takes: ``nv.live("steps", layer, x)``, ``nv.live("compare", [...], x)``
    lang      the language, such as "zh"; default: NORMVIZ_LANG, or English
    settings  of the page: ``show="matrix"``

    It has the traits ``query``, ``layer``, ``shape`` and ``at``, which can be set and observed, and an ``explanation``.
    Raises NormvizError for a layer that torch refuses on x, for an argument that the page ignores, and if anywidget is not installed.
    """
    try:
        from normviz.export.live.widget import Live
    except ModuleNotFoundError as error:
        raise NormvizError(
            'nv.live needs {module}, which is not installed; run pip install "normviz[notebook]".', module=error.name
        ) from error
    name = {"steps": "step_by_step"}.get(str(page), str(page))
    if name not in PAGES:
        name, given = "explore", (page, *given)
    elif given and hasattr(given[0], "shape") and not isinstance(given[0], nn.Module):
        raise NormvizError('nv.live("{page}", x) has no layer; name it, or a list of layers, before x.', page=page)
    if len(given) > 2:
        raise _no_effect(echo(given[2]), name, {})
    layer, x = (*given, None, None)[:2]
    if name == "compare" and given:
        if "layers" in settings:
            raise _no_effect("layers", name, {})
        x = _or_example(x, layer, layout)
        comparison, texts = _compared(layer, x, layout)
        layer, layout, settings = layer[0], comparison.descriptions[0].layout, settings | {"layers": ";".join(texts)}
    named = parse_language(lang) if lang else ""
    with in_language(named):
        view = _view(name, layer, x, layout, at, lang=named, **settings)
        if problem := with_fields(view.scene).problem:
            raise NormvizError(problem)
        return Live(name, view, Explanation)


def numerics(*, seed: int | None = None, **settings: Any) -> Output:
    """What rounding does; ``settings`` are the page's: ``show="eps"``, ``dtype="float16"``.

    Raises NormvizError for an invalid one, and for one that the experiment does not use.
    """
    scene = repair(seed=0 if seed is None else check_seed(seed, seed)).scene
    view = View(scene, PAGES["numerics"].parse(settings))
    _refuse_ignored("numerics", view.settings, [*settings, *([] if seed is None else ["seed"])])
    return output_of_view("numerics", view)


def open(link: str) -> Output:
    """The view of any link of the app: "/compare?shape=2,4,3,5&layers=BatchNorm2d(4);LayerNorm([4,3,5])".

    Raises NormvizError if the app would show an error.
    """
    return output_of_query(*page_and_query(link))
