"""One lesson page in one tab."""

from typing import Any

import numpy as np
from playwright.sync_api import Locator, ViewportSize

from tests.browser.view import View

READY = ".nv-view[data-state=ready]:not(:has(.nv-cells), #normviz-first *)"
WIDE: ViewportSize = {"width": 1280, "height": 720}
NARROW: ViewportSize = {"width": 390, "height": 844}
# On a busy machine, Chromium loses 2 to 4 % of what any page stores right before it is loaded again. Then a test lets another visitor try.
VISITORS = 5

# Does the page fit its width, so that it cannot scroll sideways?
STRAIGHT = """() => [document.scrollingElement, document.querySelector("[data-testid=stMain]")]
  .every(part => part.scrollWidth === part.clientWidth)"""

# A new width is detected in one frame, and drawn in the next.
NEXT = (
    "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))"
)

# Is every visible figure drawn for a page of this width, and not cut off? What a closed fold contains is laid out when it opens.
FITS = """width => [...document.querySelectorAll(".nv-view")].filter(view => view.checkVisibility()).every(view => [view, ...view.querySelectorAll("svg")].filter(part => part.checkVisibility()).every(part => {
  const box = part.getBoundingClientRect();
  return !box.width || (box.left >= 0 && box.right <= width && (part === view || box.right <= view.getBoundingClientRect().right + 1));
}))"""


class Lesson(View):
    """The lesson pages in one tab."""

    def go_to(self, name: str, query: str = "") -> "Lesson":
        """Show the page of that name, and wait for its figures."""
        self.visit(f"{name}{query}")
        return self.ready(figures=name != "questions" or "guess" in query)

    def go_to_questions(self) -> None:
        """Show the list of questions. Its address has no query, so the reader comes from a question."""
        self.go_to("questions", "?q=s0")
        self.page.evaluate(
            "document.querySelector('[data-testid=stMain]').scrollTo(0, 0)"
        )  # the header would cover the link
        self.page.get_by_role("link", name="All questions").click()
        self.find(".nv-links-path a").first.wait_for()
        self.ready(figures=False)

    def open_topics(self) -> None:
        """Open every topic of the list of questions."""
        self.find(".nv-topic:not([open]) > summary").evaluate_all("all => all.forEach(summary => summary.click())")

    def ready(self, figures: bool = True) -> "Lesson":
        """Wait until the page has its text, and its figures are drawn."""
        self.find(":is(.nv-sentence, .nv-page h2, .nv-note-box, .nv-predict, .nv-tour-caption, .nv-start-act)").locator(
            "visible=true"
        ).first.wait_for()
        if figures:
            self.find(READY).first.wait_for()
        self.wait_until_drawn()
        return self

    def resize(self, screen: ViewportSize) -> None:
        """Change the size of the window, and wait until every figure is drawn for it."""
        self.page.set_viewport_size(screen)
        self.page.evaluate(NEXT)
        self.page.wait_for_function(FITS, arg=screen["width"])
        self.wait_until_drawn()

    def wait_for_address(self, **query: str | None) -> None:
        """Wait until the address has these values (None: the name is absent), and the run that wrote them has ended."""
        super().wait_for_address(**query)
        self.wait_until_drawn()

    def drawn(self, key: str) -> Any:
        """The numbers that a panel draws; NaN between facets."""
        lines = self.page.evaluate(
            "key => document.querySelector(`.nv-panel-${key} .nv-plot`).data[0].z.map(line => [...line].map(value => Number.isNaN(value) ? null : value))",
            key,
        )
        return np.array([[np.nan if value is None else value for value in line] for line in lines])

    def show_cards(self, name: str) -> None:
        """Choose what Compare draws of each layer."""
        self.page.get_by_role("radio", name=name, exact=True).check()
        self.wait_until_drawn()

    @property
    def sentence(self) -> Locator:
        return self.find(".nv-sentence")
