"""The layer as code in tabs, and the difference between its output and torch's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from normviz.analysis.description import Description
from normviz.code import cs231n
from normviz.code.framework_names import framework_names
from normviz.code.generate import FLAVORS, code
from normviz.lessons.parts.containers import Table, Tabs
from normviz.lessons.parts.part import Caption, Code, Part, Text, part_or_note
from normviz.texts.messages import N_, _
from normviz.texts.numbers import format_difference

LABELS = {
    "torch": "torch.nn",
    "torch-scratch": N_("torch from scratch"),
    "numpy": "NumPy",
    "einops": "einops",
    "loops": N_("loops"),
    "keras": "Keras",
    "flax": "Flax",
}


def code_tabs(e: Description) -> Tabs:
    """One tab for each flavor."""

    def tab(flavor: str) -> tuple[str, tuple[Part, ...]]:
        return _(LABELS[flavor]), (part_or_note(lambda: Code(code(e, flavor))),)

    return Tabs(tuple(map(tab, FLAVORS)))


def agreement_text(e: Description) -> str | None:
    """How closely the output matches torch's, in one line; None if torch does not have the layer."""
    if e.agreement is None or e.torch_layer is None:
        return None
    return _(
        "The output matches torch.nn.{layer}: largest difference {difference}",
        layer=e.torch_layer.name,
        difference=format_difference(e.agreement),
    )


def code_parts(e: Description) -> Iterator[Part]:
    yield Text(_("**The same in code**"), of="code")
    yield code_tabs(e)
    if line := agreement_text(e):
        yield Caption(line, of="code")


def framework_tabs(descriptions: Sequence[Description]) -> Tabs:
    """The names of each layer's arguments and values in torch, Keras and Flax, one tab for each layer."""

    def tab(e: Description) -> tuple[str, tuple[Part, ...]]:
        return e.title, (part_or_note(lambda: _names(e)),)

    return Tabs(tuple(map(tab, descriptions)))


def _names(e: Description) -> Table:
    rows = tuple((row.label, row.torch, row.keras, row.flax) for row in framework_names(e))
    return Table(("", "torch", "Keras", "Flax"), rows)


def course_pair() -> tuple[Part, ...]:
    """The course's forward and backward functions, and their difference from torch."""
    differences = ", ".join(
        f"{name} {format_difference(difference)}" for name, difference in cs231n.largest_differences().items()
    )
    text = _(
        "For x of shape (N, D): one mean and one variance for each row, one gamma and one beta for each column. "
        "Largest differences from torch: {differences}.",
        differences=differences,
    )
    pairs = tuple((f"{name}_forward, {name}_backward", (Code(cs231n.source(name)),)) for name in cs231n.PAIRS)
    return Text(text), Tabs(pairs)
