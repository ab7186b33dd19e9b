"""The page of practice: a set of exercises, which the browser shows one at a time."""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from gzip import compress
from typing import Any, ClassVar, Self

from normviz.analysis.checks import SEEDS
from normviz.figures.wire import Payload, left_out, sent
from normviz.lessons.page import Page, Plan
from normviz.lessons.practice.bank import IndexEntry, bank, choose, index
from normviz.lessons.practice.confusions import CONFUSIONS
from normviz.lessons.practice.exercise import Exercise, PracticeExercise
from normviz.lessons.practice.own import content_set
from normviz.lessons.practice.settings import ALL_LEVELS, CHOICE, FIRST_FORMS, FORMS, LEVELS, OF_SET, RISING
from normviz.lessons.questions.page import QUESTIONS
from normviz.lessons.questions.question import prose
from normviz.lessons.start.page import LESSON_STEPS
from normviz.parts.html import Body, escape, glossary
from normviz.parts.part import Hides, Part
from normviz.parts.titles import LEARN, TITLES
from normviz.scene.scene import SEED
from normviz.scene.setting import Number, Segments, Setting, Several, choice, text
from normviz.scene.view import View
from normviz.texts.errors import NormvizError
from normviz.texts.messages import N_, _, language

POOL = 60  # exercises of each level from which the app takes those of a rising set
SETTINGS = (SEED, *OF_SET)  # what chooses a set of exercises
TIME = choice(
    "time",
    {"false": N_("no"), "true": N_("yes")},
    hide="exercises",
    applies=lambda view: view.settings["time"] == "true",
).described(N_("Show the time"), N_("whether the reader sees the time: true or false"), "true")

OWN_SET = text("content", 100, hide="exercises").described(
    "", N_("a teacher's own questions, by the name of their file in the folder that the app reads"), "week3"
)

# The confusions that a step of Start here clears up.
SHOWN_BY_STEP = {
    "numbers": ("unbiased",),
    "batchnorm": (
        "exchanged", "whole_tensor", "each_element", "means_for_elements", "elements_for_means",
    ),
    "layernorm": ("batchnorm",),
    "affine": ("only_gammas",),
    "gammas": ("kept_gamma", "gamma_per_mean", "gamma_per_channel", "averaged_gamma", "one_gamma", "gamma_with_batch"),
    "eval": ("eval_uses_batch", "train_uses_running", "eval_updates", "train_keeps", "per_example_runs", "per_example_stores"),
    "pixels": ("position", "dim_zero"),
    "images": ("example", "sequence", "instancenorm", "channels_only"),
}  # fmt: skip


@dataclass(frozen=True)
class ExerciseSet:
    """Which exercises are drawn: the seed, their number, their topics (empty: all), their level (None: all), and how they are answered.

    mixture    the number that parallel sets share, if it is one of them
    is_rising  the browser chooses them one by one, as the reader answers, from ``pool``
    """

    seed: int
    count: int
    topics: tuple[str, ...]
    level: int | None
    forms: tuple[str, ...] = ()
    mixture: int | None = None
    is_rising: bool = False

    @classmethod
    def of(cls, view: View) -> Self:
        """The set that the settings of a view choose."""
        return cls.of_values({**view.settings, "seed": view.scene.seed})

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> Self:
        """The set of the values of the settings, by their names."""
        level = values["level"]
        return cls(
            values["seed"],
            values["count"],
            values["topics"],
            None if level in (ALL_LEVELS, RISING) else int(level),
            values["kinds"],
            values["mixture"],
            level == RISING,
        )

    @property
    def values(self) -> tuple[Any, ...]:
        """Of the settings, in their order."""
        level = RISING if self.is_rising else self.level or ALL_LEVELS
        return self.seed, self.count, self.topics, level, self.forms, self.mixture

    def exercises(self) -> list[Exercise]:
        """The exercises of the set. The exercises of a rising set are not known before."""
        if self.is_rising:
            return []
        return choose(self.seed, self.count, self.topics, self.level, self.forms, self.mixture)

    def pool(self) -> list[Exercise]:
        """From which the exercises of a rising set are taken."""
        return [
            one for level in LEVELS for one in choose(self.seed, POOL, self.topics, level, self.forms or tuple(FORMS))
        ]


@dataclass(frozen=True)
class PracticeSetting(Payload):
    """A setting of a set: a whole number, one of the options, or several of them; each option with its text.

    optional  whether a set may have no number
    unnamed   the options that a set has which names none
    """

    label: str
    low: int | None = left_out(None)
    high: int | None = left_out(None)
    optional: bool = left_out(False)
    several: bool = left_out(False)
    unnamed: tuple[str, ...] | None = left_out(None)
    options: list[tuple[str, str]] | None = left_out(None)


@dataclass(frozen=True)
class PracticeConfusion(Payload):
    """A documented confusion: "That is {name}.", what is true (with placeholders for the tensor), and the question to read with its title.

    step  the number and the title of a step of Start here
    """

    name: str
    sentence: str
    question: str
    title: str
    step: tuple[int, str] | None


@dataclass(frozen=True)
class PracticeCourse(Payload):
    """A course that keeps the score. ``mastery``: the least score, in percent, of a set that is passed; None: each set that is done is completed."""

    mastery: float | None


@dataclass(frozen=True)
class PracticeData(Payload):
    """The data of the page of practice.

    set        of the page: the value of each setting, as a link has it
    levels     the name of each level
    served     a server chooses the exercises of another set
    controls   the reader may change the set
    title      of exercises that no setting chooses
    app        its address, "" in the app itself; null: there is no app
    pages      the addresses of pages next to the document, by their link in the app
    scorm      the page is an object of a course
    """

    set: dict[str, str]
    settings: dict[str, PracticeSetting]
    exercises: list[PracticeExercise]
    levels: dict[int, str]
    served: bool
    confusions: dict[str, PracticeConfusion]
    timed: bool
    controls: bool
    app: str | None
    pages: Mapping[str, str]
    scorm: PracticeCourse | None = left_out(None)
    title: str = left_out("")


@dataclass(frozen=True)
class Practice(Part):
    """A set of exercises. ``practice.ts`` shows one at a time, checks the answers, and ends with a summary.

    given     the exercises, if ``chosen`` does not choose them: then the reader cannot choose others
    title     of the given exercises
    timed     whether the reader sees the time
    controls  whether the reader may choose other exercises
    course    keeps the score, if the page is an object of one
    """

    chosen: ExerciseSet
    timed: bool = False
    controls: bool = True
    given: tuple[PracticeExercise, ...] = ()
    course: PracticeCourse | None = None
    title: str = ""
    name: ClassVar[str] = ""

    @property
    def names(self) -> frozenset[str]:
        return frozenset({"exercises", *({"time"} if self.timed else ())})

    def html(self, body: Body) -> str:
        body.exercises = True
        carries = body.carries and not self.given
        if carries:  # the reader may choose other exercises
            body.words |= {word.name: word for word in glossary()}
        pool = self.chosen.pool() if self.chosen.is_rising and not body.carries else []
        values = PracticeData(
            set={one.name: one.format(value) for one, value in zip(SETTINGS, self.chosen.values, strict=True)},
            settings={one.name: _entries(one) for one in SETTINGS},
            exercises=list(self.given) or [one.data() for one in self.chosen.exercises()],
            levels={level: _(name) for level, name in LEVELS.items()},
            served=not body.carries,
            confusions=_confusions(),
            timed=self.timed,
            controls=self.controls,
            app=body.app,
            pages=body.pages,
            scorm=self.course,
            title=self.title,
        )
        packed = _packed_bank(language.get()) if carries else _packed(pool, _entries_of(pool)) if pool else ""
        carried = f'<script type="text/plain" class="nv-bank">{packed}</script>' if packed else ""
        unstyled = escape(_("The exercises need JavaScript. In a notebook that is not trusted yet, run the cell."))
        return (
            f'<div class="nv-practice" data-practice="{escape(json.dumps(sent(values), ensure_ascii=False))}">{carried}'
            f'<div class="nv-unstyled"><p>{unstyled}</p></div></div>'
        )

    def plain_text(self) -> str:
        if self.given:
            return "\n".join(f"{number}. {one.prompt}" for number, one in enumerate(self.given, 1))
        lines = []
        first = replace(self.chosen, is_rising=False, level=1) if self.chosen.is_rising else self.chosen
        for number, one in enumerate(first.exercises(), 1):
            options = (
                [f"   - {one.text_of(value)}" for _confusion, value in one.choices] if one.about.form == CHOICE else []
            )
            lines += [f"{number}. {one.prompt}", *options]
        return "\n".join(lines)

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        controls = self.controls and not hides(self, "exercises")
        return (replace(self, timed=self.timed and not hides(self, "time"), controls=controls),)


def view_parts(view: View) -> Iterator[Part]:
    settings = view.settings
    if settings["content"]:
        found = content_set(settings["content"])
        given = tuple(one.data() for one in found.exercises)
        yield Practice(
            ExerciseSet(0, len(given), (), None), settings["time"] == "true", False, given, title=found.title
        )
        return
    yield Practice(ExerciseSet.of(view), timed=settings["time"] == "true")


def _entries(setting: Setting) -> PracticeSetting:
    """What a reader can enter for a setting: a number, some topics, or one of the options."""
    label = _(setting.label)
    if setting is SEED:  # its own control takes any number, for the error message
        return PracticeSetting(label, SEEDS[0], SEEDS[-1])
    if isinstance(setting.widget, Number):
        return PracticeSetting(label, setting.widget.low, setting.widget.high, optional=setting.default is None)
    if isinstance(setting.widget, Several):
        titles = {question.topic.key: question.topic.title for question in QUESTIONS.values()}
        titles |= {form: _(name) for form, name in FORMS.items()}
        unnamed = FIRST_FORMS if setting.name == "kinds" else setting.widget.options
        options = [(key, titles[key]) for key in setting.widget.options]
        return PracticeSetting(label, several=True, unnamed=tuple(unnamed), options=options)
    assert isinstance(setting.widget, Segments)
    return PracticeSetting(label, options=[(key, _(label)) for key, label in setting.widget.options.items()])


def _confusions() -> dict[str, PracticeConfusion]:
    """All confusions, because a reader's progress may name any; ``step`` of Start here shows what is true."""
    steps = {
        key: (number, step.prose.title)
        for number, step in enumerate(LESSON_STEPS, 1)
        for key in SHOWN_BY_STEP.get(step.key, ())
    }
    return {
        key: PracticeConfusion(
            _(CONFUSIONS[key].name),
            _(CONFUSIONS[key].sentence),
            CONFUSIONS[key].question if CONFUSIONS[key].question in QUESTIONS else "",
            prose(CONFUSIONS[key].question).title,
            steps.get(key),
        )
        for key in CONFUSIONS
    }


@cache
def _packed_bank(_language: str) -> str:
    """All exercises in this language: a file chooses from them."""
    return _packed(bank(), index())


def _entries_of(exercises: list[Exercise]) -> list[IndexEntry]:
    """What a choice needs of these exercises."""
    return [IndexEntry(one.kind, one.case.family, one.level, one.about.topic, one.about.form) for one in exercises]


def _packed(exercises: list[Exercise], entries: list[IndexEntry]) -> str:
    """Exercises, compressed."""
    values: dict[str, Any] = {"index": entries, "exercises": [sent(one.data()) for one in exercises]}
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return b64encode(compress(text.encode(), 9, mtime=0)).decode()


class PracticePage(Page):
    """The page."""

    def problem(self, view: View) -> str | None:
        try:
            if view.settings["content"]:
                content_set(view.settings["content"])
        except NormvizError as error:
            return view.problem or str(error)
        return view.problem

    def is_exercise(self, view: View) -> bool:
        return True


PAGE = PracticePage(
    "practice",
    *TITLES["practice"],
    view_parts,
    (*OF_SET, TIME, OWN_SET),
    rows=lambda _view: (),
    group=LEARN,
    uses="seed",
    start={"level": RISING},
    plan=Plan(
        N_("Students find the confusion behind each of their wrong answers, and explain it to a neighbor."),
        15,
        ("s0d", "s3f", "s1b"),
    ),
)
