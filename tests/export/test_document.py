"""The HTML of an output: its styles and ids do not affect another page, and text in it stays text."""

import json
import re

import pytest
import torch

import normviz as nv
from normviz.export.document import VERSION, document, fragment
from normviz.export.output import Choices
from normviz.parts.part import Caption, Code, Heading, Note, Sentence, Table, Tabs, Text
from normviz.texts.errors import NormvizError

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'</style></script>[a](javascript:alert(1))"


def css(html):
    return re.search(r"<style>(.*?)</style>", html, re.DOTALL).group(1)


def outer(style):
    """The outermost selectors, including those in media queries."""
    found, depth, start = [], 0, 0
    for place, sign in enumerate(style):
        if sign == "{":
            name = style[start:place].strip()
            if depth == 0:
                found.append(name)
            depth += 0 if name.startswith("@") and depth == 0 else 1
            start = place + 1
        elif sign == "}":
            depth = max(0, depth - 1)
            start = place + 1
        elif sign == ";":
            start = place + 1
    return [name for name in found if not name.startswith("@") and name != "to"]


def test_every_style_rule_is_scoped_to_the_class_of_the_document():
    selectors = outer(css(fragment([Sentence("One")], plotly="cdn")))
    assert ":is(.nv-doc, #nv-doc)" in selectors
    for selector in selectors:
        assert all(re.match(r"(\.nv-|:is\(\.nv-)", each.strip()) for each in re.split(r",(?![^(]*\))", selector)), (
            selector
        )


def test_a_fragment_has_no_ids():
    html = nv.explore("LayerNorm([3, 4, 4])").to_html(full=False, plotlyjs="cdn")
    assert not re.search(r"<[^>]* id=", re.sub(r"<(script|style).*?</\1>", "", html, flags=re.DOTALL))


def test_a_file_has_one_heading_of_the_first_level_and_a_fragment_leaves_it_to_its_page():
    parts = [Heading("Eps"), Sentence("One")]
    assert re.findall("<h1[^>]*>(.*?)</h1>", document(parts, title="a < b", plotly="cdn")) == ["a &lt; b"]
    assert "<h1" not in fragment(parts, plotly="cdn")


def test_text_stays_text():
    parts = [Sentence(EVIL), Heading(EVIL), Text(EVIL), Caption(EVIL), Note(EVIL), Code(EVIL), Tabs(((EVIL, (Text(EVIL),)),)), Table((EVIL,), ((EVIL,),))]  # fmt: skip
    html = document(parts, title=EVIL, caption=EVIL[:200], plotly="cdn")
    bare = re.sub(r"<(style)>.*?</style>", "", html, flags=re.DOTALL)
    assert "<script>alert" not in bare
    assert "<img" not in bare
    assert 'href="javascript' not in bare
    assert html.count("<script") == html.count("</script>") == 2


def test_the_data_of_the_figures_is_json_that_cannot_end_its_script():
    html = nv.explore("LayerNorm(4)", (2, 4)).to_html(full=False, plotlyjs="cdn")
    (data,) = re.findall(r'<script type="application/json" class="nv-data">(.*?)</script>', html, re.DOTALL)
    assert "<" not in data
    assert json.loads(data)["figures"][0]["panels"]
    assert (json.loads(data)["version"], json.loads(data)["normviz"]) == (VERSION, nv.__version__)


def test_without_scripts_and_styles_a_line_says_what_to_do():
    html = nv.explore("LayerNorm(4)", (2, 4)).to_html(full=False, plotlyjs="cdn")
    assert "In a notebook that is not trusted yet, run the cell." in html
    assert "&[data-mounted] .nv-unstyled{display:none;}" in css(html)


def test_a_link_must_be_a_web_address():
    with pytest.raises(NormvizError, match="is not a web address"):
        fragment([], link="javascript:alert(1)")


REFUSED = [
    lambda: nv.explore("LayerNorm(4)", (2, 4)).to_html(),
    lambda: nv.explore("LayerNorm(4)", (2, 4)).with_(choices=Choices()).to_html(),
    lambda: nv.norms(torch.nn.LayerNorm(4), torch.ones(2, 4)).to_html(),
]


@pytest.mark.parametrize("export", REFUSED, ids=["page", "choices", "norms"])
def test_the_address_of_the_app_must_be_a_web_address(export, monkeypatch):
    monkeypatch.setenv("NORMVIZ_URL", "javascript:alert(1)")
    with pytest.raises(NormvizError, match=r"NORMVIZ_URL='javascript:alert\(1\)' is not a web address; begin it with"):
        export()


def test_the_address_of_an_app_to_choose_must_be_a_web_address():
    with pytest.raises(NormvizError, match=r"app='javascript:alert\(1\)' is not a web address"):
        Choices(app="javascript:alert(1)")
