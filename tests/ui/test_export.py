"""The route that exports a view as a file."""

import asyncio
import json
import re
from html import unescape
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
import starlette.requests
from starlette.applications import Starlette

import normviz as nv
from normviz.export.links import output_of_query
from normviz.export.output import Choices, Output
from normviz.lessons.pages import PAGES, view_of_link
from normviz.lessons.practice.bank import choose
from normviz.lessons.practice.settings import missing_package
from normviz.texts.errors import NormvizError
from normviz.ui import export
from normviz.ui.export import file_name
from normviz.ui.load import Busy
from normviz.ui.server.routes import routes
from tests.support.asgi import Response, ask, run_async
from tests.support.structure import HOSTILE, same_structure

LAYERS = "layers=BatchNorm2d(3);LayerNorm([3,4,4])"


@pytest.fixture(scope="module")
def app():
    return Starlette(routes=routes())


@pytest.fixture(autouse=True)
def _no_file_is_kept(monkeypatch):
    monkeypatch.setattr(export, "_made", {})


def test_the_response_is_the_file_that_the_library_makes(app):
    response = ask(
        app, f"/export?page=compare&shape=2,3,4,4&{LAYERS}&plotlyjs=cdn&theme=dark&caption=Week%203&fixed=true"
    )
    query = {"shape": "2,3,4,4", "layers": "BatchNorm2d(3);LayerNorm([3,4,4])", "caption": "Week 3"}
    fixed = output_of_query("compare", query).to_html(theme="dark", plotlyjs="cdn")
    assert fixed.count("Week 3") == 1
    assert (response.status, response.body.decode()) == (200, fixed)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert (
        response.headers["content-disposition"]
        == 'attachment; filename="normviz-compare-batchnorm2d-3-layernorm-3-4-4.html"'
    )
    assert response.headers["cache-control"] == "private, max-age=3600"


ADDRESSES = [
    ({"host": "norm.example.org"}, "http://norm.example.org"),
    ({"host": "norm.example.org:8443", "x_forwarded_proto": "https"}, "https://norm.example.org:8443"),
    ({"host": "norm.example.org", "x_forwarded_proto": "javascript"}, "http://norm.example.org"),
    ({"host": "[::1]:8501"}, "http://[::1]:8501"),
    ({"host": 'x"><script>'}, ""),
]


@pytest.mark.parametrize(("headers", "address"), ADDRESSES)
def test_the_file_leads_to_the_app_that_made_it_also_behind_a_proxy(app, headers, address):
    html = ask(app, "/export?plotlyjs=cdn&page=step_by_step&hide=controls", **headers).body.decode()
    assert re.findall(r'class="nv-app-link" href="([^"]*)/step_by_step', html) == ([address] if address else [])


def test_normviz_url_says_where_the_app_is(app, monkeypatch):
    monkeypatch.setenv("NORMVIZ_URL", "https://example.org/lab/")
    html = ask(app, "/export?plotlyjs=cdn&page=step_by_step&hide=controls", host="inner:8501").body.decode()
    assert 'href="https://example.org/lab/step_by_step' in html
    assert "inner:8501" not in html


def test_without_a_query_the_file_is_explore_that_answers_with_plotly_js_inline(app):
    response = ask(app, "/export")
    assert response.status == 200
    assert response.body.decode() == output_of_query("explore", {}).with_(choices=Choices()).to_html(plotlyjs="inline")
    assert b'class="nv-carried"' in response.body
    assert "explore-layernorm-4-3-5" in response.headers["content-disposition"]


def test_two_equal_requests_give_the_same_bytes(app):
    """Any replica can make it, because the file has nothing of the server in it."""
    responses = []
    for _ in range(2):
        responses.append(ask(app, "/export?plotlyjs=cdn&fixed=true&page=gradients"))
        export._made.clear()
    one, other = responses
    assert (one.body, one.headers["etag"]) == (other.body, other.headers["etag"])


SMALL = "plotlyjs=cdn&fixed=true&page=gradients"


def test_a_reader_who_has_the_file_does_not_get_it_again(app):
    tag = ask(app, f"/export?{SMALL}").headers["etag"]
    again = ask(app, f"/export?{SMALL}", if_none_match=f'"x", {tag}')
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    assert ask(app, f"/export?{SMALL}&theme=dark", if_none_match=tag).status == 200
    assert ask(app, f"/export?{SMALL}", accept_encoding="gzip").headers["etag"].startswith("W/")  # for both encodings


def test_a_file_that_was_just_made_is_not_made_again(app, monkeypatch):
    first = ask(app, f"/export?{SMALL}")
    monkeypatch.setattr(export, "_export_file", lambda *_: pytest.fail("it is made again"))
    again = ask(app, f"/export?{SMALL}")
    assert (again.body, again.headers) == (first.body, first.headers)


def test_few_files_are_kept(monkeypatch, app):
    monkeypatch.setattr(export, "_export_file", lambda asked, _: export.SavedFile("x.html", str(asked).encode()))
    for number in range(export.KEPT + 2):
        assert f"'{number}'" in ask(app, f"/export?seed={number}").body.decode()
    assert ask(app, "/export?seed=2").status == 200  # asked for again, so it is kept longer
    assert [dict(key[1])["seed"] for key in export._made] == [*map(str, range(3, export.KEPT + 2)), "2"]


def test_a_file_is_kept_for_a_while(monkeypatch, app):
    kept = []

    async def ask_and_stay(*call):
        await app(*call)
        kept.append(len(export._made))
        await asyncio.sleep(0.5)
        kept.append(len(export._made))

    monkeypatch.setattr(export, "_export_file", lambda *_: export.SavedFile("x.html", b""))
    monkeypatch.setattr(export, "KEPT_FOR", 0.2)
    assert ask(ask_and_stay, "/export").status == 200
    assert kept == [1, 0]


@pytest.mark.parametrize(
    "page", ["explore", "step_by_step", "train_and_eval", "gradients", "numerics", "questions&q=s0"]
)
def test_every_page_can_be_exported(app, page):
    assert ask(app, f"/export?fixed=true&plotlyjs=cdn&page={page}").status == 200


def test_head_has_the_headers_of_get_and_other_methods_are_refused(app):
    head, whole = (ask(app, "/export?fixed=true&plotlyjs=cdn", method) for method in ("HEAD", "GET"))
    assert (head.status, head.headers) == (200, whole.headers)
    assert ask(app, "/export", "POST").status == 405


WRONG = {
    "page=nowhere": "page='nowhere' is unknown; choose start, story, explore, compare",
    "shape=2,3,4,5&layer=LayerNorm([3,4,4])": "normalized_shape must be the last sizes of x",
    "shape=2,x": "shape='2,x' is not a list of numbers",
    "theme=blue": "theme='blue' is unknown; choose follow, light or dark",
    "page=explore&format=moodle": "'format' is not a setting of a link",
    "plotlyjs=https://example.org/x.js": "is unknown; choose inline or cdn",
    f"caption={'x' * 301}": "is too long; use at most 300 characters",
    f"caption={'x' * 8193}": "this link has 2 settings and 8,211 characters; give at most 64 settings and 8,192 characters.",
    "page=questions&q=s999": "q='s999' is not a question",
    "page=compare&layers=nonsense": "nonsense",
    "shap=2,3": "'shap' is not a setting of a link. Did you mean shape?",
    "page=numerics&show=nonsense": "show='nonsense' is unknown",
}


@pytest.mark.parametrize("query", WRONG)
def test_an_invalid_request_is_answered_with_one_line_of_text(app, query):
    response = ask(app, f"/export?plotlyjs=cdn&{query}" if "plotlyjs" not in query else f"/export?{query}")
    assert WRONG[query] in response.body.decode()
    assert_one_line(response)
    assert response.headers["cache-control"] == "no-store"


LONG = f"shape=2,64&layer=LayerNorm(64)&values={','.join(['-0.12345678'] * 128)}&caption={quote('数' * 300)}"


def test_one_limit_holds_for_a_link_that_is_shown_saved_and_opened(app):
    assert len(LONG) > 4000
    saved, opened = ask(app, f"/export?{LONG}").body.decode(), nv.open(f"/explore?{LONG}")
    assert "数" * 300 in saved
    assert dict(parse_qsl(urlsplit(opened.url()).query))["caption"] == "数" * 300
    assert nv.open(opened.url()).url() == opened.url()
    too_long = f"shape=2,64&caption={'x' * 8200}"
    message = "this link has 2 settings and 8,216 characters; give at most 64 settings and 8,192 characters."
    with pytest.raises(NormvizError, match=message):
        nv.open(f"/explore?{too_long}")
    assert message in ask(app, f"/export?{too_long}").body.decode()
    assert message in PAGES["explore"].problem(view_of_link(PAGES["explore"], dict(parse_qsl(too_long))))


def test_a_refused_request_computes_no_answers(app, monkeypatch):
    monkeypatch.setattr(Output, "answers", lambda output: pytest.fail("answers are computed"))
    for query in ("theme=blue", "plotlyjs=x", f"page=questions&q=s0&caption={'x' * 301}", "layer=nonsense"):
        assert_one_line(ask(app, f"/export?{query}"))


def assert_one_line(response: Response) -> None:
    assert response.status == 400
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.body.endswith(b"\n")
    assert len(response.body.decode().splitlines()) == 1


REFUSED = [
    "page",
    "theme",
    "plotlyjs",
    "shape",
    "layout",
    "layer",
    "data",
    "seed",
    "params",
    "values",
    "at",
    "from",
    "hide",
    "v",
    "q",
    "layers",
    "show",
    "step",
]
ACCEPTED = ["caption", "utm_id"]  # Explore shows the caption and ignores the other


@pytest.fixture(scope="module")
def plain_files(app):
    """A file that answers and a fixed file, with a plain caption."""
    return [ask(app, f"/export?{kind}plotlyjs=cdn&caption=word").body.decode() for kind in ("", "fixed=true&")]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_fields_stay_text(app, plain_files, text):
    """Files that answer are checked with the first text; they have the same parts."""
    fields = "&".join(f"{name}={quote(text)}" for name in ACCEPTED)
    for kind, plain in list(zip(("", "fixed=true&"), plain_files, strict=True))[text != HOSTILE[0] :]:
        response = ask(app, f"/export?{kind}plotlyjs=cdn&{fields}")
        assert response.status == 200
        same_structure(response.body.decode(), plain)
        assert_plain_headers(response)
        assert re.fullmatch(r'attachment; filename="[a-z0-9-]+\.html"', response.headers["content-disposition"])


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_field_is_answered_with_one_line_of_text(app, name):
    for text in HOSTILE:
        response = ask(app, f"/export?{'' if name == 'plotlyjs' else 'plotlyjs=cdn&'}{name}={quote(text)}")
        assert_one_line(response)
        assert_plain_headers(response)


def assert_plain_headers(response: Response) -> None:
    for header, value in response.headers.items():
        assert re.fullmatch(r"[ -~]*", value), header


@pytest.mark.parametrize(
    "query", [{"page": "questions", "q": "s0"}, {"layer": "Norm('n c h w -> n h w','c')"}, {"shape": "2,3,2,2,2,2"}]
)
def test_a_file_name_is_short_and_plain(query):
    name = file_name(output_of_query(query.pop("page", "explore"), query))
    assert re.fullmatch(r"normviz-[a-z0-9-]{1,80}\.html", name)


def test_requests_beyond_the_queue_are_refused(app, monkeypatch):
    async def refuse(*_: object, kind: object) -> None:
        raise Busy(7.2)

    monkeypatch.setattr(export._queue, "run", refuse)
    response = ask(app, "/export?plotlyjs=cdn")
    assert (response.status, response.headers["retry-after"]) == (503, "8")


def test_a_file_is_public_only_if_the_address_of_the_app_is_configured(app, monkeypatch):
    """A request may claim any host, and the file names it."""
    assert ask(app, "/export?plotlyjs=cdn", host="evil.example").headers["cache-control"] == "private, max-age=3600"
    monkeypatch.setenv("NORMVIZ_URL", "https://normviz.example.edu")
    response = ask(app, "/export?plotlyjs=cdn", host="evil.example")
    assert response.headers["cache-control"] == "public, max-age=3600"
    assert b"evil.example" not in response.body


def test_only_a_few_are_computed_at_once(monkeypatch):
    """Eight requests at the same time: at most two computations run at once, and all requests are answered."""
    import threading

    running, most, gate = 0, 0, threading.Barrier(export.AT_ONCE, timeout=60)
    lock = threading.Lock()

    def made(asked: object, app: str) -> export.SavedFile:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        gate.wait()
        with lock:
            running -= 1
        return export.SavedFile("x.html", b"<p>")

    monkeypatch.setattr(export, "_export_file", made)

    class Request(starlette.requests.Request):
        async def receive(self) -> dict[str, str]:
            await asyncio.Event().wait()  # the client stays
            raise AssertionError

    def request(number: int) -> Request:
        scope = {"type": "http", "scheme": "http", "path": "/export", "query_string": b"seed=%d" % number}
        return Request(scope | {"headers": [(b"host", b"x")]})

    async def export_all() -> list[int]:
        return [
            response.status_code for response in await asyncio.gather(*(export.export(request(n)) for n in range(8)))
        ]

    assert run_async(export_all()) == [200] * 8
    assert most == export.AT_ONCE


# The shelf: sets of exercises in each format, and tours.

SET = "page=practice&seed=7&count=5&level=1"
BEGINS = {
    "json": b"[",
    "html": b"<!doctype html>",
    "moodle": b"<?xml",
    "qti": b"pk",
    "anki": b"pk",
    "scorm": b"pk",
    "paper": b"<!doctype html>",
    "answers": b"<!doctype html>",
}


@pytest.mark.parametrize("name", export.DOWNLOADS)
def test_the_server_writes_a_set_in_each_format(app, name):
    if missing_package(name):
        pytest.skip(f"{missing_package(name)} is not installed")
    response = ask(app, f"/export?{SET}&format={name}", host="norm.example.org")
    assert response.status == 200
    assert response.body.lower().startswith(BEGINS[name])
    assert response.headers["content-disposition"].startswith(f'attachment; filename="normviz-{name}.')
    assert (
        ask(app, f"/export?{SET}&format={name}", if_none_match=response.headers["etag"], host="norm.example.org").status
        == 304
    )


def test_a_set_has_the_exercises_that_the_link_chooses(app):
    shown = json.loads(ask(app, f"/export?{SET}&topics=numbers&format=json").body)
    assert [one["id"] for one in shown] == [one.id for one in choose(7, 5, ("numbers",), 1)]
    assert "page=practice" not in ask(app, f"/export?{SET}&format=json").body.decode()


def test_only_a_sheet_without_scripts_is_shown_in_the_browser_and_the_exam_has_no_answer(app):
    exam, key, page = (ask(app, f"/export?{SET}&format={name}&preview=true") for name in ("paper", "answers", "html"))
    assert ["content-disposition" in one.headers for one in (exam, key, page)] == [False, False, True]
    assert "<script" not in exam.body.decode() + key.body.decode()
    assert exam.headers["content-security-policy"] == "sandbox"
    reason = choose(7, 5, (), 1)[0].explanation.replace("`", "")
    texts = [re.sub(r"<[^>]+>", "", unescape(one.body.decode())) for one in (exam, key)]
    assert [reason in text for text in texts] == [False, True]


def test_the_server_writes_a_tour(app):
    response = ask(app, "/export?page=tour&tour=normalized-shape", host="norm.example.org")
    assert response.status == 200
    assert response.headers["content-disposition"] == 'attachment; filename="normviz-tour-normalized-shape.html"'
    assert b"What normalized_shape does" in response.body


WRONG_SETS = [
    (f"{SET}&format=docx", "format='docx' is unknown; choose json, html, moodle, qti, anki, scorm, paper or answers."),
    (f"{SET}&format=json&count=500", "count='500' must be a whole number from 1 to 100."),
    (f"{SET}&format=json&cuont=5", "'cuont' is not a setting of a link. Did you mean count?"),
    (
        "page=practice&level=rising&format=paper",
        "level=rising is for a page: write it with --format html, or choose another level.",
    ),
    (
        f"{SET}&format=json&content=week3",
        "content='week3' is not a set of this app; leave content out to practise with its exercises.",
    ),
    (
        "page=tour&tour=x",
        "tour='x' is unknown; choose from-batchnorm-to-layernorm, normalized-shape or train-and-eval.",
    ),
    ("page=tour", "tour='' is unknown; choose from-batchnorm-to-layernorm, normalized-shape or train-and-eval."),
]


@pytest.mark.parametrize(("query", "message"), WRONG_SETS)
def test_a_wrong_set_or_tour_gets_one_line(app, query, message):
    response = ask(app, f"/export?{query}")
    assert (response.status, response.body.decode()) == (400, f"{message}\n")
