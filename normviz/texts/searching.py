"""What a search finds: texts with every typed word, or with a word that means the same (``normviz/locale/<language>/search.md``).

``parts/browser/list.ts`` has the same rule.
"""

import re
from dataclasses import dataclass

from normviz.texts.languages import read_text
from normviz.texts.messages import ENGLISH, cache_by_language, in_language, without_accents

ENTRY = re.compile(r"^## (.+)\n+((?:(?!## ).*\n?)+)", re.MULTILINE)


@dataclass(frozen=True)
class Idea:
    """What several words mean: in lower case, without accents.

    names  the words that the texts use, or the name of a layer
    words  what else people call it
    """

    names: tuple[str, ...]
    words: tuple[str, ...]


@cache_by_language()
def ideas() -> tuple[Idea, ...]:
    """The ideas that have other words in the reader's language, and those in English."""
    with in_language(ENGLISH):
        english = read_text("search.md")
    own = read_text("search.md")
    return tuple(
        Idea(_listed(names), _listed(words))
        for text in dict.fromkeys((own, english))
        for names, words in ENTRY.findall(text)
    )


def _listed(text: str) -> tuple[str, ...]:
    return tuple(simplified(text).split(", "))


def simplified(text: str) -> str:
    """The text in lower case, without accents, with single spaces.

    >>> simplified(" Média  móvel ")
    'media movel'
    """
    return " ".join(without_accents(text.lower()).split())


def finds(typed: str, text: str) -> bool:
    """Whether a search finds a simplified text.

    >>> (
    ...     finds("layer normalization", "a layernorm after each block"),
    ...     finds("layer normalization", "a batchnorm2d layer"),
    ... )
    (True, False)
    """
    return all(any(word in text for word in _meanings(part)) for part in _parts(typed))


def _meanings(part: str) -> list[str]:
    """The part, and the names of the ideas that it means. While it is typed, it is the beginning of what it means; a name means itself."""
    if any(part in idea.names for idea in ideas()):
        return [part]
    exact = [idea for idea in ideas() if part in idea.words]
    meant = exact or [idea for idea in ideas() if any(word.startswith(part) for word in idea.words)]
    return [part, *(name for idea in meant for name in idea.names)]


def _parts(typed: str) -> list[str]:
    """The parts of a search: what people call an idea is one part, also if it has several words."""
    rest, parts = f" {simplified(typed)} ", []
    for phrase in sorted((word for idea in ideas() for word in idea.words if " " in word), key=len, reverse=True):
        if f" {phrase} " in rest:
            parts.append(phrase)
            rest = rest.replace(f" {phrase} ", " ")
    return parts + rest.split()


def named(typed: str) -> str | None:
    """The first name of the idea that people call so; None: there is none.

    >>> named("Batch normalization"), named("gamma")
    ('batchnorm', None)
    """
    return next((idea.names[0] for idea in ideas() if simplified(typed) in idea.words), None)
