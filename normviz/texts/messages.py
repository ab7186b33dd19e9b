"""Every text that a reader sees passes through here, so that a translation needs no change of code.

The English text is the key of a gettext catalogue: ``normviz/locale/<language>/LC_MESSAGES/normviz.mo``. Numbers, code, layer names and
torch's own error messages are inserted as values and are not translated.
"""

import gettext
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache, wraps
from math import isfinite, isnan
from os import environ
from pathlib import Path
from string import Formatter
from typing import ParamSpec, TypeVar
from unicodedata import combining, normalize

ENGLISH = "en"
# The folder of the languages. NORMVIZ_LOCALE names another one: for translators, and for tests.
LOCALE = Path(environ.get("NORMVIZ_LOCALE") or Path(__file__).parents[1] / "locale")


def _own_language() -> str:
    """The language of a process without a reader, such as a notebook: NORMVIZ_LANG, or English."""
    name = environ.get("NORMVIZ_LANG", "").strip()
    return name if name and (LOCALE / name).is_dir() else ENGLISH


# In these languages, a comma begins the decimals of a typed number, and narrow spaces group the digits of a printed one.
DECIMAL_COMMA = ("es", "pt")
OWN_LANGUAGE = _own_language()
language: ContextVar[str] = ContextVar("language", default=OWN_LANGUAGE)
P = ParamSpec("P")
R = TypeVar("R")


def translations(name: str) -> gettext.NullTranslations:
    """The catalogue of a language; without a catalogue, as for English, messages are unchanged."""
    return _read_catalogue(LOCALE, name)


@cache
def _read_catalogue(folder: Path, name: str) -> gettext.NullTranslations:
    return gettext.translation("normviz", folder, [name], fallback=True)


@contextmanager
def in_language(name: str) -> Iterator[None]:
    """Messages are in this language within the block; "" changes nothing."""
    token = language.set(name or language.get())
    try:
        yield
    finally:
        language.reset(token)


def cache_by_language(maxsize: int | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """``lru_cache`` for a function whose result has texts: one result for each language.

    >>> @cache_by_language()
    ... def greeting():
    ...     return f"Hello in {language.get()}"
    >>> greeting()
    'Hello in en'
    >>> with in_language("xa"):
    ...     greeting()
    'Hello in xa'
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @lru_cache(maxsize)
        def kept(_language: str, *args: P.args, **kwargs: P.kwargs) -> R:
            return function(*args, **kwargs)

        @wraps(function)
        def found(*args: P.args, **kwargs: P.kwargs) -> R:
            return kept(language.get(), *args, **kwargs)  # type: ignore[arg-type]

        found.kept = kept  # type: ignore[attr-defined]
        return found

    return decorate


def _(message: str, /, **values: object) -> str:
    """The message in the reader's language, with ``{placeholders}`` filled by ``values``.

    >>> _("{count:,} elements", count=4096)
    '4,096 elements'
    """
    text = _read_catalogue(LOCALE, language.get()).gettext(message)
    return filled(text, values) if values else text


def ngettext(one: str, many: str, n: int, /, **values: object) -> str:
    """The message whose plural form ``n`` selects; ``{n}`` is the number.

    >>> ngettext("{n:,} group of {size}", "{n:,} groups of {size}", 1, size=48)
    '1 group of 48'
    """
    return filled(translations(language.get()).ngettext(one, many, n), {"n": n, **values})


# Chinese has spaces around Latin words and numbers, which a placeholder often is, and none within Chinese.
WITHIN_CHINESE = re.compile(
    "(?<=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]) (?=[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef])"
)


def filled(text: str, values: Mapping[str, object]) -> str:
    """A text in the reader's language, with its placeholders filled."""
    grouped = language.get() in DECIMAL_COMMA
    return WITHIN_CHINESE.sub("", _Grouping().vformat(text, (), values) if grouped else text.format(**values))


class _Grouping(Formatter):
    """Fills ``{n:,}`` in the convention of the reader's language."""

    def format_field(self, value: object, format_spec: str) -> str:
        text: str = super().format_field(value, format_spec)
        return group_digits(text) if "," in format_spec else text


def join_sentences(sentences: Iterable[str]) -> str:
    """Sentences as one text; a language such as Chinese puts no space between them. Empty ones are left out.

    >>> join_sentences(["Move x.", "", "No output moves."])
    'Move x. No output moves.'
    """
    return _("{first} {second}", first="", second="").join(filter(None, sentences))


# Around text that stays English. They are invisible, and keep it whole among text that runs from right to left.
BEGIN, END = "\u2068", "\u2069"


def english(text: str) -> str:
    """Text that stays English in every language, such as torch's own words. HTML tells screen readers so.

    >>> english("Expected more than 1 value")
    'Expected more than 1 value'
    """
    return text if language.get() == ENGLISH else f"{BEGIN}{text}{END}"


def without_marks(text: str) -> str:
    """The text without the marks of ``english``."""
    return text.replace(BEGIN, "").replace(END, "")


def plain(markdown: str) -> str:
    """The Markdown as plain text.

    >>> plain("**2** of `x`, see [torch](https://pytorch.org)")
    '2 of x, see torch'
    """
    markdown = without_marks(markdown)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"\*\*|`", "", markdown)).replace("\\|", "|")


def N_(message: str) -> str:  # noqa: N802 - the name in gettext
    """Mark a constant for translation; call ``_`` on it where it is displayed."""
    return message


# Numbers as pages show them: thousands separators, a true minus sign, powers of ten as in code.

THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
NARROW_SPACE = "\u202f"  # no line breaks at it


def group_digits(text: str) -> str:
    """The text of a number that has commas between thousands, in the convention of the reader's language.

    Where a comma begins the decimals, a narrow space is between thousands, and four digits are not grouped (ISO 80000-1, RAE).

    >>> group_digits("9,408,000")
    '9,408,000'
    >>> with in_language("es"):
    ...     group_digits("9,408"), group_digits("9,408,000")
    ('9408', '9\u202f408\u202f000')
    """
    if language.get() not in DECIMAL_COMMA:
        return text
    return THOUSANDS.sub(lambda digits: digits[0].replace(",", NARROW_SPACE if len(digits[0]) > 5 else ""), text)


def format_count(count: float) -> str:
    """A whole number.

    >>> format_count(-131072)
    '−131,072'
    """
    return group_digits(f"{int(count):,}").replace("-", "−")


def format_number(value: float, digits: int = 4) -> str:
    """The number with up to ``digits`` significant digits.

    >>> format_number(-131072.0), format_number(1.2345678e-07), format_number(float("inf")), format_number(-0.0)
    ('−131,072', '1.235e−7', '∞', '0')
    """
    if isnan(value) or value == 0:
        return "NaN" if isnan(value) else "0"
    if not isfinite(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:,.{digits}g}"
    mantissa, _, exponent = text.partition("e")
    return (group_digits(mantissa) + (f"e{int(exponent)}" if exponent else "")).replace("-", "−")


def format_fixed(value: float, places: int) -> str:
    """The number with that many decimal places, for columns of numbers.

    >>> format_fixed(-0.71, 4)
    '−0.7100'
    """
    return f"{value:.{places}f}".replace("-", "−")


def format_difference(difference: float) -> str:
    """The largest difference between two results, with two digits.

    >>> format_difference(0.0), format_difference(2.22e-16)
    ('0', '2.2e−16')
    """
    return format_number(difference, 2)


def without_accents(text: str) -> str:
    """The text as it is often typed in a search.

    >>> without_accents("variância ou média")
    'variancia ou media'
    """
    return "".join(letter for letter in normalize("NFD", text) if not combining(letter))


# A table as plain text.


WIDEST = 100  # characters in a column of a page


def align(lines: Sequence[Sequence[str]], widest: int | None = None) -> str:
    """The cells of each line in columns of equal width. A cell that is wider than ``widest`` moves the cells after it.

    >>> print(align([("name", "n"), ("a", "12")]))
    name  n
    a     12
    """
    if not lines:
        return ""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths = widths if widest is None else [min(widest, width) for width in widths]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
