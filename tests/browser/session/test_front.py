"""The front page in a browser: it answers before the app has loaded, keeps what is typed, and leads to the pages."""

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.conftest import NewTab, new_context
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

FIELD = "A layer, or an error message of torch"
READY = "#root .nv-view[data-state=ready]"


def test_it_answers_at_once_and_the_app_keeps_what_is_typed(new_tab: NewTab, server: str) -> None:
    held: list[Route] = []
    page = new_tab()
    watch = Watch(page)
    page.goto(f"{server}/")  # the server makes the page
    page.locator(READY).first.wait_for()
    page.route("**/static/js/**", lambda route: held.append(route))
    page.goto(f"{server}/", wait_until="commit")
    page.locator("#normviz-first .nv-stats .nv-over").first.hover(position={"x": 80, "y": 40})
    expect(page.locator("#normviz-first .nv-readout")).to_contain_text("x[0, 0,")
    page.get_by_label(FIELD).fill("LayerNorm(96) on")
    for route in held:
        route.continue_()
    page.unroute_all()
    expect(page.locator("#normviz-first")).to_have_count(0)
    field = page.get_by_label(FIELD)
    expect(field).to_be_focused()
    page.keyboard.type(" (8, 96, 56, 56)")
    expect(field).to_have_value("LayerNorm(96) on (8, 96, 56, 56)")
    page.keyboard.press("Enter")
    page.wait_for_url("**/explore?shape=8,96,56,56&layer=LayerNorm(\\[96\\])")
    expect(page.locator("#root .nv-problem")).to_contain_text("torch refuses")
    page.go_back()
    expect(page.locator("#root .nv-doors")).to_be_visible()  # the address with the text is not in the history
    watch.check()
    page.close()


def test_the_header_marks_the_group_and_the_logo_leads_home(new_tab: NewTab, server: str) -> None:
    page = new_tab()
    watch = Watch(page)
    page.goto(f"{server}/gradients")
    page.locator(READY).first.wait_for()
    current = page.locator("[data-testid=stTopNavSection][aria-current=true]")
    expect(current).to_have_text("Look up")
    page.get_by_test_id("stTopNavSection").filter(has_text="Teach").click()
    page.get_by_role("menuitem", name="For teachers").click()
    expect(current).to_have_text("Teach")
    expect(page.locator("#root .nv-address").first).to_have_text(f"{server}/practice?seed=7&count=5&level=1")
    page.locator("[data-testid=stLogoLink], [data-testid=stHeaderLogo]").first.click()
    expect(page.locator("#root .nv-doors")).to_be_visible()
    expect(current).to_have_count(0)
    assert page.url == f"{server}/"
    expect(page.get_by_role("button", name="Share", exact=True)).to_have_count(0)
    page.get_by_role("link", name="Explore a layer").click()
    expect(page.locator("#root .nv-sentence")).to_contain_text("means")
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_visible()
    watch.check()
    page.close()


def test_without_javascript_its_links_and_its_field_work(browser: Browser, server: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server}/?lang=es")
    expect(page.get_by_role("heading", name="Aprender")).to_be_visible()
    page.get_by_role("textbox").fill("BatchNorm2d(64)")
    page.keyboard.press("Enter")
    page.wait_for_url("**/explore?lang=es&layer=BatchNorm2d(64)")
    context.close()


def test_its_first_screen_holds_the_three_doors(browser: Browser, server: str, subtests: pytest.Subtests) -> None:
    context = new_context(browser)  # of its own, because a link with lang= is kept for the whole visit
    page = context.new_page()
    for lang in ("en", "es", "pt", "zh"):
        with subtests.test(lang):
            page.goto(f"{server}/?lang={lang}")
            page.locator(READY).first.wait_for()
            assert page.evaluate("document.documentElement.lang").startswith(lang)
            box = page.locator("#root .nv-doors").bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 720
    context.close()
