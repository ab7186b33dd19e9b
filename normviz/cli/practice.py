"""``normviz practice``: a set of exercises as JSON, as a page, or for a learning management system. ``normviz questions``: the list of all questions."""

import argparse
import json
import re
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from tempfile import mkdtemp
from typing import Any

from normviz.cli import terminal
from normviz.export import files, pictures, scorm
from normviz.export.sets import PAPER, Chosen, PracticeSet, chosen_set, content, write_exam, write_sets
from normviz.lessons.practice.bank import bank
from normviz.lessons.practice.exercise import Exercise
from normviz.lessons.practice.own import OwnSet, read_files
from normviz.lessons.practice.page import SETTINGS
from normviz.lessons.practice.roster import KEY, read_roster, seed_of, student_sets
from normviz.lessons.practice.settings import ALL_LEVELS, FORMS, LEVELS
from normviz.lessons.questions.page import ASKING, QUESTIONS, READING_ORDER, core_place, current_key, questions_of_page
from normviz.lessons.questions.question import TOPICS, Question, facts_of, prose
from normviz.lessons.questions.quiqui import quiqui_yaml
from normviz.parts.titles import app_of_files
from normviz.texts.errors import NormvizError, check_web_address, echo
from normviz.texts.marked import read_content
from normviz.texts.messages import _, format_number, ngettext, plain

SLOW_TO_PRINT = 50  # sheets


def write_practice(args: argparse.Namespace) -> None:
    """Write the set, a set for each student or version, or the bank. Raises NormvizError for invalid arguments."""
    app = (check_web_address("--app ", args.app) or app_of_files()).rstrip("/")
    given = {setting.name: text for setting in SETTINGS if (text := getattr(args, setting.name)) is not None}
    chosen, mastery = chosen_set(given, args.format), scorm.read_mastery(args.passing)
    if mastery is not None and args.format != "scorm":
        raise NormvizError("--pass is for a SCORM package: write it with --format scorm.")
    if args.pdf:
        if args.format != PAPER:
            raise NormvizError("--pdf is for --format paper; leave it out.")
        pictures.checked_browser()
    many = {"roster": args.roster is not None, "versions": args.versions is not None, "all": args.all}
    named = [name for name, is_given in many.items() if is_given]
    if len(named) > 1:
        raise NormvizError("give only one of --roster, --versions and --all.")
    if args.key is not None and named not in (["roster"], ["versions"]):
        raise NormvizError("--key is for the sets of --roster or --versions; leave it out.")
    own = read_files(args.add)
    if args.preview:
        return _preview(own, app)
    if not named:
        one = chosen.practice_set if chosen.query or not own else PracticeSet("", ())
        _write_one(args, with_own(replace(one, app=app, mastery=mastery), own))
    elif args.out in (None, files.STDOUT):
        raise NormvizError("--{option} writes many files; name a directory with -o DIRECTORY.", option=named[0])
    elif args.all:
        _write_bank(args, chosen, app, mastery, own)
    else:
        _write_for_each(args, chosen, app, mastery, own)


def with_own(one: PracticeSet, own: Sequence[OwnSet]) -> PracticeSet:
    """The set with a teacher's own questions before its exercises. No link of the app can show it then."""
    if not own:
        return one
    title = one.title if one.key or len(own) > 1 else own[0].title
    questions = tuple(question for each in own for question in each.exercises)
    return replace(one, title=title or own[0].title, exercises=(*questions, *one.exercises), query=None)


def _preview(own: Sequence[OwnSet], app: str) -> None:
    """Show the questions as a page, in the browser."""
    if not own:
        raise NormvizError("--preview shows the questions of --add FILE; name a file.")
    file = Path(mkdtemp(prefix="normviz-")) / "preview.html"
    files.write(file, content("html", with_own(PracticeSet("", (), app=app), own)))
    print(file)
    webbrowser.open(file.as_uri())


def _write_one(args: argparse.Namespace, one: PracticeSet) -> None:
    if args.out is None:
        if args.format != "json":
            raise NormvizError("--format {format} writes a file; name it with -o FILE.", format=args.format)
        print(content("json", one).decode(), end="")
        return
    if args.format == PAPER:
        if args.out == files.STDOUT:
            raise NormvizError("--format paper writes two files; name one for the exam with -o FILE.")
        files.check_writable(args.out)
        for file in write_exam(Path(re.sub(r"\.(html?|pdf)$", "", args.out)), [one], args.pdf):
            files.print_size(file)
        return
    files.check_writable(args.out)
    files.write(args.out, content(args.format, one))
    files.print_size(args.out)


def _write_for_each(
    args: argparse.Namespace, chosen: Chosen, app: str, mastery: float | None, own: Sequence[OwnSet]
) -> None:
    """Write a parallel set for each student of the roster, or for each version."""
    if "seed" in chosen.query:
        raise NormvizError("--seed chooses one set; --key chooses those of a roster or of versions.")
    if chosen.is_rising:
        raise NormvizError("level=rising is for one page; choose another level for sets that are parallel.")
    names = _names(args)
    key = KEY if args.key is None else args.key
    mixture = seed_of(key) if chosen.mixture is None else chosen.mixture
    forms = chosen.forms or tuple(FORMS)
    found = student_sets(names, key, chosen.count, chosen.topics, chosen.level, forms, mixture)
    shared = {"count": str(chosen.count), "level": ALL_LEVELS} | chosen.query
    shared |= {"kinds": ",".join(forms), "mixture": str(mixture)}
    shown = [
        PracticeSet(
            _("normviz practice, {name}", name=one.name),
            one.exercises,
            one.name,
            one.key,
            {"seed": str(one.seed)} | shared,
            app,
            is_for_student=args.roster is not None,
            mastery=mastery,
        )
        for one in found
    ]
    sets = [with_own(one, own) for one in shown]
    if args.pdf and len(sets) >= SLOW_TO_PRINT:
        terminal.say(
            _("the sheets and the key are being printed as PDF; for some hundred sheets this can take minutes.")
        )
    _print_sizes(args.out, write_sets(args.out, args.format, sets, pdf=args.pdf), len(sets))
    if args.key is None:
        terminal.say(_("these sets come from the fixed key {key}; with --key WORDS, others cannot make them.", key=KEY))


def _names(args: argparse.Namespace) -> list[str]:
    """The names of the students, or of the versions."""
    if args.versions is not None:
        if not 1 <= args.versions <= len(ascii_uppercase):
            raise NormvizError("--versions {n} must be from 1 to {most}.", n=args.versions, most=len(ascii_uppercase))
        return [_("Version {letter}", letter=letter) for letter in ascii_uppercase[: args.versions]]
    file = files.short_path(args.roster)
    try:
        roster = read_content(Path(args.roster))
    except (OSError, ValueError) as error:
        raise NormvizError(
            "the roster {file} cannot be read ({why}); name another file.", file=file, why=error
        ) from None
    return read_roster(roster, file)


def _write_bank(
    args: argparse.Namespace, chosen: Chosen, app: str, mastery: float | None, own: Sequence[OwnSet]
) -> None:
    """Write the exercises of the bank with these topics, levels and kinds: a file for each topic and level."""
    if named := [name for name in ("seed", "count", "mixture") if name in chosen.query]:
        raise NormvizError("--all takes all exercises; leave --{name} out.", name=named[0])
    topics = {topic.key: topic for topic in TOPICS}
    grouped: dict[tuple[str, int], list[Exercise]] = {}
    for one in bank():
        is_asked = one.about.topic in (chosen.topics or topics) and one.about.form in (chosen.forms or FORMS)
        if is_asked and chosen.level in (None, one.level):
            grouped.setdefault((one.about.topic, one.level), []).append(one)
    sets = [
        PracticeSet(
            _("normviz, {topic}, level {level}", topic=topics[topic].title, level=_(LEVELS[level])),
            tuple(exercises),
            f"{topic} {level}",
            app=app,
            mastery=mastery,
        )
        for (topic, level), exercises in sorted(grouped.items())
    ]
    sets += [PracticeSet(each.title, each.exercises, f"own {each.title}", app=app, mastery=mastery) for each in own]
    if not sets:
        raise NormvizError("no exercise is of these topics, of this level and of these kinds; leave one of them out.")
    _print_sizes(args.out, write_sets(args.out, args.format, sets, has_lists=False, pdf=args.pdf), len(sets))


def _print_sizes(folder: str, written: Sequence[Path], count: int) -> None:
    size = sum(file.stat().st_size for file in written) / 1e6
    print(
        ngettext(
            "{folder}: {n} set, {size} MB", "{folder}: {n} sets, {size} MB", count, folder=folder, size=format_number(size, 2)
        )
    )  # fmt: skip


def write_questions(args: argparse.Namespace) -> None:
    """Write the questions in the order of reading."""
    files.check_writable(args.out)
    questions = _questions_of(args.only)
    if args.format == "quiqui":
        text = quiqui_yaml(questions)
        if left := sum(not prose(question.key).options for question in questions):
            terminal.say(
                ngettext(
                    "{n} question asks for a number and is left out: QuiQui counts options, and the question has no wrong numbers to choose from. Show it with present=true.",
                    "{n} questions ask for a number and are left out: QuiQui counts options, and the questions have no wrong numbers to choose from. Show them with present=true.",
                    left,
                )
            )
    elif args.format == "json":
        text = f"{json.dumps(list(map(question_object, questions)), indent=2, ensure_ascii=False)}\n"
    else:
        text = "".join(f"{question.key:5}{plain(prose(question.key).title)}\n" for question in questions)
    files.write(args.out, text)
    files.print_size(args.out)


def _questions_of(only: Sequence[str]) -> list[Question]:
    """The questions with these keys and of these pages; all of them without a key."""
    chosen = {} if only else QUESTIONS
    for key in only:
        of_page = questions_of_page(ASKING[key]) if key in ASKING else []
        found = of_page or [QUESTIONS[one] for one in [current_key(key)] if one in QUESTIONS]
        if not found:
            raise NormvizError("--only: {key} is neither a question nor a page with questions.", key=echo(key))
        chosen |= {one.key: one for one in found}
    return [QUESTIONS[key] for key in READING_ORDER if key in chosen]


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
