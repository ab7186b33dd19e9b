"""What a file does not have leads to the app, or is not offered: other slices of a large tensor, other values of x."""

import pytest
from playwright.sync_api import expect

from tests.browser.playing.files import choose, expect_fragment, expect_sentence, select_first_element

pytestmark = pytest.mark.browser
APP = "https://example.org/lab/"


def test_blank_slices_lead_to_the_app(show):
    page = show("large")
    link = page.locator(".nv-slices").get_by_role("link", name="Open it in the app")
    expect(link).to_have_count(0)
    page.get_by_role("slider", name="First slice of c").press("ArrowRight")
    expect(page.locator(".nv-slices")).to_contain_text("This file has no values of the slices that are blank.")
    expect(link).to_have_count(1)
    assert link.get_attribute("href").startswith(f"{APP}explore?shape=2,64,4,4&layer=BatchNorm2d(64)")


def test_values_can_be_edited_in_the_app_if_there_is_one(show):
    page = show("shapes")
    choose(page, "Layer", "GroupNorm")
    page.locator("summary", has_text="The numbers, worked out, and all values").click()
    page.get_by_role("button", name="Edit a value").click()
    link = page.get_by_role("link", name="Edit them in the app")
    expect(link).to_have_attribute("href", f"{APP}explore?shape=2,3,4,4&layer=GroupNorm(3,3)")
    page = show("explore")
    expect_sentence(page, "LayerNorm([3, 4, 4])")
    expect(page.get_by_role("button", name="Edit a value")).to_have_count(0)


def test_moved_slices_stay_in_the_address_of_the_file_and_in_its_link_to_the_app(show):
    page = show("large")
    slices, element = page.locator(".nv-slices"), page.locator(".nv-readout")
    app = page.locator("p > .nv-app-link")
    select_first_element(page)
    slider = page.get_by_role("slider", name="First slice of c")
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect_fragment(page, "#layer=BatchNorm2d(64)&from=0,2,0,0&at=0,2,0,0")  # the element keeps its place
    expect(app).to_have_attribute("href", f"{APP}explore?shape=2,64,4,4&layer=BatchNorm2d(64)&from=0,2,0,0&at=0,2,0,0")
    choose(page, "Layer", "GroupNorm(4, 64)")
    expect_fragment(page, "#layer=GroupNorm(4,64)&from=0,2,0,0&at=0,2,0,0")
    page.reload()
    expect_sentence(page, "GroupNorm(4, 64)")
    expect(slices).to_contain_text("c = 2, 3, 4, …, 63")
    expect(element).to_contain_text("x[0, 2, 0, 0]")
    page.go_back()
    expect_sentence(page, "BatchNorm2d(64)")
    expect(slices).to_contain_text("c = 2, 3, 4, …, 63")
    page.get_by_role("button", name="Back to the start").click()
    expect(slices).to_contain_text("c = 0, 1, 2, …, 63")
    expect_fragment(page, "#layer=BatchNorm2d(64)")


def test_slices_of_an_address_that_the_file_cannot_draw_are_stated(show):
    page = show("large", "from=0,99,0,0")
    expect(page.locator(".nv-slices")).to_contain_text("c = 60, 61, 62, 63")
    expect(page.locator(".nv-no-view")).to_be_hidden()
    page = show("explore", "from=0,1,0,0")
    expect(page.locator(".nv-no-view")).to_contain_text("This file has no answer for from=0,1,0,0.")
