"""A view of a page as one value: for a notebook, a file or a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import environ
from typing import TYPE_CHECKING, Any

from normviz.export.document import FOLLOW, check_text, check_theme, document, fragment
from normviz.export.playable import Search, search, views_data
from normviz.export.plotlyjs import CellRun, embeds_plotly, plotlyjs
from normviz.export.tours import stop_parts, tour_data
from normviz.figures.plotly_figure import panels_figure
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.html import text
from normviz.lessons.parts.links import page_path
from normviz.lessons.parts.part import Chart, Panels, Part, flat
from normviz.lessons.tours import Tour
from normviz.scene.view import View, link
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import _, in_language, language

if TYPE_CHECKING:
    import plotly.graph_objects as go

ONCE = "once"  # the notebook's first output embeds plotly.js, and the others use it
APP = "NORMVIZ_URL"  # the address of the app, with which links begin
PLOTLYJS = "NORMVIZ_PLOTLYJS"  # the default of plotlyjs
OPTIONS = ("theme", "plotlyjs", "caption", "choices")


def default_plotlyjs() -> str:
    """NORMVIZ_PLOTLYJS, or "once"."""
    return environ.get(PLOTLYJS, "").strip() or ONCE


@dataclass(frozen=True)
class Choices:
    """What a reader of a file can choose.

    shapes  more shapes of x, besides that of the view
    layers  only these, and those of the view; by default every layer that takes the tensor
    app     the address of an app, for views that the file does not have; "" for none
    pages   the addresses of pages beside the file, by their link in the app, such as "/questions?q=s0"
    few     offer fewer choices, so that the output appears sooner
    tour    show the views of this tour instead of choices
    """

    shapes: tuple[tuple[int, ...], ...] = ()
    layers: tuple[str, ...] = ()
    app: str = ""
    pages: Mapping[str, str] = field(default_factory=dict)
    few: bool = False
    tour: Tour | None = None


@dataclass(frozen=True)
class Output:
    """A view of a page. As the last line of a notebook's cell it shows the linked figures.

    parts     of the page, in order
    title     for a reader, and for the title of a file
    page      the name of the page in the app
    query     the page's query; None if no link can express the view
    theme     "light", "dark" or "follow" (the surrounding page)
    plotlyjs  where plotly.js (2 MB, compressed) is:
              "once"    the first output of a notebook embeds it and the others use that one; if it is missing, they load it from the CDN
              "inline"  every output embeds it: it depends neither on another output nor on a network
              "cdn"     no output embeds it; readers need a network
              an address, such as "_static/plotly.min.js"
              The default is NORMVIZ_PLOTLYJS, or "once".
    caption   a line below the figures
    view      of a page of the app that the output shows; None if x is the caller's own
    choices   what a reader of the file can choose; None: a single view
    widget    the key of a notebook's widget that answers instead, while its kernel runs
    lang      the language in which it was made
    """

    parts: tuple[Part, ...] = field(repr=False)
    title: str
    page: str
    query: dict[str, str] | None
    theme: str = FOLLOW
    plotlyjs: str = field(default_factory=default_plotlyjs)
    caption: str = ""
    view: View | None = field(default=None, repr=False)
    choices: Choices | None = None
    widget: str = ""
    lang: str = field(default_factory=language.get)

    def __post_init__(self) -> None:
        check_theme(self.theme)
        if self.plotlyjs != ONCE:
            plotlyjs(self.plotlyjs)
        check_text("caption", self.caption)

    def with_(self, **options: Any) -> Output:
        """The same view with another theme, plotlyjs, caption or choices. Raises NormvizError for other options.

        >>> import normviz as nv
        >>> nv.numerics().with_(theme="dark", caption="Week 3").caption
        'Week 3'
        """
        for name, value in options.items():
            if name not in OPTIONS:
                raise NormvizError(
                    _(
                        "{name}={value} is not an option of an output; choose {options}.",
                        name=name,
                        value=echo(value),
                        options=listed(OPTIONS),
                    )
                )
        return replace(self, **options)

    def figure(self, theme: str = "light") -> go.Figure:
        """The main figure as a plain Plotly figure. Raises NormvizError if there is none."""
        shown = next((part for part in flat(self.parts) if isinstance(part, Panels | Chart)), None)
        if shown is None:
            raise NormvizError(_("{title} has no figure, only text and tables; use to_html().", title=self.title))
        return shown.lines.figure(theme) if isinstance(shown, Chart) else panels_figure(shown.data, theme)

    def to_html(
        self, *, full: bool = True, theme: str | None = None, plotlyjs: str | None = None, caption: str | None = None
    ) -> str:
        """One HTML file that needs no server, or with ``full=False`` a fragment of another page. The defaults are the output's own.

        plotlyjs  "once" means "inline" here, because a file depends on no other output
        """
        theme, caption = theme or self.theme, self.caption if caption is None else caption
        where = plotlyjs or self.plotlyjs
        where = "inline" if where == ONCE else where
        with in_language(self.lang):
            return self._html(full, theme, where, caption)

    def _html(self, full: bool, theme: str, where: str, caption: str) -> str:
        if full:
            return document(
                self.parts,
                title=self.title,
                theme=theme,
                plotly=where,
                caption=caption,
                link=self._address(),
                views=self.answers(),
            )
        return fragment(
            self.parts,
            theme=theme,
            plotly=where,
            caption=caption,
            link=self._address(),
            views=self.answers(),
            widget=self.widget,
        )

    def url(self, base: str = "") -> str:
        """The link to this view, below ``base``, such as "https://example.org/normviz"; the default is NORMVIZ_URL, or no base.

        The link contains the layer, the shape, up to 128 values of x, and all settings: also defaults, because a later version may have
        others. It contains neither the values of a larger x nor a module's trained gamma and beta: the link then opens with the app's own
        example.

        Raises NormvizError if no link can express the view, such as a pattern whose axes have long names.
        """
        if self.query is None:
            raise NormvizError(
                _("no link can express this view of {title}; share it as a file, with to_html().", title=self.title)
            )
        return f"{(base or environ.get(APP, '')).rstrip('/')}/{page_path(self.page)}{link(self.query)}"

    def _address(self) -> str:
        base = self.choices.app if self.choices and self.choices.app else environ.get(APP, "")
        return self.url(base) if base and self.query is not None else ""

    def answers(self) -> dict[str, Any] | None:
        """The views that a reader of the file can choose; None if the file shows one view, or has no other."""
        with in_language(self.lang):
            return self._views_data()

    def _views_data(self) -> dict[str, Any] | None:
        if self.choices is None:
            return None
        app = (self.choices.app or environ.get(APP, "")).rstrip("/")
        if self.choices.tour:
            return tour_data(self.choices.tour, app)
        if self._search is None or len(self._search.views) < 2:
            return None
        return views_data(PAGES[self.page], self._search.playable_views(), app, self.choices.pages)

    @property
    def left_out(self) -> list[str]:
        """The labels of the controls of the app that the file leaves out because it would be too large."""
        return self._search.labels_left_out() if self._search else []

    @cached_property
    def _search(self) -> Search | None:
        if self.choices is None or self.choices.tour or self.view is None or not PAGES[self.page].file_choices:
            return None
        with in_language(self.lang):
            return search(PAGES[self.page], self.view, self.choices.shapes, self.choices.layers, self.choices.few)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._notebook_html()}

    def _repr_html_(self) -> str:
        """For front ends that show each output in a frame of its own: a complete file."""
        return self.to_html()

    def _notebook_html(self) -> str:
        if self.plotlyjs != ONCE:
            return self.to_html(full=False)
        return self.to_html(full=False, plotlyjs="inline" if embeds_plotly(CellRun.now()) else "cdn")

    def __str__(self) -> str:
        with in_language(self.lang):
            return text(self.parts)


def tour_output(tour: Tour) -> Output:
    """The tour as a file."""
    title = f"{tour.title} · normviz"
    return Output(tuple(stop_parts(tour, 1)), title, tour.stops[0].page, None, choices=Choices(tour=tour))


def title_of(page: str, about: str = "") -> str:
    """The title of a file: what it is about, and the page."""
    return f"{about} · {PAGES[page].title} · normviz" if about else f"{PAGES[page].title} · normviz"
