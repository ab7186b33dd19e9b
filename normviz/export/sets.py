"""Sets of exercises as files: what each format writes, one set or many."""

import csv
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import StringIO
from pathlib import Path
from sqlite3 import Error as SqliteError
from tempfile import gettempdir

from normviz.export import files, links
from normviz.export.output import Choices
from normviz.export.pictures import print_pdfs
from normviz.export.scorm import scorm_package
from normviz.lessons.practice.exercise import Exercise, PracticeExercise
from normviz.lessons.practice.formats import paper, quiz
from normviz.lessons.practice.page import SETTINGS, ExerciseSet, Practice
from normviz.lessons.practice.settings import ALL_LEVELS, LEVELS
from normviz.scene.view import link
from normviz.texts.errors import NormvizError
from normviz.texts.languages import with_language
from normviz.texts.messages import _

PAPER = "paper"
LONGEST_STEM = 60  # characters of a name in the name of a file


@dataclass(frozen=True)
class PracticeSet:
    """Exercises that are handed out together.

    title      of the quiz or the page
    exercises  in their order; none in a rising set, which only the page has
    name       of the student, the version or the topic; "" if there is one set
    key        identifies the set: the ids are ``<key>-<exercise>``; "" if they are those of the exercises
    query      of the page Practice that shows the same exercises; None if no link can
    app        the address of the app for links; "" for none
    is_for_student  whether ``name`` is that of a student
    mastery    of a SCORM package, in percent
    """

    title: str
    exercises: tuple[Exercise, ...]
    name: str = ""
    key: str = ""
    query: Mapping[str, str] | None = None
    app: str = ""
    is_for_student: bool = False
    mastery: float | None = None

    def id_of(self, exercise: Exercise) -> str:
        """The id of an exercise, which no other set has."""
        return f"{self.key}-{exercise.id}" if self.key else exercise.id

    @property
    def stem(self) -> str:
        """The name of its file, without the ending."""
        name = re.sub(r"[^\w]+", "-", self.name).strip("-_")[:LONGEST_STEM].strip("-_").lower()
        return "-".join(filter(None, [name, self.key]))

    @property
    def link(self) -> str:
        """The view that shows the same exercises; "" if there is none."""
        return self.app + with_language(f"/practice{link(self.query)}") if self.query else ""

    @cached_property
    def items(self) -> list[quiz.Item]:
        """The exercises as questions of a quiz."""
        return self._items_on(quiz.COLORED)

    @cached_property
    def printed_items(self) -> list[quiz.Item]:
        """The same on paper, with pictures in black and white."""
        return self._items_on(quiz.PRINTED)

    def _items_on(self, look: quiz.Look) -> list[quiz.Item]:
        return [replace(quiz.item(one, self.app, look), id=self.id_of(one)) for one in self.exercises]

    def data(self) -> tuple[PracticeExercise, ...]:
        """The exercises for the browser."""
        return tuple(replace(one.data(), id=self.id_of(one)) for one in self.exercises)


@dataclass(frozen=True)
class Chosen(ExerciseSet):
    """``query``: the texts of the settings, as the arguments name them."""

    query: dict[str, str] = field(default_factory=dict)

    @property
    def practice_set(self) -> PracticeSet:
        """The one set that they choose."""
        if self.is_rising:
            return PracticeSet("", (), query=self.query)
        title = _("normviz practice, seed {seed}", seed=self.seed)
        if self.level is not None:
            title = _("normviz practice, seed {seed}, level {level}", seed=self.seed, level=_(LEVELS[self.level]))
        return PracticeSet(title, tuple(self.exercises()), query={"level": ALL_LEVELS} | self.query)


def chosen_set(given: Mapping[str, str], name: str) -> Chosen:
    """What the texts of the settings choose, for a file in the format of this name. Raises NormvizError for an invalid one."""
    values = {
        setting.name: setting.parse(given[setting.name]) if setting.name in given else setting.default
        for setting in SETTINGS
    }
    chosen = Chosen.of_values(values)
    if chosen.is_rising and name != "html":
        raise NormvizError("level=rising is for a page: write it with --format html, or choose another level.")
    return replace(chosen, query={**given})


@dataclass(frozen=True)
class SetFormat:
    """A format of sets.

    ending  of its files
    write   the content of a file with one set
    """

    ending: str
    write: Callable[[PracticeSet], bytes]


def _json(one: PracticeSet) -> bytes:
    objects = [exercise.json() | {"id": one.id_of(exercise)} for exercise in one.exercises]
    linked = [each | {"link": one.app + each["link"] if each["link"] else ""} for each in objects]
    return f"{json.dumps(linked, indent=2, ensure_ascii=False)}\n".encode()


def _html(one: PracticeSet) -> bytes:
    """The page of the set. If it is for one student, or no link chooses it, it has these exercises alone; otherwise all, to choose others."""
    page = links.output_of_query("practice", dict(one.query or {"level": ALL_LEVELS}))
    if one.key or not one.query:
        shown = [
            replace(part, given=one.data(), controls=False, title=one.title)
            for part in page.parts
            if isinstance(part, Practice)
        ]
        page = replace(page, parts=tuple(shown), title=one.title, view=None)
    return replace(page, choices=Choices(app=one.app)).to_html().encode()


def _moodle(one: PracticeSet) -> bytes:
    from normviz.lessons.practice.formats.moodle import moodle_xml

    return moodle_xml(one.items, one.title)


def _qti(one: PracticeSet) -> bytes:
    from normviz.lessons.practice.formats.qti import qti_package

    return qti_package(one.items, one.title)


def _anki(one: PracticeSet) -> bytes:
    from normviz.lessons.practice.formats.anki import anki_package

    return anki_package(one.items, one.title)


def _paper(one: PracticeSet) -> bytes:
    return exams([one])[""].encode()


def _scorm(one: PracticeSet) -> bytes:
    return scorm_package(one.data(), one.title, one.app, one.mastery)


# The names are those of ``cli.arguments.QUIZZES``, which has a line of help for each.
FORMATS: Mapping[str, SetFormat] = {
    "json": SetFormat("json", _json),
    "html": SetFormat("html", _html),
    "moodle": SetFormat("xml", _moodle),
    "qti": SetFormat("zip", _qti),
    "anki": SetFormat("apkg", _anki),
    "scorm": SetFormat("zip", _scorm),
    PAPER: SetFormat("html", _paper),
}


def content(name: str, one: PracticeSet) -> bytes:
    """A set in the format of this name. Raises NormvizError if the temporary folder is full."""
    try:
        return FORMATS[name].write(one)
    except (OSError, SqliteError) as error:  # the writers for learning management systems work in a temporary folder
        raise NormvizError(
            "the temporary folder {folder} cannot be written ({why}); make room there, or set TMPDIR to another folder.",
            folder=files.short_path(gettempdir()),
            why=getattr(error, "strerror", None) or error,
        ) from error


# On paper: all sets in one file, and the answers in another one.

EXAM = "exam"  # the name of the file in a folder


def exams(sets: Sequence[PracticeSet]) -> dict[str, str]:
    """The exam with these sets, and its key: HTML, by the end of the name of the file."""
    sheets = [paper.Sheet(one.name, one.key, one.is_for_student, one.printed_items) for one in sets]
    return {"": paper.exam(sheets), "-key": paper.key(sheets)}


def write_exam(stem: Path, sets: Sequence[PracticeSet], pdf: str = "") -> list[Path]:
    """Write the exam and its key, ``stem`` and ``stem``-key; returns the files. ``pdf``: also as PDF, on "a4" or "letter"."""
    pages = [*exams(sets).values()]
    contents = [html.encode() for html in pages] + (print_pdfs(pages, pdf) if pdf else [])
    written = [stem.with_name(name) for name in exam_names(stem.name, pdf)]
    for path, one in zip(written, contents, strict=True):
        files.write(path, one)
    return written


def exam_names(stem: str, pdf: str) -> list[str]:
    """The names of the files of an exam."""
    return [f"{stem}{end}{ending}" for ending in (".html", *([".pdf"] if pdf else ())) for end in ("", "-key")]


# Many sets in one folder.


def write_sets(
    folder: str, name: str, sets: Sequence[PracticeSet], has_lists: bool = True, pdf: str = ""
) -> list[Path]:
    """Write each set to a file of its own in a folder, which is made, or all to an exam; returns the files.

    has_lists  whether there are ``links.csv`` and ``answers.csv``, too, with a row for each set
    pdf        for paper: also as PDF, on "a4" or "letter"

    Raises NormvizError if the folder has other files: they may be sets from another key.
    """
    is_exam = name == PAPER
    own = [f"{EXAM if is_exam else one.stem}.{FORMATS[name].ending}" for one in sets]
    place = _folder_for(folder, [*(exam_names(EXAM, pdf) if is_exam else own), *(LISTS if has_lists else ())])
    if is_exam:
        written = write_exam(place / EXAM, sets, pdf)
    else:
        contents = [content(name, one) for one in sets]  # all, before any is written: one may be refused
        written = [place / file for file in own]
        for path, made in zip(written, contents, strict=True):
            files.write(path, made)
    for file, rows in zip(LISTS, (_links(own, sets), _answers(sets, is_exam)), strict=True) if has_lists else ():
        files.write(place / file, _csv(rows))
        written.append(place / file)
    return written


LISTS = ("links.csv", "answers.csv")
FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # with which a formula begins


def _folder_for(folder: str, names: Collection[str]) -> Path:
    place = Path(folder)
    with files.path_errors(folder):
        if place.exists() and not place.is_dir():
            raise NormvizError("{path} is a file; name a directory.", path=files.short_path(place))
        if not place.exists():
            files.check_folder(place.parent)
            place.mkdir()
        files.check_folder(place)
        if other := next((one.name for one in sorted(place.iterdir()) if one.name not in names), None):
            raise NormvizError(
                "{folder} has other files, such as {file}, maybe of sets from another key; name a new directory.",
                folder=files.short_path(place),
                file=files.short_path(other),
            )
    return place


def _links(own: Sequence[str], sets: Sequence[PracticeSet]) -> Iterator[list[str]]:
    yield ["name", "set", "file", "link"]
    for file, one in zip(own, sets, strict=True):
        yield [one.name, one.key, file, one.link]


def _answers(sets: Sequence[PracticeSet], is_exam: bool) -> Iterator[list[str]]:
    """The sheet with the answers: a row for each set, a column for each exercise."""
    yield ["name", "set", *(str(n + 1) for n in range(max(len(one.exercises) for one in sets)))]
    for one in sets:
        answers = map(paper.right_answer, one.printed_items) if is_exam else map(_all_answers, one.exercises, one.items)
        yield [one.name, one.key, *answers]


def _all_answers(exercise: Exercise, item: quiz.Item) -> str:
    """The right answer; of an exercise with several, all."""
    return " / ".join(exercise.json()["accepted"] or [item.answer])


def _csv(rows: Iterable[Sequence[str]]) -> bytes:
    """A CSV file (RFC 4180). It begins with a byte order mark: without one, Excel would not read it as UTF-8."""
    text = StringIO(newline="")
    csv.writer(text).writerows(map(_plain, row) for row in rows)
    return text.getvalue().encode("utf-8-sig")


def _plain(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula: an apostrophe comes before its first sign, as OWASP advises. A number is none.

    >>> _plain("=1+2"), _plain("-Ana"), _plain("-0.71"), _plain("Ana")
    ("'=1+2", "'-Ana", '-0.71', 'Ana')
    """
    is_number = re.fullmatch(r"[-−+]?[\d.,]+", cell)
    return f"'{cell}" if cell.startswith(FORMULA) and not is_number else cell
