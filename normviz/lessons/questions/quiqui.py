"""Questions for a vote in a lecture: the YAML file that QuiQui projects and counts (github.com/th-nuernberg/quiqui)."""

from collections.abc import Iterable
from string import ascii_uppercase

import yaml

from normviz.lessons.questions.question import Question, answer, facts_of, prose, reasons
from normviz.texts.errors import NormvizError
from normviz.texts.messages import _


def quiqui_yaml(questions: Iterable[Question]) -> str:
    """The questions that have options, without those that ask for a number: QuiQui counts options.

    The title comes first, because a phone tells two questions apart by their first 40 characters. The address of the vote is
    left out: QuiQui then makes one that nobody else has.

    Raises NormvizError if no question has options.
    """
    chosen = [_question(one) for one in questions if prose(one.key).options]
    if not chosen:
        raise NormvizError("QuiQui counts options, and these questions ask for a number; choose others with --only.")
    config = {"title": _("Questions on normalization layers")}
    return yaml.safe_dump({"config": config, "questions": chosen}, allow_unicode=True, sort_keys=False, width=120)


def _question(question: Question) -> dict[str, object]:
    text, why = prose(question.key), reasons(question)
    right = [*text.options].index(str(facts_of(question)["right"]))
    tempting = (
        f"{letter}: {why[key]}" for letter, key in zip(ascii_uppercase, text.options, strict=False) if key in why
    )
    return {
        "question": f"**{text.title}**\n\n{text.predict}",
        "type": "single",
        "answers": [*text.options.values()],
        "correct": ascii_uppercase[right],
        "explanation": " ".join([answer(question).rpartition("\n\n")[2], *tempting]),
    }
