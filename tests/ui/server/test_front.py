"""The front page over HTTP: its form, its links and its toy are in the first HTML, and other links to its address lead to Explore."""

import json
import re
from concurrent.futures import Future
from urllib.parse import parse_qsl, quote, urlsplit
from xml.etree.ElementTree import Element

import pytest
from starlette.applications import Starlette

from normviz.lessons.pages import PAGES
from normviz.lessons.story.figures import LinkedFigure
from normviz.lessons.story.page import SECTIONS, story
from normviz.parts.html import block
from normviz.parts.titles import LEARN, LOOK_UP, TEACH
from normviz.parts.titles import VIEWS as TABS
from normviz.scene.view import read_typed
from normviz.texts.languages import languages
from normviz.texts.messages import in_language
from normviz.ui.server import index
from normviz.ui.server.process import import_future
from normviz.ui.server.routes import routes
from tests.support.asgi import ask
from tests.support.shown import tree

VIEWS = ["shape=2,4", "shap=2,4", "embed=true", "embed=true&embed_options=dark_theme", "hide=all", "lang=es&layer=LayerNorm(3)", "v=1", "tour=nowhere", "x="]  # fmt: skip
FRONT = [
    "",
    "lang=es",
    "embed_options=dark_theme",
    "utm_source=mail&utm_medium=x",
    "fbclid=1",
    "gclid=1&lang=pt",
    "mc_cid=2",
]


@pytest.fixture
def app() -> Starlette:
    import_future().result()
    return Starlette(routes=routes())


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside other work, a page may take longer than a reader should wait for it."""
    monkeypatch.setattr(index, "PATIENCE", 60.0)


@pytest.mark.parametrize("starting", [False, True])
@pytest.mark.parametrize("query", VIEWS)
def test_the_address_of_the_app_with_a_view_leads_to_explore(
    app: Starlette, monkeypatch: pytest.MonkeyPatch, query: str, starting: bool
) -> None:
    if starting:
        monkeypatch.setattr(index, "import_future", Future)  # which is not done
    response = ask(app, f"/?{query}")
    assert (response.status, response.headers["location"]) == (307, f"./explore?{query}")


@pytest.mark.parametrize("query", FRONT)
def test_a_language_a_theme_and_a_campaign_stay_on_the_front_page(app: Starlette, query: str) -> None:
    response = ask(app, f"/?{query}")
    assert response.status == 200
    assert b"nv-front-field" in response.body


def test_an_unknown_name_gets_its_message_in_the_first_html_of_explore(app: Starlette) -> None:
    html = ask(app, ask(app, "/?shap=2,4").headers["location"].removeprefix(".")).body.decode()
    assert "shap is not a setting of a link. Did you mean shape?" in data_of(html)["parts"][0][1].replace("&#x27;", "")


def data_of(html: str) -> dict:
    (found,) = re.findall(r'<script type="application/json" id="normviz-data">(.*?)</script>', html)
    return json.loads(found)


def first_page(html: str) -> str:
    """The page that is painted before any script has run."""
    return html[html.index('<div id="normviz-first">') :].partition("<script")[0]


def test_the_first_html_has_the_title_the_field_the_pages_and_the_toy(app: Starlette) -> None:
    html = ask(app, "/").body.decode()
    page = first_page(html)
    root = tree(page)
    (heading,) = root.iter("h1")
    assert heading.text == PAGES["home"].heading[0]
    (form,) = root.iter("form")
    assert (form.attrib["action"], form.attrib.get("method", "get")) == ("./explore", "get")
    assert [field.attrib["name"] for field in form.iter("input")] == ["typed"]
    (label,) = form.iter("label")
    assert label.attrib["for"] == next(form.iter("input")).attrib["id"]
    doors = next(one for one in root.iter("div") if one.attrib.get("class") == "nv-doors")
    assert {link.attrib["href"] for link in doors.iter("a")} == {
        f"./{name}" for name, page in PAGES.items() if page.is_listed
    }
    (toy,) = (one for one in root.iter("div") if one.attrib.get("class") == "nv-toy")
    assert toy.attrib["data-layer"] == "LayerNorm([3, 5])"
    assert len(list(toy.iter("svg"))) == 2  # who shares a mean, and who shares a gamma
    assert data_of(html)["figures"] == []  # no plotly.js


def words(root: Element) -> str:
    return " ".join("".join(root.itertext()).split())


@pytest.mark.parametrize("language", languages())
def test_the_first_html_of_the_story_is_the_article_with_all_states_of_its_figures(
    app: Starlette, language: str
) -> None:
    html = ask(app, f"/story?lang={language}").body.decode()
    root = tree(first_page(html))
    with in_language(language):
        prose = [section.prose for section in SECTIONS]
        states = sum(
            len(part.states) for part in (one.figure for one in story().sections) if isinstance(part, LinkedFigure)
        )
    assert [heading.text for heading in root.iter("h2")] == [one.title for one in prose]
    shown = words(root)
    paragraphs = [paragraph for one in prose for paragraph in one.text.split("\n\n")]  # small pictures are between them
    assert [text for text in paragraphs if words(tree(f"<div>{block(text)}</div>")) not in shown] == []
    assert len(data_of(html)["figures"]) == states
    assert all(figure["alone"] for figure in data_of(html)["figures"])  # no server answers them


def test_the_form_keeps_the_language_that_the_address_names(app: Starlette) -> None:
    fields = [field.attrib for field in tree(first_page(ask(app, "/?lang=es").body.decode())).iter("input")]
    assert [(one["name"], one.get("value")) for one in fields] == [("lang", "es"), ("typed", None)]


@pytest.mark.parametrize("page", ["explore", "start", "teach"])
def test_the_header_has_the_groups_and_marks_that_of_the_page(app: Starlette, page: str) -> None:
    html = ask(app, f"/{page}").body.decode()
    header = tree(re.findall(r"<header>.*?</header>", html)[0])
    groups = {summary.text: summary.attrib.get("aria-current") for summary in header.iter("summary")}
    assert groups == {group: "true" if group == PAGES[page].group else None for group in (LEARN, LOOK_UP, TEACH)}
    links = [link.attrib for link in header.iter("a")]
    assert links[0]["href"] == "./"  # the logo
    assert [link["href"] for link in links if link.get("aria-current") == "page"] == [f"./{page}"]


@pytest.mark.parametrize("page", ["compare", "all_layers"])
def test_the_views_of_one_tensor_are_tabs_that_keep_it(app: Starlette, page: str) -> None:
    query = "shape=2,6,4&layout=NCL&layer=GroupNorm(2,6)&at=1,2,3"
    (tabs,) = re.findall(r"<nav class=\"nv-views.*?</nav>", ask(app, f"/{page}?{query}").body.decode())
    links = [link.attrib for link in tree(tabs).iter("a")]
    assert [link["data-page"] for link in links] == list(TABS)
    assert [link["data-page"] for link in links if "aria-current" in link] == [page]
    for link in links:
        if link["data-page"] == page:
            assert "href" not in link
            continue
        address = urlsplit(link["href"])
        assert address.path == f"./{link['data-page']}"
        assert link["data-query"] == f"?{address.query}"  # what the script follows at a click
        scene = PAGES[link["data-page"]].view(address.query).scene
        assert (scene.shape, scene.layout, str(scene.layer), scene.at) == (
            (2, 6, 4),
            "NCL",
            "GroupNorm(2, 6)",
            (1, 2, 3),
        )


def test_no_other_page_has_these_tabs(app: Starlette) -> None:
    assert '<nav class="nv-views' not in ask(app, "/numerics").body.decode()


TYPED = [
    ("LayerNorm(96)", {"layer": "LayerNorm([96])"}),
    ("nn.batchnorm(64).eval()", {"layer": "BatchNorm2d(64).eval()"}),
    ("LayerNorm(96) on (8, 96, 56, 56)", {"shape": "8,96,56,56", "layer": "LayerNorm([96])"}),
    ("RuntimeError: running_mean should contain 64 elements not 128", {"shape": "2,64,3,5", "layer": "BatchNorm2d(128)"}),
    ("GroupNorm(3, 4)", {"layer": "GroupNorm(3,4)"}),
    ("(bn1): BatchNorm2d(64, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)", {"layer": "BatchNorm2d(64)"}),
    ("self.norm = nn.LayerNorm(dim)", {"layer": "LayerNorm([4])"}),
    ("self.norm1 = nn.GroupNorm(32, in_channels, eps=eps)", {"layer": "GroupNorm(32,64)"}),
    ("nn.LayerNorm([C, H, W])", {"layer": "LayerNorm([4,3,5])"}),
    ("x = F.layer_norm(x, x.shape[1:])", {"shape": "2,4,3,5", "layer": "LayerNorm([4,3,5],elementwise_affine=False)"}),
    ("y = nn.BatchNorm1d(10)(torch.randn(4, 20, 10))", {"shape": "4,20,10", "layer": "BatchNorm1d(10)"}),
    ("RuntimeError: Expected weight to be of same shape as normalized_shape, but got weight of shape [10] and normalized_shape = [5, 10]", {"shape": "2,5,10", "layer": "LayerNorm([5,10])"}),
    ("y = (x - x.mean(-1)) / x.std(-1)", {"shape": "2,5,4", "layer": "LayerNorm([4],elementwise_affine=False)"}),
    ("", {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "query"), TYPED)
def test_what_is_typed_is_replaced_in_the_address_by_its_view(app: Starlette, text: str, query: dict[str, str]) -> None:
    response = ask(app, f"/explore?lang=es&typed={quote(text)}")
    address = urlsplit(response.headers["location"])
    assert (response.status, address.path) == (307, "./explore")
    kept = {"typed": text} if read_typed(text or "LayerNorm(4)").note else {}
    assert dict(parse_qsl(address.query)) == {"lang": "es", **kept, **query}


def test_what_has_no_view_gets_a_message(app: Starlette) -> None:
    response = ask(app, "/explore?typed=my_layer(3)")
    assert response.status == 200
    assert "'my_layer(3)': what is read here is a layer" in tree_text(data_of(response.body.decode()))


@pytest.mark.parametrize("text", ["layernorm vs batchnorm", "model.eval() in a loop", "CUDA out of memory"])
def test_words_and_code_that_is_no_layer_go_to_the_search_of_the_questions(app: Starlette, text: str) -> None:
    address = urlsplit(ask(app, f"/explore?typed={quote(text)}").headers["location"])
    assert (address.path, dict(parse_qsl(address.query))) == ("./questions", {"search": text})


def tree_text(data: dict) -> str:
    return " ".join(tree("".join(html for _key, html in data["parts"])).itertext())


def test_a_note_about_what_is_typed_is_shown_with_its_view(app: Starlette) -> None:
    response = ask(
        app, f"/explore?typed=x.var(-1)&shape=2,5,4&layer={quote('LayerNorm([4],elementwise_affine=False)')}"
    )
    assert response.status == 200
    assert "torch's var divides by m - 1" in tree_text(data_of(response.body.decode()))
