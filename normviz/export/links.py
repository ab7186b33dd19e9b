"""The Output of a link of the app, or of a page and its query."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlsplit

from normviz.analysis.description import Description, describe
from normviz.export.output import Choices, Output, title_of
from normviz.layers.errors import NormvizError, echo, listed
from normviz.layers.messages import _
from normviz.lessons.compare import page as comparing
from normviz.lessons.page.pages import PAGES, whole_query
from normviz.lessons.page.questions_page import list_parts, question_parts
from normviz.lessons.questions.question import prose
from normviz.lessons.questions.registry import QUESTIONS, find_question
from normviz.scene.view import View

LONGEST_LINK = 4000
PAGE_NAMES = tuple(PAGES)


def page_and_query(link: str) -> tuple[str, dict[str, str]]:
    """The page and the query of a link. Raises NormvizError if it is not a link to a page.

    >>> page_and_query("https://example.org/normviz/compare?shape=2,3")
    ('compare', {'shape': '2,3'})
    """
    address = urlsplit(link if isinstance(link, str) and len(link) <= LONGEST_LINK else "no/page")
    page = address.path.rstrip("/").rpartition("/")[2]
    is_root = not address.path or (address.path.endswith("/") and (address.scheme or address.path.startswith("/")))
    if page not in PAGE_NAMES and is_root:  # the app itself, with any base path
        page = "explore"
    if page not in PAGE_NAMES:
        raise NormvizError(
            _("link={link} does not name a page; choose {pages}.", link=echo(link), pages=listed(PAGE_NAMES))
        )
    return page, dict(parse_qsl(address.query))


def output_of_query(page: str, query: Mapping[str, str]) -> Output:
    """The view of a page and a query. Raises NormvizError for an unknown page, and if the app would show an error."""
    if page == "questions":
        return questions(query.get("q", ""))
    if page not in PAGES:
        raise NormvizError(_("page={page} is unknown; choose {pages}.", page=echo(page), pages=listed(PAGE_NAMES)))
    view = PAGES[page].view(query)
    if problem := PAGES[page].problem(view):
        raise NormvizError(problem)
    return output_of_view(page, view)


def output_of_view(page: str, view: View, choices: Choices | None = None) -> Output:
    """The view of a page. ``choices``: what a reader of a file or of a notebook can choose."""
    parts, title = tuple(PAGES[page].visible(view)), title_of(page, _about(page, view))
    return Output(parts, title, page, whole_query(page, view), view=view, choices=choices)


def _about(page: str, view: View) -> str:
    """What the title of a view says besides the page."""
    if page == "numerics":
        return ""
    if page != "compare":
        return layer_on_shape(view.scene.shape_description)
    layers, scene = comparing.layers_of(view)[0], view.scene
    return ", ".join(describe(layer, scene.shape, layout=scene.layout).title for layer in layers)


def questions(key: str = "") -> Output:
    """One question with its answer, such as "s0"; without a key, all of them."""
    if not key:
        return Output(tuple(list_parts(list(QUESTIONS.values()))), _("Questions · normviz"), "questions", {})
    question = find_question(key)
    return Output(tuple(question_parts(question)), f"{prose(key).title} · normviz", "questions", {"q": key})


def layer_on_shape(e: Description) -> str:
    return _("{layer} on {shape}", layer=e.title, shape=e.shape)
