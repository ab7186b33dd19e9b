"""Tries many hostile links and tour files: each leads to a view, to a file and to a link of its own, or to a NormvizError. Tries requests, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import parse_qsl

from hypothesis import HealthCheck, given, seed, settings
from hypothesis.strategies import SearchStrategy

import normviz as nv
from app import app
from normviz.analysis.forward import use_one_thread
from normviz.export.links import tour_output
from normviz.lessons.pages import PAGES, page_view, view_of_link
from normviz.lessons.tours import read_tour
from normviz.parts.html import Body, data
from normviz.scene.view import link
from normviz.texts.errors import NormvizError
from normviz.texts.messages import in_language
from tests.fuzz import hostile
from tests.support.asgi import ask

T = TypeVar("T")
SEED = 32


@dataclass
class Tried:
    """The number of inputs, and of those that got a message. Another exception is raised, with the shortest input that leads to it."""

    inputs: int = 0
    refused: int = 0


def try_links(count: int, number: int = SEED) -> Tried:
    """Open links in Python, and as the app does, which shows the nearest view. ``number``: of the draw."""
    return _try(hostile.links(), _open, count, number)


def try_tours(count: int, number: int = SEED) -> Tried:
    """Read tour files, and write the tours as files."""
    return _try(hostile.tour_texts, _write_tour, count, number)


def try_requests(count: int, number: int = SEED) -> Tried:
    """Send requests to the app."""
    return _try(hostile.requests, _request, count, number)


def _try(inputs: SearchStrategy[T], attempt: Callable[[T], object], count: int, number: int) -> Tried:
    use_one_thread()
    tried = Tried()

    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, derandomize=False, suppress_health_check=[*HealthCheck])
    @given(given_input=inputs)
    def run(given_input: T) -> None:
        message = _message(attempt, given_input)
        assert len(message) < 2000
        tried.inputs += 1
        tried.refused += bool(message)

    run()
    return tried


def _message(attempt: Callable[[T], object], given_input: T) -> str:
    """The message with which the input is refused; "" if it is not."""
    try:
        attempt(given_input)
    except NormvizError as error:
        return str(error)
    return ""


def _open(text: str) -> None:
    _show(text)
    nv.open(text).to_html(plotlyjs="cdn").encode()


def _show(text: str) -> None:
    """The view in the app of what the server finds in the link."""
    place, _mark, query = text.partition("#")[0].partition("?")
    name = place.rpartition("/")[2]
    page, asked = PAGES.get(name, PAGES["explore"]), dict(parse_qsl(query, keep_blank_values=True))
    view = view_of_link(page, asked)
    with in_language(view.display.lang):
        assert len(view.problem or "") < 2000
        body = Body(turn=1)
        body.page(page_view(page, view).parts).encode()
        data(body.figures).encode()
        assert link(page.query(view)).isascii()


def _write_tour(text: str) -> None:
    tour_output(read_tour(text, "fuzzed", PAGES)).to_html(plotlyjs="cdn").encode()


def _request(request: tuple[str, str, dict[str, str], dict[str, str]]) -> None:
    """Never a 500, always the security headers, and nothing of the request in the HTML."""
    path, method, query, sent = request
    text = "&".join(f"{name}={value}" for name, value in query.items())
    response = ask(app, f"/{path}?{text}".encode("utf-8", "replace").decode(), method, **sent)
    assert response.status < 500 or response.status == 501
    assert "frame-ancestors * file:" in response.headers["content-security-policy"]
    assert response.headers["x-content-type-options"] == "nosniff"
    if response.headers.get("content-type", "").startswith("text/html"):
        assert hostile.MARKUP.encode() not in response.body
