"""Files that all pages of a site share: plotly.js, one script and one style sheet. Their names contain a hash of the content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from os import environ
from pathlib import Path
from typing import Any

from normviz.export.document import css, no_script, settings
from normviz.export.links import output_of_query
from normviz.export.output import APP, Choices
from normviz.export.plotlyjs import hashed_name, plotlyjs
from normviz.figures.brand import FAVICON, wordmark
from normviz.figures.bundle import bundle, classic, plotly_js, read_css
from normviz.lessons.compare import READY_SETS, ReadySet
from normviz.lessons.pages import PAGES
from normviz.lessons.parts.html import Body, escape, line
from normviz.lessons.parts.links import page_path
from normviz.lessons.parts.questions import search_field
from normviz.lessons.questions.question import Question, prose
from normviz.lessons.questions.registry import QUESTIONS, READING_ORDER, current_key
from normviz.lessons.questions_page import LONGEST_SEARCH, question_list, question_parts
from normviz.lessons.share import report_address
from normviz.lessons.start import START_STEPS
from normviz.lessons.style import controls_style, exercises_style, share_style
from normviz.scene.view import link
from normviz.texts.errors import NormvizError, listed
from normviz.texts.languages import find_language, html_attributes, with_language
from normviz.texts.messages import N_, _, language

FOLDER = "lib"
SITE = Path(__file__).with_name("site.js")


def site_script() -> str:
    """The script of exported pages and the search, as a classic script."""
    return classic(bundle(SITE, language.get()))


@cache
def site_style() -> str:
    """The style of exported pages, and above it the site's own."""
    return f"{css()}{controls_style()}{share_style()}{exercises_style()}\n:is(.ns-html, #ns-html){{{read_css(SITE.with_suffix('.css'))}}}\n"


def shared_files() -> dict[str, bytes]:
    """The path of each, as the pages see it, and its content."""
    texts = {"js": site_script().encode(), "css": site_style().encode()}
    named = {f"{FOLDER}/normviz-{sha256(text).hexdigest()[:12]}.{kind}": text for kind, text in texts.items()}
    return {plotly_path(): plotly_js()} | named


def plotly_path() -> str:
    return f"{FOLDER}/{hashed_name()}"


def path_of(kind: str) -> str:
    """The path of the shared "js" or "css"."""
    return next(path for path in shared_files() if path.endswith(f".{kind}") and path != plotly_path())


# The pages of the site as HTML: the index, a question, a comparison.


INDEX = "index.html"
ABOUT = N_("See which elements of a tensor share a mean and a variance, and which share a gamma and a beta.")
LEAD = N_(
    "BatchNorm, LayerNorm, InstanceNorm, GroupNorm and RMSNorm are one formula. They differ in which elements share what: predict, then look."
)


@dataclass(frozen=True)
class PageEntry:
    """A page of the app, whose views the site has."""

    key: str
    about: str


@dataclass(frozen=True)
class Entry:
    """A page besides the index: its file name, its title, and the heading above it in the index."""

    file: str
    title: str
    topic: str
    shows: Question | ReadySet | PageEntry


BEGIN = N_("New here?")
START = PageEntry("start", N_("Short steps, each with a figure to touch. Five minutes."))
SETS = N_("Side by side")
PLAY = N_("Try every layer")
PLAYABLE = (
    PageEntry("explore", N_("One layer on one tensor: which elements share what, the counts, the values, the code.")),
    PageEntry("compare", N_("Two to six layers on one tensor, element by element.")),
    PageEntry("step_by_step", N_("From x to the output, one step at a time, with the numbers of one element.")),
)
MODELS = PageEntry(
    "models", N_("Fifteen models, from ResNet-50 to Llama: their normalizations in order, with shapes and counts.")
)
PRACTICE = PageEntry("practice", N_("Exercises with a score. The same link gives everyone the same set."))
UNDERSTOOD = N_("Find out what you have understood")
TOPICS = {START.key: BEGIN, PRACTICE.key: UNDERSTOOD}  # topics of the pages that are not under PLAY
SHAPES = ((5, 7), (2, 3, 5))  # tensors besides the default one, on pages of a single layer


def entries(only: Sequence[str] = ()) -> list[Entry]:
    """All pages besides the index, in order, or only those with these keys: of pages of the app, questions and ready-made sets.

    Raises NormvizError for an unknown key.
    """
    pages, only = (
        {shown.key: shown for shown in (START, *PLAYABLE, MODELS, PRACTICE)},
        [current_key(key) for key in only],
    )
    if unknown := [key for key in only if key not in QUESTIONS and key not in READY_SETS and key not in pages]:
        raise NormvizError(
            _(
                "{key} is neither a page, a question nor a ready-made set; choose a key such as {keys}.",
                key=repr(unknown[0]),
                keys=listed([*pages, *READY_SETS, *READING_ORDER[:3]]),
            )
        )
    played = [Entry(f"{key}.html", PAGES[key].title, _(TOPICS.get(key, PLAY)), shown) for key, shown in pages.items()]
    sets = [Entry(f"compare-{key}.html", ready.title, _(SETS), ready) for key, ready in READY_SETS.items()]
    questions = [_question_entry(QUESTIONS[key]) for key in READING_ORDER]
    return [entry for entry in played + sets + questions if not only or entry.shows.key in only]


def _question_entry(question: Question) -> Entry:
    return Entry(f"question-{question.key}.html", prose(question.key).title, question.topic.title, question)


def index_page(listed_entries: Sequence[Entry], theme: str, beside: Sequence[str] = ()) -> str:
    """The list of all pages, with a search: pages and comparisons as cards, then the core path, then the questions by topic."""
    cards = [entry for entry in listed_entries if not isinstance(entry.shows, Question)]
    topics = dict.fromkeys(entry.topic for entry in cards)
    questions = [entry.shows.key for entry in listed_entries if isinstance(entry.shows, Question)]
    search = f'<div class="ns-search" hidden>{search_field("search", len(questions), LONGEST_SEARCH)}</div>'
    sections = "\n".join(_topic(topic, [entry for entry in cards if entry.topic == topic]) for topic in topics)
    body = Body(pages=_question_pages(listed_entries))
    listed_questions = question_list(questions, has_field=False).html(body) if questions else ""
    html = f'<p class="ns-lead">{escape(_(LEAD))}</p>\n{search if questions else ""}\n{sections}\n{listed_questions}'
    return page("normviz", html, body, theme, home=True, switch=language_switch(beside, INDEX))


def _topic(topic: str, found: Sequence[Entry]) -> str:
    items = "\n".join(map(_item, found))
    return f'<section class="ns-topic"><h2>{escape(topic)}</h2>\n<ul class="ns-cards">\n{items}\n</ul></section>'


def _item(entry: Entry) -> str:
    assert not isinstance(entry.shows, Question)
    where = f'<a href="{escape(entry.file)}">{line(entry.title)}</a>'
    if isinstance(entry.shows, PageEntry):
        about = _(entry.shows.about)
        words = f"{entry.shows.key} {entry.title} {about}".lower()
        return f'<li class="ns-card" data-words="{escape(words)}">{where}<p>{escape(about)}</p></li>'
    layers = " ".join(f"<li><code>{escape(text)}</code></li>" for text in entry.shows.layers)
    return f'<li class="ns-card" data-words="{escape(_set_words(entry.shows))}">{where}<ul>{layers}</ul></li>'


def _set_words(ready: ReadySet) -> str:
    return f"{ready.key} {ready.title} {' '.join(ready.layers)} {ready.text}".lower()


def entry_page(entry: Entry, among: Sequence[Entry], theme: str, beside: Sequence[str] = ()) -> str:
    """The page of one entry, between its neighbors. ``beside``: the languages of the sites in the folders beside this one."""
    body, views = Body(), None
    if entry.shows is START:
        body = Body(pages=_addresses(among))
        made = body.page(output_of_query(START.key, {}).parts)
    elif isinstance(entry.shows, PageEntry):
        body = Body(pages=_addresses(among) | _question_pages(among), carries=True)
        made, views = _playable(entry.shows.key, body, _question_pages(among))
    else:
        made = _question(entry.shows, body) if isinstance(entry.shows, Question) else _comparison(entry.shows, body)
    html, switch = f"{made}\n{_neighbors(entry, among)}", language_switch(beside, entry.file)
    return page(entry.title, html, body, theme, topic=entry.topic, views=views, switch=switch)


def _question_pages(among: Sequence[Entry]) -> dict[str, str]:
    """The files of the questions, by their link in the app."""
    return {f"/questions?q={entry.shows.key}": entry.file for entry in among if isinstance(entry.shows, Question)}


def _addresses(among: Sequence[Entry]) -> dict[str, str]:
    """The files of the pages, by their link in the app; and of views of Start here and Practice."""
    pages = {entry.shows.key: entry.file for entry in among if isinstance(entry.shows, PageEntry)}
    found = {"/questions": INDEX} | {f"/{'' if key == 'explore' else key}": file for key, file in pages.items()}
    if PRACTICE.key in pages:
        found["/practice?level=1"] = f"{pages[PRACTICE.key]}#level=1"
    if START.key in pages:
        found |= {f"/start?step={step}": f"{pages[START.key]}?step={step}" for step in range(1, START_STEPS + 1)}
    return found


def _playable(name: str, body: Body, questions: Mapping[str, str]) -> tuple[str, dict[str, Any] | None]:
    """A page of the app, with the views that its controls lead to."""
    choices = Choices(() if name in ("compare", MODELS.key) else SHAPES, pages=questions)
    output = replace(output_of_query(name, {}), choices=choices)
    return f"{body.page(output.parts)}\n{no_script()}\n{_app_link(name, {}, ' nv-app-link')}", output.answers()


def _comparison(ready: ReadySet, body: Body) -> str:
    return f"{body.page(output_of_query('compare', ready.query).parts)}\n{_app_link('compare', ready.query)}"


def _question(question: Question, body: Body) -> str:
    _heading, *parts = question_parts(question)
    return f"{body.page(parts)}\n{no_script()}\n{_app_link(question.page.name, question.query)}"


def _neighbors(entry: Entry, among: Sequence[Entry]) -> str:
    at = list(among).index(entry)
    before, after = among[at - 1] if at else None, among[at + 1] if at + 1 < len(among) else None
    links = [
        f'<a class="ns-{way}" rel="{way}" href="{escape(other.file)}"><span>{escape(word)}</span> {line(other.title)}</a>'
        for way, word, other in (("prev", _("Previous"), before), ("next", _("Next"), after))
        if other
    ]
    return f'<nav class="ns-neighbors" aria-label="{escape(_("Pages before and after"))}">{"".join(links)}</nav>'


def _app_link(name: str, query: str | dict[str, str], kind: str = "") -> str:
    """A link to the same view in the app, if its address is known."""
    base = environ.get(APP, "").rstrip("/")
    if not base.startswith(("https://", "http://")):
        return ""
    search = f"?{query}" if isinstance(query, str) else link(query)
    address = with_language(f"{base}/{page_path(name)}{search}")
    label = _("Open in {page}", page=PAGES[name].title)
    return f'<p class="nv-small"><a class="ns-app{kind}" href="{escape(address)}">{escape(label)}</a></p>'


def page(
    title: str,
    html: str,
    body: Body,
    theme: str,
    *,
    home: bool = False,
    topic: str = "",
    views: dict[str, Any] | None = None,
    switch: str = "",
) -> str:
    """One page of the site."""
    about = escape(_(ABOUT))
    mark = f'<img src="{wordmark()}" alt="normviz" width="132" height="30">'
    back = (
        ""
        if home
        else f'<nav class="ns-nav" aria-label="{escape(_("Site"))}"><a href="{INDEX}">{escape(_("All questions"))}</a></nav>'
    )
    head = f"<h1>{line(title)}</h1>" if not home else f"<h1>{about}</h1>"
    above = f'<p class="ns-topic-name">{escape(topic)}</p>' if topic else ""
    full_title = title if home else f"{_plain(title)} · normviz"
    report = f'<div class="ns-report" data-to="{escape(report_address())}"></div>'
    return (
        f'<!doctype html>\n<html {html_attributes()} class="nv-html ns-html" data-theme="{escape(theme)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f'<meta name="description" content="{about}">\n<title>{escape(full_title)}</title>\n<link rel="icon" href="{FAVICON}">\n'
        f'<link rel="stylesheet" href="{path_of("css")}">\n<script defer src="{path_of("js")}"></script>\n</head>\n<body>\n'
        f'<a class="ns-skip" href="#main">{escape(_("To the content"))}</a>\n<header class="ns-head"><a class="ns-brand" href="{INDEX}">{mark}</a><div class="ns-tools">{switch}{back}</div></header>\n'
        f'<main id="main" class="nv-doc" data-theme="{escape(theme)}">\n{above}{head}\n{html}\n'
        f"{settings(body, theme, plotlyjs(plotly_path()), views=views)}\n{report}\n</main>\n</body>\n</html>\n"
    )


def language_switch(beside: Sequence[str], file: str) -> str:
    """The same page in the languages beside this one; "" if there is no other."""
    if len(beside) < 2:
        return ""
    known = {name: find_language(name) for name in beside}
    links = "".join(
        f'<li><a href="../{name}/{escape(file)}" lang="{one.tag}" hreflang="{one.tag}" dir="{one.direction}"'
        f"{' aria-current=true' if name == language.get() else ''}>{escape(one.name)}</a></li>"
        for name, one in known.items()
    )
    now = escape(find_language(language.get()).name)
    return f'<details class="ns-languages"><summary aria-label="{escape(_("Language"))}: {now}">{now}</summary><ul>{links}</ul></details>'


def _plain(title: str) -> str:
    return title.replace("`", "").replace("**", "")
