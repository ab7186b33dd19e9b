"""``nv.explain``: what one layer does to one x, with its code, and its view in a notebook."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Unpack

from normviz.analysis.description import Description, X
from normviz.analysis.outliers import Outlier, outliers
from normviz.analysis.sentences import sentence
from normviz.api.result import Result, on_cpu
from normviz.code.programs import code
from normviz.measuring.own_modules import AnyLayer, describe_any
from normviz.texts.errors import NormvizWarning, checked_call
from normviz.texts.messages import plain

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from normviz.code.programs import Flavor
    from normviz.export.output import FileOptions, Options, Output
    from normviz.figures.palette import FigureTheme


@checked_call
def explain(layer: AnyLayer, x: X, *, layout: str | None = None) -> Explanation:
    """What ``layer`` does to ``x``: which elements share a mean and a variance, which share a gamma and a beta, and how many there are.

    layer   a torch.nn normalization module, or a module of your own that normalizes, which is measured; or its text,
            ``"GroupNorm(2, 4)"``, ``"BatchNorm2d(3).eval()"``; or a ``Norm(stats="n c h w -> n h w", params="c")``.
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
    >>> print(explain("LayerNorm(4)", (2, 4)))
    LayerNorm([4]) on (2, 4): 2 means and 2 variances, each from 4 elements; 4 gammas and 4 betas: one per normalized element, shared by all 2 examples.
    """
    found = explanation(layer, x, layout)
    for note in found.notes:
        warnings.warn(note, NormvizWarning, stacklevel=3)
    return found


def explanation(layer: AnyLayer, x: X, layout: str | None = None) -> Explanation:
    """As ``explain``, without a warning."""
    e = describe_any(layer, x, layout)
    return Explanation(**{field.name: getattr(e, field.name) for field in fields(e)})


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Description, Result):
    """What one layer does to one x, with its code, figure and page. Made by ``explain``.

    As text it is a sentence; as the last line of a notebook's cell, the page with its linked figures.

    >>> e = explain("GroupNorm(2, 4)", (2, 4, 3, 3))
    >>> e
    GroupNorm(2, 4) on (2, 4, 3, 3): 4 means and 4 variances, each from 18 elements; 4 gammas and 4 betas: one per channel, each used by 18 elements.
    >>> e.axes, e.counts.elements_per_statistic, e.stat_ids[0, :, 0, 0]
    (('n', 'c', 'h', 'w'), 18, array([0, 0, 1, 1]))
    """

    @checked_call
    def code(self, flavor: Flavor = "torch") -> str:
        """The layer on x as a program that runs.

        flavor  "torch" (a layer of torch.nn), "torch-scratch" (each step), "numpy", "einops", "loops", "keras" or "flax"

        Raises NormvizError for another flavor, and for "torch" if torch.nn has no such layer.

        >>> print(explain("BatchNorm1d(3)", (4, 3)).code())
        import torch
        from torch import nn
        <BLANKLINE>
        x = torch.randn(4, 3)
        layer = nn.BatchNorm1d(3)
        y = layer(x)
        """
        return code(self, flavor)

    @checked_call
    def outliers(self) -> tuple[Outlier, ...]:
        """The channels whose values dominate the statistics that they share, the largest share first; known from language models.

        A channel is one if it makes at least 10 times its equal share of the variance (RMSNorm: of the mean square), and more than chance explains.
        There is none where each channel has statistics of its own, as in BatchNorm, and with running statistics.

        Raises NormvizError if only a shape was given.

        >>> import torch
        >>> x = torch.randn(8, 197, 768, generator=torch.Generator().manual_seed(0))
        >>> x[..., 138] *= 40
        >>> [(found.channel, round(found.share, 2)) for found in explain("LayerNorm(768)", x).outliers()]
        [(138, 0.48)]
        """
        return outliers(self)

    def figure(self, theme: FigureTheme = "light") -> go.Figure:
        """Both panels - shared mean and variance, shared gamma and beta - as one plain Plotly figure.

        theme  "light" or "dark"

        Raises NormvizError for another theme, and for an x with more than 12 axes.

        >>> len(explain("BatchNorm1d(3)", (4, 3)).figure().data) > 0
        True
        """
        from normviz.figures.payload import view_payload
        from normviz.figures.plotly_figure import panels_figure
        from normviz.scene.grid import grid

        return panels_figure(view_payload(replace(self, x=None), grid(self.shape, self.axes, ())), theme)

    @on_cpu
    def output(self, **options: Unpack[Options]) -> Output:
        """The Explore page: linked figures, worked arithmetic, code.

        options  of an ``Output``: theme, plotlyjs, caption

        Raises NormvizError for an option that an Output does not have.

        >>> explain("BatchNorm1d(3)", (4, 3)).output(theme="dark").title
        'BatchNorm1d(3) on (4, 3) · Explore · normviz'
        """
        from normviz.export.output import output_of_view
        from normviz.lessons.explore import page as exploring
        from normviz.scene.scene import Scene
        from normviz.scene.view import View

        view = View(Scene.of(self), {})
        parts = exploring.parts(self, view.scene, exploring.toggles_of(view))
        return output_of_view("explore", view, parts=parts).with_(**options)

    @checked_call
    def to_html(self, **options: Unpack[FileOptions]) -> str:
        """The Explore page as one HTML file that needs no server.

        options  of ``Output.to_html``: full, theme, plotlyjs, caption

        Raises NormvizError for an invalid value.

        >>> explain("BatchNorm1d(3)", (4, 3)).to_html(plotlyjs="cdn").startswith("<!doctype html>")
        True
        """
        return self.output().to_html(**options)

    def url(self, base: str = "") -> str:
        """The link to the Explore page, with the layer, the shape, and up to 128 values of x.

        base  the address of the app; default: NORMVIZ_URL, or no address

        Raises NormvizError if no link can express the view (``Output.url``).

        >>> explain("BatchNorm1d(3)", (4, 3)).url("https://normviz.example.org")
        'https://normviz.example.org/explore?shape=4,3&layer=BatchNorm1d(3)&data=normal&seed=0&params=init&at=3,2'
        """
        return self.output().url(base)

    def __str__(self) -> str:
        return plain(sentence(self))

    __repr__ = __str__

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return self.output()._repr_mimebundle_(include, exclude)

    def _repr_html_(self) -> str:
        return self.output()._repr_html_()
