"""The first HTML: Streamlit's index.html, changed to have the theme's colors before any script has run.

Streamlit's own stays white until its scripts have loaded and the server has sent the theme. Ours contains the page as data, which our script
draws at once. While the server still starts, it has no data. Its title and its description are those of the page.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qsl

import streamlit as st
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from normviz.figures.palette import THEMES
from normviz.parts.titles import EXPLORE, HOME, TITLES, asks_for_a_view, full_title
from normviz.texts.languages import html_attributes
from normviz.texts.messages import _, cache_by_language, in_language, language
from normviz.ui import PAGE_SCRIPTS
from normviz.ui.assets import PREVIEW, accepts_gzip, component, is_known
from normviz.ui.load import Busy, Queue
from normviz.ui.request import app_address, host_of, language_of_request
from normviz.ui.server import files
from normviz.ui.server.process import import_future, import_ready

COLORS = ("primaryColor", "backgroundColor", "secondaryBackgroundColor", "textColor")
COLOR = re.compile(r"#[0-9a-fA-F]{3,8}")
FONTS = {"bodyFont": "font", "headingFont": "font", "codeFont": "codeFont"}  # name in the front end: Streamlit's option
INDEX = Path(st.__file__).parent / "static" / "index.html"
FONT = re.compile(r'\s*<link\s[^>]*\bas="font"[^>]*>')  # Streamlit's font, which the theme does not use
STYLESHEET = re.compile(r'\s*(<link\s[^>]*rel="stylesheet"[^>]*>)')
# Streamlit's front end fetches the script of a widget when it draws the first one, and then what that script imports.
WIDGETS = ("BidiComponent", "Button", "ButtonGroup", "Html", "NumberInput", "Selectbox")
IMPORT = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
APP_SCRIPT = re.compile(rb'\s*(<link rel="modulepreload" crossorigin[^>]*>|<script type="module"[^>]*></script>)')
CHARSET = re.compile(r"<meta charset=[^>]*>", re.IGNORECASE)
HTML = re.compile(r"<html[^>]*>")
TITLE = "<title>Streamlit</title>"
ROOT, BODY_ENDS = '<div id="root"></div>', "</body>"
SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
# A theme chosen in Streamlit's menu takes precedence, as in Streamlit.
THEME_FROM_MENU = (
    "try{const t=JSON.parse(localStorage.getItem(`stActiveTheme-${location.pathname}-v2`));"
    "if(t==='Light'||t==='Dark')document.documentElement.dataset.theme=t.toLowerCase()}catch{}"
)
VARY = "Accept-Encoding, Accept-Language, Cookie"  # the language follows from the last two
# Below the root, the front end would otherwise look for the server at the address of the page first, and report two errors.
BACKEND = 'window.__streamlit.BACKEND_BASE_URL=new URL(".",location.href).href'
PATIENCE = 1.0  # s, until the HTML is sent without the page

MAX_PAGES = 4  # running and waiting; above that, the HTML is sent without the page at once
_queue = Queue("first-page", 1, MAX_PAGES)


def theme_of(query: str) -> str | None:
    """The theme in the address, by Streamlit's own rule; None if the reader's own applies.

    >>> theme_of("embed=true&embed_options=dark_theme"), theme_of("shape=2,3")
    ('dark', None)
    """
    options = _values(query, "embed_options")
    return next((theme for theme in THEMES if f"{theme}_theme" in options), None)


def is_embedded(query: str) -> bool:
    """Whether the query asks for an embedded page, by Streamlit's own rule.

    >>> is_embedded("shape=2,3&embed=true"), is_embedded("embed=1")
    (True, False)
    """
    return "true" in _values(query, "embed")


def _values(query: str, parameter: str) -> set[str]:
    return {value.lower() for name, value in parse_qsl(query) if name.lower() == parameter}


async def index(request: Request) -> Response:
    """The response to every page of the app."""
    if request.scope.get(files.FULL):
        return _full(request)
    if elsewhere := _elsewhere(request):
        return RedirectResponse(elsewhere, headers={"Cache-Control": "no-cache"})
    with in_language(_language(request)):
        page, gzipped = await _page_for(request), accepts_gzip(request)
    tag = f'"{page.tag}{"-gzip" if gzipped else ""}"'
    # Private: the page names the host of the request.
    headers = {"Cache-Control": "private, no-cache", "Vary": VARY, "ETag": tag}
    headers["Content-Security-Policy"] = page.policy(host_of(request))
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    if gzipped:
        headers["Content-Encoding"] = "gzip"
    return Response(page.gzipped if gzipped else page.html, media_type="text/html", headers=headers)


def _language(request: Request) -> str:
    return language_of_request(request, request.query_params.get("lang", ""))


def _elsewhere(request: Request) -> str:
    """The address that the app would go to at once, as seen from this one; "" if it stays.

    While the server starts, only the address of the app is redirected.
    """
    name, query = _name(request), request.url.query
    if not import_future().done():
        return f"./{EXPLORE}?{query}" if name == HOME and asks_for_a_view(request.query_params) else ""
    redirect: Callable[[str, str], str] = import_ready("normviz.ui.server.first_page").redirect
    return redirect(name, query)


def _name(request: Request) -> str:
    """The name of the page of the address."""
    return request.url.path.rpartition("/")[2] or HOME


async def _page_for(request: Request) -> IndexHtml:
    """With the page of the address, unless it is not ready in time."""
    query, name = request.url.query, _name(request)
    html = _page(theme_of(query), is_embedded(query))
    plain = IndexHtml(html.replace(TITLE, _about(name, app_address(request)), 1).encode())
    if not import_future().done():
        return plain
    try:
        async with asyncio.timeout(PATIENCE):
            return await _queue.run(request, _with_page, plain, name, query)
    except (TimeoutError, Busy):
        return plain


@dataclass(frozen=True)
class IndexHtml:
    """One version of the first HTML."""

    html: bytes

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.html, 9, mtime=0)

    @cached_property
    def tag(self) -> str:
        return hashlib.sha256(self.html).hexdigest()[:16]

    @cached_property
    def inline_scripts(self) -> str:
        """The hashes of the scripts in the HTML, for a content security policy."""
        hashes = (hashlib.sha256(script).digest() for script in SCRIPT.findall(self.html))
        return " ".join(f"'sha256-{b64encode(digest).decode()}'" for digest in hashes)

    def policy(self, host: str) -> str:
        """The content security policy: the page loads the server's files and what it creates itself, and connects to its own host.

        Safari before 16 does not take websockets for connections to 'self', so the host is named, too. A policy has no addresses of IPv6.
        Streamlit loads the script of a component from a blob. Its reader of messages multiplies long integers with WebAssembly, which only
        a script that runs already can ask for.
        """
        websockets = f" ws://{host} wss://{host}" if host and "[" not in host else ""
        return (
            f"default-src 'self'; script-src 'self' blob: 'wasm-unsafe-eval' {self.inline_scripts}; style-src 'self' 'unsafe-inline'; "
            f"img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:{websockets}; worker-src 'self' blob:; "
            "frame-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'"
        )

    @property
    def policy_without_app(self) -> str:
        """The content security policy of a page that consists of its HTML alone."""
        return (
            f"default-src 'none'; script-src 'self' {self.inline_scripts}; style-src 'unsafe-inline'; img-src 'self'; "
            "base-uri 'none'; form-action 'none'"
        )


def _with_page(plain: IndexHtml, name: str, query: str) -> IndexHtml:
    """The HTML with the page of the address."""
    try:
        make = import_ready("normviz.ui.server.first_page").first_page
        first = make(name, query, is_embedded(query))
    except Exception:  # the app reports it
        return plain
    return IndexHtml(_app_later(plain.html, first)) if first else plain


def _app_later(html: bytes, first: str) -> bytes:
    """The HTML with the page ``first``, whose script adds Streamlit's scripts from a template when it has loaded."""
    scripts = b"\n".join(APP_SCRIPT.findall(html))
    template = b'<template id="normviz-app">%b</template>\n' % scripts
    return APP_SCRIPT.sub(b"", html).replace(ROOT.encode(), template + f"{first}{ROOT}".encode(), 1)


def _about(name: str, app: str) -> str:
    """The title of a page, and what other sites show of a link to it: a title, a description, a picture if the app's address is known."""
    about = _(TITLES[name][1])
    found = {"og:title": full_title(name), "og:description": about, "og:image": app and f"{app}/{PREVIEW.path}"}
    lines = [f"<title>{escape(found['og:title'])}</title>", f'<meta name="description" content="{escape(about)}">']
    lines += [f'<meta property="{key}" content="{escape(text)}">' for key, text in found.items() if text]
    return "\n    ".join([*lines, '<meta name="twitter:card" content="summary_large_image">'])


@cache_by_language()
def _page(theme: str | None, embedded: bool) -> str:
    """The HTML with Streamlit's title."""
    html = FONT.sub("", INDEX.read_text(encoding="utf-8"))
    # Nothing is painted before the style sheet, so it and our script, which draws the page, are fetched first.
    module = f'<link rel="modulepreload" fetchpriority="high" href="./{component(language.get()).path}">'
    first = "\n".join([_head(theme), module, *STYLESHEET.findall(html)])
    html = HTML.sub(f"<html {html_attributes()}>", html, count=1)
    html = CHARSET.sub(lambda found: found[0] + first, STYLESHEET.sub("", html), count=1)
    # Our styles come last, because the front end adds its own to the head.
    last = f"{_widget_scripts()}\n<style>\n{styles(embedded)}</style>\n"
    return html.replace(BODY_ENDS, last + BODY_ENDS, 1)


@cache
def _widget_scripts() -> str:
    """Links to the scripts of our widgets and to what they import, without those that Streamlit's own HTML links to.

    The browser fetches them while the server starts and the front end connects.
    """
    folder, linked, found = INDEX.parent / "static" / "js", INDEX.read_text(encoding="utf-8"), list[Path]()
    wanted = [script for widget in WIDGETS for script in folder.glob(f"{widget}.*.js")]
    while wanted:
        script = wanted.pop()
        if script.name not in linked and script not in found:
            found.append(script)
            wanted += [folder / name for name in IMPORT.findall(script.read_text(encoding="utf-8"))]
    link = '<link rel="modulepreload" crossorigin fetchpriority="low" href="./static/js/{}">'
    return "\n".join(link.format(script.name) for script in found)


def _head(theme: str | None) -> str:
    """What the head contains before anything is fetched: the theme's colors, and the theme for Streamlit's front end."""
    light, dark = (_colors(name) for name in THEMES)
    fonts = {name: value for name, option in FONTS.items() if (value := st.get_option(f"theme.{option}"))}
    themes = json.dumps({"LIGHT_THEME": light | fonts, "DARK_THEME": dark | fonts}).replace("<", "\\u003c")
    rules = {name: _rule(name, colors) for name, colors in zip(THEMES, (light, dark), strict=True)}
    if theme:
        style, scheme, menu = f"html{{{rules[theme]}}}", theme, ""
    else:
        style = (
            f"html,html[data-theme=light]{{{rules['light']}}}html[data-theme=dark]{{{rules['dark']}}}"
            f"@media(prefers-color-scheme:dark){{html:not([data-theme=light]){{{rules['dark']}}}}}"
        )
        scheme, menu = "light dark", THEME_FROM_MENU
    # Without __streamlit, the front end would start with Streamlit's own theme and fetch its font.
    script = f"window.__streamlit={themes};{BACKEND};{menu}"
    return f'\n<meta name="color-scheme" content="{scheme}">\n<style>{style}</style>\n<script>{script}</script>'


def _rule(theme: str, colors: dict[str, str]) -> str:
    background = colors.get("backgroundColor")
    rest = f";background:{background};--st-background-color:{background}" if background else ""
    return f"color-scheme:{theme}{rest}"


def _colors(theme: str) -> dict[str, str]:
    """The theme's colors in Streamlit's options."""
    found = {name: st.get_option(f"theme.{theme}.{name}") or st.get_option(f"theme.{name}") for name in COLORS}
    return {name: value for name, value in found.items() if isinstance(value, str) and COLOR.fullmatch(value)}


def page_names() -> list[str]:
    """The names of the pages, from their scripts."""
    return sorted(script.stem for script in PAGE_SCRIPTS.glob("*.py"))


DEEPEST = 99  # folders of a path from which links lead to the pages; more would only make the response large


async def no_page(request: Request) -> Response:
    """The response to a path that no page has: links to the pages. It contains no text from the address."""
    await asyncio.wrap_future(import_future())
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    path = request.scope["raw_path"].decode("ascii", "replace")  # a browser counts no encoded slash
    below = not base or path.startswith(f"/{base}/")
    depth = path.count("/") - (base.count("/") + 2 if base and below else 1)
    root = "../" * min(depth, DEEPEST) or "./"
    with in_language(_language(request)):
        page = _no_page(theme_of(request.url.query), root if below else f"{root}{base}/")
    headers = {"Cache-Control": "no-cache", "Vary": VARY, "Content-Security-Policy": page.policy_without_app}
    return Response(page.html, status_code=404, headers=headers, media_type="text/html")


@cache_by_language(32)  # an address may be at any depth
def _no_page(theme: str | None, root: str) -> IndexHtml:
    titles = import_ready("normviz.ui.server.first_page").page_titles()
    links = "".join(f'<li><a href="{root}{name}">{title}</a></li>' for name, title in titles.items())
    return _message_page(theme, _("There is no such page"), f"<p>{_('The pages of normviz are:')}</p><ul>{links}</ul>")


def _full(request: Request) -> Response:
    """The response while too many files are open for another visitor: a page that asks again by itself."""
    with in_language(_language(request)):
        text = _("Many visitors are here at the moment. This page tries again by itself in a few seconds.")
        title, again = _("The server is full"), f'<meta http-equiv="refresh" content="{files.AGAIN}">'
        page = _message_page(theme_of(request.url.query), title, f"<p>{text}</p>", again)
    headers = {
        "Cache-Control": "no-store",
        "Retry-After": str(files.AGAIN),
        "Content-Security-Policy": page.policy_without_app,
    }
    return Response(page.html, HTTPStatus.SERVICE_UNAVAILABLE, headers, media_type="text/html")


def _message_page(theme: str | None, title: str, body: str, head: str = "") -> IndexHtml:
    """A page without the app: a title, and the HTML below it."""
    return IndexHtml(
        f'<!DOCTYPE html><html {html_attributes()}><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">{head}'
        f"<title>normviz</title>{_head(theme)}<style>body{{font:16px/1.6 system-ui,sans-serif;margin:15vh auto;max-width:30rem;padding:0 1rem}}"
        f"a{{color:inherit}}</style></head><body><main><h1>{title}</h1>{body}</main></body></html>".encode()
    )


@cache
def styles(embedded: bool) -> str:
    """Our own CSS, for what Streamlit's theme settings cannot express. The controls of an embedded page are not folded.

    It is part of the first HTML, so that no run of a page sends it.
    """
    light, dark = (colors.background for colors in THEMES.values())
    background = f".stApp {{ --normviz-background: light-dark({light}, {dark}); }}\n"
    folder = Path(__file__).with_name("css")
    names = ("app", "first_page", "embed" if embedded else "fold")
    return background + "".join((folder / f"{name}.css").read_text(encoding="utf-8") for name in names)
