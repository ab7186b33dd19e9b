"""Sets as an exam on paper, and its key: two HTML files that print on A4 and Letter. On the exam stands no answer."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from pathlib import Path

from normviz.lessons.practice.formats.quiz import Item, Option, digits
from normviz.texts.languages import html_attributes
from normviz.texts.messages import _

STYLE = Path(__file__).with_name("paper.css")
LETTERS = "ABCDEFGH"
SIZE = re.compile(r'(<svg [^>]*?)width="(\d+)" height="(\d+)"')


@dataclass(frozen=True)
class Sheet:
    """The questions for one student, or of one version.

    name     of the student or the version; "" if there is one sheet
    key      identifies it on each page; "" if there is one sheet
    is_for_student  whether ``name`` is that of a student: otherwise the student writes one
    """

    name: str
    key: str
    is_for_student: bool
    items: Sequence[Item]


def exam(sheets: Sequence[Sheet]) -> str:
    """The sheets for the students."""
    return _document(_("Exercises on normalization layers"), map(_sheet, sheets))


def key(sheets: Sequence[Sheet]) -> str:
    """The answers with reasons, and why each wrong answer tempts."""
    return _document(_("Answers to the exercises on normalization layers"), map(_answers, sheets))


def _document(title: str, sections: Iterable[str]) -> str:
    return (
        f'<!doctype html>\n<html {html_attributes()}>\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>\n{STYLE.read_text(encoding='utf-8')}</style>\n</head>\n<body>\n{''.join(sections)}</body>\n</html>\n"
    )


def _sheet(sheet: Sheet) -> str:
    questions = "".join(_question(item, number, sheet) for number, item in enumerate(sheet.items, 1))
    given = f" {escape(sheet.name)}" if sheet.is_for_student else '<span class="line"></span>'
    version = "" if sheet.is_for_student or not sheet.name else f"<p>{escape(sheet.name)}</p>"
    head = f'<header><h1>{escape(_("Exercises on normalization layers"))}</h1>{version}<p class="name">{escape(_("Name:"))}{given}</p></header>'
    return f"<section>\n{head}\n<ol>\n{questions}</ol>\n</section>\n"


def _question(item: Item, number: int, sheet: Sheet) -> str:
    place = f'<small class="place">{escape(f"{sheet.key} / {number}")}</small>' if sheet.key else ""
    options = "".join(f'<li><span class="box"></span>{item.line(text)}</li>' for text, _option in _lettered(item))
    room = '<div class="room"></div>' + f'<p class="answer">{escape(_("Answer:"))}<span class="line"></span></p>'
    asked = f'<ul class="options">{options}</ul>' if options else room
    return f"<li>{place}{item.block(item.prompt)}{_figure(item.picture)}{asked}</li>\n"


def _answers(sheet: Sheet) -> str:
    answers = "".join(map(_answer, sheet.items))
    name = " ".join(filter(None, [sheet.name, f"({sheet.key})" if sheet.key else ""]))
    return f'<section class="key">\n<header><h1>{escape(_("Answers"))}</h1><p>{escape(name)}</p></header>\n<ol>\n{answers}</ol>\n</section>\n'


def right_answer(item: Item) -> str:
    """The answer, with the letter of the right option."""
    return next((text for text, option in _lettered(item) if option.right), item.answer)


def _lettered(item: Item) -> list[tuple[str, Option]]:
    """The options as the exam has them: "B. the other elements with n = 1"."""
    return [(f"{letter}. {option.text}", option) for letter, option in zip(LETTERS, item.options, strict=False)]


def _answer(item: Item) -> str:
    tempting = chain(
        ((text, option.feedback) for text, option in _lettered(item) if not option.right),
        ((digits(number), feedback) for number, feedback in item.mistakes),
    )
    wrong = "".join(f"<li><b>{item.line(text)}</b>{': ' if why else ''}{item.line(why)}</li>" for text, why in tempting)
    tempt = f"<p>{escape(_('Wrong answers that tempt:'))}</p><ul>{wrong}</ul>"
    return (
        f'<li><div class="asked">{item.block(item.prompt)}</div><p><b>{item.line(right_answer(item))}</b></p>{item.block(item.explanation)}'
        f"{_figure(item.solution)}{tempt if wrong else ''}</li>\n"
    )


def _figure(svg: str) -> str:
    """A picture that shrinks with the page."""
    scaled = SIZE.sub(r'\1width="\2" height="\3" viewBox="0 0 \2 \3"', svg, count=1)
    return f"<figure>{scaled}</figure>" if svg else ""
