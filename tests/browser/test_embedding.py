"""docs/embedding.md: its commands work, and every view is linked, has the right theme, and needs no network."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import PATIENCE
from tools.embeddings import GUIDE, LAB_OPTIONS, MARIMO_OPTIONS, ROOT, Workshop, commands
from tools.hosts import Host, menu, mode, reads, run_all, shown_frame, wait_for_mode

pytestmark = pytest.mark.browser

FIRST, LAST = "x[0, 0, 0, 0]", "x[1, 2, 3, 3]"
Opener = Callable[..., Host]


@pytest.fixture(scope="module")
def workshop(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """The examples; requested after the browser, so that nothing is built without a browser."""
    return Workshop.at(tmp_path_factory.mktemp("embedding"))


@pytest.fixture(scope="module")
def converted(workshop: Workshop) -> Path:
    """The folder of the executed notebook and of the pages that nbconvert made from it."""
    workshop.run("HTML and slides")
    return workshop.folder / "build"


@pytest.fixture
def host(browser: Browser) -> Iterator[Opener]:
    opened: list[Host] = []

    def visit(**options: Any) -> Host:
        opened.append(Host(browser, PATIENCE, **options))
        return opened[-1]

    yield visit
    for each in opened:
        each.close()


# JupyterLab: one server and one tab, in the order of a lesson


@pytest.fixture(scope="module")
def lab(browser: Browser, workshop: Workshop, converted: Path) -> Iterator[tuple[Host, str]]:
    shutil.copy(converted / "notebook.ipynb", workshop.folder / "examples" / "ran-by-another.ipynb")
    (command,) = commands("JupyterLab")
    visitor = Host(browser, PATIENCE)
    with workshop.serve(command, *LAB_OPTIONS, health="api/status") as address:
        yield visitor, address
        visitor.close()


def test_jupyterlab_shows_linked_panels(lab):
    host, address = lab
    page = host.open(f"{address}/lab/tree/notebook.ipynb")
    run_all(page)
    host.ready(3)
    assert page.locator(".nv-carried").count() == 1
    assert reads(page, 0).startswith(FIRST)
    assert reads(page, -1).startswith(LAST)
    assert reads(page, -1, nth=1).startswith(LAST)
    assert host.outside == []


def test_all_outputs_follow_the_theme_of_jupyterlab(lab):
    host, _ = lab
    assert mode(host.page) == "light"
    menu(host.page, "Settings", "Theme", "JupyterLab Dark")
    wait_for_mode(host.page, "dark")
    menu(host.page, "Settings", "Theme", "JupyterLab Light")
    wait_for_mode(host.page, "light")


def test_the_first_cell_still_carries_plotly_js_after_it_runs_again(lab, workshop):
    host, _ = lab
    page = host.page
    page.evaluate("document.querySelector('.nv-doc').dataset.old = 'yes'")
    page.locator(".jp-CodeCell .jp-InputArea-editor").first.click()
    page.keyboard.press("Control+Enter")
    expect(page.locator(".nv-doc[data-old]")).to_have_count(0)
    host.ready(3)
    saved = workshop.folder / "examples" / "notebook.ipynb"
    with page.expect_response(lambda answer: answer.request.method == "PUT" and saved.name in answer.url):
        page.keyboard.press("Control+s")
    cells = [cell for cell in json.loads(saved.read_text())["cells"] if cell["cell_type"] == "code"]
    carried = ['class="nv-carried"' in "".join(cell["outputs"][0]["data"]["text/html"]) for cell in cells]
    assert carried == [True, False, False]
    page.reload()
    host.ready(3)
    assert host.outside == []


def test_a_notebook_that_is_not_trusted_says_what_to_do(lab):
    host, _ = lab
    page = host.page
    page.locator(".jp-DirListing-item").filter(has_text="ran-by-another.ipynb").dblclick()
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    expect(shown.get_by_text("In a notebook that is not trusted yet, run the cell.").first).to_be_visible()
    expect(shown.get_by_text("2 means and 2 variances").first).to_be_visible()
    assert shown.locator(".nv-view").count() == 0


# nbconvert


def test_the_page_of_nbconvert_shows_all_outputs_and_normviz_requests_nothing(host, converted):
    visitor = host()
    page = visitor.open((converted / "notebook.html").as_uri())
    visitor.ready(3)
    assert [page.locator(".nv-doc").count(), page.locator(".nv-carried").count()] == [3, 1]
    assert reads(page, 0).startswith(FIRST)
    assert reads(page, -1, nth=1).startswith(LAST)
    assert {re.sub(r"^https://([^/]+)/.*", r"\1", address) for address in visitor.outside} <= {"cdnjs.cloudflare.com"}
    ids = page.evaluate("[...document.querySelectorAll('.nv-doc [id]')].map((element) => element.id)")
    assert len(ids) == len(set(ids)) > 10


def test_scaled_slides_draw_when_shown_and_respond_to_the_pointer(host, converted):
    visitor = host(viewport={"width": 800, "height": 500})
    page = visitor.open((converted / "notebook.slides.html").as_uri())
    visitor.ready(3)
    page.locator(".reveal.ready").wait_for()
    for _ in range(2):  # title, one layer
        page.keyboard.press("ArrowRight")
    panel = page.locator("section.present .nv-panel").first
    expect(panel.locator(".nv-plot image")).to_be_visible()
    shrunk = panel.evaluate("panel => panel.getBoundingClientRect().width / panel.offsetWidth")
    assert shrunk < 0.9
    assert reads(page, -1, nth=1).startswith(LAST)
    assert reads(page, 0, nth=1).startswith(FIRST)
    assert not [address for address in visitor.outside if "plot" in address]


# Sphinx


def test_views_in_a_book_follow_its_theme(host, workshop):
    workshop.run("A book")
    visitor = host(color_scheme="dark")
    page = visitor.open((workshop.folder / "build" / "book" / "index.html").as_uri())
    visitor.ready(2)
    assert page.locator(".nv-carried").count() == 1
    assert mode(page) == "dark"
    assert reads(page, 0).startswith(FIRST)
    toggle = page.locator(".theme-toggle:visible").first
    while page.evaluate("document.body.dataset.theme") != "light":
        toggle.click()
    wait_for_mode(page, "light")
    assert visitor.outside == []


# marimo


def test_marimo_shows_the_view_in_a_frame_that_fits(host, workshop):
    (command,) = commands("marimo")
    with workshop.serve(command, *MARIMO_OPTIONS) as address:
        visitor = host(color_scheme="dark")  # the page of marimo is still light
        page = visitor.open(address)
        frame = shown_frame(page)
        assert reads(frame, 0).startswith(FIRST)
        assert mode(frame) == "light"
        page.locator("select").select_option("BatchNorm2d(3)")
        expect(page.frame_locator("iframe").get_by_text("BatchNorm2d(3) on")).to_be_visible()
        frame = shown_frame(page)
        frame.wait_for_function("document.documentElement.scrollHeight <= document.documentElement.clientHeight")
        assert visitor.outside == []


# One file


def test_the_file_fits_in_a_plain_page_without_a_scroll_bar(host, workshop):
    workshop.run("One HTML file")
    visitor = host()
    page = visitor.open((workshop.folder / "examples" / "page.html").as_uri())
    page.locator("iframe").scroll_into_view_if_needed()
    frame = shown_frame(page)
    assert reads(frame, 0).startswith(FIRST)
    frame.wait_for_function("document.documentElement.scrollHeight <= document.documentElement.clientHeight")
    assert visitor.outside == []


# The guide


def test_the_guide_shows_a_picture_of_each_embedding():
    pictures = re.findall(r"!\[[^\]]+\]\((images/embed-[\w-]+\.png)\)", GUIDE.read_text(encoding="utf-8"))
    assert len(pictures) == 7
    for picture in pictures:
        assert (ROOT / "docs" / picture).stat().st_size < 150_000
