"""From a link of the app, or a page's query, to the Output that it shows."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from normviz.analysis.explanation import Explanation, describe
from normviz.export.output import Output, title_of
from normviz.layers.errors import NormvizError, echo, listed
from normviz.lessons.compare import page as comparing
from normviz.lessons.pages import PAGES
from normviz.lessons.questions.page import question_parts, questions_parts
from normviz.lessons.questions.question import prose
from normviz.lessons.questions.registry import find_question
from normviz.scene.view import View

LONGEST_LINK = 4000


def asked_by(link: str) -> tuple[str, dict[str, str]]:
    """The page that a link names, and its query. Raises NormvizError where it names none.

    >>> asked_by("https://example.org/normviz/compare?shape=2,3")
    ('compare', {'shape': '2,3'})
    """
    address = urlsplit(link if isinstance(link, str) and len(link) <= LONGEST_LINK else "nowhere")
    page = address.path.rstrip("/").rpartition("/")[2]
    root = not address.path or (address.path.endswith("/") and (address.scheme or address.path.startswith("/")))
    if page not in (*PAGES, "questions") and root:  # the app's own address, at whatever path it is
        page = "explore"
    if page not in (*PAGES, "questions"):
        raise NormvizError(f"link={echo(link)} names no page; choose {listed([*PAGES, 'questions'])}.")
    return page, dict(parse_qsl(address.query))


def of_query(page: str, query: Mapping[str, str]) -> Output:
    """The view of a page that a query asks for. Raises NormvizError where the app would show a message, and for another page."""
    if page == "questions":
        return questions(query.get("q", ""))
    if page not in PAGES:
        raise NormvizError(f"page={echo(page)} is unknown; choose {listed([*PAGES, 'questions'])}.")
    view = PAGES[page].view(query)
    if problem := PAGES[page].problem(view):
        raise NormvizError(problem)
    return of_view(page, view)


def of_view(page: str, view: View) -> Output:
    """A view of a page."""
    about = "" if page == "numerics" else layer_on_shape(view.scene.sharing)
    if page == "compare":
        layers, scene = comparing.layers_of(view)[0], view.scene
        about = ", ".join(describe(layer, scene.shape, layout=scene.layout).title for layer in layers)
    return Output(tuple(PAGES[page].visible(view)), title_of(page, about), page, view.query(PAGES[page].settings))


def questions(key: str = "") -> Output:
    """One question with its answer, such as "s0"; without a key, all of them."""
    if not key:
        return Output(tuple(questions_parts()), "Questions · normviz", "questions", {})
    asked = find_question(key)
    return Output(tuple(question_parts(asked)), f"{prose(key).title} · normviz", "questions", {"q": key})


def layer_on_shape(e: Explanation) -> str:
    return f"{e.title} on {e.shape}"
