"""``normviz questions``: all questions, as lines or as JSON."""

from __future__ import annotations

import argparse
import json
from typing import Any

from normviz.lessons.parts.markup import plain
from normviz.lessons.questions.question import Question, facts_of, prose
from normviz.lessons.questions.registry import QUESTIONS, READING_ORDER, core_place
from normviz.texts.messages import _


def add_questions(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--json", action="store_true", help=_("everything about each question, as JSON"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> None:
    """Print the questions in the order of reading."""
    questions = [QUESTIONS[key] for key in READING_ORDER]
    if args.json:
        print(json.dumps(list(map(question_object, questions)), indent=2, ensure_ascii=False))
        return
    for question in questions:
        print(f"{question.key:5}{plain(prose(question.key).title)}")


def question_object(question: Question) -> dict[str, Any]:
    """A question as JSON. The texts are Markdown."""
    text, right = prose(question.key), facts_of(question)["right"]
    return {
        "id": question.key,
        "title": text.title,
        "topic": question.topic.key,
        "core": core_place(question.key),
        "prompt": text.predict,
        "options": list(text.options.values()) or None,
        "answer": text.options[right] if text.options else right,
        "sources": [{"name": source.name, "address": source.address or None} for source in question.sources],
    }
