"""The list of all pages, what the app, a file and a notebook show of a view of one, and the question with which a page ends."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain
from urllib.parse import parse_qsl

from normviz.figures.payload import ValuesPayload
from normviz.figures.wire import Payload
from normviz.layers.layer import Layer
from normviz.lessons.all_layers import page as all_layers
from normviz.lessons.alternatives import problem_parts
from normviz.lessons.compare import page as compare
from normviz.lessons.explore import page as explore
from normviz.lessons.gradients import page as gradients
from normviz.lessons.home.page import front_page
from normviz.lessons.models import page as models
from normviz.lessons.numerics import page as numerics
from normviz.lessons.page import MORE, InputRow, Page, plan_of
from normviz.lessons.practice import page as practice
from normviz.lessons.questions import page as questions
from normviz.lessons.questions.question import Question, answer, prose
from normviz.lessons.start import page as start
from normviz.lessons.step_by_step import page as step_by_step
from normviz.lessons.story import page as story
from normviz.lessons.story.figures import Story
from normviz.lessons.teach.page import teach_page
from normviz.lessons.tours import find_tour, stop_shown, tour_bar
from normviz.lessons.train_and_eval import page as train_and_eval
from normviz.lessons.train_and_eval.page import CAUSES, is_symptom
from normviz.parts import part
from normviz.parts.html import Body, FigureData, Term, escape
from normviz.parts.titles import HOME, LEARN, LOOK_UP, TEACH, VIEWS, asks_for_a_view
from normviz.scene.controls import SCENE_CONTROLS
from normviz.scene.scene import PATTERN_FAMILY, SCENE_SETTINGS
from normviz.scene.setting import Setting
from normviz.scene.view import DISPLAY_SETTINGS, TYPED, Names, View, link, typed_says, with_view_of_typed
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, _

# The question with which a page ends: it belongs to the view, and is answered there.


def asked_parts(page: Page, view: View) -> Iterator[part.Part]:
    """The question, and links to all questions of the page and to its lesson plan. A page without questions, which is no view of a tensor, has the last one."""
    own = questions.questions_of_page(page)
    plans = (plan_of(page.name),) if page.plan else ()
    if not own and page.name not in VIEWS:
        if plans:
            yield part.Links(plans, kind="next")
        return
    question = question_of(page, view)
    to_figure = replace(questions.link_to(question), text=_("See it in a figure"))
    asked = questions.prediction(question, (part.Text(answer(question)), part.Links((to_figure,), kind="next")))
    of_page = part.Link(_("All questions of this page"), "questions", f"{questions.OF.name}={page.name}")
    others = of_page if own else part.Link(_("All questions by topic"), "questions")
    yield part.AskedQuestion(prose(question.key).title, asked, (others, *plans))


def question_of(page: Page, view: View) -> Question:
    """The page's own choice for the view; else the question about the same families of layers, of this page, and on as many axes."""
    if (key := page.asks(view)) in questions.QUESTIONS:
        return questions.QUESTIONS[key]
    return _nearest(page.name, *_about(view))


@lru_cache(maxsize=256)
def _nearest(page: str, families: frozenset[str], axes: int) -> Question:
    def distance(question: Question) -> tuple[float, bool, bool]:
        others, other_axes = _about_question(question.key)
        return -len(families & others) / len(families | others), question.page.name != page, other_axes != axes

    return min((questions.QUESTIONS[key] for key in questions.READING_ORDER), key=distance)


@cache
def _about_question(key: str) -> tuple[frozenset[str], int]:
    question = questions.QUESTIONS[key]
    return _about(question.page.view(question.query))


def _about(view: View) -> tuple[frozenset[str], int]:
    """The families of the layers of a view, and the number of axes of x."""
    layers = map(Layer.parse, compare.layers_of(view)[0]) if "layers" in view.settings else [view.scene.layer]
    families = frozenset(one.kind.family if isinstance(one, Layer) else PATTERN_FAMILY for one in layers)
    return families, len(view.scene.shape)


_FOR_READERS = (
    start.PAGE,
    story.PAGE,
    explore.PAGE,
    compare.PAGE,
    step_by_step.PAGE,
    gradients.PAGE,
    all_layers.PAGE,
    train_and_eval.PAGE,
    numerics.PAGE,
    models.PAGE,
    questions.PAGE,
    practice.PAGE,
)
FOR_TEACHERS = teach_page(_FOR_READERS)
_PAGES = (*_FOR_READERS, FOR_TEACHERS)
GROUPS = {
    group: [page for page in _PAGES if page.group == group and page.is_listed] for group in (LEARN, LOOK_UP, TEACH)
}
PAGES = {page.name: page for page in (front_page(GROUPS), *_PAGES)}


def view_tabs(page: Page, view: View) -> str:
    """The views of one tensor as tabs that keep it; "" on a page that is none of them."""
    if page.name not in VIEWS:
        return ""
    query = escape(link(view.whole_scene_query()))
    places = {name: "aria-current=page" if name == page.name else f'href="./{name}{query}"' for name in VIEWS}
    links = "".join(
        f'<a {place} data-page="{name}" data-query="{query}">{escape(PAGES[name].title)}</a>'
        for name, place in places.items()
    )
    return f'<nav class="nv-views" aria-label="{escape(_("Views of this tensor"))}">{links}</nav>'


# The names of all pages: what a link may say.


def settings_of_pages() -> list[Setting]:
    """The settings of each page, in the order of the pages."""
    return [setting for page in PAGES.values() for setting in page.settings]


def setting_names() -> list[str]:
    """The names of the settings that a link of any page may have."""
    settings = chain(SCENE_SETTINGS.values(), settings_of_pages(), DISPLAY_SETTINGS)
    return list(dict.fromkeys(setting.name for setting in settings))


def controls() -> dict[str, str]:
    """The labels of the controls that can be hidden, by name."""
    return {
        **{control.hidden_by: control.label for control in SCENE_CONTROLS},
        MORE: N_("More, with all its controls"),
        "reset": N_("Back to the start"),
        "set": N_("Ready-made sets"),
        **{setting.hidden_by: setting.label for setting in settings_of_pages() if setting.label},
        "questions": N_("Links to questions"),
        "exercises": N_("Choose exercises"),
    }


def names_of_links() -> Names:
    """The names of all settings and controls."""
    return Names(setting_names(), controls())


def view_of_link(page: Page, query: Mapping[str, str] | str) -> View:
    """The view that a reader's link asks for: that of ``page.view``, with a message about a name that only other pages have, or none."""
    given = dict(parse_qsl(query)) if isinstance(query, str) else query
    view = page.view(given, names_of_links())
    return view if view.problem else replace(view, problem=_of_another_page(page, given))


def _of_another_page(page: Page, given: Mapping[str, str]) -> str | None:
    """The message about the first setting that only other pages have, unless it has its default there."""
    for name, text in given.items():
        if name not in SCENE_SETTINGS and not page.setting(name):
            defaults = [one.format(one.default) for one in settings_of_pages() if one.name == name]
            if defaults and text not in defaults:
                return of_other_pages(page, name, echo(text))
    return None


def of_other_pages(page: Page, name: str, value: object) -> str:
    """The message about a setting that this page does not have."""
    others = [one.name for one in PAGES.values() if one.setting(name)]
    said = {"name": name, "value": value, "page": page.name, "pages": listed(others, "and")}
    return _("{name}={value} has no effect on {page}; it belongs to {pages}.", **said)


@dataclass(frozen=True)
class PageView:
    """A view of a page, ready to be drawn.

    rows      of its controls
    parts     that are visible, in order
    hideable  the names that ``hide=`` accepts: of its controls and parts
    """

    page: Page
    view: View
    rows: Sequence[InputRow]
    parts: Sequence[part.Part]
    hideable: frozenset[str]

    @property
    def has_figure(self) -> bool:
        """Whether there is something to show on a projector: a figure or a question, and not a list or an article."""
        return self.page is not FOR_TEACHERS and not any(
            isinstance(one, part.QuestionList | Story) for one in self.parts
        )

    @property
    def query(self) -> dict[str, str]:
        """The query that reads back as this view."""
        return self.page.query(self.view)

    @property
    def whole_query(self) -> dict[str, str]:
        """The query that reads back as this view also after the app's defaults have changed."""
        return self.page.whole_query(self.view, self.hideable)


def page_view(page: Page, view: View, rows: Sequence[InputRow] | None = None) -> PageView:
    """The view of a page; ``rows`` are its rows of inputs, if they have been computed."""
    parts = list(_parts(page, view))
    own_rows = page.input_rows(view) if rows is None else rows
    names = part.hideable_names(parts).union(*(row.names for row in own_rows))
    return PageView(page, view, own_rows, part.visible_parts(parts, view.display), frozenset(names))


def parts_up_to_the_figure(page: Page, view: View) -> list[part.Part]:
    """The first visible parts of a page, as ``up_to_the_figure`` gives them. The others are not computed."""
    return part.visible_parts(up_to_the_figure(_parts(page, view)), view.display)


def up_to_the_figure(parts: Iterable[part.Part]) -> list[part.Part]:
    """The parts up to the first linked figure, and the paragraphs below it if it is about the selected element; all if there is none."""
    found: list[part.Part] = []
    is_about_element = False
    for one in parts:
        if is_about_element and not (isinstance(one, part.Text) and one.hidden_by == part.Text.name):
            break
        found.append(one)
        if isinstance(one, part.Panels):
            is_about_element = isinstance(one.data, ValuesPayload) and one.data.of_element
            if not is_about_element:  # the next part is not even computed
                break
    return found


@dataclass(frozen=True)
class DrawnPage(Payload):
    """What the browser draws of a page.

    page     the page's name in the app
    parts    the key and the HTML of each part
    figures  in the order of their places in the HTML
    terms    the words of the glossary that may occur on the page
    """

    page: str
    parts: list[tuple[str, str]]
    figures: list[FigureData]
    terms: list[Term]


def page_data(page: Page, body: Body, parts: Iterable[part.Part]) -> DrawnPage:
    return DrawnPage(page.name, body.keyed(parts), body.figures, body.terms())


def _parts(page: Page, view: View) -> Iterator[part.Part]:
    """The tour, the error in the link, the parts of the view, and the question with which it ends."""
    if view.display.tour:
        yield _tour(page, view)
    yield from problem_parts(page, view)
    others = iter(page.other_views(page, view))
    for one in page.parts(view):
        if isinstance(one, part.Panels | part.Note):  # the links come before the first figure, or the note in its place
            yield from others
        yield one
    yield from asked_parts(page, view)


def page_of(name: str, query: Mapping[str, str]) -> Page:
    """The page that a link opens: the page that it names, or that of a tour's stop if it asks for no view of its own.

    The address of the app with a view is an address of Explore.
    """
    page, stop = PAGES[explore.PAGE.name if name == HOME and asks_for_a_view(query) else name], stop_shown(query)
    return PAGES[stop.page] if stop and not page.names_something(query) else page


CALL = re.compile(r"\w\([^)]|^[\w.]+\(\)$")


def leads_to(name: str, query: Mapping[str, str]) -> tuple[Page, dict[str, str]]:
    """The page that a link opens, and its query there: in place of what is typed on the front page, the view that it asks for.

    >>> leads_to("home", {"shape": "2,3"}), leads_to("explore", {"typed": "GroupNorm(2, 4)"})
    ((<page explore>, {'shape': '2,3'}), (<page explore>, {'layer': 'GroupNorm(2,4)'}))

    Words, without a call, go to the search of the questions; that eval mode gives other results, to its causes.
    """
    page = page_of(name, query)
    typed = query.get(TYPED, "").strip()
    if page is explore.PAGE and typed and is_symptom(typed):
        others = {setting: text for setting, text in query.items() if setting != TYPED}
        return PAGES[train_and_eval.PAGE.name], others | {train_and_eval.SHOW.name: CAUSES.name}
    if page is explore.PAGE and typed and not CALL.search(typed) and typed_says(query)[0]:
        others = {setting: text for setting, text in query.items() if setting != TYPED}
        searched = " ".join(typed.split())[-questions.LONGEST_SEARCH :]
        return PAGES[questions.PAGE.name], others | {questions.SEARCH.name: searched}
    return page, with_view_of_typed(query) if page is explore.PAGE else dict(query)


def join_part(page: Page, view: View, app: str = "") -> part.Join:
    """The address of a projected view for students: without the projector, the tour and an answer. ``app``: as in ``Join``."""
    shown = replace(view, display=replace(view.display, present=False, tour="", stop=0))
    query = {name: text for name, text in page.query(shown).items() if name != "guess"}
    for name in ("", *query):  # first without any setting
        shorter = {other: text for other, text in query.items() if name and other != name}
        if page.view(shorter) == page.view(query):
            query = shorter
    return part.Join(part.Link("", page.name, link(query).removeprefix("?")), app)


def _tour(page: Page, view: View) -> part.Part:
    """The bar of the tour that the view belongs to, or why there is none."""
    try:
        tour = find_tour(view.display.tour)
    except NormvizError as error:
        return part.Problem(str(error))
    query = {key: text for key, text in view.query(page.settings).items() if key not in ("tour", "stop", "present")}
    leave = part.Link(_("Leave the tour"), page.name, link(query).removeprefix("?"))
    return tour_bar(tour, view.display.stop, leave, _is_at_its_stop(page, view))


def _is_at_its_stop(page: Page, view: View) -> bool:
    """Whether the view is that of its stop; another element may be selected."""
    stop = stop_shown(view.display.query())
    if stop is None or stop.page != page.name:
        return False
    now, own = ((replace(one.scene, at=None), one.settings) for one in (view, page.view(stop.query)))
    return now == own
