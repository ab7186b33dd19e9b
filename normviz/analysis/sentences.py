"""The sentence under every figure: what is seen, in words, with the numbers. Numbers stand in ``**``, code in backquotes."""

from __future__ import annotations

from math import prod

from normviz.analysis.explanation import Explanation
from normviz.layers.errors import listed

AXIS_WORDS = {
    "n": "example",
    "b": "example",
    "c": "channel",
    "h": "row",
    "w": "column",
    "l": "position",
    "d": "feature",
    "g": "group",
    "k": "member of a group",
}


def sentence(e: Explanation) -> str:
    """What ``e`` shows, in one sentence.

    >>> from normviz import explain
    >>> print(sentence(explain("LayerNorm([3, 4, 4])", (2, 3, 4, 4))))
    `LayerNorm([3, 4, 4])` on (2, 3, 4, 4): **2** means and **2** variances, each from **48** elements; **48** gammas and **48** betas: one per normalized element, shared by all **2** examples.
    """
    return f"`{e.title}` on {e.shape}: {_statistics(e)}; {_parameters(e)}."


def _statistics(e: Explanation) -> str:
    groups, size = e.counts.statistics, e.counts.elements_per_statistic
    if e.norm.running:
        kinds = f"{_count(groups, 'running mean')} and {_count(groups, 'running variance')}"
        return f"{kinds}, stored in training and not taken from this input"
    kinds = _count(groups, "mean square")
    if e.norm.center:
        kinds = f"{_count(groups, 'mean')} and {_count(groups, 'variance')}"
    return f"{kinds}, {'each ' if groups > 1 else ''}from {_count(size, 'element')}"


def _parameters(e: Explanation) -> str:
    if e.counts.gamma_shape is None:
        return "no gamma and no beta"
    number = prod(e.counts.gamma_shape)
    learned = f"{_count(number, 'gamma')} and {_count(number, 'beta') if e.norm.bias else 'no beta'}"
    return f"{learned}: {_place(e)}"


def _place(e: Explanation) -> str:
    """Where the parameters stand, and who shares one."""
    named, whole = e.norm.gamma_axes, dict(zip(e.norm.axes, e.norm.pattern.left, strict=True))
    atoms = {part for name in named for part in whole.get(name, (name,))}
    number = prod(e.counts.gamma_shape or ())
    met = prod(e.shape) // number
    if atoms and atoms == set(e.norm.pattern.reduced):
        one_inner_axis = len(named) == 1 and named[0] in e.axes[:-1]
        kind = axis_word(named[0], e.axes) if one_inner_axis else "normalized element"
        others = [name for axis in e.axes for name in _without(axis, whole[axis], atoms)]
        return f"one per {kind}, {_shared(e, others)}" if others else f"one per {kind}"
    if not named:
        return f"{'one of each' if e.norm.bias else 'one'} for {'all ' if met > 1 else ''}{_count(met, 'element')}"
    place = listed([axis_word(name, e.axes) for name in named], "and")
    return f"one per {place}, {'each ' if number > 1 or e.norm.bias else ''}met by {_count(met, 'element')}"


def _without(axis: str, parts: tuple[str, ...], atoms: set[str]) -> tuple[str, ...]:
    """What is left of an axis without ``atoms``: the axis itself where none is of it."""
    return tuple(part for part in parts if part not in atoms) if atoms & set(parts) else (axis,)


def _shared(e: Explanation, names: list[str]) -> str:
    if len(names) > 1:
        return f"shared by every {listed([axis_word(name, e.axes) for name in names], 'and')}"
    size, word = e.norm.axis_sizes(e.shape)[names[0]], axis_word(names[0], e.axes)
    if size == 1:
        return f"met by the one {word}"
    return f"shared by all **{size:,}** {_plural(word)}"


def axis_word(axis: str, axes: tuple[str, ...]) -> str:
    """What one index of an axis is called: "channel"; D is depth beside H and W.

    >>> axis_word("d", ("n", "c", "d", "h", "w")), axis_word("d", ("n", "d"))
    ('slice', 'feature')
    """
    if axis == "d" and "h" in axes:
        return "slice"
    return AXIS_WORDS.get(axis, f"index {axis}")


def _plural(word: str) -> str:
    first, *rest = word.split(" ")  # "index a", "member of a group"
    return " ".join(["indices" if first == "index" else f"{first}s", *rest])


def _count(number: int, word: str) -> str:
    return f"**{number:,}** {word if number == 1 else f'{word}s'}"


def statistics_question(e: Explanation) -> str:
    """The learner's question that the statistics panel answers."""
    kind = "running mean and variance" if e.norm.running else "mean and variance" if e.norm.center else "mean square"
    return f"Who shares my {kind}?"


def statistics_answer(e: Explanation) -> str:
    """The pattern and the count: ``n c h w → n · 2 groups of 48``."""
    groups, size = e.counts.statistics, e.counts.elements_per_statistic
    return f"{groups:,} group{'' if groups == 1 else 's'} of {size:,}"


def parameters_question(e: Explanation) -> str:
    """The learner's question that the parameter panel answers."""
    if e.counts.gamma_shape is None:
        return "Nobody has a gamma or a beta"
    return f"Who shares my gamma{' and beta' if e.norm.bias else ''}?"


def parameters_answer(e: Explanation) -> str:
    """The sum of parameters, and how many elements meet each: ``48 + 48 = 96 parameters, each met by 2 elements``."""
    if e.counts.gamma_shape is None:
        return "0 parameters: this layer learns nothing"
    number, total = prod(e.counts.gamma_shape), e.counts.parameters
    added = f"{number:,} + {number:,} = {total:,}" if e.norm.bias else f"{total:,}"
    met = prod(e.shape) // number
    each = "each " if total > 1 else ""
    return f"{added} parameter{'' if total == 1 else 's'}, {each}met by {met:,} element{'' if met == 1 else 's'}"
