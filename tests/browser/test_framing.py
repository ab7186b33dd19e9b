"""The app in a frame on a page of another site."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit

pytestmark = pytest.mark.browser

FRAME = '<!doctype html><title>slides</title><iframe src="{}/?embed=true" width="900" height="700"></iframe>'


class Files(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write no log lines into the output of the test."""

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()


def test_slides_opened_from_disk_can_frame_the_app(first_visit: Visit, server: str, tmp_path: Path) -> None:
    slides = tmp_path / "slides.html"
    slides.write_text(FRAME.format(server))
    page = first_visit().page
    page.goto(slides.as_uri())
    framed = page.frame_locator("iframe")
    expect(framed.locator(".st-key-sentence")).to_contain_text("means")
    expect(framed.locator(".nv-root svg").first).to_be_visible()


def test_a_page_of_another_origin_can_frame_the_app(first_visit: Visit, server: str, tmp_path: Path) -> None:
    (tmp_path / "course.html").write_text(FRAME.format(server))
    files = partial(Files, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), files) as course:
        course.daemon_threads, course.block_on_close = True, False
        thread = Thread(target=course.serve_forever)
        thread.start()
        page = first_visit().page
        try:
            page.goto(f"http://127.0.0.1:{course.server_port}/course.html")
            expect(page.frame_locator("iframe").locator(".st-key-sentence")).to_contain_text("means")
            expect(page.frame_locator("iframe").locator(".nv-root svg").first).to_be_visible()
        finally:
            course.shutdown()
            thread.join()
