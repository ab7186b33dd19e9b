"""Take the pictures of docs/embedding.md and docs/notebooks.md again, from the results of its commands: ``make screenshots``."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tools.browser import find
from tools.embeddings import LAB_OPTIONS, MARIMO_OPTIONS, ROOT, Workshop, commands
from tools.hosts import READY, Host, menu, run_all, shown_frame, wait_for_mode
from tools.screenshots import FLAGS
from tools.servers import app_server

COLORS = 256  # per picture, for small files
TIMEOUT = 120_000  # ms


class Studio:
    """Takes the pictures."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self.browser, self.folder = browser, folder

    @contextmanager
    def page(self, address: str, width: int = 1280, height: int = 800, theme: str = "light") -> Iterator[Page]:
        host = Host(self.browser, TIMEOUT, viewport={"width": width, "height": height}, color_scheme=theme)
        yield host.open(address)
        host.close()

    def take(self, page: Page, name: str) -> None:
        page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
        path = self.folder / f"embed-{name}.png"
        page.screenshot(path=path, animations="disabled")
        with Image.open(path) as picture:
            small = picture.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE)
        small.save(path, optimize=True)
        print(f"{path} {path.stat().st_size // 1000} kB")


def app(studio: Studio, workshop: Workshop) -> None:
    with app_server() as address:
        frame = f'<iframe src="{address}/explore?shape=2,3,4,4&layer=LayerNorm([3,4,4])&hide=all,x,normalized,output&embed=true" width="100%" height="860" style="border: 0"></iframe>'
        page = (workshop.folder / "examples" / "page.html").read_text().split("<iframe")[0] + frame
        (workshop.folder / "examples" / "app.html").write_text(page)
        with studio.page((workshop.folder / "examples" / "app.html").as_uri(), 1100, 720) as tab:
            shown_frame(tab)
            studio.take(tab, "app")


def file(studio: Studio, workshop: Workshop) -> None:
    workshop.run("One HTML file")
    with studio.page((workshop.folder / "examples" / "page.html").as_uri(), 1100, 720) as tab:
        shown_frame(tab)
        studio.take(tab, "file")


def jupyterlab(studio: Studio, workshop: Workshop) -> None:
    (command,) = commands("JupyterLab")
    with (
        workshop.serve(command, *LAB_OPTIONS, health="api/status") as address,
        studio.page(f"{address}/lab/tree/notebook.ipynb") as tab,
    ):
        run_all(tab)
        menu(tab, "Settings", "Theme", "JupyterLab Dark")
        tab.wait_for_function(READY, arg=4)
        tab.wait_for_function("document.querySelector('.nv-doc').dataset.mode === 'dark'")
        tab.evaluate("document.querySelectorAll('.jp-Cell')[1].scrollIntoView()")
        studio.take(tab, "jupyterlab")
        menu(tab, "Settings", "Theme", "JupyterLab Light")
        wait_for_mode(tab, "light")
        live = tab.locator(".nv-doc").last
        live.scroll_into_view_if_needed()
        live.get_by_role("radio", name="BatchNorm", exact=True).check(force=True)
        live.locator(".nv-sentence", has_text="3 means").wait_for()
        live.evaluate("live => live.closest('.jp-Cell').scrollIntoView()")
        studio.take(tab, "live")


def converted(studio: Studio, workshop: Workshop) -> None:
    workshop.run("HTML and slides")
    with studio.page((workshop.folder / "build" / "notebook.html").as_uri(), 1100, 720) as tab:
        tab.wait_for_function(READY, arg=4)
        studio.take(tab, "html")
    with studio.page((workshop.folder / "build" / "notebook.slides.html").as_uri(), 1280, 720) as tab:
        tab.wait_for_function(READY, arg=4)
        tab.locator(".reveal.ready").wait_for()
        for _ in range(2):
            tab.keyboard.press("ArrowRight")
        tab.locator("section.present .nv-plot image").last.wait_for()
        studio.take(tab, "slides")


def book(studio: Studio, workshop: Workshop) -> None:
    workshop.run("A book")
    with studio.page((workshop.folder / "build" / "book" / "index.html").as_uri(), theme="dark") as tab:
        tab.wait_for_function(READY, arg=2)
        studio.take(tab, "book")


def marimo(studio: Studio, workshop: Workshop) -> None:
    (command,) = commands("marimo")
    with workshop.serve(command, *MARIMO_OPTIONS) as address, studio.page(address, 1280, 760) as tab:
        shown_frame(tab)
        studio.take(tab, "marimo")


PICTURES: tuple[Callable[[Studio, Workshop], None], ...] = (app, file, jupyterlab, converted, book, marimo)


def main(folder: Path, names: list[str]) -> None:
    browser_path = find()
    if browser_path is None:
        raise SystemExit("no Chromium was found: run `python -m tools.browser`")
    with tempfile.TemporaryDirectory() as work, sync_playwright() as playwright:
        workshop = Workshop.at(Path(work) / "workshop")
        studio = Studio(playwright.chromium.launch(executable_path=browser_path, args=FLAGS), folder)
        for picture in PICTURES:
            if not names or picture.__name__ in names:
                picture(studio, workshop)
        studio.browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "images"), sys.argv[2:])
