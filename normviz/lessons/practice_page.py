"""The page of practice: a set of exercises, which the browser shows one at a time."""

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from gzip import compress
from typing import Any, ClassVar

from normviz.analysis.checks import SEEDS
from normviz.lessons.glossary import glossary
from normviz.lessons.page import Page
from normviz.lessons.parts.html import Body, escape
from normviz.lessons.parts.part import Hides, Part
from normviz.lessons.practice.bank import LEVELS, MOST_EXERCISES, bank, choose, index
from normviz.lessons.practice.case import CHOICE, TOPICS
from normviz.lessons.practice.confusions import CONFUSIONS
from normviz.lessons.practice.exercise import Exercise
from normviz.lessons.questions.question import prose
from normviz.lessons.questions.registry import QUESTIONS
from normviz.lessons.start import LESSON_STEPS
from normviz.lessons.titles import LEARN, TITLES
from normviz.scene.scene import SEED
from normviz.scene.setting import Number, Segments, Setting, Several, choice, integer, words
from normviz.scene.view import View
from normviz.texts.messages import N_, _, language

ALL_LEVELS = "all"
PAGE_SETTINGS = (
    integer("count", 1, MOST_EXERCISES, 10, widget=Number(1, MOST_EXERCISES), label=N_("Exercises"), about=N_("the number of exercises; seed chooses them"), example="5", hide="exercises"),
    words("topics", TOPICS, widget=Several(TOPICS, len(TOPICS)), label=N_("Topics, all if you choose none"), about=N_("their topics, separated by commas; without it, all"), example="statistics,parameters", hide="exercises"),
    choice(
        "level", {ALL_LEVELS: N_("all"), **{str(level): str(level) for level in LEVELS}}, label=N_("Level"),
        about=N_("how hard they are; 1: tables; 2: sequences and images; 3: groups and odd shapes; or all"), example="1", hide="exercises",
    ),
)  # fmt: skip
SETTINGS = (SEED, *PAGE_SETTINGS)  # what chooses a set of exercises

# The confusions that a step of Start here clears up.
SHOWN_BY_STEP = {
    "numbers": ("unbiased",),
    "batchnorm": (
        "exchanged", "whole_tensor", "each_element", "means_for_elements", "elements_for_means",
        "eval_uses_batch", "train_uses_running", "eval_updates", "train_keeps",
    ),
    "layernorm": ("batchnorm", "per_example_runs", "per_example_stores"),
    "affine": ("only_gammas",),
    "gammas": ("kept_gamma", "gamma_per_mean", "gamma_per_channel", "averaged_gamma", "one_gamma", "gamma_with_batch"),
    "images": ("example", "sequence", "instancenorm", "position", "dim_zero"),
}  # fmt: skip


@dataclass(frozen=True)
class ExerciseSet:
    """Which exercises are drawn: the seed, their number, their topics (empty: all) and their level (None: all)."""

    seed: int
    count: int
    topics: tuple[str, ...]
    level: int | None

    @property
    def values(self) -> tuple[Any, ...]:
        """Of the settings, in their order."""
        return self.seed, self.count, self.topics, self.level or ALL_LEVELS

    def exercises(self) -> list[Exercise]:
        return choose(self.seed, self.count, self.topics, self.level)


@dataclass(frozen=True)
class Practice(Part):
    """A set of exercises. ``practice.js`` shows one at a time, checks the answers, and ends with a summary.

    timed     whether the reader sees the time
    controls  whether the reader may choose other exercises
    """

    chosen: ExerciseSet
    timed: bool = True
    controls: bool = True
    name: ClassVar[str] = ""

    @property
    def names(self) -> frozenset[str]:
        return frozenset({"time", "exercises"})

    def html(self, body: Body) -> str:
        body.exercises = True
        if body.carries:  # the reader may choose other exercises
            body.words |= {word.name: word for word in glossary()}
        exercises = self.chosen.exercises()
        everything = bank() if body.carries else exercises
        values = {
            "set": {one.name: one.format(value) for one, value in zip(SETTINGS, self.chosen.values, strict=True)},
            "settings": {one.name: {"label": _(one.label), **_entries(one)} for one in SETTINGS},
            "exercises": [one.data() for one in exercises],
            "confusions": _confusions(everything),
            "timed": self.timed,
            "controls": self.controls,
            "app": body.app,
            "pages": body.pages,
        }  # fmt: skip
        carried = (
            f'<script type="text/plain" class="nv-bank">{_packed(language.get())}</script>' if body.carries else ""
        )
        unstyled = escape(_("The exercises need JavaScript. In a notebook that is not trusted yet, run the cell."))
        return (
            f'<div class="nv-practice" data-practice="{escape(json.dumps(values, ensure_ascii=False))}">{carried}'
            f'<div class="nv-unstyled"><p>{unstyled}</p></div></div>'
        )

    def plain_text(self) -> str:
        lines = []
        for number, one in enumerate(self.chosen.exercises(), 1):
            options = (
                [f"   - {one.text_of(value)}" for _confusion, value in one.choices] if one.about.form == CHOICE else []
            )
            lines += [f"{number}. {one.prompt}", *options]
        return "\n".join(lines)

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        return (replace(self, timed=not hides(self, "time"), controls=not hides(self, "exercises")),)


def view_parts(view: View) -> Iterator[Part]:
    settings = view.settings
    level = None if settings["level"] == ALL_LEVELS else int(settings["level"])
    yield Practice(ExerciseSet(view.scene.seed, settings["count"], settings["topics"], level))


def _entries(setting: Setting) -> dict[str, Any]:
    """What a reader can enter for a setting: a number, some topics, or one of the options."""
    if setting is SEED:  # its own control takes any number, for the error message
        return {"low": SEEDS[0], "high": SEEDS[-1]}
    if isinstance(setting.widget, Number):
        return {"low": setting.widget.low, "high": setting.widget.high}
    if isinstance(setting.widget, Several):
        titles = {question.topic.key: question.topic.title for question in QUESTIONS.values()}
        return {"several": True, "options": [[key, titles[key]] for key in setting.widget.options]}
    assert isinstance(setting.widget, Segments)
    return {"options": [[key, _(label)] for key, label in setting.widget.options.items()]}


def _confusions(exercises: Iterable[Exercise]) -> dict[str, dict[str, Any]]:
    """The confusions that wrong answers to the exercises follow from; ``step`` of Start here shows what is true."""
    steps = {
        key: [number, step.prose.title]
        for number, step in enumerate(LESSON_STEPS, 1)
        for key in SHOWN_BY_STEP.get(step.key, ())
    }
    return {
        key: {
            "name": _(CONFUSIONS[key].name),
            "sentence": _(CONFUSIONS[key].sentence),
            "question": CONFUSIONS[key].question,
            "title": prose(CONFUSIONS[key].question).title,
            "step": steps.get(key),
        }
        for key in dict.fromkeys(key for one in exercises for key, _answer in one.wrong)
    }


@cache
def _packed(_language: str) -> str:
    """All exercises in this language, compressed: a file chooses from them."""
    values: dict[str, Any] = {"index": index(), "exercises": [one.data() for one in bank()]}
    text = json.dumps(values, ensure_ascii=False, separators=(",", ":"))
    return b64encode(compress(text.encode(), 9, mtime=0)).decode()


PAGE = Page(
    "practice",
    *TITLES["practice"],
    view_parts,
    PAGE_SETTINGS,
    rows=lambda _view: (),
    group=LEARN,
    uses="seed",
    is_exercise=lambda _view: True,
)
