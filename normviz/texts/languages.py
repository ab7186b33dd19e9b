"""The languages of the app: those that have a catalogue, and English."""

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from normviz.texts import messages
from normviz.texts.errors import NormvizError, closest, echo, listed
from normviz.texts.messages import ENGLISH, language

LTR, RTL = "ltr", "rtl"


@dataclass(frozen=True)
class Language:
    """A language as its readers know it.

    name       in the language itself
    tag        for ``<html lang>`` (BCP 47)
    direction  of its script: "ltr" or "rtl"
    """

    name: str
    tag: str
    direction: str = LTR


# By the name of the folder and of ``lang=`` in a link. A language that is not listed is called by that name.
KNOWN = {
    ENGLISH: Language("English", "en"),
    "zh": Language("简体中文", "zh-Hans"),
    "es": Language("Español", "es"),
    "pt": Language("Português do Brasil", "pt-BR"),
}
RIGHT_TO_LEFT = ("ar", "fa", "he", "ur", "xr")  # xr: a language of the tests


def languages() -> dict[str, Language]:
    """The languages by name, English first.

    >>> languages()["en"].name
    'English'
    """
    return {name: find_language(name) for name in _names(messages.LOCALE)}


@cache
def _names(folder: Path) -> tuple[str, ...]:
    found = sorted(catalogue.parents[1].name for catalogue in folder.glob("*/LC_MESSAGES/normviz.mo"))
    return tuple(dict.fromkeys((ENGLISH, *found)))


def find_language(name: str) -> Language:
    """The language of this name."""
    return KNOWN.get(name) or Language(name, name, RTL if name in RIGHT_TO_LEFT else LTR)


def parse_language(text: str) -> str:
    """The name of the language. Raises NormvizError if normviz does not have it.

    >>> parse_language("en-GB")
    'en'
    """
    if name := matching_language(text):
        return name
    known = languages()
    written = echo(text)
    if meant := closest(text, {**known, **{one.name: name for name, one in known.items()}}):
        meant = next((name for name, one in known.items() if one.name == meant), meant)
        raise NormvizError("lang={value} is unknown. Did you mean {meant}?", value=written, meant=meant)
    raise NormvizError("lang={value} is unknown; choose {names}.", value=written, names=listed(known))


def accepted_language(header: str) -> str:
    """The language that a browser asks for in its Accept-Language header; English if normviz has none of them.

    >>> accepted_language("fr-FR,fr;q=0.9,en-US;q=0.8")
    'en'
    """
    wanted = []
    for place, one in enumerate(header.split(",")):
        tag, _semicolon, quality = one.partition(";q=")
        wanted.append((-_number(quality), place, tag))
    return next(
        (name for weight, _place, tag in sorted(wanted) if weight < 0 and (name := matching_language(tag))), ENGLISH
    )


def _number(quality: str) -> float:
    try:
        return float(quality or 1)
    except ValueError:
        return 0.0


def matching_language(tag: str) -> str | None:
    """The language of a tag such as "zh-CN", which is "zh"; None if normviz does not have it.

    >>> matching_language("en-US"), matching_language("")
    ('en', None)
    """
    first, known = tag.strip().lower().replace("_", "-").partition("-")[0], languages()
    return first if first in known else None


def with_language(link: str) -> str:
    """The link, which opens in the reader's language also where the browser has another one. English is not written.

    >>> with_language("/questions?q=s0")
    '/questions?q=s0'
    """
    path, _question_mark, query = link.partition("?")
    if language.get() == ENGLISH or any(pair.startswith("lang=") for pair in query.split("&")):
        return link
    return f"{path}?{query}{'&' if query else ''}lang={language.get()}"


def html_attributes() -> str:
    """The attributes of ``<html>`` for the reader's language.

    >>> html_attributes()
    'lang="en" dir="ltr"'
    """
    reader = find_language(language.get())
    return f'lang="{reader.tag}" dir="{reader.direction}"'


# The prose of a language: the Markdown and YAML files of ``normviz/locale/<language>/``.
# The first line of a translated file may say from which English it was made; see docs/translating.md. An English file may begin with front matter:
# its claims (tools/claims.py), and what a question consists of beside its prose. Readers of the files see neither.

OWN = Path(__file__).parents[1] / "locale" / ENGLISH
STAMP = re.compile(r"\A(?:<!-- English: (?P<markdown>\w+) -->|# English: (?P<yaml>\w+))\n+")
FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n+", re.DOTALL)


def read_text(path: str) -> str:
    """The file ``path`` in the reader's language. It is in English if there is no translation, or if the English has changed since.

    >>> read_text("start/depth.md").splitlines()[0]
    '# Why normalize?'
    """
    own, shared = messages.LOCALE / language.get() / path, messages.LOCALE / ENGLISH / path
    english = shared if shared.is_file() else OWN / path
    if own.is_file():
        text = own.read_text(encoding="utf-8")
        made_from = STAMP.match(text)
        if made_from is None or (made_from["markdown"] or made_from["yaml"]) == digest(english):
            return FRONT_MATTER.sub("", STAMP.sub("", text))
    return FRONT_MATTER.sub("", english.read_text(encoding="utf-8"))


def digest(file: Path) -> str:
    """Eight digits that change whenever the text does. Its front matter is not translated."""
    return hashlib.sha256(FRONT_MATTER.sub("", file.read_text(encoding="utf-8")).encode()).hexdigest()[:8]


def paragraphs(name: str, **values: object) -> str:
    """What a page says in several sentences, the file ``pages/{name}.md`` in the reader's language, with its placeholders filled.

    >>> paragraphs("variances", formula="E[x²] − E[x]²", channels_last="GroupNorm").splitlines()[1]
    '- *Two passes*: the mean first, then the mean of (x − mean)².'
    """
    return messages.filled(read_text(f"pages/{name}.md").strip(), values)
