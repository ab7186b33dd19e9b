"""Every page: the navigation around it, its heading and its controls as Streamlit widgets, and everything below them as one component.

The component is mounted twice: a click on an element changes only what is above the second one. A change of a control runs both, and the
controls only if they change too (``redraw``).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from typing import Any, Literal, ParamSpec
from urllib.parse import urlsplit

import streamlit as st

from normviz.figures.palette import FAVICON, wordmark
from normviz.figures.wire import Json, Payload, sent
from normviz.lessons import events, pages
from normviz.lessons.page import Page
from normviz.lessons.share.panel import SharePayload, app_link, report_address, share_data
from normviz.parts import html, part, titles
from normviz.scene.scene import Scene
from normviz.scene.view import Display, View
from normviz.scene.view import link as query_text
from normviz.texts.languages import find_language, languages
from normviz.texts.messages import _, cache_by_language, language
from normviz.ui import PAGE_SCRIPTS, assets, controls, load
from normviz.ui.session import Session, at_link, in_session, session
from normviz.ui.state import CONTROL, FIGURE, change, current, current_view, enter, latest, note_message

# A page as a Streamlit component. Clicks and edits in its figures change the view on the server.


@dataclass(frozen=True)
class OnScreen(Payload):
    """How the app shows a page.

    present    for a projector: the figure fills the screen
    group      the title of the page's group in the header, or ""
    projector  the reader can change ``present``
    """

    present: bool
    group: str
    projector: bool


@dataclass(frozen=True)
class Frame(Payload):
    """What is around a page.

    languages  the name of each in a link, its name in the language itself, and its tag
    report     where reports of errors go, or ""
    """

    share: SharePayload | None
    languages: list[tuple[str, str, str]]
    report: str


@dataclass(frozen=True)
class Header(Payload):
    """What the controls have chosen, and the query of the scene for the tabs."""

    summary: str | None
    scene: str


@dataclass(frozen=True)
class ReaderLanguage(Payload):
    """Its name in a link, and its attributes in HTML."""

    name: str
    tag: str
    direction: str


@dataclass(frozen=True)
class Scripts(Payload):
    """Where the scripts are, and the message if they do not load."""

    script: str
    failed: str
    plotly: str
    language: ReaderLanguage


KEY = "page"
REPORT_TO = report_address()  # raises an error if the setting is invalid, so that the app does not start
# Streamlit's own styles reach a component only outside a shadow root, and so does plotly.js.
_mount = st.components.v2.component(
    "normviz_page", html='<div class="nv-doc nv-app"></div>', js=assets.LOADER, isolate_styles=False
)


def show_page(known: Session, drawn_view: pages.PageView) -> None:
    """The parts of the page, Share, and the summary of the controls; in an embedded view, or one with hidden parts, a link to the full app.

    The figures return the number of the last event that the server received (``turn``), so that they can ignore a response to an older one.
    """
    page, view = drawn_view.page, drawn_view.view
    body, parts = html.Body(app="", turn=known.turn), drawn_view.parts
    if view.display.present:
        parts = [*parts, pages.join_part(page, view, _app_address())]
    data = data_of(drawn_view, pages.page_data(page, body, parts), bool(st.context.is_embedded))
    if st.context.is_embedded or view.display.hide:
        data["open"] = sent(app_link(drawn_view))
    if has_frame(view):
        share = share_data(drawn_view) if page.group else None  # the address of the front page has no view
        named = [(name, one.name, one.tag) for name, one in languages().items()]
        data |= sent(Frame(share, named, REPORT_TO))
    if not st.context.is_embedded:
        summary = None if view.display.hide else page.summary(view)
        data |= sent(Header(summary, query_text(view.whole_scene_query())))
    _show(data, KEY, **CALLBACKS)


def _app_address() -> str:
    """The address of the app as the reader's browser has it, unless it is configured; "" if there is none."""
    url = urlsplit(st.context.url or "")
    opened = f"{url.scheme}://{url.netloc}{url.path.rpartition('/')[0]}" if url.netloc else ""
    return titles.app_of_environment() or opened


def data_of(drawn_view: pages.PageView, drawn: pages.DrawnPage, embedded: bool) -> dict[str, Json]:
    """What the browser draws of a page. A reader can switch the view for a projector on and off, except in an embedded view."""
    page, view = drawn_view.page, drawn_view.view
    group, projector = _(page.group) if page.group else "", drawn_view.has_figure and not embedded
    return sent(drawn) | sent(OnScreen(view.display.present, group, projector)) | page.data(view)


def has_frame(view: View) -> bool:
    """Whether Share, the languages and the report of an error are around the page."""
    return not st.context.is_embedded and not view.display.present


def show_more(drawn_view: pages.PageView, parts: Sequence[part.Part]) -> None:
    """Parts of the page that do not depend on the selected element."""
    _show(sent(pages.page_data(drawn_view.page, html.Body(prefix="more-", app=""), parts)), "more_parts")


def _show(data: dict[str, Json], key: str, **callbacks: Any) -> None:
    """In a list: Streamlit would search a dict for DataFrames, and import pandas for that."""
    name, reader = language.get(), find_language(language.get())
    failed = _("This did not load. Reload the page to try again.")
    scripts = Scripts(
        assets.component(name).path, failed, assets.PLOTLY.path, ReaderLanguage(name, reader.tag, reader.direction)
    )
    _mount(key=key, data=[data | sent(scripts)], **callbacks)


def _change(name: str, known: Session) -> None:
    """What a reader did on a figure changes the view."""
    event = (st.session_state.get(KEY) or {}).get(name)  # no state if the view was removed before its event arrived
    if not isinstance(event, Mapping):
        return
    if type(event.get("turn")) is int:
        known.turn = max(event["turn"], known.turn)  # several may arrive at once
    note_message(known)
    changes_controls = name in ("edit", "scale", "toggle")  # of x, of gamma and beta, of the layer
    change(known, {**event, "name": name}, by=CONTROL if changes_controls or name == "present" else FIGURE)
    if changes_controls:
        controls.redraw(known)
    if name == "present":  # the controls and the heading go, or come back
        st.rerun()


# Controls send the other events. All sessions share the callbacks.
CALLBACKS = {
    f"on_{name}_change": at_link(partial(_change, name)) for name in events.EVENTS if name not in ("input", "reset")
}


@at_link
def navigate(known: Session) -> None:
    """Run the page of the address."""
    st.set_page_config(
        page_icon=FAVICON,
        layout="wide",
        menu_items={
            "About": _("**normviz** shows which elements of a tensor share a mean, a variance, a gamma and a beta.")
        },
    )
    embedded = st.context.is_embedded  # the app is in a slide or in a course page
    if not embedded:
        st.logo(wordmark(), size="medium")
    scripts = {name: copy(script) for name, script in _scripts().items()}  # Streamlit changes those of a run
    groups: dict[str, list[st.Page]] = {}
    for name, script in scripts.items():
        group = pages.PAGES[name].group
        groups.setdefault(_(group) if group else "", []).append(script)
    page = st.navigation(groups, position="hidden" if embedded else "top")
    name, query = page.url_path or titles.HOME, st.query_params.to_dict()
    asked, wanted = pages.leads_to(name, query | ({"embed": "true"} if embedded else {}))
    wanted.pop("embed", None)  # Streamlit keeps it
    if (asked.name, wanted) != (name, query):
        st.switch_page(scripts[asked.name], query_params=wanted)
    st.set_page_config(page_title=titles.full_title(name))
    known.drawn = None  # until the page is drawn, the browser may show the controls of another view or page
    enter(known, page.url_path, _opening_scenes())
    page.run()
    _keep_alive()


@cache_by_language()
def _scripts() -> dict[str, st.Page]:
    """The pages of Streamlit, by name."""
    return {name: _script(page) for name, page in pages.PAGES.items()}


def _script(page: Page) -> st.Page:
    """A page of Streamlit."""
    visibility: Literal["visible", "hidden"] = "visible" if page.is_listed else "hidden"
    return st.Page(
        PAGE_SCRIPTS / f"{page.name}.py", title=page.title, default=page.name == titles.HOME, visibility=visibility
    )


@cache
def _opening_scenes() -> list[Scene]:
    """The scenes with which the pages open."""
    return [page.view({}).scene for page in pages.PAGES.values()]


@st.fragment(run_every=86_400)
def _keep_alive() -> None:
    """Keep-alive: Streamlit runs the script again on another server after a failover only if a ``run_every`` fragment exists.

    Otherwise the first message to the new server would be the reader's next click, on a page that this server has never run.
    """


# A page

P = ParamSpec("P")


@dataclass
class Drawing:
    """What the two fragments of a page share.

    hideable  the names that ``hide=`` accepts
    page_view the view of this run until both fragments have drawn it; then None, to save memory
    """

    page: Page
    hideable: frozenset[str] = frozenset()
    page_view: pages.PageView | None = None

    def make(self, known: Session, view: View) -> pages.PageView:
        """This view of the page."""
        self.page_view = pages.page_view(self.page, view, controls.rows_of(known, self.page, view))
        self.hideable = self.page_view.hideable
        return self.page_view


def _or_busy(draw: Callable[P, None]) -> Callable[P, None]:
    """Draw, or a message if other visitors' large tensors take too long."""

    @wraps(draw)
    def draw_or_busy(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            draw(*args, **kwargs)
        except load.Busy:
            st.warning(
                _("The server is computing other large tensors. Reload the page in a minute, or use a smaller x.")
            )

    return draw_or_busy


@in_session
@_or_busy
def show(known: Session, name: str) -> None:
    """The page of the address."""
    drawing = Drawing(pages.PAGES[name])
    view = current(known, drawing.page)
    with _turn(view):
        made = drawing.make(known, view)
        draw_heading(drawing.page, made.view)
        controls.draw_controls(drawing.page, made.rows)
        _first(drawing)
        _rest(drawing)
        controls.remember_page(known, drawing.page, made.rows)


@contextmanager
def _turn(view: View) -> Iterator[None]:
    """Wait until no other visitor's large tensor is being computed. Raises Busy after a long time.

    The run ends meanwhile if the visitor has left, or has asked for another view.
    """
    with load.turn(view.scene.shape, look=session):
        session()  # ends the run here if the visitor has left meanwhile
        yield


HEADING, HIDDEN_HEADING = "heading", "hidden_heading"  # keys in the page's styles


def draw_heading(page: Page, view: View) -> None:
    """The title, in one line what the page shows, and the tabs of its tensor; only screen readers find it in an embedded view or one with hidden parts."""
    is_shown = view.display == Display() and not st.context.is_embedded
    with st.container(key=HEADING if is_shown else HIDDEN_HEADING):
        title, small = page.heading
        st.title(f"{title} :small[{small}]" if small else title, anchor=False)
        if is_shown and (tabs := pages.view_tabs(page, view)):
            st.html(tabs)


@st.fragment(key=controls.PARTS)
@in_session
@_or_busy
def _first(known: Session, drawing: Drawing) -> None:
    """The page up to the figure, and Share. When an element is selected, only this runs."""
    only_this = known.changed not in (None, CONTROL)
    if known.changed:
        drawing.page_view = None  # the view before
    view = latest(known, drawing.page)
    with _turn(view):
        if only_this and _is_complete(view):
            parts = pages.parts_up_to_the_figure(drawing.page, view)
            show_page(known, pages.PageView(drawing.page, view, (), parts, drawing.hideable))
            return
        made = drawing.page_view or drawing.make(known, view)
        show_page(known, replace(made, parts=_first_parts(made)))


@st.fragment(key=controls.MORE_PARTS)
@in_session
@_or_busy
def _rest(known: Session, drawing: Drawing) -> None:
    """The parts below the figure, and the end of the page."""
    view = drawing.page_view.view if drawing.page_view else current_view(known, drawing.page)
    with _turn(view):
        made = drawing.page_view or drawing.make(known, view)
        drawing.page_view = known.rows = None  # to save memory
        parts = made.parts[len(_first_parts(made)) :]
        if parts:
            show_more(made, parts)


def _first_parts(made: pages.PageView) -> Sequence[part.Part]:
    return pages.up_to_the_figure(made.parts) if _is_complete(made.view) else made.parts


def _is_complete(view: View) -> bool:
    """Whether nothing is hidden and the page is not embedded. Then the parts below the figure do not depend on the selected element."""
    return not st.context.is_embedded and view.display == Display()
