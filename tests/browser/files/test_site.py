"""The static site in a browser, opened from disk without server and network."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Dialog, Page, expect

from normviz.export.site import build
from normviz.lessons.compare.page import READY_SETS
from normviz.lessons.questions.page import QUESTIONS, find_question
from normviz.lessons.questions.question import facts_of, prose, search_text
from normviz.texts.searching import matches, simplified
from tests.browser.conftest import new_context
from tests.browser.watch import Watch
from tests.support.structure import HOSTILE

pytestmark = pytest.mark.browser
LAPTOP = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 780}
SHOWN = ["explore", "step_by_step", "s0", "s0b", "q22", "s2a", "four", "loops"]
READY = ".nv-view[data-state=ready]:not(:has(.nv-cells))"

# Is the page, with its figures, as wide as the window?
FITS = """(width) => document.documentElement.scrollWidth <= width && innerWidth === width
  && document.querySelector(".nv-view[data-state=ready], .nv-toy .nv-shared-grid") !== null"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a site of a few pages; the index lists them."""
    place = tmp_path_factory.mktemp("disk") / "a site"
    build(place, only=SHOWN)
    return place.as_uri()


@pytest.fixture
def page(offline_tab: Watch) -> Iterator[Page]:
    """The tab on a laptop, with the pointer in the corner. The test fails if the browser reports an error."""
    offline_tab.page.set_viewport_size(LAPTOP)
    offline_tab.page.emulate_media(media="screen", color_scheme="light")
    offline_tab.page.mouse.move(0, 0)
    yield offline_tab.page
    offline_tab.check()


@pytest.fixture
def dialogs(page: Page) -> Iterator[list[str]]:
    """The messages of the dialogs that the page opens."""
    messages: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        messages.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    yield messages
    page.remove_listener("dialog", dismiss)


def open_answer(page: Page) -> None:
    page.locator("summary", has_text="Show the answer").click()


IS_DARK = "dark => (getComputedStyle(document.documentElement).backgroundColor === 'rgb(16, 20, 31)') === dark"


def wait_for_figure(page: Page) -> None:
    """Wait until the figure is drawn; a hidden figure is ready before it is drawn."""
    page.locator(READY).first.wait_for()
    page.locator(".nv-view .main-svg").first.wait_for()


def test_every_page_opens_from_disk_and_nothing_is_cut_off_on_a_laptop_and_a_phone(page, site):
    screens = [(LAPTOP, "light"), (PHONE, "dark")]
    questions = [f"question-{key}" for key in SHOWN if key in QUESTIONS]
    for name in ("index", "explore", *questions, "compare-four", "compare-loops"):
        page.goto(f"{site}/{name}.html")
        if name in questions:
            open_answer(page)
        if name != "index":
            wait_for_figure(page)
            assert page.locator(".nv-over, .nv-chart-plot .main-svg").count() > 0
        for screen, scheme in screens:
            page.set_viewport_size(screen)
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function(FITS, arg=screen["width"])
            page.wait_for_function(
                IS_DARK, arg=scheme == "dark"
            )  # the page learns of the scheme later than of its size
        screens.reverse()  # the next page opens on the screen on which this one was left, so neither is drawn for nothing


def test_the_index_leads_to_pages_that_answer_their_controls(page, site):
    page.goto(f"{site}/index.html")
    page.get_by_role("link", name="Explore", exact=True).click()
    wait_for_figure(page)
    page.get_by_role("heading", name=prose("s0").title).click()
    page.get_by_text("Show the answer").click()
    page.get_by_role("link", name="See it in a figure").click()
    page.wait_for_url("**/question-s0.html")
    page.go_back()
    wait_for_figure(page)
    page.get_by_label("Layer", exact=True).select_option(label="BatchNorm2d")
    expect(page.locator(".nv-sentence")).to_contain_text("BatchNorm2d(4) on (2, 4, 3, 5)")
    page.wait_for_function("location.hash === '#shape=2,4,3,5&layer=BatchNorm2d(4)'")
    page.get_by_role("radiogroup", name="Tensor").get_by_role("radio", name="N, L, C", exact=True).check()
    expect(page.locator(".nv-sentence")).to_contain_text("ChannelsLastBatchNorm(4) on (2, 5, 4)")
    heading, controls = (page.locator(name).bounding_box()["y"] for name in ("h1", ".nv-controls"))
    assert heading < controls
    page.go_back()
    expect(page.locator(".nv-sentence")).to_contain_text("BatchNorm2d(4) on (2, 4, 3, 5)")
    page.get_by_role("link", name="Step by step").click()
    wait_for_figure(page)
    page.get_by_label("Layer", exact=True).select_option(label="GroupNorm")
    expect(page.locator(".nv-sentence")).to_contain_text("GroupNorm(2, 4)")


def test_the_search_finds_the_same_questions_as_the_app_and_hostile_text_stays_text(page, dialogs, site):
    page.goto(f"{site}/index.html")
    listed = [key for key in SHOWN if key in QUESTIONS]
    for words in ("gamma", "GAMMA batch", "eps", "zzz"):
        page.get_by_label("Search").fill(words)
        hits = [key for key in listed if all(word in search_text(find_question(key)) for word in words.lower().split())]
        for key in listed:
            expect(page.locator(f'.nv-topic a[href="question-{key}.html"]')).to_be_visible(visible=key in hits)
        expect(page.get_by_text("No question has these words")).to_be_visible(visible=words == "zzz")
    page.get_by_label("Search").fill("")
    cards = [key for key in SHOWN if key in READY_SETS]
    expect(page.locator("[data-words]:visible")).to_have_count(len(cards))  # the topics are closed again
    expect(page.locator(".nv-path")).to_be_visible()
    texts = page.locator("[data-words]").evaluate_all("all => all.map(one => one.dataset.words)")
    for text in HOSTILE:
        page.get_by_label("Search").fill(text)
        count = sum(matches(text, [simplified(one) for one in texts]))  # some have a word of a question
        expect(page.locator(".ns-search [role=status]")).to_have_text(f"{count} found")
        assert page.locator("[onerror], [onload], [onmouseover], .ns-search img, .ns-search script").count() == 0
    assert dialogs == []


def test_a_prediction_shows_the_verdict_the_answer_and_its_figure(page, site):
    page.goto(f"{site}/question-s0.html")
    verdict, right = page.locator(".nv-verdict"), facts_of(find_question("s0"))["right"]
    assert not page.locator(".nv-panel-stats").is_visible()
    options = prose("s0").options
    wrong = next(key for key in options if key != right)
    page.get_by_role("radio", name=options[wrong], exact=True).check()
    expect(verdict).to_be_hidden()
    open_answer(page)
    expect(verdict).to_have_text(f"You predicted: {options[wrong]}. That is not correct.")
    wait_for_figure(page)
    page.locator(".nv-panel-stats .nv-over").hover()
    assert "others" in page.locator(".nv-readout").inner_text()
    page.get_by_role(
        "radio", name=options[right]
    ).check()  # a second prediction; the open answer marks the option in its name
    expect(verdict).to_have_text("Your prediction is correct.")
    page.locator("summary", has_text="Hide the answer").click()
    expect(verdict).to_be_hidden()


NUMBERS = {"48": "Your prediction is correct.", "48.0": "Your prediction is correct.", "1,000": "You predicted: 1,000. That is not correct.", "4.8e1": "Your prediction is correct."}  # fmt: skip


def test_a_number_is_read_as_the_app_reads_it_and_hostile_text_stays_text(page, dialogs, site):
    page.goto(f"{site}/question-s0b.html")
    assert facts_of(find_question("s0b"))["right"] == 48
    for text in ("many", *HOSTILE):
        page.get_by_placeholder("a number").fill(text[:40])
        page.keyboard.press("Enter")
        expect(page.locator(".nv-refusal")).to_contain_text("is not a number")
        assert page.locator(".nv-refusal *").count() == 0
        expect(page.locator(".nv-verdict")).to_be_hidden()
    for text, verdict in NUMBERS.items():
        page.get_by_placeholder("a number").fill(text)
        page.keyboard.press("Enter")
        expect(page.locator(".nv-verdict")).to_have_text(verdict)
    assert dialogs == []


def test_the_site_can_be_used_with_the_keyboard(page, site):
    page.goto(f"{site}/index.html")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the content")).to_be_focused()
    page.get_by_label("Search").focus()
    page.keyboard.type("one gamma and one beta")
    page.keyboard.press("Tab")
    best = page.locator(".nv-best a")  # the questions that answer a search best come before the topics
    expect(best.first).to_be_focused()
    for _ in best.all():
        page.keyboard.press("Tab")
    expect(page.locator("summary", has_text="Gamma and beta")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator('.nv-topic a[href="question-s0.html"]')).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/question-s0.html")
    page.get_by_role("radio").first.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio").nth(1)).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".nv-verdict")).to_be_visible()
    wait_for_figure(page)
    page.keyboard.press("Tab")
    expect(page.locator(".nv-panel-stats .nv-over")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    assert "x[0, 2, 0, 2]" in page.locator(".nv-readout").inner_text()
    page.locator("a[rel=next]").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/question-s0b.html")


def test_without_scripts_the_answer_can_be_read(browser, site):
    context = new_context(browser, offline=True, java_script_enabled=False)
    watch = Watch(context.new_page())
    page = watch.page
    page.goto(f"{site}/question-s0.html")
    assert not page.get_by_text("48 gammas").is_visible()
    open_answer(page)
    expect(page.get_by_text("48 gammas")).to_be_visible()
    page.goto(f"{site}/index.html")
    expect(page.get_by_role("link", name=prose("s0").title)).to_be_visible()
    expect(page.get_by_label("Search")).to_be_hidden()
    watch.check()
    context.close()


def test_a_projector_shows_a_question_alone_until_escape(page, site):
    for address in ("question-s0.html?present=true", "question-s0.html#present=true"):
        page.goto("about:blank")
        page.goto(f"{site}/{address}")
        for around in (".ns-head", ".ns-neighbors", ".ns-report", "main > h1"):
            expect(page.locator(around)).to_be_hidden()
        page.keyboard.press("Space")
        wait_for_figure(page)
        page.keyboard.press("Escape")
        expect(page.locator(".ns-head")).to_be_visible()
        assert "present" not in page.url
    page.goto(f"{site}/compare-four.html")
    page.get_by_role("button", name="Project").click()
    expect(page.locator(".nv-present .nv-view")).to_be_visible()
    assert page.url.endswith("#present=true")
    expect(page.locator(".nv-table-box")).to_have_count(0)
    page.goto(f"{site}/index.html")  # a list is not for a projector
    expect(page.locator("[data-mounted]")).to_be_visible()
    expect(page.get_by_role("button", name="Project")).to_have_count(0)


def test_an_open_answer_is_printed_and_a_closed_answer_is_not(page, site):
    page.emulate_media(color_scheme="dark")
    page.goto(f"{site}/question-s0.html")
    page.emulate_media(media="print")
    expect(page.get_by_role("link", name="All questions")).to_be_hidden()
    expect(page.locator("summary", has_text="the answer")).to_be_hidden()
    expect(page.get_by_role("radio").first).to_be_visible()
    page.emulate_media(media="screen")
    open_answer(page)
    page.emulate_media(media="print")
    expect(page.get_by_text("48 gammas")).to_be_visible()
