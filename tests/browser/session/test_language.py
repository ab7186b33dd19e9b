"""The list of languages in the header."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

COOKIE = "normviz-language"


@pytest.fixture
def page(page: Page) -> Iterator[Page]:
    """Other tests are English again."""
    yield page
    page.context.clear_cookies(name=COOKIE)


def test_the_list_in_the_header_changes_every_text_and_the_next_pages_keep_the_language(
    page: Page, server: str
) -> None:
    page.goto(f"{server}/explore?shape=2,3&layer=LayerNorm(3)")
    languages = page.get_by_label("Language", exact=True)
    expect(languages).to_have_value("en")
    languages.select_option("es")
    html, title = page.locator("html"), page.get_by_role("heading", level=1)
    expect(html).to_have_attribute("lang", "es")
    expect(title).to_contain_text("Explorar")
    expect(page).to_have_title("Explorar · normviz")
    expect(page.locator("#root .nv-sentence")).to_contain_text("LayerNorm([3])")
    assert page.url.endswith("?shape=2,3&layer=LayerNorm(3)&lang=es")
    page.get_by_role("navigation", name="Vistas de este tensor").get_by_role("link", name="Comparar").click()
    expect(title).to_contain_text("Comparar")
    expect(page).to_have_title("Comparar · normviz")
    page.goto(f"{server}/numerics")  # a new session
    expect(page.get_by_label("Idioma", exact=True)).to_have_value("es")
    expect(html).to_have_attribute("lang", "es")
    page.goto(f"{server}/numerics?lang=en&embed=true")  # a frame does not change what the reader has chosen
    expect(html).to_have_attribute("lang", "en")
    expect(page.locator("#root .nv-doc").first).to_be_visible()
    assert [cookie["value"] for cookie in page.context.cookies() if cookie["name"] == COOKIE] == ["es"]
