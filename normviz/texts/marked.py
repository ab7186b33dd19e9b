"""YAML whose values know their lines, so that an error names the place to correct."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import yaml

from normviz.texts.errors import NormvizError, closest, echo, listed
from normviz.texts.messages import N_, _


@dataclass(frozen=True)
class Marked:
    """A value of a file: a text, a list of values, or values by their keys; and the line in which it, or its key, begins."""

    value: str | list[Marked] | dict[str, Marked]
    file: str
    line: int

    def error(self, message: str, **values: object) -> NormvizError:
        """What is wrong with it, with the file and the line."""
        return NormvizError(
            "{file}, line {line}: {problem}", file=self.file, line=self.line, problem=_(message, **values)
        )

    def blame(self, error: NormvizError) -> NormvizError:
        """An error about it that was found without its file and line."""
        return NormvizError("{file}, line {line}: {problem}", file=self.file, line=self.line, problem=error)

    def fields(self, known: Collection[str]) -> dict[str, Marked]:
        """Its values by their keys. Raises NormvizError if it has none, and for a key that is unknown."""
        if not isinstance(self.value, dict):
            raise self.error(
                N_("here are keys with values; write one of {keys}, a colon and its value."), keys=listed(known)
            )
        for key, one in self.value.items():
            if key in known:
                continue
            if meant := closest(key, known):
                raise one.error(N_("{key} is not a key here. Did you mean {meant}?"), key=echo(key), meant=meant)
            raise one.error(N_("{key} is not a key here; choose {keys}."), key=echo(key), keys=listed(known))
        return self.value

    def items(self) -> list[Marked]:
        """The values of a list. Raises NormvizError if it is none."""
        if not isinstance(self.value, list):
            raise self.error(N_("here is a list; write [a, b], or a line with a hyphen for each value."))
        return self.value

    def text(self) -> str:
        """Its text. Raises NormvizError if it is a list, has keys, or is empty."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error(N_("here is a text; write one, in quotes if it has a colon."))
        return self.value.strip()


def read_marked(text: str, file: str, first: int = 1) -> Marked:
    """The value that a text of YAML has. All that is neither a list nor has keys is a text. ``first``: the number of its first line.

    Raises NormvizError if a key is given twice; errors of yaml, and ValueError, OverflowError and RecursionError, if it is not YAML.

    >>> read_marked("a: 1\\nb: [2]", "x.yaml").fields(["a", "b"])["b"].items()[0]
    Marked(value='2', file='x.yaml', line=2)
    """
    known: dict[int, Marked] = {}  # a node of an alias is converted once

    def converted(node: yaml.Node, line: int) -> Marked:
        if id(node) not in known:
            if isinstance(node, yaml.MappingNode):
                values: dict[str, Marked] = {}
                for key, value in node.value:
                    at = key.start_mark.line + first
                    name = key.value if isinstance(key, yaml.ScalarNode) else "?"
                    if name in values:
                        raise Marked("", file, at).error(N_("{key} is given twice; give it once."), key=echo(name))
                    values[name] = converted(value, at)
                known[id(node)] = Marked(values, file, line)
            elif isinstance(node, yaml.SequenceNode):
                items = [converted(one, one.start_mark.line + first) for one in node.value]
                known[id(node)] = Marked(items, file, line)
            else:
                known[id(node)] = Marked(node.value, file, line)
        return known[id(node)]

    node = yaml.compose(text, yaml.BaseLoader)
    return Marked("", file, first) if node is None else converted(node, node.start_mark.line + first)
