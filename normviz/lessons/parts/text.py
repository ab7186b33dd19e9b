"""Parts as plain text: what a terminal shows of a view, and a notebook without a browser."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from normviz.lessons.parts.part import (
    Caption,
    Code,
    Details,
    Heading,
    Legend,
    Note,
    Panels,
    Part,
    Row,
    Sentence,
    Table,
    Tabs,
    Text,
    cell,
    within,
)

WIDEST = 100  # letters of a column


def text(parts: Iterable[Part]) -> str:
    """Sentences, lines, tables and the first of several codes; of figures, what stands above and below them.

    >>> print(text([Sentence("**2** means"), Table(({"layer": "LayerNorm(3)", "means": 2},))]))
    2 means
    <BLANKLINE>
    layer         means
    LayerNorm(3)  2
    """
    return "\n\n".join(filter(None, map(_one, _read(parts))))


def _read(parts: Iterable[Part]) -> Iterable[Part]:
    """The parts in the order of reading; of the same thing in several codes, the first."""
    for part in parts:
        if isinstance(part, Tabs):
            codes = any(isinstance(inner, Code) for inner in part.tabs[0][1])
            for label, inner in part.tabs[:1] if codes else part.tabs:
                yield from _read([Details(label, inner)])
        else:
            yield part
            yield from _read(within(part))


def _one(part: Part) -> str:
    match part:
        case Code(words):
            return words
        case Sentence(words) | Text(words) | Caption(words) | Heading(words):
            return plain(words)
        case Note(words) | Legend(words):
            return words
        case Details(title, _):
            return f"{plain(title)}:"
        case Table(rows, _, corner) if rows:
            return _columns(rows, corner) if corner else _table([list(rows[0]), *(_cells(row) for row in rows)])
        case Panels(data):
            panels = [
                [panel["title"], panel.get("pattern", ""), panel.get("caption", "")] for panel in data.get("panels", ())
            ]
            facts = [[fact["label"], fact["value"], fact["note"]] for fact in data.get("facts", ())]
            return "\n\n".join(filter(None, (_table(panels), _table(facts))))
    return ""


def plain(words: str) -> str:
    """Markdown without its marks."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"\*\*|`", "", words)).replace("\\|", "|")


def _cells(row: Row) -> list[str]:
    return [plain(cell(name, value)) for name, value in row.items()]


def _columns(rows: Sequence[Row], corner: str) -> str:
    heads = [plain(str(row[corner])) for row in rows]
    names = [name for name in rows[0] if name != corner]
    return _table([["", *heads], *([name, *(plain(cell(name, row[name])) for row in rows)] for name in names)])


def _table(lines: Sequence[Sequence[str]]) -> str:
    if not lines:
        return ""
    widths = [min(WIDEST, max(map(len, column))) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
