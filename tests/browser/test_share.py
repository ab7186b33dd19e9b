"""Share: the copied texts are correct for every view, by mouse and keyboard, and with hostile text."""

import ast
import re
from html.parser import HTMLParser
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from playwright.sync_api import expect

from normviz.lessons.pages import PAGES
from normviz.scene.query import link
from normviz.scene.visibility import read_display
from tests.browser.conftest import SCREEN
from tests.browser.view import View
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

READY = '.nv-view:not(.nv-tabbed)[data-state="ready"]'  # the figures; tabs are ready before them

# Records the labels of a button, because "Copied" is shown for only two seconds.
HEARD = """button => {
  button.nvSaid = [];
  new MutationObserver(() => button.nvSaid.push(button.textContent)).observe(button, { childList: true });
}"""

HOSTILE = "\"><script>alert(1)</script>'</iframe></script> javascript:alert(2) & [x](y) `c` <!-- %22"
PATTERN = "Norm('n (g k) h w -> n g','c',sizes={'g':3})"


class Panel:
    """The Share panel of an open page."""

    def __init__(self, view: View) -> None:
        self.page = view.page
        self.page.get_by_role("button", name="Share", exact=True).click()
        self.dialog = self.page.get_by_role("dialog", name="Share this view")

    def text(self, label: str) -> str:
        return self.dialog.get_by_label(label, exact=True).input_value()

    def copy(self, label: str) -> str:
        button = self.dialog.get_by_role("button", name=f"Copy: {label}", exact=True)
        expect(button).to_be_enabled()
        button.evaluate(HEARD)
        button.click()
        self.page.wait_for_function("button => button.nvSaid.includes('Copied')", arg=button.element_handle())
        return self.page.evaluate("navigator.clipboard.readText()")

    def preset(self, name: str) -> None:
        self.dialog.get_by_role("button", name=name, exact=True).click()

    def measured(self) -> int:
        """The height in the snippet, after the preview has reported it."""
        expect(self.dialog.locator(".nvs-right > .nvs-note")).to_contain_text("px high")
        return int(tag(self.text("iframe"))["height"])


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self.found.append((name, dict(attributes)))

    def handle_data(self, data):
        self.words += data


def tag(snippet: str) -> dict[str, str]:
    """The attributes of the only iframe in the snippet."""
    tags = Tags(snippet)
    *around, (name, attributes) = tags.found
    assert name == "iframe"
    assert around in ([], [("div", {"style": "container-type: inline-size"})])
    assert tags.words.strip() == ""
    return attributes


def pairs(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


def open_panel(view: View, address: str) -> Panel:
    view.visit(address)
    view.page.locator(READY).first.wait_for()
    view.wait_until_drawn()
    return Panel(view)


@pytest.fixture
def open_share(return_visit):
    """A page and its panel in a new tab: ``open_share("compare?...")``."""

    def go(address: str = "") -> tuple[View, Panel]:
        view = return_visit()
        return view, open_panel(view, address)

    return go


@pytest.fixture(scope="module")
def tab(new_tab, server):
    watch = Watch(new_tab())
    yield View(watch.page, server), watch
    watch.page.close()


@pytest.fixture
def open_share_in_tab(tab):
    """A page and its panel in a tab that several tests share; they leave no lasting change."""
    view, watch = tab

    def go(address: str) -> tuple[View, Panel]:
        view.page.bring_to_front()
        view.page.set_viewport_size(SCREEN)
        view.page.evaluate("document.querySelector('dialog[open]')?.close()")
        return view, open_panel(view, address)

    yield go
    watch.check()


VIEWS = [
    ("", {"layer": "LayerNorm([3,4,4])"}, "Explore: LayerNorm([3, 4, 4]) on a (2, 3, 4, 4) tensor"),
    ("", {"layer": PATTERN, "at": "1,2,0,1", "shape": "2,3,4,4"}, None),
    ("compare", {"layers": "BatchNorm2d(3);Norm('n c h w -> n h w','c')"}, None),
    ("step_by_step", {"layer": "RMSNorm([3,4,4])", "shape": "2,3,4,4", "step": "3"}, None),
    ("numerics", {"show": "eps", "spread": "1e-08"}, "Numerics: How small may eps be?"),
]


@pytest.mark.parametrize(("page", "query", "title"), VIEWS, ids=range(len(VIEWS)))
def test_every_text_describes_the_view_and_is_copied_completely(open_share_in_tab, page, query, title):
    view, panel = open_share_in_tab(f"{page}{link(query)}")
    shown = PAGES[page or "explore"]
    whole = shown.view(query).query(shown.settings)
    readable = link(whole)
    assert panel.copy("Link") == f"{view.server}/{page}{readable}"

    found = re.fullmatch(r"\[((?:\\.|[^\]\\])*)\]\(([^()\s]*)\)", panel.copy("Markdown"))
    assert unquote(found[2]) == unquote(panel.text("Link"))
    words = re.sub(r"\\(.)", r"\1", found[1])
    assert title in (None, words)

    cell = panel.copy("Notebook cell")
    called = ast.parse(cell).body[-1].value
    assert ast.unparse(called.func) == "nv.open"
    assert called.args[0].value == f"/{page}{readable}"

    address = panel.copy("Its address alone")
    iframe = tag(panel.copy("iframe"))
    assert iframe["src"] == address
    assert {name: value for name, value in pairs(address).items() if name != "hide"} == whole | {"embed": "true"}
    assert iframe["title"] == words
    assert (iframe["loading"], iframe["allow"], iframe["width"]) == ("lazy", "clipboard-write", "100%")
    assert int(iframe["height"]) > 150


def test_sharing_a_shared_link_gives_the_same_link(open_share_in_tab):
    page, query, _ = VIEWS[1]
    _, first = open_share_in_tab(f"{page}{link(query)}")
    address = first.text("Link")
    _, again = open_share_in_tab(address.removeprefix(f"{first.page.evaluate('location.origin')}/"))
    assert again.text("Link") == address


def test_choices_change_the_embedded_view_and_neither_the_link_nor_the_server(return_visit):
    view = return_visit()
    sent = []
    view.page.on("websocket", lambda socket: sent.append([socket, 0]))
    view.open("?layer=BatchNorm2d(3)")
    (socket, _) = sent[0]
    panel = Panel(view)
    panel.measured()
    socket.on("framesent", lambda _: sent.__setitem__(0, [socket, sent[0][1] + 1]))
    before = panel.text("Link")
    assert pairs(panel.text("Its address alone"))["hide"].split(",")[:2] == ["questions", "table"]

    heights = [panel.measured()]
    for preset, hide in (("Figure alone", "all"), ("Without controls", "controls"), ("Everything", None)):
        chosen = panel.dialog.get_by_role("button", name=preset, exact=True)
        snippet = panel.dialog.get_by_role("button", name="Copy: iframe").element_handle()
        # In one step, because it lasts only until the height is known.
        assert chosen.evaluate("(chosen, snippet) => { chosen.click(); return snippet.disabled; }", snippet)
        assert pairs(panel.text("Its address alone")).get("hide") == hide
        expect(chosen).to_have_attribute("aria-pressed", "true")
        heights.append(panel.measured())
    assert heights[1] < heights[2] < heights[3]

    panel.dialog.get_by_text("One by one").click()
    panel.dialog.get_by_role("checkbox", name="Layer", exact=True).uncheck()
    panel.dialog.get_by_role("checkbox", name="Code").uncheck()
    panel.dialog.get_by_label("Caption under the figure").fill("Look  here.")
    panel.dialog.get_by_role("radio", name="Dark").check()
    panel.dialog.get_by_role("radio", name="Narrow").check()
    address = pairs(panel.text("Its address alone"))
    assert (address["hide"], address["caption"], address["embed_options"]) == ("layer,code", "Look here.", "dark_theme")
    assert panel.measured() != heights[3]
    assert tag(panel.text("iframe"))["width"] == "320"
    inside = panel.dialog.frame_locator("iframe")
    expect(inside.get_by_text("Look here.")).to_be_visible()
    expect(inside.get_by_role("combobox", name="Layer")).to_have_count(0)
    assert panel.text("Link") == before
    assert sent[0][1] == 0
    panel.dialog.get_by_role("radio", name="Follow the reader").check()
    assert "embed_options" not in pairs(panel.text("Its address alone"))


def test_the_snippet_can_be_copied_if_the_preview_does_not_load(open_share):
    view, panel = open_share()
    panel.measured()
    view.page.route("**/*embed=true*", lambda route: route.fulfill(body="<p>busy</p>", content_type="text/html"))
    view.page.clock.install()
    copy = panel.dialog.get_by_role("button", name="Copy: iframe")
    panel.preset("Everything")
    expect(copy).to_be_disabled()
    view.page.clock.run_for(30_000)
    expect(panel.dialog.get_by_text("The preview did not load here.")).to_be_visible()
    expect(copy).to_be_enabled()
    panel.preset("Figure alone")
    panel.preset("Everything")
    expect(copy).to_be_disabled()
    view.page.clock.run_for(1000)
    expect(copy).to_be_enabled()


def test_hostile_text_stays_text(open_share):
    view, panel = open_share()
    alerts = []
    view.page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    panel.measured()  # a preview that is replaced while it loads is a failed request
    panel.dialog.get_by_label("Caption under the figure").fill(HOSTILE)
    panel.measured()
    snippet = panel.copy("iframe")
    iframe = tag(snippet)
    assert set(iframe) == {"src", "title", "width", "height", "loading", "allow", "style"}
    assert iframe["src"].startswith(f"{view.server}/?")
    assert pairs(iframe["src"])["caption"] == HOSTILE
    view.page.set_content(snippet)
    expect(view.page.frame_locator("iframe").locator(".nv-legend")).to_have_text(HOSTILE)
    view.page.frame_locator("iframe").locator(READY).wait_for()
    assert view.page.locator("body > *").count() == 1
    view.page.goto(f"{view.server}/{link({'caption': HOSTILE})}")
    expect(view.find(".nv-legend")).to_have_text(HOSTILE)
    assert view.find(".nv-legend > *").count() == 0
    panel = Panel(view)
    panel.measured()
    assert read_display(pairs(panel.text("Link")))[0].caption == HOSTILE
    assert re.fullmatch(r"\[(?:\\.|[^\]\\])*\]\([^()\s<>]*\)", panel.text("Markdown"))
    assert ast.literal_eval(ast.unparse(ast.parse(panel.text("Notebook cell")).body[-1].value.args[0]))
    assert not alerts


def test_copying_works_without_the_clipboard_api(return_visit):
    view = return_visit()
    view.page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    view.open("?at=0,0,0,0")
    view.page.evaluate(
        "document.addEventListener('copy', () => { const field = document.activeElement; "
        "window.taken = field.value.slice(field.selectionStart, field.selectionEnd); })"
    )
    panel = Panel(view)
    button = panel.dialog.get_by_role("button", name="Copy: Link")
    button.evaluate(HEARD)
    button.click()
    expect(panel.dialog.get_by_role("status")).to_have_text("Copied: Link")
    assert button.evaluate("button => button.nvSaid")[0] == "Copied"
    assert view.page.evaluate("window.taken") == panel.text("Link") == f"{view.server}/?at=0,0,0,0"


def test_the_panel_can_be_used_with_the_keyboard(return_visit):
    view = return_visit().open()
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
    assert {"TEXTAREA", "INPUT", "SUMMARY"} <= names
    opener.evaluate("element => element.focus()")  # controls behind a modal dialog cannot have the focus
    expect(opener).not_to_be_focused()
    expect(dialog.locator(".nvs-right > .nvs-note")).to_contain_text(
        "px high"
    )  # the preview has loaded and is not cut off
    dialog.get_by_role("button", name="Close").focus()
    view.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(opener).to_be_focused()
    view.wait_for_scene()


def test_every_control_of_the_panel_has_a_name(open_share_in_tab):
    _, panel = open_share_in_tab("?at=0,0,0,0")
    nameless = panel.dialog.evaluate(
        """dialog => [...dialog.querySelectorAll("button, a, input, textarea, iframe, summary, fieldset")].filter(element =>
        !(element.getAttribute("aria-label") || element.title || element.labels?.[0]?.textContent || element.textContent.trim())).map(element => element.outerHTML)"""
    )
    assert nameless == []
    ids = panel.dialog.evaluate("dialog => [...dialog.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids)) > 5


CUT_OFF = """dialog => [dialog, ...dialog.querySelectorAll("*")].filter(element => element.tagName !== "TEXTAREA" &&
  !element.closest(".nvs-stage, .nvs-voice") && element.checkVisibility() &&
  (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline" || element.getBoundingClientRect().right > innerWidth)).map(element => element.className)"""
COLORS = """dialog => { const style = getComputedStyle(dialog), parts = (color) => color.match(/\\d+/g).slice(0, 3).map(Number);
  return [parts(style.color), parts(style.backgroundColor)]; }"""


def test_nothing_of_the_panel_is_cut_off_on_any_screen_in_either_theme(open_share):
    view, panel = open_share("?at=0,0,0,0")
    panel.measured()  # a preview that is replaced while it loads is a failed request
    panel.dialog.get_by_text("One by one").click()
    for theme in ("light", "dark"):
        view.page.emulate_media(color_scheme=theme)
        for width, height in ((1280, 720), (390, 844), (320, 568)):
            view.page.set_viewport_size({"width": width, "height": height})
            assert panel.dialog.evaluate(CUT_OFF) == [], (theme, width)
            text, background = panel.dialog.evaluate(COLORS)
            assert abs(sum(text) - sum(background)) > 500
    assert sum(background) < 200


def test_the_button_takes_no_space_and_covers_nothing(view):
    view.open()
    for width in (1280, 900, 390, 320):
        view.page.set_viewport_size({"width": width, "height": 720})
        view.wait_for_scene()
        box = view.page.get_by_role("button", name="Share", exact=True).bounding_box()
        assert box["y"] + box["height"] <= 60
        assert view.find(".st-key-controls").bounding_box()["y"] < 100
        covered = view.page.evaluate(
            """box => [...document.querySelectorAll("[data-testid=stHeader] :is(a, button, img)")].filter(element => {
            const other = element.getBoundingClientRect();
            return other.width && element.checkVisibility({ visibilityProperty: true }) && other.right > box.x && other.left < box.x + box.width && other.top < box.y + box.height; }).map(e => e.outerHTML.slice(0, 80))""",
            box,
        )
        assert covered == [], width


def test_images_of_the_figures_are_offered_if_they_can_be_made(open_share):
    view, panel = open_share("?at=0,0,0,0")
    for kind, begins in (("png", b"\x89PNG"), ("svg", b"<svg")):
        with view.page.expect_download() as saved:
            panel.dialog.get_by_role("button", name=kind.upper()).click()
        assert saved.value.suggested_filename.endswith(f".{kind}")
        assert saved.value.path().read_bytes().startswith(begins)
    panel.measured()
    panel.dialog.get_by_role("button", name="Close").click()
    view.page.evaluate("document.querySelectorAll('.nv-view').forEach(view => { view.nvImage = undefined; })")
    panel = Panel(view)
    expect(panel.dialog.get_by_role("button", name="PNG")).to_have_count(0)
    panel.measured()


def test_the_exported_file_shows_the_view(open_share_in_tab):
    view, panel = open_share_in_tab("?at=0,0,0,0&hide=code&caption=Row+1")
    file = panel.dialog.get_by_role("link", name="HTML file")
    assert file.get_attribute("href") == f"{view.server}/export?page=explore&at=0,0,0,0&hide=code&caption=Row%201"
    with view.page.expect_download() as saved:
        file.click()
    text = saved.value.path().read_text()
    assert saved.value.suggested_filename.endswith(".html")
    assert ">Row 1<" in text
    assert "The same in code" not in text


def test_a_view_with_hidden_parts_offers_the_full_app(return_visit):
    view = return_visit()
    view.page.goto(f"{view.server}/?hide=all&layer=BatchNorm2d(3)&caption=Row+1")
    offer = view.page.get_by_role("link", name="Open the full app")
    expect(offer).to_have_attribute("rel", "noopener")
    with view.page.expect_popup() as opened:
        offer.click()
    tab = opened.value
    tab.locator(READY).wait_for()
    assert pairs(tab.url) == {"shape": "2,3,4,4", "layer": "BatchNorm2d(3)"}
    expect(tab.get_by_role("combobox", name="Layer")).to_be_visible()
    expect(tab.locator(".nv-legend")).to_have_count(0)
    expect(tab.get_by_role("link", name="Open the full app")).to_have_count(0)
    tab.close()


def test_hidden_parts_stay_hidden_after_changes_reload_and_back(view):
    view.open("?hide=layer,facts,code&caption=Here")
    view.segment("normalized_shape", "W")
    view.wait_for_view(layer="LayerNorm([4])", hide="layer,facts,code", caption="Here")
    view.page.reload()
    view.wait_for_scene()
    expect(view.page.get_by_role("combobox", name="Layer")).to_have_count(0)
    expect(view.find(".nv-facts")).to_be_hidden()
    expect(view.find(".nv-worked")).to_be_visible()
    view.page.go_back()
    view.wait_for_view(layer=None, hide="layer,facts,code")
    view.page.goto(
        f"{view.server}/?hide=stats,output"
    )  # wait_for_scene() expects all panels, and a hidden panel is not drawn
    view.page.locator(READY).wait_for()
    expect(view.find(".nv-panel-stats")).to_be_hidden()
    expect(view.find(".nv-facts")).to_be_visible()
    view.go("?")
    expect(view.find(".nv-panel-stats")).to_be_visible()
    expect(view.page.get_by_role("combobox", name="Layer")).to_be_visible()
