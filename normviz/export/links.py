"""The Output of a link of the app, of a question, and of a tour."""

from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qsl

from normviz.export.output import Choices, Output, output_of_view
from normviz.export.tour_file import stop_parts
from normviz.lessons.page import language_query
from normviz.lessons.pages import PAGES, leads_to, setting_names, view_of_link
from normviz.lessons.questions.page import find_question, list_parts, question_parts
from normviz.lessons.questions.question import prose
from normviz.lessons.tours import Tour
from normviz.parts.titles import EXPLORE, HOME, app_of_environment
from normviz.scene.view import split_link
from normviz.texts.errors import LONGEST_ECHO, NormvizError, closest, echo, listed
from normviz.texts.languages import parse_language
from normviz.texts.messages import _, in_language

LISTED = [name for name in PAGES if name != HOME]  # the front page has no view
LOCAL = ("localhost", "127.0.0.1", "::1")


def page_and_query(link: str) -> tuple[str, dict[str, str]]:
    """The page and the query of a link. Raises NormvizError if it is not a link to a page.

    >>> page_and_query("https://example.org/normviz/compare?shape=2,3")
    ('compare', {'shape': '2,3'})
    """
    address = split_link(link if isinstance(link, str) else "no/page")
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
            return questions(query.get("q", ""), present=view_of_link(PAGES[page], query).display.present)
        if page not in PAGES:
            raise NormvizError("page={page} is unknown; choose {pages}.", page=echo(page), pages=listed(LISTED))
        target, query = leads_to(page, query)
        view = view_of_link(target, query)
        if problem := target.problem(view):
            raise NormvizError(problem)
        return output_of_view(target.name, view)


def questions(key: str = "", present: bool = False) -> Output:
    """One question with its answer, such as "s0"; without a key, all of them. ``present``: for a projector."""
    if key in ("", None):
        return Output(tuple(list_parts()), _("Questions · normviz"), "questions", language_query())
    question = find_question(key)
    title, query = f"{prose(question.key).title} · normviz", {"q": question.key} | language_query()
    query |= {"present": "true"} if present else {}
    return Output(tuple(question_parts(question)), title, "questions", query)


def tour_output(tour: Tour) -> Output:
    """The tour as a file."""
    title = f"{tour.title} · normviz"
    return Output(tuple(stop_parts(tour, 1)), title, tour.stops[0].page, None, choices=Choices(tour=tour))
