"""Whatever stands in a text is shown as text: in every part, every option, every output."""

import json
import re

import pytest

from normviz.api import explore
from normviz.export.document import document, fragment
from normviz.figures.charts import Lines
from normviz.layers.errors import NormvizError
from normviz.lessons.parts.part import (
    Beside,
    Caption,
    Chart,
    Code,
    Details,
    Heading,
    Note,
    Panels,
    Part,
    Sentence,
    Tabs,
    Text,
    flat,
)
from normviz.lessons.parts.prediction import Prediction
from normviz.lessons.parts.table import Column, Table
from tests.export.structure import HOSTILE, Structure, same_structure

PLAIN = "word"
(VIEW,) = [part for part in flat(explore("LayerNorm(3)", (2, 3)).parts) if isinstance(part, Panels)]


def said(data: object, text: str) -> object:
    """The data of a figure with ``text`` wherever it holds words."""
    words = {"title", "caption", "pattern", "label", "value", "note", "layer", "name"}
    if isinstance(data, dict):
        return {
            key: text if key in words and isinstance(value, str) else said(value, text) for key, value in data.items()
        }
    return [said(value, text) for value in data] if isinstance(data, list | tuple) else data


def parts(text: str) -> list[Part]:
    """One of each kind, with the text wherever it takes one."""
    return [
        Sentence(text),
        Heading(text),
        Text(text),
        Caption(text),
        Note(text),
        Table((Column("code", text, code=True), Column("words", text)), ({"code": text, "words": text},)),
        Table(
            (Column("code", text, code=True), Column("words", text)), ({"code": text, "words": text},), transposed=True
        ),
        Prediction(text, {text: text, "other": text}, text, (Text(text),)),
        Prediction(text, {}, text, ()),
        Code(text),
        Tabs(((text, (Code(text), Text(text))), (text, (Note(text),)))),
        Details(text, (Text(text),)),
        Beside((Text(text),), (Code(text),)),
        Panels(said(VIEW.data, text), VIEW.events),
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_part_shows_it_as_text(text: str) -> None:
    options = {"title": text, "caption": text, "plotly": "cdn"}
    hostile, plain = (
        document(parts(text), **options),
        document(parts(PLAIN), **options | {"title": PLAIN, "caption": PLAIN}),
    )
    same_structure(hostile, plain)
    assert text in Structure(hostile).text  # and nothing of it is lost
    same_structure(
        fragment(parts(text), plotly="cdn", caption=text), fragment(parts(PLAIN), plotly="cdn", caption=PLAIN)
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_the_data_of_the_figures_is_the_same_when_read_and_no_tag_can_begin_in_it(text: str) -> None:
    html = document(parts(text), title="t", plotly="cdn")
    (data,) = re.findall(r'<script type="application/json" class="nv-data">(.*?)</script>', html, re.DOTALL)
    assert not re.search("[<>&\u2028\u2029]", data)
    (figure,) = json.loads(data)["figures"]
    assert figure["panels"][0]["title"] == text


@pytest.mark.parametrize("text", HOSTILE)
def test_an_address_of_plotly_js_or_of_the_app_is_an_address_or_refused(text: str) -> None:
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
def test_a_theme_is_one_of_three(text: str) -> None:
    with pytest.raises(NormvizError, match="choose follow, light or dark"):
        document([], title="t", theme=text)


def test_a_chart_is_data_too() -> None:
    chart = Lines([], {"title": {"text": HOSTILE[0]}})
    html = document([Chart("key", chart, HOSTILE[4])], title="t", plotly="cdn")
    same_structure(html, document([Chart("key", Lines([], {}), PLAIN)], title="t", plotly="cdn"))


def test_a_tag_that_comes_through_would_be_found() -> None:
    wrong = document([], title="t", plotly="cdn").replace("<body>", f"<body>{HOSTILE[2]}")
    with pytest.raises(AssertionError):
        same_structure(wrong, document([], title="t", plotly="cdn"))
