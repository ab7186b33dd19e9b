"""The channels of the norms of a diagnosis as HTML, which ``diagnose`` imports when it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor

from normviz.measuring.diagnosis.causes import CHANNEL
from normviz.parts.html import escape
from normviz.parts.part import Link, Part
from normviz.scene.scene import query_of
from normviz.scene.view import link
from normviz.texts.messages import _

if TYPE_CHECKING:
    from normviz.measuring.diagnosis.diagnose import DiagnosedLayer
    from normviz.parts.html import Body

MOST_CELLS = 64  # of a layer
CELL = "flex:1 1 0;height:18px;min-width:1px;max-width:24px"


@dataclass(frozen=True)
class ChannelMap(Part):
    """A row of cells for each norm with stored statistics: the darker, the further a channel is from the data. Its name opens its view."""

    layers: Sequence[DiagnosedLayer]
    name: ClassVar[str] = "panels"

    def html(self, body: Body) -> str:
        rows = "".join(
            f'<span style="overflow-wrap:anywhere">{self._name(one, body)}</span>'
            f'<span role="img" aria-label="{escape(_outside(one))}" style="display:flex;gap:1px;align-items:center">{"".join(_cells(one.deviation.moved))}</span>'
            for one in self.layers
            if one.deviation is not None
        )
        says = _(
            "A cell is a channel, or the worst of several: the darker, the further it moves the output before gamma and beta. At {most:g} standard deviation or more, it is darkest.",
            most=CHANNEL,
        )
        grid = "display:grid;grid-template-columns:minmax(0,max-content) minmax(55%,1fr);gap:3px 12px;max-width:900px;font-size:14px"
        return f'<div style="{grid}">{rows}</div><p class="nv-small">{escape(says)}</p>'

    def _name(self, one: DiagnosedLayer, body: Body) -> str:
        if one.layer is None:
            return escape(one.name or "-")
        query = link(query_of(one.layer, one.shape)).removeprefix("?")
        return Link(one.name or "-", "explore", query).html(body) or escape(one.name or "-")

    def plain_text(self) -> str:
        return "\n".join(_outside(one) for one in self.layers if one.deviation is not None)


def _outside(one: DiagnosedLayer) -> str:
    found = one.deviation
    assert found is not None, one
    return _("{name}: {n:,} of {all:,} beyond chance", name=one.name, n=len(found.outside), all=len(found.moved))


def _cells(moved: Tensor) -> Iterator[str]:
    """One for each channel; of many channels, for the largest of several."""
    size = -(-len(moved) // MOST_CELLS)
    for first in range(0, len(moved), size):
        part = moved[first : first + size].nan_to_num(CHANNEL, CHANNEL)
        worst = first + int(part.argmax())
        percent = round(100 * min(1.0, float(part.max()) / CHANNEL))
        color = f"color-mix(in srgb,var(--nv-accent) {percent}%,var(--nv-border))"
        yield f'<span style="{CELL};background:{color}" title="{worst}: {float(moved[worst]):.2g}"></span>'
