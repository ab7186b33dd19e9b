"""The parts of a page that contain other parts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from normviz.analysis.description import Description
from normviz.code import cs231n
from normviz.code.programs import FLAVOR_LABELS, FLAVORS, code, framework_names
from normviz.parts.html import Body, align, escape, line, scrolling, text
from normviz.parts.part import (
    Caption,
    Chart,
    Code,
    Hides,
    Legend,
    Panels,
    Part,
    Text,
    flat,
    part_or_note,
    without_hidden,
)
from normviz.parts.questions import Prediction
from normviz.scene.view import Display
from normviz.texts.messages import _, format_count, format_difference, ngettext, plain


@dataclass(frozen=True)
class Tabs(Part):
    """Labels, and the parts that each tab shows. They are hidden together."""

    tabs: tuple[tuple[str, tuple[Part, ...]], ...]
    name: ClassVar[str] = "code"

    @property
    def children(self) -> tuple[Part, ...]:
        return tuple(part for _label, parts in self.tabs for part in parts)

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.name})

    def html(self, body: Body) -> str:
        """All tabs are in the HTML; the first one is visible."""
        name = body.unique("t")
        heads, panels = [], []
        for number, (label, parts) in enumerate(self.tabs):
            key, selected = f"{name}-{number}", number == 0
            heads.append(
                f'<button type="button" role="tab" data-tab="{key}" aria-selected="{str(selected).lower()}" '
                f'tabindex="{0 if selected else -1}">{escape(label)}</button>'
            )
            panels.append(
                f'<div class="nv-tab" role="tabpanel" data-panel="{key}" aria-label="{escape(label)}"'
                f"{'' if selected else ' hidden'}>{body.html(parts)}</div>"
            )
        return (
            f'<div class="nv-tabs"><div class="nv-heads" role="tablist">{"".join(heads)}</div>{"".join(panels)}</div>'
        )

    def plain_text(self) -> str:
        """All tabs; if they are versions of the same code, only the first."""
        has_code = any(isinstance(part, Code) for part in self.tabs[0][1])
        return text(Details(label, parts) for label, parts in (self.tabs[:1] if has_code else self.tabs))


@dataclass(frozen=True)
class Details(Part):
    """A collapsible section, closed at first."""

    title: str
    parts: tuple[Part, ...]
    of: str = "details"
    is_open: bool = False
    name: ClassVar[str] = "details"

    @property
    def hidden_by(self) -> str:
        return self.of

    @property
    def children(self) -> tuple[Part, ...]:
        return self.parts

    def html(self, body: Body) -> str:
        return f'<details class="nv-more"{" open" if self.is_open else ""}><summary>{line(self.title)}</summary>{body.html(self.parts)}</details>'

    def plain_text(self) -> str:
        title = _("{title}: {caption}", title=plain(self.title).rstrip(".。"), caption="").rstrip()
        return "\n\n".join(filter(None, (title, text(self.parts))))

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        parts = without_hidden(self.parts, hides)
        return (replace(self, parts=parts),) if parts and not hides(self, self.hidden_by) else ()


@dataclass(frozen=True)
class Beside(Part):
    """Two columns if there is room; ``widths`` is their ratio."""

    left: tuple[Part, ...]
    right: tuple[Part, ...]
    widths: tuple[int, int] = (1, 1)

    @property
    def children(self) -> tuple[Part, ...]:
        return (*self.left, *self.right)

    def html(self, body: Body) -> str:
        left, right = self.widths
        return (
            f'<div class="nv-beside-parts" style="--nv-left:{left}fr;--nv-right:{right}fr">'
            f"<div>{body.html(self.left)}</div><div>{body.html(self.right)}</div></div>"
        )

    def plain_text(self) -> str:
        return text(self.children)

    def without_hidden(self, hides: Hides) -> tuple[Part, ...]:
        left, right = without_hidden(self.left, hides), without_hidden(self.right, hides)
        return (replace(self, left=left, right=right),) if left and right else (*left, *right)


# A table.

Cell = str | int | bool | None


@dataclass(frozen=True)
class Table(Part):
    """One line for each row. A ``transposed`` table has one column for each row; the values of its first column are the heads.

    heads  of the columns
    rows   the values of each row; None: it has no such value
    code   the numbers of the columns whose values are code
    five   whether only five lines are visible until the reader asks for all
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    code: tuple[int, ...] = ()
    transposed: bool = False
    five: bool = False
    name: ClassVar[str] = "table"

    def cells(self) -> list[list[str]]:
        """The cells as Markdown, the heads first."""
        lines = [
            list(self.heads),
            *([_cell(value, i in self.code) for i, value in enumerate(row)] for row in self.rows),
        ]
        if not self.transposed:
            return lines
        first, *others = (list(column) for column in zip(*lines, strict=True))
        return [["", *first[1:]], *others]

    def html(self, body: Body) -> str:
        """As Markdown would show it. Most cells are the same after a change, and ``line`` has kept them."""
        heads, *rows = ([line(cell) for cell in cells] for cells in self.cells())
        head = [f"<th>{cell}</th>" if cell else "<td></td>" for cell in heads]  # the corner of a table names nothing
        table = ["<table>", "<thead>", _row(head), "</thead>", "<tbody>", *map(self._row, rows), "</tbody>", "</table>"]
        box = scrolling("\n".join(table), _("Table"), "nv-table-box")
        if not self.five:
            return box
        label = escape(ngettext("All {n} row", "All {n} rows", len(rows)))
        return f'{box}<details class="nv-all-rows"><summary>{label}</summary></details>'

    def _row(self, cells: Sequence[str]) -> str:
        first, *others = cells
        head = f'<th scope="row">{first}</th>' if self.transposed and first else f"<td>{first}</td>"
        return _row([head, *(f"<td>{cell}</td>" for cell in others)])

    def plain_text(self) -> str:
        return align([list(map(plain, cells)) for cells in self.cells()]) if self.rows else ""


def _row(cells: Iterable[str]) -> str:
    return "\n".join(["<tr>", *cells, "</tr>"])


def _cell(value: Cell, is_code: bool) -> str:
    """The value as Markdown."""
    if value is None or isinstance(value, bool):
        return {True: _("yes"), False: _("no"), None: "–"}[value]
    if isinstance(value, int):
        return format_count(value)
    return f"`{value}`" if is_code and value else value


# The parts of a page that its link does not hide, and the caption that the link adds.

Figure = Panels | Chart


def visible_parts(parts: Iterable[Part], display: Display) -> list[Part]:
    """The parts that are not hidden, with the caption below the last figure.

    ``hide=all`` does not hide the tables of a page that has no other figure; a projector shows the whole text of a question.
    """
    given = list(parts)
    tables_stay = not any(isinstance(part, Figure) for part in flat(given))
    is_question = any(isinstance(part, Prediction) for part in given)

    def hides(part: Part, name: str) -> bool:
        if tables_stay and isinstance(part, Table):
            return name in display.hide
        of_question = is_question and name in (Prediction.name, Text.name)
        return (replace(display, present=False) if of_question else display).hides(name)

    visible = list(without_hidden(given, hides))
    if display.caption:
        visible.insert(_below_the_figure(visible), Legend(display.caption))
    return visible


def hideable_names(parts: Iterable[Part]) -> set[str]:
    """The names of everything in the parts that can be hidden."""
    return {name for part in parts for name in part.names} - {""}


def _below_the_figure(parts: Sequence[Part]) -> int:
    for kind in (Figure, Table):
        places = [place for place, part in enumerate(parts) if any(isinstance(inner, kind) for inner in flat([part]))]
        if places:
            return places[-1] + 1
    return len(parts)


# The layer as code in tabs, and the difference between its output and torch's.


def code_parts(e: Description, is_open: bool = False) -> Details:
    """One tab for each flavor, one for the names in each framework, and how closely the output matches torch's if torch has the layer."""

    def tab(flavor: str) -> tuple[str, tuple[Part, ...]]:
        return _(FLAVOR_LABELS[flavor]), (part_or_note(lambda: Code(code(e, flavor))),)

    in_torch = e.torch_layer is not None
    title = _("The same in code") if in_torch else _("The same in code: torch.nn has no such layer")
    flavors = sorted(FLAVORS, key=lambda flavor: not in_torch and flavor == "torch")
    names = (_("torch, Keras and Flax"), (part_or_note(lambda: _names_table(e)),))
    parts: list[Part] = [Tabs((*map(tab, flavors), names))]
    if e.agreement is not None and e.torch_layer is not None:
        agreement = _(
            "The output matches torch.nn.{layer}: largest difference {difference}",
            layer=(e.torch_layer.on_axis_1(len(e.shape)) if e.torch_layer.kind.channels_last else e.torch_layer).name,
            difference=format_difference(e.agreement),
        )
        parts.append(Caption(agreement, of="code"))
    return Details(title, tuple(parts), "code", is_open)


def _names_table(e: Description) -> Table:
    """The names of the layer's arguments and values in torch, Keras and Flax."""
    rows = ((row.label, row.torch, row.keras, row.flax) for row in framework_names(e))
    return Table(("", "torch", "Keras", "Flax"), tuple(rows))


def course_pair() -> tuple[Part, ...]:
    """The course's forward and backward functions, and their difference from torch."""
    differences = _(", ").join(
        f"{name} {format_difference(difference)}" for name, difference in cs231n.largest_differences().items()
    )
    text = _(
        "For x of shape (N, D): one mean and one variance for each row, one gamma and one beta for each column. "
        "Largest differences from torch: {differences}.",
        differences=differences,
    )
    pairs = tuple((f"{name}_forward, {name}_backward", (Code(cs231n.source(name)),)) for name in cs231n.PAIRS)
    return Text(text), Tabs(pairs)
