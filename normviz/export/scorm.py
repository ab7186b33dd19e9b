"""SCORM 1.2 packages, for Moodle, Canvas, Blackboard, Open edX and ILIAS: a set of exercises alone, or with a site around it.

``normviz/lessons/practice/scorm.ts`` speaks with the course. The standard is ADL's SCORM 1.2, of which ``manifest`` follows the content
packaging; https://scorm.com/scorm-explained/technical-scorm/run-time/run-time-reference/ lists the limits of the run-time.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from io import BytesIO
from math import ceil, prod

from normviz.export.document import document
from normviz.export.files import write_zip
from normviz.lessons.practice.exercise import PracticeExercise
from normviz.lessons.practice.page import ExerciseSet, Practice, PracticeCourse
from normviz.lessons.practice.settings import BUILD, CHOICE, MARK
from normviz.parts.html import escape
from normviz.texts.errors import NormvizError, echo

MANIFEST, INDEX = "imsmanifest.xml", "index.html"
MOST_STATE = 4096  # characters of cmi.suspend_data
HEAD = 13  # characters of the state before the exercises
NUMBER_WIDTH = 11  # of a number of 64 bits


def scorm_package(
    exercises: Sequence[PracticeExercise], title: str, app: str = "", mastery: float | None = None
) -> bytes:
    """A zip with the exercises as one page. ``app``: the address of the app that its links open, or "".

    mastery  the least score, in percent, of a set that is passed; None: a set that is done is completed

    Raises NormvizError if a course cannot keep the answers.
    """
    page = exercise_page(exercises, title, app, mastery)
    contents = {MANIFEST: manifest(title, [CoursePage(INDEX, title, is_scored=True)], (), mastery), INDEX: page}
    packed = BytesIO()
    write_zip(packed, ((name, text.encode()) for name, text in contents.items()))
    return packed.getvalue()


def read_mastery(share: str | None) -> float | None:
    """A share such as "0.8" in percent. Raises NormvizError if it is none.

    >>> read_mastery("0.8")
    80.0
    """
    if share is None:
        return None
    number = float(share) if re.fullmatch(r"\d*\.?\d+", share) else 0
    if not 0 < number <= 1:
        raise NormvizError("--pass {share} must be a number above 0 and at most 1, such as 0.8.", share=echo(share))
    return max(0.01, round(100 * number, 2))  # as the score


def exercise_page(
    exercises: Sequence[PracticeExercise],
    title: str,
    app: str = "",
    mastery: float | None = None,
    pages: Mapping[str, str] | None = None,
) -> str:
    """The exercises as a file that reports to the course around it, if there is one. Raises NormvizError like ``scorm_package``.

    pages  the addresses of pages next to the file, by their link in the app
    """
    check_state(exercises, title)
    chosen = ExerciseSet(0, len(exercises), (), None)
    part = Practice(chosen, controls=False, given=tuple(exercises), course=PracticeCourse(mastery))
    return document([part], title=title, app=app, pages=pages or {})


def state_size(exercise: PracticeExercise) -> int:
    """The most characters that the answers to an exercise take in the state: its number of tries, and two answers (``scorm.ts``)."""
    shape = exercise.shape
    width = {CHOICE: 1, BUILD: len(shape), MARK: ceil(prod(shape) / 6)}.get(exercise.form, NUMBER_WIDTH)
    return 1 + 2 * width


def check_state(exercises: Sequence[PracticeExercise], title: str) -> None:
    """Raise NormvizError unless every possible state of the set fits."""
    sizes = [state_size(one) for one in exercises]
    size = HEAD + sum(sizes)
    if size > MOST_STATE:
        fitting = next(n for n in range(len(sizes), -1, -1) if HEAD + sum(sizes[:n]) <= MOST_STATE)
        raise NormvizError(
            "a SCORM 1.2 course keeps the answers of a student in a text whose length is at most {most}, and the set {title} can need {size}. Choose fewer exercises: the first {fitting} of its {count} fit.",
            most=MOST_STATE,
            title=echo(title),
            size=size,
            fitting=fitting,
            count=len(sizes),
        )


# The manifest.

COMMON = "common"  # the resource of the files that several pages use
NAMESPACES = (
    'xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2" xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2"'
)
METADATA = "<metadata><schema>ADL SCORM</schema><schemaversion>1.2</schemaversion></metadata>"


@dataclass(frozen=True)
class CoursePage:
    """A page of a course. ``is_scored``: it reports a score."""

    file: str
    title: str
    is_scored: bool = False


def manifest(title: str, items: Sequence[CoursePage], common: Sequence[str], mastery: float | None) -> str:
    """The manifest of a package. ``common``: the files besides those of the items."""
    name = sha256("\n".join([title, *(item.file for item in items)]).encode()).hexdigest()[:12]
    listed = "\n".join(_item(number, item, mastery) for number, item in enumerate(items, 1))
    resources = "\n".join(_resource(number, item, bool(common)) for number, item in enumerate(items, 1))
    files = "".join(f'<file href="{escape(file)}"/>' for file in common)
    shared = (
        f'\n<resource identifier="{COMMON}" type="webcontent" adlcp:scormtype="asset">{files}</resource>'
        if common
        else ""
    )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<manifest identifier="normviz-{name}" version="1.0" {NAMESPACES}>\n{METADATA}\n'
        f'<organizations default="course"><organization identifier="course"><title>{escape(title)}</title>\n{listed}\n</organization></organizations>\n'
        f"<resources>\n{resources}{shared}\n</resources>\n</manifest>\n"
    )


def _item(number: int, item: CoursePage, mastery: float | None) -> str:
    passed = f"<adlcp:masteryscore>{mastery:g}</adlcp:masteryscore>" if item.is_scored and mastery is not None else ""
    return f'<item identifier="item{number}" identifierref="page{number}"><title>{escape(item.title)}</title>{passed}</item>'


def _resource(number: int, item: CoursePage, has_common: bool) -> str:
    kind = "sco" if item.is_scored else "asset"
    needs = f'<dependency identifierref="{COMMON}"/>' if has_common else ""
    return (
        f'<resource identifier="page{number}" type="webcontent" adlcp:scormtype="{kind}" href="{escape(item.file)}">'
        f'<file href="{escape(item.file)}"/>{needs}</resource>'
    )
