"""A term of the formula, the loops, the worked numbers or the code lights its cells: by the pointer, the keyboard and a tap; a cell lights its terms."""

import pytest
import torch
from playwright.sync_api import Browser, Page, expect

from normviz import explain, steps

pytestmark = pytest.mark.browser

X = torch.arange(24.0).reshape(2, 4, 3) ** 2
LIT = "() => document.querySelector('.nv-view').dataset.lit ?? ''"


def opened(browser: Browser, html: str, **options: object) -> Page:
    page = browser.new_page(**options)  # type: ignore[arg-type]
    page.set_content(html)
    page.wait_for_selector(".nv-view[data-state=ready]")
    return page


def outlined(page: Page, panel: str) -> str:
    return page.locator(f".nv-panel-{panel} .nv-outline").get_attribute("d") or ""


def test_every_visible_term_lights_what_it_says_and_the_pointer_leaves_it_dark(browser):
    page = opened(browser, explain("GroupNorm(2, 4)", X).to_html())
    page.evaluate("() => document.querySelectorAll('details').forEach((fold) => (fold.open = true))")
    terms = page.locator("[data-lights]:visible")
    assert terms.count() > 40
    for term in terms.all():
        term.hover()
        assert page.evaluate(LIT) == term.get_attribute("data-lights")
    page.mouse.move(1, 1)
    assert page.evaluate(LIT) == ""
    means, gammas = outlined(page, "stats"), outlined(page, "params")
    assert means != gammas
    page.locator(".nv-symbols [data-lights=gamma]").hover()
    assert outlined(page, "stats") == outlined(page, "params") == gammas  # in both panels
    page.close()


def test_the_keyboard_leads_through_the_terms_and_a_tap_lights_one(browser):
    page = opened(browser, steps("LayerNorm(3)", X).to_html(), has_touch=True)
    page.locator(".nv-symbols [tabindex='0']").focus()
    assert page.evaluate(LIT) == "output"
    for word in ("x", "mean", "var", "eps", "gamma", "beta"):
        page.keyboard.press("ArrowRight")
        assert page.evaluate(LIT) == word
    expect(page.locator(".nv-view [role=status]")).to_have_text("beta: 8 elements, all of channel 2")
    page.locator(".nv-loops [data-lights=mean]").first.tap()
    assert page.evaluate(LIT) == "mean"
    page.locator(".nv-panel-after .nv-over").tap()
    assert page.evaluate(LIT) == ""
    page.close()


def test_a_cell_lights_its_terms_and_runs_the_loops_to_its_iteration(browser):
    page = opened(browser, explain("BatchNorm1d(4)", X).to_html())
    page.locator(".nv-panel-stats .nv-over").hover(position={"x": 60, "y": 40})
    index = page.locator(".nv-readout code").first.inner_text()
    n, c, length = index.split("]")[0].removeprefix("x[").split(", ")
    expect(page.locator(".nv-loops .nv-now").nth(1)).to_have_text(f"c = {c}")
    expect(page.locator(".nv-loops .nv-now").nth(2)).to_have_text(f"n = {n} l = {length}")
    marked = page.locator(".nv-symbols [data-lights=mean]").evaluate("term => getComputedStyle(term).backgroundColor")
    assert marked != page.locator(".nv-symbols [data-lights=gamma]").evaluate(
        "term => getComputedStyle(term).backgroundColor"
    )
    page.close()
