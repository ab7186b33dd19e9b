"""Files that all pages of a site share: plotly.js, one script and one style sheet. Their names contain a hash of the content."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

from normviz.export.document import css
from normviz.export.plotly_source.plotlyjs import hashed_name
from normviz.figures.bundle import bundle, classic, plotly_js, read_css
from normviz.layers.messages import language
from normviz.lessons.page.style import controls_style, exercises_style, share_style

FOLDER = "lib"
SITE = Path(__file__).with_name("site.js")


def site_script() -> str:
    """The script of exported pages and the search, as a classic script."""
    return classic(bundle(SITE, language.get()))


@cache
def site_style() -> str:
    """The style of exported pages, and above it the site's own."""
    return f"{css()}{controls_style()}{share_style()}{exercises_style()}\n:is(.ns-html, #ns-html){{{read_css(SITE.with_suffix('.css'))}}}\n"


def shared_files() -> dict[str, bytes]:
    """The path of each, as the pages see it, and its content."""
    texts = {"js": site_script().encode(), "css": site_style().encode()}
    named = {f"{FOLDER}/normviz-{sha256(text).hexdigest()[:12]}.{kind}": text for kind, text in texts.items()}
    return {plotly_path(): plotly_js()} | named


def plotly_path() -> str:
    return f"{FOLDER}/{hashed_name()}"


def path_of(kind: str) -> str:
    """The path of the shared "js" or "css"."""
    return next(path for path in shared_files() if path.endswith(f".{kind}") and path != plotly_path())
