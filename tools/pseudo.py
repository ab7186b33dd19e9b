"""Languages for tests, made from the English texts: `xa` has accents and is 40 % longer, `xr` is written from right to left.

A text that stays plain English in `xa` does not pass through the messages; one that is cut off has too little room for a translation.
Placeholders, code, tags, addresses and keys stay as they are.

    python -m tools.pseudo FOLDER && NORMVIZ_LOCALE=FOLDER make run      # then open /?lang=xa
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

from babel.messages.catalog import Catalog, Message

from normviz.texts.languages import FRONT_MATTER
from tools.translations import ENGLISH, mo_bytes, prose_files, template

# What a translation keeps: placeholders, code, tags, entities, the address of a link, names of layers, other names with dots or underscores.
KEPT = re.compile(
    r"\{[^{}]*\}|`[^`]*`|</?[a-z][^<>]*>|&#?\w+;|\]\([^)]*\)|https?://\S+|\b\w+Norm\w*|\b\w+(?:[._]\w+)+\b|--\w+"
)
ACCENTED = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "åƀçðéƒĝĥîĵķļɱñöþɋŕšţûṽŵẋýžÅƁÇÐÉƑĜĤÎĴĶĻṀÑÖÞɊŔŠŢÛṼŴẊÝŽ"
)
HEBREW = str.maketrans("abcdefghijklmnopqrstuvwxyz", "אבצדעפגהיקכלמנטסךרשתוםןחףז")
FIXED_LINE = re.compile(r"^(?:## (?:Predict|Answer|Do|Hint|Done|Figure)|minutes: \d+|stops:|  - link: .*)$")
PREFIX = re.compile(r"^(?:# |## |> |- \[\w+\] |title: | +caption: | +)?")
Letters = Callable[[str], str]


def accented(words: str) -> str:
    """Accents, and each vowel twice: about 40 % longer.

    >>> accented("Share the mean")
    'Šĥååŕéé ţĥéé ɱééååñ'
    """
    return re.sub("[aeiouAEIOU]", lambda vowel: vowel[0] + vowel[0].lower(), words).translate(ACCENTED)


def right_to_left(words: str) -> str:
    """Each letter as a Hebrew one."""
    return words.lower().translate(HEBREW)


PSEUDO: dict[str, Letters] = {"xa": accented, "xr": right_to_left}


def pseudo(text: str, letters: Letters) -> str:
    """The text with other letters, except in what a translation keeps.

    >>> pseudo("{n:,} of `x`, LayerNorm", accented)
    '{n:,} ööƒ `x`, LayerNorm'
    """
    kept = KEPT.findall(text)
    return "".join(f"{letters(words)}{code}" for words, code in zip(KEPT.split(text), [*kept, ""], strict=True))


def pseudo_prose(text: str, letters: Letters) -> str:
    """A Markdown or YAML file, with its headings, keys and links as they are."""
    return "\n".join(line if FIXED_LINE.match(line) else _line(line, letters) for line in text.split("\n"))


def _line(line: str, letters: Letters) -> str:
    prefix = PREFIX.match(line)
    begin = prefix[0] if prefix else ""
    return begin + pseudo(line.removeprefix(begin), letters)


def write_locale(folder: Path) -> Path:
    """Write the pseudo-languages into a folder that NORMVIZ_LOCALE names; return it."""
    messages = template()
    for name, letters in PSEUDO.items():
        catalog = Catalog(locale="en", domain="normviz", fuzzy=False)
        for message in messages:
            if message.id:
                catalog.add(message.id, _strings(message, letters))
        file = folder / name / "LC_MESSAGES" / "normviz.mo"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(mo_bytes(catalog))
        for path in prose_files():
            (folder / name / path).parent.mkdir(exist_ok=True)
            text = pseudo_prose(FRONT_MATTER.sub("", (ENGLISH / path).read_text(encoding="utf-8")), letters)
            (folder / name / path).write_text(text, encoding="utf-8")
    return folder


def _strings(message: Message, letters: Letters) -> str | tuple[str, ...]:
    if isinstance(message.id, str):
        return pseudo(message.id, letters)
    return tuple(pseudo(form, letters) for form in message.id)


if __name__ == "__main__":
    write_locale(Path(sys.argv[1]))
