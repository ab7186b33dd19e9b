"""Bytes over the network for a first visit, a reload and one change of a control, through the deployed proxy; the first visit on a slow line.

    python -m bench.weight                    the table, and one line of JSON
    python -m bench.weight --conf other.conf  an nginx configuration other than deploy/nginx.conf

Chromium counts headers and bodies as transferred (``encodedDataLength``) and the websocket messages in both directions. Without nginx, the
browser asks the server itself, and the JSON says ``"proxy": null``.

The slow line has 1.6 Mb/s and 150 ms: ``text`` is the time until the page can be read, ``figure`` until its figure is shown, ``control`` until
its controls answer, ``complete`` until Plotly has drawn the figure.

normviz     Explore on (2, 3, 4, 4)
afternoon   the same panels as Plotly subplots
bare        one slider and one line of text
"""

from __future__ import annotations

import argparse
import base64
import math
import os
import shutil
import string
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from bench.common import FIRST_PATHS, ROOT, TAB, chromium, report, server
from bench.rerun import FIGURES, READY, Act, change_normalized_shape, slide, written
from tools.ports import free_port
from tools.servers import start, stop, wait_until_healthy

CONF = ROOT / "deploy" / "nginx.conf"
LATE = 1000  # ms: how long messages may follow the figure


def pick(page: Page, turn: int) -> None:
    """Click another element of the first panel."""
    box = page.locator(".nv-over").first.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * (0.25 + 0.25 * (turn % 2)), box["y"] + box["height"] * 0.3)


CHANGES: dict[str, dict[str, Act]] = {
    "normviz": {
        "normalized_shape": change_normalized_shape,
        "a click": pick,
        "N": written("size_n", "3", "2", armed=False),
    },
    "afternoon": {"normalized_shape": change_normalized_shape, "N": written("size_n", "3", "2", armed=False)},
    "bare": {"slider": slide},
}


class Wire:
    """Counts the bytes that a page sends and receives."""

    def __init__(self, page: Page) -> None:
        session = page.context.new_cdp_session(page)
        self.urls: dict[str, str] = {}
        self.finished: list[tuple[str, float]] = []
        self.frames = {"in": 0, "out": 0}
        session.send("Network.enable")
        session.on("Network.responseReceived", lambda e: self.urls.update({e["requestId"]: e["response"]["url"]}))
        session.on("Network.loadingFinished", lambda e: self.finished.append((e["requestId"], e["encodedDataLength"])))
        session.on("Network.webSocketFrameReceived", lambda e: self._frame("in", e))
        session.on("Network.webSocketFrameSent", lambda e: self._frame("out", e))

    def _frame(self, way: str, event: dict[str, Any]) -> None:
        data = event["response"]["payloadData"]
        binary = event["response"]["opcode"] == 2
        self.frames[way] += len(base64.b64decode(data)) if binary else len(data.encode())

    def taken(self) -> dict[str, Any]:
        """Bytes since the last call, over HTTP and over the websocket, and the largest files."""
        files = [(self.urls.get(key, key), length) for key, length in self.finished]
        found = {"http": round(sum(weight for _, weight in files)), "websocket": sum(self.frames.values())}
        largest = sorted(((round(w), url.split("/")[-1].split("?")[0]) for url, w in files), reverse=True)[:6]
        self.finished, self.frames = [], {"in": 0, "out": 0}
        return found | {"all": sum(found.values()), "requests": len(files), "largest": largest}


def settled(page: Page, figure: str, late: int) -> None:
    page.wait_for_function(READY, arg=figure)
    page.wait_for_timeout(late)


def weigh(browser: Browser, kind: str, address: str, rounds: int, late: int) -> dict[str, Any]:
    context = browser.new_context(**TAB)  # an empty cache
    page = context.new_page()
    wire = Wire(page)
    page.goto(address)
    settled(page, FIGURES[kind], late)
    found: dict[str, Any] = {"cold": wire.taken()}
    page.reload()
    settled(page, FIGURES[kind], late)
    found["reload"] = wire.taken()
    found["changes"] = {
        name: [_one(page, kind, act, turn, wire, late) for turn in range(rounds)] for name, act in CHANGES[kind].items()
    }
    context.close()
    return found


def _one(page: Page, kind: str, act: Act, turn: int, wire: Wire, late: int) -> int:
    act(page, turn)
    page.wait_for_timeout(300)
    settled(page, FIGURES[kind], late)
    return int(wire.taken()["all"])


# 1.6 Mb/s down, 0.75 Mb/s up and 150 ms, as Lighthouse has it for a slow phone connection.
LINE: dict[str, Any] = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1_600_000 / 8,
    "uploadThroughput": 750_000 / 8,
}
FAST = LINE | {"latency": 1, "downloadThroughput": 100_000_000 / 8, "uploadThroughput": 100_000_000 / 8}
TIMEOUT = 180_000  # ms

# What the text, the figure and a control of each app are.
PARTS = {
    "normviz": {
        "text": ".nv-sentence",
        "figure": ".nv-view[data-state=ready]",
        "control": "#root [role=radiogroup]",
        "complete": "#root .nv-plot image",
    },
    "afternoon": {
        "text": "[data-testid=stMarkdown]",
        "figure": "[data-testid=stPlotlyChart] .main-svg",
        "control": "#root [role=radiogroup]",
        "complete": "[data-testid=stPlotlyChart] .main-svg",
    },
    "bare": {"text": "[data-testid=stText]", "control": ":is([role=slider], input[type=range])"},
}
# The time in ms of the first frame that shows each part. A control answers when nothing covers it and no run is going on.
RECORD = """parts => {
  window.shown = {};
  const visible = (selector) => [...document.querySelectorAll(selector)].some((one) =>
    one.checkVisibility({ visibilityProperty: true }) && (one.matches("[data-state=ready], svg, image, input") || one.textContent.trim() || one.clientWidth));
  const look = () => {
    const rests = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning";
    for (const [name, selector] of Object.entries(parts))
      if (!(name in shown) && (name !== "control" || rests) && visible(selector)) shown[name] = performance.now();
    if (Object.keys(shown).length < Object.keys(parts).length) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def first_visit(browser: Browser, kind: str, address: str, line: dict[str, Any] = LINE) -> dict[str, float]:
    """Seconds until each part of the app is shown, with an empty cache."""
    context = browser.new_context(**TAB)
    context.set_default_timeout(TIMEOUT)
    page, parts = context.new_page(), PARTS[kind]
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", line)
    page.add_init_script(f"({RECORD})({parts!r})")
    page.goto(address, wait_until="commit")
    page.wait_for_function("n => Object.keys(window.shown ?? {}).length === n", arg=len(parts), polling=100)
    shown: dict[str, float] = page.evaluate("shown")
    context.close()
    return {name: round(took / 1000, 2) for name, took in shown.items()}


@contextmanager
def proxied(address: str, conf: Path) -> Iterator[str]:
    """The address of nginx in front of ``address``, or ``address`` itself without nginx. Raises RuntimeError if it does not start."""
    if not shutil.which("nginx"):
        yield address
        return
    with tempfile.TemporaryDirectory(prefix="normviz-bench-") as folder:
        port, written = free_port("127.0.0.1"), Path(folder) / "nginx.conf"
        names = {"PORT": str(port), "APP": address.removeprefix("http://"), "RESOLVER": "127.0.0.1", "CACHE": folder}
        written.write_text(string.Template(conf.read_text(encoding="utf-8")).safe_substitute(names), encoding="utf-8")
        own = f"daemon off; pid {folder}/pid;" + (" user root;" if os.geteuid() == 0 else "")
        command = ["nginx", "-e", "stderr", "-p", folder, "-c", str(written), "-g", own]
        log = Path(folder) / "log.txt"
        process = start(command, log, cwd=Path(folder), env=os.environ)
        try:
            wait_until_healthy(f"http://127.0.0.1:{port}/_stcore/health", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            stop(process)


def row(kind: str, found: dict[str, Any]) -> dict[str, Any]:
    """One row of the table, in kB of 1000 bytes."""

    def kilo(size: float) -> float:
        return round(size / 1000, 1)

    sizes = [size for ones in found["changes"].values() for size in ones]
    return {
        "kind": kind,
        "cold, kB": kilo(found["cold"]["all"]),
        "of which websocket": kilo(found["cold"]["websocket"]),
        "reload, kB": kilo(found["reload"]["all"]),
        "of which websocket (reload)": kilo(found["reload"]["websocket"]),
        "a change, kB (mean)": kilo(sum(sizes) / len(sizes)),
        "a change, kB (max)": kilo(max(sizes)),
    } | {f"slow line: {part}, s": found["slow"].get(part, math.nan) for part in PARTS["normviz"]}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--conf", type=Path, default=CONF, help="nginx's configuration")
    parser.add_argument("--rounds", type=int, default=4, help="changes per control")
    parser.add_argument("--quick", action="store_true", help="a smoke test: normviz only, one change")
    given = parser.parse_args(arguments)
    kinds, rounds, late = (["normviz"], 1, 100) if given.quick else (list(CHANGES), given.rounds, LATE)
    load, found = os.getloadavg()[0], {}
    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        for kind in kinds:
            with server(kind) as one, proxied(one.address, given.conf) as address:
                first = address + FIRST_PATHS.get(kind, "")
                found[kind] = weigh(browser, kind, first, rounds, late)
                found[kind]["slow"] = first_visit(browser, kind, first, FAST if given.quick else LINE)
    rows = [row(kind, ones) for kind, ones in found.items()]
    report("weight", rows, load, [{"kind": kind, **ones} for kind, ones in found.items()], proxy=shutil.which("nginx"))


if __name__ == "__main__":
    main()
