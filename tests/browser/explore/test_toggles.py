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


def test_on_a_phone_a_toggle_stays_under_the_finger_when_what_is_above_it_becomes_shorter(look):
    look("?shape=2,4,3,5&layer=BatchNorm2d(4)").page.set_viewport_size({"width": 390, "height": 844})
    view = look("?shape=2,4,3,5&layer=LayerNorm([4,3,5])")
    toggle = view.page.get_by_role("group", name="mean over").get_by_role("button", name="C, channels")
    for layer in ("Norm('n c h w -> n c','c h w')", None):  # None: the default, LayerNorm([4,3,5])
        view.wait_until_drawn()
        # At the bottom the band in sight would cover it, and the click would scroll.
        toggle.evaluate("toggle => toggle.scrollIntoView({ block: 'center', behavior: 'instant' })")
        before = toggle.bounding_box()
        toggle.click()
        view.wait_for_view(layer=layer)
        view.wait_until_drawn()
        assert toggle.bounding_box() == pytest.approx(before, abs=1)
