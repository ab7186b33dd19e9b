"""A count with its noun has plural forms: a language may have more than two, and 21 may have the form of 1."""

import re
from collections.abc import Iterator

import pytest

from tools.translations import template

# {n:,} groups, **{n}** different means
COUNTED = re.compile(
    r"\{([\w.]+)(?::[^{}]*)?\}(?:\*\*|`)? (?:(?:different|independent|more|other|standard) )?([a-z]+s)\b"
)
# What follows a name, not a number: "{layer} averages over {axes}".
NOT_NOUNS = re.compile(
    "as|averages|changes|computes|contains|determines|differs|divides|does|gives|has|holds|is|moves|names|needs|normalizes|opens|overrides|raises|represents|"
    "rounds|runs|shares|shows|stays|stores|subtracts|takes|uses|was|writes"
)
ALLOWED = frozenset(
    (
        ("dtype", "numbers"),  # `float16` numbers
        ("tolerance", "deviations"),  # 0.25 standard deviations
        ("shift", "deviations"),
        ("error", "deviations"),
        ("ratio", "times"),  # 0.5 times the mean
        ("alpha", "times"),
        ("0.counts.statistics", "means"),  # ready-made sets have a fixed shape, so a translator knows their numbers
        ("3.counts.parameters", "parameters"),
    )
)


def uncounted(message: str) -> list[tuple[str, str]]:
    """The placeholders of a message without plural forms that count something, each with its noun."""
    return [found for found in COUNTED.findall(message) if not NOT_NOUNS.fullmatch(found[1]) and found not in ALLOWED]


def messages() -> Iterator[str]:
    """The messages of Python and JavaScript without plural forms."""
    return (message.id for message in template() if isinstance(message.id, str))


@pytest.mark.rule("A count with its noun has a form for one: ngettext, or a sentence without a noun after the number")
def test_a_count_with_its_noun_has_plural_forms():
    assert {message: found for message in messages() if (found := uncounted(message))} == {}


def test_every_exception_is_needed():
    found = {pair for message in messages() for pair in COUNTED.findall(message)}
    assert found >= ALLOWED


def test_a_count_is_found_behind_marks_and_adjectives():
    assert uncounted("{layer} has **{n:,}** different means of {size} elements.") == [
        ("n", "means"),
        ("size", "elements"),
    ]
