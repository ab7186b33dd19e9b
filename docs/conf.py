"""The documentation as a site: ``make docs`` writes it into build/docs, with warnings as errors.

The pages are plain Markdown, as GitHub shows it. Here the index becomes the table of contents, a link to a file outside of docs/ leads to the
repository if the project has an address, and a picture below ``<!-- live: LINK -->`` becomes the view itself, written by normviz.
"""

import re
import shutil
import tomllib
from html import escape
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

import normviz as nv
from normviz.__version__ import __version__
from normviz.export.assets import plotly_js

ROOT = Path(__file__).resolve().parents[1]
ADDRESS = (
    tomllib.loads((ROOT / "pyproject.toml").read_text())["project"].get("urls", {}).get("Repository", "").rstrip("/")
)
LIVE = re.compile(r"<!-- live: (/\S+) -->\n!\[([^\]]*)\]\([^)]*\)")
FRAME = (  # below 760 px, the panels are below each other
    '<div style="container-type: inline-size"><iframe src="live/{name}" title="{title}" loading="lazy" allow="clipboard-write" '
    'style="width: 100%; border: 0; height: max({wide}px, min({narrow}px, (760px - 100cqw) * 9999))"></iframe></div>'
)

project = "normviz"
copyright = author = "the normviz contributors"
version = release = __version__
extensions = ["myst_parser"]
root_doc = "README"
highlight_language = "none"
myst_heading_anchors = 4
html_theme = "furo"
html_title = f"normviz {version}"
html_copy_source = False
html_static_path, html_css_files = ["site.css"], ["site.css"]


def setup(app: Any) -> None:
    app.add_lexer("csv", TextLexer)  # Pygments has none
    app.connect("source-read", _read)
    app.connect("build-finished", _finish)


def _read(app: Any, name: str, source: list[str]) -> None:
    text = re.sub(r"\[([^\]]+)\]\(\.\./([^)]+)\)", _outside, source[0])
    if name == root_doc:
        text += "".join(_contents(section) for section in text.split("\n## ")[1:])
    source[0] = LIVE.sub(_frame, text)


def _outside(link: re.Match[str]) -> str:
    """A link to a file of the repository."""
    label, path = link.groups()
    return f"[{label}]({ADDRESS}/blob/main/{path})" if ADDRESS else f"{label} (`{path.partition('#')[0]}`)"


def _contents(section: str) -> str:
    """A part of the table of contents from a section of the index."""
    title, pages = section.partition("\n")[0], re.findall(r"\]\((\w[\w-]*)\.md\)", section)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{chr(10).join(pages)}\n```\n" if pages else ""


def _name(link: str) -> str:
    return re.sub(r"\W+", "-", link.strip("/")) + ".html"


def _frame(found: re.Match[str]) -> str:
    link, title = found.groups()
    short = "hide=all" in link
    return FRAME.format(
        name=_name(link), title=escape(title), wide=412 if short else 750, narrow=810 if short else 1290
    )


def _finish(app: Any, problem: Exception | None) -> None:
    """Write the views, and the index under the name that web servers look for."""
    if problem is not None:
        return
    folder = Path(app.outdir)
    (folder / "live").mkdir(exist_ok=True)
    (folder / "live" / "plotly.min.js").write_bytes(plotly_js())
    for page in Path(app.srcdir).glob("*.md"):
        for link, _ in LIVE.findall(page.read_text(encoding="utf-8")):
            view = nv.open(link) if "hide=all" in link else nv.open(link).with_(choices=nv.Choices())
            (folder / "live" / _name(link)).write_text(view.to_html(plotlyjs="plotly.min.js"), encoding="utf-8")
    shutil.copy(folder / f"{root_doc}.html", folder / "index.html")
