"""A page of another site that has only a snippet."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import Frame, Page

from tests.browser.scripts import NAVIGATE, PAINTED, SETTLED
from tests.browser.share.panel import READY
from tests.browser.view import View, is_end_of_run
from tests.support.snippets import tag

EXCEPTIONS = ("disableThirdPartyCookieMetadata", "disableThirdPartyCookieHeuristics")  # for sites that still need them
PAGE = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div style="width: {}px">{}</div>'

# Give the frame the attributes of another snippet, except its address, as if it had always had them.
REPLACE = """([snippet, width]) => {
  const column = document.querySelector("body > div"), frame = document.querySelector("iframe"), template = document.createElement("template");
  template.innerHTML = snippet;
  const other = template.content.querySelector("iframe"), around = template.content.firstElementChild;
  for (const { name } of [...frame.attributes]) if (name !== "src") frame.removeAttribute(name);
  for (const { name, value } of other.attributes) if (name !== "src") frame.setAttribute(name, value);
  column.style.width = `${width}px`;
  column.style.containerType = around === other ? "" : around.style.containerType;
}"""


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def site(folder: Path) -> Iterator[str]:
    """The address of another site with the files of the folder: 127.0.0.1 is not localhost."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def block_cookies_of_frames(page: Page) -> None:
    """Block the cookies and the storage of other sites in frames, as most readers' browsers do."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    rule = {"enableThirdPartyCookieRestriction": True}
    session.send("Network.setCookieControls", rule | dict.fromkeys(EXCEPTIONS, True))


class FramePage:
    """A page of another site that has only a snippet, in one tab."""

    def __init__(self, view: View, folder: Path, address: str) -> None:
        self.view, self.page, self.folder, self.address = view, view.page, folder, address

    def load(self, snippet: str, width: int = 700) -> Frame:
        """The frame of the snippet, after its figures are drawn."""
        (self.folder / "page.html").write_text(PAGE.format(width, snippet), encoding="utf-8")
        self._fit(width)
        self.view.forget_app()
        self.page.goto(f"{self.address}/page.html")
        return self._drawn()

    def show(self, snippet: str, width: int = 700) -> Frame:
        """The same; the app in the frame is not loaded again."""
        if not self.view.socket:
            return self.load(snippet, width)
        self._fit(width)
        (_, frame) = self.page.frames
        self.page.evaluate(REPLACE, [snippet, width])
        address = tag(snippet)["src"].removeprefix(self.view.server)
        with self.view.socket.expect_event("framereceived", is_end_of_run):
            frame.evaluate(NAVIGATE, address)
        frame.evaluate(PAINTED)
        return self._drawn()

    def _fit(self, width: int) -> None:
        self.page.bring_to_front()
        self.page.set_viewport_size({"width": max(400, width + 40), "height": 900})

    def _drawn(self) -> Frame:
        self.page.frame_locator("iframe").locator(READY).first.wait_for()
        (_, frame) = self.page.frames
        frame.wait_for_function(SETTLED)
        return frame
