"""One exercise: what torch answered, the wrong answers of documented confusions, and its texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from normviz.lessons.practice import texts
from normviz.lessons.practice.case import CHOICE, MARK, Answer, BankRow, Case, place
from normviz.lessons.practice.random import Random
from normviz.scene.grid import roles
from normviz.texts.messages import _, join_sentences
from normviz.texts.numbers import format_number

TOLERANCE = 0.011  # error of a number with two decimals that counts as correct
MOST_OPTIONS = 4


@dataclass(frozen=True)
class Exercise(BankRow):
    """A row with its texts."""

    @property
    def prompt(self) -> str:
        return texts.prompt(self)

    @property
    def prompt_of_choice(self) -> str:
        """The prompt where elements cannot be marked."""
        return texts.prompt(self, marking=False)

    @property
    def whole_prompt(self) -> str:
        """The prompt with the numbers that the browser draws: those of x, or of a pattern."""
        numbers = texts.numbers(self)
        if self.values:
            return join_sentences([_("x = {numbers}.", numbers=numbers), self.prompt])
        return join_sentences([self.prompt, numbers])

    @property
    def explanation(self) -> str:
        return texts.explanation(self)

    @property
    def link(self) -> str:
        """The view that settles it: "/explore?shape=2,3&layer=LayerNorm(3)&at=0,1"."""
        return texts.link(self)

    @cached_property
    def choices(self) -> tuple[tuple[str, Answer], ...]:
        """The answer, with "" for a confusion, and at most three wrong ones; shuffled by the id."""
        return tuple(Random(self.id).shuffled([("", self.answer), *self.wrong[: MOST_OPTIONS - 1]]))

    def text_of(self, answer: Answer) -> str:
        """An answer as an option shows it: "48", "0.71", "n c h w -> n", "the other elements with c = 1"."""
        if self.about.form == MARK:
            assert isinstance(answer, tuple)
            return texts.box_text(answer, self)
        if isinstance(answer, str):
            return texts.option_text(self, answer)
        assert not isinstance(answer, tuple)
        return format_number(float(answer), 4) if self.kind == "value" else str(answer)

    def json(self) -> dict[str, Any]:
        """The exercise as ``normviz practice`` writes it."""
        case, is_choice = self.case, self.about.form == CHOICE
        answer: Any = self.text_of(self.answer) if is_choice else self.answer
        if self.about.form == MARK:
            answer = [list(index) for index in self.elements(self.answer)]
        found = {
            "id": self.id,
            "kind": self.kind,
            "layer": case.text,
            "shape": list(case.shape),
            "prompt": self.whole_prompt,
            "options": [self.text_of(value) for _confusion, value in self.choices] if is_choice else None,
            "answer": answer,
            "explanation": self.explanation,
            "link": self.link,
        }
        return found | ({"at": list(self.at)} if self.about.form == MARK else {})

    def data(self) -> dict[str, Any]:
        """The exercise for the browser. Sets are positions of elements in row-major order; wrong answers name their confusions.

        form     "number", "mark" or "choice"
        answer   a number; the sorted positions; or the text of an option
        wrong    [the id of a confusion, its answer in the same form]
        options  [the text, the id of its confusion or ""] in the order of display, for a choice; else null
        numbers  for a pattern: the number of the group of each element
        """
        case, form = self.case, self.about.form
        found: dict[str, Any] = {
            "id": self.id,
            "kind": self.kind,
            "form": form,
            "level": self.level,
            "topic": self.about.topic,
            "layer": case.text,
            "shape": list(case.shape),
            "names": list(case.axes),
            **vars(roles(case.axes)),
            "prompt": self.prompt,
            "options": None,
            "answer": self._in_browser(self.answer),
            "wrong": [[confusion, self._in_browser(value)] for confusion, value in self.wrong],
            "explanation": self.explanation,
            "link": self.link,
        }
        if form == CHOICE:
            found["options"] = [[self.text_of(value), confusion] for confusion, value in self.choices]
        if self.at:
            found["at"] = list(self.at)
        if self.values:
            found |= {"values": list(self.values), "tolerance": TOLERANCE}
        if self.kind == "pattern":
            found["numbers"] = texts.group_numbers(case)
        return found

    def _in_browser(self, answer: Answer) -> Any:
        if self.about.form == MARK:
            return [place(index, self.case.shape) for index in self.elements(answer)]
        return self.text_of(answer) if self.about.form == CHOICE else answer

    def row(self) -> list[Any]:
        """The row of the bank."""
        case = self.case
        return [self.kind, self.variant, self.level, case.text, case.layout, case.shape, self.at, self.values, self.answer, self.wrong]  # fmt: skip

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Exercise:
        kind, variant, level, text, layout, shape, at, values, answer, wrong = row
        return cls(
            kind, variant, level, Case(text, tuple(shape), layout), tuple(at), tuple(values), _answer(answer),
            tuple((confusion, _answer(value)) for confusion, value in wrong),
        )  # fmt: skip


def _answer(value: Any) -> Answer:
    found: Answer = tuple(tuple(positions) for positions in value) if isinstance(value, list) else value
    return found
