"""A view inside another page - a notebook, a slide, a book - as a test or a picture needs it."""

import re
from importlib.resources import files
from typing import Any

from playwright.sync_api import Browser, Frame, Page, Route

OUTSIDE = re.compile(r"^https?://(?!localhost[:/])")
REVEAL = re.compile(r"^https://unpkg\.com/reveal\.js@[\d.]+/(.*)$")

# What require.js does for the slides of nbconvert: scripts in order, each of which may define itself.
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

TO_RUN = 300_000  # ms

READY = """n => {
  const views = [...document.querySelectorAll(".nv-view")];
  return views.length >= n && views.every((view) => view.dataset.state === "ready");
}"""

# The middle of the first (0) or the last (-1) cell within a panel's overlay, by the panel's own transformation: slides are shrunk to fit.
CELL = """(panel, which) => {
  const { x, y } = panel.querySelector(".nv-plot").data[0], at = (edges) => (edges.at(which) + edges.at(which < 0 ? which - 1 : which + 1)) / 2;
  const over = panel.querySelector(".nv-over"), box = over.getBoundingClientRect(), place = new DOMPoint(at(x), at(y)).matrixTransform(over.getScreenCTM());
  return { x: place.x - box.left, y: place.y - box.top };
}"""


class Host:
    """A page in a browser that reaches nothing but localhost; what else it asks for is noted."""

    def __init__(self, browser: Browser, patience: int, **options: Any) -> None:
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"} | options
        )
        self.context.set_default_timeout(patience)
        self.context.route(OUTSIDE, self._outside)
        self.page = self.context.new_page()
        self.outside: list[str] = []

    def _outside(self, route: Route) -> None:
        """What slides are made of is at hand; all else is out of reach."""
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
        """Wait for so many views; a kernel may have to import torch first."""
        self.page.wait_for_function(READY, arg=views, timeout=TO_RUN)

    def close(self) -> None:
        self.context.close()


def menu(page: Page, bar: str, *names: str) -> None:
    """Choose from JupyterLab's menu."""
    page.locator(".lm-MenuBar-itemLabel").get_by_text(bar, exact=True).click()
    for name in names:
        label = page.locator(".lm-Menu-itemLabel").get_by_text(name, exact=True)
        page.locator(".lm-Menu-item").filter(has=label).click()


def run_all(page: Page) -> None:
    """Run all cells of the notebook that JupyterLab opens, once its kernel is there: before, it would ask for one."""
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=TO_RUN)
    menu(page, "Run", "Run All Cells")


def shown_frame(page: Page) -> Frame:
    """The page's frame, its view drawn."""
    page.frame_locator("iframe").locator(".nv-view[data-state=ready]").first.wait_for()
    element = page.query_selector("iframe")
    frame = element and element.content_frame()
    assert frame
    return frame


def mode(where: Page | Frame) -> str:
    """The theme that the first output shows."""
    return str(where.locator(".nv-doc").first.get_attribute("data-mode"))


def wait_for_mode(where: Page | Frame, wanted: str) -> None:
    """Until all outputs show this theme."""
    where.wait_for_function(
        "mode => [...document.querySelectorAll('.nv-doc')].every((root) => root.dataset.mode === mode)", arg=wanted
    )


def reads(where: Page | Frame, which: int, nth: int = 0) -> str:
    """What the read-out says of the first (0) or last (-1) cell of a view's first panel, pointed at."""
    view = where.locator(".nv-view").nth(nth)
    panel = view.locator(".nv-panel").first
    over = panel.locator(".nv-over")
    over.hover(trial=True)  # scrolled to, and still: a slide slides in
    over.hover(position=panel.evaluate(CELL, which))
    return view.locator(".nv-readout").inner_text()
