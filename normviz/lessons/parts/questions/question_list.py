"""The list of questions: the core path, all questions by topic, the reader's progress, and a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from normviz.layers.messages import N_, _, ngettext
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.links import Link
from normviz.lessons.parts.markup import escape, line
from normviz.lessons.parts.part import Hides, Part
from normviz.lessons.parts.text import plain

EXAMPLES = N_("gamma, batch of one, or an error message of torch")
NOTHING_FOUND = N_("No question has these words. Try fewer, such as gamma or eval.")
CORE_PATH, BY_TOPIC = N_("The core path"), N_("All questions by topic")
ABOUT_THE_PATH = N_("Each question needs only what came before it.")
RESET = N_("Reset progress")


def search_field(name: str, count: int, longest: int) -> str:
    """A field that searches ``count`` questions, and a line for what it has found."""
    label = ngettext("Search {n} question", "Search {n} questions", count)
    return (
        f'<label for="{name}">{escape(label)}</label><input id="{name}" type="search" maxlength="{longest}" '
        f'autocomplete="off" placeholder="{escape(_(EXAMPLES))}"><p class="nv-small" role="status"></p>'
    )


@dataclass(frozen=True)
class QuestionEntry:
    """A link to a question.

    key    of the question: the browser shows beside it how the reader has answered
    words  by which a search finds it, in lower case
    """

    link: Link
    key: str
    words: str


@dataclass(frozen=True)
class QuestionList(Part):
    """The core path, and every question in its topic. A topic is closed, unless a search finds something in it.

    While a reader types, the questions whose words contain every typed word are shown, and the path is not.

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
        """The page's script hides and shows links with ``data-words``; without scripts, those of the address are shown."""
        has_links = any(self._finds(entry) for *_names, entries in self.topics for entry in entries)
        topics = "".join(self._topic(key, title, entries, body) for key, title, entries in self.topics)
        none = f'<p class="nv-note-box nv-none"{_hidden(has_links or bool(self.found))}>{escape(_(NOTHING_FOUND))}</p>'
        found = f'<div class="nv-found">{body.html(self.found)}</div>' if self.found else ""
        by_topic = f'<h2 class="nv-by-topic">{escape(_(BY_TOPIC))}</h2>' if self.path else ""
        return (
            f"{self._field(body) if self.has_field else ''}{found}{self._path(body)}{by_topic}\n"
            f'<div class="nv-topics">{topics}</div>{none}'
        )

    def _finds(self, entry: QuestionEntry) -> bool:
        return all(word in entry.words for word in self.typed.lower().split())

    def _field(self, body: Body) -> str:
        count = sum(len(entries) for *_names, entries in self.topics)
        return f'<div class="nv-search">{search_field(body.unique("search"), count, self.longest)}</div>'

    def _path(self, body: Body) -> str:
        if not self.path:
            return ""
        items = "".join(_item(entry, body) for entry in self.path)
        return (
            f'<section class="nv-path"{_hidden(bool(self.typed.strip()))}><h2>{escape(_(CORE_PATH))}</h2>'
            f'<p class="nv-small">{escape(_(ABOUT_THE_PATH))}</p><ol class="nv-links nv-links-path">{items}</ol>'
            f'<p class="nv-small nv-how-far"><span class="nv-progress" role="status"></span> '
            f'<button type="button" class="nv-reset" hidden>{escape(_(RESET))}</button></p></section>'
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
