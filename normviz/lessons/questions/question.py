"""A question as data: what computes its answer, which view settles it, where it was asked. Its prose is a Markdown file.

The prose of question ``s0`` is ``s0.en.md``; a translation is one more file, ``s0.fr.md``. Numbers in an answer are placeholders that
``facts`` fills: nothing that torch can compute is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from normviz.analysis.number_format import format_number
from normviz.layers.errors import NormvizError, listed

Facts = Mapping[str, Any]
LANGUAGE = "en"
TINY = 1e-3  # below it, mostly rounding
CODE = re.compile(r"`[^`]*`")
OPTION = re.compile(r"^- \[(\w+)\] (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """Where it was asked, or where the fact stands: a name, and an address where there is one."""

    name: str
    address: str = ""


@dataclass(frozen=True)
class Question:
    """One question.

    key     in the address: ``?q=s0``
    topic   the heading it stands under
    facts   computes every number of the answer; ``facts()["right"]`` is the key of the right option, or the right number;
            ``facts()["holds"]`` maps each statement of the answer that is true or false to what torch says of it
    page    where the case is opened: "explore", "compare", "step_by_step", "train_and_eval", "gradients", "numerics"
    query   the view of that page that settles it, without the "?"
    asked   sources
    """

    key: str
    topic: str
    facts: Callable[[], Facts]
    page: str
    query: str
    asked: tuple[Source, ...]


@dataclass(frozen=True)
class Prose:
    """The words of a question.

    title    the question, in a learner's words
    claim    what is often said
    predict  what to predict
    options  key and text of each choice; empty where a number is asked for
    answer   two to five sentences, with placeholders
    """

    title: str
    claim: str
    predict: str
    options: Mapping[str, str]
    answer: str


@cache
def prose(key: str, language: str = LANGUAGE) -> Prose:
    """The words of the question ``key``. Raises NormvizError where a part is missing."""
    text = (files(__package__) / "prose" / language / f"{key}.md").read_text(encoding="utf-8")
    found = re.fullmatch(r"# (.+?)\n+> (.+?)\n+## Predict\n+(.+?)\n+## Answer\n+(.+?)\n*", text, re.DOTALL)
    if not found:
        raise NormvizError(f"{key}.{language}.md must have a title (#), a claim (>), '## Predict' and '## Answer'.")
    title, claim, predict, answer = (part.strip() for part in found.groups())
    options = dict(OPTION.findall(predict))
    return Prose(title, _unwrapped(claim), OPTION.sub("", predict).strip(), options, answer)


def _unwrapped(quoted: str) -> str:
    return " ".join(line.removeprefix(">").strip() for line in quoted.splitlines())


def answer(question: Question, language: str = LANGUAGE) -> str:
    """The answer with its numbers. Raises NormvizError where a placeholder has no fact."""
    words, facts = prose(question.key, language), computed(question)
    try:
        filled = words.answer.format_map({name: shown(value) for name, value in facts.items()})
    except KeyError as error:
        raise NormvizError(f"{question.key}: the answer names {error}, and facts has {listed(facts, 'and')}.") from None
    return CODE.sub(lambda code: code[0].replace("−", "-"), filled)


def shown(value: Any) -> str:
    """A fact as an answer prints it: numbers as on a page, floats to three digits, tiny ones to two, booleans as yes and no.

    >>> shown(-131072), shown(1.234567), shown(1.7166e-05), shown(True)
    ('−131,072', '1.23', '1.7e−5', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    return format_number(value, 2 if abs(value) < TINY else 3) if isinstance(value, float) else str(value)


_FACTS: dict[str, Facts] = {}


def computed(question: Question) -> Facts:
    """The question's facts; computed once in a process."""
    if question.key not in _FACTS:
        _FACTS[question.key] = dict(question.facts())
    return _FACTS[question.key]


def matches(question: Question, search: str, language: str = LANGUAGE) -> bool:
    """Do all words of the search stand in the question or its answer?"""
    text = searched(question, language)
    return all(word in text for word in search.lower().split())


def searched(question: Question, language: str = LANGUAGE) -> str:
    """What a search looks through, in small letters."""
    words = prose(question.key, language)
    return f"{question.key} {question.topic} {words.title} {words.claim} {words.answer}".lower()
