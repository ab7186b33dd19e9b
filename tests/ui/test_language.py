"""The language of a session: of the link, of the header, of the browser; no page mixes two."""

import json
import re

import pytest
from starlette.applications import Starlette

from normviz.lessons.pages import PAGES
from normviz.ui import request
from normviz.ui.server import index
from normviz.ui.server.process import import_future
from normviz.ui.server.routes import routes
from tests.support.asgi import ask
from tests.support.driver import query, send_event, set_control
from tests.support.languages import brackets as brackets
from tests.support.pages import go_to_page, open_page
from tests.support.shown import elements, page_data, page_html, problems


def shown(app):
    """The language in which the page came."""
    return page_data(app)["language"]["name"]


@pytest.mark.parametrize(
    ("named", "chosen", "accepted", "found"),
    [
        ("xb", "en", "en", "xb"),
        ("", "xb", "en", "xb"),
        ("", "", "fr,xb;q=0.8,en;q=0.5", "xb"),
        ("", "", "en-US,en;q=0.9,xb;q=0.8", "en"),
        ("", "", "xb;q=0,de", "en"),
        ("", "", "xb;q=much", "en"),
        ("tlh", "tlh", "xb-Latn-ZZ", "xb"),
        ("", "", "", "en"),
        ("", "", "de," * 300 + "xb", "xb"),
        ("", "", "de," * 400 + "xb", "en"),  # of a header, 1,000 characters are read
    ],
)
def test_the_link_comes_before_the_choice_and_the_choice_before_the_browser(brackets, named, chosen, accepted, found):
    assert request.language_of(named, chosen, accepted) == found


def test_a_link_names_the_language_of_the_session(brackets):
    app = open_page("explore", "lang=xb")
    assert shown(app) == "xb"
    assert "⟦" in elements(app, "nv-sentence")[0].text
    assert [name for name, *_ in page_data(app)["languages"]][:1] == ["en"]
    assert shown(go_to_page(app, "compare")) == "xb"  # the list of pages sends no query
    app.query_params["lang"] = "en"
    assert shown(app.run()) == "en"
    assert shown(open_page("explore")) == "en"


def test_a_change_keeps_the_language_and_its_name_in_the_address(brackets):
    app = open_page("explore", "lang=xb&shape=2,3&layer=LayerNorm(3)")
    set_control(app, "family", "RMSNorm")
    assert query(app)["lang"] == "xb"
    assert "⟦" in elements(app, "nv-sentence")[0].text
    set_control(app, "seed", 3)  # in the popover, which is a fragment
    assert "⟦" in page_html(app)
    assert query(go_to_page(app, "step_by_step"))["lang"] == "xb"


def test_the_message_about_a_refused_change_has_the_language(brackets):
    app = open_page("explore", "lang=xb&shape=4096,4096&layer=LayerNorm(4096)")
    send_event(app, "edit", {"at": [0, 0], "value": 1, "turn": 1})
    assert problems(app)[0].startswith("⟦")


def test_an_unknown_language_is_a_message_with_what_was_meant():
    app = open_page("explore", "lang=eng")
    assert problems(app) == ["lang='eng' is unknown. Did you mean en?"]
    assert shown(app) == "en"


def test_share_names_the_language_of_the_reader(brackets):
    assert ["lang", "xb"] in page_data(open_page("explore", "lang=xb"))["share"]["query"]
    assert ["lang", "en"] in page_data(open_page("explore", "lang=en"))["share"]["query"]
    assert "lang" not in dict(page_data(open_page("explore"))["share"]["query"])


def test_what_stays_english_says_so(brackets):
    html = page_html(open_page("explore", "lang=xb&shape=2,3&layer=LayerNorm(7)"))
    assert '"<span lang="en" translate="no">Given normalized_shape=[7]' in html.replace("&quot;", '"')
    html = page_html(open_page("questions", "lang=xb&q=q2"))
    assert '<span lang="en" translate="no"><a href=' in html  # its sources
    assert 'lang="en"' not in page_html(open_page("explore", "shape=2,3&layer=LayerNorm(7)"))


@pytest.fixture
def app(monkeypatch, brackets):
    import_future().result()
    monkeypatch.setattr(index, "PATIENCE", 60)
    return Starlette(routes=routes())


def test_the_first_html_has_the_language_of_the_request(app):
    asked = [
        ask(app, "/?lang=xb"),
        ask(app, "/", accept_language="xb"),
        ask(app, "/", cookie=f"{request.COOKIE}=xb", accept_language="en"),
    ]
    for response in asked:
        html = response.body.decode()
        assert '<html lang="xb" dir="ltr">' in html
        assert "⟦Explore⟧" in html
        assert response.headers["vary"] == "Accept-Encoding, Accept-Language, Cookie"
    english = ask(app, "/").body.decode()
    assert '<html lang="en" dir="ltr">' in english
    assert "⟦" not in english


def test_each_language_has_its_script(app):
    scripts = [
        re.findall(r"modulepreload.*?(lib/normviz-\w+.js)", ask(app, f"/?lang={name}").body.decode())
        for name in ("en", "xb")
    ]
    (english,), (other,) = scripts
    assert english != other
    assert '"Share":"⟦Share' not in ask(app, f"/{english}").body.decode()
    assert '"Share":"⟦Share' in ask(app, f"/{other}").body.decode()


@pytest.mark.parametrize("name", PAGES)
def test_pages_of_one_process_do_not_mix_languages(brackets, name):
    def data(lang):
        app = open_page(name, f"lang={lang}")
        return [json.loads(found.proto.json)[0] for found in app.get("bidi_component")], app.title[0].value

    first, english, again = data("xb"), data("en"), data("xb")
    assert "⟦" not in json.dumps(english, ensure_ascii=False)
    assert again == first
    assert "⟦" in first[1]


def test_an_exported_file_has_the_language_of_its_link(app):
    page = "/export?page=explore&shape=2,3&layer=LayerNorm({})&fixed=true&plotlyjs=cdn"
    html = ask(app, f"{page.format(3)}&lang=xb").body.decode()
    assert '<html lang="xb" dir="ltr"' in html
    assert "⟦" in html
    english = ask(app, page.format(3), accept_language="xb").body.decode()  # a cache may keep it for other readers
    assert '<html lang="en" dir="ltr"' in english
    refused = ask(app, f"{page.format(7)}&lang=xb")
    assert refused.status == 400
    assert refused.body.decode().startswith("⟦")
    assert b"lang='eng' is unknown" in ask(app, f"{page.format(3)}&lang=eng").body
