"""The steps as data: the prose of each, in a Markdown file, and its figure. Numbers in the prose are placeholders filled from torch's.

The prose of the step ``depth`` is ``normviz/locale/<language>/start/depth.md``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from normviz.analysis.number_format import format_number
from normviz.layers.errors import NormvizError
from normviz.layers.messages import language
from normviz.lessons.locale_files import read_text
from normviz.lessons.start import figures
from normviz.lessons.start.figures import Data, Facts

SECTIONS = {"Do": "act", "Hint": "hint", "Done": "done"}
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class StepProse:
    """The text of a step.

    title  its heading
    text   one or two sentences
    act    what the reader does
    hint   what helps a reader who has marked the wrong elements, or ""
    done   what the reader has seen
    """

    title: str
    text: str
    act: str
    done: str
    hint: str = ""


@dataclass(frozen=True)
class LessonStep:
    """A step: its identifier, the data of its figure, and the placeholders of its prose."""

    key: str
    figure: Callable[[], Data]
    facts: Callable[[], Facts] = dict

    @property
    def prose(self) -> StepProse:
        """The text in the reader's language, or in English if there is no translation."""
        return _prose(self, language.get())


LESSON_STEPS = (
    LessonStep("depth", figures.depth, figures.depth_facts),
    LessonStep("numbers", figures.numbers, figures.numbers_facts),
    LessonStep("batchnorm", lambda: figures.marks("BatchNorm1d(3)"), lambda: figures.marks_facts("BatchNorm1d(3)")),
    LessonStep("layernorm", lambda: figures.marks("LayerNorm(3)"), lambda: figures.marks_facts("LayerNorm(3)")),
    LessonStep("affine", figures.affine, figures.affine_facts),
    LessonStep("gammas", figures.gammas, figures.gammas_facts),
    LessonStep("images", figures.images),
)


@cache
def _prose(step: LessonStep, name: str) -> StepProse:
    path = f"start/{step.key}.md"
    filled = read_text(path).format_map({key: _format(value) for key, value in step.facts().items()})
    return read_prose(filled, f"{name}/{path}")


def read_prose(text: str, name: str) -> StepProse:
    """The parts of a Markdown file. Raises NormvizError if one is missing.

    >>> read_prose("# Title\\n\\nText.\\n\\n## Do\\n\\nClick.\\n\\n## Done\\n\\nSeen.", "a.md").act
    'Click.'
    """
    begin, *rest = HEADING.split(text)
    title, _newline, first = begin.removeprefix("# ").partition("\n")
    parts = {SECTIONS.get(heading, heading): _line(body) for heading, body in zip(rest[::2], rest[1::2], strict=True)}
    if not begin.startswith("# ") or not {"act", "done"} <= parts.keys() <= set(SECTIONS.values()):
        raise NormvizError(f"{name} must have a title (#), a text, '## Do', '## Done', and perhaps '## Hint'.")
    return StepProse(title.strip(), _line(first), **parts)


def _line(text: str) -> str:
    return " ".join(text.split())


def _format(value: Any) -> str:
    return format_number(value) if isinstance(value, float) else str(value)
