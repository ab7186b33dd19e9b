"""A view of a page as one value, for a notebook, a file or a link; and which output of a notebook embeds plotly.js."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import environ
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from normviz.analysis.checks import LARGEST_VALUE
from normviz.export.document import Plotlyjs, Theme, check_text, check_theme, document, fragment, plotlyjs
from normviz.export.playable import Search, search, views_data
from normviz.export.tour_file import tour_data
from normviz.figures import palette, plotly_figure, wire
from normviz.lessons.pages import PAGES, join_part
from normviz.lessons.tours import Tour
from normviz.parts.html import text
from normviz.parts.part import Chart, Panels, Part, flat, page_path, visible_parts
from normviz.parts.titles import app_of_environment, app_of_files
from normviz.scene.edits import with_fields
from normviz.scene.scene import MOST_EDITABLE, Scene
from normviz.scene.view import View, link
from normviz.texts.errors import NormvizError, check_web_address, checked_call, echo, listed
from normviz.texts.messages import ENGLISH, N_, _, in_language, language

if TYPE_CHECKING:
    import plotly.graph_objects as go
import sys

# Which output of a notebook embeds plotly.js.


_first: tuple[str, str] | None = None  # the cell run of the output that embeds it


def _cell_run() -> tuple[str, str]:
    """The identifiers of the cell and of its current run in this process's Jupyter kernel; empty if the front end has none."""
    ipython: Any = sys.modules.get("IPython")
    parent: dict[str, Any] = getattr(ipython and ipython.get_ipython(), "get_parent", dict)() or {}
    return str(parent.get("metadata", {}).get("cellId") or ""), str(parent.get("header", {}).get("msg_id") or "")


def embeds_plotly() -> bool:
    """True if this output embeds plotly.js: the first of the process, and the first of each re-run of its cell."""
    global _first
    cell, message = _cell_run()
    if _first is None or (cell == _first[0] != "" and message != _first[1]):
        _first = (cell, message)
        return True
    return False


ONCE = "once"  # the notebook's first output embeds plotly.js, and the others use it
PLOTLYJS = "NORMVIZ_PLOTLYJS"  # the default of plotlyjs


@dataclass(frozen=True)
class Choices:
    """What a reader of a file can choose.

    shapes  more shapes of x, in addition to the shape of the view
    layers  only these and the layers of the view; by default every layer that takes the tensor
    app     the address of an app, for views that the file does not have; "" for none
    pages   the addresses of pages next to the file, by their link in the app, such as "/questions?q=s0"
    few     offer fewer choices, so that the output appears sooner
    tour    show the views of this tour instead of choices
    """

    shapes: tuple[tuple[int, ...], ...] = ()
    layers: tuple[str, ...] = ()
    app: str = ""
    pages: Mapping[str, str] = field(default_factory=dict)
    few: bool = False
    tour: Tour | None = None

    def __post_init__(self) -> None:
        _check_kind("app", self.app, str, N_("a text"))
        check_web_address("app=", self.app)
        _check_kind("few", self.few, bool, N_("True or False"))
        _check_kind("tour", self.tour, Tour | None, N_("a Tour"))
        _check_kind("pages", self.pages, Mapping, N_("a dictionary"))
        for name, kind, example in (("shapes", tuple | list, "((2, 5),)"), ("layers", str, "('LayerNorm(4)',)")):
            given = getattr(self, name)
            if not isinstance(given, tuple | list) or not all(isinstance(one, kind) for one in given):
                raise NormvizError(
                    "{name}={value} must be a tuple, such as {example}.", name=name, value=echo(given), example=example
                )


class Options(TypedDict, total=False):
    """What ``Output.with_`` changes."""

    theme: Theme
    plotlyjs: Plotlyjs
    caption: str
    choices: Choices | None


class FileOptions(TypedDict, total=False):
    """The options of ``Output.to_html``."""

    full: bool
    theme: Theme | None
    plotlyjs: Plotlyjs | None
    caption: str | None


@dataclass(frozen=True, repr=False)
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

    parts: tuple[Part, ...]
    title: str
    page: str
    query: dict[str, str] | None
    theme: Theme = "follow"
    plotlyjs: Plotlyjs = field(default_factory=lambda: environ.get(PLOTLYJS, "").strip() or ONCE)
    caption: str = ""
    view: View | None = None
    choices: Choices | None = None
    widget: str = ""
    lang: str = field(default_factory=language.get)

    def __post_init__(self) -> None:
        check_theme(self.theme)
        _check_kind("choices", self.choices, Choices | None, "nv.Choices(...)")
        if self.plotlyjs != ONCE:
            plotlyjs(self.plotlyjs)
        check_text("caption", self.caption)

    @checked_call
    def with_(self, **options: Unpack[Options]) -> Output:
        """The same view with another theme, plotlyjs, caption or choices. Raises NormvizError for other options, and for choices that it has not.

        >>> import normviz as nv
        >>> nv.numerics().with_(theme="dark", caption="Week 3").caption
        'Week 3'
        """
        for name, value in options.items():
            if name not in Options.__annotations__:
                raise NormvizError(
                    "{name}={value} is not an option of an output; choose {options}.",
                    name=name,
                    value=echo(value),
                    options=listed(Options.__annotations__),
                )
        choices = options.get("choices")
        _check_kind("choices", choices, Choices | None, "nv.Choices(...)")
        if choices is not None and self.view is None and not (choices.tour or choices.app):
            raise NormvizError(
                "{title} is a single view without choices; use nv.open(link).with_(choices=...).", title=self.title
            )
        return replace(self, **options)

    def figure(self, theme: palette.FigureTheme = "light") -> go.Figure:
        """The main figure as a plain Plotly figure.

        theme  "light" or "dark"

        Raises NormvizError if the page has only text and tables, and for another theme.

        >>> import normviz as nv
        >>> len(nv.open("/?shape=2,3&layer=LayerNorm(3)").figure("dark").data) > 0
        True
        """
        figure = next((part for part in flat(self.parts) if isinstance(part, Panels | Chart)), None)
        if figure is None:
            raise NormvizError("{title} has no figure, only text and tables; use to_html().", title=self.title)
        return (
            figure.lines.figure(theme) if isinstance(figure, Chart) else plotly_figure.panels_figure(figure.data, theme)
        )

    @checked_call
    def to_html(
        self,
        *,
        full: bool = True,
        theme: Theme | None = None,
        plotlyjs: Plotlyjs | None = None,
        caption: str | None = None,
    ) -> str:
        """One HTML file that needs no server. The defaults are the output's own.

        full      False: a fragment of another page
        theme     "light", "dark" or "follow"
        plotlyjs  as in ``Output``; "once" means "inline" here, because a file depends on no other output
        caption   a line below the figures

        Raises NormvizError for an unknown theme, a caption that is too long, and an invalid address of plotly.js.

        >>> import normviz as nv
        >>> nv.open("/?shape=2,3&layer=LayerNorm(3)").to_html(plotlyjs="cdn").startswith("<!doctype html>")
        True
        """
        _check_kind("full", full, bool, N_("True or False"))
        theme = self.theme if theme is None else theme
        caption = check_text("caption", self.caption if caption is None else caption)
        where = self.plotlyjs if plotlyjs is None else plotlyjs
        where = "inline" if where == ONCE else where
        with in_language(self.lang):
            shared: dict[str, Any] = {"theme": theme, "plotly": where, "caption": caption}
            shared |= {"link": self._address(), "views": self.answers()}
            is_tour = self.choices is not None and self.choices.tour is not None
            if full:
                is_presented = is_tour or (self.query or {}).get("present") == "true"
                return document(joined_parts(self, self._app()), title=self.title, present=is_presented, **shared)
            return fragment(self.parts, widget=self.widget, present=is_tour, **shared)

    def url(self, base: str = "") -> str:
        """The link to this view, below ``base``, such as "https://example.org/normviz"; the default is NORMVIZ_URL, or no base.

        The link contains the layer, the shape, up to 128 values of x, and all settings that have an effect: also defaults, because a later
        version may have others. It contains neither the values of a larger x nor a module's trained gamma and beta: the link then opens with
        the app's own example. ``embed`` and ``embed_options``, which are not about the view, and a reader's ``guess`` are left out.

        Raises NormvizError if no link can express the view, such as a pattern whose axes have long names.

        >>> import normviz as nv
        >>> nv.questions("s0").url("https://example.org/lab")
        'https://example.org/lab/questions?q=s0'
        """
        _check_kind("base", base, str | None, N_("a text"))
        if self.query is None:
            raise NormvizError(
                "no link can express this view of {title}; share it as a file, with to_html().", title=self.title
            )
        return f"{(base or app_of_environment()).rstrip('/')}/{page_path(self.page)}{link(self.query)}"

    def _app(self) -> str:
        """The address of the app, as the file's maker gives it; "" for none."""
        return ((self.choices and self.choices.app) or app_of_files()).rstrip("/")

    def _address(self) -> str:
        base = self._app()
        return self.url(base) if base and self.query is not None else ""

    def answers(self) -> dict[str, wire.Json] | None:
        """The views that a reader of the file can choose, as the browser reads them; None if the file shows one view, or has no other.

        >>> import normviz as nv
        >>> (
        ...     nv.open("/numerics").answers() is None,
        ...     len(nv.open("/numerics").with_(choices=Choices()).answers()["views"]) > 1,
        ... )
        (True, True)
        """
        if self.choices is None:
            return None
        with in_language(self.lang):
            if self.choices.tour:
                return wire.sent(tour_data(self.choices.tour, self._app()))
            if self._search is None or len(self._search.views) < 2:
                return None
            views = self._search.playable_views()
            return wire.sent(views_data(PAGES[self.page], views, self._app(), self.choices.pages))

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
        where = None if self.plotlyjs != ONCE else "inline" if embeds_plotly() else "cdn"
        return {"text/plain": str(self), "text/html": self.to_html(full=False, plotlyjs=where)}

    def _repr_html_(self) -> str:
        """For front ends that show each output in a frame of its own: a complete file."""
        return self.to_html()

    def __str__(self) -> str:
        with in_language(self.lang):
            return text(self.parts)

    def __repr__(self) -> str:
        """For a plain interpreter."""
        return shown_in_interpreter(self.title)


def _check_kind(name: str, value: object, kind: Any, what: str) -> None:
    if not isinstance(value, kind):
        raise NormvizError("{name}={value} is not {what}.", name=name, value=echo(value), what=_(what))


def shown_in_interpreter(title: str) -> str:
    """What a plain interpreter, which shows no figures, says of an Output."""
    return _("{title}: a page for a notebook; to_html() gives a file, url() a link.", title=title)


def title_of(page: str, about: str = "") -> str:
    """The title of a file: what it is about, and the page."""
    return " · ".join(filter(None, [about, PAGES[page].title, "normviz"]))


def output_of_view(
    page: str, view: View, choices: Choices | None = None, parts: Iterable[Part] | None = None
) -> Output:
    """The view of a page.

    choices  what a reader of a file or of a notebook can choose
    parts    instead of those that the app shows; then there is nothing to choose
    """
    if language.get() != ENGLISH:  # the links of the file name its language
        view = replace(view, display=replace(view.display, lang=language.get()))
    of_page = PAGES[page]
    query = of_page.whole_query(view) if _has_link(view.scene) else None
    made = visible_parts(of_page.parts(view) if parts is None else parts, view.display)
    return Output(
        tuple(made),
        title_of(page, of_page.file_title(view)),
        page,
        query,
        view=view if parts is None else None,
        choices=choices,
    )


def _has_link(scene: Scene) -> bool:
    """Whether a link can express the scene: it names each axis by one letter, and a small x by its values."""
    own = scene.own
    if own is None:
        return True
    has_values = own.x is None or not scene.editable or own.numbers(MOST_EDITABLE, LARGEST_VALUE) is not None
    return has_values and with_fields(scene).problem is None


def joined_parts(output: Output, app: str | None) -> list[Part]:
    """The parts of a file and, for a projector, the address of the view in an app, if there is one."""
    if not app or output.query is None:
        return list(output.parts)
    return [*output.parts, join_part(PAGES[output.page], PAGES[output.page].view(output.query), app)]
