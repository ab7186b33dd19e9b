"""Named axes: layouts such as ``NCHW`` and patterns such as ``n (g k) h w -> n g``.

A pattern is einops notation (https://einops.rocks) for "who shares": an axis that stands on the left and not on
the right is *reduced*, so elements that differ only there share one value; an axis on the right is *kept*.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from math import isqrt, prod

from normviz.layers.errors import NormvizError, echo

NAME = re.compile(r"[a-z][a-z0-9]*\Z")
TOKEN = re.compile(r"[a-z][a-z0-9]*|[()]|\s+|.", re.DOTALL)
RESERVED = {*keyword.kwlist, "tensor", "pattern", "reduction"}  # einops takes sizes beside arguments of these names
NAMES_ARE = "names are lower-case letters and digits and no words of Python or einops"
LETTER = re.compile(r"[A-Z][0-9]*")
MAX_RANK = 64  # torch's and NumPy's own limit
MAX_TEXT = 500


@dataclass(frozen=True)
class Pattern:
    """Which axes are kept and which are reduced.

    ``left`` holds one tuple of names for each axis of x: ``("n",)`` for a plain axis, ``("g", "k")`` for an axis
    that is split in two. ``right`` holds the kept names in the order in which groups are numbered.

    >>> Pattern.parse("n (g k) h w -> n g").reduced
    ('k', 'h', 'w')
    """

    left: tuple[tuple[str, ...], ...]
    right: tuple[str, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in self.names:
            if name in seen:
                raise NormvizError(f"axis {name!r} stands twice on the left of {echo(str(self))}; name each axis once.")
            seen.add(name)
        check_names(self.right, self.names, f"the right side of {echo(str(self))}")

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Read ``"n (g k) h w -> n g"``; the right side may be empty.

        Raises NormvizError where the text is no such pattern.
        """
        text = text.replace("→", "->") if isinstance(text, str) else text
        if not isinstance(text, str) or len(text) > MAX_TEXT or text.count("->") != 1:
            raise NormvizError(
                f"{echo(text)} is no pattern; write the axes of x, an arrow and the kept axes, as in 'n c h w -> n'."
            )
        return _parse(text)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every name on the left, split axes taken apart."""
        return tuple(name for axis in self.left for name in axis)

    @property
    def rank(self) -> int:
        """How many axes x has."""
        return len(self.left)

    @cached_property
    def reduced(self) -> tuple[str, ...]:
        """The names that stand on the left alone."""
        return tuple(name for name in self.names if name not in self.right)

    def sizes(self, shape: Sequence[int], known: Mapping[str, int]) -> dict[str, int]:
        """The size of every name, given x's shape and the sizes of split axes (all but one of each split).

        >>> Pattern.parse("n (g k) h w -> n g").sizes((2, 6, 4, 4), {"g": 3})
        {'n': 2, 'g': 3, 'k': 2, 'h': 4, 'w': 4}

        Raises NormvizError where the rank differs or a split axis does not divide.
        """
        if len(shape) != self.rank:
            raise NormvizError(
                f"the pattern {echo(str(self))} names {self.rank} axes and x has {len(shape)}, shape {_shape(shape)}; "
                "name one axis for each axis of x."
            )
        found: dict[str, int] = {}
        for axis, size in zip(self.left, shape, strict=True):
            found.update(_split(axis, size, known))
        return found

    def __str__(self) -> str:
        left = " ".join(axis[0] if len(axis) == 1 else f"({' '.join(axis)})" for axis in self.left)
        return f"{left} -> {' '.join(self.right)}".rstrip()


def check_names(names: Sequence[str], among: Sequence[str], where: str) -> None:
    """Raise NormvizError unless every name is one of ``among`` and stands once."""
    for position, name in enumerate(names):
        if name not in among:
            raise NormvizError(f"{where} names {name!r}, which is no axis of x; its axes are {' '.join(among)}.")
        if name in names[:position]:
            raise NormvizError(f"{where} names {name!r} twice; name each axis once.")


@lru_cache(maxsize=1024)
def _parse(text: str) -> Pattern:
    left, right = text.split("->")
    return Pattern(_axes(left, text), parse_names(right))


def _axes(side: str, text: str) -> tuple[tuple[str, ...], ...]:
    axes: list[tuple[str, ...]] = []
    inside: list[str] | None = None
    for token in TOKEN.findall(side):
        if token.isspace():
            continue
        if token == "(" and inside is None:
            inside = []
        elif token == ")" and inside:
            axes.append(tuple(inside))
            inside = None
        elif _is_name(token):
            if inside is None:
                axes.append((token,))
            else:
                inside.append(token)
        else:
            raise NormvizError(
                f"{echo(text)} has {token!r} where an axis name belongs; {NAMES_ARE}, "
                "and a split axis stands in one pair of brackets, as in 'n (g k) h w -> n g'."
            )
    if inside is not None:
        raise NormvizError(f"{echo(text)} opens a bracket that it does not close; write '(g k)'.")
    if not 1 <= len(axes) <= MAX_RANK:
        raise NormvizError(f"{echo(text)} names {len(axes)} axes; a tensor here has 1 to {MAX_RANK}.")
    return tuple(axes)


def parse_names(text: str) -> tuple[str, ...]:
    """Read ``"c h w"``; raises NormvizError where a word is no axis name."""
    if len(text) > MAX_TEXT:
        raise NormvizError(f"{echo(text)} has {len(text):,} letters; write up to {MAX_TEXT}, as in 'c h w'.")
    names = tuple(text.split())
    for name in names:
        if not _is_name(name):
            raise NormvizError(f"{echo(name)} is no axis name in {echo(text)}; {NAMES_ARE}, as in 'c h w'.")
    return names


def _is_name(word: str) -> bool:
    return bool(NAME.match(word)) and word not in RESERVED


def _split(axis: tuple[str, ...], size: int, known: Mapping[str, int]) -> dict[str, int]:
    given = {name: known[name] for name in axis if name in known}
    unknown = [name for name in axis if name not in known]
    product = prod(given.values())
    if len(unknown) > 1:
        raise NormvizError(
            f"the sizes of {' and '.join(unknown)} in ({' '.join(axis)}) are open; give all but one, as in sizes={{{unknown[0]!r}: 2}}."
        )
    if size % product or (not unknown and product != size):
        parts = " ".join(f"{name}={value}" for name, value in given.items())
        raise NormvizError(
            f"an axis of size {size} cannot be split by {parts} in ({' '.join(axis)}); the sizes' product must "
            f"{'divide' if unknown else 'be'} {size}."
        )
    return {name: given.get(name, size // product) for name in axis}


def _shape(shape: Sequence[int]) -> str:
    return str(tuple(shape))


def divisors(size: int) -> list[int]:
    """The numbers of equal groups that ``size`` channels can be split into.

    >>> divisors(6)
    [1, 2, 3, 6]
    """
    found = {1}
    for prime in _primes(size):
        found |= {prime * divisor for divisor in found}
    return sorted(found)


@lru_cache(maxsize=1024)
def _primes(size: int) -> tuple[int, ...]:
    """The prime factors, each as often as it divides: 12 is 2, 2, 3."""
    if size == 1:
        return ()
    prime = next((p for p in chain((2,), range(3, isqrt(size) + 1, 2)) if size % p == 0), size)
    return prime, *_primes(size // prime)


def parse_layout(text: str, rank: int) -> tuple[str, ...]:
    """The axis names of a layout: ``"NCHW"`` to ``("n", "c", "h", "w")``.

    A letter may carry digits (``ND1D2``). Raises NormvizError unless it names ``rank`` axes, each once.
    """
    letters = LETTER.findall(text.upper()) if isinstance(text, str) and len(text) <= MAX_TEXT else []
    if "".join(letters) != str(text).upper() or not letters:
        raise NormvizError(f"{echo(text)} is no layout; write one letter for each axis, as in 'NCHW' or 'NLC'.")
    if len(letters) != rank:
        raise NormvizError(
            f"the layout {text} names {len(letters)} axes and x has {rank}; write one letter for each axis of x."
        )
    if len(set(letters)) != rank:
        raise NormvizError(
            f"the layout {text} names an axis twice; use each letter once, or add digits, as in 'ND1D2'."
        )
    return tuple(letter.lower() for letter in letters)


def example_axis(axes: Sequence[str]) -> int | None:
    """Where the axis of the examples stands: n; or b, where it stands first beside channels; None where there is none.

    >>> example_axis(("b", "h", "w", "c"))
    0
    """
    names = list(axes)
    if "n" in names:
        return names.index("n")
    return 0 if names[:1] == ["b"] and {"c", "d"} & set(names) else None


def layout_text(axes: Sequence[str]) -> str:
    """The layout of axis names.

    >>> layout_text(("n", "c", "h", "w"))
    'NCHW'
    """
    return "".join(axes).upper()
