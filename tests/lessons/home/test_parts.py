"""The front page as parts: its links, its field, and its figure."""

from normviz.lessons.pages import PAGES, page_view
from normviz.parts.html import Body
from normviz.parts.part import Panels, flat
from tests.support.shown import tree


def html(body: Body, query: str = "") -> str:
    return body.html(page_view(PAGES["home"], PAGES["home"].view(query)).parts)


def test_the_field_needs_an_app_that_reads_it():
    assert "<form" not in html(Body(pages={"/explore": "explore.html"}))
    (form,) = tree(html(Body(app="https://norm.example.org"))).iter("form")
    assert form.attrib["action"] == "https://norm.example.org/explore"


def test_explore_is_one_click_away_and_each_page_has_a_door():
    root = tree(html(Body(app="")))
    (first,) = [link for link in root.iter("a") if "nv-front-go" in link.attrib["class"]]
    assert first.attrib["href"] == "/explore"
    doors = {
        section.find("h2").text.strip(): [link.text for link in section.iter("a")] for section in root.iter("section")
    }
    assert doors == {
        group: [page.title for page in PAGES.values() if page.group == group] for group in ("Learn", "Look up", "Teach")
    }


def test_a_door_without_pages_is_left_out():
    titles = [heading.text.strip() for heading in tree(html(Body(pages={"/start": "start.html"}))).iter("h2")]
    assert titles == ["Learn"]


def test_the_figure_is_answered_without_a_server():
    (figure,) = [
        part for part in flat(page_view(PAGES["home"], PAGES["home"].view("")).parts) if isinstance(part, Panels)
    ]
    assert figure.events == ()
    assert [layer.name.partition("(")[0] for layer in figure.data.layers] == ["BatchNorm2d", "LayerNorm", "InstanceNorm2d", "GroupNorm"]  # fmt: skip


def test_it_has_no_view_in_its_address_but_the_language():
    home = PAGES["home"]
    assert home.query(PAGES["explore"].view("shape=2,3&layer=LayerNorm(3)&lang=es&hide=code")) == {"lang": "es"}
