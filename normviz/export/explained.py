"""``nv.explain``: what one layer does to one x, with its code, and its view in a notebook."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from normviz.analysis.description import Description
from normviz.analysis.sentences import sentence
from normviz.code.generate import code
from normviz.measuring.own_modules import AnyLayer, describe_any
from normviz.texts.errors import NormvizWarning
from normviz.texts.messages import plain

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from normviz.export.output import Output


def explain(layer: AnyLayer, x: Any, *, layout: str | None = None) -> Explanation:
    """What ``layer`` does to ``x``: which elements share a mean and a variance, which share a gamma and a beta, and how many there are.

    layer   a torch.nn normalization module, or a module of your own that normalizes, which is measured; or its text, ``"GroupNorm(2, 4)"``, ``"BatchNorm2d(3).eval()"``; or a
            ``Norm(stats="n c h w -> n h w", params="c")``.
    x       a shape, as a tuple of sizes; or a tensor or NumPy array, for which values are computed too.
    layout  axis letters, ``"NCHW"``, ``"NLC"``, ...; default: the layer's own for the rank of x.

    Nothing is modified: neither the module's mode, buffers or gradients, nor x.

    Raises NormvizError if torch's own forward would raise, with torch's message and what it means.
    Warns (NormvizWarning) if the layer would use an axis as channels that is probably not the channel axis.

    >>> e = explain("LayerNorm([3, 4, 4])", (2, 3, 4, 4))
    >>> e.norm.stats, e.counts.statistics, e.counts.parameters
    ('n c h w -> n', 2, 96)
    >>> len(e.peers((1, 2, 0, 3))), e.parameter_peers((1, 2, 0, 3))
    (47, [(0, 2, 0, 3)])
    """
    found = describe_any(Explanation, layer, x, layout)
    for note in found.notes:
        warnings.warn(note, NormvizWarning, stacklevel=2)
    return found


@dataclass(frozen=True, eq=False)
class Explanation(Description):
    """What one layer does to one x, with its code, figure and page. Made by ``explain``."""

    def code(self, flavor: str = "torch") -> str:
        """The layer as text that runs: "torch", "torch-scratch", "numpy", "einops", "loops", "keras" or "flax"."""
        return code(self, flavor)

    def figure(self, theme: str = "light") -> go.Figure:
        """Both panels - shared mean and variance, shared gamma and beta - as one plain Plotly figure."""
        from normviz.export.shown import figure_of_layer

        return figure_of_layer(self, theme)

    def output(self, **options: Any) -> Output:
        """The Explore page: linked figures, worked arithmetic, code. Options: theme, plotlyjs, caption."""
        from normviz.export.shown import output_of_layer

        return output_of_layer(self).with_(**options)

    def to_html(self, **options: Any) -> str:
        """The Explore page as one HTML file that needs no server (``Output.to_html``)."""
        return self.output().to_html(**options)

    def url(self, base: str = "") -> str:
        """The link to the Explore page (``Output.url``)."""
        return self.output().url(base)

    def __str__(self) -> str:
        return plain(sentence(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.output()._repr_mimebundle_(include, exclude)

    def _repr_html_(self) -> str:
        return self.output()._repr_html_()
