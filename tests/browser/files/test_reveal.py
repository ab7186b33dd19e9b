"""docs/embedding.md: a file in a slide of reveal.js, opened from disk without a network."""

import re
import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

import normviz as nv
from normviz.export.assets import plotly_js
from tests.browser.conftest import new_context
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser
GUIDE = Path(__file__).parents[3] / "docs" / "embedding.md"
DECK = """<!doctype html><title>slides</title><link rel="stylesheet" href="reveal/dist/reveal.css">
<div class="reveal"><div class="slides"><section><h2>First</h2></section>
{slide}</div></div>
<script src="reveal/dist/reveal.js"></script><script>Reveal.initialize({{ transition: "none" }});</script>"""


@pytest.fixture(scope="module")
def slides(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of two slides; the second is the guide's."""
    place = tmp_path_factory.mktemp("slides")
    (slide,) = re.findall(
        r"^```html\n(<section>.*?)^```", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    (place / "slides.html").write_text(DECK.format(slide=slide), encoding="utf-8")
    shutil.copytree(str(files("sphinx_revealjs").joinpath("_static", "revealjs")), place / "reveal")
    (place / "plotly.min.js").write_bytes(plotly_js())
    choices = nv.Choices(layers=("LayerNorm([3,4,4])", "BatchNorm2d(3)"))
    view = nv.open("/?layer=LayerNorm([3,4,4])").with_(choices=choices, plotlyjs="plotly.min.js")
    (place / "layer.html").write_text(view.to_html(), encoding="utf-8")
    return (place / "slides.html").as_uri()


def test_the_figure_of_a_slide_is_drawn_when_it_is_shown_and_answers_its_controls(browser: Browser, slides: str):
    context = new_context(browser, offline=True)
    page = context.new_page()
    watch = Watch(page)
    page.goto(slides)
    page.locator(".reveal.ready").wait_for()
    assert page.locator("iframe").get_attribute("src") in (None, "about:blank")
    page.keyboard.press("ArrowRight")
    frame = page.frame_locator("section.present iframe")
    frame.locator(".nv-view[data-state=ready]:not(:has(.nv-cells))").wait_for()
    expect(frame.locator(".nv-sentence")).to_contain_text("BatchNorm2d(3) on (2, 3, 4, 4)")
    frame.get_by_label("Layer", exact=True).select_option(label="LayerNorm([3, 4, 4])")
    expect(frame.locator(".nv-sentence")).to_contain_text("LayerNorm([3, 4, 4])")
    frame.locator(".nv-panel-stats .nv-over").hover()
    expect(frame.locator(".nv-readout")).to_contain_text("others")
    watch.check()
    context.close()
