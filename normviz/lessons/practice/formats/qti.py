"""A set as a QTI 1.2 package (Canvas and others), written by text2qti, which takes a quiz as Markdown, with pictures in the same folder."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from text2qti.config import Config
from text2qti.qti import QTI
from text2qti.quiz import Quiz

from normviz.lessons.practice.exercise import TOLERANCE
from normviz.lessons.practice.formats.quiz import Item
from normviz.texts.messages import _

SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!$>])")  # characters with a meaning in Markdown


def qti_package(items: Sequence[Item], title: str) -> bytes:
    """A zip with the questions and their pictures."""
    prompts = Counter[str]()
    with TemporaryDirectory() as folder:
        lines = [f"Quiz title: {title}"]
        for item in items:
            lines.append(_question(item, Path(folder), prompts[item.prompt]))
            prompts[item.prompt] += 1
        text = "\n\n".join(lines)
        quiz = Quiz(text, config=Config(), source_name=str(Path(folder) / "quiz.txt"))
        package: bytes = QTI(quiz).zip_bytes()
    return package


def _question(item: Item, folder: Path, before: int) -> str:
    """``before``: how many earlier questions have the same text. text2qti refuses a second one, although its options differ: an invisible space tells them apart."""
    lines = [f"1.  {_escaped(item.plain(item.prompt))}{'&#8203;' * before}"]
    if item.picture:
        lines.append(f"    {_picture(item.picture, item, folder / f'{item.id}.svg')}")
    if feedback := _feedback(item):
        lines.append(f"... {feedback}")
    if item.solution:
        lines.append(f"    {_picture(item.solution, item, folder / f'{item.id}-solution.svg')}")
    if not item.options:
        margin = item.tolerance or (0 if item.number else TOLERANCE)  # text2qti takes no 0 alone
        tolerance = f" +- {margin:g}" if margin else ""
        return "\n".join([*lines, f"=   {item.answer}{tolerance}"])
    for letter, option in zip("abcdefgh", item.options, strict=False):
        lines += [
            f"{'*' if option.right else ''}{letter})  {_escaped(item.plain(option.text))}",
            *([f"... {_escaped(item.plain(option.feedback))}"] if option.feedback else []),
        ]
    return "\n".join(lines)


def _feedback(item: Item) -> str:
    link = f" [{_('Open the figure')}](<{item.link}>)" if item.link else ""
    return _escaped(item.plain(item.explanation)) + link


def _picture(svg: str, item: Item, place: Path) -> str:
    """Markdown of a picture that is written to ``place``."""
    place.write_text(svg, encoding="utf-8")
    return f"![{_escaped(item.spoken)}]({place.as_posix()})"


def _escaped(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text.replace("&", "&amp;").replace("<", "&lt;"))
