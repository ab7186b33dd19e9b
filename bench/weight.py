"""Bytes over the network for a first visit, a reload and one change of a control, through the deployed proxy; the first visit on a slow line.

    python -m bench.weight                    the table, and one line of JSON
    python -m bench.weight --conf other.conf  an nginx configuration other than deploy/nginx.conf

Chromium counts headers and bodies as transferred (``encodedDataLength``) and the websocket messages in both directions. Without nginx, an
uncompressed body counts with its size after gzip -5 if it is compressible, and the JSON says ``"proxy": "estimated"``.

The slow line has 1.6 Mb/s and 150 ms: ``text`` is the time until the page can be read, ``figure`` until its figure is shown, ``control`` until
its controls answer, ``complete`` until Plotly has drawn the figure.

normviz     Explore on (2, 3, 4, 4)
afternoon   the same panels as Plotly subplots
bare        one slider and one line of text
"""

from __future__ import annotations

import argparse
import base64
import gzip
import math
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, CDPSession, Error, Page

from bench.common import TAB, chromium, report, server
from bench.proxy import CONF, available, proxied
from bench.rerun import FIGURES, READY, Act, segment, slide, written
from bench.slow import FAST, LINE, PARTS, first_visit

COMPRESSIBLE = ("text/", "application/javascript", "application/json", "image/svg", "font/ttf")
LATE = 1000  # ms: how long messages may follow the figure
SMALLEST = 1000  # bytes; nginx does not compress smaller files


def pick(page: Page, turn: int) -> None:
    """Click another element of the first panel."""
    box = page.locator(".nv-over").first.bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] * (0.25 + 0.25 * (turn % 2)), box["y"] + box["height"] * 0.3)


DEPTH = segment("depth", "H, W", "C, H, W")
CHANGES: dict[str, dict[str, Act]] = {
    "normviz": {"normalized_shape": DEPTH, "a click": pick, "N": written("size_n", "3", "2", armed=False)},
    "afternoon": {"normalized_shape": DEPTH, "N": written("size_n", "3", "2", armed=False)},
    "bare": {"slider": slide},
}


class Wire:
    """Counts the bytes that a page sends and receives."""

    def __init__(self, page: Page, estimate: bool) -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.estimate = estimate
        self.types: dict[str, tuple[str, bool, str]] = {}
        self.finished: list[tuple[str, float]] = []
        self.frames = {"in": 0, "out": 0}
        self.session.send("Network.enable", {"maxTotalBufferSize": 100_000_000, "maxResourceBufferSize": 20_000_000})
        self.session.on("Network.responseReceived", self._response)
        self.session.on(
            "Network.loadingFinished", lambda e: self.finished.append((e["requestId"], e["encodedDataLength"]))
        )
        self.session.on("Network.webSocketFrameReceived", lambda e: self._frame("in", e))
        self.session.on("Network.webSocketFrameSent", lambda e: self._frame("out", e))

    def _response(self, event: dict[str, Any]) -> None:
        response = event["response"]
        packed = any(name.lower() == "content-encoding" for name in response["headers"])
        self.types[event["requestId"]] = (response["mimeType"], packed, response["url"])

    def _frame(self, way: str, event: dict[str, Any]) -> None:
        data = event["response"]["payloadData"]
        binary = event["response"]["opcode"] == 2
        self.frames[way] += len(base64.b64decode(data)) if binary else len(data.encode())

    def taken(self) -> dict[str, Any]:
        """Bytes since the last call, over HTTP and over the websocket, and the largest files."""
        files = [(self.types.get(key, ("", True, key))[2], self._weight(key, length)) for key, length in self.finished]
        found = {"http": round(sum(weight for _, weight in files)), "websocket": sum(self.frames.values())}
        largest = sorted(((round(w), url.split("/")[-1].split("?")[0]) for url, w in files), reverse=True)[:6]
        self.finished, self.frames = [], {"in": 0, "out": 0}
        return found | {"all": sum(found.values()), "requests": len(files), "largest": largest}

    def _weight(self, key: str, length: float) -> float:
        kind, packed, _ = self.types.get(key, ("", True, ""))
        if not self.estimate or packed or length < SMALLEST or not kind.startswith(COMPRESSIBLE):
            return length
        try:
            body = self.session.send("Network.getResponseBody", {"requestId": key})
        except Error:  # the browser no longer has the body
            return length
        raw = base64.b64decode(body["body"]) if body["base64Encoded"] else body["body"].encode()
        return length - len(raw) + len(gzip.compress(raw, 5))


def settled(page: Page, figure: str, late: int) -> None:
    page.wait_for_function(READY, arg=figure)
    page.wait_for_timeout(late)


def weigh(browser: Browser, kind: str, address: str, estimate: bool, rounds: int, late: int) -> dict[str, Any]:
    context = browser.new_context(**TAB)  # an empty cache
    page = context.new_page()
    wire = Wire(page, estimate)
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


@contextmanager
def behind_proxy(address: str, conf: Path) -> Iterator[str]:
    if available(conf):
        with proxied(address, conf) as found:
            yield found
    else:
        yield address


def row(kind: str, found: dict[str, Any]) -> dict[str, Any]:
    """One row of the table, in kB of 1000 bytes."""
    kilo: Callable[[float], float] = lambda size: round(size / 1000, 1)  # noqa: E731
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
    load, through, found = os.getloadavg()[0], available(given.conf), {}
    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        for kind in kinds:
            with server(kind) as one, behind_proxy(one.address, given.conf) as address:
                found[kind] = weigh(browser, kind, address, not through, rounds, late)
                found[kind]["slow"] = first_visit(browser, kind, address, FAST if given.quick else LINE)
    rows = [row(kind, ones) for kind, ones in found.items()]
    report(
        "weight",
        rows,
        load,
        [{"kind": kind, **ones} for kind, ones in found.items()],
        proxy="nginx" if through else "estimated",
    )


if __name__ == "__main__":
    main()
