"""The Python API of the pages: for each page of the app a function of the same name, ``nv.compare([...], x)``.

Its keywords are the names of the page's link: ``nv.gradients("LayerNorm(4)", (2, 4), show="matrix", data="counting", hide="code")`` is
``/gradients?layer=LayerNorm(4)&shape=2,4&show=matrix&data=counting&hide=code``; ``from`` is ``from_`` here. Only the front page, which shows
no view, has no function.

x is a tensor, an array, or a shape. For a shape, x is the app's example: standard normal numbers with two decimals.
"""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar, Unpack, cast

from torch import nn

from normviz.analysis.comparison import Comparison
from normviz.analysis.comparison import compare as compared
from normviz.analysis.description import Description, describe_shape, spec_of
from normviz.analysis.forward import usual_device
from normviz.export.links import output_of_query, page_and_query
from normviz.export.links import questions as question_or_list
from normviz.export.output import Output, output_of_view, title_of
from normviz.layers.fit import example_for
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons.compare import page as comparing
from normviz.lessons.gradients import page as differentiating
from normviz.lessons.page import OF_TENSOR, Page
from normviz.lessons.pages import PAGES, controls, of_other_pages, setting_names
from normviz.lessons.train_and_eval import modes
from normviz.measuring.own_modules import AnyLayer, describe_any, is_frozen, own_class, with_statistics
from normviz.scene.edits import repair, with_fields
from normviz.scene.scene import DEFAULT_SHAPE, PARAMS, SCENE_SETTINGS, SEED, Scene, axes_of, check_seed
from normviz.scene.setting import Setting, Where
from normviz.scene.view import DISPLAY_SETTINGS, Display, View, hide_problem, unknown_names
from normviz.texts.errors import NormvizError, check_call, checked_call, closest, echo, listed
from normviz.texts.languages import parse_language
from normviz.texts.messages import ENGLISH, in_language

if TYPE_CHECKING:
    from normviz.analysis.description import Array, X
    from normviz.api import keywords
    from normviz.api.live.widget import Live

F = TypeVar("F", bound=Callable[..., Output])
Settings = Mapping[str, Any]
DISPLAY = {setting.name: setting for setting in DISPLAY_SETTINGS}


# The functions


OF_VALUES = ("data", "seed", "values", "params", "gamma", "beta")  # the values of x, gamma and beta


def page_function(also: Sequence[str] = (), without: Sequence[str] = ()) -> Callable[[F], F]:
    """The decorator of the function of the page that has its name. Its keywords are the settings of the page's links.

    also, without  names of further keywords, and of settings that are no keywords of this function

    The function refuses other names, and runs in the language of ``lang``, on the CPU. The settings are in its signature and in its docstring,
    for ``help`` and the completion in a notebook; ``keywords.pyi`` has them for type checkers, and ``python -m tools.keywords`` writes it.
    """

    def of_page(function: F) -> F:
        page, signature = function.__name__, inspect.signature(function)
        *first, rest = signature.parameters.values()
        settings = [one for one in _settings(PAGES[page], also) if one.name not in (*signature.parameters, *without)]
        keywords = [
            inspect.Parameter(one.keyword_name, rest.KEYWORD_ONLY, default=_default(one), annotation=one.type)
            for one in settings
        ]
        named = signature.replace(parameters=[*first, *keywords])
        names = [one.keyword_name for one in settings]

        @wraps(function)
        def run(*args: object, **kwargs: object) -> Output:
            for name, value in kwargs.items():
                if name not in named.parameters:
                    raise _unknown(page, name, value, names)
            check_call(page, named, args, kwargs)
            given = named.bind(*args, **kwargs).arguments
            if given.get("layer", "") is None and first[0].default is first[0].empty:
                spec_of(None)  # raises NormvizError
            lang = kwargs.get("lang")
            with in_language(parse_language(str(lang)) if lang else ""), usual_device():
                return function(*args, **kwargs)

        run.__signature__ = named  # type: ignore[attr-defined]
        run.__doc__ = _with_lines(inspect.getdoc(function) or "", settings)
        return cast(F, run)

    return of_page


def _settings(page: Page, also: Sequence[str]) -> list[Setting]:
    """The settings of a link to the page: its own; how the view is shown; and what it shows of a scene."""
    of_scene = [one for name, one in SCENE_SETTINGS.items() if name != "layer" and name not in OF_VALUES]
    of_scene += [SCENE_SETTINGS[name] for name in OF_VALUES]
    if page.uses != "tensor":
        of_scene = [] if page.uses == "nothing" else [SEED]
    everywhere = [one for one in (*page.settings, *DISPLAY_SETTINGS) if one.keyword]
    return [*everywhere, *of_scene, *(DISPLAY[name] for name in also)]


def _default(setting: Setting) -> Any:
    """The default in a signature; None where it depends on the others."""
    if not isinstance(setting.default, int | float | str):
        return None
    text = setting.format(setting.default)  # of a power of ten, the value is its exponent
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval({"true": "True", "false": "False"}.get(text, text))
    return text


def _with_lines(doc: str, settings: Sequence[Setting]) -> str:
    """The docstring, with a line for each keyword before what the function raises."""
    with in_language(ENGLISH):
        about = {one.keyword_name: one.help_text + _where(one) for one in settings}
    width = max(map(len, about))
    lines = "".join(f"{name:{width}}  {text}\n" for name, text in about.items())
    return doc.replace("\n\nRaises ", f"\n\n{lines}\nRaises ", 1)


def _where(setting: Setting) -> str:
    rule = setting.applies
    return f"; with {listed(rule.in_words)}" if isinstance(rule, Where) else ""


def _unknown(page: str, name: str, value: object, names: Iterable[str]) -> NormvizError:
    """Why the page's function does not take this argument."""
    if f"{name}_" in names:
        return NormvizError("{name} is a word of Python; write {name}_=...", name=name)
    if name in OF_TENSOR or name in DISPLAY or PAGES[page].setting(name):
        return _no_effect(page, name)
    if name in setting_names():
        return NormvizError(of_other_pages(PAGES[page], name, echo(value)))
    known = list(names)
    if meant := closest(name, [one for one in known if len(one) > 2]):
        return NormvizError(
            "{name}={value} is not a setting here. Did you mean {meant}?", name=name, value=echo(value), meant=meant
        )
    return NormvizError(
        "{name}={value} is not a setting here; choose {names}.", name=name, value=echo(value), names=listed(known)
    )


@page_function(also=["open"])
def explore(layer: AnyLayer, x: X | None = None, **settings: Unpack[keywords.ExploreSettings]) -> Output:
    """One layer on one tensor: which elements share what, how many parameters there are, and the numbers.

    layer     a torch.nn module, also one with a forward of your own; its text, "GroupNorm(2, 4)"; a Layer or a Norm
    x         a tensor, an array, or a shape; default: an example that the layer takes, here as in the functions below

    The keywords are those of the page's link. Several names may be a list, ``hide=["code", "facts"]``.

    Raises NormvizError for an invalid or unknown argument, for one that does nothing here, and if torch refuses the layer on x.

    >>> explore("LayerNorm(4)", (2, 4), data="counting", hide="code").url()
    '/explore?shape=2,4&layer=LayerNorm([4])&data=counting&params=init&at=1,3&hide=code'
    """
    return output_of_view("explore", _view("explore", layer, x, settings))


@page_function(without=OF_VALUES)
def compare(layers: Sequence[AnyLayer], x: X | None = None, **settings: Unpack[keywords.CompareSettings]) -> Output:
    """Two to six layers on one tensor, side by side: who shares what with whom, and a table. The values of x are not shown.

    layers    modules, texts, Layers or Norms, as for ``explore``
    x         a tensor, an array, or a shape

    Raises NormvizError for an invalid or unknown argument, for one that does nothing here, and if torch refuses a layer on x.

    >>> compare(["BatchNorm1d(4)", "LayerNorm(4)"], (2, 4), cards="gamma").url()
    '/compare?shape=2,4&layer=BatchNorm1d(4)&data=normal&seed=0&params=init&at=1,3&layers=BatchNorm1d(4);LayerNorm([4])&cards=gamma'
    """
    x, texts, comparison = _compared(layers, x, settings)
    rest = {name: value for name, value in settings.items() if name not in ("layout", "shape")}
    own, fields, display = _divided("compare", rest | {"layers": texts})
    at = fields.pop("at", None)
    view = _with(
        View(Scene.of(comparison.descriptions[0], None if at == "none" else at), PAGES["compare"].parse(own)),
        at,
        fields,
        display,
    )
    scene = view.scene
    parts = comparing.parts(comparison, scene.grid, scene.at, comparing.ready_set(scene, texts), view.settings["cards"])
    titles = ", ".join(e.title for e in comparison.descriptions)
    return replace(output_of_view("compare", view, parts=parts), title=title_of("compare", titles))


@page_function()
def step_by_step(layer: AnyLayer, x: X | None = None, **settings: Unpack[keywords.StepByStepSettings]) -> Output:
    """The forward pass, one step at a time.

    layer, x  as for ``explore``

    Raises NormvizError for an invalid or unknown argument, for one that does nothing here, and if torch refuses the layer on x.

    >>> step_by_step("LayerNorm(4)", (2, 4), step=3, at=(0, 1)).title
    'LayerNorm([4]) on (2, 4) · Step by step · normviz'
    """
    return output_of_view("step_by_step", _view("step_by_step", layer, x, settings))


steps = step_by_step


@page_function(without=(*OF_VALUES, "at", "from"))
def all_layers(layer: AnyLayer, x: X | None = None, **settings: Unpack[keywords.AllLayersSettings]) -> Output:
    """A map of every layer that there can be on x: a row for the axes of the mean, a column for the axes of gamma.

    layer, x  as for ``explore``; the map shows the place of the layer

    Raises NormvizError for an invalid or unknown argument, for one that does nothing here, and if torch refuses the layer on x.

    >>> all_layers("LayerNorm(4)", (2, 4)).title
    'LayerNorm([4]) on (2, 4) · All layers · normviz'
    """
    return output_of_view("all_layers", _view("all_layers", layer, x, settings))


@page_function()
def gradients(layer: AnyLayer, x: X | None = None, **settings: Unpack[keywords.GradientsSettings]) -> Output:
    """Derivatives of the outputs: by one element of x, by all of them, by gamma and beta, and the backward pass.

    layer, x  as for ``explore``; of a large x, the groups that are drawn have up to 262,144 elements

    Raises NormvizError for an invalid or unknown argument, for one that does nothing here, if torch refuses the layer on x, and if x is too
    large.

    >>> gradients("LayerNorm(4)", (2, 4), show="matrix").title
    'LayerNorm([4]) on (2, 4) · Gradients · normviz'
    """
    name = differentiating.PAGE.name
    view = _view(name, layer, x, settings)
    return output_of_view(name, view, parts=differentiating.parts(view))


@page_function()
def train_and_eval(
    layer: AnyLayer | None = None, x: X | None = None, **settings: Unpack[keywords.TrainAndEvalSettings]
) -> Output:
    """A layer in both modes, with the running statistics of a module; without a layer and x, BatchNorm over a stream of batches.

    layer, x  as for ``explore``: they show the modes

    With a layer or x, the default of show is "modes"; the other experiments have batches of their own. Without show, a keyword of one
    experiment chooses it.

    Raises NormvizError for an invalid or unknown argument, for one that the experiment does not use, and for a module with a forward of its
    own, unless it stores statistics in train mode and uses them in eval mode.

    >>> train_and_eval(count=64).view.settings["show"]
    'sequences'
    """
    view = _view("train_and_eval", layer, x, settings, start="BatchNorm2d(4)")
    if view.settings["show"] == "modes" and (refusal := modes.refusal(view.scene)):
        raise NormvizError(refusal)
    return output_of_view("train_and_eval", view)


@page_function()
def numerics(**settings: Unpack[keywords.NumericsSettings]) -> Output:
    """What rounding does to a normalization.

    Without show, a keyword of one experiment chooses it.

    Raises NormvizError for an invalid or unknown argument, and for one that the experiment does not use.

    >>> numerics(value=3).view.settings["show"]
    'constant'
    """
    return _without_tensor("numerics", settings)


@page_function()
def models(**settings: Unpack[keywords.ModelsSettings]) -> Output:
    """The normalizations of a well-known model in the order in which they run, or of layers that you describe.

    Raises NormvizError for an invalid or unknown argument, and for ``own`` with another model.

    >>> models(own="nn.LayerNorm(768) on 2,128,768").title
    'Your own layers · In real models · normviz'
    """
    return _without_tensor("models", settings)


@page_function()
def start(**settings: Unpack[keywords.StartSettings]) -> Output:
    """The first lesson, from four numbers to a batch of images.

    Raises NormvizError for an invalid or unknown argument.

    >>> start(step=3).url()
    '/start?step=3'
    """
    return _without_tensor("start", settings)


@page_function()
def story(**settings: Unpack[keywords.StorySettings]) -> Output:
    """The article on what each layer solves and what it leaves open.

    Raises NormvizError for an invalid or unknown argument.

    >>> story().title
    'Why five layers? · normviz'
    """
    return _without_tensor("story", settings)


@page_function()
def practice(**settings: Unpack[keywords.PracticeSettings]) -> Output:
    """A set of exercises, which the page checks.

    Without a keyword, the level is "rising". Several topics or kinds may be a list.

    Raises NormvizError for an invalid or unknown argument.

    >>> practice(seed=7, count=5, topics=["statistics", "parameters"]).url()
    '/practice?seed=7&count=5&topics=statistics,parameters&level=all'
    """
    return _without_tensor("practice", settings)


@page_function()
def teach(**settings: Unpack[keywords.TeachSettings]) -> Output:
    """What a teacher can do with the app.

    Without a keyword, the exercises are those with which the page opens.

    Raises NormvizError for an invalid or unknown argument.

    >>> teach().url()
    '/teach?seed=7&count=5&level=1'
    """
    return _without_tensor("teach", settings)


@page_function(without=["present"])
def questions(q: str = "", **settings: Unpack[keywords.QuestionsSettings]) -> Output:
    """One question with its answer, which is always shown whole; without ``q``, the list of all questions.

    q  the question, such as "s0"

    The keywords are about the list; lang is about a question, too.

    Raises NormvizError if there is no such question, and for a setting of the list with a question.

    >>> questions("s0").title
    'Do all elements of an example share one gamma and one beta? · normviz'
    """
    of_list = {name: value for name, value in settings.items() if name != "lang"}
    if q not in ("", None):
        for name, value in of_list.items():
            raise NormvizError(
                "{name}={value} has no effect with q={q}; it belongs to the list of questions.",
                name=name,
                value=echo(value),
                q=echo(q),
            )
        return question_or_list(q)
    return _without_tensor("questions", settings) if of_list else question_or_list()


@checked_call
def live(
    page: AnyLayer, *given: AnyLayer | Sequence[AnyLayer | int] | Array, **settings: Unpack[keywords.LiveSettings]
) -> Live:
    """A page with its controls, answered by torch in the kernel on your own x or module: ``nv.live("LayerNorm([4, 3, 5])", x)``.

    page      a layer; or a page and what its function takes: ``nv.live("steps", layer, x)``, ``nv.live("compare", [...], x)``
    given     the layer, or the layers, if the page is named; then x: a tensor, an array, or a shape
    settings  of the page, as its function takes them: ``show="matrix"``, ``hide="code"``; ``lang``, such as "zh"; default: NORMVIZ_LANG, or English

    It has the traits ``query``, ``layer``, ``shape`` and ``at``, which can be set and observed, and an ``explanation``.
    Raises NormvizError for a layer that torch refuses on x, for an argument that the page does not use, and if anywidget is not installed.

    >>> w = live("gradients", "LayerNorm(4)", (2, 4), show="matrix")
    >>> w.query
    'shape=2,4&layer=LayerNorm([4])&show=matrix'
    """
    try:
        from normviz.api.live.widget import Live
    except ModuleNotFoundError as error:
        raise NormvizError(
            'nv.live needs {module}, which is not installed; run pip install "normviz[notebook]".', module=error.name
        ) from error
    rest: tuple[Any, ...] = given
    name = {"steps": "step_by_step"}.get(str(page), str(page))
    if name not in PAGES:
        if isinstance(page, str) and "(" not in page and (meant := closest(page, PAGES)):
            raise NormvizError("{page} is no page. Did you mean {meant}?", page=echo(page), meant=meant)
        name, rest = "explore", (page, *given)
        spec_of(None) if page is None else None
    elif rest and hasattr(rest[0], "shape") and not isinstance(rest[0], nn.Module):
        raise NormvizError('nv.live("{page}", x) has no layer; name it, or a list of layers, before x.', page=page)
    if len(rest) > 2:
        raise _no_effect(name, echo(rest[2]))
    layer, x = (*rest, None, None)[:2]
    own: dict[str, Any] = dict(settings)
    known = inspect.signature(globals()[name]).parameters if name in globals() else own
    for setting, value in own.items():
        if setting not in known or setting in ("layers", "layer", "x"):
            raise _unknown(name, setting, value, [one for one in known if one not in ("layers", "layer", "x")])
    lang = own.get("lang")
    with in_language(parse_language(str(lang)) if lang else ""):
        if name == "compare" and rest:
            x, texts, comparison = _compared(layer, x, own)
            layer, own = layer[0], {one: value for one, value in own.items() if one != "shape"}
            own |= {"layout": comparison.descriptions[0].layout, "layers": texts}
        view = _view(name, layer, x, own)
        if problem := with_fields(view.scene).problem:
            raise NormvizError(problem)
        return Live(name, view)


@checked_call
def open(link: str) -> Output:
    """The view of any link of the app: "/compare?shape=2,4,3,5&layers=BatchNorm2d(4);LayerNorm([4,3,5])".

    link  an address with or without the host; docs/links.md has its names

    Raises NormvizError if the app would show an error.

    >>> open("/explore?layer=LayerNorm(4)&shape=2,4").title
    'LayerNorm([4]) on (2, 4) · Explore · normviz'
    """
    with usual_device():
        return output_of_query(*page_and_query(link))


# From arguments to views


def _divided(page: str, settings: Settings) -> tuple[dict[str, Any], dict[str, Any], Display]:
    """The settings of the page, the settings of the scene as fields of a Scene, and how the view is shown. None stands for the default."""
    given = {name.rstrip("_"): value for name, value in settings.items()}
    own = {name: value for name, value in given.items() if PAGES[page].setting(name)}
    others = {name: value for name, value in given.items() if name not in own and value is not None}
    scene = {name: value for name, value in others.items() if name in SCENE_SETTINGS}
    display = Display(**{name: _read(DISPLAY[name], value) for name, value in others.items() if name in DISPLAY})
    if unknown := unknown_names(display.hide, controls()):
        raise NormvizError(hide_problem(unknown))
    return own, scene, display


def _read(setting: Setting, value: object) -> Any:
    return setting.parse(setting.text(value))


def _with(view: View, at: object, scene: Settings, display: Display) -> View:
    """The view with these settings of the scene, and how it is shown."""
    fields = {{"from": "start"}.get(name, name): _read(SCENE_SETTINGS[name], value) for name, value in scene.items()}
    fields |= {"at": None} if at == "none" else {}
    changed = replace(view.scene, **fields) if fields else view.scene
    return replace(view, scene=changed, display=display)


def _view(
    page: str, layer: AnyLayer | None, x: object, settings: Settings, start: str = "LayerNorm([4, 3, 5])"
) -> View:
    """The view of a page on the layer and x; ``start`` is shown without a layer.

    Raises NormvizError for an argument that it ignores.
    """
    own, scene, display = _divided(page, settings)
    names = [name for name, value in (("layer", layer), ("x", x)) if value is not None] + [*scene]
    if {*names} - {"seed"}:
        own = PAGES[page].on_tensor(own)
    values = _parsed(page, own, names)
    x, layout, at = _x_or_shape(x, scene.pop("shape", None)), scene.pop("layout", None), scene.pop("at", None)
    seed = scene.pop("seed", None)
    layer = start if layer is None else layer
    given = _or_example(x, [layer], layout)
    stored = with_statistics(layer, given, layout) if page == "train_and_eval" and _is_own(layer) else None
    e = stored or describe_any(layer, given, layout)
    number = 0 if seed is None else check_seed(seed, seed)
    frozen = page == "train_and_eval" and is_frozen(layer, e)
    own_scene = Scene.of(e, None if at == "none" else at, number, "" if stored else own_class(layer), frozen)
    view = _with(View(own_scene, values), at, scene, display)
    _refuse_unused(PAGES[page], view, e, scene, seed)
    return view


def _is_own(layer: object) -> TypeGuard[nn.Module]:
    return isinstance(layer, nn.Module) and bool(own_class(layer)) and not list(layer.children())


def _x_or_shape(x: object, shape: object) -> Any:
    if x is not None and shape is not None:
        raise NormvizError("x and shape are both given; leave shape={shape} out.", shape=echo(shape))
    return shape if x is None else x


def _parsed(page: str, own: Settings, names: Iterable[str]) -> dict[str, Any]:
    """The settings of the page. Raises NormvizError if it ignores one of them, or one of the other arguments, with these names."""
    values = PAGES[page].parse(own)
    if problem := PAGES[page].ignored(values, [*names, *own]):
        raise NormvizError(problem)
    return values


def _refuse_unused(page: Page, view: View, e: Description, scene: Settings, seed: int | None) -> None:
    """Raise NormvizError if the view does not use one of these settings of the scene, because of its x or of its layer."""
    replaced = page.replaces_x(view)
    for name in ("data", "values"):
        if name in scene and replaced:
            raise NormvizError(page.no_effect(name, view.settings, replaced))
        if name in scene and e.x is not None:
            raise NormvizError("{name} has no effect on an x that has values; give its shape as x.", name=name)
    if unused := [name for name in page.unused(view) if name in scene]:
        raise NormvizError(page.no_effect(unused[0], view.settings))
    if {"data", "values"} <= {*scene}:
        raise NormvizError("data has no effect with values; leave it out.")
    missing = [] if PARAMS.applies(view) else ["params", "gamma", "beta"]
    for name in [*missing, *([] if e.norm.bias else ["beta"])]:
        if name in scene:
            raise NormvizError(
                "{name} has no effect on {layer}, which has no {parameter}; leave it out.",
                name=name,
                layer=e.title,
                parameter="beta" if name == "beta" else "gamma",
            )
    is_used = (SEED.applies(view) and not replaced) or scene.get("params") == "random" or page.draws(view)
    if seed is not None and not is_used:
        raise NormvizError(page.no_effect("seed", view.settings))


def _no_effect(page: str, name: str) -> NormvizError:
    return NormvizError(PAGES[page].no_effect(name, {}))


def _without_tensor(page: str, settings: Settings) -> Output:
    """A page that shows no layer on a tensor: as its link shows it."""
    own, scene, display = _divided(page, settings)
    values: Settings = _parsed(page, own, scene)
    seed = scene.get("seed")
    if not own and seed is None:  # the view with which the page opens
        opened = PAGES[page].view({})
        values, seed = opened.settings, opened.scene.seed
    scene_of_seed = repair(seed=0 if seed is None else check_seed(seed, seed)).scene
    view = View(scene_of_seed, values, display=display)
    if problem := PAGES[page].problem(view):
        raise NormvizError(problem)
    return output_of_view(page, view)


def _compared(layers: Sequence[AnyLayer], x: object, settings: Settings) -> tuple[Any, tuple[str, ...], Comparison]:
    """x or its shape, the layers as the setting ``layers`` holds them, and the comparison."""
    layout = settings.get("layout")
    if isinstance(layers, Iterable) and not isinstance(layers, str | nn.Module):
        layers = tuple(layers)
    else:
        compared(layers, (), "")  # raises NormvizError
    x = _or_example(_x_or_shape(x, settings.get("shape")), layers, layout)
    comparison = _on_common_axes(layers, x, layout)
    texts = tuple(e.title.replace(", ", ",") for e in comparison.descriptions)
    for text, number in Counter(texts).items():
        if number > 1:
            raise NormvizError("a comparison shows {layer} once; leave out what is equal.", layer=text)
    return x, texts, comparison


def _on_common_axes(layers: Sequence[AnyLayer], x: object, layout: str | None) -> Comparison:
    """The comparison with the axis names of the first layer; if another one has no such names, such as groups of a batch, with its own."""
    given: Any = layers
    if not layers:
        return compared(given, x, layout or "")  # raises NormvizError
    refusal: NormvizError | None = None
    for layer in layers if layout is None else layers[:1]:
        names = layout or describe_any(layer, x).layout
        try:
            return compared(tuple(_spec(each, x, names) for each in layers), x, names)
        except NormvizError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def _or_example(x: object, layers: Sequence[AnyLayer], layout: str | None) -> Any:
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
        describe_any(layer, shape)
    except NormvizError:
        return False
    return True


def _spec(layer: AnyLayer, x: object, layout: str) -> str | Layer | Norm:
    """The layer; of a module, the Layer or the Norm that computes the same."""
    if not isinstance(layer, nn.Module):
        return layer
    e = describe_any(layer, x, layout)
    return e.layer or e.norm
