"""Outputs on any page: they share plotly.js, look the same everywhere, and change nothing around them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

import normviz as nv
from tests.browser.conftest import PATIENCE
from tools.hosts import Host, mode, wait_for_mode

pytestmark = pytest.mark.browser

HOST = "<h2>A</h2><p>b <code>c</code> <a href='#'>d</a></p><table><tr><th>e<td>f</table><pre>g</pre><dl><dt>h<dd>i</dl><button>j</button>"
UNKIND = """<style>
  article.a section.b h2, article.a p, article.a li { color: red; margin: 40px; font: italic 40px serif; text-transform: uppercase; }
  article.a table tbody tr:nth-child(odd) td, article.a table th { background: pink; padding: 20px; text-align: right; border: 3px solid green; }
  article.a dl[class]:not(.x):not(.y):not(.z):not(.u):not(.v) dd { margin-left: 60px; }
  article.a code, article.a pre, article.a button { border: 5px dotted blue; padding: 12px; background: yellow; box-shadow: 0 0 9px black; }
  article.a strong, article.a a, article.a figure { display: block; margin: 1em; }
  article.a svg { max-width: 50%; height: auto; }
</style>"""
BOXES = """() => [...document.querySelectorAll(".nv-doc, .nv-doc *")].filter((element) => !element.closest(".nv-plot, script, style, noscript"))
  .map((element) => [element.tagName, ...["width", "height"].map((side) => Math.round(element.getBoundingClientRect()[side])),
    getComputedStyle(element).color, getComputedStyle(element).backgroundColor, getComputedStyle(element).textTransform])"""
AROUND = """() => [...document.querySelectorAll(".around, .around *")].map((element) => {
  const style = getComputedStyle(element);
  return [element.tagName, ...Array.from(style, (name) => (/^--|perspective-origin|transform-origin|block-size|inline-size|width|height/.test(name) ? "" : style[name]))];
})"""


@pytest.fixture(scope="module")
def visitor(browser: Browser) -> Iterator[Host]:
    visitor = Host(browser, PATIENCE)
    yield visitor
    visitor.close()


@pytest.fixture
def host(visitor: Host) -> Host:
    """An empty page in the light theme, which has made no requests."""
    visitor.open("about:blank")
    visitor.page.emulate_media(color_scheme="light", media="screen")
    visitor.outside.clear()
    return visitor


def append(host: Host, html: str) -> None:
    """Add the HTML to the page, and run its scripts."""
    host.page.evaluate("html => document.body.append(document.createRange().createContextualFragment(html))", html)


@pytest.fixture
def outputs_of_a_notebook(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first two outputs of a notebook, and one with a chart."""
    monkeypatch.setattr("normviz.export.output._first", None)
    outputs = (
        nv.explore("LayerNorm(4)", (2, 4)),
        nv.compare(["LayerNorm(4)", "RMSNorm(4)"], (2, 4)),
        nv.open("/numerics?show=variance"),
    )
    return [output.with_(plotlyjs="once")._repr_mimebundle_()["text/html"] for output in outputs]


def test_the_second_output_uses_the_first_ones_plotly_js_and_works_after_the_first_is_cleared(
    host, outputs_of_a_notebook
):
    host.page.set_content(f"<body style='background: #fff'>{outputs_of_a_notebook[0]}{outputs_of_a_notebook[1]}")
    host.ready(2)
    assert host.page.evaluate("document.querySelectorAll('head script[src]').length") == 1
    host.page.evaluate("document.querySelector('.nv-doc').remove()")
    append(host, outputs_of_a_notebook[1])
    host.ready(2)
    assert host.outside == []


def test_without_the_first_output_it_tries_the_cdn_and_a_chart_says_what_to_do_until_the_first_is_back(
    host, outputs_of_a_notebook
):
    host.page.set_content(f"<body>{outputs_of_a_notebook[1]}{outputs_of_a_notebook[2]}")
    expect(host.page.locator(".nv-missing")).to_contain_text("run that cell again")
    expect(host.page.locator(".nv-missing")).to_have_count(1)
    expect(host.page.locator(".nv-compare .nv-cells")).to_have_count(2)  # the panels are painted without plotly.js
    assert host.outside[0].startswith("https://cdn.plot.ly/plotly-")
    tried = len(host.outside)
    append(host, outputs_of_a_notebook[0])
    host.ready(3)
    expect(host.page.locator(".nv-missing, .nv-cells")).to_have_count(0)
    assert len(host.outside) == tried


def test_an_output_looks_the_same_under_any_styles_of_the_page(host):
    output = nv.compare(["BatchNorm1d(4)", "LayerNorm(4)"], (2, 4))
    first, again = (output.to_html(full=False, plotlyjs=where) for where in ("inline", "cdn"))
    host.page.set_content(f"<body style='margin: 0'><article><section>{first}</section></article>")
    host.ready()
    alone = host.page.evaluate(BOXES)
    host.page.evaluate("document.body.replaceChildren()")
    append(host, f"{UNKIND}<article class='a'><section class='b'>{again}</section></article>")
    host.ready()
    among = host.page.evaluate(BOXES)
    assert len(alone) > 200
    assert [pair for pair in zip(alone, among, strict=True) if pair[0] != pair[1]] == []


def test_an_output_changes_nothing_around_it(host):
    page = f"<!doctype html><html><body><div class='around'>{HOST}</div>"
    host.page.set_content(page)
    before = host.page.evaluate(AROUND)
    host.page.set_content(page + nv.train_and_eval().to_html(full=False))
    host.ready()
    assert len(before) > 10
    assert host.page.evaluate(AROUND) == before


def test_an_output_follows_the_background_of_the_page(host, outputs_of_a_notebook, subtests):
    host.page.emulate_media(color_scheme="dark")
    for background, expected in (
        ("#fff", "light"),
        ("#111", "dark"),
        ("color(srgb 0.1 0.1 0.1)", "dark"),
        ("oklch(0.98 0 0)", "light"),
        ("transparent", "light"),
    ):
        with subtests.test(background):
            host.page.set_content(f"<body style='background: {background}'>{outputs_of_a_notebook[1]}")
            wait_for_mode(host.page, expected)


def test_an_output_is_printed_in_the_light_theme(host):
    html = nv.explore("LayerNorm(4)", (2, 4)).to_html(theme="dark")
    host.page.set_content(html)
    host.ready()
    assert mode(host.page) == "dark"
    host.page.emulate_media(media="print")
    wait_for_mode(host.page, "light")
    assert host.page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
