"""The static site: pages with controls, every question, every ready-made comparison and Practice as files, with an index."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from normviz.__version__ import __version__
from normviz.export import scorm
from normviz.export.assets import bundle, classic, controls_style, exercises_style, plotly_js, read_css, share_style
from normviz.export.document import BROWSER, check_theme, css, no_script, plotlyjs, settings
from normviz.export.files import check_folder, locked, path_errors, short_path, whole_file, write_zip
from normviz.export.links import output_of_query
from normviz.export.output import Choices, joined_parts
from normviz.figures.palette import FAVICON, FOLLOW, wordmark
from normviz.figures.wire import Json
from normviz.lessons.compare.page import READY_SETS, ReadySet
from normviz.lessons.page import plan_of
from normviz.lessons.pages import PAGES
from normviz.lessons.practice.bank import choose
from normviz.lessons.practice.own import content_names, content_set
from normviz.lessons.questions import page as questions
from normviz.lessons.questions.question import Question, prose
from normviz.lessons.share.panel import report_address
from normviz.lessons.start.page import START_STEPS
from normviz.parts.html import Body, escape, line
from normviz.parts.part import Heading, Links, page_path, search_field
from normviz.parts.titles import HOME, NAME, TEACH, app_of_files
from normviz.scene.view import link
from normviz.texts.errors import NormvizError, listed
from normviz.texts.languages import find_language, html_attributes, languages, with_language
from normviz.texts.messages import N_, _, in_language, language, plain

# Files that all pages share: plotly.js, one script and one style sheet. Their names contain a hash of the content.


FOLDER = "lib"


@cache
def site_style() -> str:
    """The style of exported pages, and above it the site's own."""
    return f"{css()}{controls_style()}{share_style()}{exercises_style()}\n:is(.ns-html, #ns-html){{{read_css(BROWSER / 'site.css')}}}\n"


def shared_files() -> dict[str, bytes]:
    """The path of each, as the pages see it, and its content."""
    script = classic(bundle("site", language.get()))  # of exported pages, and the search
    texts = {"js": script.encode(), "css": site_style().encode()}
    named = {f"{FOLDER}/normviz-{sha256(text).hexdigest()[:12]}.{kind}": text for kind, text in texts.items()}
    return {plotly_path(): plotly_js()} | named


@cache
def plotly_path() -> str:
    return f"{FOLDER}/plotly-{sha256(plotly_js()).hexdigest()[:12]}.min.js"


def path_of(kind: str) -> str:
    """The path of the shared "js" or "css"."""
    return next(path for path in shared_files() if path.endswith(f".{kind}") and path != plotly_path())


# The pages of the site as HTML: the index, a question, a comparison.

INDEX, QUESTION_LIST = "index.html", "questions"  # the file, and where its list of questions begins
EXERCISES = "exercises.html"  # of a SCORM package
ABOUT = N_("See which elements of a tensor share a mean and a variance, and which share a gamma and a beta.")


@dataclass(frozen=True)
class PageEntry:
    """A page of the app, whose views the site has.

    own   the name of a teacher's own questions, if Practice shows them
    plan  the page whose lesson plan For teachers shows
    """

    key: str
    own: str = ""
    plan: str = ""

    @property
    def query(self) -> dict[str, str]:
        """Of the one view that the page has besides its first one; empty for that."""
        return {"content": self.own} if self.own else {"plan": self.plan} if self.plan else {}


@dataclass(frozen=True)
class Entry:
    """A page besides the index: its file name, its title, and the topic or the group of pages that it belongs to."""

    file: str
    title: str
    topic: str
    shows: Question | ReadySet | PageEntry


START, STORY, ALL_LAYERS, MODELS, PRACTICE, TEACHING = map(
    PageEntry, ("start", "story", "all_layers", "models", "practice", "teach")
)
EXPLORE, COMPARE, STEPS, TRAINING = map(PageEntry, ("explore", "compare", "step_by_step", "train_and_eval"))
PAGES_OF_APP = (START, STORY, EXPLORE, COMPARE, STEPS, ALL_LAYERS, TRAINING, MODELS, PRACTICE, TEACHING)
PRESENT = "present=true"
SETS = N_("Side by side")
OWN_QUESTIONS = N_("Questions of this course")
SHAPES = ((5, 7), (2, 5, 4))  # tensors besides the default one, on pages of a single layer


def entries(only: Sequence[str] = ()) -> list[Entry]:
    """All pages besides the index, in order, or only those with these keys: of pages of the app, questions and ready-made sets.

    Raises NormvizError for an unknown key.
    """
    pages = {kind.key: kind for kind in PAGES_OF_APP}
    only = [questions.current_key(key) for key in only]
    if unknown := [
        key for key in only if key not in questions.QUESTIONS and key not in READY_SETS and key not in pages
    ]:
        raise NormvizError(
            "{key} is neither a page, a question nor a ready-made set; choose a key such as {keys}.",
            key=repr(unknown[0]),
            keys=listed([*pages, *READY_SETS, *questions.READING_ORDER[:3]]),
        )
    played = [Entry(f"{key}.html", PAGES[key].title, _(PAGES[key].group), kind) for key, kind in pages.items()]
    played += [
        Entry(
            "practice-{}.html".format(re.sub(r"[^\w-]+", "-", name)),
            content_set(name).title,
            _(OWN_QUESTIONS),
            PageEntry("practice", name),
        )
        for name in content_names()
    ]
    played += [
        Entry(f"plan-{key}.html", _("Lesson plan: {page}", page=planned.title), _(TEACH), PageEntry("teach", plan=key))
        for key, planned in PAGES.items()
        if planned.plan
    ]
    sets = [Entry(f"compare-{key}.html", ready.title, _(SETS), ready) for key, ready in READY_SETS.items()]
    ordered = [questions.QUESTIONS[key] for key in questions.READING_ORDER]
    asked = [Entry(f"question-{one.key}.html", prose(one.key).title, one.topic.title, one) for one in ordered]
    return [entry for entry in played + sets + asked if not only or entry.shows.key in only]


def index_page(listed_entries: Sequence[Entry], theme: str, beside: Sequence[str] = ()) -> str:
    """The front page, and below it, with a search, the comparisons as cards, the core path, and the questions by topic.

    Without the address of the app, no field takes a layer.
    """
    cards = "\n".join(_card(entry, entry.shows) for entry in listed_entries if isinstance(entry.shows, ReadySet))
    keys = [entry.shows.key for entry in listed_entries if isinstance(entry.shows, Question)]
    search = f'<div class="ns-search" hidden>{search_field("search", len(keys), questions.LONGEST_SEARCH)}</div>'
    sets = f'<section class="ns-topic"><h2>{escape(_(SETS))}</h2>\n<ul class="ns-cards">\n{cards}\n</ul></section>'
    own = {"/questions": f"#{QUESTION_LIST}"} if keys else {}
    links = "".join(
        f'<li><a href="{escape(one.file)}">{line(one.title)}</a></li>'
        for one in listed_entries
        if isinstance(one.shows, PageEntry) and one.shows.own
    )
    course = (
        f'<section class="ns-topic"><h2>{escape(_(OWN_QUESTIONS))}</h2>\n<ul>{links}</ul></section>' if links else ""
    )
    body = Body(app=_app(), pages=_addresses(listed_entries) | _question_pages(listed_entries) | own)
    front = f"{body.page(output_of_query(HOME, {}).parts)}\n{no_script()}"
    asked = (
        f'<div id="{QUESTION_LIST}">{questions.question_list(keys, has_field=False).html(body)}</div>' if keys else ""
    )
    html = f"{front}\n{search if keys else ''}\n{course}\n{sets if cards else ''}\n{asked}"
    return page(NAME, html, body, theme, home=True, switch=language_switch(beside, INDEX))


def _card(entry: Entry, ready: ReadySet) -> str:
    words = f"{ready.key} {ready.title} {' '.join(ready.layers)} {ready.text}"
    about = f"<ul>{' '.join(f'<li><code>{escape(text)}</code></li>' for text in ready.layers)}</ul>"
    where = f'<a href="{escape(entry.file)}">{line(entry.title)}</a>'
    return f'<li class="ns-card" data-words="{escape(words.lower())}">{where}{about}</li>'


def entry_page(entry: Entry, among: Sequence[Entry], theme: str, beside: Sequence[str] = ()) -> str:
    """The page of one entry, between its neighbors. ``beside``: the languages of the sites in the neighboring folders."""
    body, views = Body(), None
    if entry.shows in (START, STORY, TEACHING):
        more = _question_pages(among) if entry.shows is TEACHING else {}
        body = Body(app=_app() if entry.shows is TEACHING else None, pages=_addresses(among) | more)
        made = _page(body, entry.shows.key)
    elif isinstance(entry.shows, PageEntry):
        body = Body(pages=_addresses(among) | _question_pages(among), carries=True)
        if entry.shows is ALL_LAYERS:
            made = f"{_page(body, entry.shows.key)}\n{_app_link(entry.shows.key, {})}"
        elif entry.shows.query:
            made = f"{_page(body, entry.shows.key, entry.shows.query, entry.title)}\n{no_script()}"
        else:
            made, views = _playable(entry.shows.key, body, _question_pages(among))
    elif isinstance(entry.shows, Question):
        made = _page(body, "questions", {"q": entry.shows.key}, entry.title)
        made = f"{made}\n{no_script()}\n{_app_link(entry.shows.page.name, entry.shows.query)}"
    else:
        query = entry.shows.query
        made = f"{_page(body, 'compare', query)}\n{_app_link('compare', query)}"
    if isinstance(entry.shows, PageEntry) and PAGES[entry.shows.key].plan and not entry.shows.query:
        made += f"\n{body.page([Links((plan_of(entry.shows.key),), kind='next')])}"
    html, switch = f"{made}\n{_neighbors(entry, among)}", language_switch(beside, entry.file)
    return page(entry.title, html, body, theme, topic=entry.topic, views=views, switch=switch)


def _page(body: Body, name: str, query: Mapping[str, str] = {}, title: str = "") -> str:
    """A view of a page of the app, without the heading that is the title of the page around it."""
    parts = joined_parts(output_of_query(name, query), _app())
    return body.page(part for part in parts if part != Heading(title))


def _question_pages(among: Sequence[Entry]) -> dict[str, str]:
    """The files of the questions, by their link in the app; the index has those of each page."""
    files = {f"/questions?q={entry.shows.key}": entry.file for entry in among if isinstance(entry.shows, Question)}
    files |= {f"{address}&{PRESENT}": f"{file}#{PRESENT}" for address, file in files.items()}
    return files | {f"/questions?of={name}": INDEX for name in questions.ASKING if files}


def _addresses(among: Sequence[Entry]) -> dict[str, str]:
    """The files of the pages, by their link in the app; and of the steps of Start here."""
    shown = {one.shows: one.file for one in among if isinstance(one.shows, PageEntry)}
    pages = {one.key: file for one, file in shown.items() if not one.query}
    found = {"/questions": INDEX} | {f"/{one.key}{link(one.query)}": file for one, file in shown.items()}
    found |= {f"/{key}?{PRESENT}": f"{file}#{PRESENT}" for key, file in pages.items()}
    if START.key in pages:
        found |= {f"/start?step={step}": f"{pages[START.key]}?step={step}" for step in range(1, START_STEPS + 1)}
    return found


def _playable(name: str, body: Body, questions: Mapping[str, str]) -> tuple[str, dict[str, Json] | None]:
    """A page of the app, with the views that its controls lead to."""
    choices = Choices(() if name in ("compare", MODELS.key) else SHAPES, pages=questions)
    output = replace(output_of_query(name, {}), choices=choices)
    return (
        f"{body.page(joined_parts(output, _app()))}\n{no_script()}\n{_app_link(name, {}, ' nv-app-link')}",
        output.answers(),
    )


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
    base = _app()
    if base is None:
        return ""
    search = f"?{query}" if isinstance(query, str) else link(query)
    address = with_language(f"{base}/{page_path(name)}{search}")
    label = _("Open in {page}", page=PAGES[name].title)
    return f'<p class="nv-small"><a class="ns-app{kind}" href="{escape(address)}">{escape(label)}</a></p>'


def _app() -> str | None:
    """The address of the app; None if it is not known. Raises NormvizError if it is not a web address."""
    return app_of_files() or None


def page(
    title: str,
    html: str,
    body: Body,
    theme: str,
    *,
    home: bool = False,
    topic: str = "",
    views: dict[str, Json] | None = None,
    switch: str = "",
) -> str:
    """One page of the site."""
    about = escape(_(ABOUT))
    mark = f'<img src="{wordmark()}" alt="normviz" width="132" height="30">'
    back = (
        f'<nav class="ns-nav" aria-label="{escape(_("Site"))}"><a href="{INDEX}">{escape(_("All questions"))}</a></nav>'
    )
    back, head = ("", f"<h1>{escape(PAGES[HOME].heading[0])}</h1>") if home else (back, f"<h1>{line(title)}</h1>")
    above = f'<p class="ns-topic-name">{escape(topic)}</p>' if topic else ""
    full_title = title if home else f"{title.replace('`', '').replace('**', '')} · normviz"
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
    """The same page in the other languages; "" if there is no other."""
    if len(beside) < 2:
        return ""
    links = "".join(
        f'<li><a href="../{name}/{escape(file)}" lang="{one.tag}" hreflang="{one.tag}" dir="{one.direction}"'
        f"{' aria-current=true' if name == language.get() else ''}>{escape(one.name)}</a></li>"
        for name, one in zip(beside, map(find_language, beside), strict=True)
    )
    now = escape(find_language(language.get()).name)
    return f'<details class="ns-languages"><summary aria-label="{escape(_("Language"))}: {now}">{now}</summary><ul>{links}</ul></details>'


# Sites in all languages, one folder for each, and a page that opens the reader's.

ALL = "all"
# The language of the address (?lang=es), else the first one of the browser that there is.
CHOOSE = """const known = [...document.links].map((link) => link.dataset.name);
const wanted = [new URLSearchParams(location.search).get("lang") ?? "", ...navigator.languages].map((tag) => tag.toLowerCase().split("-")[0]);
const found = wanted.find((name) => known.includes(name));
if (found) location.replace(found + "/index.html");"""


def build_all(
    out: str | Path, *, theme: str = FOLLOW, only: Sequence[str] = (), force: bool = False, progress: Progress = iter
) -> list[str]:
    """Write the site in each language to a folder of ``out``, such as ``out/es``; returns the paths of all files. See ``build``."""
    check_theme(theme)
    names = tuple(languages())

    def write_all(folder: Path) -> list[str]:
        made = []
        for name in names:
            with in_language(name):
                (folder / name).mkdir()
                made += [f"{name}/{file}" for file in _write_pages(folder / name, theme, only, progress, names)]
        (folder / INDEX).write_text(_first_page(names), encoding="utf-8", newline="\n")
        return _with_list(folder, [*made, LIST, INDEX])

    return _put(out, force, write_all)


def _first_page(names: Sequence[str]) -> str:
    """Opens the site in the reader's language; without JavaScript, a list."""
    links = "".join(
        f'<li><a href="{name}/{INDEX}" data-name="{name}" lang="{one.tag}" dir="{one.direction}">{escape(one.name)}</a></li>'
        for name, one in zip(names, map(find_language, names), strict=True)
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        f'<title>normviz</title>\n<link rel="icon" href="{FAVICON}">\n'
        "<style>body{font:18px/2 system-ui,sans-serif;margin:15vh auto;max-width:20rem;padding:0 1rem}a{color:inherit}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>normviz</h1>\n<ul>{links}</ul>\n</main>\n<script>{CHOOSE}</script>\n</body>\n</html>\n"
    )


# Writing a site: into a directory, which never contains an incomplete site, and as a zip file.

LIST = "site.json"  # the files of the site, so that the next one knows what it may replace
Progress = Callable[[Sequence[Entry]], Iterable[Entry]]


def build(
    out: str | Path,
    *,
    theme: str = FOLLOW,
    only: Sequence[str] = (),
    force: bool = False,
    progress: Progress = iter,
    beside: Sequence[str] = (),
) -> list[str]:
    """Write the site to the directory ``out``; returns the paths of its files, relative to the pages.

    The site is written next to ``out`` and moved there when it is complete: shared files first, the index last. Then the files of an earlier
    site that this one does not have are removed. Other files are left alone.

    theme     "light", "dark", or "follow" the reader's own
    only      keys of the questions and ready-made sets; all of them by default
    force     write also into a directory that has other files
    progress  receives the pages and yields them one by one
    beside    the languages of the sites in the neighboring folders, which its pages link to

    Raises NormvizError for an unknown theme or key, and if ``out`` cannot be written or has other files.
    """
    check_theme(theme)
    entries(only)
    return _put(out, force, lambda folder: _write_pages(folder, theme, only, progress, beside))


def _put(out: str | Path, force: bool, write_files: Callable[[Path], list[str]]) -> list[str]:
    """Write files into a new folder next to ``out``, and move them there when they are complete; returns their paths.

    Two commands that write the same site take turns, so that it is that of the later one.
    """
    _app()  # raises before anything is written
    with path_errors(out):
        place = Path(out).resolve()
        with locked(place.parent):
            check_directory(place, force)
        folder = Path(mkdtemp(dir=place.parent, prefix=f".{place.name[:40]}-"))
    try:
        with path_errors(out):
            written = write_files(folder)
            with locked(place.parent):
                before = check_directory(place, force)
                folder.chmod(place.stat().st_mode if place.exists() else 0o755)
                try:
                    _move(folder, place, written, before)
                except BaseException:  # Ctrl-C: a part of a site would be left
                    _move(folder, place, written, before)
                    raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return written


def pack(folder: str | Path, files: Iterable[str], target: str | Path, added: Mapping[str, bytes] = {}) -> None:
    """Write the files of a folder, and those that are added, as a zip; the same files give the same zip."""
    with whole_file(target) as place, path_errors(target):
        names = sorted({*files, *added})
        write_zip(place, ((name, added.get(name) or (Path(folder) / name).read_bytes()) for name in names))


def scorm_files(made: Sequence[str], only: Sequence[str], mastery: float | None) -> dict[str, bytes]:
    """What makes a SCORM package of a site: exercises that report a score, and the manifest. ``made``: the files of the site."""
    chosen, title = entries(only), _("Ten exercises with a score")
    exercises = scorm.exercise_page(
        [one.data() for one in choose(0)], title, _app() or "", mastery, _question_pages(chosen)
    )
    scored = scorm.CoursePage(EXERCISES, title, is_scored=True)
    items = [
        scored,
        scorm.CoursePage(INDEX, NAME),
        *(scorm.CoursePage(entry.file, plain(entry.title)) for entry in chosen),
    ]
    common = [file for file in made if file not in {item.file for item in items}]
    return {EXERCISES: exercises.encode(), scorm.MANIFEST: scorm.manifest(NAME, items, common, mastery).encode()}


def _old_files(chosen: Sequence[Entry], only: Sequence[str]) -> dict[str, str]:
    """The files of links with an old key of a question, and the files of the questions that they open."""
    found = {entry.file for entry in chosen}
    old = {
        f"question-{key}.html": f"question-{now}.html"
        for key, now in questions.MERGED.items()
        if now in questions.QUESTIONS and (not only or key in only)
    }
    return {name: now for name, now in old.items() if now in found}


def _write_pages(folder: Path, theme: str, only: Sequence[str], progress: Progress, beside: Sequence[str]) -> list[str]:
    """Write the site into an empty folder; returns its files in the order of moving: no file refers to a later one."""
    chosen, contents = entries(only), shared_files()
    old = _old_files(chosen, only)
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    for entry in progress(chosen):
        (folder / entry.file).write_text(entry_page(entry, chosen, theme, beside), encoding="utf-8", newline="\n")
    for name, now in old.items():
        shutil.copyfile(folder / now, folder / name)
    (folder / INDEX).write_text(index_page(chosen, theme, beside), encoding="utf-8", newline="\n")
    return _with_list(folder, [*contents, *(entry.file for entry in chosen), *old, LIST, INDEX])


def _with_list(folder: Path, files: list[str]) -> list[str]:
    """The files of a site, after they are written into its list."""
    text = json.dumps({"normviz": __version__, "files": files}, indent=1)
    (folder / LIST).write_text(f"{text}\n", encoding="utf-8")
    return files


def _move(folder: Path, place: Path, written: Sequence[str], before: Sequence[str]) -> None:
    """Move the site to its place: at once if nothing is there, otherwise file by file, so that a site that is being read stays complete.

    It can be called again after an interruption, and moves the rest.
    """
    if not place.exists():
        folder.rename(place)
        return
    for name in written:
        if not _is_inside(place, name):
            raise NormvizError(
                "{folder} is a link to another directory; remove it, or write to another place.",
                folder=short_path((place / name).parent),
            )
    for name in written:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        if (folder / name).exists():
            (folder / name).replace(place / name)
    for name in set(before) - set(written):
        (place / name).unlink(missing_ok=True)


def _is_inside(place: Path, name: str) -> bool:
    """Whether the folder of a file is in the directory, and not only a link of the directory to another one."""
    return (place / name).parent.resolve().is_relative_to(place)


def check_directory(place: Path, force: bool) -> list[str]:
    """The files of an earlier site there. Raises NormvizError if no site may be written."""
    if not place.exists():
        check_folder(place.parent)
        return []
    if not place.is_dir():
        raise NormvizError("{path} is a file; name a directory.", path=short_path(place))
    before = _earlier_files(place)
    there = (path for path in place.rglob("*") if not path.is_dir() or path.is_symlink())
    other = next((path for path in there if path.relative_to(place).as_posix() not in before), None)
    if other and not force:
        raise NormvizError(
            "{folder} has other files, such as {file}; name a new directory, or use --force to add the site to them.",
            folder=short_path(place),
            file=short_path(other.name),
        )
    return before


def _earlier_files(place: Path) -> list[str]:
    """The files of an earlier site, by its list, that exist inside the directory."""
    try:
        paths = [PurePosixPath(name) for name in json.loads((place / LIST).read_text(encoding="utf-8"))["files"]]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []
    inside = [path for path in paths if not path.is_absolute() and ".." not in path.parts]
    return [str(path) for path in inside if (place / path).is_file() and _is_inside(place, str(path))]
