"""What a page is made of, as plain values: sentences, tables, figures. The app draws them, and so does an exported file.

Texts are Markdown of the plainest kind: ``**strong**``, `` `code` ``, links, lists. Numbers of a sentence stand in ``**``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from normviz.layers.errors import NormvizError

if TYPE_CHECKING:
    from normviz.figures import Cube, Panel
    from normviz.figures.charts import Lines
    from normviz.scene.grid import Grid

Row = Mapping[str, object]
MARKS = {True: "yes", False: "no", None: "–"}
CODE_WORDS = ("pattern", "shape of", "layer")  # a column whose name has one of these holds code


@dataclass(frozen=True)
class Part:
    """One part. ``name`` is what hides it: ``hide=code``. A text that belongs to another part (``of="code"``) goes with it."""

    name: ClassVar[str] = ""

    @property
    def hidden_by(self) -> str:
        return getattr(self, "of", "") or self.name


@dataclass(frozen=True)
class Sentence(Part):
    """The largest text of a page."""

    text: str
    name: ClassVar[str] = "sentence"


@dataclass(frozen=True)
class Heading(Part):
    text: str
    name: ClassVar[str] = "text"


@dataclass(frozen=True)
class Text(Part):
    """A paragraph, or a list of them."""

    text: str
    of: str = ""
    name: ClassVar[str] = "text"


@dataclass(frozen=True)
class Caption(Part):
    """Small print."""

    text: str
    of: str = ""
    name: ClassVar[str] = "text"


@dataclass(frozen=True)
class Legend(Part):
    """What a teacher says under the figure: shown as it is, for it comes from a link."""

    text: str
    name: ClassVar[str] = "caption"


@dataclass(frozen=True)
class Note(Part):
    """A message, shown as it is: it may quote what a link says."""

    text: str
    name: ClassVar[str] = "notes"


@dataclass(frozen=True)
class Panels(Part):
    """A linked view.

    data     what the module draws (``normviz.figures.bundle``), without theme or plotly.js
    events   what a reader can change in it: of "select", "edit", "step"
    panels   the same panels as values, for a still picture
    drawing  how the tensor is laid flat
    across   how many panels of a still picture stand in a row
    """

    data: dict[str, Any]
    events: tuple[str, ...]
    panels: Callable[[], Sequence[Panel | Cube]]
    drawing: Grid
    across: int = 3
    name: ClassVar[str] = "panels"


@dataclass(frozen=True)
class Chart(Part):
    """A plain chart, its colours named by their meaning; ``alt`` says in a sentence what it shows."""

    key: str
    lines: Lines
    alt: str
    name: ClassVar[str] = "panels"


@dataclass(frozen=True)
class Table(Part):
    """Rows with the same names: one line a row; with ``corner``, one column a row, headed by that name's values."""

    rows: tuple[Row, ...]
    key: str = "rows"
    corner: str = ""
    name: ClassVar[str] = "table"

    @property
    def markdown(self) -> str:
        if not self.rows:
            return ""
        return "\n".join(self._columns() if self.corner else self._lines())

    def _columns(self) -> list[str]:
        heads = [f"`{row[self.corner]}`" for row in self.rows]
        names = [name for name in self.rows[0] if name != self.corner]
        body = [_line([name, *(cell(name, row[name]) for row in self.rows)]) for name in names]
        return ["| | " + " | ".join(heads) + " |", "|" + " --- |" * (len(heads) + 1), *body]

    def _lines(self) -> list[str]:
        names = list(self.rows[0])
        body = [_line([cell(name, row[name]) for name in names]) for row in self.rows]
        return [_line(names), "|" + " --- |" * len(names), *body]


@dataclass(frozen=True)
class Code(Part):
    text: str
    name: ClassVar[str] = "code"


@dataclass(frozen=True)
class Tabs(Part):
    """Labels, and what each one shows."""

    tabs: tuple[tuple[str, tuple[Part, ...]], ...]
    name: ClassVar[str] = "code"


@dataclass(frozen=True)
class Details(Part):
    """Shown when asked for."""

    title: str
    parts: tuple[Part, ...]
    name: ClassVar[str] = "details"


@dataclass(frozen=True)
class Beside(Part):
    """Two columns where there is room; ``shares`` are their widths."""

    left: tuple[Part, ...]
    right: tuple[Part, ...]
    shares: tuple[int, int] = field(default=(1, 1))


def refusable(make: Callable[[], Part]) -> Part:
    """The part, or a Note of why there is none: more groups than can be numbered, a layer that torch does not have."""
    try:
        return make()
    except NormvizError as error:
        return Note(str(error))


def texts(lines: Iterable[str]) -> tuple[Text, ...]:
    return tuple(map(Text, lines))


def within(part: Part) -> tuple[Part, ...]:
    """The parts in it."""
    match part:
        case Tabs(tabs):
            return tuple(inner for _, parts in tabs for inner in parts)
        case Details(_, parts):
            return parts
        case Beside(left, right):
            return (*left, *right)
    return ()


def flat(parts: Iterable[Part]) -> Iterable[Part]:
    """Every part, and every part within one."""
    for part in parts:
        yield part
        yield from flat(within(part))


def cell(name: str, value: object) -> str:
    """A table's value: the same words for yes, no and nothing everywhere."""
    if isinstance(value, bool) or value is None:
        return MARKS[value]
    if isinstance(value, int):
        return f"{value:,}"
    text = str(value).replace("|", "\\|")
    return f"`{text}`" if any(word in name for word in CODE_WORDS) else text


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
