"""The first paint: no white flash, and a page that can be read and answers before the app has loaded."""

import io
from collections.abc import Callable, Iterator

import pytest
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.browser.conftest import NewTab, new_context, open_tab
from tests.browser.explore.test_layout import PHONE
from tests.browser.lessons.lesson import VISITORS
from tests.browser.readout import Readout
from tests.browser.view import View
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

VISITED = "explore?layer=BatchNorm2d(3)"
IS_DARK = "localStorage.getItem('stActiveTheme-/explore-v2') === '\"Dark\"'"
LIGHT, DARK = (255, 255, 255), (16, 20, 31)
GROUNDS = {"light": LIGHT, "dark": DARK}

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


@pytest.fixture(scope="module")
def context_without_scripts(browser: Browser) -> Iterator[BrowserContext]:
    """A browser in which no script loads, so that a page stays as it is first painted."""
    context = new_context(browser)
    context.route("**/*.js", lambda route: route.abort())
    yield context
    context.close()


@pytest.fixture(scope="module")
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without cached files in the first test; later tests find the app's files in its cache."""
    context = new_context(browser)
    yield context
    context.close()


@pytest.fixture
def view(visitor: BrowserContext, server: str) -> Iterator[View]:
    """The app in a tab that records its background colors."""
    watch = Watch(open_tab(visitor))
    watch.page.add_init_script(f"({RECORD})()")
    yield View(watch.page, server)
    watch.check()
    watch.page.close()


def recorded_colors(page: Page) -> list[str]:
    return page.evaluate("[...window.grounds]")  # type: ignore[no-any-return]


def background_color(page: Page) -> tuple[int, int, int]:
    colors = Image.open(io.BytesIO(page.screenshot())).convert("RGB").getcolors(1280 * 720)
    assert colors is not None
    ((_, color),) = colors  # one color only
    return color  # type: ignore[return-value]


def test_before_any_script_the_background_follows_the_menu_the_address_or_the_preference_of_the_reader(
    context_without_scripts: BrowserContext, server: str, subtests: pytest.Subtests
) -> None:
    for preferred, other in (("light", "dark"), ("dark", "light")):
        page = open_tab(context_without_scripts)
        page.emulate_media(color_scheme=preferred)  # type: ignore[arg-type]
        for path, ground in (
            ("/explore", preferred),
            ("/compare?embed=true", preferred),
            (f"/?embed=true&embed_options={other}_theme", other),
        ):
            with subtests.test(path, preferred=preferred):
                page.goto(server + path, wait_until="domcontentloaded")
                assert background_color(page) == GROUNDS[ground]
        with subtests.test("the theme of the menu", preferred=preferred):
            page.add_init_script(f"localStorage.setItem('stActiveTheme-/explore-v2', '\"{other.title()}\"')")
            page.goto(f"{server}/explore", wait_until="domcontentloaded")
            assert background_color(page) == GROUNDS[other]
        page.close()


def test_the_background_never_changes_while_the_page_loads(view: View, subtests: pytest.Subtests) -> None:
    fonts: list[str] = []
    view.page.on("request", lambda request: fonts.append(request.url) if "SourceSans" in request.url else None)
    for scheme, query, ground in (
        ("dark", "", "dark"),
        ("light", "?embed=true&embed_options=dark_theme", "dark"),
        ("dark", "?embed_options=light_theme", "light"),
    ):
        with subtests.test(query, scheme=scheme):
            view.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            view.open(query)
            assert recorded_colors(view.page) == [f"rgb{GROUNDS[ground]}"]
            assert view.page.evaluate("getComputedStyle(document.querySelector('.stApp')).fontFamily").startswith(
                "-apple-system"
            )
            if (
                "theme" not in query
            ):  # Streamlit draws a theme from the address in its own font until the font of the app has loaded
                assert fonts == []
                assert_the_first_html_links_to_every_script_of_streamlit(view.page)


def assert_the_first_html_links_to_every_script_of_streamlit(page: Page) -> None:
    """To those that Explore needs."""
    fetched: list[str] = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    scripts = {address.rpartition("/")[2] for address in fetched if "/static/js/" in address}
    html = page.request.get(page.url).text()
    assert scripts
    assert {script for script in scripts if script not in html} == set()


def test_the_menu_stores_the_theme_where_the_first_paint_reads_it(view: View) -> None:
    view.page.emulate_media(color_scheme="light")
    view.open()
    for _ in range(VISITORS):
        view.page.get_by_test_id("stMainMenu").get_by_role("button").click()
        view.page.get_by_test_id("stMainMenuItem-theme-Dark").click()
        view.page.wait_for_function(IS_DARK)
        view.page.reload()
        view.wait_for_scene()
        if view.page.evaluate(IS_DARK):
            break
    else:
        pytest.fail("no load found the stored theme")
    assert recorded_colors(view.page) == [f"rgb{DARK}"]


@pytest.fixture
def held_visit(new_tab: NewTab, server: str, made: Callable[[str], str]) -> Iterator[tuple[View, list[Route]]]:
    """A tab that gets Streamlit's files only when ``release`` is called with its second value."""
    view, held = View(new_tab(), server), list[Route]()
    made(VISITED)
    view.page.route("**/static/js/**", lambda route: held.append(route))
    watch = Watch(view.page)
    yield view, held
    watch.check()
    view.page.close()


# Mounts the component of the parts below the figure, and removes it.
MOUNT_REST = """async address => {
    const { default: mount } = await import(address), place = document.body.appendChild(document.createElement("div"));
    place.innerHTML = '<div class="nv-doc"></div>';
    const language = { name: "en", tag: "en", direction: "ltr" };
    mount({ parentElement: place, data: { page: "explore", parts: [], figures: [], report: "", language }, setTriggerValue() {} })();
    place.remove();
}"""


def release(view: View, held: list[Route]) -> None:
    for route in held:
        route.continue_()
    view.page.unroute_all()


def test_while_the_app_loads_the_page_of_the_first_html_can_be_read_and_answers(
    held_visit: tuple[View, list[Route]],
) -> None:
    view, held = held_visit
    page, scripts = view.page, list[str]()
    page.on("request", lambda request: scripts.append(request.url) if "/lib/" in request.url else None)
    page.goto(f"{view.server}/{VISITED}", wait_until="commit")
    expect(page.locator("#normviz-first .nv-sentence")).to_contain_text("BatchNorm2d(3)")
    page.locator(".nv-panel-stats .nv-over").click(position={"x": 60, "y": 60})
    expect(page.locator(".nv-readout")).to_contain_text("x[0, 0,")
    chosen = Readout(page.inner_text(".nv-readout")).index
    assert chosen
    assert page.evaluate("window.Plotly") is None
    assert [url.split("/lib/")[1].split("-")[0] for url in scripts] == ["normviz"]  # plotly.js can wait
    page.evaluate(MOUNT_REST, scripts[0])  # Streamlit may mount it before the figure
    assert page.locator("#normviz-first").count() == 1
    release(view, held)
    view.wait_for_view(at=",".join(map(str, chosen)))
    assert page.locator("#normviz-first").count() == 0
    page.set_viewport_size(PHONE)  # the script was loaded before Streamlit made the button
    expect(page.get_by_role("button", name="Menu", exact=True)).to_be_visible()


def test_a_mark_made_while_the_app_loads_counts_and_back_leads_to_the_step_before(
    held_visit: tuple[View, list[Route]], made: Callable[[str], str]
) -> None:
    view, held = held_visit
    page, title = view.page, view.page.locator(".nv-start-step:visible h2")
    page.goto(made("start?step=4"), wait_until="commit")
    page.get_by_role("gridcell", name="x[0, 0]").click()
    release(view, held)
    expect(page.locator("#normviz-first")).to_have_count(0)
    expect(page.get_by_role("gridcell", name="x[0, 0]")).to_have_attribute("aria-selected", "true")
    page.evaluate("window.same = true")
    page.get_by_role("gridcell", name="x[0, 2]").click()
    before = title.inner_text()
    page.get_by_role("button", name="Next", exact=True).click()
    expect(title).not_to_have_text(before)
    assert page.url.endswith("/start?step=5")
    page.go_back()
    expect(title).to_have_text(before)
    assert page.url.endswith("/start?step=4")
    assert page.evaluate("window.same")  # the page was not loaded again


def test_an_option_chosen_while_the_app_loads_stays_chosen(
    held_visit: tuple[View, list[Route]], made: Callable[[str], str]
) -> None:
    view, held = held_visit
    page = view.page
    page.goto(made("questions?q=s0"), wait_until="commit")
    page.locator(".nv-option").nth(1).click()
    release(view, held)
    expect(page.locator("#normviz-first")).to_have_count(0)
    expect(page.locator(".nv-option input").nth(1)).to_be_checked()


def test_streamlits_scripts_are_fetched_after_ours_which_draws_the_page_but_not_for_want_of_ours(
    new_tab: NewTab, server: str, made: Callable[[str], str]
) -> None:
    held: list[Route] = []
    page, fetched = new_tab(), list[str]()
    page.on("request", lambda request: fetched.append(request.url) if "/static/js/" in request.url else None)
    page.route("**/lib/normviz-*", lambda route: held.append(route))
    page.goto(made(VISITED), wait_until="commit")
    expect(page.locator("#normviz-first")).to_be_attached()
    page.wait_for_load_state("domcontentloaded")
    assert held
    assert fetched == []
    release(View(page, server), held)
    expect(page.locator("#root [data-testid=stApp]")).to_be_attached()
    assert fetched
    page.route("**/lib/normviz-*", lambda route: route.abort())
    page.goto(f"{server}/{VISITED}", wait_until="commit")
    expect(page.locator("#root [data-testid=stApp]")).to_be_attached()
    page.close()


# Streamlit's app after a run, without elements.
END_RUN = """async () => {
    document.getElementById("root").innerHTML = '<div data-testid="stApp" data-test-script-state="notRunning"></div>';
    await new Promise(requestAnimationFrame);
}"""


def test_the_page_of_the_first_html_stays_until_the_app_shows_something(
    held_visit: tuple[View, list[Route]], subtests: pytest.Subtests
) -> None:
    """A busy browser may draw the elements of a run long after its end."""
    view, _ = held_visit
    first = view.page.locator("#normviz-first")
    for message in ("stAlert", "stException"):
        with subtests.test(message):
            view.page.goto(f"{view.server}/{VISITED}", wait_until="commit")
            expect(first.locator(".nv-sentence")).to_contain_text("BatchNorm2d(3)")
            view.page.evaluate(END_RUN)
            assert first.count() == 1
            view.page.evaluate(
                "message => document.querySelector('#root > div').innerHTML = `<p data-testid=${message}></p>`", message
            )
            expect(first).to_have_count(0)
            view.page.evaluate("document.getElementById('root').replaceChildren()")  # Watch would find the message


def test_the_figure_loads_plotly_js_again_if_it_failed_to_load(new_tab: NewTab, server: str) -> None:
    view = View(new_tab(), server)
    view.page.route("**/lib/plotly-*", lambda route: route.abort(), times=1)
    view.open()
    assert view.page.locator("script[src*='/lib/plotly-']").count() == 2
    view.page.close()


def test_the_table_of_a_chart_waits_for_plotly_js_without_an_error(new_tab: NewTab, server: str) -> None:
    held: list[Route] = []
    view = View(new_tab(), server)
    watch = Watch(view.page)
    view.page.route("**/lib/plotly-*", lambda route: held.append(route))
    view.page.goto(f"{server}/train_and_eval?show=stream", wait_until="commit")
    tool = view.page.locator(".nv-chart").get_by_role("button", name="The figure as a table").first
    tool.wait_for(state="attached")
    tool.dispatch_event("click")
    watch.check()
    release(view, held)
    view.page.locator(".nv-chart[data-state=ready]").first.wait_for()
    tool.dispatch_event("click")
    expect(view.page.get_by_role("table").first).to_be_visible()
    watch.check()
    view.page.close()
