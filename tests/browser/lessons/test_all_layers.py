"""All layers: pointing shows the groups of a place, keys move to its neighbors, a click opens it, and the tabs keep the tensor."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_pointing_shows_the_groups_of_a_place_and_a_click_opens_it_on_the_same_tensor(tab) -> None:
    view, watch = tab
    view.visit("all_layers?shape=2,4,3,5&layer=GroupNorm(2,4)&at=0,1,2,3")
    title, means = view.find(".nv-map-title"), view.find(".nv-map .nv-shared-foot p").first
    expect(title).to_have_text("GroupNorm(2, 4)")
    batch_norm = view.find('.nv-map-cell[aria-label^="BatchNorm2d(4):"]')
    batch_norm.hover()
    expect(title).to_have_text("BatchNorm2d(4)")
    expect(means).to_have_text("4 means, each of 30 elements")
    view.find(".nv-map-title").hover()
    expect(title).to_have_text("GroupNorm(2, 4)")
    batch_norm.focus()
    view.page.keyboard.press("ArrowDown")
    expect(title).to_have_text("GroupNorm(1, 4)")
    view.page.keyboard.press("ArrowUp")
    view.page.keyboard.press("Enter")
    view.wait_for_address(layer="BatchNorm2d(4)", at="0,1,2,3")
    compare = view.find(".nv-views > a[data-page=compare]")
    expect(compare).to_have_attribute(
        "href", re.compile(r"BatchNorm2d")
    )  # the tabs are drawn after the address is written
    compare.click()
    view.wait_for_address(shape="2,4,3,5", layer="BatchNorm2d(4)", at="0,1,2,3", layers=None)
    expect(view.find("h1")).to_contain_text("Compare")
    watch.check()
