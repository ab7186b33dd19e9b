"""Hostile text is shown as text in every part, every option and every output."""

import dataclasses
import json
import re
from dataclasses import is_dataclass, replace
from typing import Any

import pytest

from normviz.api.pages import explore
from normviz.export.document import document, fragment
from normviz.figures.charts import Lines
from normviz.parts.part import (
    Beside,
    Caption,
    Chart,
    Code,
    Details,
    Heading,
    Note,
    Panels,
    Part,
    Prediction,
    Sentence,
    Table,
    Tabs,
    Text,
    flat,
)
from normviz.texts.errors import NormvizError
from tests.support.structure import HOSTILE, Structure, same_structure

PLAIN = "word"
(VIEW,) = [part for part in flat(explore("LayerNorm(3)", (2, 3)).parts) if isinstance(part, Panels)]


def replace_words(data: Any, text: str) -> Any:
    """The data of a figure with all its words replaced by ``text``."""
    words = {"title", "caption", "pattern", "label", "value", "note", "layer", "name", "code"}
    if is_dataclass(data) and not isinstance(data, type):
        fields = {field.name: getattr(data, field.name) for field in dataclasses.fields(data) if field.init}
        return replace(data, **replace_words(fields, text))
    if isinstance(data, dict):
        return {
            key: text if key in words and isinstance(value, str) else replace_words(value, text)
            for key, value in data.items()
        }
    return type(data)(replace_words(value, text) for value in data) if type(data) in (list, tuple) else data


def parts(text: str) -> list[Part]:
    """One part of each kind, with ``text`` in all its text fields."""
    return [
        Sentence(text),
        Heading(text),
        Text(text),
        Caption(text),
        Note(text),
        Table((text, text), ((text, text),), code=(0,)),
        Table((text, text), ((text, text),), code=(0,), transposed=True),
        Prediction(text, {text: text, "other": text}, text, (Text(text),), text, {"other": text}),
        Prediction(text, {}, text, ()),
        Code(text),
        Tabs(((text, (Code(text), Text(text))), (text, (Note(text),)))),
        Details(text, (Text(text),)),
        Beside((Text(text),), (Code(text),)),
        Panels(replace_words(VIEW.data, text), VIEW.events),
    ]


def test_every_title_of_the_figure_is_replaced() -> None:
    assert {panel.title for panel in replace_words(VIEW.data, PLAIN).panels} == {PLAIN}


@pytest.mark.parametrize("text", HOSTILE)
def test_every_part_shows_hostile_text_as_text(text: str) -> None:
    options = {"title": text, "caption": text, "plotly": "cdn"}
    hostile, plain = (
        document(parts(text), **options),
        document(parts(PLAIN), **options | {"title": PLAIN, "caption": PLAIN}),
    )
    same_structure(hostile, plain)
    assert text in Structure(hostile).text  # no character is lost
    same_structure(
        fragment(parts(text), plotly="cdn", caption=text), fragment(parts(PLAIN), plotly="cdn", caption=PLAIN)
    )


def test_half_a_surrogate_pair_is_replaced_in_every_part_and_option() -> None:
    half = "a\ud800"
    shown = explore("LayerNorm(3)", (2, 3)).with_(caption=half)
    for html in (document(parts(half), title=half, caption=half, plotly="cdn"), shown.to_html(plotlyjs="cdn")):
        assert "a\ufffd" in html
        assert html.encode().decode() == html  # UTF-8 can write it


@pytest.mark.parametrize("text", HOSTILE)
def test_the_data_of_the_figures_reads_back_and_cannot_start_a_tag(text: str) -> None:
    html = document(parts(text), title="t", plotly="cdn")
    (data,) = re.findall(r'<script type="application/json" class="nv-data">(.*?)</script>', html, re.DOTALL)
    assert not re.search("[<>&\u2028\u2029]", data)
    (figure,) = json.loads(data)["figures"]
    assert figure["panels"][0]["title"] == text


@pytest.mark.parametrize("text", HOSTILE)
def test_an_invalid_address_of_plotly_js_or_of_the_app_is_refused(text: str) -> None:
    plain = document([], title="t", plotly="lib/plotly.js", link="https://example.org/x")
    same_structure_or_refused("plotly", text, plain)
    same_structure_or_refused("plotly", f"lib/{text}", plain)
    same_structure_or_refused("link", text, plain)
    same_structure_or_refused("link", f"https://example.org/{text}", plain)


def same_structure_or_refused(option: str, value: str, plain: str) -> None:
    given = {"plotly": "lib/plotly.js", "link": "https://example.org/x"} | {option: value}
    refusal = "is not a location of plotly.js|is not a web address"
    try:
        same_structure(document([], title="t", **given), plain)
    except NormvizError:
        with pytest.raises(NormvizError, match=refusal):
            document([], title="t", **given)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_theme_is_follow_light_or_dark(text: str) -> None:
    with pytest.raises(NormvizError, match="choose follow, light or dark"):
        document([], title="t", theme=text)


def test_a_chart_is_passed_as_data_too() -> None:
    chart = Lines([], {"title": {"text": HOSTILE[0]}})
    html = document([Chart("key", chart, HOSTILE[4])], title="t", plotly="cdn")
    same_structure(html, document([Chart("key", Lines([], {}), PLAIN)], title="t", plotly="cdn"))


def test_the_comparison_finds_an_injected_tag() -> None:
    wrong = document([], title="t", plotly="cdn").replace("<body>", f"<body>{HOSTILE[2]}")
    with pytest.raises(AssertionError):
        same_structure(wrong, document([], title="t", plotly="cdn"))
