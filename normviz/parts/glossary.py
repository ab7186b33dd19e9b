"""The glossary: at most 36 words, each with its forms and one or two sentences (``normviz/locale/<language>/glossary.md``).

The data of a page has the words that occur in it. The page's script marks the first occurrence of each.
"""

import re
from dataclasses import dataclass
from functools import cache, cached_property

from normviz.texts.errors import NormvizError
from normviz.texts.languages import read_text
from normviz.texts.messages import language

ENTRY = re.compile(r"## (.+)\n+((?:(?!## ).+\n?)+)\n*")
WHOLE = "{form}(?<![a-z0-9_]{form})(?![a-z0-9_])"  # begins with the form, because such a pattern finds fast


@dataclass(frozen=True)
class Word:
    """A word of the glossary.

    forms  the ways to write it; the first one is its title
    about  what it means, as Markdown
    """

    forms: tuple[str, ...]
    about: str

    @property
    def name(self) -> str:
        return self.forms[0]

    @cached_property
    def stem(self) -> str:
        """The beginning that all forms share, in lower case."""
        first, *others = (form.lower() for form in self.forms)
        lengths = range(len(first), -1, -1)
        return next(first[:n] for n in lengths if all(form.startswith(first[:n]) for form in others))

    @cached_property
    def patterns(self) -> list[tuple[str, re.Pattern[str]]]:
        """Each form in lower case, and the pattern that finds it whole.

        Next to a Latin letter a form is part of a longer word; Chinese has no spaces between words.
        """
        forms = [form.lower() for form in self.forms]
        return [(form, re.compile(WHOLE.format(form=re.escape(form)))) for form in forms]


def glossary() -> tuple[Word, ...]:
    """The words in the reader's language, or in English if there is no translation."""
    return _read_glossary(language.get())


@cache
def _read_glossary(name: str) -> tuple[Word, ...]:
    text = read_text("glossary.md")
    if ENTRY.sub("", text).strip():
        raise NormvizError(
            f"{name}/glossary.md must have '## word, other form' and a paragraph below it, for each word."
        )
    return tuple(Word(tuple(forms.split(", ")), " ".join(about.split())) for forms, about in ENTRY.findall(text))


def words_in(text: str) -> tuple[Word, ...]:
    """The words of the glossary that may occur in a text or its HTML.

    >>> [word.name for word in words_in("The mean is over two axes.")]
    ['axis']
    """
    lower = text.lower()
    words = [word for word in glossary() if word.stem in lower]  # most words are not in the text; this shows it soonest
    found = [word for word in words for form, whole in word.patterns if form in lower and whole.search(lower)]
    return tuple(dict.fromkeys(found))
