"""Plain text of parts, for terminals and for notebooks without a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from html import escape
from typing import Any, Protocol

from markdown_it import MarkdownIt

from normviz.texts.messages import BEGIN, END, without_marks

WIDEST = 100  # characters in a column


class HasText(Protocol):
    def plain_text(self) -> str: ...


def text(parts: Iterable[HasText]) -> str:
    """The parts as paragraphs. A figure is represented by the titles and captions of its panels.

    >>> from normviz.lessons.parts.part import Sentence, Text
    >>> print(text([Sentence("**2** means"), Text("of `x`")]))
    2 means
    <BLANKLINE>
    of x
    """
    return without_marks("\n\n".join(filter(None, (part.plain_text() for part in parts))))


def plain(markdown: str) -> str:
    """The Markdown as plain text.

    >>> plain("**2** of `x`, see [torch](https://pytorch.org)")
    '2 of x, see torch'
    """
    markdown = without_marks(markdown)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"\*\*|`", "", markdown)).replace("\\|", "|")


def align(lines: Sequence[Sequence[str]]) -> str:
    """The cells of each line in columns of equal width."""
    if not lines:
        return ""
    widths = [min(WIDEST, max(map(len, column))) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


# Texts as HTML. Tags in a text are escaped, and an address that runs code does not become a link.


__all__ = ["block", "data", "escape", "finished", "line", "plain_table"]

KEPT = 512  # texts: most of a page is the same after a change


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


@lru_cache(KEPT)
def block(text: str) -> str:
    """Markdown paragraphs, lists and tables.

    >>> block("**2** of `x` <script>")
    '<p><strong>2</strong> of <code>x</code> &lt;script&gt;</p>'
    """
    return finished(str(_markdown().render(text)).strip())


@lru_cache(KEPT)
def line(text: str) -> str:
    """Markdown within a line."""
    return finished(str(_markdown().renderInline(text)))


def finished(html: str) -> str:
    """HTML that says which of its words are English (``normviz.texts.messages.english``).

    >>> finished("torch: \u2068Expected\u2069")
    'torch: <span lang="en" translate="no">Expected</span>'
    """
    return html.replace(BEGIN, '<span lang="en" translate="no">').replace(END, "</span>")


def plain_table(lines: Iterable[Sequence[str]]) -> str:
    """Cells of plain text as a table, which needs no style; without lines, nothing.

    >>> plain_table([["statistics", "2"]])
    '<table><tr><td>statistics</td><td>2</td></tr></table>'
    """
    rows = ["".join(f"<td>{escape(cell)}</td>" for cell in cells) for cells in lines]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>" if rows else ""


def data(value: Any) -> str:
    """JSON for a ``<script>`` element: no tag can begin in it.

    >>> data("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
