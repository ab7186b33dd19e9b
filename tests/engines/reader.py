"""What a reader does and sees in any of the engines: opens pages, finds parts by their names, points, clicks, drags, types."""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from normviz.analysis.sentences import sentence
from normviz.parts.titles import HOME
from normviz.scene.scene import Scene
from normviz.scene.view import read
from tests.browser.scripts import MIDDLES, NAMES, NAVIGATE, OPEN, REVEAL, SETTLED, SHOWN
from tests.browser.view import Index, drawings, middles, positions
from tests.engines.engine import PATIENCE, Engine, EngineError

LAPTOP, PHONE = (1280, 720), (390, 844)
PAUSE = 0.04  # s, between two looks at a page

# The name of a part, as a screen reader says it.
NAME = """(part) => (part.getAttribute("aria-label") || [...(part.labels ?? [])].map((label) => label.innerText).join(" ") || part.innerText || part.textContent)
  .replace(/\\s+/g, " ").trim()"""

# The visible part of this selector and name; null: of any name.
FIND = f"""([selector, name]) => [...document.querySelectorAll(selector)]
  .find((part) => part.checkVisibility({{ visibilityProperty: true }}) && (name === null || ({NAME})(part) === name))"""

# The middle of the part, after it is scrolled into the window; null as long as it moves or is covered.
TARGET = f"""async (wanted) => {{
  const part = ({FIND})(wanted), frame = () => new Promise(requestAnimationFrame);
  if (!part) return null;
  part.scrollIntoView({{ block: "center", inline: "nearest", behavior: "instant" }});
  await frame();
  const before = part.getBoundingClientRect();
  await frame();
  const {{ left, top, width, height }} = part.getBoundingClientRect(), at = [left + width / 2, top + height / 2];
  const hit = document.elementFromPoint(...at), label = hit?.closest("label");
  return left === before.left && top === before.top && (part.contains(hit) || [...(part.labels ?? [])].includes(label)) ? at : null;
}}"""

# The texts of the visible parts.
TEXTS = """selector => [...document.querySelectorAll(selector)].filter((part) => part.checkVisibility({ visibilityProperty: true }))
  .map((part) => part.innerText ?? part.textContent)"""

# Is the app's own page, not the server's, here and at rest?
READY = f"""() => document.querySelector(".nv-page, .nv-root, .nv-doc") && ({SETTLED})()"""


class Reader:
    """A reader with one window of an engine."""

    def __init__(self, engine: Engine, server: str) -> None:
        self.engine, self.server = engine, server
        self.evaluate, self.press = engine.evaluate, engine.press

    # The address

    @property
    def address(self) -> str:
        return str(self.evaluate("() => location.href"))

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.address).query, keep_blank_values=True))

    @property
    def scene(self) -> Scene:
        return read(self.query).scene

    def load(self, address: str) -> None:
        """Load an address, and wait until it is ready."""
        self.engine.goto(address)
        self.wait(READY)

    def open(self, page: str) -> None:
        """Load a page of the app, with its query."""
        self.load(f"{self.server}/{page.removeprefix(HOME)}")

    def visit(self, page: str) -> None:
        """Go to a page of the app, with its query. If the app is open, it is not loaded again, as with Back."""
        if self.address.startswith(f"{self.server}/") and self.evaluate(READY):
            self.engine.move(1, 1)
            self.evaluate(NAVIGATE, f"/{page}")
        else:
            self.open(page)

    def explore(self, query: str) -> Scene:
        """Show a scene on Explore."""
        self.visit(f"explore?{query}")
        return self.shows(read(dict(parse_qsl(query))).scene)

    # What is seen

    def wait(self, function: str, arg: Any = None, what: str = "") -> Any:
        """The first result of the function that is true."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                found = self.evaluate(function, arg)
            except EngineError as error:  # the page is being left
                if self.engine.lost:
                    raise
                found, what = None, what or str(error)
            if found:
                return found
            if time.monotonic() > end:
                raise AssertionError(f"after {PATIENCE:g} s, not yet: {what or (function, arg)}\n{self.sight()}")
            time.sleep(PAUSE)

    def sight(self) -> str:
        """Where the reader is, for a message."""
        main = "document.querySelector('[data-testid=stMain]') ?? document.body"
        return str(
            self.evaluate(f"() => `${{location.href}}: ${{({main}).innerText.replace(/\\s+/g, ' ').slice(0, 800)}}`")
        )

    def shows(self, scene: Scene | None = None) -> Scene:
        """Wait until the page is at rest, and its sentence, its panels and its selected element are those of the scene (default: of the address)."""
        scene = scene or self.scene
        text = re.sub(r"\*\*|`", "", sentence(scene.shape_description))
        self.wait(SHOWN, [text, positions(scene), drawings(scene)], f"the scene of {text!r}")
        return scene

    def goes_to(self, **query: str | None) -> Scene:
        """Wait until the address has these values (None: the name is absent) and the page shows its scene."""
        self.reaches(**query)
        return self.shows()

    def reaches(self, **query: str | None) -> None:
        """Wait until the address has these values (None: the name is absent)."""
        there = "wanted => Object.entries(wanted).every(([name, value]) => new URLSearchParams(location.search).get(name) === value)"
        self.wait(there, query, f"the address with {query}")

    def sees(self, selector: str, text: str = "") -> str:
        """Wait for a visible part with this text in it; the part's text."""
        has = f"""([selector, text]) => ({TEXTS})(selector).map((own) => own.replace(/\\s+/g, " ").trim()).find((own) => own.includes(text)) || ""
        """
        return str(self.wait(has, [selector, text], f"{text!r} in {selector}"))

    def loses(self, selector: str) -> None:
        """Wait until no part of this selector is visible."""
        self.wait(f"selector => !({TEXTS})(selector).length", selector, f"no {selector}")

    def texts(self, selector: str) -> list[str]:
        return [" ".join(text.split()) for text in self.evaluate(TEXTS, selector)]

    def attribute(self, selector: str, name: str) -> str:
        return str(
            self.evaluate(
                "([selector, name]) => document.querySelector(selector)?.getAttribute(name)", [selector, name]
            )
        )

    # What is done

    def target(self, selector: str, name: str | None = None) -> tuple[float, float]:
        """The middle of a part where the pointer reaches it."""
        x, y = self.wait(TARGET, [selector, name], f"{selector} {name!r}, which the pointer can reach")
        return x, y

    def click(self, selector: str, name: str | None = None) -> None:
        """Click on a part, or tap on it where the window is that of a phone."""
        self.click_at(*self.target(selector, name))

    def click_at(self, x: float, y: float) -> None:
        if self.engine.touch:
            self.engine.tap(x, y)
        else:
            self.engine.move(x, y)
            self.engine.down()
            self.engine.up()

    def focus(self, selector: str, name: str | None = None) -> None:
        self.wait(
            f"async (wanted) => {{ const part = ({FIND})(wanted); part?.focus(); return part && document.activeElement === part; }}",
            [selector, name],
        )

    def write(self, selector: str, text: str, name: str | None = None) -> None:
        """Write into a field in place of what it has, and press Enter."""
        self.click(selector, name)
        self.press("Control+a", *text, "Enter")

    def drag(self, x: float, y: float, right: float, down: float = 0) -> None:
        """Drag, without letting it go."""
        x, y = round(x), round(y)
        self.engine.move(x, y)
        self.engine.down()
        for part in (1, 2, 3, 4):
            self.engine.move(x + right * part / 4, y + down * part / 4)

    def travel(self, delta: int) -> None:
        """Go back (-1) or forward (1) in the history. WebKit's driver waits for a document to be loaded, which may not happen."""
        self.evaluate("delta => void setTimeout(() => history.go(delta))", delta)

    def choose(self, selector: str, option: str) -> None:
        """Choose in a list of the system's own, as a driver can: its window is not part of the page."""
        choose = """([selector, option]) => {
          const list = document.querySelector(selector), found = [...(list?.options ?? [])].find(({ label }) => label === option);
          if (!found) return false;
          list.value = found.value;
          for (const name of ["input", "change"]) list.dispatchEvent(new Event(name, { bubbles: true }));
          return true;
        }"""
        self.wait(choose, [selector, option], f"{option} in {selector}")

    # The elements of a figure

    def spots(self, scene: Scene, key: str) -> dict[Index, tuple[float, float]]:
        """The middle of each drawn element of a panel."""
        return middles(scene, *self.evaluate(MIDDLES, key))

    def spot(self, scene: Scene, key: str, index: Index) -> tuple[float, float]:
        """The middle of one element, where the pointer can reach it."""
        self.evaluate(REVEAL, [key, *self.spots(scene, key)[index]])
        return self.spots(scene, key)[index]

    def names(self, index: Index) -> str:
        """Wait until the read-out names the element; the read-out's text."""
        self.wait(NAMES, f"[{', '.join(map(str, index))}]", f"{index} in the read-out")
        return self.texts(".nv-readout")[0]

    def open_elements(self, scene: Scene, key: str) -> set[Index]:
        """The elements of the panel that are not veiled."""
        across, down, opened = self.evaluate(OPEN, key)
        cells = middles(scene, range(len(across)), range(len(down)))
        return {index for index, (column, line) in cells.items() if opened[line][column]}
