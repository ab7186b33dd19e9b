"""The HTML that a browser gets first: Streamlit's own, which paints in the theme's colours before any script has run.

Streamlit's index.html is white until its scripts have come and the server has told the theme. Six copies of it are kept, for each
theme that an address may ask for one alone and one embedded; no text of the address goes into them.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from urllib.parse import parse_qsl

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response

from normviz.ui.assets import LINKED, PLOTLY, SHARE, packs
from normviz.ui.server.styles import styles

THEMES = ("light", "dark")
COLOURS = ("primaryColor", "backgroundColor", "secondaryBackgroundColor", "textColor")
COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}")
FONTS = {"bodyFont": "font", "headingFont": "font", "codeFont": "codeFont"}  # the front end's names, and the options
INDEX = Path(st.__file__).parent / "static" / "index.html"
FONT = re.compile(r'\s*<link\s[^>]*\bas="font"[^>]*>')  # Streamlit's own, which the theme does not use
CHARSET = re.compile(r"<meta charset=[^>]*>", re.IGNORECASE)
HEAD_ENDS, BODY_ENDS = "</head>", "</body>"
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
# The reader's own choice in Streamlit's menu wins, as it does in Streamlit.
CHOSEN = (
    "try{const t=JSON.parse(localStorage.getItem(`stActiveTheme-${location.pathname}-v2`));"
    "if(t==='Light'||t==='Dark')document.documentElement.dataset.theme=t.toLowerCase()}catch{}"
)
# Settled when plotly.js has come, or will not.
BEGUN = "normvizBegun=new Promise(done=>{plotly.onload=plotly.onerror=done})"


def theme_of(query: str) -> str | None:
    """The theme that an address asks for, by Streamlit's own rule; None is the reader's.

    >>> theme_of("embed=true&embed_options=dark_theme"), theme_of("shape=2,3")
    ('dark', None)
    """
    asked = _asked(query, "embed_options")
    return next((theme for theme in THEMES if f"{theme}_theme" in asked), None)


def is_embedded(query: str) -> bool:
    """Is the address that of a page in another page? By Streamlit's own rule.

    >>> is_embedded("shape=2,3&embed=true"), is_embedded("embed=1")
    (True, False)
    """
    return "true" in _asked(query, "embed")


def _asked(query: str, wanted: str) -> set[str]:
    return {value.lower() for name, value in parse_qsl(query) if name.lower() == wanted}


async def index(request: Request) -> Response:
    """The page of any address of the app."""
    page, packed = _page(theme_of(request.url.query), is_embedded(request.url.query)), packs(request)
    tag = f'"{page.tag}{"-gzip" if packed else ""}"'
    headers = {
        "Cache-Control": "no-cache",
        "Vary": "Accept-Encoding",
        "ETag": tag,
        "Content-Security-Policy": page.policy,
    }
    if tag in (known.strip().removeprefix("W/") for known in request.headers.get("if-none-match", "").split(",")):
        return Response(status_code=304, headers=headers)
    if packed:
        headers["Content-Encoding"] = "gzip"
    return Response(page.gzipped if packed else page.html, media_type="text/html", headers=headers)


@dataclass(frozen=True)
class Page:
    """One copy of the index."""

    html: bytes

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.html, 9, mtime=0)

    @cached_property
    def tag(self) -> str:
        return hashlib.sha256(self.html).hexdigest()[:16]

    @cached_property
    def policy(self) -> str:
        """What the page may load: its own files, and what it makes itself."""
        inline = " ".join(f"'sha256-{_hash(script)}'" for script in SCRIPT.findall(self.html.decode()))
        return (
            f"default-src 'self'; script-src 'self' blob: {inline}; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob: ws: wss:; worker-src 'self' blob:; "
            "frame-src 'self' blob:; object-src 'none'; base-uri 'self'; form-action 'self'"
        )


def _hash(script: str) -> str:
    return b64encode(hashlib.sha256(script.encode()).digest()).decode()


@cache
def _page(theme: str | None, embedded: bool) -> Page:
    html = FONT.sub("", INDEX.read_text(encoding="utf-8")).replace("<title>Streamlit</title>", "<title>normviz</title>")
    html = CHARSET.sub(lambda found: found[0] + _first(theme), html, count=1)
    html = html.replace(HEAD_ENDS, f"{_ahead()}{HEAD_ENDS}", 1)
    # Our styles stand last: the front end writes its own into the head.
    return Page(html.replace(BODY_ENDS, f"<style>\n{styles(embedded)}</style>\n{BODY_ENDS}", 1).encode())


def _first(theme: str | None) -> str:
    """What stands in the head before anything is fetched."""
    light, dark = (_colours(name) for name in THEMES)
    fonts = {name: value for name, option in FONTS.items() if (value := st.get_option(f"theme.{option}"))}
    told = json.dumps({"LIGHT_THEME": light | fonts, "DARK_THEME": dark | fonts}).replace("<", "\\u003c")
    rules = {name: _rule(name, colours) for name, colours in zip(THEMES, (light, dark), strict=True)}
    if theme:
        style, scheme, chosen = f"html{{{rules[theme]}}}", theme, ""
    else:
        style = (
            f"html,html[data-theme=light]{{{rules['light']}}}html[data-theme=dark]{{{rules['dark']}}}"
            f"@media(prefers-color-scheme:dark){{html:not([data-theme=light]){{{rules['dark']}}}}}"
        )
        scheme, chosen = "light dark", CHOSEN
    # Streamlit's front end takes its first theme from __streamlit; else it would be Streamlit's own, and fetch its font.
    script = f"window.__streamlit={told};{chosen}"
    return f'\n<meta name="color-scheme" content="{scheme}">\n<style>{style}</style>\n<script>{script}</script>'


def _ahead() -> str:
    """What the figure needs, fetched beside Streamlit's own scripts; plotly.js runs after them, while the server makes the page."""
    modules = "".join(f'<link rel="modulepreload" href="./{asset.path}">\n' for asset in (LINKED, SHARE))
    return f'{modules}<script defer id="plotly" src="./{PLOTLY.path}"></script>\n<script>{BEGUN}</script>\n'


def _rule(theme: str, colours: dict[str, str]) -> str:
    ground = colours.get("backgroundColor")
    return f"color-scheme:{theme}" + (f";background:{ground}" if ground else "")


def _colours(theme: str) -> dict[str, str]:
    """The theme's colours in Streamlit's options."""
    found = {name: st.get_option(f"theme.{theme}.{name}") or st.get_option(f"theme.{name}") for name in COLOURS}
    return {name: value for name, value in found.items() if isinstance(value, str) and COLOUR.fullmatch(value)}
