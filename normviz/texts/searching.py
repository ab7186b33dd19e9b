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
STEM = 4  # letters that a word and its plural have in common
CHINESE = re.compile("[\u3400-\u9fff]")
IN_TITLE = 3  # a word in a title weighs so much more
WORTH = 0.2  # of the weight of the best


def matches(typed: str, texts: Sequence[str]) -> list[bool]:
    """Whether a search finds each of the simplified texts.

    It finds those with every typed word that says something. If there is none, it finds those with the words that say most: a word weighs more, the fewer texts
    have it, and one that no text has weighs nothing.

    >>> texts = ["a layernorm after each block", "a batchnorm2d layer", "the mean of a block"]
    >>> matches("layer normalization", texts), matches("batchnorm vs layernorm", texts), matches("zzz", texts)
    ([True, False, False], [True, True, False], [False, False, False])
    """
    has = _found_in(_wanted(typed), texts)
    if any(map(all, has)):
        return [all(words) for words in has]
    scores = _scores(has, _weights(has))
    return [0 < score >= NEAR * max(scores) for score in scores]


def ranking(typed: str, titles: Sequence[str], texts: Sequence[str]) -> list[int]:
    """The places of the simplified texts that a search finds, the best first. A word in a title weighs more than one in its text.

    >>> ranking("layernorm", ["gamma", "layernorm", "eps"], ["a layernorm", "layernorm and eps", "eps"])
    [1, 0]
    """
    wanted = _wanted(typed)
    has = _found_in(wanted, texts)
    weights = _weights(has)
    scores = _scores(has, weights)
    titled = _scores(_found_in(wanted, titles), weights)
    totals = [score * (score + IN_TITLE * in_title) for score, in_title in zip(scores, titled, strict=True)]
    best = max(totals, default=0.0)
    return sorted((one for one, total in enumerate(totals) if 0 < total >= WORTH * best), key=lambda one: -totals[one])


def _wanted(typed: str) -> list[list[str]]:
    """The words that a search wants: each with those that mean the same."""
    parts, silent = _parts(typed), {word for idea in ideas() if idea.says_nothing for word in idea.words}
    return [_meanings(part) for part in [part for part in parts if part not in silent] or parts]


def _found_in(wanted: Sequence[Sequence[str]], texts: Sequence[str]) -> list[list[bool]]:
    return [[any(word in text for word in words) for words in wanted] for text in texts]


def _weights(has: Sequence[Sequence[bool]]) -> list[float]:
    counts = [sum(column) for column in zip(*has, strict=True)]
    return [log((len(has) + 1) / count) if count else 0.0 for count in counts]


def _scores(has: Sequence[Sequence[bool]], weights: Sequence[float]) -> list[float]:
    return [sum(weight for weight, is_there in zip(weights, words, strict=True) if is_there) for words in has]


def _meanings(part: str) -> list[str]:
    """The part, and the names of the ideas that it means. While it is typed, it is the beginning of what it means; a name means itself and its plural."""
    known = [idea for idea in ideas() if not idea.says_nothing]
    if same := [idea for idea in known if part in idea.names]:
        names = (name for idea in same for name in idea.names)
        return [part, *(name for name in names if len(name) > len(part) and name[:STEM] == part[:STEM])]
    exact = [idea for idea in known if part in idea.words]
    meant = exact or [
        idea for idea in known if any(word.startswith(part) and word[len(part)] != " " for word in idea.words)
    ]
    return [part, *(name for idea in meant for name in idea.names)]


def _parts(typed: str) -> list[str]:
    """The parts of a search: what people call an idea is one part, also if it has several words, or no space around it, as in Chinese.

    >>> _parts("batch normalization or LN"), _parts("layernorm\u548cbatchnorm")
    (['batch normalization', 'or', 'ln'], ['layernorm\u548cbatchnorm'])
    """
    rest, parts = f" {simplified(typed)} ", []
    known = {word for idea in ideas() for word in (*idea.words, *idea.names)}
    for phrase in sorted(known, key=lambda word: (-len(word), word)):
        whole = phrase if CHINESE.search(phrase) else f" {phrase} "
        if (" " in phrase or whole == phrase) and whole in rest:
            parts.append(phrase)
            rest = rest.replace(whole, " ")
    return parts + rest.split()


def named(typed: str) -> str | None:
    """The first name of the idea that people call so; None: there is none.

    >>> named("Batch normalization"), named("gamma")
    ('batchnorm', None)
    """
    words = simplified(typed)
    return next((idea.names[0] for idea in ideas() if words in idea.words and not idea.says_nothing), None)
