"""docs/notebooks.md: the notebook in JupyterLab, and its pages of nbconvert, where every view is linked, has the right theme, and needs no network."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Locator, Page, expect

from tests.browser.conftest import PATIENCE
from tests.browser.notebooks.conftest import FIRST, LAST, sentence
from tools.embeddings import LAB_OPTIONS, Workshop, commands
from tools.hosts import CELL, PANEL, Host, menu, mode, reads, run_all, wait_for_mode

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def converted(workshop: Workshop) -> Path:
    """The folder of the executed notebook and of the pages that nbconvert made from it."""
    workshop.run("HTML and slides")
    return workshop.folder / "build"


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
    host.ready(4)
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
    host.ready(4)
    saved = workshop.folder / "examples" / "notebook.ipynb"
    with page.expect_response(lambda answer: answer.request.method == "PUT" and saved.name in answer.url):
        page.keyboard.press("Control+s")
    cells = [cell for cell in json.loads(saved.read_text())["cells"] if cell["cell_type"] == "code"]
    carried = ['class="nv-carried"' in "".join(cell["outputs"][0]["data"]["text/html"]) for cell in cells]
    assert carried == [True, False, False, False]


# nv.live: the last cell of the notebook


@pytest.fixture
def live(lab) -> Locator:
    """The output of the cell with nv.live, answered by the kernel."""
    output = lab[0].page.locator(".nv-doc").last
    output.scroll_into_view_if_needed()
    return output


def run_code(page: Page, code: str) -> Locator:
    """Run other code in the cell of nv.steps; its output."""
    cell = page.locator(".jp-CodeCell").nth(2)
    cell.locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(code)
    page.keyboard.press("Control+Enter")
    return cell.locator(".jp-OutputArea-output")


def test_the_kernel_answers_the_controls_on_the_readers_own_x(lab, live):
    page = lab[0].page
    expect(live).to_have_attribute("data-kernel", "")
    live.get_by_role("radio", name="BatchNorm", exact=True).check(force=True)
    sentence(live, "BatchNorm2d(3) on (2, 3, 4, 4): 3 means")
    for label, size in (("N", "5"), ("C", "6")):  # the second does not wait for the first
        live.get_by_label(label, exact=True).fill(size)
        live.get_by_label(label, exact=True).press("Enter")
    sentence(live, "BatchNorm2d(6) on (5, 6, 4, 4): 6 means")
    live.get_by_role("button", name="Back to the start").click()
    sentence(live, "LayerNorm([3, 4, 4]) on (2, 3, 4, 4)")
    live.get_by_role("radio", name="H, W", exact=True).check()
    sentence(live, "LayerNorm([4, 4]) on (2, 3, 4, 4): 6 means")
    panel = live.locator(".nv-panel").first
    panel.locator(".nv-over").click(position=panel.evaluate(CELL, 0))
    expect(live.locator(".nv-worked")).to_contain_text(FIRST)
    expect(run_code(page, "print(w.layer, w.at, w.explanation.x.sum())")).to_have_text(
        "LayerNorm([4, 4]) (0, 0, 0, 0) tensor(4560.)"
    )


def test_the_page_follows_the_traits_and_shows_what_torch_refuses(lab, live):
    page = lab[0].page
    run_code(page, 'w.layer, w.at = "InstanceNorm2d(3)", (1, 2, 3, 3)')
    sentence(live, "InstanceNorm2d(3) on (2, 3, 4, 4)")
    expect(live.get_by_role("radio", name="InstanceNorm", exact=True)).to_be_checked()
    expect(live.locator(".nv-worked")).to_contain_text(LAST)
    run_code(page, 'w.layer = "LayerNorm(5)"')
    expect(live.get_by_role("alert")).to_contain_text("torch refuses")
    sentence(live, "InstanceNorm2d(3) on (2, 3, 4, 4)")


# anywidget gives up a model that is not loaded after this time, and then passes on none of its messages. Of the first model here: at once.
GIVES_UP = """{
  const real = AbortSignal.timeout.bind(AbortSignal);
  let models = 0;
  AbortSignal.timeout = (ms) => real(ms === 2000 && !models++ ? 0 : ms);
}"""


def test_a_reloaded_page_finds_its_kernel_although_anywidget_gives_up_the_first_model(lab, live):
    host, _ = lab
    page = host.page
    page.add_init_script(GIVES_UP)
    errors: list[Error] = []
    page.on("pageerror", lambda error: errors.append(error))
    with page.expect_response(lambda answer: answer.request.method == "PUT" and "notebook.ipynb" in answer.url):
        page.keyboard.press("Control+s")
    page.reload()
    host.ready(3)
    live.scroll_into_view_if_needed()
    sentence(live, "InstanceNorm2d(3) on (2, 3, 4, 4)")  # from the kernel
    assert "Failed to initialize model" in str(errors[0])
    assert host.outside == []


def test_after_a_restart_of_the_kernel_the_output_answers_by_itself(lab, live):
    page = lab[0].page
    menu(page, "Kernel", "Restart Kernel…")
    page.locator(".jp-Dialog button.jp-mod-accept").click()
    sentence(live, "LayerNorm([3, 4, 4]) on (2, 3, 4, 4)")  # as when the cell ran
    live.get_by_label("Layer", exact=True).select_option(label="BatchNorm2d")
    sentence(live, "BatchNorm2d(3) on (2, 3, 4, 4)")


def test_a_notebook_that_another_ran_says_what_to_do_and_answers_by_itself_once_it_is_trusted(lab):
    host, _ = lab
    page = host.page
    page.locator(".jp-DirListing-item").filter(has_text="ran-by-another.ipynb").dblclick()
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    expect(shown.get_by_text("In a notebook that is not trusted yet, run the cell.").first).to_be_visible()
    expect(shown.get_by_text("2 means and 2 variances").first).to_be_visible()
    table = shown.get_by_role("cell", name="n c h w → n", exact=True).first  # instead of the figure
    expect(table).to_be_visible()
    assert shown.locator(".nv-view").count() == 0
    page.keyboard.press("Control+Shift+c")  # the command palette
    page.locator(".lm-CommandPalette-input").fill("Trust Notebook")
    page.locator(".lm-CommandPalette-item", has_text="Trust Notebook").click()
    page.locator(".jp-Dialog button.jp-mod-accept").click()
    expect(shown.locator(".nv-view")).to_have_count(4)
    live = shown.locator(".nv-doc").last
    live.scroll_into_view_if_needed()
    live.get_by_label("Layer", exact=True).select_option(label="GroupNorm")
    sentence(live, "GroupNorm(3, 3) on (2, 3, 4, 4)")
    assert reads(shown, -1, nth=3).startswith(f"{LAST} = 95")
    assert host.outside == []


# nbconvert


@pytest.fixture(scope="module")
def notebook_page(browser: Browser, converted: Path) -> Iterator[Host]:
    visitor = Host(browser, PATIENCE)
    visitor.open((converted / "notebook.html").as_uri())
    visitor.ready(4)
    yield visitor
    visitor.close()


def test_the_page_of_nbconvert_shows_all_outputs_and_normviz_requests_nothing(notebook_page):
    page = notebook_page.page
    assert [page.locator(".nv-doc").count(), page.locator(".nv-carried").count()] == [4, 1]
    assert reads(page, 0).startswith(FIRST)
    assert reads(page, -1, nth=1).startswith(LAST)
    servers = {re.sub(r"^https://([^/]+)/.*", r"\1", address) for address in notebook_page.outside}
    assert servers <= {"cdnjs.cloudflare.com"}
    ids = page.evaluate("[...document.querySelectorAll('.nv-doc [id]')].map((element) => element.id)")
    assert len(ids) == len(set(ids)) > 10


def test_the_output_of_nv_live_in_a_page_of_nbconvert_answers_by_itself(notebook_page):
    page = notebook_page.page
    live = page.locator(".nv-doc").last
    live.get_by_label("Layer", exact=True).select_option(label="BatchNorm2d")
    sentence(live, "BatchNorm2d(3) on (2, 3, 4, 4): 3 means")
    assert reads(page, -1, nth=3).startswith(f"{LAST} = 95")


def test_scaled_slides_draw_when_shown_and_respond_to_the_pointer(host, converted):
    visitor = host(viewport={"width": 800, "height": 500})
    page = visitor.open((converted / "notebook.slides.html").as_uri())
    visitor.ready(4)
    page.locator(".reveal.ready").wait_for()
    for _ in range(2):  # title, one layer
        page.keyboard.press("ArrowRight")
    panel = page.locator(f"section.present {PANEL}").first
    expect(panel.locator(".nv-plot image")).to_be_visible()
    shrunk = panel.evaluate("panel => panel.getBoundingClientRect().width / panel.offsetWidth")
    assert shrunk < 0.9
    bottoms = page.locator("section.present .nv-panel").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().bottom).filter(Boolean)"
    )
    assert len(bottoms) == 3
    assert max(bottoms) <= 500  # the slide has room for them
    assert reads(page, -1, nth=1).startswith(LAST)
    assert reads(page, 0, nth=1).startswith(FIRST)
    assert not [address for address in visitor.outside if "plot" in address]
