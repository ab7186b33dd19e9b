"""The kinds of exercises: their topic, how they are answered, and the view that settles them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NUMBER, MARK, CHOICE = "number", "mark", "choice"


@dataclass(frozen=True)
class ExerciseKind:
    """One kind of exercise.

    form   how it is answered: with a number, by marking elements, or by choosing an option
    topic  the key of the topic of questions to which it belongs
    page   the page that settles it
    query  what its query has besides the layer and the element
    """

    form: str
    topic: str
    page: str = "explore"
    query: str = ""


KINDS: Mapping[str, ExerciseKind] = {
    "means": ExerciseKind(NUMBER, "statistics"),
    "gammas": ExerciseKind(NUMBER, "parameters", query="&params=index"),
    "parameters": ExerciseKind(NUMBER, "parameters", query="&params=index"),
    "elements_per_mean": ExerciseKind(NUMBER, "statistics"),
    "peers": ExerciseKind(MARK, "statistics"),
    "parameter_peers": ExerciseKind(MARK, "parameters", query="&params=index"),
    "pattern": ExerciseKind(CHOICE, "statistics"),
    "code": ExerciseKind(CHOICE, "code", "step_by_step"),
    "value": ExerciseKind(NUMBER, "numbers", "step_by_step"),
    "moves": ExerciseKind(MARK, "dependence", "gradients"),
    "mode": ExerciseKind(CHOICE, "train_and_eval", "train_and_eval", "&show=modes"),
}
TOPICS = tuple(dict.fromkeys(kind.topic for kind in KINDS.values()))
