"""Narrow windows and zoom, more contrast, forced colors, and reduced motion: nothing is lost."""

import pytest

from normviz.figures.palette import THEMES
from tests.browser.view import View

pytestmark = pytest.mark.browser

PAGES = ["?shape=2,3,2,2", "compare?hide=", "step_by_step?hide=", "gradients?hide=", "train_and_eval?hide=", "numerics?hide=", "models?hide=", "questions?q=s0", "start?step=3", "practice?seed=7"]  # fmt: skip

# The visible parts that reach beyond the window, outside of boxes that scroll.
TOO_WIDE = """() => [...document.querySelectorAll(".nv-page *")].filter((part) => {
  const box = part.getBoundingClientRect();
  if (!box.width || box.height < 2 || !part.checkVisibility({ visibilityProperty: true }) || (box.left >= -1 && box.right <= innerWidth + 1)) return false;
  for (let at = part.parentElement; at; at = at.parentElement) if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX) && at.matches(".nv-page *")) return false;
  return true;
}).map((part) => `${part.tagName}.${part.getAttribute("class")}: ${part.textContent.trim().slice(0, 40)}`)"""
SIDEWAYS = "() => [document.scrollingElement, document.querySelector('[data-testid=stMain]')].some((part) => part.scrollWidth > part.clientWidth)"


def test_nothing_is_cut_off_at_320_px_and_at_200_percent(tab):
    view, watch = tab
    found = {}
    for size in ({"width": 320, "height": 640}, {"width": 640, "height": 360}):  # the second: 1280 x 720 at 200 %
        view.page.set_viewport_size(size)
        for address in PAGES if size["width"] == 320 else PAGES[:2]:
            view.visit(address)
            view.wait_until_drawn()
            if wide := view.page.evaluate(TOO_WIDE):
                found[address] = wide
            assert not view.page.evaluate(SIDEWAYS), address
    view.page.set_viewport_size({"width": 1280, "height": 720})
    assert not found
    watch.check()


@pytest.fixture
def with_media(tab):
    """The tab, with media features that are taken back."""
    view, _watch = tab
    yield view
    view.page.emulate_media(forced_colors="none", contrast="no-preference", color_scheme="light")


def color_of(view: View, selector: str, style: str) -> str:
    return str(view.find(selector).first.evaluate(f"part => getComputedStyle(part).{style}"))


def test_in_forced_colors_cells_keep_theirs_and_everything_else_has_the_readers(with_media):
    view = with_media.go("?shape=2,3&layer=LayerNorm(3)&at=0,0")
    view.page.emulate_media(forced_colors="active", color_scheme="dark")
    text, ground = color_of(view, ".nv-title", "color"), "rgb(0, 0, 0)"
    assert color_of(view, ".nv-labels text", "fill") == color_of(view, ".nv-veiled text", "fill") == text != ground
    assert color_of(view, ".nv-outline", "stroke") == text
    assert color_of(view, ".nv-frame", "stroke") not in (text, ground)
    inks = [f"rgb({', '.join(str(int(ink[at : at + 2], 16)) for at in (1, 3, 5))})" for ink in THEMES["light"].ink]
    assert color_of(view, ".nv-panel-stats .nv-text:not(.nv-veiled) text", "fill") in inks


def test_with_more_contrast_borders_and_small_print_have_the_color_of_the_text(with_media):
    view = with_media.go("?shape=2,3&layer=LayerNorm(3)&at=0,0")
    muted = color_of(view, ".nv-caption", "color")
    view.page.emulate_media(contrast="more")
    text = color_of(view, ".nv-title", "color")
    assert muted != text
    assert color_of(view, ".nv-caption", "color") == color_of(view, ".nv-panel", "borderTopColor") == text


def test_nothing_moves_for_a_reader_who_prefers_reduced_motion(tab):
    view, _watch = tab
    view.visit("start?step=1")
    view.find(".nv-start-step:not([hidden])").wait_for()
    moving = """() => [...document.querySelectorAll(".nv-page *")].flatMap((part) => ["", "::before", "::after"].map((pseudo) => getComputedStyle(part, pseudo)))
      .filter(({ transitionProperty: property, animationName: name }) => property !== "none" && property !== "all" || name !== "none").length"""
    assert view.page.evaluate(moving) == 0
    view.page.emulate_media(reduced_motion="no-preference")
    assert view.page.evaluate(moving) > 0
    view.page.emulate_media(reduced_motion="reduce")
