"""Named axes: layouts such as ``NCHW`` and patterns such as ``n (g k) h w -> n g``.

A pattern is einops notation (https://einops.rocks). An axis on the left only is *reduced*: elements that differ only along it
share one value. An axis on the right is *kept*.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from math import isqrt, prod

from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _, ngettext

NAME = re.compile(r"[a-z][a-z0-9]*\Z")
TOKEN = re.compile(r"[a-z][a-z0-9]*|[()]|\S")
RESERVED = {*keyword.kwlist, "tensor", "pattern", "reduction"}  # einops has arguments of these names
LETTER = re.compile(r"[A-Z][0-9]*")
MAX_RANK = 64  # the limit of torch and NumPy
MAX_TEXT = 500


@dataclass(frozen=True)
class Pattern:
    """Which axes are kept and which are reduced.

    ``left`` has one tuple of names for each axis of x: ``("n",)``, or ``("g", "k")`` for an axis that is split in two.
    ``right`` has the kept names, in the order that numbers the groups.

    >>> Pattern.parse("n (g k) h w -> n g").reduced
    ('k', 'h', 'w')
    """

    left: tuple[tuple[str, ...], ...]
    right: tuple[str, ...]

    def __post_init__(self) -> None:
        for position, name in enumerate(self.names):
            if name in self.names[:position]:
                raise NormvizError(
                    "axis {name!r} appears twice on the left of {pattern}; name each axis once.",
                    name=name,
                    pattern=echo(str(self)),
                )
        check_names(self.right, self.names, echo(f"-> {' '.join(self.right)}"))

    @classmethod
    def parse(cls, text: str) -> Pattern:
        """Read ``"n (g k) h w -> n g"``; the right side may be empty.

        Raises NormvizError if the text is not a pattern.
        """
        text = text.replace("→", "->") if isinstance(text, str) else text
        if not isinstance(text, str) or len(text) > MAX_TEXT or text.count("->") != 1:
            raise NormvizError(
                "{text} is not a pattern; write the axes of x, an arrow and the kept axes, as in 'n c h w -> n'.",
                text=echo(text),
            )
        return _parse(text)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every name on the left, with the parts of split axes."""
        return tuple(name for axis in self.left for name in axis)

    @property
    def rank(self) -> int:
        """The number of axes of x."""
        return len(self.left)

    @cached_property
    def reduced(self) -> tuple[str, ...]:
        """The names on the left only."""
        return tuple(name for name in self.names if name not in self.right)

    def sizes(self, shape: Sequence[int], known: Mapping[str, int]) -> dict[str, int]:
        """The size of every name, from the shape of x and the sizes of split axes (all but one of each split).

        Raises NormvizError if the rank differs or a split axis is not divisible.

        >>> Pattern.parse("n (g k) h w -> n g").sizes((2, 6, 4, 4), {"g": 3})
        {'n': 2, 'g': 3, 'k': 2, 'h': 4, 'w': 4}
        """
        if len(shape) != self.rank:
            raise NormvizError(
                "the pattern {pattern} has rank {rank} and x has rank {found}, shape {shape}; name one axis for each axis of x.",
                pattern=echo(str(self)),
                rank=self.rank,
                found=len(shape),
                shape=tuple(shape),
            )
        sizes: dict[str, int] = {}
        for axis, size in zip(self.left, shape, strict=True):
            if len(axis) > 1 or axis[0] in known:
                sizes.update(_split_sizes(axis, size, known))
            else:
                sizes[axis[0]] = size
        return sizes

    def __str__(self) -> str:
        left = " ".join(axis[0] if len(axis) == 1 else f"({' '.join(axis)})" for axis in self.left)
        return f"{left} -> {' '.join(self.right)}".rstrip()


def check_names(names: Sequence[str], allowed: Sequence[str], source: str) -> None:
    """Raise NormvizError unless every name is allowed and appears once; ``source`` is the code that has the names."""
    for position, name in enumerate(names):
        if name not in allowed:
            message = N_("{source} names {name!r}, which is not an axis of x; its axes are {axes}.")
        elif name in names[:position]:
            message = N_("{source} names {name!r} twice; name each axis once.")
        else:
            continue
        raise NormvizError(message, source=source, name=name, axes=" ".join(allowed))


@lru_cache(maxsize=1024)
def _parse(text: str) -> Pattern:
    left, right = text.split("->")
    return Pattern(_parse_left(left, text), parse_names(right))


def _parse_left(left: str, text: str) -> tuple[tuple[str, ...], ...]:
    axes: list[tuple[str, ...]] = []
    open_axis: list[str] | None = None
    for token in TOKEN.findall(left):
        if token == "(" and open_axis is None:
            open_axis = []
        elif token == ")" and open_axis:
            axes.append(tuple(open_axis))
            open_axis = None
        elif not _is_name(token):
            raise NormvizError(
                "{text} has {token!r} where an axis name belongs; a name consists of lower-case letters and digits and is not a reserved "
                "word of Python or einops, and a split axis is in one pair of brackets, as in 'n (g k) h w -> n g'.",
                text=echo(text),
                token=token,
            )
        elif open_axis is None:
            axes.append((token,))
        else:
            open_axis.append(token)
    if open_axis is not None:
        raise NormvizError("{text} opens a bracket and does not close it; write '(g k)'.", text=echo(text))
    if not 1 <= len(axes) <= MAX_RANK:
        raise NormvizError(
            "{text} has rank {rank}; x must have rank 1 to {largest}.",
            text=echo(text),
            rank=len(axes),
            largest=MAX_RANK,
        )
    return tuple(axes)


def parse_names(text: str) -> tuple[str, ...]:
    """Read ``"c h w"``. Raises NormvizError if a word is not an axis name."""
    if len(text) > MAX_TEXT:
        raise NormvizError(
            ngettext(
                "{text} has {n:,} character; write at most {most}, as in 'c h w'.",
                "{text} has {n:,} characters; write at most {most}, as in 'c h w'.",
                len(text),
                text=echo(text),
                most=MAX_TEXT,
            )
        )
    names = tuple(text.split())
    for name in names:
        if not _is_name(name):
            raise NormvizError(
                "{name} is not an axis name in {text}; a name consists of lower-case letters and digits and is not a reserved word of "
                "Python or einops, as in 'c h w'.",
                name=echo(name),
                text=echo(text),
            )
    return names


def _is_name(word: str) -> bool:
    return bool(NAME.match(word)) and word not in RESERVED


def _split_sizes(axis: tuple[str, ...], size: int, known: Mapping[str, int]) -> dict[str, int]:
    given = {name: known[name] for name in axis if name in known}
    unknown = [name for name in axis if name not in known]
    product = prod(given.values())
    if len(unknown) > 1:
        raise NormvizError(
            "the sizes of {names} in ({axis}) are unknown; give all but one, as in sizes={{{first!r}: 2}}.",
            names=listed(unknown, "and"),
            axis=" ".join(axis),
            first=unknown[0],
        )
    if size % product or (not unknown and product != size):
        divides = _(
            "an axis of size {size} cannot be split by {given} in ({axis}); the product of the sizes must divide {size}."
        )
        equals = _(
            "an axis of size {size} cannot be split by {given} in ({axis}); the product of the sizes must be {size}."
        )
        pairs = " ".join(f"{name}={value}" for name, value in given.items())
        raise NormvizError(divides if unknown else equals, size=size, given=pairs, axis=" ".join(axis))
    return {name: given.get(name, size // product) for name in axis}


def divisors(size: int) -> list[int]:
    """The numbers of equal groups that ``size`` channels can be split into.

    >>> divisors(6)
    [1, 2, 3, 6]
    """
    found = {1}
    for prime in _prime_factors(size):
        found |= {prime * divisor for divisor in found}
    return sorted(found)


@lru_cache(maxsize=1024)
def _prime_factors(size: int) -> tuple[int, ...]:
    """The prime factors with their multiplicity: 2, 2, 3 for 12."""
    if size == 1:
        return ()
    prime = next((p for p in chain((2,), range(3, isqrt(size) + 1, 2)) if size % p == 0), size)
    return prime, *_prime_factors(size // prime)


def parse_layout(text: str, rank: int) -> tuple[str, ...]:
    """The axis names of a layout: ``"NCHW"`` to ``("n", "c", "h", "w")``.

    A letter may have digits (``ND1D2``). Raises NormvizError unless it names ``rank`` axes, each once.
    """
    if not isinstance(text, str):
        raise _not_a_layout(text)
    return _parse_layout(text, rank)


@lru_cache(maxsize=1024)
def _parse_layout(text: str, rank: int) -> tuple[str, ...]:
    letters = LETTER.findall(text.upper()) if len(text) <= MAX_TEXT else []
    if "".join(letters) != text.upper() or not letters:
        raise _not_a_layout(text)
    if len(letters) != rank:
        raise NormvizError(
            "the layout {layout} has rank {letters} and x has rank {rank}; write one letter for each axis of x.",
            layout=text,
            letters=len(letters),
            rank=rank,
        )
    if len(set(letters)) != rank:
        raise NormvizError(
            "the layout {layout} names an axis twice; use each letter once, or add digits, as in 'ND1D2'.", layout=text
        )
    return tuple(letter.lower() for letter in letters)


def _not_a_layout(text: object) -> NormvizError:
    return NormvizError(
        "{text} is not a layout; write one letter for each axis, as in 'NCHW' or 'NLC'.", text=echo(text)
    )


def example_axis(axes: Sequence[str]) -> int | None:
    """The position of the batch axis: "n", or a leading "b" of a layout with channels; None if there is none.

    >>> example_axis(("b", "h", "w", "c"))
    0
    """
    names = list(axes)
    if "n" in names:
        return names.index("n")
    return 0 if names[:1] == ["b"] and {"c", "d"} & set(names) else None


SIZES = {"n": 2, "c": 4, "h": 3, "w": 5, "l": 5, "d": 6}
SIZES_OF_ROWS = {"n": 4, "d": 6}  # of (N, D): with only two rows, BatchNorm returns nothing but 1 and -1
SIZES_OF_VOLUMES = {"d": 2, "w": 2}  # at most 128 elements, so that values can be edited
OTHER_SIZE = 2


def example_shape(axes: Sequence[str], sizes: Mapping[str, int] | None = None) -> tuple[int, ...]:
    """The shape of an example with these axes, and these sizes of some of them. N and C differ from the positions: equal sizes hide an axis.

    >>> (
    ...     example_shape(("n", "c", "h", "w")),
    ...     example_shape(("n", "c", "h", "w"), {"n": 3}),
    ...     example_shape(("n", "c", "l"), {"c": 5}),
    ... )
    ((2, 4, 3, 5), (3, 4, 2, 5), (2, 5, 6))
    """
    usual = SIZES_OF_ROWS if set(axes) == set(SIZES_OF_ROWS) else SIZES_OF_VOLUMES if {"d", "w"} <= set(axes) else {}
    known = dict(sizes or {})
    found = SIZES | usual | known
    positions = {found[axis] for axis in ("l", "h", "w") if axis in known}
    found["c"] = known["c"] if "c" in known else next(size for size in (4, 6, 8, 10) if size not in positions)
    for axis in ("l", "h", "w"):
        found[axis] += axis not in known and found[axis] == found["c"]
    if "h" not in known and found["n"] == found["h"]:
        found["h"] = OTHER_SIZE
    return tuple(found.get(axis, OTHER_SIZE) for axis in axes)


def layout_text(axes: Sequence[str]) -> str:
    """The layout of axis names.

    >>> layout_text(("n", "c", "h", "w"))
    'NCHW'
    """
    return "".join(axes).upper()
