"""What a search finds: texts with the typed words, or with words that mean the same (``normviz/locale/<language>/search.md``).

``parts/browser/list.ts`` has the same rule.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from normviz.texts.languages import read_text
from normviz.texts.messages import ENGLISH, cache_by_language, in_language, without_accents

ENTRY = re.compile(r"^## (.+)\n+((?:(?!## ).*\n?)+)", re.MULTILINE)


@dataclass(frozen=True)
class Idea:
    """What several words mean: in lower case, without accents.

    names  the words that the texts use, or the name of a layer; "-" if the words say nothing
    words  what else people call it
    """

    names: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def says_nothing(self) -> bool:
        return self.names == ("-",)


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


NEAR = 0.8  # of the weight of the best text


def matches(typed: str, texts: Sequence[str]) -> list[bool]:
    """Whether a search finds each of the simplified texts.

    It finds those with every typed word that says something. If there is none, it finds those with the words that say most: a word weighs more, the fewer texts
    have it, and one that no text has weighs nothing.

    >>> texts = ["a layernorm after each block", "a batchnorm2d layer", "the mean of a block"]
    >>> matches("layer normalization", texts), matches("batchnorm vs layernorm", texts), matches("zzz", texts)
    ([True, False, False], [True, True, False], [False, False, False])
    """
    parts, silent = _parts(typed), {word for idea in ideas() if idea.says_nothing for word in idea.words}
    wanted = [_meanings(part) for part in [part for part in parts if part not in silent] or parts]
    has = [[any(word in text for word in words) for words in wanted] for text in texts]
    if any(map(all, has)):
        return [all(words) for words in has]
    counts = [sum(column) for column in zip(*has, strict=True)]
    weights = [log((len(texts) + 1) / count) if count else 0.0 for count in counts]
    scores = [sum(weight for weight, is_there in zip(weights, words, strict=True) if is_there) for words in has]
    return [0 < score >= NEAR * max(scores) for score in scores]


def _meanings(part: str) -> list[str]:
    """The part, and the names of the ideas that it means. While it is typed, it is the beginning of what it means; a name means itself."""
    known = [idea for idea in ideas() if not idea.says_nothing]
    if any(part in idea.names for idea in known):
        return [part]
    exact = [idea for idea in known if part in idea.words]
    meant = exact or [idea for idea in known if any(word.startswith(part) for word in idea.words)]
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
    return next((idea.names[0] for idea in ideas() if simplified(typed) in idea.words and not idea.says_nothing), None)
