"""A small copy of a layer and its tensor, on which invariances are measured.

Every named size, including the parts of a split axis, is at most ``LONGEST``, which does not change how elements share statistics.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from normviz.analysis.description import Description
from normviz.layers.axes import example_axis
from normviz.layers.errors import NormvizError
from normviz.layers.fit import refit
from normviz.layers.layer import Layer
from normviz.layers.messages import ngettext
from normviz.layers.norm import Norm

LONGEST = 3  # largest size of an axis: two values only have an order; three already behave like more
MOST_ELEMENTS = 2**13  # rank 12 and one split axis, all cut to 2


def reduced_copy(e: Description) -> tuple[Norm, tuple[int, ...]]:
    """A copy of the Norm and the shape with each named size at most ``LONGEST``, less if there are many axes.

    >>> from normviz import explain
    >>> reduced_copy(explain("GroupNorm(32, 256)", (8, 256, 14, 14)))
    (Norm('n (g k) h w -> n g', 'c', sizes={'g': 3}), (3, 9, 3, 3))
    """
    sizes, batch = e.norm.axis_sizes(e.shape), example_axis(e.axes)
    for longest in range(LONGEST, 1, -1):
        small = {name: min(sizes[name], longest) for name in e.norm.pattern.names}
        # Only if the pattern does not split the axis of examples:
        if batch is not None and len(e.norm.pattern.left[batch]) == 1:
            small[e.axes[batch]] = max(small[e.axes[batch]], 2)
        if prod(small.values()) <= MOST_ELEMENTS:
            norm = replace(e.norm, sizes={name: small[name] for name in e.norm.split_sizes})
            return norm, tuple(prod(small[name] for name in axis) for axis in norm.pattern.left)
    raise NormvizError(
        ngettext(
            "invariances are measured on up to {most:,} elements, and {n} axis of size 2 has {elements:,}; give fewer axes, or sizes of 1.",
            "invariances are measured on up to {most:,} elements, and {n} axes of size 2 have {elements:,}; give fewer axes, or sizes of 1.",
            len(e.shape),
            most=MOST_ELEMENTS,
            elements=prod(small.values()),
        )
    )


def reduced_layer(e: Description, norm: Norm, shape: tuple[int, ...]) -> Layer | None:
    """The torch layer of the description, with the sizes of the small copy; None if torch has no such layer."""
    if e.layer is None or e.layer.kind.module is None:
        return None
    split = tuple(norm.split_sizes.values())  # only GroupNorm splits an axis
    layer = refit(e.layer.with_(num_groups=split[0]) if split else e.layer, shape, e.axes)
    return layer if layer.norm(e.axes) == norm else None
