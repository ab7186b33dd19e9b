"""Parts as one HTML file that needs no server, or as an HTML fragment of another page."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, cast, get_args

from normviz.__version__ import __version__
from normviz.export import assets
from normviz.figures.palette import FAVICON, FOLLOW
from normviz.figures.wire import Json, Payload, left_out
from normviz.parts.html import Body, FigureData, Term, data, escape
from normviz.parts.part import Part
from normviz.scene.setting import check_length
from normviz.scene.view import NOT_PRESENTED
from normviz.texts.errors import NormvizError, check_web_address, echo, listed
from normviz.texts.languages import html_attributes
from normviz.texts.messages import _, language

Theme = Literal["follow", "light", "dark"]  # of the surrounding page, or one of its own
CHOICES = get_args(Theme)
Plotlyjs = Literal["once", "inline", "cdn"] | str  # or an address
LONGEST_TEXT = 300  # characters of a title or a caption
VERSION = 1  # version of the data that a page's script reads; the views of a playable page have a version of their own
BROWSER = Path(__file__).with_name("browser")


def document(
    parts: Iterable[Part],
    *,
    title: str,
    theme: str = FOLLOW,
    plotly: str = "inline",
    caption: str = "",
    link: str = "",
    views: dict[str, Json] | None = None,
    present: bool = False,
    app: str = "",
    pages: Mapping[str, str] = {},
) -> str:
    """One HTML file.

    title    of the page
    theme    "light", "dark", or "follow" for the reader's own
    plotly   where plotly.js is: "inline", "cdn", or its address as the page sees it
    caption  a line below the figures
    link     the address of the same view in an app, or ""
    views    the views that the reader can choose (``views_data``); without them, the file shows one view
    present  the file is for a projector
    app      the address of an app for links to other views, or ""
    pages    the addresses of pages next to the file, by their link in the app

    Raises NormvizError for an unknown theme, a text that is too long, or an invalid address.
    """
    escaped = escape(check_text("title", title))
    body = fragment(
        parts,
        theme=theme,
        plotly=plotly,
        caption=caption,
        link=link,
        whole=True,
        views=views,
        present=present,
        app=app,
        pages=pages,
    )
    return (
        "<!doctype html>\n"
        f'<html {html_attributes()} class="nv-html" data-theme="{check_theme(theme)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f'<title>{escaped}</title>\n<link rel="icon" href="{FAVICON}">\n</head>\n<body>\n<main>\n<h1 class="nv-name">{escaped}</h1>\n{body}\n</main>\n</body>\n</html>\n'
    )


def fragment(
    parts: Iterable[Part],
    *,
    theme: str = FOLLOW,
    plotly: str = "inline",
    caption: str = "",
    link: str = "",
    whole: bool = False,
    views: dict[str, Json] | None = None,
    present: bool = False,
    widget: str = "",
    app: str = "",
    pages: Mapping[str, str] = {},
) -> str:
    """A fragment of another page, such as a notebook; it follows that page's background.

    whole   it is the body of ``document``
    widget  the key of the notebook widget that answers while its kernel runs
    present, app, pages: as in ``document``
    """
    source, body = plotlyjs(plotly), Body(app=app or None, pages=pages, tables=True, carries=True)
    html = body.page(parts)
    playable = bool(views or widget)
    is_needed = source.embedded and (body.figures or playable or not whole)  # other outputs of a notebook use it too
    embedded = f'<script type="text/plain" class="nv-carried">{source.embedded}</script>\n' if is_needed else ""
    more = (
        assets.controls_style() + assets.share_style()
        if playable
        else assets.exercises_style()
        if body.exercises
        else ""
    )
    marks = " data-answers" if playable else ""
    if not whole:  # the page around it may be in another language, and JupyterLab must not take the keys of inputs
        marks += f' {html_attributes()} data-lm-suppress-shortcuts="true"'
    return (
        f'<div class="nv-doc" data-theme="{check_theme(theme)}"{marks}>\n<style>{css()}{more}</style>\n{html}\n{_foot(caption, link)}'
        f"{no_script()}\n{settings(body, theme, source, whole, views, widget, present)}\n{embedded}"
        f'<script type="module">{script(playable, body.exercises)}</script>\n</div>'
    )


@dataclass(frozen=True, kw_only=True)
class DocumentData(Payload):
    """What the script of an exported page reads.

    version      of this format
    plotly       the address of plotly.js; "" if the page embeds it
    integrity    the hash that plotly.js must have, or ""
    whole        the page is a file of its own
    present      the page is for a projector
    unpresented  the names of the panels that a projector does not show
    answers      all views, compressed (``FileViews``)
    widget       the key of the notebook widget that answers while its kernel runs
    """

    version: int
    normviz: str
    theme: Theme
    plotly: str
    integrity: str
    whole: bool
    present: bool = left_out(False)
    unpresented: Sequence[str]
    figures: list[FigureData]
    terms: list[Term]
    answers: str = left_out("")
    widget: str = left_out("")


def settings(
    body: Body,
    theme: str,
    source: PlotlyJs,
    whole: bool = True,
    views: dict[str, Json] | None = None,
    widget: str = "",
    present: bool = False,
) -> str:
    """The data that the page's script reads: its version, the figures or all views, and where plotly.js is."""
    answers = compressed(data(views).encode()) if views else ""
    values = DocumentData(
        version=VERSION,
        normviz=__version__,
        theme=check_theme(theme),
        plotly=source.address,
        integrity=source.integrity,
        whole=whole,
        present=present,
        unpresented=sorted(NOT_PRESENTED),
        figures=[] if views else body.figures,
        terms=body.terms(whole=bool(views or widget)),
        answers=answers,
        widget=widget,
    )
    return f'<script type="application/json" class="nv-data">{data(values)}</script>'


def _foot(caption: str, link: str) -> str:
    foot = f'<p class="nv-small nv-said">{escape(check_text("caption", caption))}</p>\n' if caption else ""
    check_web_address("link=", link)
    opens = f'<a class="nv-app-link" href="{escape(link)}">{escape(_("Open in the app"))}</a>'
    return foot + (f'<p class="nv-small">{opens}</p>\n' if link else "")


def no_script() -> str:
    """What a reader without JavaScript sees."""
    return f'<noscript><p class="nv-note-box">{escape(_("The figures need JavaScript."))}</p></noscript>'


def check_text(name: str, text: str) -> str:
    """The text. Raises NormvizError if it is none, or too long."""
    if not isinstance(text, str):
        raise NormvizError("{name}={value} is not a text.", name=name, value=echo(text))
    return check_length(name, text, LONGEST_TEXT)


def check_theme(name: str) -> Theme:
    """The name of a theme. Raises NormvizError if it is unknown."""
    if name not in CHOICES:
        raise NormvizError("theme={name} is unknown; choose {choices}.", name=echo(name), choices=listed(CHOICES))
    return cast(Theme, name)


@cache
def css() -> str:
    """The style of an exported page and of its figures. Until its script has run, a page has the colors of its theme."""
    light, dark = assets.variables("light"), assets.variables("dark")
    first = (
        f".nv-html{{{light}}}.nv-html[data-theme=dark]{{{dark}}}"
        f"@media(prefers-color-scheme:dark){{.nv-html[data-theme=follow]{{{dark}}}}}"
        f".nv-html.nv-html[data-mode=light]{{{light}}}.nv-html.nv-html[data-mode=dark]{{{dark}}}"
    )
    return f"{first}{assets.read_css(BROWSER / 'whole.css')}{assets.page_style()}"


def script(playable: bool = False, exercises: bool = False) -> str:
    """The script of an exported page; ``playable``: True if a file or a kernel answers its controls; ``exercises``: as in Body."""
    return assets.bundle("playable" if playable else "exercises" if exercises else "fixed", language.get())


# Where an exported page loads plotly.js from: itself, a public CDN, or a file next to it.

LONGEST = 500


@dataclass(frozen=True)
class PlotlyJs:
    """Where plotly.js is.

    address    for the browser; "" if the page embeds the script
    integrity  the hash that a script from the CDN must have
    embedded   the script itself, compressed, as text
    """

    address: str = ""
    integrity: str = ""
    embedded: str = ""


CDN = PlotlyJs(f"https://cdn.plot.ly/plotly-cartesian-{assets.PLOTLY_VERSION}.min.js", f"sha384-{assets.PLOTLY_SHA384}")


def plotlyjs(where: str) -> PlotlyJs:
    """ "inline", "cdn", or the address of the file as the page sees it, such as "lib/plotly.min.js".

    Raises NormvizError for an address that a page cannot load.

    >>> plotlyjs("lib/plotly.min.js").address
    'lib/plotly.min.js'
    """
    if where == "inline":
        return PlotlyJs(embedded=_compressed())
    if where == "cdn":
        return CDN
    scheme = where.partition(":")[0].strip().lower() if isinstance(where, str) and ":" in where else ""
    if (
        not isinstance(where, str)
        or not where.strip()
        or len(where) > LONGEST
        or scheme not in ("", "http", "https", "file")
    ):
        raise NormvizError(
            "plotlyjs={where} is not a location of plotly.js; write inline, cdn, or an address such as lib/plotly.min.js.",
            where=echo(where),
        )
    return PlotlyJs(where)


@cache
def _compressed() -> str:
    return compressed(assets.plotly_js())


def compressed(content: bytes) -> str:
    """What the page's script unpacks."""
    return b64encode(gzip.compress(content, 9, mtime=0)).decode("ascii")
