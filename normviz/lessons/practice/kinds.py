"""The kinds of exercises: their topic, how they are answered, and the view that settles them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

NUMBER, MARK, CHOICE = "number", "mark", "choice"


@dataclass(frozen=True)
class Kind:
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


KINDS: Mapping[str, Kind] = {
    "means": Kind(NUMBER, "statistics"),
    "gammas": Kind(NUMBER, "parameters", query="&params=index"),
    "parameters": Kind(NUMBER, "parameters", query="&params=index"),
    "elements_per_mean": Kind(NUMBER, "statistics"),
    "peers": Kind(MARK, "statistics"),
    "parameter_peers": Kind(MARK, "parameters", query="&params=index"),
    "pattern": Kind(CHOICE, "statistics"),
    "code": Kind(CHOICE, "code", "step_by_step"),
    "value": Kind(NUMBER, "numbers", "step_by_step"),
    "moves": Kind(MARK, "dependence", "gradients"),
    "mode": Kind(CHOICE, "train_and_eval", "train_and_eval", "&show=modes"),
}
TOPICS = tuple(dict.fromkeys(kind.topic for kind in KINDS.values()))
