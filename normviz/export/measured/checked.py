"""``check`` with a figure: in a notebook, the groups of the function beside those of the layer that it should be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from torch import nn

from normviz.analysis.comparison import Comparison
from normviz.analysis.description import Description
from normviz.export.output import Output
from normviz.layers.axes import layout_text
from normviz.layers.layer import Layer
from normviz.layers.norm import Norm
from normviz.lessons.compare import panels
from normviz.lessons.parts.part import Caption, Panels, Part, Text
from normviz.measuring import check as measuring
from normviz.measuring.differences import Expected, expect
from normviz.measuring.found_norm import norm_of, with_usual_formula
from normviz.scene.grid import grid, start_with
from normviz.texts.messages import _, join_sentences, ngettext


@dataclass(frozen=True, eq=False, repr=False)
class Check(measuring.Check):
    __doc__ = measuring.Check.__doc__

    def output(self, **options: Any) -> Output:
        """The text, and the groups of the function beside the expected ones. Options: theme, plotlyjs, caption."""
        parts: list[Part] = [Text(self.text)]
        shown = [one for one in (self._found(), self.expected) if one is not None]
        if shown:
            e, at = shown[0], (0,) * len(shown[0].shape)  # patterns that differ differ at the first element
            drawing = grid(e.shape, e.axes, start_with(at, e.shape, e.axes))
            figure = panels(Comparison(tuple(shown)), drawing, at)
            if len(shown) == 2 and isinstance(figure, Panels):
                figure = replace(figure, data=figure.data | {"differs": ["stats0", "stats1"]})
            parts.append(figure)
        if len(shown) == 2:
            parts.append(Caption(_peers_text(*shown)))
            parts.append(
                Caption(
                    _(
                        "Dark lines mark the elements in which the two groups differ. Point at another element to compare its groups."
                    )
                )
            )
        return Output(tuple(parts), _("What your function computes"), "compare", None).with_(**options)

    def _found(self) -> Expected | None:
        """The function as a layer, whatever its eps and variance are; None if its groups are not described by a pattern."""
        found = self.measured
        if found is None or found.formula is None:
            return None
        axes = self.norm.axes if self.norm else self.expected.axes if self.expected else None
        if axes is None:
            return None
        norm = self.norm or norm_of(with_usual_formula(found), axes)
        return None if norm is None else replace(expect(norm, found.shape, layout_text(axes)), given=_("your function"))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.output()._repr_mimebundle_(include, exclude) | {"text/plain": self.text}

    def _repr_html_(self) -> str:
        return self.output()._repr_html_()


def _peers_text(own: Description, expected: Description) -> str:
    """How many elements share their statistics with the first one, and how many of them should not or are missing."""
    masks = [e.stat_ids == e.stat_ids.flat[0] for e in (own, expected)]
    return join_sentences(
        [
            ngettext(
                "In your function, the first element of x shares its statistics with {n:,} other.",
                "In your function, the first element of x shares its statistics with {n:,} others.",
                int(masks[0].sum()) - 1,
            ),
            ngettext(
                "Under {layer}, it shares them with {n:,} other.",
                "Under {layer}, it shares them with {n:,} others.",
                int(masks[1].sum()) - 1,
                layer=expected.title,
            ),
            ngettext(
                "The groups differ in {n:,} element.",
                "The groups differ in {n:,} elements.",
                int((masks[0] != masks[1]).sum()),
            ),
        ]
    )


def check(
    fn: Callable[..., Any],
    x: Any,
    like: str | Layer | Norm | nn.Module | None = None,
    *,
    layout: str | None = None,
    params: Mapping[str, Any] | None = None,
) -> Check:
    found = measuring.check(fn, x, like, layout=layout, params=params)
    return Check(**{field.name: getattr(found, field.name) for field in fields(found)})


check.__doc__ = measuring.check.__doc__
