"""The glossary, and parts as text: plain, for terminals and for notebooks without a browser, and as HTML, in which words of the glossary are marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from html import escape, unescape
from typing import Literal, NewType, Protocol

from markdown_it import MarkdownIt

from normviz.figures.wire import JsonObject, Payload, left_out, sent
from normviz.texts.errors import NormvizError, encodable
from normviz.texts.languages import read_text, with_language
from normviz.texts.messages import BEGIN, END, _, language, without_marks

# The glossary: at most 36 words, each with its forms and one or two sentences (``normviz/locale/<language>/glossary.md``).
#
# The data of a page has the words that occur in it. The page's script marks the first occurrence of each.


ENTRY = re.compile(r"## (.+)\n+((?:(?!## ).+\n?)+)\n*")
WHOLE = "{form}(?<![a-z0-9_]{form})(?![a-z0-9_])"  # begins with the form, because such a pattern finds fast


@dataclass(frozen=True)
class Word:
    """A word of the glossary.

    forms  the ways to write it; the first one is its title
    about  what it means, as Markdown
    """

    forms: tuple[str, ...]
    about: str

    @property
    def name(self) -> str:
        return self.forms[0]

    @cached_property
    def stem(self) -> str:
        """The beginning that all forms share, in lower case."""
        first, *others = (form.lower() for form in self.forms)
        lengths = range(len(first), -1, -1)
        return next(first[:n] for n in lengths if all(form.startswith(first[:n]) for form in others))

    @cached_property
    def patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        """Each form in lower case, and the pattern that finds it whole.

        Next to a Latin letter a form is part of a longer word; Chinese has no spaces between words.
        """
        forms = [form.lower() for form in self.forms]
        return [(form, re.compile(WHOLE.format(form=re.escape(form)))) for form in forms]


def glossary() -> tuple[Word, ...]:
    """The words in the reader's language, or in English if there is no translation."""
    return _read_glossary(language.get())


@cache
def _read_glossary(name: str) -> tuple[Word, ...]:
    text = read_text("glossary.md")
    if ENTRY.sub("", text).strip():
        raise NormvizError(
            f"{name}/glossary.md must have '## word, other form' and a paragraph below it, for each word."
        )
    return tuple(Word(tuple(forms.split(", ")), " ".join(about.split())) for forms, about in ENTRY.findall(text))


def words_in(text: str) -> tuple[Word, ...]:
    """The words of the glossary that may occur in a text or its HTML.

    >>> [word.name for word in words_in("The mean is over two axes.")]
    ['axis']
    """
    lower = text.lower()
    # Most words are not in the text, and their stems show it soonest.
    words = [word for word in glossary() if word.stem in lower]
    found = [word for word in words for form, whole in word.patterns if form in lower and whole.search(lower)]
    return tuple(dict.fromkeys(found))


class Shown(Protocol):
    @property
    def presented(self) -> bool: ...
    def html(self, body: Body) -> str: ...
    def plain_text(self) -> str: ...


def text(parts: Iterable[Shown]) -> str:
    """The parts as paragraphs. A figure is represented by the titles and captions of its panels.

    >>> from normviz.parts.part import Sentence, Text
    >>> print(text([Sentence("**2** means"), Text("of `x`")]))
    2 means
    <BLANKLINE>
    of x
    """
    return without_marks("\n\n".join(filter(None, (part.plain_text() for part in parts))))


# Texts as HTML. Tags in a text are escaped, and an address that runs code does not become a link.

__all__ = ["bare", "block", "data", "escape", "finished", "line", "plain_table", "scrolling"]

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


def bare(text: str) -> str:
    """Markdown without its marks.

    >>> bare("**2** of `x < 3`, see [torch](https://pytorch.org)")
    '2 of x < 3, see torch'
    """
    return unescape(re.sub(r"<[^>]*>", "", block(text)))


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


def scrolling(content: str, name: str, kind: str) -> str:
    """A box of a class that scrolls sideways, also by the arrow keys, where ``content``, one element, is wider than the page.

    ``name`` is what a screen reader calls it.
    """
    return f'<div class="nv-scroll {kind}" tabindex="0" role="group" aria-label="{escape(name)}">{content}</div>'


def data(value: object) -> str:
    """JSON for a ``<script>`` element, also of payloads: no tag can begin in it.

    >>> data("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = encodable(json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=sent))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


FigureData = NewType("FigureData", JsonObject)  # a payload, as JSON, and Served or Alone


@dataclass(frozen=True)
class Term(Payload):
    """A word of the glossary: the ways to write it, and its explanation as HTML."""

    forms: Sequence[str]
    about: str


@dataclass(frozen=True)
class Served(Payload):
    """A figure that sends what the reader does to a server.

    turn  the number of the last event that the server has received
    """

    turn: int


@dataclass(frozen=True)
class Alone(Payload):
    """A figure that sends nothing to a server.

    fixed  in a file: x could be edited, but nothing computes the results
    """

    alone: Literal[True] = True
    editable: Literal[False] = False
    fixed: bool = left_out(False)


@dataclass
class Body:
    """Collects the data of the figures while parts are written as HTML, and makes unique names for elements of the page.

    prefix     of these names, for a document with several bodies
    app        the address of the app, for links to its pages, "" in the app itself; None: there is no app to link to
    pages      the addresses of pages that are stored with the document, by their link in the app, such as "/questions?q=s0"
    tables     whether each figure has its numbers as a table, for places that run no scripts
    carries    whether all exercises of practice travel with the document, because no server chooses among them
    turn       the number of the last event that a server has received from the figures; None without a server
    words      of the glossary that may occur in the parts
    exercises  whether a part needs the script and the style of steps, exercises and trainings, or the style of the front page
    """

    prefix: str = ""
    app: str | None = None
    pages: Mapping[str, str] = field(default_factory=dict)
    tables: bool = False
    carries: bool = False
    turn: int | None = None
    exercises: bool = False
    figures: list[FigureData] = field(default_factory=list)
    names: int = 0
    words: dict[str, Word] = field(default_factory=dict)

    def html(self, parts: Iterable[Shown]) -> str:
        return "\n".join(part.html(self) for part in parts)

    def page(self, parts: Iterable[Shown]) -> str:
        """The parts as the browser's page finds them in a file, each with a mark if a projector does not show it."""
        made = list(parts)
        marks = ("" if part.presented else " data-unpresented" for part in made)
        keyed = zip(self.keyed(made), marks, strict=True)
        divs = (f'<div class="nv-part" data-key="{key}"{mark}>{html}</div>' for (key, html), mark in keyed)
        return '<div class="nv-page">\n' + "\n".join(divs) + "\n</div>"

    def keyed(self, parts: Iterable[Shown]) -> list[tuple[str, str]]:
        """The HTML of each part, with a key that the part keeps when others come and go: its kind and its number among that kind."""
        counts: dict[str, int] = {}
        found = []
        for part in parts:
            kind = type(part).__name__.lower()
            counts[kind] = counts.get(kind, 0) + 1
            found.append((f"{kind}{counts[kind]}", encodable(part.html(self))))
        self.words |= {word.name: word for word in words_in("\n".join(html for _key, html in found))}
        return found

    def figure(self, data: Payload, sends: bool = False, editable: bool = False, table: str = "") -> str:
        """An empty element that the page's script fills with the figure. It shows a message if the script does not run.

        sends     whether the figure sends what the reader does to the server, if there is one
        editable  whether the reader can change its values there
        table     the numbers of the figure as HTML, for ``tables``
        """
        place = Alone(fixed=sends and editable) if self.turn is None or not sends else Served(self.turn)
        self.figures.append(FigureData(JsonObject(sent(data) | sent(place))))
        unstyled = _("The figure needs JavaScript. In a notebook that is not trusted yet, run the cell.")
        return (
            f'<div class="nv-figure" data-figure="{len(self.figures) - 1}">'
            f'<div class="nv-unstyled"><p>{escape(unstyled)}</p>{table if self.tables else ""}</div>'
            '<div class="nv-root"></div></div>'
        )

    def terms(self, whole: bool = False) -> list[Term]:
        """The words of the glossary that may occur on the page, or all of them, as the page's script reads them."""
        words = glossary() if whole else self.words.values()
        return [Term(word.forms, line(word.about)) for word in words]

    def address(self, link: str) -> str | None:
        """Where a link of the app leads from this document; None: nowhere."""
        if link in self.pages or self.app is None:
            return self.pages.get(link)
        # An address of the app names the language; within the app, the session has it.
        return f"{self.app}{with_language(link) if self.app else link}"

    def unique(self, prefix: str) -> str:
        """A name that is unique in this document."""
        self.names += 1
        return f"{self.prefix}{prefix}{self.names}"
