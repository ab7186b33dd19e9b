"""Pictures made in the browser: a standard SVG with the content of the view, and a PNG of it."""

import base64
import re
import struct
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from normviz.figures.palette import theme
from tests.browser.alone import data_of, parts_of, write
from tests.browser.conftest import NewTab
from tests.browser.view import View
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser

VIEWS = {
    "view": ("explore", "shape=2,3,4,4&layer=GroupNorm(3,3)&at=1,2,0,3"),
    "matrix": ("explore", "shape=4,6&layer=BatchNorm1d(6)&at=3,5"),
    "large": ("explore", "shape=2,16,16,16&layer=LayerNorm([16,16,16])&at=1,2,3,4"),
    "unmarked": ("explore", "shape=3,4,5&layer=RMSNorm([4,5])&at=none"),
    "compare": ("compare", "layers=BatchNorm2d(3);LayerNorm([3,4,4]);InstanceNorm2d(3)&at=1,2,0,3"),
    "steps": ("step_by_step", "step=3&at=1,2,0,3"),
    "values": ("train_and_eval", "show=modes&layer=BatchNorm2d(3)&at=0,1,2,3"),
    "jacobian": ("gradients", "show=matrix"),
    "chart": ("numerics", "show=variance"),
}
SHAPES = {"svg", "title", "desc", "g", "path", "rect", "text", "tspan"}
IMAGE = """async kind => {
  const view = document.querySelector(".nv-view"), blob = await view.nvImage(kind), reader = new FileReader();
  const text = await new Promise((done) => { reader.onload = () => done(reader.result); reader.readAsDataURL(blob); });
  return [blob.type, text.split(",")[1], view.nvImageName(kind)];
}"""
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
NAMES = {
    "view": "normviz-GroupNorm-3-3-2x3x4x4",
    "compare": "normviz-compare-2x3x4x4",
    "steps": "normviz-LayerNorm-3-4-4-2x3x4x4",
    "jacobian": "normviz-values-96x96",
    "chart": "normviz-chart",
}
Image = tuple[str, bytes, str]


@pytest.fixture(scope="module")
def tab(new_tab: NewTab) -> Iterator[Page]:
    """One tab for all tests of the file."""
    page = new_tab()
    watch = Watch(page)
    yield page
    watch.check()
    page.close()


def show(tab: Page, folder: Path, name: str, scheme: str = "light", **changes: Any) -> dict[str, Any]:
    """Show one figure of a page; returns its data."""
    data = data_of(parts_of(*VIEWS[name])[0]) | changes
    tab.mouse.move(1, 1)  # another test may have moved the pointer
    tab.goto(write(folder, data, scheme))
    tab.wait_for_selector(".nv-view[data-state=ready]")
    return data


@pytest.fixture
def show_figure(tab: Page, tmp_path: Path) -> Callable[..., Any]:
    """Shows one figure of a page: ``show_figure("compare", "dark")``."""
    return partial(show, tab, tmp_path)


def image(page: Page, kind: str) -> Image:
    form, text, name = page.evaluate(IMAGE, kind)
    return form, base64.b64decode(text), name


def parsed(svg: bytes) -> ET.Element:
    return ET.fromstring(svg.decode("utf-8"))


def texts(root: ET.Element) -> list[str]:
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.fixture(scope="module", params=VIEWS)
def loaded_view(request: pytest.FixtureRequest, tab: Page, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    """Each view in turn, loaded once for all tests of it: its name and its data."""
    return request.param, show(tab, tmp_path_factory.mktemp("view"), request.param)


def test_a_picture_has_the_content_of_the_view_in_shapes_and_text_only(tab, loaded_view):
    check_picture(tab, *loaded_view, scheme="light")


def check_picture(tab: Page, name: str, data: dict[str, Any], scheme: str) -> None:
    form, svg, _ = image(tab, "svg")
    root, shown_texts = parsed(svg), texts(parsed(svg))
    assert form == "image/svg+xml"
    assert root.find("{http://www.w3.org/2000/svg}rect").get("fill") == theme(scheme).background
    used = {node.tag.removeprefix("{http://www.w3.org/2000/svg}") for node in root.iter()}
    if name == "chart":
        assert used <= SHAPES | {"defs", "clipPath"}
        assert {"two passes", "Welford", "relative error"} <= set(shown_texts)
        return
    assert used <= SHAPES
    assert not re.search(rb"var\(|rgba\(|color\(|style=|href|url\(", svg)
    words = " ".join(shown_texts)
    wanted = [p for p in data["panels"] if name != "steps" or p["title"] in ("centered", "squared")]
    for panel in wanted:
        assert panel["title"] in shown_texts
        assert (panel.get("caption") or "") in words
    if data["at"] is not None:
        first = re.split(r" · |\n", tab.inner_text(".nv-readout"))[0].strip()
        assert first
        assert any(text.startswith(first) for text in shown_texts), (first, shown_texts)
    assert not re.search("Point at|Select an element|Edit a value|Save image|Play", words)


def test_a_picture_veils_the_same_cells_as_the_view(tab, loaded_view):
    if loaded_view[0] == "chart":
        return
    _, svg, _ = image(tab, "svg")
    counts = tab.evaluate(OPEN, svg.decode())
    assert counts
    for live, still in counts:
        assert live == still > 0


def test_a_picture_prints_the_ids_of_a_case_checked_by_hand(tab, show_figure):
    show_figure("matrix")
    root = parsed(image(tab, "svg")[1])
    stats, params = [
        [node.text for node in group]
        for group in root.iter("{http://www.w3.org/2000/svg}g")
        if group.get("class") == "nv-text"
    ][:2]
    assert stats == params == list("012345") * 4


def test_a_picture_follows_the_pointer(tab, show_figure):
    show_figure("view")
    tab.hover(".nv-panel-stats .nv-over", position={"x": 80, "y": 60})
    read = tab.inner_text(".nv-readout").split(" = ")[0]
    assert read != "x[1, 2, 0, 3]"
    assert any(text.startswith(read) for text in texts(parsed(image(tab, "svg")[1])))


def test_taking_a_picture_changes_nothing_on_the_page(tab, show_figure):
    show_figure("compare")
    before = tab.evaluate("document.querySelector('.nv-view').outerHTML")
    first, second = image(tab, "svg")[1], image(tab, "svg")[1]
    assert tab.evaluate("document.querySelector('.nv-view').outerHTML") == before
    assert first == second


def test_a_png_is_the_same_picture_twice_as_large_and_not_blank(tab, loaded_view):
    root = parsed(image(tab, "svg")[1])
    form, png, _ = image(tab, "png")
    assert form == "image/png"
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", png[16:24]) == (2 * int(root.get("width")), 2 * int(root.get("height")))
    colors = tab.evaluate(
        """async png => {
          const image = new Image(), canvas = document.createElement("canvas"), seen = new Set();
          image.src = `data:image/png;base64,${png}`;
          await image.decode();
          [canvas.width, canvas.height] = [image.width, image.height];
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
          for (let i = 0; i < data.length; i += 16) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
          return [seen.size, data[0], data[3]];
        }""",
        base64.b64encode(png).decode(),
    )
    assert colors[0] > 50
    assert colors[1:] == [255, 255]


def test_a_file_is_named_after_layer_and_shape(tab, loaded_view):
    name = NAMES.get(loaded_view[0])
    assert name is None or [image(tab, kind)[2] for kind in ("png", "svg")] == [f"{name}.png", f"{name}.svg"]


@pytest.mark.parametrize("name", ["view", "compare", "chart"])
def test_a_picture_can_have_the_dark_theme(tab, show_figure, name):
    check_picture(tab, name, show_figure(name, "dark"), "dark")


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["view", "compare"])
def test_a_picture_opened_alone_looks_like_the_page_in_its_own_font(tab, show_figure, tmp_path, name, scheme):
    show_figure(name, scheme)
    tab.add_style_tag(
        content=".nv-view, .nv-view * { font-family: Arial, 'Liberation Sans', sans-serif !important }"
        ".nv-view code { font-family: Menlo, Consolas, 'DejaVu Sans Mono', monospace !important }"
    )
    panel = tab.locator(".nv-panel").first
    panel.evaluate("panel => panel.closest('.nv-view').classList.add('nv-used')")  # the hint is not part of a picture
    live, box = panel.screenshot(), panel.bounding_box()
    root = tab.locator(".nv-view").bounding_box()
    svg = image(tab, "svg")[1]
    heading = 34
    (tmp_path / "still.svg").write_bytes(svg)
    tab.goto((tmp_path / "still.svg").as_uri())
    clip = {"x": box["x"] - root["x"] + 16, "y": box["y"] - root["y"] + 16 + heading}
    still = tab.screenshot(clip=clip | {"width": box["width"], "height": box["height"]})
    tab.goto("about:blank")
    differ = tab.evaluate(DIFFER, [base64.b64encode(png).decode() for png in (live, still)])
    assert differ < 0.02


def test_hostile_text_stays_text(tab, show_figure):
    hostile = "</text><script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"
    data = data_of(parts_of(*VIEWS["view"])[0])
    panels = [panel | {"title": hostile, "caption": hostile} for panel in data["panels"]]
    show_figure("view", layer=hostile, panels=panels, axes=["n", "<b>", "h", "w"])
    root = parsed(image(tab, "svg")[1])
    assert {node.tag.removeprefix("{http://www.w3.org/2000/svg}") for node in root.iter()} <= SHAPES
    assert texts(root).count(hostile) >= 5
    assert any(text.startswith("<b> = ") for text in texts(root))
    assert re.fullmatch(r"normviz-[A-Za-z0-9-]+\.svg", image(tab, "svg")[2])


def test_another_kind_of_image_is_refused(tab, show_figure):
    show_figure("view")
    message = tab.evaluate("document.querySelector('.nv-view').nvImage('gif').catch(error => error.message)")
    assert message == 'An image is "svg" or "png", not "gif".'


def test_a_page_without_the_image_option_has_no_menu(tab, show_figure):
    show_figure("view")
    assert tab.locator(".nv-save").count() == 0


@pytest.mark.parametrize("name", ["view", "compare", "chart"])
def test_the_menu_can_be_used_with_the_keyboard(tab, show_figure, name):
    show_figure(name, save=True)
    tab.locator(".nv-save summary").focus()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')") == "Save as PNG"
    with tab.expect_download() as download:
        tab.keyboard.press("Enter")
    assert download.value.suggested_filename == f"{NAMES[name]}.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    tab.keyboard.press("Escape")
    assert tab.evaluate("[document.querySelector('.nv-save').open, document.activeElement.textContent]") == [
        False,
        "Save image",
    ]


def test_the_app_saves_pictures_too(view: View):
    view.open("?layer=BatchNorm2d(3)&at=1,2,0,3")
    _, svg, name = image(view.page, "svg")
    assert name == "normviz-BatchNorm2d-3-2x3x4x4.svg"
    shown_texts = texts(parsed(svg))
    assert shown_texts[0] == "BatchNorm2d(3) on x of shape (2, 3, 4, 4)"
    assert "Who shares my mean and variance?" in shown_texts
    assert b"Arial" in svg
    assert b"Source" not in svg
    _, png, _ = image(view.page, "png")  # the content security policy of the app allows it
    assert png.startswith(b"\x89PNG")
