"""How soon the front page answers a touch: a first visit on a slow line, with a phone and an empty cache.

    python -m bench.touch              the table, and one line of JSON
    python -m bench.touch --rounds 9   visit each 9 times (default 5)

The line has 1.6 Mb/s and 150 ms, as in ``bench.weight``.

text      from the navigation until the links below the toy are shown
toy       until the toy is shown
answered  until the first touch of a toggle has changed the toy

app, nginx   the app behind the deployed proxy
app          the app without a proxy
site         the front page of the static site, from a server that compresses files, as static hosts do
"""

from __future__ import annotations

import argparse
import gzip
import mimetypes
import os
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from playwright.sync_api import Browser

from bench.common import chromium, report, server, spread
from bench.weight import CONF, FAST, LINE, TIMEOUT, proxied
from normviz.export.site import INDEX, entries, index_page, shared_files

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "reduced_motion": "reduce",
}
TIMES = ("text", "toy", "answered")
# Records the first frame of each. The first touch of a toggle is answered when the toy differs from what it was before.
WATCH = """
window.bench = {};
let before;
const note = (name, happened) => { if (happened && !(name in bench)) bench[name] = performance.now(); };
const look = () => {
  const toy = document.querySelector(".nv-toy:has(.nv-toggle)"), now = toy?.innerHTML;
  note("text", document.querySelector(".nv-doors"));
  note("toy", toy);
  note("answered", bench.touched && now !== before);
  if (!bench.touched) before = now;
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
window.addEventListener("pointerdown", ({ target }) => note("touched", target.closest(".nv-toggle")), true);
"""
# The middle of the first toggle.
TOGGLE = """() => {
  const box = document.querySelector(".nv-toy .nv-toggle[data-axis]")?.getBoundingClientRect();
  return box?.width && [box.left + 0.5 * box.width, box.top + 0.5 * box.height];
}"""


def visit(browser: Browser, address: str, line: dict[str, Any] = LINE) -> dict[str, float]:
    """The times of a first visit in seconds."""
    context = browser.new_context(**PHONE)
    context.set_default_timeout(TIMEOUT)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", line)
    page.add_init_script(WATCH)
    page.goto(address, wait_until="commit")
    page.touchscreen.tap(*page.wait_for_function(TOGGLE, polling=10).json_value())
    page.wait_for_function("() => bench.answered", polling=50)
    found: dict[str, float] = page.evaluate("bench")
    context.close()
    return {name: round(found[name] / 1000, 2) for name in TIMES}


class Files(BaseHTTPRequestHandler):
    """Sends the files of a folder compressed."""

    protocol_version = "HTTP/1.1"

    def __init__(self, files: dict[str, bytes], *arguments: Any) -> None:
        self.files = files
        super().__init__(*arguments)

    def handle(self) -> None:
        with suppress(ConnectionError):  # the browser leaves before all files have come
            super().handle()

    def do_GET(self) -> None:
        name = self.path.lstrip("/") or INDEX
        content = self.files.get(name, b"")
        self.send_response(200 if content else 404)
        self.send_header("Content-Type", mimetypes.guess_type(name)[0] or "text/plain")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def front_page() -> Iterator[str]:
    """The address of the static site's front page with what it loads; the pages that it links to are missing."""
    files = shared_files() | {INDEX: index_page(entries(), "follow").encode()}
    compressed = {name: gzip.compress(content, mtime=0) for name, content in files.items()}
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, compressed)) as one:
        Thread(target=one.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{one.server_port}/"
        one.shutdown()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a smoke test: one visit of each on a fast line")
    given = parser.parse_args(arguments)
    rounds, line = (1, FAST) if given.quick else (given.rounds, LINE)
    load = os.getloadavg()[0]
    with chromium() as browser, server("normviz") as one, proxied(one.address, CONF) as proxy, front_page() as site:
        addresses = {"app, nginx": f"{proxy}/", "app": f"{one.address}/", "site": site}
        wait_until_ready(one.address)
        found = {kind: [visit(browser, address, line) for _ in range(rounds)] for kind, address in addresses.items()}
    rows = [
        {"kind": kind}
        | {f"{name}, s (p50)": spread([one[name] for one in ones], 2)["p50"] for name in TIMES}
        | {"answered, s (max)": max(one["answered"] for one in ones)}
        for kind, ones in found.items()
    ]
    report("touch", rows, load, [{"kind": kind, "visits": ones} for kind, ones in found.items()])


def wait_until_ready(address: str) -> None:
    """Wait until the app has imported everything: before, its first HTML has no page."""
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/readyz").close()
            return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the app is not ready after a minute")


if __name__ == "__main__":
    main()
