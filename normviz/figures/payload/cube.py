"""The cube of the Group Normalization paper: examples, channels and positions (H·W) as a box of bricks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

MOST_DRAWN = (6, 10, 16)  # bricks along n, c and s


def box(axes: Sequence[str], extent: Sequence[int]) -> dict[str, Any]:
    """Which axes of the drawn window are examples (n), channels (c) and positions (s), and how many bricks each has.

    example, channel  the number of the axis; None if x has no such axis
    rest              the axes of the positions; the last one varies fastest
    whole, drawn      the number of bricks along n, c and s: in the window, and drawn
    names             the labels of n, c and s

    >>> found = box(("n", "c", "h", "w"), (2, 3, 4, 4))
    >>> found["example"], found["channel"], found["rest"], found["whole"], found["names"]
    (0, 1, [2, 3], [2, 3, 16], ['N', 'C', 'H·W'])
    """
    channel = next((axes.index(name) for name in ("c", "d") if name in axes), None)
    example = axes.index("n") if "n" in axes else 0 if axes[0] == "b" else None  # a batch may be called b
    rest = [axis for axis in range(len(axes)) if axis not in (example, channel)]
    n, c = (1 if axis is None else extent[axis] for axis in (example, channel))
    whole = [n, c, prod(extent[axis] for axis in rest)]
    return {
        "example": example,
        "channel": channel,
        "rest": rest,
        "whole": whole,
        "drawn": [min(sizes) for sizes in zip(whole, MOST_DRAWN, strict=True)],
        "names": [
            "" if example is None else axes[example].upper(),
            "" if channel is None else axes[channel].upper(),
            "·".join(axes[axis].upper() for axis in rest),
        ],
    }
