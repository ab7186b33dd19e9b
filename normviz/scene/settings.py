"""What a page is set to beside its scene: named fields, to and from the same URL query.

A field reads leniently: a wrong value becomes one message, and the nearest legal value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from normviz.layers.errors import NormvizError, echo, listed

MOST_LETTERS = 1500


@dataclass(frozen=True)
class Field:
    """One setting: its name in the query, its usual value, how it is read, and how it is written.

    ``near`` gives the nearest legal value to a text that does not read.
    """

    name: str
    usual: Any
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    near: Callable[[str], Any] | None = None


def choice(name: str, options: Sequence[str], usual: str | None = None) -> Field:
    """One of a few words; usually the first."""

    def read(text: str) -> str:
        if text not in options:
            raise NormvizError(f"{name}={echo(text)} is unknown; choose {listed(options)}.")
        return text

    return Field(name, usual or options[0], read)


def whole(name: str, low: int, high: int, usual: int) -> Field:
    """A whole number from ``low`` to ``high``."""
    return _number(name, low, high, usual, int, "a whole number")


def real(name: str, low: float, high: float, usual: float) -> Field:
    """A number from ``low`` to ``high``."""
    return _number(name, low, high, usual, float, "a number")


def number_or_none(name: str, low: float, high: float, usual: float) -> Field:
    """A number from ``low`` to ``high``, or none."""
    plain = _number(name, low, high, usual, float, "a number, or none,")

    def either(read: Callable[[str], Any]) -> Callable[[str], Any]:
        return lambda text: None if text.strip().lower() == "none" else read(text)

    assert plain.near is not None
    return Field(
        name, usual, either(plain.read), lambda value: "none" if value is None else _written(value), either(plain.near)
    )


def _number(name: str, low: float, high: float, usual: float, kind: Callable[[Any], Any], what: str) -> Field:
    def value_of(text: str) -> float:
        if len(text) > 40:
            raise ValueError
        return float(text.replace("\u2212", "-"))  # a true minus sign

    def read(text: str) -> Any:
        try:
            value = value_of(text)
            if not low <= value <= high or kind(value) != value:
                raise ValueError
        except (ValueError, OverflowError):
            raise NormvizError(f"{name}={echo(text)} must be {what} from {_end(low)} to {_end(high)}.") from None
        return kind(value)

    def near(text: str) -> Any:
        try:
            value = value_of(text)
        except ValueError:
            return usual
        return kind(min(max(value, low), high)) if isfinite(value) else usual

    return Field(name, usual, read, _written, near)


def _written(number: float) -> str:
    """The number as it reads back: in nine digits where they are enough."""
    short = f"{number:.9g}"
    return short if float(short) == number else repr(number)


def _end(number: float) -> str:
    return f"{int(number):,}" if number == int(number) else f"{number:,}"


def text(name: str, most: int) -> Field:
    """A short text of up to ``most`` letters; usually none."""

    def read(given: str) -> str:
        if len(given) > most:
            raise NormvizError(f"{name}={echo(given)} is too long; give up to {most} letters.")
        return given

    return Field(name, "", read, near=lambda given: given[:most])


def texts(name: str, usual: tuple[str, ...], most: int) -> Field:
    """Up to ``most`` texts, parted by semicolons."""

    def read(text: str) -> tuple[str, ...]:
        parts = tuple(part.strip() for part in text.split(";") if part.strip())
        if len(text) > MOST_LETTERS or not 1 <= len(parts) <= most:
            raise NormvizError(f"{name}={echo(text)} must be 1 to {most} texts, parted by semicolons.")
        return parts

    return Field(name, usual, read, ";".join, lambda text: read(";".join(text[:MOST_LETTERS].split(";")[:most])))


def read_settings(fields: Sequence[Field], query: Mapping[str, str]) -> tuple[dict[str, Any], str | None]:
    """Every field's value, and what was wrong with the first that did not read.

    >>> read_settings([whole("steps", 1, 500, 50)], {"steps": "9000"})
    ({'steps': 500}, "steps='9000' must be a whole number from 1 to 500.")
    """
    values: dict[str, Any] = {}
    problem = None
    for field in fields:
        values[field.name] = field.usual
        if field.name in query:
            try:
                values[field.name] = field.read(query[field.name])
            except NormvizError as error:
                problem = problem or str(error)
                values[field.name] = _nearest(field, query[field.name])
    return values, problem


def _nearest(field: Field, text: str) -> Any:
    try:
        return field.near(text) if field.near else field.usual
    except NormvizError:
        return field.usual


def write_settings(fields: Sequence[Field], values: Mapping[str, Any]) -> dict[str, str]:
    """The query of what is not as usual."""
    return {
        field.name: field.write(values[field.name])
        for field in fields
        if values.get(field.name, field.usual) != field.usual
    }
