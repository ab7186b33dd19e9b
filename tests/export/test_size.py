"""One HTML file: it is small and self-contained, and has the script of the app without comments."""

import json
import re

from normviz.api.pages import explore
from normviz.export.document import css, document
from tests.support.structure import Structure

SMALL = 275_000  # bytes; the script is 210 kB of them


def test_without_plotly_js_a_small_tensor_makes_a_small_file():
    html = explore("LayerNorm([3, 4, 4])", (2, 3, 4, 4)).to_html(plotlyjs="lib/plotly.js")
    assert len(html.encode()) < SMALL


def test_a_file_with_inline_plotly_js_names_no_other_address():
    html = explore("LayerNorm([3, 4, 4])", (2, 3, 4, 4)).to_html(plotlyjs="inline")
    assert [address for address in Structure(html).addresses if not address.startswith("data:")] == []
    assert "url(" not in css()
    assert "@import" not in css()
    (data,) = re.findall(r'class="nv-data">(.*?)</script>', html)
    assert (json.loads(data)["plotly"], json.loads(data)["integrity"]) == ("", "")


def test_from_a_cdn_plotly_js_is_checked_by_its_hash():
    (data,) = re.findall(r'class="nv-data">(.*?)</script>', document([], title="t", plotly="cdn"))
    assert json.loads(data)["plotly"].startswith("https://cdn.plot.ly/plotly-cartesian-")
    assert json.loads(data)["integrity"].startswith("sha384-")
