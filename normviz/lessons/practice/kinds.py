"""The kinds of exercises: their topic, how they are answered, and the view that settles them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from normviz.lessons.questions import topics
from normviz.lessons.questions.question import Topic

NUMBER, MARK, CHOICE = "number", "mark", "choice"


@dataclass(frozen=True)
class Kind:
    """One kind of exercise.

    form   how it is answered: with a number, by marking elements, or by choosing an option
    topic  the topic of the questions to which it belongs
    page   the page that settles it
    query  what its query has besides the layer and the element
    """

    form: str
    topic: Topic
    page: str = "explore"
    query: str = ""


KINDS: Mapping[str, Kind] = {
    "means": Kind(NUMBER, topics.STATISTICS),
    "gammas": Kind(NUMBER, topics.PARAMETERS, query="&params=index"),
    "parameters": Kind(NUMBER, topics.PARAMETERS, query="&params=index"),
    "elements_per_mean": Kind(NUMBER, topics.STATISTICS),
    "peers": Kind(MARK, topics.STATISTICS),
    "parameter_peers": Kind(MARK, topics.PARAMETERS, query="&params=index"),
    "pattern": Kind(CHOICE, topics.STATISTICS),
    "code": Kind(CHOICE, topics.CODE, "step_by_step"),
    "value": Kind(NUMBER, topics.NUMBERS, "step_by_step"),
    "moves": Kind(MARK, topics.DEPENDENCE, "gradients"),
    "mode": Kind(CHOICE, topics.TRAIN_AND_EVAL, "train_and_eval", "&show=modes"),
}
TOPICS = tuple(dict.fromkeys(kind.topic.key for kind in KINDS.values()))
