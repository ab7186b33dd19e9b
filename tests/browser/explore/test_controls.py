"""The control bar of a file: quick changes count, and the keyboard keeps its place."""

from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from normviz.export.links import output_of_query
from normviz.export.output import Choices
from tests.browser.conftest import new_context
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> str:
    """An Explore file with three tensors."""
    output = replace(output_of_query("explore", {"shape": "2,3,4,4"}), choices=Choices(shapes=((2, 6, 4, 4), (5, 7))))
    file = tmp_path_factory.mktemp("controls") / "page.html"
    file.write_text(output.to_html(), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def tab(browser, address):
    context = new_context(browser, offline=True)
    watch = Watch(context.new_page())
    watch.page.goto(address)
    yield watch
    context.close()


@pytest.fixture
def page(tab):
    page: Page = tab.page
    page.evaluate("location.hash = ''")
    expect(page.locator(".nv-sentence")).to_contain_text("LayerNorm([3, 4, 4])")
    yield page
    tab.check()


def test_a_size_and_a_click_right_after_it_both_count(page):
    """The click takes the focus from the size, whose change is answered while the pointer is down."""
    field = page.get_by_label("C", exact=True)
    field.focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("6")
    page.locator(".nv-segment").filter(has_text="H, W").last.click()
    expect(page.locator(".nv-sentence")).to_contain_text("LayerNorm([4, 4]) on (2, 6, 4, 4)")
    expect(page.get_by_role("radio", name="H, W", exact=True)).to_be_checked()


def test_the_keyboard_keeps_its_place_when_a_change_makes_the_controls_again(page):
    field = page.get_by_label("C", exact=True)
    field.fill("4")  # the file does not have this size
    field.press("Enter")
    page.wait_for_function("field => ['3', '6'].includes(field.value)", arg=field.element_handle())
    expect(page.locator(".nv-sentence")).to_contain_text(f"(2, {field.input_value()}, 4, 4)")
    field.fill("6")
    field.press("Tab")
    following = page.get_by_label("Layer", exact=True)  # H and W are fixed in this file
    expect(following).to_be_focused()
    expect(page.locator(".nv-sentence")).to_contain_text("(2, 6, 4, 4)")
    expect(following).to_be_focused()

    layers = page.get_by_label("Layer", exact=True)
    layers.focus()
    layers.select_option(label="BatchNorm2d")
    expect(page.locator(".nv-sentence")).to_contain_text("BatchNorm2d(6)")
    expect(layers).to_be_focused()
    layers.select_option(label="LayerNorm")

    page.get_by_role("radio", name="C, H, W", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="H, W", exact=True)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".nv-sentence")).to_contain_text("LayerNorm([4])")
