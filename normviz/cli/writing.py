"""``normviz export``, ``image``, ``site`` and ``plotlyjs``: the commands that write views."""

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from normviz.cli import arguments, terminal, views
from normviz.export.files import STDOUT, check_writable, print_size, short_path, write
from normviz.export.pictures import FORMATS, save
from normviz.export.scorm import read_mastery
from normviz.export.site import Entry, build, build_all, pack, scorm_files
from normviz.figures.bundle import plotly_js
from normviz.lessons.pages import PAGES
from normviz.texts.errors import NormvizError, check_web_address, listed
from normviz.texts.messages import _, format_number, ngettext


def export(args: argparse.Namespace) -> None:
    if Path(args.out).suffix.lower().removeprefix(".") in FORMATS:
        raise NormvizError(
            "{file} is not a web page; end it in .html, or use normviz image.", file=short_path(args.out)
        )
    check_writable(args.out)
    output = views.output(args, args.fixed).with_(theme=args.theme, plotlyjs=args.plotlyjs, caption=args.caption)
    if args.fixed and (args.shapes or args.app):
        raise NormvizError("--fixed gives a single view; leave --shapes and --app out.")
    check_web_address("--app ", args.app)
    if args.shapes and (args.tour is not None or PAGES[output.page].uses != "tensor"):
        raise NormvizError("the exported page has no tensor to choose; leave --shapes out.")
    if not args.fixed:
        output = replace(output, choices=views.choices(args, output))
    output = output if args.title is None else replace(output, title=args.title)
    write(args.out, output.to_html())
    print_size(args.out)
    if left_out := output.left_out:
        terminal.say(
            _(
                "the file would be too large with these controls, so it leaves them out: {labels}.",
                labels=listed(left_out, "and"),
            )
        )


def image(args: argparse.Namespace) -> None:
    check_writable(args.out)
    parts = views.output(args).parts
    options = {"theme": args.theme, "scale": args.scale, "width": args.width}
    if args.out != STDOUT:
        for path in save(parts, args.out, **options):
            print_size(path)
        return
    with TemporaryDirectory() as folder:
        first, *others = save(parts, Path(folder) / "figure.svg", **options)
        if others:
            raise NormvizError("this view has several figures; name a file for them instead of -.")
        write(STDOUT, first.read_bytes())


def site(args: argparse.Namespace) -> None:
    if args.out == STDOUT:
        raise NormvizError("a site has many files; name a directory for them instead of -.")
    packed, mastery = f"{args.out.rstrip('/') or '.'}.zip", read_mastery(args.passing)
    if mastery is not None and not args.scorm:
        raise NormvizError("--pass is for a SCORM package: add --scorm.")
    if args.scorm and args.lang == arguments.ALL:
        raise NormvizError("a SCORM package has one language; choose one with --lang.")
    if args.zip or args.scorm:
        if Path(args.out).name in ("", "..", "."):
            raise NormvizError("--zip needs a directory with a name of its own, such as site.")
        check_writable(packed)
    write_site = build_all if args.lang == arguments.ALL else build
    made = write_site(args.out, theme=args.theme, only=args.only, force=args.force, progress=_progress)
    if args.zip or args.scorm:
        pack(args.out, made, packed, scorm_files(made, args.only, mastery) if args.scorm else {})
        print_size(packed)
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
    write(args.out, plotly_js())
    print_size(args.out)


def _progress(entries: Sequence[Entry]) -> Iterable[Entry]:
    """The pages, with a progress bar on a terminal."""
    from tqdm import tqdm

    counted: Iterable[Entry] = tqdm(entries, unit="page", disable=None, leave=False)
    return counted
