"""The exception and the warning that normviz raises, and how their messages write values."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from normviz.texts.messages import _, language


class NormvizError(ValueError):
    """An invalid request. The message states the rule, the values and a remedy, in the reader's language; ``values`` fill its placeholders.

    >>> raise NormvizError("eps={eps} must be a finite number, such as 1e-5.", eps="inf")
    Traceback (most recent call last):
    ...
    normviz.texts.errors.NormvizError: eps=inf must be a finite number, such as 1e-5.
    """

    def __init__(self, message: str, /, **values: object) -> None:
        super().__init__(_(message, **values))


class NormvizWarning(UserWarning):
    """A valid request that is seldom intended, such as BatchNorm1d on (N, L, C)."""


LONGEST_ECHO = 60
SURROGATE = re.compile("[\ud800-\udfff]")


def echo(value: object) -> str:
    """The value for use in a message: shortened, and on one line.

    >>> echo("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"
    """
    try:
        text = re.sub(r"\s*\n\s*", " ", repr(value))
    except ValueError:  # Python does not print an int of more than 4300 digits
        text = _("a value too long to print")
    return text if len(text) <= LONGEST_ECHO else text[:LONGEST_ECHO] + "…"


def encodable(text: str) -> str:
    """The text with U+FFFD in place of each half of a surrogate pair, which UTF-8 cannot write. JSON, YAML and a caller's text may have them.

    >>> encodable("a\\ud800"), encodable("😀")
    ('a�', '😀')
    """
    try:
        text.encode()  # quicker than a search
    except UnicodeEncodeError:
        return SURROGATE.sub("\ufffd", text)
    return text


# Spanish has other words before their own sound: "LayerNorm e InstanceNorm", "4 u 8".
SPANISH = [("y", "e", "h?i"), ("o", "u", r"(h?o|8|11\b)")]


def listed(values: Iterable[object], last: str = "or") -> str:
    """The values as a phrase, with "or" or "and" before the last one.

    >>> listed([1, 2, 3, 6])
    '1, 2, 3 or 6'
    """
    *first, final = [str(value) for value in values]
    pattern = {"or": _("{values} or {final}"), "and": _("{values} and {final}")}[last]
    if not first:
        return final
    phrase = pattern.format(values=_(", ").join(first), final=final)
    if language.get() == "es":
        for word, before_its_sound, sound in SPANISH:
            phrase = re.sub(rf" {word} (?=[`*]*{sound})", f" {before_its_sound} ", phrase, flags=re.IGNORECASE)
    return phrase


def closest(word: str, names: Iterable[str]) -> str | None:
    """The name that the reader probably meant, or None.

    >>> closest("batchnorm2D", ["BatchNorm1d", "BatchNorm2d"]), closest("Conv2d", ["BatchNorm2d"])
    ('BatchNorm2d', None)
    """
    by_lower = {name.lower(): name for name in names}
    found = get_close_matches(word.lower()[:LONGEST_ECHO], by_lower, 1)
    return by_lower[found[0]] if found else None
