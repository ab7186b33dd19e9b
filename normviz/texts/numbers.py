"""Numbers as readers type them. ``figures/browser/common/numbers.ts`` has the same rule, and one table of inputs tests both.

A point begins the decimals. In the languages of ``DECIMAL_COMMA`` a comma does so, too; in the others commas group the digits of thousands.
Where a text has another meaning by the other convention, the reader is asked: no guess is 1000 times too large.
"""

import re
from math import nan

from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import DECIMAL_COMMA, N_, language

ASK = N_("{typed} can be read in more than one way. Write {number} if you mean that number.")
SPACES = "\u00a0\u2009\u202f\u3000"  # no-break, thin, narrow no-break, and full-width
PLAIN = {ord(space): " " for space in SPACES} | {ord(dash): "-" for dash in "\u2010\u2011\u2012\u2013\u2212"}
PLAIN |= {ord("、"): ","} | {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}  # full-width ASCII
TYPED = re.compile(r"([-+]?)(?=[.,]*\d)([\d.,]+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
SPACED = re.compile(r"[-+]?\d{1,3}(?: \d{3})+(?=[.,e]|$)", re.ASCII | re.IGNORECASE)
DIGITS = re.compile(r"\d*\.?\d*", re.ASCII)
GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?", re.ASCII)
SWAPPED = str.maketrans(".,", ",.")


def plain_signs(text: str) -> str:
    """The text with ASCII's digits, brackets, commas, minus signs and spaces in place of those of other keyboards.

    >>> plain_signs("LayerNorm（９６）"), plain_signs("−0.5")
    ('LayerNorm(96)', '-0.5')
    """
    return text.translate(PLAIN)


def read_number(text: str, name: str = "", *, whole: bool = False) -> float:
    """The number that a reader has typed, in the convention of the reader's language; NaN if it is none.

    name   of a setting, for the message
    whole  whether a whole number is wanted: then 9.408 is not clear where a comma begins the decimals, because it may be 9408

    Raises NormvizError if the text can be read in more than one way.

    >>> read_number("9,408"), read_number("1 024"), read_number("4/2")
    (9408.0, 1024.0, nan)
    """
    plain = plain_signs(text).strip()
    spaced = SPACED.match(plain)
    found = TYPED.fullmatch(spaced[0].replace(" ", "") + plain[spaced.end() :] if spaced else plain)
    if not found:
        return nan
    sign, digits, exponent = found.groups(default="")
    point, comma = _digits(digits, not spaced), _digits(digits.translate(SWAPPED), not spaced)
    chosen, is_clear = _choose(digits, point, comma, whole)
    if chosen is None:
        return nan
    number = f"{sign}{chosen}{exponent}"
    if not is_clear:
        raise NormvizError(ASK, typed=f"{name}={echo(text)}" if name else echo(text), number=number)
    return float(number)


def _choose(digits: str, point: str | None, comma: str | None, whole: bool) -> tuple[str | None, bool]:
    """The digits by one of the two conventions, and whether they are the only meaning."""
    signs = [sign for sign in digits if sign in ".,"]
    either = point or comma
    if language.get() not in DECIMAL_COMMA:
        if point is None and comma is not None and "." in comma:  # a decimal comma, which is no whole number
            return (None, True) if whole else (comma, False)
        return either, True
    if len({*signs}) > 1:
        return either, False
    if len(signs) != 1:
        return either, True
    decimal, thousands = (point, comma) if signs == ["."] else (comma, point)
    return (thousands, False) if whole and thousands else (decimal, True)


def _digits(digits: str, may_be_grouped: bool) -> str | None:
    """The digits where a point begins the decimals, without commas between thousands; None if they are not written so."""
    if DIGITS.fullmatch(digits):
        return digits
    return digits.replace(",", "") if may_be_grouped and GROUPED.fullmatch(digits) else None
