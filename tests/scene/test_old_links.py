"""Links: all of them are documented, each view has one, and published links keep working."""

import json
import re
from itertools import chain
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.analysis.rounding import DTYPES
from normviz.lessons.models.page import REAL_MODELS
from normviz.lessons.pages import PAGES, controls, names_of_links
from normviz.lessons.questions.page import QUESTIONS
from normviz.parts.titles import EXPLORE, HOME, asks_for_a_view
from normviz.scene.scene import SCENE_SETTINGS, commas
from normviz.scene.view import ALL, ALL_CONTROLS, PANELS, PARTS, View, link, read_view
from normviz.texts.errors import NormvizError
from tests.scene.test_scene import scenes
from tests.scene.test_visibility import frames
from tests.support.cases import case
from tests.support.needs import cases_in_torch, needs_half
from tools.link_tables import TITLES, updated

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "links.md").read_text(encoding="utf-8")
SETTINGS = {name: page.settings for name, page in PAGES.items()}


def read_link(text: str) -> tuple[str, View]:
    """The page and the view of ``/compare?layers=...``."""
    parts = urlsplit(text)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    page = parts.path.strip("/") or (EXPLORE if asks_for_a_view(query) else HOME)
    return page, read_view(query, SETTINGS[page], names_of_links())


# The document


def rows(text: str) -> list[list[str]]:
    cells = [re.split(r"(?<!\\) \| ", line.strip("| ")) for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line] for line in cells]


@needs_half
@pytest.mark.rule("The tables of docs/links.md come from the settings that are declared: make made")
def test_the_tables_are_made_from_the_declarations():
    assert updated(DOCUMENT) == DOCUMENT


def test_everything_that_can_be_hidden_is_in_the_last_table():
    named = [
        row[0].strip("`")
        for row in rows(DOCUMENT)
        if row[1] in ("group", "control", "part of a page", "part of a figure")
    ]
    assert sorted(named) == sorted([ALL, ALL_CONTROLS, *controls(), *PARTS, *PANELS])


EXAMPLES = [
    (row[1] if len(row) == 4 else TITLES["explore"], example)
    for row in rows(DOCUMENT)
    if len(row) >= 3
    for example in re.findall(r"`(\w+=.*?)`", row[-1])
]


def test_every_example_is_a_legal_value():
    for title, example in EXAMPLES:
        with case(title, example):
            check_example(title, example)


def check_example(title, example):
    page = next(name for name, known in TITLES.items() if known == title)
    name, value = example.split("=", 1)
    with_it = {name: value, **({"shape": "2,4,4,4"} if "GroupNorm(2,4)" in value else {})}
    with_it |= {"shape": "2,64,56,56"} if name == "from" else {"shape": "1,4"} if name == "values" else {}
    with_it |= {"layer": "LayerNorm(3)", "shape": "2,4,4,3"} if name == "layout" else {}
    with_it |= {"layer": "LayerNorm(4)", "shape": "2,4,4"} if name == "like" else {}
    with_it |= {"q": "s0"} if name == "guess" else {}
    view = read_view(with_it, SETTINGS[page], names_of_links())
    assert view.problem is None
    if name not in ("v", "embed", "embed_options"):
        assert name in view.query(SETTINGS[page]) or read_view({}, SETTINGS[page]) == view


def test_every_name_has_an_example():
    named = {example.split("=")[0] for _, example in EXAMPLES}
    settings = {setting.name for settings in SETTINGS.values() for setting in settings}
    assert named == {
        *SCENE_SETTINGS,
        *settings,
        "hide",
        "caption",
        "v",
        "present",
        "tour",
        "stop",
        "like",
        "open",
        "lang",
        "embed",
        "embed_options",
    }


@cases_in_torch
@pytest.mark.parametrize("text", re.findall(r"^(/\S*\?.*)$", DOCUMENT, re.MULTILINE))
def test_the_links_at_its_head_are_valid(text):
    assert read_link(text)[1].problem is None


# Every view has a link

WORDS = [
    *[one.name for one in PAGES["train_and_eval"].experiments],
    *[one.name for one in PAGES["gradients"].experiments],
    *[one.name for one in PAGES["numerics"].experiments],
    "gamma",
    "outlier",
    "signs",
    *DTYPES,
    *REAL_MODELS,
    "batch",
    "nn.LayerNorm(768) on 2, 128, 768",
    *QUESTIONS,
    "none",
    "compare",
    "build",
    "true",
]
NUMBERS = ["0", "1", "2", "3", "4", "16", "-3", "0.25", "1e-05", "1e6", "1e-12", "1000"]
TEXTS = ["BatchNorm2d(3);LayerNorm([3, 4, 4])", "Norm('n c -> n', 'c')", "a b&c=d#e+f%20", "\"<b>'>", "ü–∑ 𝛾"]


def legal(setting):
    """Any text of a setting in an address."""

    def reads(text):
        try:
            setting.parse(text)
        except NormvizError:
            return False
        return True

    return [setting.parse(text) for text in (*WORDS, *NUMBERS, *TEXTS) if reads(text)]


@st.composite
def views(draw):
    page = draw(st.sampled_from(list(SETTINGS)))
    settings = {setting.name: draw(st.sampled_from([setting.default, *legal(setting)])) for setting in SETTINGS[page]}
    return page, View(draw(scenes()), settings, display=draw(frames))


@given(views())
def test_a_view_reads_back_from_its_link(drawn):
    page, view = drawn
    text = f"/{page}{link(view.query(SETTINGS[page]))}"
    assert re.fullmatch(r"[A-Za-z0-9,()\[\]=.:'>_%&;~/?-]*", text)
    unused = {one.name: one.default for one in SETTINGS[page] if not one.applies(view)}  # no link has them
    assert read_link(text) == (page, view.with_settings(**unused))


def test_the_round_trip_tries_values_other_than_the_default():
    for setting in chain.from_iterable(SETTINGS.values()):
        with case(setting.name):
            assert any(value != setting.default for value in legal(setting))


# Published links

OLD = [
    line.split("\t")
    for line in (Path(__file__).with_name("old_links.txt")).read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


NEWER = {
    "questions": ("of",),
    "compare": {"cards"},
    "train_and_eval": {"norm", "batch"},
    "practice": {"kinds", "mixture", "content", "time"},
    "teach": {"plan", "count", "topics", "level", "kinds", "mixture"},
}  # settings that came later: old links leave them at their defaults


@cases_in_torch
@pytest.mark.rule("An old link shows what it showed. A new setting of a page: add its name to NEWER in this file")
@pytest.mark.parametrize("old", OLD, ids=lambda old: old[0])
def test_an_old_link_shows_what_it_showed(old):
    text, shape, layout, layer, at, x, settings = old
    page, view = read_link(text)
    scene = view.scene
    assert view.problem is None
    assert [commas(scene.shape), scene.layout, str(scene.layer)] == [shape, layout, layer]
    assert ("none" if scene.at is None else commas(scene.at)) == at
    for_all = f" {scene.gamma} {scene.beta}" if scene.scaled else ""
    assert f"{'values' if scene.values else f'{scene.data} {scene.seed}'} {scene.params}{for_all}" == x
    written = {setting.name: setting.format(view.settings[setting.name]) for setting in SETTINGS[page]}
    newer = {
        setting.name: setting.format(setting.default)
        for setting in SETTINGS[page]
        if setting.name in NEWER.get(page, ())
    }
    assert written | view.display.query() == newer | json.loads(settings)


def test_the_old_links_cover_every_page_and_every_name():
    pages = {read_link(old[0])[0] for old in OLD}
    assert pages == set(SETTINGS)
    names = {name for old in OLD for name, _ in parse_qsl(urlsplit(old[0]).query)}
    assert {*SCENE_SETTINGS, "hide", "caption", "v", "present", "tour", "stop", "embed", "embed_options"} <= names
    assert len({old[0] for old in OLD}) == len(OLD) > 100
