"""The axes over which something is averaged, in words."""

from __future__ import annotations

from collections.abc import Sequence

from normviz.layers.errors import listed
from normviz.layers.messages import _, ngettext
from normviz.layers.norm import Norm
from normviz.measuring.groups.partition import Axis, from_ids
from normviz.measuring.measurement import Measurement
from normviz.measuring.numbers.parameters import Ids


def axes_text(norm: Norm, axes: Sequence[str], shape: tuple[int, ...]) -> str:
    """The axes that a Norm averages over: ``"N and L"``.

    >>> axes_text(Norm("n l c -> c", "c"), ("n", "l", "c"), (3, 4, 5))
    'N and L'
    """
    sizes = norm.axis_sizes(shape)
    reduced = [
        _axis_text(
            name, Axis(tuple(sizes[part] for part in parts), tuple(part in norm.pattern.right for part in parts))
        )
        for name, parts in zip(axes, norm.pattern.left, strict=True)
        if any(part in norm.pattern.reduced for part in parts)
    ]
    return listed(reduced, "and") if reduced else _("no axis")


def groups_text(found: Measurement, axes: Sequence[str]) -> str:
    """The axes that a function averages over, as far as they can be described."""
    groups = None if found.ids is None else from_ids(found.ids)
    if groups is None:
        return _("groups that are not made of whole axes")
    reduced = [_axis_text(name, axis) for name, axis in zip(axes, groups, strict=True) if axis.is_reduced]
    return listed(reduced, "and") if reduced else _("no axis")


def pattern_text(ids: Ids, names: Sequence[str]) -> str:
    """Which elements have a gamma in common: "for each index of C"."""
    axes = from_ids(ids)
    if axes is None:
        return _("for each of several groups that are not made of whole axes")
    pairs = zip(names, axes, strict=True)
    return each_text([name.upper() for name, axis in pairs if axis.kept != (False,) and axis.parts != (1,)])


def each_text(names: Sequence[str]) -> str:
    """What there is one gamma for, along these axes.

    >>> each_text(["C", "H"])
    'for each position in (C, H)'
    """
    if not names:
        return _("for all elements")
    if len(names) == 1:
        return _("for each index of {axis}", axis=names[0])
    return _("for each position in ({axes})", axes=", ".join(names))


def _axis_text(name: str, axis: Axis) -> str:
    """A whole axis, or what is averaged of it: "groups of 2 neighbors along C", "indices of C that are 3 apart"."""
    if not any(kept for size, kept in zip(axis.parts, axis.kept, strict=True) if size > 1):
        return name.upper()
    if axis.kept == (True, False):
        return ngettext(
            "groups of {n} neighbor along {axis}",
            "groups of {n} neighbors along {axis}",
            axis.parts[1],
            axis=name.upper(),
        )
    if axis.kept == (False, True):
        return _("indices of {axis} that are {step} apart", step=axis.parts[1], axis=name.upper())
    return _("parts of {axis}", axis=name.upper())
