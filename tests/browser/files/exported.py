"""The Explore page as one HTML file, without server and network. Tests use it in the same way as a view of the app."""

from pathlib import Path
from urllib.parse import parse_qsl

from playwright.sync_api import Page

from normviz.export.assets import plotly_js
from normviz.export.links import output_of_query
from tests.browser.view import View


class FileView(View):
    """A file in one tab. Its address does not change, so the test passes the scene that a click should give."""

    def __init__(self, page: Page, folder: Path) -> None:
        super().__init__(page, folder.as_uri())
        self.folder, self.requested, self.count = folder, dict[str, str](), 0
        (folder / "plotly.min.js").write_bytes(
            plotly_js()
        )  # next to the files, so that the browser compiles it only once

    @property
    def query(self) -> dict[str, str]:
        return self.requested

    def open(self, query: str = "") -> View:
        """Export the view of the query, open the file, and wait until it shows the scene."""
        self.requested = dict(parse_qsl(query.removeprefix("?")))
        self.count += 1
        path = self.folder / f"{self.count}.html"
        path.write_text(output_of_query("explore", self.requested).to_html(plotlyjs="plotly.min.js"), encoding="utf-8")
        self.leave()
        self.page.goto(path.as_uri())
        return self.wait_for_scene()

    go = open

    def wait_for_view(self, **query: str | None) -> View:
        """Wait until the page shows the scene with these values."""
        self.requested = {name: value for name, value in (self.requested | query).items() if value is not None}
        return self.wait_for_scene()

    def focus_start(self) -> None:
        """Move the focus to the start of the page."""
        self.page.evaluate("document.activeElement.blur()")
