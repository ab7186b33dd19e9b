"""The parts of a page as plain values, and links to views. Each part has methods for its HTML, its plain text, the parts in it and the names that hide it.

The app, exported files, the static site and notebooks show the same parts by their HTML. A new kind of part is one class.

Texts are simple Markdown: ``**strong**``, `` `code` ``, links, lists. Numbers in a sentence are in ``**``.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import isfinite
from typing import ClassVar

from normviz.analysis.description import Description
from normviz.analysis.excerpt import Take
from normviz.code import cs231n
from normviz.code.programs import FLAVOR_LABELS, FLAVORS, code, framework_names
from normviz.figures.charts import Lines, chart_payload
from normviz.figures.payload import LinkedPayload, PanelValues, StepsPayload, ValuesPayload, ViewPayload, values_payload
from normviz.figures.wire import Payload, left_out, sent
from normviz.parts.html import Body, block, escape, finished, line, plain_table, scrolling, text
from normviz.parts.titles import HOME
from normviz.scene.grid import Grid, roles
from normviz.scene.setting import read_number
from normviz.scene.view import PANELS, Display
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.languages import with_language
from normviz.texts.messages import N_, WIDEST, _, align, format_count, format_difference, ngettext, plain
from normviz.texts.searching import ideas, matches, ranking, simplified

Hides = Callable[["Part", str], bool]
Index = tuple[int, ...]


@dataclass(frozen=True)
class Part(ABC):
    """One part of a page. ``name`` is the value of ``hide=`` that hides it: ``hide=code``. Without a name, it cannot be hidden."""

    name: ClassVar[str] = ""

    @property
    def hidden_by(self) -> str:
        return self.name

    @property
    def children(self) -> tuple[Part, ...]:
        return ()

    @property
    def names(self) -> frozenset[str]:
        """The names that hide the part or something in it."""
        return frozenset({self.hidden_by}).union(*(part.names for part in self.children))

    @property
    def presented(self) -> bool:
        """Whether a projector shows the part of a file."""
        return bool(visible_parts([self], Display(present=True)))

    @abstractmethod
    def html(self, body: Body) -> str: ...

    @abstractmethod
    def plain_text(self) -> str: ...

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        """The part without everything that ``hides(part, name)`` hides; empty if nothing is left."""
        return () if self.hidden_by and hides(self, self.hidden_by) else (self,)


@dataclass(frozen=True)
class _Markdown(Part):
    text: str

    def plain_text(self) -> str:
        return plain(self.text)


@dataclass(frozen=True)
class Sentence(_Markdown):
    """The largest text of a page.

    selected  the index of the selected element in ``[ ]``, if nothing else in the text depends on it: a file then follows the reader
    """

    selected: str = ""
    name: ClassVar[str] = "sentence"

    def html(self, body: Body) -> str:
        marked = f'[<span class="nv-selected">{escape(self.selected)}</span>]'
        text = line(self.text)
        return f'<p class="nv-sentence">{text.replace(f"[{self.selected}]", marked, 1) if self.selected else text}</p>'


@dataclass(frozen=True)
class HowMany(Part):
    """In the app, before the headline of a layer that the reader has picked: a prediction of the number of means, or of mean squares."""

    right: int
    center: bool = True
    name: ClassVar[str] = "prediction"

    def html(self, body: Body) -> str:
        if body.turn is None:
            return ""
        question = _("How many means?") if self.center else _("How many mean squares?")
        return (
            f'<form class="nv-how-many" data-right="{self.right}" hidden>'
            f'<label>{escape(question)} <input type="number" min="0" required autocomplete="off"></label>'
            f'<button class="nv-button">{escape(_("Check"))}</button>'
            f'<button class="nv-button nv-skip" type="button">{escape(_("Skip"))}</button></form>'
        )

    def plain_text(self) -> str:
        return ""


@dataclass(frozen=True)
class Heading(_Markdown):
    name: ClassVar[str] = "text"

    def html(self, body: Body) -> str:
        return f"<h2>{line(self.text)}</h2>"


@dataclass(frozen=True)
class _Paragraph(_Markdown):
    """``of``: the name of the part that the text belongs to; both are hidden together."""

    of: str = ""
    name: ClassVar[str] = "text"

    @property
    def hidden_by(self) -> str:
        return self.of or self.name


@dataclass(frozen=True)
class Text(_Paragraph):
    """A paragraph or a list."""

    def html(self, body: Body) -> str:
        return f'<div class="nv-text">{block(self.text)}</div>'


@dataclass(frozen=True)
class Caption(_Paragraph):
    """Small print."""

    def html(self, body: Body) -> str:
        return f'<div class="nv-small">{block(self.text)}</div>'


@dataclass(frozen=True)
class _Literal(Part):
    """Text without Markdown: it quotes a link, or is code."""

    text: str

    def plain_text(self) -> str:
        return self.text


@dataclass(frozen=True)
class Legend(_Literal):
    """The caption that a link adds below the figure."""

    name: ClassVar[str] = "caption"

    def html(self, body: Body) -> str:
        return f'<p class="nv-legend">{escape(self.text)}</p>'


class _Box(_Literal):
    """A message in a box."""

    name: ClassVar[str] = "notes"

    def html(self, body: Body) -> str:
        return f'<p class="nv-note-box">{escape(self.text)}</p>'


class Note(_Box):
    """Why something is not shown."""


class LayerNote(_Box):
    """A note about a layer that is legal but rarely intended."""

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        return () if hides(self, "notes") or hides(self, "text") else (self,)


@dataclass(frozen=True)
class Problem(_Literal):
    """An error message about the view. It cannot be hidden."""

    def html(self, body: Body) -> str:
        return f'<p class="nv-note-box nv-problem" role="alert">{finished(escape(self.text))}</p>'


@dataclass(frozen=True)
class Panels(Part):
    """A linked view.

    data    what is drawn (``normviz.figures.payload``), without theme or plotly.js
    events  the events that it sends: any of "select", "edit", "scale", "toggle", "step", "cards" and, for a tensor that is not drawn whole, "move"
    """

    data: LinkedPayload
    events: tuple[str, ...]
    name: ClassVar[str] = "panels"

    def __eq__(self, other: object) -> bool:
        """Figures are equal if the browser gets the same: arrays have no single truth value."""
        return isinstance(other, Panels) and (self.events, sent(self.data)) == (other.events, sent(other.data))

    @property
    def names(self) -> frozenset[str]:
        return super().names | self.panel_names

    @property
    def panel_names(self) -> frozenset[str]:
        """The names of the panels and of the boxes next to them."""
        data, names = self.data, {"readout"}
        if isinstance(data, StepsPayload):
            names |= {"stepper", "worked"}
        else:
            names |= {panel.row or panel.key for panel in data.panels} & set(PANELS)
        if isinstance(data, ViewPayload):
            names |= {"facts", "worked", "table"} if data.values else {"facts"}
        if isinstance(data, ViewPayload | StepsPayload):
            names |= {"formula", "loops"}
        if isinstance(data, ViewPayload | StepsPayload) and data.moments is not None:
            names.add("distribution")
        if data.grid.partial and not (isinstance(data, ValuesPayload) and data.name != "x"):
            names.add("window")
        return frozenset(names)

    def html(self, body: Body) -> str:
        lines = [line for lines in self._texts() for line in lines]
        table = plain_table(lines) if body.tables else ""
        return body.figure(self.data, sends=bool(self.events), editable=self.data.editable, table=table)

    def plain_text(self) -> str:
        return "\n\n".join(filter(None, map(align, self._texts())))

    def _texts(self) -> tuple[list[list[str]], ...]:
        """The titles and captions of the panels, and the counts, line by line."""
        counts = self.data.facts if isinstance(self.data, ViewPayload) else []
        return (
            [[panel.title, panel.pattern, panel.caption] for panel in self.data.panels],
            [[count.label, count.value, count.note] for count in counts],
        )

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        if hides(self, self.hidden_by):
            return ()
        hidden = sorted(name for name in self.panel_names if hides(self, name))
        return (replace(self, data=replace(self.data, hidden=hidden)) if hidden else self,)


@dataclass(frozen=True)
class Chart(Part):
    """A line or bar chart; ``alt`` describes it in a sentence."""

    key: str
    lines: Lines
    alt: str
    name: ClassVar[str] = "panels"

    def html(self, body: Body) -> str:
        return body.figure(chart_payload(self.lines, self.alt))

    def plain_text(self) -> str:
        return ""


@dataclass(frozen=True)
class Code(_Literal):
    """A program. ``flavor``: that of a program of the page's layer; the page's script marks the parts that light cells."""

    flavor: str = ""
    name: ClassVar[str] = "code"

    def html(self, body: Body) -> str:
        copy, flavor = escape(_("Copy")), f' data-flavor="{self.flavor}"' if self.flavor else ""
        code = f"<code{flavor}>{escape(self.text)}</code>"
        return f'<div class="nv-code"><button type="button" class="nv-copy">{copy}</button><pre tabindex="0">{code}</pre></div>'


def without_hidden(parts: Iterable[Part], hides: Hides) -> tuple[Part, ...]:
    return tuple(visible for part in parts for visible in part.without_hidden(hides))


def flat(parts: Iterable[Part]) -> Iterator[Part]:
    """Every part, and every part in it."""
    for part in parts:
        yield part
        yield from flat(part.children)


def part_or_note(make: Callable[[], Part]) -> Part:
    """The part, or a Note with the error if it cannot be made, for example for a layer that torch does not have."""
    try:
        return make()
    except NormvizError as error:
        return Note(str(error))


def value_part(
    e: Description,
    drawing: Grid,
    at: Index | None,
    values: Iterable[PanelValues],
    of_element: bool = False,
    take: Take | None = None,
) -> Part:
    """Linked heatmaps of values of x's shape, or a Note with the error.

    at          the selected element, or None
    of_element  whether the values belong to the selected element, so that selecting another one needs a server
    take        takes the drawn elements from the values; by default they are of x's shape
    """
    return part_or_note(
        lambda: Panels(values_payload(e, drawing, list(values), at=at, of_element=of_element, take=take), ("select",))
    )


# Links to views of the app's pages.


ALWAYS_SHOWN = ("list", "choices")


def page_path(page: str) -> str:
    """The path of a page below the address of the app.

    >>> page_path("compare"), page_path("home")
    ('compare', '')
    """
    return "" if page == HOME else page


@dataclass(frozen=True)
class Link:
    """A link to the view that ``query`` (without "?") asks for on a page."""

    text: str
    page: str
    query: str = ""

    @property
    def address(self) -> str:
        """The address, relative to the address of the app.

        >>> Link("", "compare", "shape=2,3").address
        '/compare?shape=2,3'
        """
        return f"/{page_path(self.page)}{self._search}"

    @property
    def _search(self) -> str:
        return f"?{self.query}" if self.query else ""

    def html(self, body: Body, kind: str = "") -> str:
        """A link to where the view is for this document; "" if it is nowhere. The app replaces the address by its own."""
        address = body.address(self.address)
        if address is None:
            return ""
        return (
            f'<a class="nv-go{kind}" data-page="{escape(self.page)}" data-query="{escape(self._search)}" '
            f'href="{escape(address)}">{line(self.text)}</a>'
        )


@dataclass(frozen=True)
class Links(Part):
    """A list of links under a title. Links that lead nowhere, because there is no app, are not shown.

    title  as a message, or ""
    kind   "list": in two columns if there is room; "choices": other views, as buttons; "back", "next": one link
    """

    links: tuple[Link, ...]
    title: str = ""
    kind: str = "list"
    name: ClassVar[str] = "questions"

    @property
    def hidden_by(self) -> str:
        return "" if self.kind in ALWAYS_SHOWN else self.name

    def html(self, body: Body) -> str:
        links = [html for html in (link.html(body) for link in self.links) if html]
        if not links:
            return ""
        title = f'<p class="nv-small">{escape(_(self.title))}</p>' if self.title else ""
        if self.kind in ("back", "next"):
            return f'<p class="nv-{self.kind}">{links[0]}</p>'
        items = "".join(f"<li>{html}</li>" for html in links)
        return f'{title}<ul class="nv-links nv-links-{self.kind}">{items}</ul>'

    def plain_text(self) -> str:
        return "\n".join(f"- {link.text}" for link in self.links) if self.kind in ALWAYS_SHOWN else ""


@dataclass(frozen=True)
class TourBar(Part):
    """The place of a view in a tour: its caption, and links to its neighbors, which the browser follows with the arrow keys.

    number, count  of the view in the tour, from 1; 0: the tour has not begun
    """

    title: str
    caption: str
    number: int
    count: int
    before: Link | None
    after: Link | None
    leave: Link | None

    def html(self, body: Body) -> str:
        links = [
            link.html(body, f" nv-tour-{kind}")
            for kind, link in (("back", self.before), ("next", self.after), ("leave", self.leave))
            if link
        ]
        place = _("{number} of {count}", number=self.number, count=self.count)
        where = f'<span class="nv-tour-place">{escape(place)}</span>' if self.number else ""
        return (
            f'<nav class="nv-tour{"" if self.number else " nv-tour-title"}" aria-label="{escape(_("Tour: {title}", title=self.title))}">'
            f'<p class="nv-tour-caption" role="status">{line(self.caption or self.title)}</p>'
            f'<div class="nv-tour-links">{where}{"".join(links)}</div></nav>'
        )

    def plain_text(self) -> str:
        return self.caption


@dataclass(frozen=True)
class Join(Part):
    """In a projected view: the address of the same view, as a QR code too, so that students open it on their phones.

    app  the address of the app; "": that of the document
    """

    link: Link
    app: str = ""

    def html(self, body: Body) -> str:
        app = self.app or body.app
        if not app:
            return ""
        address = app + with_language(self.link.address)
        name, bits = escape(_("QR code")), qr_code(address) if len(address) <= LONGEST_SCANNED else ""
        code = f'<div class="nv-qr" role="img" aria-label="{name}" data-bits="{bits}"></div>' if bits else ""
        return f'<aside class="nv-join">{code}<p>{escape(address.partition("://")[2])}</p></aside>'

    def plain_text(self) -> str:
        return ""


LONGEST_SCANNED = 600  # characters: the modules of a longer address would be too small for the back row


@lru_cache(512)
def qr_code(text: str) -> str:
    """The modules of the QR code of a text, row by row, as the bits of a number in hexadecimal: 1 is dark, as the first module is."""
    import segno

    # A fixed mask is as valid as the best one, and four times as fast.
    matrix = segno.make(text, error="l", mask=3, micro=False, boost_error=False).matrix
    return f"{int(''.join(str(module & 1) for row in matrix for module in row), 2):x}"


# A small tensor that is drawn before anything is computed: its shape, or its values.


@dataclass(frozen=True, kw_only=True)
class SmallTensor(Payload):
    """A tensor that is drawn as tables: which axes number the facets, and which are the rows and the columns of a facet.

    names   the letter of each axis
    at      the framed element
    values  the elements of x
    """

    shape: tuple[int, ...]
    names: tuple[str, ...]
    facets: tuple[int, ...]
    row: int | None
    col: int
    at: Index | None = left_out(None)
    values: tuple[float, ...] | None = left_out(None)


@dataclass(frozen=True)
class BareTensor(Part):
    """x without groups. ``browser/tensor.ts`` draws it, and leaves out the middle of long axes.

    axes    the letter of each axis
    at      the framed element, or None
    values  of x in row-major order, or None: then its cells are empty
    """

    shape: tuple[int, ...]
    axes: tuple[str, ...]
    at: tuple[int, ...] | None = None
    values: tuple[float, ...] | None = None
    name: ClassVar[str] = "panels"

    def html(self, body: Body) -> str:
        drawn = vars(roles(self.axes))
        tensor = SmallTensor(shape=self.shape, names=self.axes, at=self.at, values=self.values, **drawn)
        return (
            f'<figure class="nv-bare"><div class="nv-tensor" data-tensor="{escape(json.dumps(sent(tensor)))}"></div>'
            f"<figcaption>{escape(self.plain_text())}</figcaption></figure>"
        )

    def plain_text(self) -> str:
        return _("x has the shape {axes} = {shape}.", axes=f"({', '.join(self.axes).upper()})", shape=self.shape)


# Predict first, then see the answer.

NOT_A_NUMBER = N_("{guess} is not a number; write one, such as 48.")
TOLERANCE = 1e-6  # relative error of a numeric guess


@dataclass(frozen=True)
class Prediction(Part):
    """A question with its answer, which the reader opens after a prediction.

    prompt   what to predict
    options  the text of each choice by its key; empty if a number is asked for
    right    the key of the right choice, or the right number
    answer   the parts that are shown with the answer, below the options
    key      of the question: the browser keeps a guess and an opened answer only for the same question
    reasons  why each wrong choice tempts, by its key; shown with the answer
    about    a picture of what the question is about
    figure   the parts that take its place with the answer: beside the options, where there is room
    """

    prompt: str
    options: Mapping[str, str]
    right: str | float
    answer: tuple[Part, ...]
    key: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    about: Part | None = None
    figure: tuple[Part, ...] = ()
    name: ClassVar[str] = "guess"

    @property
    def children(self) -> tuple[Part, ...]:
        return (*self.answer, *self.figure)

    def is_right(self, guess: str) -> bool:
        """Is the guess, the key of a choice or a number, right? Raises NormvizError if it is neither."""
        if self.options:
            if guess not in self.options:
                raise NormvizError(
                    "guess={guess} is not a choice; choose {options}.", guess=echo(guess), options=listed(self.options)
                )
            return guess == self.right
        number, right = read_number(guess, whole=str(self.right).lstrip("-").isdigit()), float(self.right)
        if not isfinite(number):
            raise NormvizError(NOT_A_NUMBER, guess=echo(guess))
        return abs(number - right) <= TOLERANCE * max(1.0, abs(right))

    def html(self, body: Body) -> str:
        """The page's script compares the guess with ``data-right``; without scripts, the answer can still be opened."""
        texts = {
            "question": self.key,
            "right": self.right,
            "correct": _("Your prediction is correct."),
            "predicted": _("You predicted: {guess}."),
            "wrong": _("That is not correct."),
            "not-a-number": _(NOT_A_NUMBER),
            "right-option": _("✓ right answer"),
            "wrong-option": _("✗ your prediction"),
        }
        figure = f'<div class="nv-shown">\n{body.html(self.figure)}</div>' if self.figure else ""
        # The style shows one of them: the second after a guess, the third while the answer is open.
        names = {"show": _("Show the answer"), "check": _("Check"), "hide": _("Hide the answer")}
        buttons = "".join(f'<span class="nv-{key}">{escape(name)}</span>' for key, name in names.items())
        attributes = "".join(f' data-{name}="{escape(str(value))}"' for name, value in texts.items())
        return (
            f'<div class="nv-prediction"{attributes}>\n<div class="nv-predict">{block(self.prompt)}\n{self._field(body)}</div>\n'
            f"{self.about.html(body) if self.about else ''}\n"
            f'<details class="nv-answer"><summary>{buttons}</summary>\n'
            f'<p class="nv-verdict" role="status" hidden></p>\n{body.html(self.answer)}</details>{figure}</div>'
        )

    def _field(self, body: Body) -> str:
        label = escape(plain(self.prompt))
        if not self.options:
            hint = escape(_("a number"))
            field = f'<input type="text" inputmode="text" maxlength="40" autocomplete="off" placeholder="{hint}" aria-label="{label}">'
            return f'{field}<p class="nv-refusal" role="status"></p>'
        name = body.unique("guess")
        # Why a choice tempts is outside its label: the style shows it with the answer.
        reasons = {key: f'<p class="nv-reason">{line(reason)}</p>' for key, reason in self.reasons.items() if reason}
        choices = "".join(
            f'<label class="nv-option"><input type="radio" name="{name}" value="{escape(key)}"><span>{line(option)}</span><span class="nv-mark"></span></label>{reasons.get(key, "")}'
            for key, option in self.options.items()
        )
        return f'<div role="radiogroup" aria-label="{label}">{choices}</div>'

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        if hides(self, self.name):
            return ()
        answer, figure = without_hidden(self.answer, hides), without_hidden(self.figure, hides)
        return (replace(self, answer=answer, figure=figure),)

    def plain_text(self) -> str:
        options = "\n".join(f"- {plain(option)}" for option in self.options.values())
        others = "\n".join(
            f"- {_('{title}: {caption}', title=plain(self.options[key]), caption=plain(reason))}"
            for key, reason in self.reasons.items()
        )
        wrong = f"{_('The other options:')}\n\n{others}" if others else ""
        return "\n\n".join(filter(None, (plain(self.prompt), options, _("Answer:"), text(self.children), wrong)))


@dataclass(frozen=True)
class AfterAnswer(Part):
    """What follows a question: it is shown while the answer before it is open."""

    parts: tuple[Part, ...]
    name: ClassVar[str] = "text"

    @property
    def children(self) -> tuple[Part, ...]:
        return self.parts

    def html(self, body: Body) -> str:
        return f'<section class="nv-after-answer">\n{body.html(self.parts)}</section>'

    def plain_text(self) -> str:
        return text(self.parts)

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        parts = without_hidden(self.parts, hides)
        return (replace(self, parts=parts),) if parts else ()


@dataclass(frozen=True)
class AskedQuestion(Part):
    """A question in a fold at the end of a page, and links, the first one to all questions of the page. Where that leads nowhere, there is nothing."""

    title: str
    asked: Prediction
    others: tuple[Link, ...]
    name: ClassVar[str] = "questions"

    def html(self, body: Body) -> str:
        others = [link.html(body) for link in self.others]
        if not others[0]:
            return ""
        return (
            f'<section class="nv-asked"><details class="nv-asked-fold"><summary><h2>{line(self.title)}</h2></summary>\n'
            f'{self.asked.html(body)}\n<p class="nv-small">{" · ".join(filter(None, others))}</p></details></section>'
        )

    def plain_text(self) -> str:
        return ""


# The list of questions: the core path, all questions by topic, the reader's progress, and a search.

NOTHING_FOUND = N_("No question has these words. Below are all questions.")
CORE_PATH = N_("The core path")
MOST_BEST = 5


def search_field(name: str, count: int, longest: int) -> str:
    """A field that searches ``count`` questions, and a line for what it has found."""
    label = ngettext("Search {n} question", "Search {n} questions", count)
    examples = _("gamma, batch of one, or an error message of torch")
    known = escape(json.dumps([[idea.names, idea.words] for idea in ideas()], ensure_ascii=False))
    return (
        f'<label for="{name}">{escape(label)}</label><input id="{name}" type="search" maxlength="{longest}" '
        f'data-ideas="{known}" autocomplete="off" placeholder="{escape(examples)}"><p class="nv-small" role="status"></p>'
    )


@dataclass(frozen=True)
class QuestionEntry:
    """A link to a question.

    key    of the question: next to the link, the browser shows how the reader has answered
    words  by which a search finds it, in lower case and without accents
    """

    link: Link
    key: str
    words: str


@dataclass(frozen=True)
class QuestionList(Part):
    """The core path, and every question in its topic. A topic is closed, unless a search finds something in it.

    While a reader types, the questions that ``searching.matches`` finds are shown, and the path is not.

    path       the questions of the core path, in order
    topics     the key, the title and the entries of each
    typed      the search in the page's address
    longest    the number of characters that can be typed
    found      what the search leads to besides the questions
    has_field  whether the reader can search
    """

    path: tuple[QuestionEntry, ...]
    topics: tuple[tuple[str, str, tuple[QuestionEntry, ...]], ...]
    typed: str
    longest: int
    found: tuple[Part, ...] = ()
    has_field: bool = True
    name: ClassVar[str] = "search"

    @property
    def children(self) -> tuple[Part, ...]:
        return self.found

    def html(self, body: Body) -> str:
        """The page's script hides and shows links by their ``data-words``; without scripts, the address decides which are shown."""
        topics = "".join(self._topic(key, title, entries, body) for key, title, entries in self.topics)
        none = f'<p class="nv-note-box nv-none"{_hidden(not self._finds_nothing)}>{escape(_(NOTHING_FOUND))}</p>'
        field = ""
        if self.has_field:
            count = sum(len(entries) for *_names, entries in self.topics)
            field = f'<div class="nv-search">{search_field(body.unique("search"), count, self.longest)}</div>'
        found = f'<div class="nv-found">{body.html(self.found)}</div>' if self.found else ""
        by_topic = f'<h2 class="nv-by-topic">{escape(_("All questions by topic"))}</h2>' if self.path else ""
        return (
            f'{field}{found}{self._path(body)}{self._best(body)}{by_topic}{none}\n<div class="nv-topics">{topics}</div>'
        )

    def _best(self, body: Body) -> str:
        """The questions that answer a search best, if it finds several; of two that are as good, the one of the core path."""
        entries = list(dict.fromkeys([*self.path, *(entry for *_names, entries in self.topics for entry in entries)]))
        titles = [simplified(plain(entry.link.text)) for entry in entries]
        places = ranking(self.typed, titles, [entry.words for entry in entries]) if self.typed.strip() else []
        items = "".join(_item(entries[place], body) for place in places[:MOST_BEST] if len(self._listed) > 1)
        return (
            f'<section class="nv-best"{_hidden(not items)}><h2>{escape(_("Best matches"))}</h2>'
            f'<ol class="nv-links nv-links-path">{items}</ol></section>'
        )

    @cached_property
    def _listed(self) -> frozenset[str]:
        """The keys of the questions that the search finds."""
        entries = [entry for *_names, entries in self.topics for entry in entries]
        is_found = matches(self.typed, [entry.words for entry in entries])
        return frozenset(entry.key for entry, one in zip(entries, is_found, strict=True) if one)

    @property
    def _finds_nothing(self) -> bool:
        """Whether the search finds no question and nothing else; all questions are shown then."""
        return not (self._listed or self.found)

    def _shown(self, entries: Iterable[QuestionEntry]) -> list[QuestionEntry]:
        return [entry for entry in entries if self._finds_nothing or entry.key in self._listed]

    def _path(self, body: Body) -> str:
        if not self.path:
            return ""
        items = "".join(_item(entry, body) for entry in self.path)
        return (
            f'<section class="nv-path"{_hidden(bool(self.typed.strip()))}><h2>{escape(_(CORE_PATH))}</h2>'
            f'<p class="nv-small">{escape(_("Each question needs only what came before it."))}</p><ol class="nv-links nv-links-path">{items}</ol>'
            f'<p class="nv-small nv-how-far"><span class="nv-progress" role="status"></span> '
            f'<button type="button" class="nv-reset" hidden>{escape(_("Reset progress"))}</button></p></section>'
        )

    def _topic(self, key: str, title: str, entries: tuple[QuestionEntry, ...], body: Body) -> str:
        """``data-found`` marks a topic that a search has opened: it closes with the search."""
        shown = self._shown(entries)
        items = "".join(
            _item(entry, body, f' data-words="{escape(entry.words)}"{_hidden(entry not in shown)}') for entry in entries
        )
        is_open = ' open data-found="yes"' if self.typed.strip() and self._listed and shown else ""
        return (
            f'<details class="nv-topic" data-topic="{escape(key)}"{is_open}{_hidden(not shown)}><summary><h3>{line(title)}</h3>'
            f'<span class="nv-count" data-all="{len(entries)}">{len(entries)}</span></summary>'
            f'<ul class="nv-links nv-links-list">{items}</ul></details>'
        )

    def plain_text(self) -> str:
        shown = [(title, self._shown(entries)) for _key, title, entries in self.topics]
        lists = [_plain_list(plain(title), entries) for title, entries in shown if entries]
        path = [_plain_list(_(CORE_PATH), self.path)] if self.path and not self.typed.strip() else []
        nothing = [_(NOTHING_FOUND)] if self._finds_nothing else []
        return "\n\n".join([*nothing, *(part.plain_text() for part in self.found), *path, *lists])

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        return (replace(self, has_field=False),) if hides(self, self.name) else (self,)


def _item(entry: QuestionEntry, body: Body, attributes: str = "") -> str:
    link = entry.link.html(body) or line(entry.link.text)
    return f'<li data-question="{escape(entry.key)}"{attributes}><span class="nv-outcome"></span>{link}</li>'


def _plain_list(title: str, entries: Sequence[QuestionEntry]) -> str:
    return "\n".join([title, "", *(f"- {plain(entry.link.text)}" for entry in entries)])


def _hidden(is_hidden: bool) -> str:
    return " hidden" if is_hidden else ""


# The parts of a page that contain other parts.


@dataclass(frozen=True)
class Tabs(Part):
    """Labels, and the parts that each tab shows. They are hidden together."""

    tabs: tuple[tuple[str, tuple[Part, ...]], ...]
    name: ClassVar[str] = "code"

    @property
    def children(self) -> tuple[Part, ...]:
        return tuple(part for _label, parts in self.tabs for part in parts)

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.name})

    def html(self, body: Body) -> str:
        """All tabs are in the HTML; the first one is visible."""
        name = body.unique("t")
        heads, panels = [], []
        for number, (label, parts) in enumerate(self.tabs):
            key, selected = f"{name}-{number}", number == 0
            heads.append(
                f'<button type="button" role="tab" data-tab="{key}" aria-selected="{str(selected).lower()}" '
                f'tabindex="{0 if selected else -1}">{escape(label)}</button>'
            )
            panels.append(
                f'<div class="nv-tab" role="tabpanel" data-panel="{key}" aria-label="{escape(label)}"'
                f"{'' if selected else ' hidden'}>{body.html(parts)}</div>"
            )
        return (
            f'<div class="nv-tabs"><div class="nv-heads" role="tablist">{"".join(heads)}</div>{"".join(panels)}</div>'
        )

    def plain_text(self) -> str:
        """All tabs; if they are versions of the same code, only the first."""
        has_code = any(isinstance(part, Code) for part in self.tabs[0][1])
        return text(Details(label, parts) for label, parts in (self.tabs[:1] if has_code else self.tabs))


@dataclass(frozen=True)
class Details(Part):
    """A collapsible section, closed at first."""

    title: str
    parts: tuple[Part, ...]
    of: str = "details"
    is_open: bool = False
    name: ClassVar[str] = "details"

    @property
    def hidden_by(self) -> str:
        return self.of

    @property
    def children(self) -> tuple[Part, ...]:
        return self.parts

    def html(self, body: Body) -> str:
        return f'<details class="nv-more"{" open" if self.is_open else ""}><summary>{line(self.title)}</summary>{body.html(self.parts)}</details>'

    def plain_text(self) -> str:
        title = _("{title}: {caption}", title=plain(self.title).rstrip(".。"), caption="").rstrip()
        return "\n\n".join(filter(None, (title, text(self.parts))))

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        parts = without_hidden(self.parts, hides)
        return (replace(self, parts=parts),) if parts and not hides(self, self.hidden_by) else ()


@dataclass(frozen=True)
class Beside(Part):
    """Two columns if there is room; ``widths`` is their ratio."""

    left: tuple[Part, ...]
    right: tuple[Part, ...]
    widths: tuple[int, int] = (1, 1)

    @property
    def children(self) -> tuple[Part, ...]:
        return (*self.left, *self.right)

    def html(self, body: Body) -> str:
        left, right = self.widths
        return (
            f'<div class="nv-beside-parts" style="--nv-left:{left}fr;--nv-right:{right}fr">'
            f"<div>{body.html(self.left)}</div><div>{body.html(self.right)}</div></div>"
        )

    def plain_text(self) -> str:
        return text(self.children)

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        left, right = without_hidden(self.left, hides), without_hidden(self.right, hides)
        return (replace(self, left=left, right=right),) if left and right else (*left, *right)


# A table.

Cell = str | int | bool | None


@dataclass(frozen=True)
class Table(Part):
    """One line for each row. A ``transposed`` table has one column for each row; the values of its first column are the heads.

    heads  of the columns
    rows   the values of each row; None: it has no such value
    code   the numbers of the columns whose values are code
    five   whether only five lines are visible until the reader asks for all
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    code: tuple[int, ...] = ()
    transposed: bool = False
    five: bool = False
    name: ClassVar[str] = "table"
    presented: ClassVar[bool] = False  # beside a figure

    def cells(self) -> list[list[str]]:
        """The cells as Markdown, the heads first."""
        lines = [
            list(self.heads),
            *([_cell(value, i in self.code) for i, value in enumerate(row)] for row in self.rows),
        ]
        if not self.transposed:
            return lines
        first, *others = (list(column) for column in zip(*lines, strict=True))
        return [["", *first[1:]], *others]

    def html(self, body: Body) -> str:
        """As Markdown would show it. Most cells are the same after a change, and ``line`` has kept them."""
        heads, *rows = ([line(cell) for cell in cells] for cells in self.cells())
        head = [f"<th>{cell}</th>" if cell else "<td></td>" for cell in heads]  # the corner of a table names nothing
        table = ["<table>", "<thead>", _row(head), "</thead>", "<tbody>", *map(self._row, rows), "</tbody>", "</table>"]
        box = scrolling("\n".join(table), _("Table"), "nv-table-box")
        if not self.five:
            return box
        label = escape(ngettext("All {n} row", "All {n} rows", len(rows)))
        return f'{box}<details class="nv-all-rows"><summary>{label}</summary></details>'

    def _row(self, cells: Sequence[str]) -> str:
        first, *others = cells
        head = f'<th scope="row">{first}</th>' if self.transposed and first else f"<td>{first}</td>"
        return _row([head, *(f"<td>{cell}</td>" for cell in others)])

    def plain_text(self) -> str:
        return align([list(map(plain, cells)) for cells in self.cells()], WIDEST) if self.rows else ""


def _row(cells: Iterable[str]) -> str:
    return "\n".join(["<tr>", *cells, "</tr>"])


def _cell(value: Cell, is_code: bool) -> str:
    """The value as Markdown."""
    if value is None or isinstance(value, bool):
        return {True: _("yes"), False: _("no"), None: "–"}[value]
    if isinstance(value, int):
        return format_count(value)
    return f"`{value}`" if is_code and value else value


# The parts of a page that its link does not hide, and the caption that the link adds.

Figure = Panels | Chart


def visible_parts(parts: Iterable[Part], display: Display) -> list[Part]:
    """The parts that are not hidden, with the caption below the last figure.

    ``hide=all`` does not hide the tables of a page that has no other figure; a projector shows the whole text of a question.
    """
    given = list(parts)
    tables_stay = not any(isinstance(part, Figure) for part in flat(given))
    is_question = any(isinstance(part, Prediction) for part in given)

    def hides(part: Part, name: str) -> bool:
        if tables_stay and isinstance(part, Table):
            return name in display.hide
        of_question = is_question and name in (Prediction.name, Text.name)
        return (replace(display, present=False) if of_question else display).hides(name)

    visible = list(without_hidden(given, hides))
    if display.caption:
        visible.insert(_below_the_figure(visible), Legend(display.caption))
    return visible


def hideable_names(parts: Iterable[Part]) -> set[str]:
    """The names of everything in the parts that can be hidden."""
    return {name for part in parts for name in part.names} - {""}


def _below_the_figure(parts: Sequence[Part]) -> int:
    for kind in (Figure, Table):
        places = [place for place, part in enumerate(parts) if any(isinstance(inner, kind) for inner in flat([part]))]
        if places:
            return places[-1] + 1
    return len(parts)


# The layer as code in tabs, and the difference between its output and torch's.


def code_parts(e: Description, is_open: bool = False) -> Details:
    """One tab for each flavor, one for the names in each framework, and how closely the output matches torch's if torch has the layer."""

    def tab(flavor: str) -> tuple[str, tuple[Part, ...]]:
        return _(FLAVOR_LABELS[flavor]), (part_or_note(lambda: Code(code(e, flavor), flavor)),)

    in_torch = e.torch_layer is not None
    title = _("The same in code") if in_torch else _("The same in code: torch.nn has no such layer")
    flavors = sorted(FLAVORS, key=lambda flavor: not in_torch and flavor == "torch")
    names = (_("torch, Keras and Flax"), (part_or_note(lambda: _names_table(e)),))
    parts: list[Part] = [Tabs((*map(tab, flavors), names))]
    if e.agreement is not None and e.torch_layer is not None:
        agreement = _(
            "The output matches torch.nn.{layer}: largest difference {difference}",
            layer=(e.torch_layer.on_axis_1(len(e.shape)) if e.torch_layer.kind.channels_last else e.torch_layer).name,
            difference=format_difference(e.agreement),
        )
        parts.append(Caption(agreement, of="code"))
    return Details(title, tuple(parts), "code", is_open)


def _names_table(e: Description) -> Table:
    """The names of the layer's arguments and values in torch, Keras and Flax."""
    rows = ((row.label, row.torch, row.keras, row.flax) for row in framework_names(e))
    return Table(("", "torch", "Keras", "Flax"), tuple(rows))


def course_pair() -> tuple[Part, ...]:
    """The course's forward and backward functions, and their difference from torch."""
    differences = _(", ").join(
        f"{name} {format_difference(difference)}" for name, difference in cs231n.largest_differences().items()
    )
    text = _(
        "For x of shape (N, D): one mean and one variance for each row, one gamma and one beta for each column. "
        "Largest differences from torch: {differences}.",
        differences=differences,
    )
    pairs = tuple((f"{name}_forward, {name}_backward", (Code(cs231n.source(name)),)) for name in cs231n.PAIRS)
    return Text(text), Tabs(pairs)
