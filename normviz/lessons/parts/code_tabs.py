"""The layer as code, in tabs, and how closely it agrees with torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from normviz.analysis.explanation import Explanation
from normviz.analysis.number_format import format_difference
from normviz.code import cs231n_check
from normviz.code.framework_names import framework_names
from normviz.code.generate import FLAVORS, code
from normviz.lessons.parts.part import Caption, Code, Part, Tabs, Text, part_or_note
from normviz.lessons.parts.table import Column, Table

LABELS = {
    "torch": "torch.nn",
    "torch-scratch": "torch from scratch",
    "numpy": "NumPy",
    "einops": "einops",
    "loops": "loops",
    "keras": "Keras",
    "flax": "Flax",
}


NAME_COLUMNS = (Column("idea", ""), Column("torch", "torch"), Column("keras", "Keras"), Column("flax", "Flax"))


def code_tabs(e: Explanation) -> Tabs:
    """One tab a flavour."""
    return Tabs(
        tuple((LABELS[flavor], (part_or_note(lambda flavor=flavor: Code(code(e, flavor))),)) for flavor in FLAVORS)  # type: ignore[misc]
    )


def agreement(e: Explanation) -> str | None:
    """What the numbers agree with, in one line; None where torch has no such layer."""
    if e.agreement is None or e.torch_layer is None:
        return None
    return f"The output matches torch.nn.{e.torch_layer.name}: largest difference {format_difference(e.agreement)}"


def code_parts(e: Explanation) -> Iterator[Part]:
    """Code, and what it agrees with."""
    yield Text("**The same in code**", of="code")
    yield code_tabs(e)
    if agrees := agreement(e):
        yield Caption(agrees, of="code")


def framework_tabs(explanations: Sequence[Explanation]) -> Tabs:
    """Each layer name by name in torch, Keras and Flax, one tab a layer."""
    return Tabs(tuple((e.title, (part_or_note(lambda e=e: _names(e)),)) for e in explanations))  # type: ignore[misc]


def _names(e: Explanation) -> Table:
    rows = ({"idea": one.idea, "torch": one.torch, "keras": one.keras, "flax": one.flax} for one in framework_names(e))
    return Table(NAME_COLUMNS, tuple(rows), key=f"names_{e.title}")


def course_pair() -> tuple[Part, ...]:
    """The course's forward and backward pair, and how closely it agrees with torch."""
    gaps = ", ".join(f"{name} {format_difference(gap)}" for name, gap in cs231n_check.agreement().items())
    said = f"For x of shape (N, D), one mean and variance a row, one gamma and beta a column. Largest differences from torch: {gaps}."
    pairs = tuple(
        (f"{name}_forward, {name}_backward", (Code(cs231n_check.source(name)),)) for name in cs231n_check.PAIRS
    )
    return Text(said), Tabs(pairs)
