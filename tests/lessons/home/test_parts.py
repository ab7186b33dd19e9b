"""The front page as parts: its links, its field, and its toy."""

import json

from normviz.layers.layer import Layer
from normviz.lessons.home.page import FIRST, TENSOR, toy_data
from normviz.lessons.pages import PAGES, page_view
from normviz.parts.html import Body
from normviz.parts.titles import VIEWS
from tests.support.shown import tree


def html(body: Body, query: str = "") -> str:
    return body.html(page_view(PAGES["home"], PAGES["home"].view(query)).parts)


def test_the_field_needs_an_app_that_reads_it():
    assert "<form" not in html(Body(pages={"/explore": "explore.html"}))
    (form,) = tree(html(Body(app="https://norm.example.org"))).iter("form")
    assert form.attrib["action"] == "https://norm.example.org/explore"


def test_start_here_is_the_button_and_each_page_has_a_door():
    root = tree(html(Body(app="")))
    (first,) = [link for link in root.iter("a") if "nv-front-go" in link.attrib["class"]]
    assert first.attrib["href"] == "/start"
    doors = {
        section.find("h2").text.strip(): [link.text for link in section.iter("a")] for section in root.iter("section")
    }
    assert doors == {
        group: [page.title for page in PAGES.values() if page.group == group and page.name not in VIEWS[1:]]
        for group in ("Learn", "Look up", "Teach")
    }


def test_a_view_that_is_stored_beside_the_front_page_has_a_door_because_no_tab_leads_to_it():
    stored = {f"/{name}": f"{name}.html" for name in ("explore", "compare", "all_layers")}
    (door,) = tree(html(Body(pages=stored))).iter("section")
    assert [link.get("href") for link in door.iter("a")] == ["explore.html", "compare.html", "all_layers.html"]


def test_a_door_without_pages_is_left_out():
    titles = [heading.text.strip() for heading in tree(html(Body(pages={"/start": "start.html"}))).iter("h2")]
    assert titles == ["Learn"]


def test_the_toy_has_the_layers_of_its_tensor_and_opens_with_one_that_is_not_its_first_goal():
    data = json.loads(
        next(one for one in tree(html(Body())).iter("div") if one.get("class") == "nv-toy").attrib["data-toy"]
    )
    opened = [layer["family"] for layer in data["layers"] if layer["standing"] == data["first"]]
    assert (opened, data["goals"][0]) == (["LayerNorm"], "BatchNorm")
    assert all(Layer.parse(layer["name"]) for layer in data["layers"])


def test_a_toy_on_another_tensor_has_the_groups_that_divide_its_channels():
    assert toy_data((2, 6, 3), ("n", "c", "l"), FIRST).steps == [[0, 1], [0, 1, 2], [0, 1]]
    assert toy_data((2, 9, 3), ("n", "c", "l"), FIRST).steps == [[0, 1], [0, 1, 3], [0, 1]]
    assert toy_data((2, 5, 3), ("n", "c", "l"), FIRST).steps == [[0, 1]] * 3
    assert toy_data(*TENSOR, FIRST).steps == [[0, 1], [0, 1, 2], [0, 1], [0, 1]]


def test_it_has_no_view_in_its_address_but_the_language():
    home = PAGES["home"]
    assert home.query(PAGES["explore"].view("shape=2,3&layer=LayerNorm(3)&lang=es&hide=code")) == {"lang": "es"}
