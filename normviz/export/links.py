"""The Output of a link of the app, of a page and its query, or of a reader's own layer and x."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import environ
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

from normviz.analysis.checks import LARGEST_VALUE
from normviz.analysis.description import Description
from normviz.export.output import APP, Choices, Output, title_of
from normviz.layers.sharing import check_index
from normviz.lessons.page import language_query
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.part import Part
from normviz.lessons.questions.question import prose
from normviz.lessons.questions.registry import find_question
from normviz.lessons.questions_page import list_parts, question_parts
from normviz.scene.edits import with_fields
from normviz.scene.grid import start_with
from normviz.scene.scene import OWN, Own, Scene, default_at
from normviz.scene.scene_settings import DATA_SETTING, MOST_EDITABLE, PARAMS
from normviz.scene.view import Display, View, setting_names
from normviz.texts.errors import LONGEST_ECHO, NormvizError, closest, echo, listed
from normviz.texts.languages import parse_language
from normviz.texts.messages import ENGLISH, _, in_language, language

LONGEST_LINK = 4000
LOCAL = ("localhost", "127.0.0.1", "::1")


def page_and_query(link: str) -> tuple[str, dict[str, str]]:
    """The page and the query of a link. Raises NormvizError if it is not a link to a page.

    >>> page_and_query("https://example.org/normviz/compare?shape=2,3")
    ('compare', {'shape': '2,3'})
    """
    address = urlsplit(link if isinstance(link, str) and len(link) <= LONGEST_LINK else "no/page")
    page, query = address.path.rstrip("/").rpartition("/")[2], dict(parse_qsl(address.query))
    if page in PAGES:
        return page, query
    is_root = not address.path or (address.path.endswith("/") and (address.scheme or address.path.startswith("/")))
    if is_root and not _is_foreign(address, query):  # the app itself, with any base path
        return "explore", query
    meant = closest(page, PAGES)
    if meant:
        raise NormvizError(_("link={link} does not name a page. Did you mean {page}?", link=echo(link), page=meant))
    if is_root:
        raise NormvizError(
            _(
                "link={link} names neither a page nor a setting, so it may be a link to another site; add the page, as in {link_with_page}.",
                link=echo(link),
                link_with_page=f"{address.scheme or 'https'}://{address.netloc}{address.path.rstrip('/')}/explore"[
                    :LONGEST_ECHO
                ],
            )
        )
    raise NormvizError(_("link={link} does not name a page; choose {pages}.", link=echo(link), pages=listed(PAGES)))


def _is_foreign(address: SplitResult, query: Mapping[str, str]) -> bool:
    """Whether nothing says that this is an address of the app: no setting in its query, and another host than NORMVIZ_URL."""
    own = urlsplit(environ.get(APP, "")).netloc
    is_own = address.netloc in ("", own) or address.hostname in LOCAL
    return not is_own and set(setting_names()).isdisjoint(query)


def output_of_query(page: str, query: Mapping[str, str]) -> Output:
    """The view of a page and a query. Raises NormvizError for an unknown page, and if the app would show an error."""
    with in_language(parse_language(query["lang"]) if query.get("lang") else ""):
        return _output_of_query(page, query)


def _output_of_query(page: str, query: Mapping[str, str]) -> Output:
    if page == "questions":
        return questions(query.get("q", ""))
    if page not in PAGES:
        raise NormvizError(_("page={page} is unknown; choose {pages}.", page=echo(page), pages=listed(PAGES)))
    view = PAGES[page].view(query)
    if problem := PAGES[page].problem(view):
        raise NormvizError(problem)
    return output_of_view(page, view)


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
    title = title_of(page, shown.file_title_of(view))
    if parts is not None:
        return Output(tuple(parts), title, page, query, choices=choices)
    return Output(tuple(shown.visible(view)), title, page, query, view=view, choices=choices)


def view_of(
    e: Description,
    at: Sequence[int] | None = None,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    lang: str = "",
    module: str = "",
) -> View:
    """The view of a reader's own layer and x; for a shape, on the app's example. Raises NormvizError if ``at`` is no element.

    settings  of the page
    seed      of the example and of other random numbers
    lang      the language
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
    return View(scene, settings or {}, display=Display(lang=lang))


def _has_link(scene: Scene) -> bool:
    """Whether a link can express the scene: it names each axis by one letter, and a small x by its values."""
    own = scene.own
    if own is None:
        return True
    is_small = own.x is not None and scene.editable
    has_values = not is_small or own.numbers(MOST_EDITABLE, LARGEST_VALUE) is not None
    return has_values and with_fields(scene).problem is None


def questions(key: str = "") -> Output:
    """One question with its answer, such as "s0"; without a key, all of them."""
    if not key:
        return Output(tuple(list_parts()), _("Questions · normviz"), "questions", language_query())
    question = find_question(key)
    title, query = f"{prose(question.key).title} · normviz", {"q": question.key} | language_query()
    return Output(tuple(question_parts(question)), title, "questions", query)
