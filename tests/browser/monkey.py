"""A monkey test: random clicks, drags, keys, texts, addresses, Back and reload, which are the same for the same seed.

The actions use positions on the screen and do not wait for the page, so the target of a click may be gone.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any
from urllib.parse import quote

from playwright.sync_api import ConsoleMessage, Error, Page

from normviz.lessons.questions.page import QUESTIONS
from normviz.lessons.questions.question import facts_of
from tests.browser.scripts import MIDDLES, REVEAL, SCROLLER, SETTLED
from tests.browser.watch import Watch

SCREENS = ({"width": 1280, "height": 720}, {"width": 390, "height": 844}, {"width": 820, "height": 500})
KEYS = [
    *["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Enter", "Tab", "Escape", " "] * 3,
    *["Home", "End", "PageUp", "PageDown", "Delete", "Backspace", "Shift+Tab", "Shift+ArrowRight", "Control+Home", "Control+End"],
    *"aelx019-.,",
]  # fmt: skip
TEXTS = [
    "0", "1", "2", "3", "5", "12", "-1", "1024", "99999999999999999999", "1e308", "nan", "inf", "0.5", "none", "", " ", "٣", "\u202eabc", "😀" * 9, "x" * 300,
    "n c h w -> n", "n (g k) h w -> n g; g=3", "n c h w -> ", "((((", "<img src=x onerror=alert(1)>", "LayerNorm(4)", "Norm('n c h w -> n h w','c')", "gamma", "s0", "48",
]  # fmt: skip
VALUES = {
    "shape": ["2,3,4,4", "2,4,3,3", "4,6", "2,3,5", "7", "1,1", "1024,1024", "2,64,56,56", "0", "2,2,2,2,2,2", "9" * 30, "a", "8,1099511627776,4,4"],
    "layer": ["LayerNorm([3,4,4])", "GroupNorm(2,4)", "BatchNorm2d(3)", "BatchNorm1d(6).eval()", "RMSNorm(4)", "Norm('n c h w -> n h w','c')", "Norm('n c -> ','c')", "GroupNorm(7,1099511627776)", "x", "LayerNorm("],
    "layout": ["NCHW", "NHWC", "ND", "NLC", "?"],
    "data": ["normal", "counting", "scales", "images", "<b>"],
    "at": ["0,0,0,0", "1,2,0,3", "none", "9,9", ""],
    "from": ["0,8,0,0", "x"],
    "values": ["1,2,3,4,5,6,7,8,9,10,11,12", "nan"],
    "params": ["init", "index", "random"],
    "seed": ["0", "7", "-1"],
    "layers": ["LayerNorm(4);BatchNorm2d(3)", ";;;", "GroupNorm(1,3);GroupNorm(3,3);LayerNorm([3,4,4]);RMSNorm(4);BatchNorm2d(3);InstanceNorm2d(3)"],
    "show": ["stream", "modes", "batches", "sequences", "devices", "column", "matrix", "parameters", "backward", "variance", "eps", "constant", "single", "placement", "x"],
    "step": ["0", "3", "6", "99"],
    "steps": ["1", "500"],
    "input": ["x", "outlier", "signs"],
    "q": ["s0", "q1", "s999"],
    "guess": ["48", "x"],
    "%00": ["%ff", "%"],
}  # fmt: skip

# The elements on the screen that can be clicked: kind, box, and a name for the report.
TOUCHABLE = """() => {
  const kinds = {
    cells: ".nv-over", chart: ".nv-chart-plot", option: "[role=option]", slider: "[role=slider]", link: "a[href]", text: "input, textarea",
    control: "button, [role=radio], [role=tab], [role=combobox], [role=menuitem], label, summary",
  };
  const found = [];
  for (const [kind, selector] of Object.entries(kinds)) for (const part of document.querySelectorAll(selector)) {
    const box = part.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
    if (box.width < 2 || box.height < 2 || x < 0 || y < 0 || x > innerWidth || y > innerHeight) continue;
    if (kind === "link" && (part.origin !== location.origin || part.target === "_blank" || part.hasAttribute("download"))) continue;
    const hit = document.elementFromPoint(x, y)?.closest("a[href]");
    if (hit && (hit.origin !== location.origin || hit.target === "_blank")) continue;
    found.push([kind, box.left, box.top, box.width, box.height, (part.getAttribute("aria-label") ?? part.innerText ?? "").slice(0, 40)]);
  }
  return found;
}"""
WATCH_ERRORS = """new MutationObserver(() => document.querySelectorAll("[data-testid=stException]").forEach((part) => {
  if (!part.nvReported) { part.nvReported = true; setTimeout(() => console.error(`traceback on the page: ${part.innerText}`)); }
})).observe(document, { childList: true, subtree: true });"""
# Back and Forward within the app, and not to the empty page before it.
STEP = """way => { const step = navigation[way](); step.committed.catch(() => {}); step.finished.catch(() => {}); }"""
# Chromium sometimes never answers `insert_text` or `wheel` while the page navigates away, and the test would hang.
INSERT = "text => document.execCommand('insertText', false, text)"
WHEEL = f"""by => {{
  const part = [...document.querySelectorAll(":hover")].at(-1) ?? document.body;
  if (part.dispatchEvent(new WheelEvent("wheel", {{ deltaY: by, bubbles: true, cancelable: true }}))) ({SCROLLER})(part).scrollBy({{ top: by, behavior: "instant" }});
}}"""
AFTER_FRAMES = """frames => new Promise((done) => {
  const next = () => (frames-- ? requestAnimationFrame(next) : done());
  next();
})"""
READOUT_SHOWN = """() => document.querySelector(".nv-readout").innerText.includes("[")"""
PANEL = """() => [...document.querySelectorAll(".nv-panel")].find((panel) => panel.checkVisibility() && panel.querySelector(".nv-over")?.getBoundingClientRect().width)
  ?.className.match(/nv-panel-(\\w+)/)[1]"""


# A connection closed by a reload; and a click on the figure in one message with a typed text, which the app handles.
HARMLESS = (
    r"WebSocket is closed before|ERR_ABORTED|net::ERR_NETWORK_IO_SUSPENDED|Multiple different fragmentIds detected"
)


class MonkeyWatch(Watch):
    """Ignores messages of the browser that are expected during random actions."""

    def _console(self, message: ConsoleMessage) -> None:
        if not re.search(HARMLESS, message.text):
            super()._console(message)


class Monkey:
    """Acts in one tab on one page of the app."""

    def __init__(self, page: Page, server: str, start: str, seed: int) -> None:
        self.page, self.server, self.start = page, server, start
        self.random = Random(f"{seed} {start}")
        self.done: deque[str] = deque(maxlen=30)
        self.watch = MonkeyWatch(page)
        self.cells: list[Any] = []
        page.add_init_script(WATCH_ERRORS)
        self.open("")

    def act(self) -> None:
        """Do one random action."""
        ways: list[tuple[int, Callable[[], str]]] = [
            (26, self._click), (8, self._click_cell), (8, self._hover), (6, self._drag), (16, self._keys), (12, self._write), (5, self._wheel),
            (5, self._back), (2, self._forward), (1, self._reload), (3, self._address), (4, self._edit_address), (1, self._resize), (3, self._rest),
        ]  # fmt: skip
        weights, actions = zip(*ways, strict=True)
        (action,) = self.random.choices(actions, weights)
        try:
            self.done.append(action())
        except Error as error:  # the page has changed in the meantime
            self.done.append(f"{action.__name__}: {error.message.splitlines()[0]}")

    def open(self, query: str) -> None:
        self.done.append(f"open {self.start}{query}")
        self.page.goto(f"{self.server}/{self.start}{query}")

    def check(self) -> None:
        """Wait until the page is at rest; assert that there was no error."""
        self.page.wait_for_function(SETTLED)
        self.watch.check()

    def check_pointer(self) -> None:
        """Assert that the figure responds to the pointer; open the start address if the page shows no figure."""
        self.page.set_viewport_size(SCREENS[0])
        self.page.keyboard.press("Escape")
        self.check()
        if self.page.evaluate("location.origin + location.pathname").rstrip(
            "/"
        ) != f"{self.server}/{self.start}".rstrip("/"):
            self.open("")
            self.check()
        if not self.page.evaluate(PANEL):
            self.open(HOVERED[self.start])
            self.page.wait_for_selector(".nv-view[data-state=ready]:not(:has(.nv-cells), #normviz-first *)")
            self.check()
        for last in (False, False, True):
            try:
                key = self.page.evaluate(PANEL)
                self._check_elements(key) if key else self._check_line()
                break
            except (Error, IndexError) as error:
                if last or (isinstance(error, Error) and "of null" not in error.message):
                    raise
                self.check()  # a run started by the last action has just redrawn the view, perhaps with fewer cells
        self.check()

    def _check_line(self) -> None:
        plot = self.page.locator(".nv-chart-plot").first
        plot.scroll_into_view_if_needed()
        plot.hover()
        plot.locator(".hoverlayer > *").first.wait_for(state="attached")

    def _check_elements(self, key: str) -> None:
        """Assert that the read-out differs between the corners."""
        across, down = self.page.evaluate(MIDDLES, key)
        corners = {(0, 0), (len(across) - 1, 0), (0, len(down) - 1), (len(across) - 1, len(down) - 1)}
        readouts = {self._readout_at(key, *corner) for corner in sorted(corners)}
        assert len(readouts) > 1 or len(corners) == 1, f"every corner has the read-out {readouts}"

    def _readout_at(self, key: str, column: int, line: int) -> str:
        """Point at an element and return the read-out."""
        across, down = self.page.evaluate(MIDDLES, key)
        if self.page.evaluate(REVEAL, [key, across[column], down[line]]):
            across, down = self.page.evaluate(MIDDLES, key)
        self.page.mouse.move(1, 1)
        self.page.mouse.move(across[column], down[line], steps=2)
        self.page.wait_for_function(READOUT_SHOWN)
        return self.page.locator(".nv-readout").first.inner_text()

    # The actions; each returns a description of what it did

    def _random_place(self, *kinds: str) -> tuple[str, float, float, str]:
        """A random place on an element of these kinds: its kind, x, y and name."""
        found = [part for part in self.page.evaluate(TOUCHABLE) if part[0] in kinds]
        if not found:
            size = self.page.viewport_size or SCREENS[0]
            return "page", self.random.randrange(size["width"]), self.random.randrange(size["height"]), ""
        kind, left, top, width, height, name = self.random.choice(found)
        inside = (
            [self.random.uniform(0.1, 0.9), self.random.uniform(0.1, 0.9)]
            if kind in ("cells", "chart", "slider")
            else [0.5, 0.5]
        )
        return kind, left + inside[0] * width, top + inside[1] * height, name

    def _click(self) -> str:
        kind = self.random.choice(["control", "control", "option", "slider", "link", "text"])
        kind, x, y, name = self._random_place(*([kind] if kind != "option" else ["option", "control"]))
        self.page.mouse.click(x, y, click_count=self.random.choice([1, 1, 1, 2]))
        return f"click {kind} {name!r} ({x:.0f}, {y:.0f})"

    def _click_cell(self) -> str:
        kind, x, y, _ = self._random_place("cells", "chart")
        self.page.mouse.click(x, y, click_count=self.random.choice([1, 1, 2]))
        return f"click {kind} ({x:.0f}, {y:.0f})"

    def _hover(self) -> str:
        places = [self._random_place("cells", "chart", "control")[1:3] for _ in range(3)]
        for x, y in places:
            self.page.mouse.move(x, y, steps=4)
        return f"hover {places}"

    def _drag(self) -> str:
        (kind, x, y, _), (_, to_x, to_y, _) = (
            self._random_place("cells", "slider", "chart"),
            self._random_place("cells", "control", "chart"),
        )
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(to_x, to_y, steps=5)
        self.page.mouse.up()
        return f"drag {kind} ({x:.0f}, {y:.0f}) to ({to_x:.0f}, {to_y:.0f})"

    def _keys(self) -> str:
        keys = self.random.choices(KEYS, k=self.random.randrange(1, 7))
        for key in keys:
            self.page.keyboard.press(key)
        return f"keys {keys}"

    def _write(self) -> str:
        _, x, y, name = self._random_place("text")
        text, end = self.random.choice(TEXTS), self.random.choice(["Enter", "Enter", "Tab", "Escape"])
        self.page.mouse.click(x, y, click_count=3)
        self.page.evaluate(INSERT, text)
        self.page.keyboard.press(end)
        return f"write {text[:40]!r} in {name!r} ({x:.0f}, {y:.0f}), {end}"

    def _wheel(self) -> str:
        by = self.random.choice([-3000, -400, 300, 900, 3000])
        self.page.evaluate(WHEEL, by)
        return f"wheel {by}"

    def _back(self) -> str:
        self.page.evaluate(STEP, "back")
        return "back"

    def _forward(self) -> str:
        self.page.evaluate(STEP, "forward")
        return "forward"

    def _reload(self) -> str:
        self.page.reload(wait_until="commit")
        return "reload"

    def _query(self) -> str:
        names = self.random.sample(sorted(VALUES), self.random.randrange(5))
        safe = self.random.choice([",()[]=.:'->;", ""])
        return "?" + "&".join(f"{name}={quote(self.random.choice(VALUES[name]), safe=safe)}" for name in names)

    def _address(self) -> str:
        query = self._query()
        self.page.goto(f"{self.server}/{self.start}{query}", wait_until="commit")
        return f"address {query}"

    def _edit_address(self) -> str:
        query = self._query()
        self.page.evaluate(
            "query => { history.pushState({}, '', location.pathname + query); dispatchEvent(new PopStateEvent('popstate')); }",
            query,
        )
        return f"edited {query}"

    def _resize(self) -> str:
        size = self.random.choice(SCREENS)
        self.page.set_viewport_size(size)  # type: ignore[arg-type]
        return f"resize {size}"

    def _rest(self) -> str:
        frames = self.random.choice([1, 6, 18])
        self.page.evaluate(AFTER_FRAMES, frames)
        return f"rest for {frames} frames"


SETTLED_BY_COMPARE = next(one for one in QUESTIONS.values() if one.page.name == "compare")
# Each page, and a query for which it shows a figure or a chart.
HOVERED = {
    "": "explore",  # the front page has a toy in place of a figure
    "compare": "",
    "step_by_step": "",
    "train_and_eval": "?show=modes",
    "gradients": "",
    "numerics": "",
    "questions": f"?q={SETTLED_BY_COMPARE.key}&guess={facts_of(SETTLED_BY_COMPARE)['right']}",
}
