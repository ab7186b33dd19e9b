"""What each page of the app shows, as a function of the same name: ``nv.compare([...], x)``.

x is a tensor, an array, or a shape; of a shape, x is the example that the app shows: standard normal numbers of two decimals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from normviz.comparison import compare as compared
from normviz.data import example
from normviz.errors import NormvizError, echo, listed
from normviz.exhibit import PAGES
from normviz.exhibit import compare as comparing
from normviz.exhibit import explore as exploring
from normviz.exhibit import gradients as differentiating
from normviz.exhibit import numerics as rounding
from normviz.exhibit import step_by_step as stepping
from normviz.exhibit import train_and_eval as training
from normviz.exhibit.parts import Part
from normviz.exhibit.questions import question_parts, questions_parts
from normviz.explanation import Explanation, describe
from normviz.export.output import Output, title_of
from normviz.grid import Grid, grid
from normviz.layers import Layer
from normviz.lessons import derivatives
from normviz.lessons.question import prose
from normviz.lessons.questions import question
from normviz.norm import Norm
from normviz.reading import LARGEST_SEED, nearest
from normviz.scene import MOST_EDITABLE, MOST_VALUES, default_at
from normviz.settings import Field, write_settings
from normviz.sharing import check_index
from normviz.view import View

if TYPE_CHECKING:
    from torch import nn

    AnyLayer = nn.Module | str | Norm | Layer

USUAL_SHAPE = (2, 3, 4, 4)


@dataclass(frozen=True)
class Case:
    """A layer on an x, how x is drawn, the selected element, and the query that says it, if one can."""

    e: Explanation
    drawing: Grid
    at: tuple[int, ...]
    query: dict[str, str] | None


def explore(
    layer: AnyLayer, x: Any = USUAL_SHAPE, *, layout: str | None = None, at: Sequence[int] | None = None
) -> Output:
    """One layer on one tensor: who shares what, how many parameters that makes, and with which numbers."""
    return explained(describe(layer, _values(layer, x, layout), layout=layout), at)


def explained(e: Explanation, at: Sequence[int] | None = None) -> Output:
    """The page Explore of an Explanation."""
    case = _case(e, at)
    parts = tuple(exploring.parts(e, case.drawing, case.at))
    return Output(parts, title_of("explore", _about(e)), "explore", case.query)


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
    query = None if case.query is None else case.query | write_settings(comparing.FIELDS, {"layers": texts})
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
    settings = _settings(stepping.FIELDS, {"step": step})
    parts = tuple(stepping.parts(case.e, case.drawing, case.at, settings["step"]))
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
    settings = _settings(differentiating.FIELDS, {"show": show, "input": input})
    e = derivatives.explained(case.e, settings["input"])
    parts = tuple(differentiating.parts(differentiating.Case(e, case.drawing, case.at, seed), settings["show"]))
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
    chosen = _settings(training.FIELDS, settings)
    parts = tuple(training.parts(training.Case(chosen, case.e, case.drawing, case.at, seed)))
    return _output("train_and_eval", case, parts, chosen, seed)


def numerics(*, seed: int = 0, **settings: Any) -> Output:
    """What rounding does; ``settings`` are the page's: ``show="eps"``, ``dtype="float16"``."""
    chosen = _settings(rounding.FIELDS, settings)
    query = write_settings(rounding.FIELDS, chosen) | ({"seed": str(seed)} if seed else {})
    return Output(tuple(rounding.parts(chosen, seed)), title_of("numerics"), "numerics", query)


def questions(key: str = "") -> Output:
    """One question with its answer, such as "s0"; without a key, all of them."""
    if not key:
        return Output(tuple(questions_parts()), "Questions · normviz", "questions", {})
    asked = question(key)
    return Output(tuple(question_parts(asked)), f"{prose(key).title} · normviz", "questions", {"q": key})


def open(link: str) -> Output:
    """The view of any link of the app: "/compare?shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4])".

    Raises NormvizError where the app would show a message.
    """
    return of_query(*asked_by(link))


def asked_by(link: str) -> tuple[str, dict[str, str]]:
    """The page that a link names, and its query. Raises NormvizError where it names none.

    >>> asked_by("https://example.org/normviz/compare?shape=2,3")
    ('compare', {'shape': '2,3'})
    """
    address = urlsplit(link if isinstance(link, str) and len(link) <= LONGEST_LINK else "nowhere")
    page = address.path.rstrip("/").rpartition("/")[2]
    root = not address.path or (address.path.endswith("/") and (address.scheme or address.path.startswith("/")))
    if page not in (*PAGES, "questions") and root:  # the app's own address, at whatever path it is
        page = "explore"
    if page not in (*PAGES, "questions"):
        raise NormvizError(f"link={echo(link)} names no page; choose {listed([*PAGES, 'questions'])}.")
    return page, dict(parse_qsl(address.query))


def of_query(page: str, query: Mapping[str, str]) -> Output:
    """The view of a page that a query asks for. Raises NormvizError where the app would show a message, and for another page."""
    if page == "questions":
        return questions(query.get("q", ""))
    if page not in PAGES:
        raise NormvizError(f"page={echo(page)} is unknown; choose {listed([*PAGES, 'questions'])}.")
    view = PAGES[page].view(query)
    if problem := PAGES[page].problem(view):
        raise NormvizError(problem)
    return of_view(page, view)


LONGEST_LINK = 4000


def of_view(page: str, view: View) -> Output:
    """A view of a page."""
    about = "" if page == "numerics" else _about(view.scene.sharing)
    if page == "compare":
        layers, scene = comparing.layers_of(view)[0], view.scene
        about = ", ".join(describe(layer, scene.shape, layout=scene.layout).title for layer in layers)
    return Output(tuple(PAGES[page].shown(view)), title_of(page, about), page, view.query(PAGES[page].fields))


def _output(page: str, case: Case, parts: tuple[Part, ...], settings: Mapping[str, Any], seed: int = 0) -> Output:
    query = None if case.query is None else case.query | write_settings(PAGES[page].fields, settings)
    if query is not None and seed:
        query["seed"] = str(seed)
    return Output(parts, title_of(page, _about(case.e)), page, query)


def _about(e: Explanation) -> str:
    return f"{e.title} on {e.shape}"


def _values(layer: AnyLayer, x: Any, layout: str | None, seed: int = 0) -> Any:
    """x, or the app's example of that shape and seed."""
    if not isinstance(seed, int) or not 0 <= seed < LARGEST_SEED:
        raise NormvizError(f"seed={echo(seed)} must be a whole number from 0 to {LARGEST_SEED - 1}.")
    if not isinstance(x, tuple | list):
        return x
    e = describe(layer, x, layout=layout)
    return example("normal", e.shape, e.axes, seed) if prod(e.shape) <= MOST_VALUES else x


def _case(e: Explanation, at: Sequence[int] | None) -> Case:
    chosen = default_at(e.shape, e.axes) if at is None else check_index(at, e.shape)
    whole = grid(e.shape, e.axes)
    start = tuple(i - i % part for i, part in zip(chosen, whole.extent, strict=True))
    return Case(e, grid(e.shape, e.axes, start), chosen, _query(e, chosen))


def _query(e: Explanation, at: tuple[int, ...]) -> dict[str, str] | None:
    """The query of the layer and the shape, with x's values where there are few; None where no link can say it."""
    wanted: dict[str, Any] = {"shape": e.shape, "layout": e.layout, "layer": e.layer or e.norm, "at": at}
    try:
        if e.x is not None and prod(e.shape) <= MOST_EDITABLE:
            values = tuple(map(float, e.x.flatten().tolist()))
            if values != tuple(example("normal", e.shape, e.axes, 0).flatten().tolist()):
                wanted["values"] = values
        reading = nearest(**wanted)
    except NormvizError:
        return None
    return None if reading.problem else reading.scene.query()


def _settings(fields: Sequence[Field], given: Mapping[str, Any]) -> dict[str, Any]:
    """A page's settings. Raises NormvizError for a name that it does not have, and for a value that is out of bounds."""
    known = {field.name: field for field in fields}
    values = {name: field.usual for name, field in known.items()}
    for name, value in given.items():
        if name not in known:
            raise NormvizError(f"{name}={echo(value)} is no setting here; choose {listed(known)}.")
        values[name] = known[name].read("none" if value is None else str(value))
    return values
