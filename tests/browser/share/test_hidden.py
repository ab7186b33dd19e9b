"""Parts that a shared link hides stay hidden, and the reader can open the full app."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.share.panel import READY
from tests.browser.view import View
from tests.browser.watch import Watch
from tests.support.snippets import pairs

pytestmark = pytest.mark.browser


@pytest.fixture
def view(tab: tuple[View, Watch]) -> Iterator[View]:
    """The app in a tab that the tests share."""
    view, watch = tab
    yield view
    watch.check()


def test_a_view_with_hidden_parts_offers_the_full_app_and_a_hidden_panel_is_shown_again(view):
    view.visit("?hide=stats,output&open=worked")  # wait_for_scene() expects all panels, and a hidden panel is not drawn
    view.page.locator(READY).wait_for()
    expect(view.find(".nv-panel-stats")).to_be_hidden()
    expect(view.find(".nv-counts")).to_be_visible()
    view.go("?")
    expect(view.find(".nv-panel-stats")).to_be_visible()
    expect(view.page.get_by_role("radiogroup", name="Layer", exact=True)).to_be_visible()
    view.visit("?hide=all&shape=2,3,4,4&layer=BatchNorm2d(3)&caption=Row+1")
    offer = view.page.get_by_role("link", name="Open the full app")
    expect(offer).to_have_attribute("rel", "noopener")
    address = offer.get_attribute("href")
    assert pairs(address) == {"shape": "2,3,4,4", "layer": "BatchNorm2d(3)"}
    view.visit(address.removeprefix(f"{view.server}/"))
    expect(view.page.get_by_role("radiogroup", name="Layer", exact=True)).to_be_visible()
    expect(view.find(".nv-legend")).to_have_count(0)
    expect(offer).to_have_count(0)
    # The heading that was hidden is still before what the app puts below it.
    expect(view.page.locator(":has(> .st-key-heading) + .nv-above")).to_have_count(1)


def test_hidden_parts_stay_hidden_after_changes_reload_and_back(view):
    view.go("?hide=layer,facts,code&open=worked&caption=Here")
    view.write("C", "5")
    view.wait_for_view(shape="2,5,3,5", hide="layer,facts,code", caption="Here")
    view.forget_app()
    view.page.reload()
    view.wait_for_scene()
    expect(view.page.get_by_role("radiogroup", name="Layer", exact=True)).to_have_count(0)
    expect(view.find(".nv-counts")).to_be_hidden()
    expect(view.find(".nv-worked")).to_be_visible()
    view.page.go_back()
    view.wait_for_view(shape=None, hide="layer,facts,code")
