"""What a notebook shows, a file holds and a link opens: a page's view as one value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os import environ
from typing import TYPE_CHECKING, Any

from normviz.export.document import FOLLOW, check_text, check_theme, document, fragment
from normviz.export.notebook import Run, carries
from normviz.export.plotlyjs import plotlyjs
from normviz.figures.plotly_figure import panels_figure
from normviz.layers.errors import NormvizError, echo, listed
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.part import Chart, Panels, Part, flat
from normviz.lessons.parts.text import text
from normviz.scene.query import link

if TYPE_CHECKING:
    import plotly.graph_objects as go

ONCE = "once"  # the notebook's first output carries it; the others find it there
APP = "NORMVIZ_URL"  # where the app is: the address that links begin with
WHERE = "NORMVIZ_PLOTLYJS"  # what plotlyjs is where nobody says it
OPTIONS = ("theme", "plotlyjs", "caption")


def usual_plotlyjs() -> str:
    """NORMVIZ_PLOTLYJS, or "once"."""
    return environ.get(WHERE, "").strip() or ONCE


@dataclass(frozen=True)
class Output:
    """A view of a page. As the last line of a notebook's cell it shows the linked figures.

    parts     what it is made of
    title     for a reader, and for the title of a file
    page      the page that shows it in the app
    query     the page's query; None where no link can say it
    theme     "light", "dark" or "follow" the page around it
    plotlyjs  where plotly.js (2 MB, packed) is:
              "once"    the first output of a notebook carries it, the others use that one; where it is missing, from the CDN
              "inline"  every output carries it: none depends on another, or on a network
              "cdn"     none does; readers need a network
              an address, such as "_static/plotly.min.js"
              By default what NORMVIZ_PLOTLYJS says, or "once".
    caption   a line below the figures
    """

    parts: tuple[Part, ...] = field(repr=False)
    title: str
    page: str
    query: dict[str, str] | None
    theme: str = FOLLOW
    plotlyjs: str = field(default_factory=usual_plotlyjs)
    caption: str = ""

    def __post_init__(self) -> None:
        check_theme(self.theme)
        if self.plotlyjs != ONCE:
            plotlyjs(self.plotlyjs)
        check_text("caption", self.caption)

    def with_(self, **options: Any) -> Output:
        """The same with another theme, plotlyjs or caption. Raises NormvizError for anything else.

        >>> import normviz as nv
        >>> nv.numerics().with_(theme="dark", caption="Week 3").caption
        'Week 3'
        """
        for name, value in options.items():
            if name not in OPTIONS:
                raise NormvizError(f"{name}={echo(value)} is no option of an output; choose {listed(OPTIONS)}.")
        return replace(self, **options)

    def figure(self, theme: str = "light") -> go.Figure:
        """Its main figure as a plain Plotly figure. Raises NormvizError where it has none."""
        shown = next((part for part in flat(self.parts) if isinstance(part, Panels | Chart)), None)
        if shown is None:
            raise NormvizError(f"{self.title} has no figure; it is text and tables, which to_html() gives.")
        return shown.lines.figure(theme) if isinstance(shown, Chart) else panels_figure(shown.data, theme)

    def to_html(
        self, *, full: bool = True, theme: str | None = None, plotlyjs: str | None = None, caption: str | None = None
    ) -> str:
        """One HTML file that needs no server; not ``full``: a part of another page. What is not given is as in the output.

        plotlyjs  here "once" is "inline": the file stands alone
        """
        theme, caption = theme or self.theme, self.caption if caption is None else caption
        where = plotlyjs or self.plotlyjs
        where = "inline" if where == ONCE else where
        if full:
            return document(
                self.parts, title=self.title, theme=theme, plotly=where, caption=caption, link=self._address()
            )
        return fragment(self.parts, theme=theme, plotly=where, caption=caption, link=self._address())

    def url(self, base: str = "") -> str:
        """The link to this view: below ``base``, such as "https://example.org/normviz"; by default below NORMVIZ_URL, or alone.

        It says the layer and the shape; x's values too, up to 64 of them. Of a larger x, of a module's trained gamma and beta, it
        says nothing: it opens with the app's own example.

        Raises NormvizError where no link can say it, such as a pattern whose axes have long names.
        """
        if self.query is None:
            raise NormvizError(f"no link can say this view of {self.title}; share it as a file, with to_html().")
        path = "" if self.page == "explore" else self.page
        return f"{(base or environ.get(APP, '')).rstrip('/')}/{path}{link(self.query)}"

    def _address(self) -> str:
        return self.url() if environ.get(APP) and self.query is not None else ""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._in_a_notebook()}

    def _repr_html_(self) -> str:
        """For front ends that show a page of their own: everything is in it."""
        return self.to_html()

    def _in_a_notebook(self) -> str:
        if self.plotlyjs != ONCE:
            return self.to_html(full=False)
        return self.to_html(full=False, plotlyjs="inline" if carries(Run.now()) else "cdn")

    def __str__(self) -> str:
        return text(self.parts)


def title_of(page: str, about: str = "") -> str:
    """The title of a file: the page, and what it is about."""
    return f"{about} · {PAGES[page].title} · normviz" if about else f"{PAGES[page].title} · normviz"
