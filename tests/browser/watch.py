"""What the browser, or the app in it, complains of while a test runs."""

import re

from playwright.sync_api import ConsoleMessage, Error, Page, Request

# What the browser itself gives up because the page is left; a server or a rule that refuses has another name.
LEFT = "net::ERR_ABORTED"

# On a cold link to a page below the root, Streamlit asks for these two and gets a 404.
PROBE = re.compile(r"https?://[^/]+/.+/_stcore/(health|host-config)")


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
        if message.type in ("error", "warning") and not (PROBE.fullmatch(url) and "404" in message.text):
            self.complaints.append(f"console {message.type}: {message.text} ({url})")

    def _error(self, error: Error) -> None:
        self.complaints.append(f"page error: {error}")

    def _failed(self, request: Request) -> None:
        if request.failure != LEFT:
            self.complaints.append(f"failed request: {request.url}: {request.failure}")

    def check(self) -> None:
        """Raise AssertionError where there was a complaint, or a traceback stands on the page; the next check starts afresh."""
        complaints, self.complaints = self.complaints, []
        complaints += self.page.locator("[data-testid=stException]").all_inner_texts()
        assert not complaints, "\n".join(complaints)
