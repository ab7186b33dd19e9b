import gzip
import json
import re
import struct
from concurrent.futures import Future
from html import unescape
from typing import Any
from urllib.parse import quote, urljoin

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.routing import Route
from streamlit import config

from normviz.lessons.pages import PAGES
from normviz.parts.part import page_path
from normviz.parts.titles import HOME
from normviz.scene.grid import MOST_COLUMNS, MOST_ROWS
from normviz.texts.messages import in_language
from normviz.ui import ROOT
from normviz.ui.assets import PREVIEW, component, respond
from normviz.ui.server import index
from normviz.ui.server.index import INDEX, WIDGETS, page_names, styles, theme_of
from normviz.ui.server.process import import_future
from normviz.ui.server.routes import pages, routes
from tests.support.asgi import ask


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Starlette:
    import_future().result()
    monkeypatch.setattr(index, "PATIENCE", 60)
    return Starlette(routes=routes())


@pytest.mark.parametrize(
    ("query", "theme"),
    [
        ("", None),
        ("embed=true", None),
        ("embed=true&embed_options=dark_theme", "dark"),
        ("embed_options=show_toolbar&EMBED_OPTIONS=Dark_Theme", "dark"),
        ("embed_options=light_theme", "light"),
        ("embed_options=dark_theme&embed_options=light_theme", "light"),  # the page of Streamlit
        ("embed_options=dark_theme;x", None),
        ("embed_options=%3Cscript%3E", None),
        ("embed_options", None),
        ("theme=dark_theme", None),
    ],
)
def test_embed_options_choose_the_theme(query: str, theme: str | None) -> None:
    assert theme_of(query) == theme


def test_every_page_is_the_page_of_streamlit_with_an_inline_style_first(app: Starlette) -> None:
    own = INDEX.read_text()
    for path, _ in pages():
        html = ask(app, f"/{path}").body.decode()
        assert html.index("<style>") < html.index("<link")
        assert html.index("charset") < 1024
        entry = re.findall(r'<script type="module"[^>]*>', own)
        assert re.findall(r'<script type="module"[^>]*>', html) == entry
        hints = re.findall(r'<link rel="modulepreload" fetchpriority="high" href="./(lib/.*?)">', html)
        assert hints == [component("en").path]
        assert html.index("modulepreload") < html.index('<script type="module"')  # our script draws the page meanwhile
        later = re.findall(r'<link rel="modulepreload" crossorigin fetchpriority="low" href="./(static/js/.*?)">', html)
        assert html.count("<link") == own.count("<link") - 1 + len(hints) + len(
            later
        )  # without a font that the theme does not use


def described(html: bytes) -> dict[str, str]:
    """The title and the other texts by which other sites show the page, as a browser reads them."""
    text = html.decode()
    (title,) = re.findall("<title>(.*?)</title>", text)
    found = re.findall(r'<meta (?:name|property)="([a-z:]+)" content="(.*?)">', text)
    return {"title": unescape(title)} | {name: unescape(content) for name, content in found}


@pytest.mark.parametrize("starting", [False, True])
def test_every_page_says_what_it_is_from_the_first_byte_on(
    app: Starlette, monkeypatch: pytest.MonkeyPatch, starting: bool
) -> None:
    if starting:
        monkeypatch.setattr(index, "import_future", Future)  # which is not done
    for path, _ in pages():
        page, found = PAGES[path or HOME], described(ask(app, f"/{path}", host="norm.example.org").body)
        assert found["title"] == found["og:title"] == (f"{page.title} · normviz" if path else "normviz")
        assert found["description"] == found["og:description"] == page.purpose
        assert found["og:image"] == f"http://norm.example.org/{PREVIEW.path}"
        assert found["twitter:card"] == "summary_large_image"


def test_it_says_so_in_the_language_of_the_reader(app: Starlette) -> None:
    with in_language("es"):
        title, purpose = f"{PAGES['compare'].title} · normviz", PAGES["compare"].purpose
    assert title != "Compare · normviz"
    for found in (
        described(ask(app, "/compare?lang=es").body),
        described(ask(app, "/compare", accept_language="es").body),
    ):
        assert (found["title"], found["og:title"], found["description"]) == (title, title, purpose)


PREVIEWS = [
    ({"host": "norm.example.org:8443", "x_forwarded_proto": "https"}, "https://norm.example.org:8443/lab"),
    ({"host": "[::1]:8501"}, "http://[::1]:8501/lab"),
    ({"host": 'x"><script>alert(1)</script>'}, None),
    ({"host": "a.example/b"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "address"), PREVIEWS)
def test_the_picture_has_the_address_of_the_request(headers: dict[str, str], address: str | None) -> None:
    app = Starlette(routes=[Route("/lab/compare", index.index), Route("/lab/lib/{name}", respond)])
    response = ask(app, "/lab/compare", **headers)
    picture = described(response.body).get("og:image")
    assert picture == (address and f"{address}/{PREVIEW.path}")
    assert b"alert" not in response.body
    if picture:
        assert ask(app, f"/lab{picture.removeprefix(address or '')}").body == PREVIEW.content


def test_normviz_url_is_the_address_of_the_picture(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    for configured in ("https://example.org/lab/", 'https://example.org/"><script>alert(1)</script>'):
        monkeypatch.setenv("NORMVIZ_URL", configured)
        response = ask(app, "/compare", host="inner:8501")
        assert described(response.body)["og:image"] == f"{configured.rstrip('/')}/{PREVIEW.path}"
        assert b"<script>alert" not in response.body
        assert b"inner" not in response.body


def test_the_picture_is_a_png_of_the_size_that_previews_have(app: Starlette) -> None:
    response = ask(app, f"/{PREVIEW.path}", accept_encoding="gzip")
    assert response.headers["content-type"] == "image/png"
    assert "content-encoding" not in response.headers
    assert response.body[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", response.body[16:24]) == (1200, 630)
    assert len(response.body) < 100_000


def test_the_first_html_links_to_the_scripts_of_the_widgets_and_to_what_they_import(app: Starlette) -> None:
    html = ask(app, "/").body.decode()
    links = re.findall(r'<link rel="modulepreload"[^>]* href="./(static/.*?)">', html)
    assert len(set(links)) == len(links)
    for widget in WIDGETS:
        assert [link for link in links if link.startswith(f"static/js/{widget}.")], widget
    for link in links:
        script = (INDEX.parent / link).read_text()
        assert all(name in html for name in re.findall(r'(?:from|import) ?"./([^"]+)"', script)), link


def test_the_scripts_of_streamlit_wait_in_a_template_until_ours_has_loaded(
    app: Starlette, monkeypatch: pytest.MonkeyPatch
) -> None:
    html = ask(app, "/").body.decode()
    before, template, after = re.split(r'<template id="normviz-app">(.*)</template>', html, flags=re.DOTALL)
    own = re.findall(r'<(?:script|link) [^>]*"\./static/js/[^>]*>', INDEX.read_text())
    assert [one for one in own if one not in template] == []
    assert "static/js/" not in before + after
    monkeypatch.setattr(index, "import_future", Future)  # which is not done: there is no page to draw
    starting = ask(app, "/").body.decode()
    assert "<template" not in starting
    assert [one for one in own if one not in starting] == []


def page_in(html: bytes) -> dict[str, Any]:
    """The data of the page in the first HTML."""
    (found,) = re.findall(r'<script type="application/json" id="normviz-data">(.*?)</script>', html.decode())
    data: dict[str, Any] = json.loads(found)
    return data


@pytest.mark.parametrize("page", PAGES)
def test_the_first_html_has_the_page_of_its_address(app: Starlette, page: str) -> None:
    data = page_in(ask(app, f"/{page_path(page)}").body)
    assert data["page"] == page
    assert data["parts"]
    assert all(figure["alone"] and not figure.get("plotly") for figure in data["figures"])


def test_the_first_html_has_the_view_of_its_query(app: Starlette) -> None:
    data = page_in(ask(app, "/explore?shape=2,6,2,2&layer=GroupNorm(3,6)&at=1,2,0,1").body)
    assert "GroupNorm(3, 6)" in dict(data["parts"])["sentence1"]
    assert data["figures"][0]["at"] == [1, 2, 0, 1]
    refused = page_in(ask(app, "/explore?shape=2,3&layer=LayerNorm(7)").body)
    assert "problem1" in dict(refused["parts"])


def test_a_page_that_is_too_large_comes_with_the_app(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("normviz.ui.server.first_page.MOST", 23_000)
    small, large = (
        ask(app, f"/explore?shape={shape}&layer=LayerNorm(32)&seed=1").body for shape in ("16,32,32", "32,32")
    )
    assert page_in(small)["figures"]
    assert b"normviz-data" not in large


@pytest.mark.parametrize(
    "link",
    [
        f"explore?shape={MOST_ROWS},{MOST_COLUMNS}&layer=LayerNorm({MOST_COLUMNS})",  # the largest tensor that is drawn whole
        "explore?shape=32,128,768&layer=LayerNorm(768)",
        "gradients?show=matrix&shape=2,128&layer=LayerNorm(128)",
        f"step_by_step?shape={MOST_ROWS},{MOST_COLUMNS}&layer=LayerNorm({MOST_COLUMNS})",
    ],
)
def test_pages_of_large_tensors_are_not_too_large(app: Starlette, link: str) -> None:
    assert page_in(ask(app, f"/{link}").body)["figures"]


def test_while_the_server_starts_the_first_html_has_no_page(app: Starlette, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "import_future", Future)  # which is not done
    assert b"normviz-data" not in ask(app, "/").body


def test_the_pages_are_those_of_the_application() -> None:
    names = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
    assert page_names() == names
    assert [path for path, _ in pages()] == ["", *(name for name in names if name != HOME)]


@pytest.mark.parametrize(("path", "to"), [("/home", "./"), ("/home?lang=es", "./?lang=es")])
def test_the_front_page_has_the_address_of_the_app(app: Starlette, path: str, to: str) -> None:
    response = ask(app, path)
    assert (response.status, response.headers["location"]) == (307, to)


@pytest.mark.parametrize("path", ["/foo", "/Compare", "/step-by-step?embed_options=dark_theme", "/static"])
def test_a_path_of_no_page_gets_links_to_the_pages(app: Starlette, path: str) -> None:
    response = ask(app, path)
    html = response.body.decode()
    assert response.status == 404
    assert "There is no such page" in html
    assert "<main>" in html
    links = dict(re.findall(r'<a href="./(.*?)">(.*?)</a>', html))
    assert {path or HOME: title for path, title in links.items()} == {name: kind.title for name, kind in PAGES.items()}
    assert links["start"] == "Start here"
    assert "foo" not in html
    assert response.headers["content-security-policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/a/b/c"),
        ("", "/a%2Fb"),
        ("", "//a"),
        ("lab", "/lab/a"),
        ("lab", "/lab/a/b"),
        ("lab", "/lab/a%2Fb"),
        ("lab", "/a"),
        ("lab", "/a/b"),
        ("a/b", "/a/b/c/d"),
        ("a/b", "/a/x"),
    ],
)
def test_its_links_lead_to_the_pages_from_any_depth(base: str, path: str) -> None:
    app = Starlette(routes=[Route("/{path:path}", index.no_page)])
    before = config.get_option("server.baseUrlPath")
    config.set_option("server.baseUrlPath", base)
    try:
        html = ask(app, path).body.decode()
    finally:
        config.set_option("server.baseUrlPath", before)
    link = re.findall(r'<a href="([^"]*compare)">', html)[0]
    assert urljoin(f"http://host{path}", link) == f"http://host/{base and f'{base}/'}compare"


def test_its_size_does_not_follow_the_depth_of_the_path() -> None:
    app = Starlette(routes=[Route("/{path:path}", index.no_page)])
    assert len(ask(app, "/a" * 30_000).body) < 20_000


@pytest.mark.parametrize("path", ["/_stcore/health", "/favicon.png", "/media/x"])
def test_paths_of_streamlit_stay_streamlits(app: Starlette, path: str) -> None:
    assert b"There is no such page" not in ask(app, path).body


def style(app: Starlette, query: str = "") -> str:
    return re.findall(r"<style>(.*?)</style>", ask(app, f"/{query}").body.decode())[0]


def test_the_background_colors_are_those_of_the_theme(app: Starlette) -> None:
    light, dark = (st.get_option(f"theme.{theme}.backgroundColor") for theme in ("light", "dark"))
    assert light != dark
    assert (
        style(app, "?embed_options=light_theme")
        == f"html{{color-scheme:light;background:{light};--st-background-color:{light}}}"
    )
    assert (
        style(app, "?embed_options=dark_theme")
        == f"html{{color-scheme:dark;background:{dark};--st-background-color:{dark}}}"
    )
    reader_s = style(app)
    assert f"background:{light}" in reader_s.split("@media")[0]
    assert f"background:{dark}" in reader_s.split("@media(prefers-color-scheme:dark)")[1]


def test_the_styles_of_normviz_come_last_and_embedded_pages_have_more(app: Starlette) -> None:
    for query, embedded in (
        ("", False),
        ("?embed=true", True),
        ("?EMBED=True&embed_options=dark_theme", True),
        ("?embed=1", False),
    ):
        last = ask(app, f"/explore{query}").body.decode().split("<style>")[-1]
        assert last.partition("</style>") == ("\n" + styles(embedded), "</style>", "\n</body>\n</html>\n")
    assert "stMainBlockContainer" in styles(True).removeprefix(styles(False))


def test_no_text_of_the_address_becomes_html_of_the_page(app: Starlette) -> None:
    """It is quoted in messages, which are data: no tag can begin or end in them."""

    def tags(query: str) -> list[str]:
        return re.findall(r"<[^>]*>", ask(app, f"/explore?{quote(query, safe='=&')}").body.decode())

    for query, harmless in (
        ("embed_options=</style><script>alert(1)</script>", "embed_options=x"),
        ("layer=</script><script>alert(1)</script>", "layer=x"),
        ("caption=<b>x</b>&shape=<!--", "caption=x&shape=x"),
    ):
        assert tags(query) == tags(harmless)


def test_the_policy_allows_exactly_the_inline_scripts_of_the_page(app: Starlette) -> None:
    response = ask(app, "/")
    policy = response.headers["content-security-policy"]
    script_sources = re.search(r"script-src ([^;]*)", policy)
    assert script_sources is not None
    first, hashes = script_sources[1].split()[:3], script_sources[1].split()[3:]
    assert first == ["'self'", "blob:", "'wasm-unsafe-eval'"]  # docs/security.md says why WebAssembly is allowed
    assert all(re.fullmatch(r"'sha256-[\w+/]+='", source) for source in hashes)
    assert "*" not in policy
    assert len(hashes) == response.body.count(b"<script>")


@pytest.mark.parametrize(
    ("host", "websockets"),
    [
        ("norm.example.org:8443", " ws://norm.example.org:8443 wss://norm.example.org:8443"),  # for Safari before 16
        ("[::1]:8501", ""),  # 'self' alone: a policy has no such address
        ("x; script-src *", ""),
        ("", ""),
    ],
)
def test_the_policy_allows_websockets_to_the_own_host_alone(app: Starlette, host: str, websockets: str) -> None:
    policy = ask(app, "/explore", host=host).headers["content-security-policy"]
    assert re.findall(r"connect-src ([^;]*)", policy) == [f"'self' data: blob:{websockets}"]
    assert re.findall(r"wss?:(?!//norm\.)", policy) == []


def test_a_page_without_the_app_may_run_no_script_of_a_blob(app: Starlette) -> None:
    response = ask(app, "/nowhere", host="norm.example.org")
    policy = dict(each.split(" ", 1) for each in response.headers["content-security-policy"].split("; "))
    first, *hashes = policy["script-src"].split()
    assert (policy["default-src"], first) == ("'none'", "'self'")
    assert len(hashes) == response.body.count(b"<script>")
    assert "blob:" not in str(policy)


def test_it_is_compressed_if_the_client_accepts_gzip(app: Starlette) -> None:
    packed = ask(app, "/", accept_encoding="gzip, br")
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == ask(app, "/").body


def test_it_is_revalidated_on_every_visit_and_sent_again_only_if_it_changed(app: Starlette) -> None:
    first = ask(app, "/")
    assert first.headers["cache-control"] == "private, no-cache"
    again = ask(app, "/", if_none_match=f'"old", W/{first.headers["etag"]}')
    assert (again.status, again.body) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    tags = {ask(app, f"/{query}").headers["etag"] for query in ("", "?embed_options=dark_theme", "?embed_options=light_theme")}  # fmt: skip
    assert len(tags) == 3
    assert ask(app, "/", accept_encoding="gzip", if_none_match=first.headers["etag"]).status == 200


def test_with_a_base_path_pages_exist_only_below_it() -> None:
    before = config.get_option("server.baseUrlPath")
    config.set_option("server.baseUrlPath", "/lab/")
    try:
        app = Starlette(routes=routes())
    finally:
        config.set_option("server.baseUrlPath", before)
    assert b"<style>" in ask(app, "/lab/").body
    assert b"<style>" in ask(app, "/lab/compare").body
    assert ask(app, "/lab").headers["location"].endswith("/lab/")
    assert ask(app, "/compare").status == 404


@pytest.mark.parametrize(
    ("path", "query", "location"),
    [
        ("/", "tour=train-and-eval&stop=3&present=true", "./train_and_eval?tour=train-and-eval&stop=3&present=true"),
        ("/numerics", "tour=train-and-eval&stop=1", "./explore?tour=train-and-eval&stop=1"),
    ],
)
def test_a_link_to_a_stop_of_a_tour_leads_to_its_page(app: Starlette, path: str, query: str, location: str) -> None:
    response = ask(app, f"{path}?{query}")
    assert (response.status, response.headers["location"]) == (307, location)


@pytest.mark.parametrize(
    "query", ["", "tour=train-and-eval&stop=1", "tour=nowhere", "tour=train-and-eval&stop=3&shape=2,6"]
)
def test_other_links_stay(app: Starlette, query: str) -> None:
    assert ask(app, f"/explore?{query}").status == 200
