"""A small tensor that is drawn before anything is computed: its shape, or its values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from normviz.layers.messages import _
from normviz.lessons.parts.html import Body
from normviz.lessons.parts.markup import escape
from normviz.lessons.parts.part import Part


@dataclass(frozen=True)
class BareTensor(Part):
    """x without groups. ``questions/tensor.js`` draws it, and leaves out the middle of long axes.

    axes    the letter of each axis
    at      the framed element, or None
    values  of x in row-major order, or None: then its cells are empty
    """

    shape: tuple[int, ...]
    axes: tuple[str, ...]
    at: tuple[int, ...] | None = None
    values: tuple[float, ...] | None = None
    name: ClassVar[str] = "panels"

    def html(self, body: Body) -> str:
        drawn = {"shape": self.shape, "names": self.axes}
        given = {key: value for key, value in (("at", self.at), ("values", self.values)) if value is not None}
        return (
            f'<figure class="nv-bare"><div class="nv-tensor" data-tensor="{escape(json.dumps(drawn | given))}"></div>'
            f"<figcaption>{escape(self.plain_text())}</figcaption></figure>"
        )

    def plain_text(self) -> str:
        return _("x has the shape {axes} = {shape}.", axes=f"({', '.join(self.axes).upper()})", shape=self.shape)
