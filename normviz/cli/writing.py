"""``normviz export``, ``image``, ``site`` and ``plotlyjs``: the commands that write views."""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from normviz.cli import arguments, terminal
from normviz.export import assets, files, links, pictures, scorm, tour_file
from normviz.export.output import Choices, Output
from normviz.export.site import Entry, build, build_all, pack, scorm_files
from normviz.lessons.compare.page import READY_SETS
from normviz.lessons.pages import PAGES
from normviz.lessons.questions.page import QUESTIONS, current_key
from normviz.parts.part import Chart, Note, Panels, Table, Tabs, flat
from normviz.scene.scene import SCENE_SETTINGS
from normviz.texts.errors import NormvizError, check_web_address, closest, echo, listed
from normviz.texts.messages import _, format_number, ngettext


def export(args: argparse.Namespace) -> None:
    if Path(args.out).suffix.lower().removeprefix(".") in pictures.FORMATS:
        raise NormvizError(
            "{file} is not a web page; end it in .html, or use normviz image.", file=files.short_path(args.out)
        )
    files.check_writable(args.out)
    output = output_of(args, args.fixed).with_(theme=args.theme, plotlyjs=args.plotlyjs, caption=args.caption)
    if args.fixed and (args.shapes or args.app):
        raise NormvizError("--fixed gives a single view; leave --shapes and --app out.")
    check_web_address("--app ", args.app)
    if args.shapes and (args.tour is not None or PAGES[output.page].uses != "tensor"):
        raise NormvizError("the exported page has no tensor to choose; leave --shapes out.")
    if not args.fixed:
        output = replace(output, choices=choices_of(args, output))
    output = output if args.title is None else replace(output, title=args.title)
    files.write(args.out, output.to_html())
    files.print_size(args.out)
    if left_out := output.left_out:
        terminal.say(
            _(
                "the file would be too large with these controls, so it leaves them out: {labels}.",
                labels=listed(left_out, "and"),
            )
        )


def image(args: argparse.Namespace) -> None:
    files.check_writable(args.out)
    parts = output_of(args).parts
    options = {"theme": args.theme, "scale": args.scale, "width": args.width}
    if args.out != files.STDOUT:
        for path in pictures.save(parts, args.out, **options):
            files.print_size(path)
        return
    with TemporaryDirectory() as folder:
        first, *others = pictures.save(parts, Path(folder) / "figure.svg", **options)
        if others:
            raise NormvizError("this view has several figures; name a file for them instead of -.")
        files.write(files.STDOUT, first.read_bytes())


def site(args: argparse.Namespace) -> None:
    if args.out == files.STDOUT:
        raise NormvizError("a site has many files; name a directory for them instead of -.")
    packed, mastery = f"{args.out.rstrip('/') or '.'}.zip", scorm.read_mastery(args.passing)
    if mastery is not None and not args.scorm:
        raise NormvizError("--pass is for a SCORM package: add --scorm.")
    if args.scorm and args.lang == arguments.ALL:
        raise NormvizError("a SCORM package has one language; choose one with --lang.")
    if args.zip or args.scorm:
        if Path(args.out).name in ("", "..", "."):
            raise NormvizError("--zip needs a directory with a name of its own, such as site.")
        files.check_writable(packed)
    write_site = build_all if args.lang == arguments.ALL else build
    made = write_site(args.out, theme=args.theme, only=args.only, force=args.force, progress=_progress)
    if args.zip or args.scorm:
        pack(args.out, made, packed, scorm_files(made, args.only, mastery) if args.scorm else {})
        files.print_size(packed)
    index = Path(args.out) / "index.html"
    print(
        ngettext(
            "{index}: open it, or serve the directory ({n} file, {size} MB)",
            "{index}: open it, or serve the directory ({n} files, {size} MB)",
            len(made),
            index=index,
            size=format_number(sum((Path(args.out) / file).stat().st_size for file in made) / 1e6, 2),
        )
    )


def plotlyjs(args: argparse.Namespace) -> None:
    files.write(args.out, assets.plotly_js())
    files.print_size(args.out)


def _progress(entries: Sequence[Entry]) -> Iterable[Entry]:
    """The pages, with a progress bar on a terminal."""
    from tqdm import tqdm

    counted: Iterable[Entry] = tqdm(entries, unit="page", disable=None, leave=False)
    return counted


# The view that a command shows: the Output that its arguments describe. x is the app's example.


FIGURES = (Panels, Chart, Table)
FIGURE_PAGES = {name: page for name, page in PAGES.items() if page.uses in ("tensor", "scene")}
OPTIONS = {name: setting for name, setting in SCENE_SETTINGS.items() if name != "layer"}


def output_of(args: argparse.Namespace, fixed: bool = True) -> Output:
    """The view. Raises NormvizError if the arguments are missing, contradict each other, or are unknown.

    fixed  ``--layers`` gives one tab for each layer; otherwise, the reader chooses among them, and the view has the first
    """
    scene = {name: value for name in OPTIONS if (value := getattr(args, name)) is not None}
    name = args.page = {"steps": "step_by_step"}.get(args.page, args.page)
    if args.set and name not in PAGES:
        raise NormvizError("--set changes settings of a page; name it with --page {pages}.", pages=listed(PAGES))
    if args.tour is not None:
        _alone(args, scene, "tour", ("layer", "layers", "page", "link", "hide", "fixed"))
        return links.tour_output(tour_file.tour_of(args.tour))
    if args.link is not None:
        _alone(args, scene, "link", ("layer", "layers", "page"))
        page, query = links.page_and_query(args.link)
        return _view(page, query, args.hide)
    if name is not None:
        return _page(args, name, scene, fixed)
    if args.layers and fixed:
        _alone(args, {}, "layers", ("layer",))
        return _set([{**scene, "layer": text} for text in dict.fromkeys(args.layers)], args.hide)
    layer = args.layer or next(iter(args.layers or ()), None)
    if layer is None:
        raise NormvizError(
            'nothing to show; name a layer, such as "LayerNorm([3,4,4])", or give --layers, --page or --link.'
        )
    return _view("explore", scene | {"layer": layer}, args.hide)


def choices_of(args: argparse.Namespace, output: Output) -> Choices:
    """What a reader can choose in the file. ``output`` is its first view."""
    shapes = tuple(SCENE_SETTINGS["shape"].parse(text) for text in args.shapes.split(";") if text.strip())
    tour = output.choices.tour if output.choices else None
    return Choices(shapes, tuple(args.layers or ()), args.app, tour=tour)


def _page(args: argparse.Namespace, name: str, scene: dict[str, str], fixed: bool) -> Output:
    if name in FIGURE_PAGES:
        layer = args.layer or next(iter(args.layers or ()), None)
        own = {} if layer is None else {"layer": layer}
        if args.layers and fixed and name != "compare":
            raise NormvizError(
                "--page {name} shows one layer; name it without --layers, or use --page compare.", name=name
            )
        if args.layers and name == "compare":
            own |= {"layers": ";".join(args.layers)}
        return _view(name, scene | own | _page_settings(args), args.hide)
    if name in PAGES:
        seed = {"seed": scene.pop("seed")} if PAGES[name].uses == "seed" and "seed" in scene else {}
        _alone(args, scene, f"page {name}", ("layer", "layers"))
        return _view(name, seed | _page_settings(args), args.hide)
    if current_key(name) in QUESTIONS or name in READY_SETS:
        _alone(args, scene, f"page {name}", ("layer", "layers"))
        ready = READY_SETS.get(name)
        return _view("compare", ready.query, args.hide) if ready else _view("questions", {"q": name}, args.hide)
    known = [*PAGES, *READY_SETS]
    meant = closest(name, known)
    if meant:
        raise NormvizError("--page {name} is unknown. Did you mean {meant}?", name=echo(name), meant=meant)
    raise NormvizError(
        "--page {name} is unknown; choose {options}, or a question such as s0 or q22.",
        name=echo(name),
        options=listed(known),
    )


def _page_settings(args: argparse.Namespace) -> dict[str, str]:
    """The settings of ``--set``. Raises NormvizError for one that the page does not have."""
    known = [setting.name for setting in PAGES[args.page].settings]
    given = dict(text.partition("=")[::2] for text in args.set)
    for name in given:
        if name not in known:
            if not known:
                raise NormvizError("{page} has no settings of its own; leave out --set.", page=args.page)
            raise NormvizError(
                "{name} is not a setting of {page}; its settings are {names}.",
                name=echo(name),
                page=args.page,
                names=listed(known),
            )
    return given


def _set(queries: list[dict[str, str]], hide: str | None) -> Output:
    """One tab for each layer, with its page Explore."""
    views = [_view("explore", query, hide) for query in queries]
    titles = [FIGURE_PAGES["explore"].view(query).scene.shape_description.title for query in queries]
    tabs = Tabs(tuple((title, view.parts) for title, view in zip(titles, views, strict=True)))
    title = f"{', '.join(titles)} · normviz"
    return replace(views[0], parts=(tabs,), title=title, query=None)


def _view(page: str, query: dict[str, str], hide: str | None) -> Output:
    if hide is not None and page == "questions":
        raise NormvizError("a question is always shown whole; leave --hide out.")
    query = query if hide is None else query | {"hide": hide}
    made = links.output_of_query(page, query)
    if not any(isinstance(part, FIGURES) for part in flat(made.parts)):
        notes = [part.text for part in made.parts if isinstance(part, Note)]
        if notes:  # why there is no figure
            raise NormvizError(notes[0])
    return made


def _alone(args: argparse.Namespace, scene: dict[str, str], name: str, others: tuple[str, ...]) -> None:
    """Raise NormvizError if an argument is given that ``--name`` already determines."""
    given = [other for other in others if getattr(args, other, None)] + list(scene)
    if given:
        other = given[0] if given[0] == "layer" else f"--{given[0]}"
        raise NormvizError("--{name} determines what is shown; leave {other} out.", name=name, other=other)
