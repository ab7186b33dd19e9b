"""The layout for several screen sizes, themes, embedding, and touch."""

import io
import itertools
from collections.abc import Iterable

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import ViewportSize, expect

from normviz.figures.palette import THEMES
from tests.browser.conftest import SCREEN
from tests.browser.scripts import PAINTED
from tests.browser.view import View, peers
from tests.support.colors import Rgb, contrast, over, rgb

pytestmark = pytest.mark.browser

PHONE: ViewportSize = {"width": 390, "height": 844}

# Texts that reach beyond the window, and labels of a panel that overlap each other or its cells. Code may scroll inside its block.
# The letters of two labels may not touch; the box of a line is larger than its letters, and how much depends on the fonts of the machine.
MISPLACED = """() => {
  const faults = [], wide = document.documentElement.clientWidth;
  const scrolls = (part) => { for (; part; part = part.parentElement)
    if (/auto|scroll/.test(getComputedStyle(part).overflowX) && part.scrollWidth > part.clientWidth + 1 && part.dataset.testid !== "stMain") return true; };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const part = text.parentElement;
    if (!text.data.trim() || part.closest("script, style, .nv-hidden, [aria-live], [data-testid=stSidebar], a[href='#stMain'], .st-key-reset") || !part.checkVisibility({ visibilityProperty: true })) continue;
    range.selectNodeContents(text);
    for (const box of range.getClientRects())
      if (box.width && (box.left < -0.5 || box.right > wide + 0.5) && !scrolls(part)) faults.push(`cut off: ${text.data.trim().slice(0, 40)}`);
  }
  const canvas = document.createElement("canvas").getContext("2d");
  const lettersOf = (label, box) => {
    const { fontWeight, fontSize, fontFamily } = getComputedStyle(label);
    canvas.font = `${fontWeight} ${fontSize} ${fontFamily}`;
    const { fontBoundingBoxAscent, actualBoundingBoxAscent, actualBoundingBoxDescent } = canvas.measureText(label.textContent), line = box.top + fontBoundingBoxAscent;
    return { left: box.left, right: box.right, top: line - actualBoundingBoxAscent, bottom: line + actualBoundingBoxDescent };
  };
  const touch = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1.5 && Math.min(a.bottom, b.bottom) > Math.max(a.top, b.top);
  for (const panel of document.querySelectorAll(".nv-panel:not([hidden]):has(.nv-plot svg)")) {
    if (!panel.checkVisibility()) continue; // in a closed fold
    const labels = [...panel.querySelectorAll(".nv-labels text")], boxes = labels.map((label) => label.getBoundingClientRect());
    const letters = labels.map((label, i) => lettersOf(label, boxes[i]));
    const frame = panel.getBoundingClientRect(), plot = panel.querySelector(".nv-plot"), at = plot.getBoundingClientRect(), { x, y } = plot.data[0];
    const bands = (edges, z) => edges.slice(1).map((edge, i) => [edges[i], edge]).filter((_, i) => z(i));
    const across = bands(x, (i) => plot.data[0].z.some((line) => !Number.isNaN(line[i]))), down = bands(y, (i) => [...plot.data[0].z[i]].some((value) => !Number.isNaN(value)));
    const picture = plot.querySelector("image").getBoundingClientRect();
    if (Math.abs(picture.right - at.left - x.at(-1)) > 1 || Math.abs(picture.bottom - at.top - y.at(-1)) > 1) faults.push(`${panel.className} is drawn beside its place`);
    const inside = (band, from, to) => band.some(([low, high]) => Math.min(high, to) - Math.max(low, from) > 3);
    boxes.forEach((box, i) => {
      const text = `${panel.className}: ${labels[i].textContent}`;
      if (box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom) faults.push(`outside its panel: ${text}`);
      letters.slice(0, i).forEach((other, j) => touch(letters[i], other) && faults.push(`on ${labels[j].textContent}: ${text}`));
      if (inside(across, box.left - at.left, box.right - at.left) && inside(down, box.top - at.top, box.bottom - at.top)) faults.push(`on cells: ${text}`);
    });
  }
  if (document.documentElement.scrollWidth > wide) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
  const main = document.querySelector("[data-testid=stMain]");
  if (main.scrollWidth > main.clientWidth) faults.push(`the page's content is ${main.scrollWidth} wide`);
  return faults;
}"""

SHAPES = [
    "?",
    "?shape=4,6&layer=LayerNorm(6)",
    "?shape=16,12&layer=BatchNorm1d(12)",
    "?shape=6&layer=LayerNorm(6)",
    "?shape=3,4,5&layer=LayerNorm(5)",
    "?shape=9,10,12&layer=LayerNorm([10,12])",
    "?shape=2,3,4,5,6&layer=BatchNorm3d(3)",
    "?shape=4,4,32,32&layer=GroupNorm(2,4)",
    "?shape=2,64,56,56&layer=BatchNorm2d(64)&from=0,12,0,0",
    "?shape=1,200,1,1&layer=BatchNorm2d(200).eval()",
    "?shape=8,16,7,7&layer=InstanceNorm2d(16)",
    "?shape=2,3,2,3,2,3&layer=LayerNorm(3)",
    "?shape=3,4&layer=LayerNorm(4)&values=-123456.789,0.00001,1,2,3,4,5,6,7,8,9,99999999",
]


@pytest.fixture
def laptop(look, tab):
    """Like ``look``, with the window of a laptop, the light theme and the top of the page."""
    page = tab[0].page
    page.set_viewport_size(SCREEN)
    page.emulate_media(color_scheme="light")
    expect(page.locator(".nv-view.nv-narrow")).to_have_count(0)
    page.locator("[data-testid=stMain]").evaluate("main => main.scrollTo({ top: 0, behavior: 'instant' })")
    return look


def test_on_a_laptop_and_on_a_phone_nothing_is_cut_off_or_overlaps(look, tab, subtests):
    """The view is opened on the screen of the view before, so every second one becomes wider, and the others narrower."""
    for query in SHAPES:
        with subtests.test(query):
            view = look(f"{query}&open=values,worked,code")
            for screen in sorted((SCREEN, PHONE), key=lambda shown: shown != tab[0].page.viewport_size):
                resize(view, screen)
                assert view.page.evaluate(MISPLACED) == []
                if screen == PHONE:
                    assert_panels_are_below_each_other(view)


def assert_panels_are_below_each_other(view: View) -> None:
    panels = [view.find(f".nv-panel-{key}").bounding_box() for key in ("stats", "params", "x")]
    for above, below in itertools.pairwise(panels):
        assert above["x"] == below["x"]
        assert above["y"] + above["height"] <= below["y"]


def resize(view: View, screen: ViewportSize) -> None:
    """Change the window, and wait until the panels are drawn for it."""
    view.page.set_viewport_size(screen)
    expect(view.find(".nv-view.nv-narrow")).to_have_count(int(screen == PHONE))
    view.page.wait_for_function(
        "() => [...document.querySelectorAll('.nv-over')].every(panel => panel.getBoundingClientRect().right <= innerWidth)"
    )
    view.page.evaluate(PAINTED)
    view.wait_until_drawn()


def test_after_the_screen_is_rotated_the_elements_are_found_where_they_are_drawn(laptop):
    view = laptop("?layer=BatchNorm2d(3)")
    resize(view, PHONE)
    assert view.hover("params", (1, 2, 3, 3)).index == (1, 2, 3, 3)
    assert view.open_elements("params") == peers(view.scene, "params", (1, 2, 3, 3))


def of_bytes(color: Iterable[float]) -> Rgb:
    """The color of three numbers from 0 to 255."""
    red, green, blue = (part / 255 for part in color)
    return red, green, blue


SELECTED = "?shape=2,3,4,4&layer=BatchNorm2d(3)&at=0,1,1,1"


def test_a_theme_keeps_the_color_of_peers_veils_the_rest_and_is_readable_also_if_it_is_chosen_later(laptop):
    view = laptop(SELECTED)
    check_colors(view, "light")
    view.page.emulate_media(color_scheme="dark")
    view.page.wait_for_function(
        "text => document.querySelector('.nv-view').style.getPropertyValue('--nv-text') === text",
        arg=THEMES["dark"].text,
    )
    check_colors(view.wait_for_scene(), "dark")


def outline_at(picture: Image.Image, view: View, background: Rgb) -> Rgb:
    """The color of the line between the selected group and its left neighbor."""
    spots = view.spots("stats")
    x, y = spots[0, 1, 2, 0]
    row = [of_bytes(picture.getpixel((at, round(y)))) for at in range(round(x - 24), round(x))]
    return max(row, key=lambda color: contrast(color, background))


def check_colors(view: View, theme: str) -> None:
    picture = Image.open(io.BytesIO(view.page.screenshot())).convert("RGB")
    colors, background = THEMES[theme], rgb(THEMES[theme].background)
    fills: dict[bool, list[Rgb]] = {True: [], False: []}
    assert of_bytes(picture.getpixel((5, 400))) == background
    box = view.find(".nv-panel-stats .nv-plot").bounding_box()
    for index, (x, y) in view.spots("stats").items():
        if box["y"] < y < 715 and (index[:2], index[3]) != ((0, 1), 1):
            block = np.array(picture.crop((round(x - 9), round(y - 9), round(x + 7), round(y - 7)))).reshape(-1, 3)
            full = rgb(colors.few[index[1]])
            found = {
                name: (abs(block - 255 * np.array(color)).max(axis=1) <= 3).mean()
                for name, color in (("full", full), ("veiled", over(colors.veil, full)))
            }
            assert found == {"full": index[1] == 1, "veiled": index[1] != 1}, index  # flat, above the name of the group
            fills[index[1] == 1].append(of_bytes(block.mean(axis=0)))
    assert (len(fills[True]), len(fills[False])) == (28, 64)  # without the column of the frame
    full_ones, pale_ones = set(fills[True]), set(fills[False])
    assert min(contrast(full, pale) for full in full_ones for pale in pale_ones) >= 1.2  # also in grayscale
    outline = outline_at(picture, view, background)
    assert contrast(outline, background) >= 3
    for fill in full_ones | pale_ones:
        assert max(contrast(outline, fill), contrast(background, fill)) >= 3
    found = view.page.evaluate(
        """() => Object.fromEntries([".nv-title", ".nv-caption", ".nv-readout", ".nv-note", ".nv-worked .nv-what", ".nv-sentence"]
        .map(name => [name, getComputedStyle(document.querySelector(name)).color.match(/\\d+/g).slice(0, 3).map(Number)]))"""
    )
    for part, color in found.items():
        assert contrast(of_bytes(color), background) >= 4.5, (part, color)


@pytest.mark.parametrize("theme", list(THEMES))
def test_values_outside_of_the_group_have_no_color_of_the_scale(laptop, theme):
    view = laptop("?shape=2,3&layer=LayerNorm(3)&at=0,1")
    view.page.emulate_media(color_scheme=theme)
    view.unfold(".nv-panel-x").scroll_into_view_if_needed()
    view.page.wait_for_function(
        "text => document.querySelector('.nv-view').style.getPropertyValue('--nv-text') === text",
        arg=THEMES[theme].text,
    )
    picture = Image.open(io.BytesIO(view.page.screenshot())).convert("RGB")
    card = 255 * np.array(rgb(THEMES[theme].card))
    for index, (x, y) in view.wait_for_scene().spots("x").items():
        block = np.array(picture.crop((round(x - 16), round(y - 16), round(x + 16), round(y - 8)))).reshape(-1, 3)
        plain = (abs(block - card).max(axis=1) <= 1).mean()
        assert (plain > 0.5) == (index[0] == 1), (index, plain)


def test_an_embedded_page_has_no_header_works_and_can_be_dark(view):
    view.open("?embed=true&embed_options=dark_theme&shape=2,3,4,4&layer=BatchNorm2d(3)&at=0,1,1,1")
    expect(view.page.get_by_role("navigation")).to_have_count(0)
    assert view.find(".st-key-controls").bounding_box()["y"] < 60
    check_colors(view, "dark")
    view.hover("stats", (0, 0, 0, 0))
    assert view.open_elements("stats") == peers(view.scene, "stats", (0, 0, 0, 0))
    view.click("stats", (0, 0, 0, 0))
    view.wait_for_view(at="0,0,0,0", embed="true")
    view.segment("Layer", "LayerNorm")
    view.wait_for_view(layer="LayerNorm([3,4,4])", embed="true")


def test_the_slices_of_a_large_tensor_move_with_their_slider(laptop):
    view = laptop("?shape=2,64,4,4&layer=BatchNorm2d(64)")
    assert "64 groups" in view.find(".nv-panel-stats .nv-caption").inner_text()
    view.page.get_by_role("slider", name="First slice of c").focus()
    view.page.keyboard.press("ArrowRight")
    view.wait_for_view(**{"from": "0,1,0,0"})
    assert view.find(".nv-slices").inner_text() == "c = 1, 2, 3, …, 63 (4 of 64 drawn)"
    labels = view.find(".nv-panel-stats .nv-labels").text_content()
    assert all(f"c = {channel}" in labels for channel in (1, 2, 3, 63))
    index = (1, 2, 3, 3)
    assert view.hover("stats", index).index == index
    assert view.readout.others == len(view.scene.description.peers(index))
    assert view.open_elements("stats") == peers(view.scene, "stats", index)
    view.click("stats", index)
    view.wait_for_view(at=",".join(map(str, index)))
    box = view.page.locator(".nv-panel-stats .nv-labels text", has_text="c = 2").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    view.page.mouse.move(x, y)
    view.page.mouse.down()
    before = view.page.locator(".nv-panel-stats .nv-labels text", has_text="c = 1").bounding_box()
    view.page.mouse.move(x - (box["x"] - before["x"]), y, steps=4)
    view.page.mouse.up()
    view.wait_for_view(**{"from": "0,2,0,0"})
