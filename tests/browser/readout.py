"""Parses the read-out line."""

import re
from dataclasses import dataclass

Index = tuple[int, ...]


@dataclass(frozen=True)
class Readout:
    """The parts of the read-out line; None for a part that it lacks."""

    text: str

    @property
    def index(self) -> Index | None:
        return self._index("x")

    @property
    def value(self) -> float | None:
        return self._number(r"x\[[\d, ]+\] = (\S+)")

    @property
    def mean(self) -> float | None:
        return self._number(r"its (?:running )?mean (?!square)(\S+)")

    @property
    def variance(self) -> float | None:
        return self._number(r"(?:variance|mean square) (\S+)")

    @property
    def others(self) -> int:
        return self._others(r"its [^·]*with no other element", r"its [^·]*with ([\d,]+) other")

    @property
    def gamma(self) -> tuple[Index | None, float | None]:
        return self._index("gamma"), self._number(r"gamma(?:\[[\d, ]+\])? = ([^\s,]+)")

    @property
    def beta(self) -> tuple[Index | None, float | None]:
        return self._index("beta"), self._number(r"beta(?:\[[\d, ]+\])? = ([^\s,]+)")

    @property
    def meeting(self) -> int:
        """The number of other elements that use the same gamma."""
        return self._others("no gamma|gamma[^·]*with no other element", r"gamma[^·]*with ([\d,]+) other")

    def _index(self, name: str) -> Index | None:
        found = re.search(rf"{name}\[([\d, ]+)\]", self.text)
        return tuple(int(i) for i in found[1].split(",")) if found else None

    def _number(self, pattern: str) -> float | None:
        found = re.search(pattern, self.text)
        return number(found[1]) if found else None

    def _others(self, none: str, pattern: str) -> int:
        found = re.search(pattern, self.text)
        assert found or re.search(none, self.text), self.text
        return int(found[1].replace(",", "")) if found else 0


def number(text: str) -> float:
    """Parse a number of the page, which may have a minus sign (U+2212) and parentheses."""
    return float(text.replace("\u2212", "-").strip("(),"))
