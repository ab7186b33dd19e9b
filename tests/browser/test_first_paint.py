"""No white flash: the page has its final background color from the first paint."""

import io
from collections.abc import Iterator

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Visit, new_context
from tests.browser.view import View

pytestmark = pytest.mark.browser

LIGHT, DARK = (255, 255, 255), (16, 20, 31)

# Record the visible color at the corner in every frame.
RECORD = """() => {
    window.grounds = new Set();
    const look = () => {
        let element = document.elementFromPoint(4, innerHeight - 4) ?? document.documentElement;
        let color = 'none';
        for (; element; element = element.parentElement) {
            color = getComputedStyle(element).backgroundColor;
            if (color !== 'rgba(0, 0, 0, 0)') break;
        }
        if (document.documentElement) window.grounds.add(color);
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""


@pytest.fixture(params=["light", "dark"])
def tab_without_streamlit(request: pytest.FixtureRequest, browser: Browser) -> Iterator[tuple[Page, str]]:
    """A tab in which no file of Streamlit loads, with a light or dark color scheme."""
    context = new_context(browser, color_scheme=request.param)
    page = context.new_page()
    page.route("**/static/**", lambda route: route.abort())
    yield page, request.param
    context.close()


def background_color(page: Page) -> tuple[int, int, int]:
    colors = Image.open(io.BytesIO(page.screenshot())).convert("RGB").getcolors(1280 * 720)
    assert colors is not None
    ((_, color),) = colors  # one color only
    return color  # type: ignore[return-value]


@pytest.mark.parametrize("path", ["/", "/compare?embed=true"])
def test_before_any_script_the_background_follows_the_preference_of_the_reader(
    tab_without_streamlit: tuple[Page, str], server: str, path: str
) -> None:
    page, preferred = tab_without_streamlit
    page.goto(server + path, wait_until="domcontentloaded")
    assert background_color(page) == {"light": LIGHT, "dark": DARK}[preferred]


@pytest.mark.parametrize(("theme", "ground"), [("light", LIGHT), ("dark", DARK)])
def test_before_any_script_the_background_follows_the_theme_in_the_address(
    tab_without_streamlit: tuple[Page, str], server: str, theme: str, ground: tuple[int, int, int]
) -> None:
    page, _ = tab_without_streamlit
    page.goto(f"{server}/?embed=true&embed_options={theme}_theme", wait_until="domcontentloaded")
    assert background_color(page) == ground


def test_before_any_script_the_background_follows_the_theme_chosen_in_the_menu(
    tab_without_streamlit: tuple[Page, str], server: str
) -> None:
    page, preferred = tab_without_streamlit
    page.goto(server, wait_until="domcontentloaded")
    other = {"light": "Dark", "dark": "Light"}[preferred]
    page.evaluate("chosen => localStorage.setItem('stActiveTheme-/-v2', JSON.stringify(chosen))", other)
    page.reload(wait_until="domcontentloaded")
    assert background_color(page) == {"Light": LIGHT, "Dark": DARK}[other]


@pytest.mark.parametrize(
    ("scheme", "query", "ground"),
    [("dark", "", DARK), ("light", "?embed=true&embed_options=dark_theme", DARK), ("dark", "?embed_options=light_theme", LIGHT)],
)  # fmt: skip
def test_the_background_never_changes_while_the_page_loads(
    first_visit: Visit, scheme: str, query: str, ground: tuple[int, int, int]
) -> None:
    view = first_visit(color_scheme=scheme)
    fonts: list[str] = []
    view.page.on("request", lambda request: fonts.append(request.url) if "SourceSans" in request.url else None)
    view.page.add_init_script(f"({RECORD})()")
    view.open(query)
    assert view.page.evaluate("[...window.grounds]") == [f"rgb{ground}"]
    assert view.page.evaluate("getComputedStyle(document.querySelector('.stApp')).fontFamily").startswith(
        "-apple-system"
    )
    if (
        "theme" not in query
    ):  # Streamlit draws a theme from the address in its own font until the font of the app has loaded
        assert fonts == []


def test_the_menu_stores_the_theme_where_the_first_paint_reads_it(first_visit: Visit) -> None:
    view = first_visit(color_scheme="light").open()
    view.page.get_by_test_id("stMainMenu").get_by_role("button").click()
    view.page.get_by_test_id("stMainMenuItem-theme-Dark").click()
    view.page.wait_for_function("localStorage.getItem('stActiveTheme-/-v2') === '\"Dark\"'")
    view.page.add_init_script(f"({RECORD})()")
    view.page.reload()
    view.wait_for_scene()
    assert view.page.evaluate("[...window.grounds]") == [f"rgb{DARK}"]


def test_plotly_js_loads_and_runs_without_waiting_for_the_scripts_of_the_page(
    tab_without_streamlit: tuple[Page, str], server: str
) -> None:
    page, _ = tab_without_streamlit
    page.goto(server)
    page.wait_for_function("window.Plotly")
    assert page.locator("script[src*='/lib/plotly-']").count() == 1


def test_the_figure_loads_plotly_js_again_if_it_failed_to_load(browser: Browser, server: str) -> None:
    context = new_context(browser)
    view = View(context.new_page(), server)
    view.page.route("**/lib/plotly-*", lambda route: route.abort(), times=1)
    view.open()
    assert view.page.locator("script[src*='/lib/plotly-']").count() == 2
    context.close()
