"""Streamlit's own files, compressed by us."""

import gzip

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from normviz.ui.assets import STREAMLIT as FOLDER
from normviz.ui.assets import CompressedFiles
from tests.support.asgi import ask


@pytest.fixture(scope="module")
def app() -> CompressedFiles:
    """In front of an application that answers everything with "Streamlit"."""
    return CompressedFiles(Starlette(routes=[Route("/{path:path}", lambda _: PlainTextResponse("Streamlit"))]))


def a_file(kind: str) -> str:
    """The path of one of Streamlit's files."""
    return f"static/{min(FOLDER.rglob(f'*.{kind}'), key=lambda path: path.stat().st_size).relative_to(FOLDER)}"


@pytest.mark.parametrize(("kind", "media_type"), [("js", "text/javascript"), ("css", "text/css")])
def test_a_script_is_compressed_and_cached_for_ever(app: CompressedFiles, kind: str, media_type: str) -> None:
    path = a_file(kind)
    response = ask(app, f"/{path}", accept_encoding="gzip, br")
    assert gzip.decompress(response.body) == (FOLDER.parent / path).read_bytes()
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["content-type"].startswith(media_type)
    assert "immutable" in response.headers["cache-control"]
    assert response.headers["vary"] == "Accept-Encoding"


def test_below_a_base_path_too(app: CompressedFiles) -> None:
    path = a_file("js")
    packed = ask(app, f"/lab/{path}", accept_encoding="gzip")
    assert gzip.decompress(packed.body) == (FOLDER.parent / path).read_bytes()


def test_streamlit_sends_it_to_a_client_without_gzip(app: CompressedFiles) -> None:
    assert ask(app, f"/{a_file('js')}").body == b"Streamlit"
    assert ask(app, f"/{a_file('js')}", method="POST", accept_encoding="gzip").status == 405


@pytest.mark.parametrize(
    "path",
    [a_file("woff2"), "static/js/none.js", "static/js", "static/", "static/../index.html", "static/js/../../../../__init__.py", "static//etc/hosts.js", "compare", ""],
)  # fmt: skip
def test_streamlit_sends_everything_else(app: CompressedFiles, path: str) -> None:
    response = ask(app, f"/{path}", accept_encoding="gzip")
    assert (response.status, response.body) == (200, b"Streamlit")
