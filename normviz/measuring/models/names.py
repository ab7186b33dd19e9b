"""The names of modules that a model repeats in its blocks."""

from collections.abc import Sequence


def name_pattern(name: str) -> str:
    """The name with ``*`` for each number between dots: it is the same in all blocks of a model.

    >>> name_pattern("layers.0.bn1"), name_pattern("layers.31.bn1")
    ('layers.*.bn1', 'layers.*.bn1')
    """
    return ".".join("*" if part.isdigit() else part for part in name.split("."))


def common_name(names: Sequence[str]) -> str:
    """Names of one pattern as one name, with ``*`` for the numbers that differ.

    >>> common_name(["stages.1.blocks.0.norm", "stages.1.blocks.1.norm"])
    'stages.1.blocks.*.norm'
    """
    columns = zip(*(name.split(".") for name in names), strict=True)
    return ".".join(parts[0] if len(set(parts)) == 1 else "*" for parts in columns)
