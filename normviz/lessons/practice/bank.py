"""The bank: thousands of exercises that torch answered when the bank was made, and the choice of a set by a seed."""

import json
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from normviz.analysis.checks import SEEDS, read_integer
from normviz.layers.catalogue import COMPLETE
from normviz.layers.layer import is_in_torch
from normviz.lessons.practice.case import family_of
from normviz.lessons.practice.exercise import EXERCISE_KINDS, Exercise
from normviz.lessons.practice.settings import FIRST_FORMS, FORMS, LEVELS, MOST_EXERCISES, TOPICS
from normviz.lessons.random import Random
from normviz.texts.errors import NormvizError, echo, listed

VERSION = 1  # a seed chooses the same exercises from the same version
FILE = Path(__file__).with_name("bank.json")


class IndexEntry(NamedTuple):
    """What a choice needs of an exercise."""

    kind: str
    family: str
    level: int
    topic: str
    form: str


@cache
def rows() -> list[list[Any]]:
    """The rows of all exercises on layers that the installed torch has, in the order of the file."""
    found: list[list[Any]] = json.loads(FILE.read_text(encoding="utf-8"))["rows"]
    return found if COMPLETE else [row for row in found if is_in_torch(str(row))]


def bank() -> list[Exercise]:
    """All exercises, in the order of the file."""
    return [Exercise.of_row(row) for row in rows()]


@cache
def index() -> list[IndexEntry]:
    """What a choice needs of each exercise, in the order of the bank."""
    heads = (row[:4] for row in rows())
    return [
        IndexEntry(kind, family_of(text), level, EXERCISE_KINDS[kind].topic, EXERCISE_KINDS[kind].form)
        for kind, _variant, level, text in heads
    ]


def choose(
    seed: int,
    count: int = 10,
    topics: Sequence[str] = (),
    level: int | None = None,
    forms: Sequence[str] = (),
    mixture: int | None = None,
) -> list[Exercise]:
    """A set of exercises: the same for the same arguments, in Python and in the browser (``bank.ts``).

    seed     a whole number from 0 to 2^31 - 1
    count    1 to 100 exercises; fewer if fewer are in the bank
    topics   such as ("statistics", "parameters"); all if there is none
    level    1 to 3; None mixes all levels, the first level first
    forms    how they are answered, such as ("number", "build"); ``FIRST_FORMS`` if there is none
    mixture  a whole number like ``seed``: sets with the same one, and the same count, topics, level and forms, are parallel

    The rule: the kinds of all exercises with these topics, this level and these forms are shuffled by ``Random(seed)`` and take turns. In its turn, a
    kind draws one of its families of layers, and then one of the family's exercises that were not drawn before; both with ``below``,
    in the order of the bank. A family or a kind without exercises leaves. At the end, the set is sorted by level, by turn and by the order
    in which the kinds come in the bank: it begins with counting on small tables.

    Parallel sets have the same kinds and levels in the same order: those of the set that ``mixture`` would choose as a seed. For each of them, the
    seed draws a family of layers and then an exercise, as above.

    Raises NormvizError for an argument out of range, an unknown topic or form, and if there is no such exercise.

    >>> [exercise.kind for exercise in choose(7, 3, ["parameters"], level=1)]
    ['gammas', 'parameters', 'parameter_peers']
    """
    places = choose_places(seed, count, check_topics(topics), level, _check_forms(forms), mixture)
    return [Exercise.of_row(rows()[place]) for place in places]


def choose_places(
    seed: int,
    count: int,
    topics: Sequence[str],
    level: int | None,
    forms: Sequence[str] = (),
    mixture: int | None = None,
) -> list[int]:
    """The places in the bank of the exercises of a set. Raises NormvizError like ``choose``."""
    random = Random(read_integer("seed", seed, SEEDS))
    read_integer("count", count, range(1, MOST_EXERCISES + 1))
    if level is not None:
        read_integer("level", level, range(1, len(LEVELS) + 1))
    if mixture is not None:
        read_integer("mixture", mixture, SEEDS)
        return [_draw(families, random) for families in _slots(mixture, count, tuple(topics), level, tuple(forms))]
    kinds: dict[str, dict[str, list[int]]] = {}
    for place, entry in enumerate(index()):
        has_topic = not topics or entry.topic in topics
        if entry.level == (level or entry.level) and has_topic and entry.form in (forms or FIRST_FORMS):
            kinds.setdefault(entry.kind, {}).setdefault(entry.family, []).append(place)
    order = list(kinds)
    chosen: list[tuple[int, int, int, int]] = []  # the level, the turn, the kind, and the place
    turns = [(0, kind) for kind in random.shuffled(order)]
    while turns and len(chosen) < count:
        turn, kind = turns.pop(0)
        place = _draw(kinds[kind], random)
        chosen.append((index()[place].level, turn, order.index(kind), place))
        if kinds[kind]:
            turns.append((turn + 1, kind))
    if not chosen:
        raise NormvizError("no exercise is of these topics, of this level and of these kinds; leave one of them out.")
    return [place for *_before, place in sorted(chosen)]


def _draw(families: dict[str, list[int]], random: Random) -> int:
    """A place of one of the families, which loses it."""
    family = list(families)[random.below(len(families))]
    place = families[family].pop(random.below(len(families[family])))
    if not families[family]:
        del families[family]
    return place


def _slots(
    mixture: int, count: int, topics: tuple[str, ...], level: int | None, forms: tuple[str, ...]
) -> list[dict[str, list[int]]]:
    """The places of each kind and level of a mixture, by family, in the mixture's order; slots of the same kind and level share them."""
    wanted = _kinds_and_levels(mixture, count, topics, level, forms)
    left: dict[tuple[str, int], dict[str, list[int]]] = {slot: {} for slot in wanted}
    for place, entry in enumerate(index()):
        if (entry.kind, entry.level) in left:
            left[entry.kind, entry.level].setdefault(entry.family, []).append(place)
    return [left[slot] for slot in wanted]


@lru_cache
def _kinds_and_levels(
    mixture: int, count: int, topics: tuple[str, ...], level: int | None, forms: tuple[str, ...]
) -> list[tuple[str, int]]:
    entries = (index()[place] for place in choose_places(mixture, count, topics, level, forms))
    return [(entry.kind, entry.level) for entry in entries]


def check_topics(topics: Sequence[str]) -> tuple[str, ...]:
    """The topics, each once. Raises NormvizError for an unknown one."""
    for topic in topics:
        if topic not in TOPICS:
            raise NormvizError(
                "topics={topic} is not a topic of practice; choose {topics}.", topic=echo(topic), topics=listed(TOPICS)
            )
    return tuple(dict.fromkeys(topics))


def _check_forms(forms: Sequence[str]) -> tuple[str, ...]:
    """The forms, each once. Raises NormvizError for an unknown one."""
    for form in forms:
        if form not in FORMS:
            raise NormvizError("kinds={form} is unknown; choose {forms}.", form=echo(form), forms=listed(FORMS))
    return tuple(dict.fromkeys(forms))
