"""YAML whose values know their lines, so that an error names the place to correct."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import yaml
from yaml.composer import ComposerError
from yaml.reader import Reader

from normviz.texts.errors import NormvizError, closest, echo, listed
from normviz.texts.messages import N_, _

LARGEST = 1_000_000  # bytes of a file
MOST_NODES = 100_000  # values of a file, each counted as often as an alias repeats it
UNSHOWN = N_("the text has {character}, which no page can show; delete it.")


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
                N_("keys with values are needed here; write one of {keys}, a colon and its value."), keys=listed(known)
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
            raise self.error(N_("a list is needed here; write [a, b], or a line with a hyphen for each value."))
        return self.value

    def text(self, most: int | None = None) -> str:
        """Its text, of up to ``most`` characters. Raises NormvizError if it is longer, a list, has keys, is empty, or has a control character."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error(N_("a text is needed here; write one, in quotes if it has a colon."))
        text = self.value.strip()
        if most is not None and len(text) > most:
            raise self.error(
                N_("the length of the text is {n:,}, and may be {most:,} at most; shorten it."), n=len(text), most=most
            )
        if found := Reader.NON_PRINTABLE.search(text):
            raise self.error(UNSHOWN, character=echo(found[0]))
        return text


def read_content(file: Path) -> bytes:
    """What is in a file. Raises OSError or ValueError if it cannot be read, or is too large."""
    with file.open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(_("it is larger than 1 MB"))
    return content


def decoded(content: bytes, file: str) -> str:
    """The text in a file. Raises NormvizError with the first line that is not UTF-8."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NormvizError("{file}, line {line} is not UTF-8; save the file as UTF-8.", file=file, line=line) from None


def read_marked(text: str, file: str, first: int = 1) -> Marked:
    """The value that a text of YAML has. All that is neither a list nor has keys is a text. ``first``: the number of its first line.

    Raises NormvizError if a key is given twice; errors of yaml, and ValueError, OverflowError and RecursionError, if it is not YAML.

    >>> read_marked("a: 1\\nb: [2]", "x.yaml").fields(["a", "b"])["b"].items()[0]
    Marked(value='2', file='x.yaml', line=2)
    """
    inside: list[int] = []  # the nodes around the one that is converted
    count = 0

    def converted(node: yaml.Node, line: int) -> Marked:
        nonlocal count
        count += 1
        if count > MOST_NODES:
            problem = _("the number of its values, with those that aliases repeat, is above {most:,}", most=MOST_NODES)
            raise ComposerError(None, None, problem, node.start_mark)
        if id(node) in inside:
            raise ComposerError(None, None, _("an alias is within itself"), node.start_mark)
        inside.append(id(node))
        found = Marked(value(node), file, line)
        inside.pop()
        return found

    def value(node: yaml.Node) -> str | list[Marked] | dict[str, Marked]:
        if isinstance(node, yaml.SequenceNode):
            return [converted(one, one.start_mark.line + first) for one in node.value]
        if not isinstance(node, yaml.MappingNode):
            return str(node.value)
        values: dict[str, Marked] = {}
        for key, one in node.value:
            at = key.start_mark.line + first
            name = key.value if isinstance(key, yaml.ScalarNode) else "?"
            if name in values:
                raise Marked("", file, at).error(N_("{key} is given twice; give it once."), key=echo(name))
            values[name] = converted(one, at)
        return values

    if found := Reader.NON_PRINTABLE.search(text):
        at = first + text.count("\n", 0, found.start())
        raise Marked("", file, at).error(UNSHOWN, character=echo(found[0]))
    node = yaml.compose(text, yaml.BaseLoader)
    return Marked("", file, first) if node is None else converted(node, node.start_mark.line + first)
