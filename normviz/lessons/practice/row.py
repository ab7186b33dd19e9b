"""One row of the bank: a question, torch's answer, and the wrong answers of documented confusions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property

from normviz.lessons.practice.case import Box, Case, members
from normviz.lessons.practice.kinds import KINDS, ExerciseKind
from normviz.lessons.practice.random import hash_text

Answer = float | str | Box


@dataclass(frozen=True)
class BankRow:
    """One row of the bank.

    kind     a key of ``KINDS``
    variant  what is asked for within the kind: "einops", "variance", "buffers"; or ""
    level    1 (2 x 3 tables) to 3 (GroupNorm on images, every depth of normalized_shape)
    case     the layer on a shape
    at       the index of the framed element; empty if there is none
    values   x in row-major order, for arithmetic by hand; empty if no number of x matters
    answer   torch's answer: a number, an option, or a set of elements as positions along each axis
    wrong    the wrong answers, each with the id of its confusion
    """

    kind: str
    variant: str
    level: int
    case: Case
    at: tuple[int, ...]
    values: tuple[float, ...]
    answer: Answer
    wrong: tuple[tuple[str, Answer], ...]

    @cached_property
    def id(self) -> str:
        """The same for the same exercise, in whatever version of the bank."""
        case = self.case
        asked: list[object] = [self.kind, self.variant, case.text, case.layout, case.shape, self.at, self.values]
        if self.kind == "pattern":  # several layers make the same pattern
            asked.append(self.answer)
        return f"{self.kind}-{hash_text(json.dumps(asked)):08x}"

    @property
    def about(self) -> ExerciseKind:
        return KINDS[self.kind]

    @property
    def itself_counts(self) -> bool:
        """Whether a set may contain the framed element: True for "which outputs move", False for "which elements share"."""
        return self.kind == "moves"

    def elements(self, box: Answer) -> list[tuple[int, ...]]:
        """The sorted indices of an answer that is a set."""
        assert isinstance(box, tuple)
        return members(box, None if self.itself_counts else self.at)
