"""The command: its arguments, what each sub-command does, and its exit code.

0: done; 1: a checked function differs; 2: the request is invalid or failed, and one line on stderr explains it; 130 or 143: interrupted or stopped.
"""

import argparse
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, NoReturn

from normviz.__version__ import __version__
from normviz.analysis.forward import use_one_thread
from normviz.cli import app, checking, practice, views
from normviz.cli.signals import on_signal
from normviz.export.document import CHOICES, FOLLOW
from normviz.export.files import STDOUT, check_writable, print_size, short_path, write
from normviz.export.pictures import FORMATS, save
from normviz.export.site import ALL, Entry, build, build_all, pack
from normviz.figures.bundle import plotly_js
from normviz.figures.palette import THEMES
from normviz.lessons.pages import PAGES
from normviz.texts.errors import NormvizError, NormvizWarning, echo, listed
from normviz.texts.languages import parse_language
from normviz.texts.messages import N_, _, in_language, ngettext, without_marks

WRONG, INTERRUPTED = 2, 130
ABOUT = N_("See which elements of a tensor share a mean and a variance, and which share a gamma and a beta.")


class Stopped(BaseException):
    """The process received SIGTERM."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; its exit code."""
    use_one_thread()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        with on_signal(signal.SIGTERM, _stop), warnings.catch_warnings():
            warnings.simplefilter("ignore", NormvizWarning)  # the page shows it too
            args = _parser().parse_args(_join_values(arguments))
            with in_language(_language_of(args)):
                code: int = args.run(args) or 0
            sys.stdout.flush()
    except NormvizError as error:
        return _failed(str(error), WRONG)
    except UnicodeEncodeError:
        return _failed(_("an argument is not text; write it in UTF-8."), WRONG)
    except BrokenPipeError:  # the program that reads the output, such as head, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes the rest when it exits
        return 0
    except OSError as error:
        file, reason = error.filename or _("the output"), error.strerror or error
        return _failed(_("{file}: {reason}; make room, or write to another place.", file=file, reason=reason), WRONG)
    except MemoryError:
        return _failed(_("there is not enough memory for this; give a smaller shape."), WRONG)
    except KeyboardInterrupt:
        return _failed(_("interrupted; no file is half-written."), INTERRUPTED)
    except Stopped:
        return _failed(_("stopped; no file is half-written."), 128 + signal.SIGTERM)
    return code


def _failed(message: str, code: int) -> int:
    _say(message)
    return code


def _say(message: str) -> None:
    """Print one line on stderr."""
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in " ".join(without_marks(message).split()))
    print(f"normviz: {line}", file=sys.stderr)


def _join_values(arguments: list[str]) -> list[str]:
    """``--values -1,2`` as ``--values=-1,2``: argparse would take a value that begins with a minus sign for an option."""
    if "--values" not in arguments[:-1]:
        return arguments
    at = arguments.index("--values")
    return [*arguments[:at], f"--values={arguments[at + 1]}", *arguments[at + 2 :]]


def _stop(number: int, frame: FrameType | None) -> None:
    """End the command with an exception, so that unfinished files are removed."""
    raise Stopped


class Help(argparse.HelpFormatter):
    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: str | None = None) -> None:
        super().add_usage(usage, actions, groups, _("usage: ") if prefix is None else prefix)


class Parser(argparse.ArgumentParser):
    """A parser whose own words are messages too, except in its errors."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, formatter_class=Help, add_help=False, allow_abbrev=False, **options)
        self._positionals.title, self._optionals.title = _("positional arguments"), _("options")
        self.add_argument("-h", "--help", action="help", help=_("show this help message and exit"))

    def error(self, message: str) -> NoReturn:
        raise NormvizError("{message}; {command} --help lists the arguments.", message=message, command=self.prog)


def add_theme(parser: argparse._ActionsContainer, themes: Iterable[str], default: str) -> None:
    help_text = _("default: {default}", default=default)
    parser.add_argument("--theme", choices=tuple(themes), default=default, help=help_text)


def add_language(parser: argparse._ActionsContainer, help_text: str = "") -> None:
    help_text = help_text or _("the language, such as es; default: NORMVIZ_LANG, or English")
    parser.add_argument("--lang", metavar="LANG", help=help_text)


def _parser() -> Parser:
    parser = Parser("normviz", description=_(ABOUT))
    parser.add_argument("--version", action="version", version=f"normviz {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    export = commands.add_parser("export", help=_("one HTML file that needs no server"))
    views.add_view(export)
    file = export.add_argument_group(_("the file"))
    file.add_argument(
        "-o", "--out", metavar="FILE", required=True, help=_("such as page.html; - for the standard output")
    )
    add_theme(file, CHOICES, FOLLOW)
    add_language(file)
    file.add_argument(
        "--plotlyjs",
        metavar="inline|cdn|PATH",
        default="inline",
        help=_("where plotly.js is; PATH as the page sees it"),
    )
    file.add_argument("--caption", default="", help=_("a line below the figures"))
    file.add_argument("--title", help=_("the title of the page"))
    choices = export.add_argument_group(_("what a reader can choose: every layer that takes the tensor"))
    choices.add_argument("--shapes", default="", metavar='"2,3,4,4; 5,7"', help=_("other tensors"))
    choices.add_argument(
        "--app", default="", metavar="URL", help=_("address of an app to link to for what the file cannot answer")
    )
    choices.add_argument("--fixed", action="store_true", help=_("a single view, or one tab for each of --layers"))
    export.set_defaults(run=_export)

    image = commands.add_parser("image", help=_("a picture: SVG, PNG or PDF"))
    views.add_view(image)
    picture = image.add_argument_group(_("the picture"))
    picture.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        required=True,
        help=_("ends in .svg, .png or .pdf; - for an SVG on the standard output"),
    )
    add_theme(picture, THEMES, "light")
    add_language(picture)
    picture.add_argument("--width", metavar="PIXELS", type=int, help=_("the width of the file"))
    picture.add_argument(
        "--scale", metavar="2", type=float, default=2.0, help=_("pixels of a PNG for each pixel of the figure")
    )
    image.set_defaults(run=_image)

    site = commands.add_parser("site", help=_("a static site: pages with controls, all questions and comparisons"))
    site.add_argument("out", metavar="OUT", help=_("the directory"))
    site.add_argument("--zip", action="store_true", help=_("write OUT.zip too"))
    add_theme(site, CHOICES, FOLLOW)
    add_language(site, _("the language, such as es; all: one folder for each; default: NORMVIZ_LANG, or English"))
    site.add_argument(
        "--only",
        metavar="KEY",
        nargs="+",
        default=(),
        help=_("pages, questions and ready-made sets, such as explore s0 four"),
    )
    site.add_argument("--force", action="store_true", help=_("write even if the directory has other files"))
    site.set_defaults(run=_site)

    others: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
        "practice": (_("a set of exercises: JSON, a page, Moodle, QTI, Anki"), practice.add_practice),
        "questions": (_("the list of all questions"), practice.add_questions),
        "check": (_("which normalization a function computes, and what differs"), checking.add_check),
        "norms": (_("the normalizations of a model, as a table"), checking.add_norms),
    }
    for name, (about, add_arguments) in others.items():
        command = commands.add_parser(name, help=about)
        add_arguments(command)
        add_language(command)

    app.add_app(commands.add_parser("app", help=_("the app, in the browser")))

    plotly = commands.add_parser("plotlyjs", help=_("plotly.js as a file, for --plotlyjs PATH"))
    plotly.add_argument("out", metavar="FILE", help=_("such as plotly.min.js"))
    plotly.set_defaults(run=_plotlyjs)
    return parser


def _language_of(args: argparse.Namespace) -> str:
    """The language that the arguments name; "" if they name none, or all."""
    named = getattr(args, "lang", None)
    return parse_language(named) if named and not (named == ALL and args.run is _site) else ""


def _export(args: argparse.Namespace) -> None:
    if Path(args.out).suffix.lower().removeprefix(".") in FORMATS:
        raise NormvizError(
            "{file} is not a web page; end it in .html, or use normviz image.", file=short_path(args.out)
        )
    check_writable(args.out)
    output = views.output(args, args.fixed).with_(theme=args.theme, plotlyjs=args.plotlyjs, caption=args.caption)
    if args.fixed and (args.shapes or args.app):
        raise NormvizError("--fixed gives a single view; leave --shapes and --app out.")
    if args.app and not args.app.startswith(("https://", "http://")):
        raise NormvizError(
            "--app {address} is not a web address; begin it with https:// or http://.", address=echo(args.app)
        )
    if args.shapes and (args.tour is not None or PAGES[output.page].uses != "tensor"):
        raise NormvizError("the exported page has no tensor to choose; leave --shapes out.")
    if not args.fixed:
        output = replace(output, choices=views.choices(args, output))
    output = output if args.title is None else replace(output, title=args.title)
    write(args.out, output.to_html())
    print_size(args.out)
    if left_out := output.left_out:
        _say(
            _(
                "the file would be too large with these controls, so it leaves them out: {labels}.",
                labels=listed(left_out, "and"),
            )
        )


def _image(args: argparse.Namespace) -> None:
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


def _site(args: argparse.Namespace) -> None:
    if args.out == STDOUT:
        raise NormvizError("a site has many files; name a directory for them instead of -.")
    packed = f"{args.out.rstrip('/') or '.'}.zip"
    if args.zip:
        if Path(args.out).name in ("", "..", "."):
            raise NormvizError("--zip needs a directory with a name of its own, such as site.")
        check_writable(packed)
    write_site = build_all if args.lang == ALL else build
    made = write_site(args.out, theme=args.theme, only=args.only, force=args.force, progress=_progress)
    if args.zip:
        pack(args.out, made, packed)
        print_size(packed)
    index = Path(args.out) / "index.html"
    print(
        ngettext(
            "{index}: open it, or serve the directory ({n} file)",
            "{index}: open it, or serve the directory ({n} files)",
            len(made),
            index=index,
        )
    )


def _plotlyjs(args: argparse.Namespace) -> None:
    write(args.out, plotly_js())
    print_size(args.out)


def _progress(entries: Sequence[Entry]) -> Iterable[Entry]:
    """The pages, with a progress bar on a terminal."""
    from tqdm import tqdm

    shown: Iterable[Entry] = tqdm(entries, unit="page", disable=None, leave=False)
    return shown
