"""The preview in the Share panel reports the height of the snippet, even if it loads slowly."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_share import Panel

pytestmark = pytest.mark.browser

# Each call of the clock is an hour later.
HURRIED = "{ const now = Date.now; let hours = 0; Date.now = () => now() + 3_600_000 * hours++; }"


def test_a_late_preview_still_reports_its_height(return_visit: Visit) -> None:
    view = return_visit().open()
    view.page.evaluate(HURRIED)
    panel = Panel(view)
    assert panel.measured() > 150
    note = panel.dialog.locator(".nvs-stage > .nvs-note")
    expect(note).to_have_text("The preview did not load here. The code is right; its height is a guess.")  # at first
    expect(note).to_be_hidden()
