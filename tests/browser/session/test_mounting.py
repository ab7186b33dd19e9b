"""Streamlit calls the page's script at every change. It calls the returned function when it removes the page, and also right after a call whose
data had already been replaced.
"""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.view import View

pytestmark = pytest.mark.browser

PAGE = "document.querySelector('#root .nv-doc:has(> .nv-page)')"

# Call the script again with what the page shows, and then the returned function.
MOUNT_AND_END = f"""async () => {{
  const root = {PAGE}, {{ data, send }} = window.normvizPages.get(root);
  const {{ default: mount }} = await import(new URL(data.script, document.baseURI));
  mount({{ parentElement: root.parentElement, data, setTriggerValue: send }})();
}}"""


def test_the_end_of_a_replaced_call_does_not_end_the_page(view: View) -> None:
    view.open("?shape=3,4&layer=LayerNorm(4)&at=0,1&open=values,worked")
    view.page.get_by_role("button", name="Edit a value").click()
    field = view.find(".nv-field")
    field.fill("12.")
    view.page.evaluate(MOUNT_AND_END)
    expect(field).to_be_focused()
    expect(field).to_have_value("12.")


def test_another_page_ends_the_page(look: Callable[[str], View]) -> None:
    view = look("?at=none")
    assert view.page.evaluate(f"window.normvizPages.has(window.before = {PAGE})")
    view.visit("compare?at=none")
    view.page.wait_for_function("() => window.before && !window.normvizPages.has(window.before)")
    expect(view.find(".nv-above")).to_have_count(1)  # what is drawn outside the page's element
    view.go("?at=none")  # from another page, an address without a query would keep its scene
