"""``normviz practice``: a set of exercises as JSON, as a page, or for a learning management system. ``normviz questions``: the list of all questions."""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from sqlite3 import Error as SqliteError
from tempfile import gettempdir
from typing import Any

from normviz.export import files, links, output
from normviz.lessons.practice.bank import choose
from normviz.lessons.practice.exercise import Exercise
from normviz.lessons.practice.formats.quiz import Item, item
from normviz.lessons.practice.page import SETTINGS
from normviz.lessons.practice.settings import ALL_LEVELS, LEVELS, RISING
from normviz.lessons.questions.page import QUESTIONS, READING_ORDER, core_place
from normviz.lessons.questions.question import Question, facts_of, prose
from normviz.parts.titles import app_of_files
from normviz.texts.errors import NormvizError, check_web_address
from normviz.texts.messages import _, plain


def write_practice(args: argparse.Namespace) -> None:
    """Write the set. Raises NormvizError for invalid arguments."""
    app = (check_web_address("--app ", args.app) or app_of_files()).rstrip("/")
    given = {setting.name: text for setting in SETTINGS if (text := getattr(args, setting.name)) is not None}
    seed, count, topics, level, forms = (
        setting.parse(given[setting.name]) if setting.name in given else setting.default for setting in SETTINGS
    )
    if level == RISING and args.format != "html":
        raise NormvizError("level=rising is for a page: write it with --format html, or choose another level.")
    if args.format == "html" and args.out is not None:
        files.check_writable(args.out)
        page = links.output_of_query("practice", {"level": ALL_LEVELS} | given)
        files.write(args.out, page.with_(choices=output.Choices(app=app)).to_html())
        files.print_size(args.out)
        return
    exercises = choose(seed, count, topics, None if level == ALL_LEVELS else int(level), forms)
    if args.out is None:
        if args.format != "json":
            raise NormvizError("--format {format} writes a file; name it with -o FILE.", format=args.format)
        print(_json(CourseSet(exercises, "", app)), end="")
        return
    files.check_writable(args.out)
    files.write(args.out, written(args.format, CourseSet(exercises, _title(seed, level), app)))
    files.print_size(args.out)


@dataclass(frozen=True)
class CourseSet:
    """A set of exercises for a file: their title, and the address of the app that their links open, or ""."""

    exercises: Sequence[Exercise]
    title: str
    app: str


def written(name: str, made: CourseSet) -> str | bytes:
    """The set in a format."""
    try:
        return FORMATS[name](made)
    except (OSError, SqliteError) as error:  # a full disk: some writers work in a temporary folder
        raise NormvizError(
            "the temporary folder {folder} cannot be written ({why}); make room there, or set TMPDIR to another folder.",
            folder=files.short_path(gettempdir()),
            why=getattr(error, "strerror", None) or error,
        ) from error


def _json(made: CourseSet) -> str:
    objects = [exercise.json() for exercise in made.exercises]
    return (
        f"{json.dumps([each | {'link': made.app + each['link']} for each in objects], indent=2, ensure_ascii=False)}\n"
    )


def _items(made: CourseSet) -> list[Item]:
    return [item(exercise, made.app) for exercise in made.exercises]


def _moodle(made: CourseSet) -> bytes:
    from normviz.lessons.practice.formats.moodle import moodle_xml

    return moodle_xml(_items(made), made.title)


def _qti(made: CourseSet) -> bytes:
    from normviz.lessons.practice.formats.qti import qti_package

    return qti_package(_items(made), made.title)


def _anki(made: CourseSet) -> bytes:
    from normviz.lessons.practice.formats.anki import anki_package

    return anki_package(_items(made), made.title)


# What writes a set in each format; the page Practice as a file is made from its link. Each imports its package when it is needed.
FORMATS: Mapping[str, Callable[[CourseSet], str | bytes]] = {
    "json": _json,
    "moodle": _moodle,
    "qti": _qti,
    "anki": _anki,
}


def _title(seed: int, level: str) -> str:
    """The name of the quiz."""
    if level == ALL_LEVELS:
        return _("normviz practice, seed {seed}", seed=seed)
    return _("normviz practice, seed {seed}, level {level}", seed=seed, level=_(LEVELS[int(level)]))


def write_questions(args: argparse.Namespace) -> None:
    """Write the questions in the order of reading."""
    files.check_writable(args.out)
    questions = [QUESTIONS[key] for key in READING_ORDER]
    if args.json:
        text = json.dumps(list(map(question_object, questions)), indent=2, ensure_ascii=False)
    else:
        text = "\n".join(f"{question.key:5}{plain(prose(question.key).title)}" for question in questions)
    files.write(args.out, f"{text}\n")
    files.print_size(args.out)


def question_object(question: Question) -> dict[str, Any]:
    """A question as JSON. The texts are Markdown."""
    text, right = prose(question.key), facts_of(question)["right"]
    return {
        "id": question.key,
        "title": text.title,
        "topic": question.topic.key,
        "core": core_place(question.key),
        "prompt": text.predict,
        "options": list(text.options.values()) or None,
        "answer": text.options[right] if text.options else right,
        "sources": [{"name": source.name, "address": source.address or None} for source in question.sources],
    }
