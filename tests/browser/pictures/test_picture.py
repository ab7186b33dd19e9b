"""Pictures made in the browser: a standard SVG with the content of the view."""

import base64
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from normviz.figures.palette import theme
from tests.browser.pictures.figure import VIEWS, data_of
from tests.browser.pictures.image import SHAPES, SVG, image, parsed, tags, texts

pytestmark = pytest.mark.browser

# For each panel, the number of elements that are not veiled, in the live view and in the picture.
OPEN = """svg => {
  const inside = (veil, box, at) => !veil || !veil.isPointInFill(new DOMPoint(...at));
  document.body.insertAdjacentHTML("beforeend", `<div id="still" style="position:absolute;left:0;top:0;opacity:0">${svg}</div>`);
  const groups = [...document.querySelectorAll("#still g.nv-over")], found = [];
  let number = 0;
  for (const panel of document.querySelectorAll(".nv-panel")) {
    if (panel.hidden || !panel.offsetParent) continue;
    const group = groups[number++], plot = panel.querySelector(".nv-plot");
    if (!plot?.data) continue;
    const { x, y, z } = plot.data[0], live = panel.querySelector(".nv-veil"), still = group.querySelector(".nv-veil");
    const middle = (edges, i) => (edges[i] + edges[i + 1]) / 2, counts = [0, 0];
    z.forEach((line, i) => line.forEach((value, j) => {
      if (Number.isNaN(value)) return;
      const at = new DOMPoint(middle(x, j), middle(y, i));
      counts[0] += !live.getAttribute("d") || !live.isPointInFill(at);
      counts[1] += !still || !still.isPointInFill(at);
    }));
    found.push(counts);
  }
  document.querySelector("#still").remove();
  return found;
}"""


def test_a_picture_has_the_content_of_the_view_in_shapes_and_text_only_and_veils_the_same_cells(
    tab, draw_figure, subtests
):
    for name in VIEWS:
        with subtests.test(name):
            svg = check_picture(tab, name, draw_figure(name), scheme="light")
            counts = tab.evaluate(OPEN, svg.decode())
            assert bool(counts) == (name != "chart")
            for live, still in counts:
                assert live == still > 0
            if name == "matrix":  # whose names of groups are checked by hand
                names = [
                    [node.text for node in group]
                    for group in parsed(svg).iter(f"{SVG}g")
                    if group.get("class") == "nv-text"
                ]
                assert names[:2] == [[f"{kind} {n}" for n in range(6)] for kind in ("mean", "gamma")]
            if name in ("view", "compare", "chart"):
                check_picture(tab, name, draw_figure(name, "dark"), "dark")


def check_picture(tab: Page, name: str, data: dict[str, Any], scheme: str) -> bytes:
    form, svg, _ = image(tab, "svg")
    root, shown_texts = parsed(svg), texts(parsed(svg))
    assert form == "image/svg+xml"
    assert root.find(f"{SVG}rect").get("fill") == theme(scheme).background
    used = tags(root)
    if name == "chart":
        assert used <= SHAPES | {"defs", "clipPath"}
        assert {"two passes", "Welford", "relative error"} <= set(shown_texts)
        return svg
    assert used <= SHAPES
    assert not re.search(rb"var\(|rgba\(|color\(|style=|href|url\(", svg)
    assert b"nv-slide" not in svg  # the ring and the arrows around the dot that a reader can drag
    words = " ".join(shown_texts)
    wanted = [p for p in data["panels"] if name != "steps" or p["title"] in ("centered", "squared")]
    wanted = [
        panel for panel in wanted if panel.get("row", "stats") == "stats"
    ]  # the cards that a comparison shows first
    for panel in wanted:
        assert panel["title"] in shown_texts
        assert (panel.get("caption") or "") in words
    if data["at"] is not None:
        first = re.split(r" · |\n", tab.inner_text(".nv-readout"))[0].strip()
        assert first
        assert any(text.startswith(first) for text in shown_texts), (first, shown_texts)
    assert not re.search("Point at|Select an element|Edit a value|Save image|Play", words)
    return svg


def test_a_picture_follows_the_pointer_and_changes_nothing_on_the_page(tab, draw_figure):
    draw_figure("compare")
    before = tab.evaluate("document.querySelector('.nv-view').outerHTML")
    first, second = image(tab, "svg")[1], image(tab, "svg")[1]
    assert tab.evaluate("document.querySelector('.nv-view').outerHTML") == before
    assert first == second
    draw_figure("view")
    tab.hover(".nv-panel-stats .nv-over", position={"x": 80, "y": 60})
    read = tab.inner_text(".nv-readout").split(" = ")[0]
    assert read != "x[1, 2, 0, 3]"
    assert any(text.startswith(read) for text in texts(parsed(image(tab, "svg")[1])))


def test_a_picture_leaves_out_the_parts_that_are_closed(tab, draw_figure):
    for opened, panels in (([], 2), (["values", "worked"], 5)):
        draw_figure("view", open=opened)
        root = parsed(image(tab, "svg")[1])
        assert [group.get("class") for group in root.iter(f"{SVG}g")].count("nv-cells") == panels
        for text in ("The numbers, worked out, and all values", "normalized"):
            assert (text in texts(root)) == bool(opened)


# The fraction of pixels of two pictures with a visible difference.
DIFFER = """async pictures => {
  const drawn = await Promise.all(pictures.map(async (png) => {
    const image = new Image(), canvas = document.createElement("canvas");
    image.src = `data:image/png;base64,${png}`;
    await image.decode();
    [canvas.width, canvas.height] = [image.width, image.height];
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas;
  }));
  const [width, height] = ["width", "height"].map((side) => Math.min(...drawn.map((canvas) => canvas[side])));
  const [one, other] = drawn.map((canvas) => canvas.getContext("2d").getImageData(0, 0, width, height).data);
  let differ = 0;
  for (let i = 0; i < one.length; i += 4) differ += [0, 1, 2].some((part) => Math.abs(one[i + part] - other[i + part]) > 40);
  return differ / (width * height);
}"""


@pytest.fixture
def fonts_of_a_picture(tab: Page) -> Iterator[None]:
    """The page has the fonts of a picture, and not its own."""
    style = tab.add_style_tag(
        content=".nv-view, .nv-view * { font-family: Arial, 'Liberation Sans', sans-serif !important }"
        ".nv-view code { font-family: Menlo, Consolas, 'DejaVu Sans Mono', monospace !important }"
    )
    yield
    style.evaluate("style => style.remove()")


# Show a document above the page, which may not load files.
COVER = """address => new Promise((shown) => {
  const frame = document.createElement("iframe");
  frame.style.cssText = "position: fixed; inset: 0; width: 100%; height: 100%; border: 0";
  frame.onload = shown;
  frame.src = address;
  document.body.append(frame);
}).then(() => {})"""


def test_a_picture_opened_alone_looks_like_the_page_in_its_own_font(tab, draw_figure, fonts_of_a_picture, subtests):
    for name, scheme in (("view", "light"), ("view", "dark"), ("compare", "light"), ("compare", "dark")):
        with subtests.test(name, scheme=scheme):
            draw_figure(name, scheme)
            panel = tab.locator(".nv-panel").first
            # The hint and the switch are not part of a picture.
            panel.evaluate("panel => panel.closest('.nv-view').classList.add('nv-used')")
            tab.locator(".nv-switch").evaluate_all("all => all.forEach(one => one.hidden = true)")
            live, box = panel.screenshot(), panel.bounding_box()
            root = tab.locator(".nv-view").bounding_box()
            svg = image(tab, "svg")[1]
            heading = 34
            tab.evaluate(COVER, f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}")
            clip = {"x": box["x"] - root["x"] + 16, "y": box["y"] - root["y"] + 16 + heading}
            still = tab.screenshot(clip=clip | {"width": box["width"], "height": box["height"]})
            differ = tab.evaluate(DIFFER, [base64.b64encode(png).decode() for png in (live, still)])
            assert differ < 0.02


def without_spaces(text: str) -> str:
    return "".join(text.split())


def test_hostile_text_stays_text(tab, draw_figure):
    hostile = "</text><script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"
    panels = [panel | {"title": hostile, "caption": hostile} for panel in data_of("view")["panels"]]
    draw_figure("view", layer=hostile, panels=panels, axes=["n", "<b>", "h", "w"])
    root = parsed(image(tab, "svg")[1])
    assert tags(root) <= SHAPES
    written = without_spaces(" ".join(texts(root)))  # a line is broken where the fonts of the machine are wide
    assert written.count(without_spaces(hostile)) == 1 + 2 * len(panels)  # the heading; a title and a caption
    assert any(text.startswith("<b> = ") for text in texts(root))
    assert re.fullmatch(r"normviz-[A-Za-z0-9-]+\.svg", image(tab, "svg")[2])
