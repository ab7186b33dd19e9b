"""The panel of Share: its texts can be copied, by mouse and keyboard, and its choices change the embedded view."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from normviz.lessons.pages import PAGES
from normviz.scene.view import link, read_display
from tests.browser.conftest import SCREEN
from tests.browser.share.panel import EMBEDDED, HEARD, READY, Panel, boxes_in_preview, show_boxes
from tests.browser.view import View
from tests.browser.watch import Watch
from tests.support.snippets import HOSTILE, pairs, tag

pytestmark = pytest.mark.browser

START = "?at=0,0,0,0"
TENSOR = "shape=2,4,3,5&layer=LayerNorm([4,3,5])&data=normal&seed=0&params=init"
Share = Callable[..., Panel]


@pytest.fixture
def view(tab: tuple[View, Watch]) -> Iterator[View]:
    """The app in a tab that the tests share; they leave no lasting change. Previews show boxes."""
    view, watch = tab
    view.page.set_viewport_size(SCREEN)
    with boxes_in_preview(view.page):
        yield view
    view.page.evaluate("document.querySelector('dialog[open]')?.close()")
    watch.check()


@pytest.fixture
def share(view: View) -> Share:
    """Shows a view and opens its panel: ``share("compare?...")``."""

    def open_panel(address: str = START) -> Panel:
        if view.address != f"{view.server}/{address}":
            view.visit(address)
            view.page.locator(READY).first.wait_for()
            view.wait_until_drawn()
        return Panel(view)

    return open_panel


VIEWS = [
    ("explore", {"layer": "Norm('n (g k) h w -> n g','c',sizes={'g':3})", "at": "1,2,0,1", "shape": "2,3,4,4"}),
    ("compare", {"shape": "2,3,4,4", "layers": "BatchNorm2d(3);Norm('n c h w -> n h w','c')"}),
]


def test_the_link_of_a_view_shows_it_again_and_every_text_is_copied_completely(view, share):
    for page, query in VIEWS:
        path, shown = page, PAGES[page]
        panel = share(f"{path}{link(query)}")
        address = panel.text("Link")
        assert address == f"{view.server}/{path}{link(PAGES[page].whole_query(shown.view(query)))}"
        panel.dialog.get_by_role("button", name="Close").click()
        panel = share(address.removeprefix(f"{view.server}/"))
        assert panel.text("Link") == address
        if page != "compare":
            panel.dialog.get_by_role("button", name="Close").click()
    panel.narrow()
    address = panel.text("Link")
    assert panel.copy("Link") == address
    assert unescaped(panel.copy("Markdown")).endswith(f"({unescaped(address)})")
    assert panel.copy("Notebook cell").splitlines()[2].startswith('nv.open("/compare?')
    embedded = panel.copy("Only its address")
    snippet = panel.copy("iframe")
    assert tag(snippet)["src"] == embedded
    assert snippet == panel.text("iframe")


def unescaped(address: str) -> str:
    return re.sub(r"%(5B|5D|28|29|3E|27)", lambda found: chr(int(found[1], 16)), address)


def test_choices_change_the_embedded_view_and_neither_the_link_nor_the_server(view, share):
    panel = share("?layer=BatchNorm2d(3)")
    panel.narrow()
    panel.measured()
    sent = []
    view.socket.on("framesent", lambda frame: sent.append(frame))
    before = panel.text("Link")
    assert pairs(panel.text("Only its address"))["hide"].split(",")[:2] == ["questions", "table"]
    for preset, hide in (("Figure alone", "all"), ("Without controls", "controls"), ("Everything", None)):
        chosen = panel.dialog.get_by_role("button", name=preset, exact=True)
        snippet = panel.dialog.get_by_role("button", name="Copy: iframe").element_handle()
        # In one step, because it lasts only until the height is known.
        assert chosen.evaluate("(chosen, snippet) => { chosen.click(); return snippet.disabled; }", snippet)
        assert pairs(panel.text("Only its address")).get("hide") == hide
        expect(chosen).to_have_attribute("aria-pressed", "true")

    panel.dialog.get_by_text("Choose the parts").click()
    panel.dialog.get_by_role("checkbox", name="Layer", exact=True).uncheck()
    panel.dialog.get_by_role("checkbox", name="Code").uncheck()
    panel.dialog.get_by_label("Caption under the figure").fill(f"Look  here. {HOSTILE}")
    view.page.unroute(EMBEDDED, show_boxes)  # the preview shows the app
    panel.dialog.get_by_role("radio", name="Dark").check()
    address = pairs(panel.text("Only its address"))
    caption = f"Look here. {HOSTILE}"
    assert (address["hide"], address["caption"], address["embed_options"]) == ("layer,code", caption, "dark_theme")
    assert panel.measured() > 500
    assert tag(panel.text("iframe"))["width"] == "320"
    inside = panel.dialog.frame_locator("iframe")
    expect(inside.locator(".nv-legend")).to_have_text(caption)
    expect(inside.get_by_role("radiogroup", name="Layer", exact=True)).to_have_count(0)
    assert panel.text("Link") == before
    assert sent == []
    panel.dialog.get_by_role("radio", name="Follow the reader").check()
    assert "embed_options" not in pairs(panel.text("Only its address"))


def test_hostile_text_stays_text(view, share, page):
    panel = share(link({"caption": HOSTILE}))
    legend = view.find(".nv-legend")
    expect(legend).to_have_text(HOSTILE)
    assert legend.locator("> *").count() == 0
    assert read_display(pairs(panel.text("Link")))[0].caption == HOSTILE
    panel.narrow()
    snippet = panel.copy("iframe")
    alerts = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    with boxes_in_preview(page):
        page.set_content(snippet)
        (frame,) = page.query_selector_all("iframe")
        assert pairs(frame.get_attribute("src"))["caption"] == HOSTILE
        page.frame_locator("iframe").locator(".nv-root").wait_for()
    assert page.locator("body > *").count() == 1
    assert page.locator("body").inner_text() == ""
    assert not alerts


def test_copying_works_without_the_clipboard_api(view, share):
    panel = share()
    view.page.evaluate(
        "document.addEventListener('copy', () => { const field = document.activeElement; "
        "window.taken = field.value.slice(field.selectionStart, field.selectionEnd); }, { once: true });"
        "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true });"
    )
    button = panel.dialog.get_by_role("button", name="Copy: Link")
    button.evaluate(HEARD)
    button.click()
    expect(panel.dialog.get_by_role("status")).to_have_text("Copied: Link")
    assert button.evaluate("button => button.nvSaid")[0] == "Copied"
    assert view.page.evaluate("window.taken") == panel.text("Link") == f"{view.server}/explore?{TENSOR}&at=0,0,0,0"
    view.page.evaluate("delete navigator.clipboard")


def test_every_control_of_the_panel_has_a_name_and_can_be_used_with_the_keyboard(view, share):
    panel = share()
    nameless = panel.dialog.evaluate(
        """dialog => [...dialog.querySelectorAll("button, a, input, textarea, iframe, summary, fieldset")].filter(element =>
        !(element.getAttribute("aria-label") || element.title || element.labels?.[0]?.textContent || element.textContent.trim())).map(element => element.outerHTML)"""
    )
    assert nameless == []
    ids = panel.dialog.evaluate("dialog => [...dialog.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids)) > 5
    panel.dialog.get_by_role("button", name="Close").click()
    opener = view.page.get_by_role("button", name="Share", exact=True)
    opener.focus()
    view.page.keyboard.press("Enter")
    dialog = view.page.get_by_role("dialog", name="Share this view")
    expect(dialog.get_by_role("button", name="Copy: Link")).to_be_focused()
    expect(dialog.locator(".nvs-frame")).to_be_visible()
    names = set()
    for _ in range(60):
        view.page.keyboard.press("Tab")
        names.add(view.page.evaluate("document.activeElement?.closest('dialog') ? document.activeElement.tagName : ''"))
        if view.page.evaluate("document.activeElement?.tagName") == "IFRAME":
            break
    assert names <= {"BUTTON", "TEXTAREA", "INPUT", "A", "SUMMARY", "IFRAME", "DIV"}
    assert {"TEXTAREA", "INPUT", "SUMMARY", "IFRAME"} <= names
    opener.evaluate("element => element.focus()")  # controls behind a modal dialog cannot have the focus
    expect(opener).not_to_be_focused()
    dialog.get_by_role("button", name="Close").focus()
    view.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()
    view.wait_for_scene()


CUT_OFF = """dialog => [dialog, ...dialog.querySelectorAll("*")].filter(element => element.tagName !== "TEXTAREA" &&
  !element.closest(".nvs-stage, .nvs-voice") && element.checkVisibility() &&
  (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline" || element.getBoundingClientRect().right > innerWidth)).map(element => element.className)"""
COLORS = """dialog => { const style = getComputedStyle(dialog), parts = (color) => color.match(/\\d+/g).slice(0, 3).map(Number);
  return [parts(style.color), parts(style.backgroundColor)]; }"""


def test_nothing_of_the_panel_is_cut_off_on_any_screen_in_either_theme(view, share):
    panel = share()
    panel.dialog.get_by_text("Choose the parts").click()
    panel.measured()
    for theme in ("dark", "light"):
        view.page.emulate_media(color_scheme=theme)
        view.page.wait_for_function(
            f"([dialog, dark]) => (({COLORS})(dialog)[1].reduce((a, b) => a + b) < 200) === dark",
            arg=[panel.dialog.element_handle(), theme == "dark"],
        )
        for width, height in ((1280, 720), (390, 844), (320, 568)):
            view.page.set_viewport_size({"width": width, "height": height})
            view.page.wait_for_function(
                f"dialog => !({CUT_OFF})(dialog).length", arg=panel.dialog.element_handle()
            )  # the preview follows
            text, background = panel.dialog.evaluate(COLORS)
            assert abs(sum(text) - sum(background)) > 500


# After a resize, Streamlit replaces its links by a menu button, or the other way around, in a later frame.
NAVIGATION_FITS = """() => [...document.querySelectorAll("[data-testid=stTopNavSection]")].every((link) => {
    const { right, width } = link.getBoundingClientRect();
    return !width || !link.checkVisibility({ visibilityProperty: true }) || right <= innerWidth;
})"""


def test_the_button_takes_no_space_and_covers_nothing(view, share):
    share().dialog.get_by_role("button", name="Close").click()
    for width in (1280, 900, 390, 320):
        view.page.set_viewport_size({"width": width, "height": 720})
        view.wait_for_scene()
        box = view.page.get_by_role("button", name="Share", exact=True).bounding_box()
        assert box["y"] + box["height"] <= 60
        assert view.page.get_by_role("heading", level=1).first.bounding_box()["y"] < 110
        view.page.wait_for_function(NAVIGATION_FITS)
        covered = view.page.evaluate(
            """box => [...document.querySelectorAll("[data-testid=stHeader] :is(a, button, img)")].filter(element => {
            const other = element.getBoundingClientRect();
            return other.width && element.checkVisibility({ visibilityProperty: true }) && other.right > box.x && other.left < box.x + box.width && other.top < box.y + box.height; }).map(e => e.outerHTML.slice(0, 80))""",
            box,
        )
        assert covered == [], width


def test_images_of_the_figures_are_offered_if_they_can_be_made(view, share):
    panel = share()
    for kind, begins in (("png", b"\x89PNG"), ("svg", b"<svg")):
        with view.page.expect_download() as saved:
            panel.dialog.get_by_role("button", name=kind.upper()).click()
        assert saved.value.suggested_filename.endswith(f".{kind}")
        assert saved.value.path().read_bytes().startswith(begins)
    panel.dialog.get_by_role("button", name="Close").click()
    figure = view.find(".nv-view").evaluate_handle("view => { view.kept = view.nvImage; view.nvImage = undefined; return view; }")  # fmt: skip
    expect(Panel(view).dialog.get_by_role("button", name="PNG")).to_have_count(0)
    figure.evaluate("view => { view.nvImage = view.kept; }")


def test_the_exported_file_shows_the_view(view, share):
    panel = share("?at=0,0,0,0&hide=code&caption=Row+1")
    file = panel.dialog.get_by_role("link", name="HTML file")
    assert (
        file.get_attribute("href") == f"{view.server}/export?page=explore&{TENSOR}&at=0,0,0,0&hide=code&caption=Row%201"
    )
    with view.page.expect_download() as saved:
        file.click()
    text = saved.value.path().read_text()
    assert saved.value.suggested_filename.endswith(".html")
    assert ">Row 1<" in text
    assert "The same in code" not in text


def test_a_report_is_copied_with_the_link_of_the_view(view, share):
    panel = share()
    view.page.get_by_role("button", name="Report an error in this page").click()
    expect(view.find(".nvs-report > span")).to_contain_text("Copied. Paste it into a message")
    note = view.find(".nvs-report > span").inner_text()
    expect(panel.dialog.get_by_role("status")).to_have_text(note)  # the only one: screen readers hear it once
    assert panel.dialog.aria_snapshot().count(note) == 1
    report = view.page.evaluate("navigator.clipboard.readText()")
    assert report.endswith(
        f"\nExplore: LayerNorm([4, 3, 5]) on a (2, 4, 3, 5) tensor\n{view.server}/explore?{TENSOR}&at=0,0,0,0"
    )


def test_after_a_report_without_access_to_the_clipboard_the_button_has_the_focus(view, share):
    share()
    view.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject() }")
    view.page.get_by_role("button", name="Report an error in this page").click()
    expect(view.find(".nvs-report > span")).to_contain_text("Copied. Paste it into a message")
    expect(view.find(".nvs-report-button")).to_be_focused()
    view.page.evaluate("delete navigator.clipboard.writeText")


def test_the_answer_of_whoever_shares_is_in_the_link_only_on_request(view):
    view.visit("questions?q=s0&guess=one")
    view.find(".nv-verdict").wait_for()
    panel = Panel(view)
    names = ("Link", "Only its address", "Notebook cell", "Markdown")
    assert not any("guess" in panel.text(name) for name in names)
    panel.dialog.get_by_role("checkbox", name="With your answer").check()
    assert all("guess=one" in panel.text(name) for name in names)
    panel.dialog.get_by_role("button", name="Close").click()
    view.go(START)


def test_share_has_the_set_that_the_form_of_practice_shows(view: View):
    view.visit("practice")
    page = view.page
    expect(page.locator("#normviz-first")).to_have_count(0)
    page.get_by_role("button", name="Choose exercises").click()
    page.get_by_label("Exercises", exact=True).fill("5")
    page.get_by_label("Show the time").uncheck()
    own = page.get_by_label("Link to this set").input_value()
    assert "count=5" in own
    panel = Panel(view)
    assert pairs(panel.text("Link")) == {"seed": "0"} | pairs(
        own
    )  # the seed chooses nothing in a rising set: the form has none
    assert all("count=5" in panel.text(label) for label in ("Markdown", "Notebook cell", "iframe"))
    assert panel.dialog.get_by_role("link", name="For an exercise").count() == 0
    panel.dialog.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Choose exercises").click()  # the form closes: the exercises on the page are shared
    assert "count=10" in Panel(view).text("Link")
