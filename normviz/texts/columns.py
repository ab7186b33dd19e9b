"""A table as plain text."""

from collections.abc import Sequence

WIDEST = 100  # characters in a column of a page


def align(lines: Sequence[Sequence[str]], widest: int | None = None) -> str:
    """The cells of each line in columns of equal width. A cell that is wider than ``widest`` moves the cells after it.

    >>> print(align([("name", "n"), ("a", "12")]))
    name  n
    a     12
    """
    if not lines:
        return ""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    widths = widths if widest is None else [min(widest, width) for width in widths]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
