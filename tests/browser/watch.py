"""Collects the errors and warnings of the browser and the app during a test."""

from playwright.sync_api import ConsoleMessage, Error, Page, Request

# A request that the browser cancels because the page is left; a refused request has another error.
LEFT = "net::ERR_ABORTED"


class Watch:
    """Listens to one tab: its console, its errors, its failed requests."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", self._error)
        page.on("requestfailed", self._failed)

    def _console(self, message: ConsoleMessage) -> None:
        url = message.location.get("url", "")
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text} ({url})")

    def _error(self, error: Error) -> None:
        self.complaints.append(f"page error: {error}")

    def _failed(self, request: Request) -> None:
        if request.failure != LEFT:
            self.complaints.append(f"failed request: {request.url}: {request.failure}")

    def check(self) -> None:
        """Raise AssertionError if there was an error or warning, or the page shows a traceback; then start a new record."""
        complaints, self.complaints = self.complaints, []
        complaints += self.page.locator("[data-testid=stException]").all_inner_texts()
        assert not complaints, "\n".join(complaints)
