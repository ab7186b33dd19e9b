"""The one exception that carries a message for a reader."""

import re


class NormvizError(ValueError):
    """A request that cannot be met; its text names the rule, the values and a remedy.

    >>> raise NormvizError("C=6 cannot be split into 4 equal groups; num_groups must be 1, 2, 3 or 6.")
    Traceback (most recent call last):
    ...
    normviz.layers.errors.NormvizError: C=6 cannot be split into 4 equal groups; num_groups must be 1, 2, 3 or 6.
    """


class NormvizWarning(UserWarning):
    """Something legal that is seldom meant, such as BatchNorm1d on (N, L, C)."""


LONGEST_ECHO = 60


def echo(value: object) -> str:
    """The value as it may stand in a message: short, and on one line.

    >>> echo("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…"
    """
    try:
        text = re.sub(r"\s*\n\s*", " ", repr(value))
    except ValueError:  # Python prints no whole number of more than 4300 digits
        text = "a value too long to print"
    return text if len(text) <= LONGEST_ECHO else text[:LONGEST_ECHO] + "…"


def listed(values: object, last: str = "or") -> str:
    """Values as a phrase.

    >>> listed([1, 2, 3, 6])
    '1, 2, 3 or 6'
    """
    words = [str(value) for value in values]  # type: ignore[attr-defined]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
