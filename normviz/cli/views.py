"""Which view a command is about: its arguments, and the Output that they ask for. x is the app's example."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import replace
from math import prod

from normviz.export.links import asked_by, of_query
from normviz.export.output import Output
from normviz.layers.errors import NormvizError, echo, listed
from normviz.lessons.compare.ready_sets import READY_SETS
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.part import Tabs
from normviz.lessons.questions.registry import QUESTIONS
from normviz.scene.scene import MOST_VALUES

SCENE = {
    "shape": ("2,3,4,4", "the sizes of x"),
    "layout": ("NHWC", "the axis letters of x, where they are not the layer's own"),
    "data": ("NAME", "x: normal, counting, scales or images"),
    "seed": ("0", "of x, where it is random"),
    "params": ("NAME", "gamma and beta: init, index or random"),
    "values": ("1,2,3", "x's own values, for up to 64 elements"),
    "at": ("1,2,0,3", "the selected element, or none"),
}


def add_view(parser: ArgumentParser) -> None:
    """What every command that shows a view takes."""
    what = parser.add_argument_group("what to show")
    what.add_argument("layer", metavar="LAYER", nargs="?", help='such as "LayerNorm([3,4,4])"')
    what.add_argument("--layers", metavar="LAYER", nargs="+", help="several layers, one tab each")
    what.add_argument(
        "--lesson", metavar="NAME", help="a page, such as step_by_step or compare; a question, such as s0; or a ready-made set, such as four"
    )  # fmt: skip
    what.add_argument("--link", metavar="LINK", help='any link of the app, such as "/compare?shape=2,3,4,4"')
    what.add_argument("--hide", metavar="NAME,NAME", help="parts to leave out, such as code,worked")
    tensor = parser.add_argument_group("the tensor and the layer's numbers, as in a link of the app")
    for name, (example, meaning) in SCENE.items():
        tensor.add_argument(f"--{name}", metavar=example, help=meaning)


def output(args: Namespace) -> Output:
    """The view. Raises NormvizError where the arguments say none, contradict each other, or ask for what there is not."""
    scene = {name: value for name in SCENE if (value := getattr(args, name)) is not None}
    if args.link is not None:
        _alone(args, scene, "link", ("layer", "layers", "lesson"))
        page, query = asked_by(args.link)
        return _view(page, query, args.hide)
    if args.lesson is not None:
        return _lesson(args, scene)
    if args.layers:
        _alone(args, {}, "layers", ("layer",))
        return _set([{**scene, "layer": text} for text in dict.fromkeys(args.layers)], args.hide)
    if args.layer is None:
        raise NormvizError(
            'nothing to show; name a layer, such as "LayerNorm([3,4,4])", or give --layers, --lesson or --link.'
        )
    return _view("explore", scene | {"layer": args.layer}, args.hide)


def _lesson(args: Namespace, scene: dict[str, str]) -> Output:
    name = args.lesson
    if name in PAGES:
        own = {"layer": args.layer} if args.layer is not None else {}
        if args.layers and name != "compare":
            raise NormvizError(f"--lesson {name} shows one layer; name it without --layers, or take --lesson compare.")
        if args.layers:
            own = {"layer": args.layer or args.layers[0], "layers": ";".join(args.layers)}
        return _view(name, scene | own, args.hide)
    if name in QUESTIONS or name in READY_SETS:
        _alone(args, scene, f"lesson {name}", ("layer", "layers"))
        ready = READY_SETS.get(name)
        return _view("compare", ready.query, args.hide) if ready else _view("questions", {"q": name}, args.hide)
    raise NormvizError(
        f"--lesson {echo(name)} is unknown; choose {listed([*PAGES, *READY_SETS])}, or a question such as s0 or q22."
    )


def _set(queries: list[dict[str, str]], hide: str | None) -> Output:
    """One tab a layer, each with its page Explore."""
    views = [_view("explore", query, hide) for query in queries]
    titles = [PAGES["explore"].view(query).scene.sharing.title for query in queries]
    tabs = Tabs(tuple((title, view.parts) for title, view in zip(titles, views, strict=True)))
    title = f"{', '.join(titles)} · normviz"
    return replace(views[0], parts=(tabs,), title=title, query=None)


def _view(page: str, query: dict[str, str], hide: str | None) -> Output:
    if hide is not None and page not in PAGES:
        raise NormvizError("a question shows all of itself; leave --hide out.")
    query = query if hide is None else query | {"hide": hide}
    if page in PAGES:
        scene = PAGES[page].view(query).scene
        if not scene.computable:
            raise NormvizError(
                f"x has {prod(scene.shape):,} elements, too many to compute with; give a shape of up to {MOST_VALUES:,}."
            )
    return of_query(page, query)


def _alone(args: Namespace, scene: dict[str, str], name: str, others: tuple[str, ...]) -> None:
    """Raise NormvizError where something is given that ``--name`` says already."""
    given = [other for other in others if getattr(args, other)] + list(scene)
    if given:
        said = given[0] if given[0] == "layer" else f"--{given[0]}"
        raise NormvizError(f"--{name} says what to show; leave {said} out.")
