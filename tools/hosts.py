"""Open a view that is embedded in a notebook, slides or a book, for the tests and for the pictures."""

import re
from importlib.resources import files
from typing import Any

from playwright.sync_api import Browser, Frame, Locator, Page, Route

OUTSIDE = re.compile(r"^https?://(?!localhost[:/])")
REVEAL = re.compile(r"^https://unpkg\.com/reveal\.js@[\d.]+/(.*)$")

# A substitute for require.js in nbconvert's slides: it loads scripts in order and passes on what each one defines.
REQUIRE = """window.define = (factory) => { window.defined = factory(); };
window.define.amd = {};
window.require = async (_, addresses, ready) => {
  const found = [];
  for (const address of addresses)
    found.push(await new Promise((done) => {
      window.defined = undefined;
      document.head.append(Object.assign(document.createElement("script"), { src: address, onload: () => done(window.defined) }));
    }));
  ready(...found);
};"""

KERNEL_TIMEOUT = 300_000  # ms
POLL = 200  # ms; asking at every frame would keep the browser drawing

READY = """n => {
  const views = [...document.querySelectorAll(".nv-view")];
  return views.length >= n && !document.querySelector(".nv-cells") && views.every((view) => ["ready", "hidden"].includes(view.dataset.state));
}"""

# The middle of the first (0) or the last (-1) cell within a panel's overlay, in the coordinates of the scaled overlay: slides are shrunk to fit.
CELL = """(panel, which) => {
  const { x, y } = panel.querySelector(".nv-plot").data[0], at = (edges) => (edges.at(which) + edges.at(which < 0 ? which - 1 : which + 1)) / 2;
  const over = panel.querySelector(".nv-over"), box = over.getBoundingClientRect(), place = new DOMPoint(at(x), at(y)).matrixTransform(over.getScreenCTM());
  return { x: place.x - box.left, y: place.y - box.top };
}"""

PANEL = ".nv-panel:has(.nv-over)"  # a cube has none


class Host:
    """A page in a browser that reaches only localhost; ``outside`` lists its other requests."""

    def __init__(self, browser: Browser, timeout: int, **options: Any) -> None:
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 800}, "color_scheme": "light", "reduced_motion": "reduce"}
            | options
        )
        self.context.set_default_timeout(timeout)
        self.context.route(OUTSIDE, self._outside)
        self.page = self.context.new_page()
        self.outside: list[str] = []

    def _outside(self, route: Route) -> None:
        """Serve the libraries of the slides from local files; abort all other requests."""
        address = route.request.url
        self.outside.append(address)
        reveal = REVEAL.match(address)
        if "require.min.js" in address:
            route.fulfill(body=REQUIRE, content_type="text/javascript")
        elif reveal:
            route.fulfill(path=str(files("sphinx_revealjs").joinpath("_static", "revealjs", reveal[1])))
        else:
            route.abort()

    def open(self, address: str) -> Page:
        self.page.goto(address)
        return self.page

    def ready(self, views: int = 1) -> None:
        """Wait until that many views are drawn; a kernel may have to import torch first."""
        self.page.wait_for_function(READY, arg=views, timeout=KERNEL_TIMEOUT, polling=POLL)

    def close(self) -> None:
        self.context.close()


def menu(page: Page, bar: str, *names: str) -> None:
    """Choose a command in JupyterLab's menu."""
    page.locator(".lm-MenuBar-itemLabel").get_by_text(bar, exact=True).click()
    for name in names:
        label = page.locator(".lm-Menu-itemLabel").get_by_text(name, exact=True)
        page.locator(".lm-Menu-item").filter(has=label).click()


def run_all(page: Page) -> None:
    """Run all cells of the open notebook once its kernel is ready; without a kernel, JupyterLab asks for one."""
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=KERNEL_TIMEOUT)
    menu(page, "Run", "Run All Cells")


def shown_frame(page: Page) -> Frame:
    """The frame of the page, after its view is drawn."""
    page.frame_locator("iframe").locator(".nv-view[data-state=ready]:not(:has(.nv-cells))").first.wait_for()
    element = page.query_selector("iframe")
    frame = element and element.content_frame()
    assert frame
    return frame


def mode(where: Page | Frame) -> str:
    """The theme of the first output."""
    return str(where.locator(".nv-doc").first.get_attribute("data-mode"))


def wait_for_mode(where: Page | Frame, wanted: str) -> None:
    """Wait until all outputs have this theme."""
    where.wait_for_function(
        "mode => [...document.querySelectorAll('.nv-doc')].every((root) => root.dataset.mode === mode)", arg=wanted
    )


def reads(where: Page | Frame | Locator, which: int, nth: int = 0) -> str:
    """The read-out while the pointer is on the first (0) or last (-1) cell of the first panel of a view."""
    view = where.locator(".nv-view").nth(nth)
    panel = view.locator(PANEL).first
    over = panel.locator(".nv-over")
    over.hover(trial=True)  # scrolls to it, and waits until a slide stops moving
    over.hover(position=panel.evaluate(CELL, which))
    return view.locator(".nv-readout").inner_text()
