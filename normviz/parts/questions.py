"""A small tensor that is drawn before anything is computed: its shape, or its values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import ClassVar

from normviz.parts.html import Body, block, escape, line, text
from normviz.parts.part import Hides, Link, Part, without_hidden
from normviz.scene.grid import roles
from normviz.scene.setting import read_number
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _, ngettext, plain
from normviz.texts.searching import finds, ideas


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
        drawn = {"shape": self.shape, "names": self.axes, **vars(roles(self.axes))}
        given = {key: value for key, value in (("at", self.at), ("values", self.values)) if value is not None}
        return (
            f'<figure class="nv-bare"><div class="nv-tensor" data-tensor="{escape(json.dumps(drawn | given))}"></div>'
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
    shown    the parts that take its place with the answer: beside the options, where there is room
    """

    prompt: str
    options: Mapping[str, str]
    right: str | float
    answer: tuple[Part, ...]
    key: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)
    about: Part | None = None
    shown: tuple[Part, ...] = ()
    name: ClassVar[str] = "guess"

    @property
    def children(self) -> tuple[Part, ...]:
        return (*self.answer, *self.shown)

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
        shown = f'<div class="nv-shown">\n{body.html(self.shown)}</div>' if self.shown else ""
        attributes = "".join(f' data-{name}="{escape(str(value))}"' for name, value in texts.items())
        return (
            f'<div class="nv-prediction"{attributes}>\n<div class="nv-predict">{block(self.prompt)}\n{self._field(body)}</div>\n'
            f"{self.about.html(body) if self.about else ''}\n"
            f'<details class="nv-answer"><summary><span>{escape(_("Show the answer"))}</span><span>{escape(_("Hide the answer"))}</span></summary>\n'
            f'<p class="nv-verdict" role="status" hidden></p>\n{body.html(self.answer)}</details>{shown}</div>'
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
        answer, shown = without_hidden(self.answer, hides), without_hidden(self.shown, hides)
        return (replace(self, answer=answer, shown=shown),)

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
    """A question at the end of a page, and a link to all questions of the page. Where the link leads nowhere, there is nothing."""

    title: str
    asked: Prediction
    others: Link
    name: ClassVar[str] = "questions"

    def html(self, body: Body) -> str:
        others = self.others.html(body)
        if not others:
            return ""
        return (
            f'<section class="nv-asked"><h2>{line(self.title)}</h2>\n{self.asked.html(body)}\n'
            f'<p class="nv-small">{others}</p></section>'
        )

    def plain_text(self) -> str:
        return ""


# The list of questions: the core path, all questions by topic, the reader's progress, and a search.

NOTHING_FOUND = N_("No question has these words. Try fewer, such as gamma or eval.")
CORE_PATH = N_("The core path")


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

    While a reader types, the questions whose words contain every typed word, or one that means the same, are shown, and the path is not.

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
        has_links = any(self._finds(entry) for *_names, entries in self.topics for entry in entries)
        topics = "".join(self._topic(key, title, entries, body) for key, title, entries in self.topics)
        none = f'<p class="nv-note-box nv-none"{_hidden(has_links or bool(self.found))}>{escape(_(NOTHING_FOUND))}</p>'
        field = ""
        if self.has_field:
            count = sum(len(entries) for *_names, entries in self.topics)
            field = f'<div class="nv-search">{search_field(body.unique("search"), count, self.longest)}</div>'
        found = f'<div class="nv-found">{body.html(self.found)}</div>' if self.found else ""
        by_topic = f'<h2 class="nv-by-topic">{escape(_("All questions by topic"))}</h2>' if self.path else ""
        return f'{field}{found}{self._path(body)}{by_topic}\n<div class="nv-topics">{topics}</div>{none}'

    def _finds(self, entry: QuestionEntry) -> bool:
        return finds(self.typed, entry.words)

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
        finds = [self._finds(entry) for entry in entries]
        items = "".join(
            _item(entry, body, f' data-words="{escape(entry.words)}"{_hidden(not is_found)}')
            for entry, is_found in zip(entries, finds, strict=True)
        )
        is_open = ' open data-found="yes"' if self.typed.strip() and any(finds) else ""
        return (
            f'<details class="nv-topic" data-topic="{escape(key)}"{is_open}{_hidden(not any(finds))}><summary><h3>{line(title)}</h3>'
            f'<span class="nv-count" data-all="{len(entries)}">{len(entries)}</span></summary>'
            f'<ul class="nv-links nv-links-list">{items}</ul></details>'
        )

    def plain_text(self) -> str:
        found = [(title, [entry for entry in entries if self._finds(entry)]) for _key, title, entries in self.topics]
        lists = [_plain_list(plain(title), entries) for title, entries in found if entries]
        path = [_plain_list(_(CORE_PATH), self.path)] if self.path and not self.typed.strip() else []
        return "\n\n".join([*(part.plain_text() for part in self.found), *path, *lists]) or _(NOTHING_FOUND)

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        return (replace(self, has_field=False),) if hides(self, self.name) else (self,)


def _item(entry: QuestionEntry, body: Body, attributes: str = "") -> str:
    shown = entry.link.html(body) or line(entry.link.text)
    return f'<li data-question="{escape(entry.key)}"{attributes}><span class="nv-outcome"></span>{shown}</li>'


def _plain_list(title: str, entries: Sequence[QuestionEntry]) -> str:
    return "\n".join([title, "", *(f"- {plain(entry.link.text)}" for entry in entries)])


def _hidden(is_hidden: bool) -> str:
    return " hidden" if is_hidden else ""
