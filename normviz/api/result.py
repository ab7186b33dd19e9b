"""What the results of ``explain``, ``check``, ``norms`` and ``live`` have in common with an Output: a figure, a file, a link."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar, Unpack

from normviz.analysis.forward import usual_device
from normviz.texts.errors import checked_call

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from normviz.export.output import FileOptions, Options, Output
    from normviz.figures.palette import FigureTheme


P = ParamSpec("P")
R = TypeVar("R")


def on_cpu(make: Callable[P, R]) -> Callable[P, R]:
    """The function, with torch's default device as usual: a caller's may be meta, which has no values."""

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        with usual_device():
            return make(*args, **kwargs)

    return made


class Result:
    """A result with a view. ``figure``, ``to_html``, ``url`` and ``with_`` are those of its Output.

    A result without a figure or a link, such as the table of a model, raises NormvizError, which names what it has instead.

    >>> import normviz as nv
    >>> nv.check(lambda x: x - x.mean(0), (4, 6)).url()
    Traceback (most recent call last):
    ...
    normviz.texts.errors.NormvizError: no link can express this view of What your function computes; share it as a file, with to_html().
    """

    def output(self, **options: Unpack[Options]) -> Output:
        """The view: what a notebook shows, as an Output."""
        raise NotImplementedError

    @checked_call
    def with_(self, **options: Unpack[Options]) -> Output:
        """The view with other options.

        options  theme, plotlyjs, caption, choices: as in ``Output``

        Raises NormvizError for another option, and for choices that the view has not.

        >>> import normviz as nv
        >>> nv.explain("LayerNorm(4)", (2, 4)).with_(caption="Week 3").caption
        'Week 3'
        """
        return self.output().with_(**options)

    def figure(self, theme: FigureTheme = "light") -> go.Figure:
        """The main figure as a plain Plotly figure. A plain figure cannot follow a page, so its theme is "light" or "dark".

        Raises NormvizError if there is none, and for another theme.

        >>> import normviz as nv
        >>> len(nv.check(lambda x: x - x.mean(0), (4, 6), like="LayerNorm(6)").figure("dark").data) > 0
        True
        """
        return self.output().figure(theme)

    @checked_call
    def to_html(self, **options: Unpack[FileOptions]) -> str:
        """The view as one HTML file that needs no server.

        options  full, theme, plotlyjs, caption: as in ``Output.to_html``

        Raises NormvizError for an invalid value.

        >>> import torch, normviz as nv
        >>> norms = nv.norms(torch.nn.Sequential(torch.nn.BatchNorm2d(8)), torch.randn(2, 8, 3, 3))
        >>> "BatchNorm2d(8)" in norms.to_html(plotlyjs="cdn")
        True
        """
        return self.output().to_html(**options)

    def url(self, base: str = "") -> str:
        """The link to the view.

        base  the address of the app; default: NORMVIZ_URL, or no address

        Raises NormvizError if no link can express the view.

        >>> import normviz as nv
        >>> nv.explain("LayerNorm(4)", (2, 4)).url()
        '/explore?shape=2,4&layer=LayerNorm([4])&data=normal&seed=0&params=init&at=1,3'
        """
        return self.output().url(base)
