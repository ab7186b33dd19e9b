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


def block_name(name: str) -> str:
    """The block of a model to which a module belongs: the first part of its name, with its number.

    >>> block_name("down_blocks.0.resnets.1.norm1"), block_name("layer1.0.bn1"), block_name("mid_block.resnets.0.norm1")
    ('down_blocks.0', 'layer1', 'mid_block')
    """
    first, *others = name.split(".")
    has_number = first[-1].isdigit()
    return f"{first}.{others[0]}" if others and others[0].isdigit() and not has_number else first
