"""Before the headline of a layer that a reader picks, a line asks how many means it has; the headline follows at once, or after Skip."""

import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def pick(view, layer):
    view.page.get_by_role("radiogroup", name="Layer").get_by_role("radio", name=layer, exact=True).click()


def test_the_headline_of_a_picked_layer_follows_the_prediction_or_skip(look):
    view = look("?").open("?")  # a loaded page, in which no layer has been asked for
    line, headline = view.page.locator(".nv-how-many"), view.page.locator(".nv-sentence").first
    expect(line).to_be_hidden()
    top = view.page.locator(".nv-figure").first.bounding_box()["y"]
    pick(view, "BatchNorm")
    expect(line).to_be_visible()
    expect(headline).to_be_hidden()
    expect(view.page.locator(".nv-panel-stats .nv-caption")).to_be_hidden()  # it has the answer
    assert abs(view.page.locator(".nv-figure").first.bounding_box()["y"] - top) < 2
    line.get_by_label("How many means?").fill("4")
    line.get_by_label("How many means?").press("Enter")
    expect(headline).to_have_text(
        re.compile(r"^BatchNorm2d\(4\) on .* 4 means and 4 variances.*Your prediction is correct\.$")
    )
    expect(headline).to_be_focused()
    pick(view, "RMSNorm")
    line.get_by_label("How many mean squares?").wait_for()
    line.get_by_role("button", name="Skip").click()
    expect(headline).to_have_text(re.compile(r"^RMSNorm\(.*elements?\.$|^RMSNorm\(.*examples\.$"))
    pick(view, "BatchNorm")
    expect(headline).to_contain_text("4 means and 4 variances")  # once a layer
    expect(headline).to_be_visible()


def test_a_link_switches_the_prediction_off(look):
    view = look("?hide=prediction")
    pick(view, "BatchNorm")
    expect(view.page.locator(".nv-sentence").first).to_contain_text("4 means and 4 variances")
    expect(view.page.locator(".nv-sentence").first).to_be_visible()
    expect(view.page.locator(".nv-how-many")).to_have_count(0)
