"""The names of the axes of an x in a model, of which only the shape is known."""

from __future__ import annotations

from normviz.layers.axes import parse_layout
from normviz.measuring.check import LAYOUTS


def axis_names(shape: tuple[int, ...]) -> tuple[str, ...]:
    """(8, 56, 56, 96) is probably an image with the channels last.

    >>> axis_names((8, 56, 56, 96)), axis_names((8, 96, 56, 56)), axis_names((8, 3))
    (('n', 'h', 'w', 'c'), ('n', 'c', 'h', 'w'), ('n', 'd'))
    """
    rank = len(shape)
    channels_last = rank == 4 and shape[1] == shape[2] != shape[3]
    return parse_layout(
        "NHWC" if channels_last else LAYOUTS.get(rank, "N" + "".join(f"D{i}" for i in range(1, rank))), rank
    )
