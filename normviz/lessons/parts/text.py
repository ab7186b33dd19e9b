"""Plain text of parts, for terminals and for notebooks without a browser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from normviz.layers.messages import without_marks

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
