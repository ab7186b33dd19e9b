"""The route that returns a view as one HTML file: ``export?page=compare&shape=2,3,4,4&layers=BatchNorm2d(3);LayerNorm([3,4,4])``.

The query contains everything, so any replica can respond. ``page`` is the page, or "questions"; ``theme`` and ``plotlyjs`` ("inline" or
"cdn") are options; the rest is the page's own query, including ``hide`` and ``caption``. A set of exercises is a file in a ``format``, too:
``export?page=practice&format=moodle&seed=7&count=5``, and a tour is a file for a projector: ``export?page=tour&tour=normalized-shape``.
"""

import asyncio
import re
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response

from normviz.export.document import check_theme
from normviz.export.links import output_of_query, tour_output
from normviz.export.output import Choices, Output
from normviz.export.sets import FORMATS, PAPER, PracticeSet, chosen_set, content, exams
from normviz.figures.palette import FOLLOW
from normviz.lessons.pages import PAGES, view_of_link
from normviz.lessons.practice.own import content_set
from normviz.lessons.practice.settings import missing_package
from normviz.lessons.tours import find_tour
from normviz.parts.titles import app_of_environment
from normviz.scene.scene import SEED
from normviz.scene.view import length_problem
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import _, language, without_marks
from normviz.ui.assets import is_known
from normviz.ui.load import Busy, Queue, return_memory, turn
from normviz.ui.request import app_address

PLOTLYJS = ("inline", "cdn")  # a link cannot name another script
OPTIONS = ("page", "theme", "plotlyjs", "fixed")  # options of the file; all other names belong to the view
OPTIONS_OF_SET = (*OPTIONS, "format", "preview")
# Files at once, and files of one address that run or wait: a class of 300 may have one each. A file takes a second or two, and other addresses do not wait
# for all of them.
AT_ONCE, MAX_REQUESTS = 2, 300
KEPT = 8  # files of about a megabyte, for readers who ask for one that was just made
KEPT_FOR = 60.0  # s
ONE_HOUR = "max-age=3600"  # a new version of the app may write another file
MAX_NAME = 80

ANSWERS = "answers"  # the key of the exam on paper
DOWNLOADS = (*FORMATS, ANSWERS)

_queue = Queue("export", AT_ONCE, MAX_REQUESTS)


@dataclass(frozen=True)
class SavedFile:
    """A file as it is sent."""

    name: str
    content: bytes
    shown: bool = False  # the browser shows it

    @cached_property
    def tag(self) -> str:
        """Weak, because Streamlit's middleware may compress the response."""
        return f'W/"{sha256(self.content).hexdigest()[:16]}"'

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.shown else {"Content-Disposition": f'attachment; filename="{self.name}"'}


_made: dict[Hashable, SavedFile] = {}  # the last ones


async def export(request: Request) -> Response:
    """The file; 400 with one line if the app would show an error, 503 if too many requests wait."""
    try:
        if problem := length_problem(request.query_params):
            raise NormvizError(problem)
        file = await _file(request)
    except Busy as busy:
        return _line(_("The server is busy; try again in a few seconds."), 503, {"Retry-After": str(busy.seconds)})
    except NormvizError as error:
        return _line(str(error), 400)
    # The file names the host of the request, unless the address of the app is configured. A request may claim any host.
    shared = "public" if app_of_environment() else "private"
    headers = {"Cache-Control": f"{shared}, {ONE_HOUR}", "ETag": file.tag} | SAFE
    if is_known(request, file.tag):
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=MEDIA[file.name.rpartition(".")[2]], headers=headers | file.headers)


async def _file(request: Request) -> SavedFile:
    """The file of the address: one that was just made, or one that is made once for all who ask for it now."""
    asked = tuple(request.query_params.items()), app_address(request)
    key = language.get(), *asked
    file = _made.pop(key, None)
    if file is None:
        options = request.query_params
        kind = options.get("page"), options.get("format"), options.get("fixed") == "true"
        file = await _queue.run(request, _export_file, *asked, kind=kind)
        asyncio.get_running_loop().call_later(KEPT_FOR, _forget, key)
    _made[key] = file
    if len(_made) > KEPT:
        del _made[next(iter(_made))]
    return file


def _forget(key: Hashable) -> None:
    _made.pop(key, None)
    return_memory()


# A browser saves the response, and runs nothing of it.
SAFE = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}


def _line(text: str, status: int, headers: dict[str, str] | None = None) -> Response:
    kept = {"Cache-Control": "no-store"} | SAFE | (headers or {})
    return Response(" ".join(without_marks(text).split()) + "\n", status, media_type="text/plain", headers=kept)


MEDIA = {
    "html": "text/html",
    "json": "application/json",
    "xml": "application/xml",
    "zip": "application/zip",
    "apkg": "application/octet-stream",
}


def _set_file(query: Mapping[str, str], app: str) -> SavedFile:
    """A set of exercises in the format that the query names. A preview has no script: the browser may show it."""
    name, page = query["format"], PAGES["practice"]
    if name not in DOWNLOADS:
        raise NormvizError("format={value} is unknown; choose {choices}.", value=echo(name), choices=listed(DOWNLOADS))
    if package := missing_package(name):
        raise NormvizError(
            "format={format} needs {module}, which this server does not have.", format=name, module=package
        )
    given = {each: text for each, text in query.items() if each not in OPTIONS_OF_SET}
    if problem := page.problem(view_of_link(page, given)):
        raise NormvizError(problem)
    if own := content_set(given["content"]) if given.get("content") else None:
        one = PracticeSet(own.title, own.exercises)
    else:
        chosen = {each: text for each, text in given.items() if page.setting(each) or each == SEED.name}
        one = chosen_set(chosen, name).practice_set
    one = replace(one, app=app)
    made = exams([one])["-key"].encode() if name == ANSWERS else content(name, one)
    ending = "html" if name == ANSWERS else FORMATS[name].ending
    shown = query.get("preview") == "true" and name in (PAPER, ANSWERS)
    return SavedFile(f"normviz-{name}.{ending}", made, shown)


def _tour_file(name: str, app: str) -> SavedFile:
    output = tour_output(find_tour(name))
    choices = replace(output.choices or Choices(), app=app)
    return SavedFile(f"normviz-tour-{name}.html", replace(output, choices=choices).to_html().encode())


def _export_file(asked: Iterable[tuple[str, str]], app: str) -> SavedFile:
    """The file. ``app``: the address of the app, for what the file cannot answer."""
    query = dict(asked)
    if query.get("page") == "practice" and "format" in query:
        return _set_file(query, app)
    if query.get("page") == "tour":
        return _tour_file(query.get("tour", ""), app)
    place = query.get("plotlyjs", PLOTLYJS[0])
    if place not in PLOTLYJS:
        raise NormvizError(
            "plotlyjs={value} is unknown; choose {choices}.", value=echo(place), choices=listed(PLOTLYJS)
        )
    page = query.get("page", "explore")
    output = output_of_query(page, {name: text for name, text in query.items() if name not in OPTIONS})
    caption = query.get("caption", "") if page == "questions" else ""  # the other pages have it in the view
    choices = None if query.get("fixed") == "true" else Choices(app=app)
    # Making the output refuses a wrong theme or caption before the answers are computed.
    output = replace(
        output, theme=check_theme(query.get("theme") or FOLLOW), plotlyjs=place, caption=caption, choices=choices
    )
    with turn(output.view.scene.shape if output.view else ()):
        return SavedFile(file_name(output), output.to_html().encode())


def file_name(output: Output) -> str:
    """A file name that is valid on every system: lower-case letters, digits and hyphens.

    >>> import normviz as nv
    >>> file_name(nv.explore("LayerNorm([3, 4, 4])"))
    'normviz-explore-layernorm-3-4-4-on-2-3-4-4.html'
    """
    about = output.title.split(" · ")[0] if output.title.count(" · ") == 2 or output.page == "questions" else ""
    words = re.findall(r"[a-z0-9]+", f"normviz-{output.page}-{about}".lower())
    return f"{'-'.join(words)[:MAX_NAME].strip('-')}.html"
