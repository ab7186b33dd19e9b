"""Builds all parts of a page from a query, without a browser and without Streamlit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from normviz.analysis.sentences import sentence
from normviz.figures.charts import chart_payload
from normviz.figures.payload import view_payload
from normviz.figures.wire import sent
from normviz.lessons.pages import PAGES, names_of_links
from normviz.lessons.questions.page import find_question, prediction, question_parts
from normviz.lessons.questions.question import prose
from normviz.parts.html import Body
from normviz.parts.part import Chart, Panels, Table, flat
from normviz.scene.scene import Scene
from normviz.scene.view import View, read_view
from normviz.texts.errors import NormvizError
from tests.lessons.questions.searching import search


def build(page: str, query: Mapping[str, str]) -> int:
    """Build every part of the page as the browser gets it; return the number of parts."""
    view = read_view(query, PAGES[page].settings, names_of_links())
    if page == "questions":
        return _questions(view)
    PAGES[page].problem(view)
    parts = list(flat(PAGES[page].parts(view)))
    for part in parts:
        if isinstance(part, Panels):
            json.dumps(sent(part.data), allow_nan=False)  # JSON.parse does not accept NaN
        elif isinstance(part, Chart):
            json.dumps(sent(chart_payload(part.lines, part.alt)), allow_nan=False)
        elif isinstance(part, Table):
            assert part.html(Body())
    return len(parts)


def build_view(scene: Scene) -> None:
    """Build the parts that Explore always shows: the sentence, the notes, the linked view."""
    dump_json(lambda: (sentence(scene.shape_description), scene.shape_description.notes))
    dump_json(lambda: sent(view_payload(scene.description, scene.grid, at=scene.at, editable=scene.editable)))


def dump_json(part: Callable[[], Any]) -> None:
    try:
        json.dumps(part(), allow_nan=False)
    except NormvizError:  # there are too many groups to number
        return


def _questions(view: View) -> int:
    if not view.settings["q"]:
        return len([prose(one.key).title for one in search(view.settings["search"])])
    question = find_question(view.settings["q"])
    prediction(question).is_right(view.settings["guess"])
    return len(list(question_parts(question)))
