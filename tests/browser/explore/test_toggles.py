"""The toggles in the titles of the panels, in the app: they change the layer, and the channels of GroupNorm have a stepper."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_stepper_at_the_channels_goes_through_the_divisors_and_keeps_the_focus(look):
    view = look("?shape=2,6,3,3&layer=GroupNorm(2,6)&at=0,0,0,0")
    more = view.page.get_by_role("button", name="more groups")
    expect(more).to_have_accessible_name("C, channels: 2 groups; more groups")
    more.press("Enter")
    view.wait_for_view(layer="GroupNorm(3,6)")
    expect(more).to_be_focused()
    expect(more).to_have_accessible_name("C, channels: 3 groups; more groups")
    view.page.get_by_role("button", name="fewer groups").click()
    view.wait_for_view(layer="GroupNorm(2,6)")
    view.page.get_by_role("group", name="mean over").get_by_role("button", name="N, examples").click()
    view.wait_for_view(layer="Norm('n (g k) h w -> g','c',sizes={'g': 2})")
    go = view.go("?shape=2,6,3,3&layer=GroupNorm(2,6)&hide=arguments&at=0,0,0,0")
    expect(go.page.get_by_role("button", name="more groups")).to_be_disabled()
