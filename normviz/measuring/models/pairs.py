"""Which norm of a model stands for which norm of its port."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from math import prod
from typing import Protocol, TypeVar

from normviz.texts.errors import NormvizError, echo


class Named(Protocol):
    """A row of the table of norms."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...


Row = TypeVar("Row", bound=Named)
Pair = tuple[int | None, int | None]  # the numbers of two rows; None for one that is missing


def pairs(one: Sequence[Named], other: Sequence[Named], names: Mapping[str, str]) -> list[Pair]:
    """Every row once, in order: paired by the same name, or by names that differ only in their beginnings; the rest in the order of execution."""
    own = [_renamed(row.name, names) for row in one]
    theirs = [row.name for row in other]
    _check(names, [row.name for row in one], theirs)
    partner = dict(_same(own, theirs, set(), set()))
    while (beginnings := _beginnings(_left(own, partner.keys()), _left(theirs, partner.values()))) is not None:
        first, second = beginnings
        moved = [second + name.removeprefix(first) if name.startswith(first) else "" for name in own]
        found = dict(_same(moved, theirs, set(partner), set(partner.values())))
        if not found:
            break
        partner |= found
    partner |= dict(_in_order(one, other, partner))
    return _with_missing(len(one), len(other), partner)


def moved(several: Sequence[Pair]) -> set[int]:
    """The rows of the first model that have another place in the order of the second."""
    both = [(i, j) for i, j in several if i is not None and j is not None]
    matcher = SequenceMatcher(None, [j for _i, j in both], sorted(j for _i, j in both), autojunk=False)
    kept = {i for start, _other, size in matcher.get_matching_blocks() for i, _j in both[start : start + size]}
    return {i for i, _j in both} - kept


def _check(names: Mapping[str, str], own: Sequence[str], theirs: Sequence[str]) -> None:
    for old, new in names.items():
        for name, known in ((old, own), (new, theirs)):
            if not any(one == name or one.startswith(f"{name}.") for one in known):
                raise NormvizError(
                    "names has {name}, but no name of a normalization begins with it; the names in that model are {known}.",
                    name=echo(name),
                    known=", ".join(map(repr, known[:8])) + (", ..." if len(known) > 8 else ""),
                )


def _renamed(name: str, names: Mapping[str, str]) -> str:
    """The name in the second model, by the longest given beginning that fits."""
    for old in sorted(names, key=len, reverse=True):
        if name == old or name.startswith(f"{old}."):
            return names[old] + name.removeprefix(old)
    return name


def _same(own: Sequence[str], theirs: Sequence[str], used: set[int], taken: set[int]) -> Iterator[tuple[int, int]]:
    """Rows of the same name, those of one module in their order."""
    free = defaultdict(list)
    for j, name in enumerate(theirs):
        if j not in taken:
            free[name].append(j)
    for i, name in enumerate(own):
        if i not in used and free.get(name):
            yield i, free[name].pop(0)


def _left(names: Sequence[str], used: object) -> list[str]:
    return [name for i, name in enumerate(names) if i not in used]  # type: ignore[operator]


def _beginnings(own: Sequence[str], theirs: Sequence[str]) -> tuple[str, str] | None:
    """The two beginnings in which most of these names differ. They must pair more than one name, or the only one."""
    counts = Counter[tuple[str, str]]()
    for one in set(own):
        for other in set(theirs):
            mine, yours = one.split("."), other.split(".")
            n = next(
                (k for k, (a, b) in enumerate(zip(mine[::-1], yours[::-1], strict=False)) if a != b),
                len(min(mine, yours, key=len)),
            )
            if n:
                counts[
                    one.removesuffix(".".join(mine[len(mine) - n :])),
                    other.removesuffix(".".join(yours[len(yours) - n :])),
                ] += 1
    best = max(counts, key=lambda pair: (counts[pair], -len(pair[0]) - len(pair[1])), default=None)
    few = min(len(set(own)), len(set(theirs)))
    return best if best is not None and (counts[best] > 1 or few == 1) else None


def _in_order(one: Sequence[Named], other: Sequence[Named], partner: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The rest, between the same two pairs: all rows if both models have equally many, else those with equally many elements."""
    taken, gaps = set(partner.values()), defaultdict[int, tuple[list[int], list[int]]](lambda: ([], []))
    anchors = sorted(partner.items())
    for i in range(len(one)):
        if i not in partner:
            gaps[sum(a < i for a, _b in anchors)][0].append(i)
    for j in range(len(other)):
        if j not in taken:
            gaps[sum(b < j for _a, b in anchors)][1].append(j)
    for mine, yours in gaps.values():
        if len(mine) == len(yours):
            yield from zip(mine, yours, strict=True)
            continue
        elements = [prod(one[i].shape) for i in mine], [prod(other[j].shape) for j in yours]
        for block in SequenceMatcher(None, *elements, autojunk=False).get_matching_blocks():
            yield from zip(mine[block.a : block.a + block.size], yours[block.b : block.b + block.size], strict=True)


def _with_missing(n: int, m: int, partner: Mapping[int, int]) -> list[Pair]:
    """The pairs in the order of the first model, with the rows that only the second has where it has them."""
    only = [j for j in range(m) if j not in set(partner.values())]
    found: list[Pair] = []
    for i in range(n):
        j = partner.get(i)
        while j is not None and only and only[0] < j:
            found.append((None, only.pop(0)))
        found.append((i, j))
    return [*found, *((None, j) for j in only)]
