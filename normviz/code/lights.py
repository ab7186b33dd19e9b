"""What each part of a program is about: the terms that light cells in a figure, for the code of ``normviz.code.programs``.

All is said of one element: "mean" is the mean of its group, "gamma" the gamma that it uses, "x" the element itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from normviz.layers.norm import Norm

STATISTIC = "statistic"  # the mean or, in a layer without a mean, the mean square
KEYWORDS = {
    STATISTIC: "dim axis keepdim keepdims normalized_shape reduction_axes num_groups groups momentum track_running_stats use_running_average",
    "var": "use_fast_variance",
    "eps": "eps epsilon",
    "gamma": "affine elementwise_affine scale use_scale feature_axes num_features",
    "beta": "bias center use_bias",
}  # fmt: skip
WORD_OF_KEYWORD = {keyword: word for word, keywords in KEYWORDS.items() for keyword in keywords.split()}
NAMES = {"mean_square": "var", "y": "output", "return": "output"}  # other names are words, after "running_"
STATEMENT = re.compile(r"\s*(mean_square|mean|var) = ")
PART = re.compile(
    r"""
    (?P<call>nn\.\w*Norm\w*\()(?P<first>\[[^]]*\]|\d+)(?:(?P<comma>,\ )(?P<second>\d+))?  # torch: GroupNorm(2, 4)
    | (?:(?<=var\ [+-]\ )|(?<=square\ [+-]\ ))(?P<eps>\w+\.finfo\(x\.dtype\)\.eps|[\w.*+-]+)
    | (?P<pattern>"[^"]*->[^"]*"|(?<=\ )"mean")  # einops
    | (?<!\w)(?P<keyword>\w+)=(?:\[[^]]*\]|\([^()]*\)|[\w.*+-]+)
    | (?<![\w.])(?P<name>(?:running_)?(?:mean_square|mean|var|gamma|beta|x|y|return))(?!\w)(?:\.(?:reshape|permute|transpose)\([^()]*\))?
    """,
    re.VERBOSE,
)
LOOP = r"for \w+ in range\(\w+\)"
LOOP_PART = re.compile(rf"(?P<x>x\[[^]]*\])|running_(?P<running>mean|var)(?:\[[^]]*\])?|normalize|{LOOP}(?: {LOOP})*:?")


@dataclass(frozen=True)
class Marked:
    """A part of a program. ``lights``: the term that it is about, or ""."""

    text: str
    lights: str = ""


def words_of(norm: Norm) -> frozenset[str]:
    """The terms of a layer.

    >>> from normviz import explain
    >>> sorted(words_of(explain("RMSNorm(4)", (2, 4)).norm))
    ['eps', 'gamma', 'output', 'var', 'x']
    """
    has = {"mean": norm.center or norm.running, "gamma": norm.params is not None, "beta": norm.bias}
    return frozenset({"x", "var", "eps", "output"} | {word for word, is_there in has.items() if is_there})


@lru_cache(64)  # a page has a program for each flavor, most of them in closed tabs
def marked_lines(program: str, words: frozenset[str], is_loops: bool = False) -> tuple[tuple[Marked, ...], ...]:
    """The lines of a program in parts. Only the terms among ``words`` are marked.

    >>> [
    ...     (part.text, part.lights)
    ...     for part in marked_lines("mean = x.mean(dim=(1,))", words_of(explain("LayerNorm(4)", (2, 4)).norm))[0]
    ... ]
    [('mean', 'mean'), (' = ', ''), ('x', 'mean'), ('.mean(', ''), ('dim=(1,)', 'mean'), (')', '')]
    """
    find = _parts_of_loop if is_loops else _parts_of_line
    return tuple(_whole(line, find(line), words) for line in program.split("\n"))


Found = Iterator[tuple[int, int, str]]


def _whole(line: str, found: Found, words: frozenset[str]) -> tuple[Marked, ...]:
    """The line in parts, with all that lies between those that were found."""
    parts, at = [], 0
    for start, end, name in found:
        word = ("mean" if "mean" in words else "var") if name == STATISTIC else name
        if word in words:
            parts += [Marked(line[at:start]), Marked(line[start:end], word)]
            at = end
    return tuple(part for part in (*parts, Marked(line[at:])) if part.text)


def _parts_of_line(line: str) -> Found:
    """Arguments in a statement about a mean, and arguments after gamma or beta, are about it."""
    statement = STATEMENT.match(line)
    about = NAMES.get(statement[1], statement[1]) if statement else ""
    is_einops, last = "reduce(" in line or "repeat(" in line, about
    for found in PART.finditer(line.split("  # ")[0] if not line.startswith("#") else ""):
        kind = found.lastgroup
        if found["call"]:
            yield *found.span("first"), STATISTIC
            if found["second"]:
                yield *found.span("second"), "gamma"
        elif name := found["name"]:
            word = NAMES.get(name, name.removeprefix("running_"))
            last = about or word
            yield *found.span(), about if name == "x" and about else word
        elif keyword := found["keyword"]:
            known = WORD_OF_KEYWORD.get(keyword, last if is_einops else "")
            yield *found.span(), about if about and known == STATISTIC else known
        else:
            yield *found.span(), "eps" if kind == "eps" else last


def _parts_of_loop(line: str) -> Found:
    """A loop is about the group that it makes or runs over; the sizes are those of x; the comment is about gamma and beta."""
    code = line.lstrip()
    start = len(line) - len(code)
    if code.startswith("#") or " = " in code:
        yield start, len(line), "gamma" if code.startswith("#") else "x"
        return
    for found in LOOP_PART.finditer(line):
        yield *found.span(), "x" if found["x"] else found["running"] or STATISTIC
