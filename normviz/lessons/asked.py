"""The question with which a page ends: it belongs to the view, and is answered there."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache

from normviz.layers.layer import Layer
from normviz.lessons.compare import page as compare
from normviz.lessons.page import Page
from normviz.lessons.questions.page import OF, link_to, prediction
from normviz.lessons.questions.question import Question, answer, prose
from normviz.lessons.questions.registry import QUESTIONS, READING_ORDER, questions_of_page
from normviz.parts.links import Link, Links
from normviz.parts.part import Part, Text
from normviz.parts.questions import AskedQuestion
from normviz.scene.scene import PATTERN_FAMILY
from normviz.scene.view import View
from normviz.texts.messages import _


def asked_parts(page: Page, view: View) -> Iterator[Part]:
    """The question, and a link to all questions of the page; nothing if the page has no questions."""
    if not questions_of_page(page):
        return
    question = question_of(page, view)
    shown = replace(link_to(question), text=_("See it in a figure"))
    asked = prediction(question, (Text(answer(question)), Links((shown,), kind="next")))
    others = Link(_("All questions of this page"), "questions", f"{OF.name}={page.name}")
    yield AskedQuestion(prose(question.key).title, asked, others)


def question_of(page: Page, view: View) -> Question:
    """The page's own choice for the view; else the question about the same families of layers, of this page, and on as many axes."""
    if (key := page.asks(view)) in QUESTIONS:
        return QUESTIONS[key]
    return _nearest(page.name, *_about(view))


@lru_cache(maxsize=256)
def _nearest(page: str, families: frozenset[str], axes: int) -> Question:
    def distance(question: Question) -> tuple[float, bool, bool]:
        others, other_axes = _about_question(question.key)
        return -len(families & others) / len(families | others), question.page.name != page, other_axes != axes

    return min((QUESTIONS[key] for key in READING_ORDER), key=distance)


@cache
def _about_question(key: str) -> tuple[frozenset[str], int]:
    question = QUESTIONS[key]
    return _about(question.page.view(question.query))


def _about(view: View) -> tuple[frozenset[str], int]:
    """The families of the layers of a view, and the number of axes of x."""
    layers = map(Layer.parse, compare.layers_of(view)[0]) if "layers" in view.settings else [view.scene.layer]
    families = frozenset(one.kind.family if isinstance(one, Layer) else PATTERN_FAMILY for one in layers)
    return families, len(view.scene.shape)
