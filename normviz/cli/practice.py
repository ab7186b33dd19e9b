"""``normviz practice``: a set of exercises as JSON, as a page, or for a learning management system."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from os import environ

from normviz.export.files import check_writable, write
from normviz.export.links import output_of_query
from normviz.export.output import APP, Choices
from normviz.layers.errors import NormvizError
from normviz.layers.messages import N_, _
from normviz.lessons.practice.bank import check_topics, choose
from normviz.lessons.practice.exercise import Exercise
from normviz.lessons.practice.formats.quiz import item
from normviz.lessons.practice.kinds import TOPICS

FORMATS: Mapping[str, str] = {
    "json": N_("one object for each exercise"),
    "html": N_("the page Practice as one file"),
    "moodle": N_("Moodle XML"),
    "qti": N_("a QTI 1.2 package, for Canvas and others"),
    "anki": N_("an Anki package"),
}


def add_practice(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    chosen = parser.add_argument_group(_("the exercises; the same arguments give the same set"))
    chosen.add_argument("--seed", metavar="7", type=int, default=0, help=_("chooses the set; default: 0"))
    chosen.add_argument("--count", metavar="10", type=int, default=10, help=_("the number of exercises; default: 10"))
    chosen.add_argument(
        "--topics", metavar="TOPIC,TOPIC", default="", help=_("some of {topics}", topics=",".join(TOPICS))
    )
    chosen.add_argument(
        "--level", metavar="1", type=int, help=_("1: tables; 2: sequences and images; 3: groups and odd shapes")
    )
    file = parser.add_argument_group(_("the file"))
    file.add_argument("--format", choices=tuple(FORMATS), default="json", help=_("default: json"))
    file.add_argument("-o", "--out", metavar="FILE", help=_("without it, JSON is printed"))
    file.add_argument("--app", default="", metavar="URL", help=_("the app that links open; default: NORMVIZ_URL"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Write the set."""
    app = (args.app or environ.get(APP, "")).rstrip("/")
    topics = check_topics([topic.strip() for topic in args.topics.split(",") if topic.strip()])
    exercises = choose(args.seed, args.count, topics, args.level)
    if args.out is None:
        if args.format != "json":
            raise NormvizError(_("--format {format} writes a file; name it with -o FILE.", format=args.format))
        print(_json(exercises, app))
        return
    check_writable(args.out)
    if args.format == "json":
        write(args.out, _json(exercises, app) + "\n")
    elif args.format == "html":
        page = output_of_query("practice", _query(args, topics))
        write(args.out, page.with_(choices=Choices(app=app)).to_html())
    else:
        write(args.out, _package(args.format, exercises, _title(args), app))


def _json(exercises: list[Exercise], app: str) -> str:
    objects = [exercise.json() for exercise in exercises]
    return json.dumps([each | {"link": app + each["link"]} for each in objects], indent=2, ensure_ascii=False)


def _query(args: argparse.Namespace, topics: tuple[str, ...]) -> dict[str, str]:
    """The query of the page Practice with this set."""
    given = {"seed": args.seed, "count": args.count, "topics": ",".join(topics), "level": args.level}
    return {name: str(value) for name, value in given.items() if value not in ("", None)}


def _package(name: str, exercises: list[Exercise], title: str, app: str) -> bytes:
    """The set for a learning management system. Raises NormvizError if the package that writes it is not installed."""
    try:
        made = _writers()[name]
    except ModuleNotFoundError as error:
        raise NormvizError(
            _(
                '--format {format} needs {module}, which is not installed; run pip install "normviz[practice]".',
                format=name,
                module=error.name,
            )
        ) from error
    return made([item(exercise, app) for exercise in exercises], title)


def _writers() -> Mapping[str, Callable[..., bytes]]:
    from normviz.lessons.practice.formats.anki import anki_package
    from normviz.lessons.practice.formats.moodle import moodle_xml
    from normviz.lessons.practice.formats.qti import qti_package

    return {"anki": anki_package, "moodle": moodle_xml, "qti": qti_package}


def _title(args: argparse.Namespace) -> str:
    """The name of the quiz."""
    if args.level is None:
        return _("normviz practice, seed {seed}", seed=args.seed)
    return _("normviz practice, seed {seed}, level {level}", seed=args.seed, level=args.level)
