"""A view of a page as one value: for a notebook, a file or a link."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack
from urllib.parse import SplitResult, parse_qsl

from normviz.analysis.checks import LARGEST_VALUE
from normviz.analysis.description import Description
from normviz.export.app import app_of_environment
from normviz.export.arguments import FigureTheme, Plotlyjs, Theme
from normviz.export.document import check_text, check_theme, document, fragment, plotlyjs
from normviz.export.files import short_path
from normviz.export.playable import VERSION, Pool, Search, search, views_data
from normviz.figures.plotly_figure import panels_figure
from normviz.layers.sharing import check_index
from normviz.lessons.page import language_query
from normviz.lessons.pages import PAGES, leads_to, page_view, setting_names, view_of_link
from normviz.lessons.questions.page import list_parts, question_parts
from normviz.lessons.questions.question import prose
from normviz.lessons.questions.registry import find_question
from normviz.lessons.tours import Tour, find_tour, read_tour, stop_link, tour_bar, tours
from normviz.parts.containers import Table, visible_parts
from normviz.parts.html import Body, text
from normviz.parts.links import page_path
from normviz.parts.part import Chart, Panels, Part, flat
from normviz.parts.titles import EXPLORE, HOME
from normviz.scene.edits import with_fields
from normviz.scene.grid import start_with
from normviz.scene.scene import DATA_SETTING, MOST_EDITABLE, OWN, PARAMS, Own, Scene, default_at
from normviz.scene.view import View, link, split_link
from normviz.texts.calls import checked_call
from normviz.texts.errors import LONGEST_ECHO, NormvizError, closest, echo, listed
from normviz.texts.languages import parse_language
from normviz.texts.messages import ENGLISH, N_, _, in_language, language, ngettext

if TYPE_CHECKING:
    import plotly.graph_objects as go

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

    def figure(self, theme: FigureTheme = "light") -> go.Figure:
        """The main figure as a plain Plotly figure.

        theme  "light" or "dark"

        Raises NormvizError if the page has only text and tables, and for another theme.

        >>> import normviz as nv
        >>> len(nv.open("/?shape=2,3&layer=LayerNorm(3)").figure("dark").data) > 0
        True
        """
        shown = next((part for part in flat(self.parts) if isinstance(part, Panels | Chart)), None)
        if shown is None:
            raise NormvizError("{title} has no figure, only text and tables; use to_html().", title=self.title)
        return shown.lines.figure(theme) if isinstance(shown, Chart) else panels_figure(shown.data, theme)

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
            if full:
                return document(self.parts, title=self.title, **shared)
            return fragment(self.parts, widget=self.widget, **shared)

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
        return ((self.choices and self.choices.app) or app_of_environment()).rstrip("/")

    def _address(self) -> str:
        base = self._app()
        return self.url(base) if base and self.query is not None else ""

    def answers(self) -> dict[str, Any] | None:
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
                return tour_data(self.choices.tour, self._app())
            if self._search is None or len(self._search.views) < 2:
                return None
            return views_data(PAGES[self.page], self._search.playable_views(), self._app(), self.choices.pages)

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


def tour_output(tour: Tour) -> Output:
    """The tour as a file."""
    title = f"{tour.title} · normviz"
    return Output(tuple(stop_parts(tour, 1)), title, tour.stops[0].page, None, choices=Choices(tour=tour))


def title_of(page: str, about: str = "") -> str:
    """The title of a file: what it is about, and the page."""
    return " · ".join(filter(None, [about, PAGES[page].title, "normviz"]))


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


# The Output of a link of the app, of a page and its query, or of a reader's own layer and x.

LONGEST_LINK = 4000
LISTED = [name for name in PAGES if name != HOME]  # the front page has no view
LOCAL = ("localhost", "127.0.0.1", "::1")


def page_and_query(link: str) -> tuple[str, dict[str, str]]:
    """The page and the query of a link. Raises NormvizError if it is not a link to a page.

    >>> page_and_query("https://example.org/normviz/compare?shape=2,3")
    ('compare', {'shape': '2,3'})
    """
    address = split_link(link if isinstance(link, str) and len(link) <= LONGEST_LINK else "no/page")
    page, query = address.path.rstrip("/").rpartition("/")[2], dict(parse_qsl(address.query))
    if page in PAGES:
        return page, query
    is_root = not address.path or (address.path.endswith("/") and (address.scheme or address.path.startswith("/")))
    if is_root and not _is_foreign(address, query):  # the app itself, with any base path
        return EXPLORE, query
    meant = closest(page, PAGES)
    if meant:
        raise NormvizError("link={link} does not name a page. Did you mean {page}?", link=echo(link), page=meant)
    if is_root:
        raise NormvizError(
            "link={link} names neither a page nor a setting, so it may be a link to another site; add the page, as in {link_with_page}.",
            link=echo(link),
            link_with_page=f"{address.scheme or 'https'}://{address.netloc}{address.path.rstrip('/')}/explore"[
                :LONGEST_ECHO
            ],
        )
    raise NormvizError("link={link} does not name a page; choose {pages}.", link=echo(link), pages=listed(LISTED))


def _is_foreign(address: SplitResult, query: Mapping[str, str]) -> bool:
    """Whether nothing says that this is an address of the app: no setting in its query, and another host than NORMVIZ_URL."""
    own = split_link(app_of_environment()).netloc
    is_own = address.netloc in ("", own) or address.hostname in LOCAL
    return not is_own and set(setting_names()).isdisjoint(query)


def output_of_query(page: str, query: Mapping[str, str]) -> Output:
    """The view of a page and a query. Raises NormvizError for an unknown page, and if the app would show an error."""
    with in_language(parse_language(query["lang"]) if query.get("lang") else ""):
        if page == "questions" and (query.get("q") or not {"of", "search", "guess"} & {*query}):
            if problem := PAGES[page].problem(view_of_link(PAGES[page], query)):
                raise NormvizError(problem)
            return questions(query.get("q", ""))
        if page not in PAGES:
            raise NormvizError("page={page} is unknown; choose {pages}.", page=echo(page), pages=listed(LISTED))
        shown, query = leads_to(page, query)
        view = view_of_link(shown, query)
        if problem := shown.problem(view):
            raise NormvizError(problem)
        return output_of_view(shown.name, view)


def output_of_view(
    page: str, view: View, choices: Choices | None = None, parts: Iterable[Part] | None = None
) -> Output:
    """The view of a page.

    choices  what a reader of a file or of a notebook can choose
    parts    instead of those that the app shows; then there is nothing to choose
    """
    if language.get() != ENGLISH:  # the links of the file name its language
        view = replace(view, display=replace(view.display, lang=language.get()))
    shown = PAGES[page]
    query = shown.whole_query(view) if _has_link(view.scene) else None
    made = visible_parts(shown.parts(view) if parts is None else parts, view.display)
    return Output(
        tuple(made),
        title_of(page, shown.file_title_of(view)),
        page,
        query,
        view=view if parts is None else None,
        choices=choices,
    )


def view_of(
    e: Description,
    at: Sequence[int] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    module: str = "",
) -> View:
    """The view of a reader's own layer and x; for a shape, on the app's example. Raises NormvizError if ``at`` is no element.

    settings  of the page
    seed      of the example and of other random numbers
    module    the name of a module's class, if it has a forward of its own
    """
    layer = e.layer or e.norm
    selected = default_at(e.shape, e.axes) if at is None else check_index(at, e.shape)
    scene = Scene(
        e.shape,
        e.layout,
        layer,
        data=DATA_SETTING.default if e.x is None else OWN,
        seed=seed,
        params=PARAMS.default if e.values is None else OWN,
        at=selected,
        start=start_with(selected, e.shape, e.axes),
        own=Own(e.x, layer, e.values, module),
    )
    return View(scene, settings or {})


def _has_link(scene: Scene) -> bool:
    """Whether a link can express the scene: it names each axis by one letter, and a small x by its values."""
    own = scene.own
    if own is None:
        return True
    has_values = own.x is None or not scene.editable or own.numbers(MOST_EDITABLE, LARGEST_VALUE) is not None
    return has_values and with_fields(scene).problem is None


def questions(key: str = "") -> Output:
    """One question with its answer, such as "s0"; without a key, all of them."""
    if key in ("", None):
        return Output(tuple(list_parts()), _("Questions · normviz"), "questions", language_query())
    question = find_question(key)
    title, query = f"{prose(question.key).title} · normviz", {"q": question.key} | language_query()
    return Output(tuple(question_parts(question)), title, "questions", query)


# A tour as one file: its views in order, for a projector.

LARGEST = 100_000  # bytes of a tour's file


def tour_of(name: str) -> Tour:
    """The tour of this name, or of a YAML file. Raises NormvizError if it is neither, or not a tour."""
    if name in tours() or not name.lower().endswith((".yaml", ".yml")):
        return find_tour(name)
    try:
        content = Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise NormvizError(
            "the tour {file} cannot be read ({why}); name another file.", file=short_path(name), why=error
        ) from None
    if len(content) > LARGEST:
        raise NormvizError(
            ngettext(
                "{file} has {n:,} byte; a tour has at most {most:,}.",
                "{file} has {n:,} bytes; a tour has at most {most:,}.",
                len(content),
                file=name,
                most=LARGEST,
            )
        )
    return read_tour(content.decode("utf-8", "replace"), Path(name).stem, PAGES)


def stop_parts(tour: Tour, number: int) -> list[Part]:
    """The parts of a stop, from 1. Raises NormvizError if the app would show an error."""
    stop = tour.stops[number - 1]
    page = PAGES[stop.page]
    view = view_of_link(page, f"{stop.query}&present=true")
    if problem := page.problem(view):
        raise NormvizError("stop {number}: {problem}", number=number, problem=problem)
    parts = page_view(page, view).parts
    if not any(isinstance(part, Panels | Chart | Table) for part in flat(parts)):
        raise NormvizError(
            "stop {number}: {page} shows no figure; link to another page.", number=number, page=stop.page
        )
    return [tour_bar(tour, number), *parts]


def tour_data(tour: Tour, app: str = "") -> dict[str, Any]:
    """The views of a tour as JSON for the browser, like ``views_data``. ``app``: the address of the app, for links to other views, or ""."""
    pool, views = Pool(), []
    numbers = range(1, len(tour.stops) + 1)
    stops = {stop_link(tour, number, "").address: f"#stop={number}" for number in numbers}
    for number in numbers:
        body = Body(app=app or None, pages=stops)
        parts = body.keyed(stop_parts(tour, number))
        view = {"query": {"stop": str(number)}, "state": {"stop": str(number)}, "rows": []}
        views.append(view | {"parts": pool.pack(parts), "figures": pool.pack(body.figures)})
    shared = {"version": VERSION, "page": tour.stops[0].page, "app": "", "common": {}, "present": True}
    return shared | {"views": views, "pool": pool.values}
