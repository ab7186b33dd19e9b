"""What a file does not have leads to the app, or is not offered: other slices of a large tensor, other values of x."""

import pytest
from playwright.sync_api import expect

from tests.browser.playing.files import choose, expect_sentence

pytestmark = pytest.mark.browser
APP = "https://example.org/lab/"


def test_blank_slices_lead_to_the_app(show):
    page = show("large")
    link = page.locator(".nv-slices").get_by_role("link", name="Open it in the app")
    expect(link).to_have_count(0)
    page.get_by_role("slider", name="First slice of c").press("ArrowRight")
    expect(page.locator(".nv-slices")).to_contain_text("This file has no values of the slices that are blank.")
    expect(link).to_have_count(1)
    assert link.get_attribute("href").startswith(f"{APP}?shape=2,64,4,4&layer=BatchNorm2d(64)")


def test_values_can_be_edited_in_the_app_if_there_is_one(show):
    page = show("shapes")
    choose(page, "Layer", "GroupNorm")
    page.get_by_role("button", name="Edit a value").click()
    link = page.get_by_role("link", name="Edit them in the app")
    expect(link).to_have_attribute("href", f"{APP}?shape=2,3,4,4&layer=GroupNorm(3,3)")
    page = show("explore")
    expect_sentence(page, "LayerNorm([3, 4, 4])")
    expect(page.get_by_role("button", name="Edit a value")).to_have_count(0)
