"""The front page in a browser: it answers before the app has loaded, keeps what is typed, and leads to the pages."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Route, expect

from normviz.parts.titles import HOME
from tests.browser.conftest import NewTab, new_context
from tests.browser.view import View
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

FIELD = "A layer, or an error message of torch"
READY = "#root .nv-view[data-state=ready]"


def test_it_answers_at_once_and_the_app_keeps_what_is_typed(new_tab: NewTab, made: Callable[[str], str]) -> None:
    held: list[Route] = []
    page = new_tab()
    watch = Watch(page)
    page.route("**/static/js/**", lambda route: held.append(route))
    page.goto(made(""), wait_until="commit")
    toy, own_gamma = page.locator("#normviz-first .nv-toy"), page.get_by_role("group", name="own gamma for each")
    expect(toy).to_have_attribute("data-layer", "LayerNorm([3, 5])")
    assert all(toy.aria_snapshot().count(name) == 1 for name in ("mean over", "own gamma for each"))  # heard once
    page.get_by_role("group", name="mean over").get_by_role("button", name="N, examples").click()
    expect(toy).to_have_attribute("data-layer", "")
    expect(toy.get_by_role("button", name="BatchNorm2d(4)")).to_be_visible()  # the same means
    for axis in ("h", "w", "c"):
        own_gamma.locator(f"[data-axis={axis}]").press("Space")
    expect(toy).to_have_attribute("data-layer", "BatchNorm2d(4)")
    page.get_by_label(FIELD).fill("LayerNorm(96) on")
    for route in held:
        route.continue_()
    page.unroute_all()
    expect(page.locator("#normviz-first")).to_have_count(0)
    field = page.get_by_label(FIELD)
    expect(field).to_be_focused()
    expect(page.locator("#root .nv-toy")).to_have_attribute("data-layer", "BatchNorm2d(4)")
    expect(page.get_by_text("Make LayerNorm.")).to_be_visible()
    page.keyboard.type(" (8, 96, 56, 56)")
    expect(field).to_have_value("LayerNorm(96) on (8, 96, 56, 56)")
    page.keyboard.press("Enter")
    page.wait_for_url("**/explore?shape=8,96,56,56&layer=LayerNorm(\\[96\\])")
    expect(page.locator("#root .nv-problem")).to_contain_text("torch refuses")
    page.go_back()
    expect(page.locator("#root .nv-doors")).to_be_visible()  # the address with the text is not in the history
    watch.check()
    page.close()


def test_the_header_marks_the_group_and_the_logo_leads_home(tab: tuple[View, Watch], server: str) -> None:
    view, watch = tab
    page = view.page
    view.visit("gradients?hide=")
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
    page.locator("#root .nv-toy [data-axis=n]").first.click()
    page.get_by_role("link", name="Explore it").click()
    expect(page.locator("#root .nv-sentence")).to_contain_text("means")
    page.wait_for_url("**/explore?shape=2,4,3,5&layer=Norm*")
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_visible()
    watch.check()


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
    view = View(page, server)
    for lang in ("en", "es", "pt", "zh"):
        with subtests.test(lang):
            view.visit(f"{HOME}?lang={lang}")
            page.wait_for_function("lang => document.documentElement.lang.startsWith(lang)", arg=lang)
            page.locator("#root .nv-toy [data-axis]").first.wait_for()
            box = page.locator("#root .nv-doors").bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= 720
    context.close()
