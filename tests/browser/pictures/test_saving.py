"""Saving a picture in the browser: its PNG and its name, the menu, and the app."""

import base64
import struct
from pathlib import Path

import pytest

from tests.browser.pictures.image import NAMES, image, parsed, texts
from tests.browser.view import View
from tests.browser.watch import Watch

pytestmark = pytest.mark.browser


def test_a_png_is_the_same_picture_twice_as_large_and_not_blank_and_is_named_after_layer_and_shape(
    tab, draw_figure, subtests
):
    for name in NAMES:
        with subtests.test(name):
            draw_figure(name)
            _, svg, svg_name = image(tab, "svg")
            form, png, png_name = image(tab, "png")
            assert [png_name, svg_name] == [f"{NAMES[name]}.png", f"{NAMES[name]}.svg"]
            assert form == "image/png"
            assert png.startswith(b"\x89PNG\r\n\x1a\n")
            root = parsed(svg)
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
    message = tab.evaluate("document.querySelector('.nv-view').nvImage('gif').catch(error => error.message)")
    assert message == 'An image is "svg" or "png", not "gif".'
    assert tab.locator(".nv-save").count() == 0  # on a page without this option


def test_the_menu_can_be_used_with_the_keyboard(tab, draw_figure, subtests):
    for name in ("view", "chart"):
        with subtests.test(name):
            draw_figure(name, save=True)
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


def test_the_app_saves_pictures_too(app_tab: tuple[View, Watch]):
    view, watch = app_tab
    view.page.bring_to_front()
    view.go("?shape=2,3,4,4&layer=BatchNorm2d(3)&at=1,2,0,3")
    _, svg, name = image(view.page, "svg")
    assert name == "normviz-BatchNorm2d-3-2x3x4x4.svg"
    shown_texts = texts(parsed(svg))
    assert shown_texts[0] == "BatchNorm2d(3) on x of shape (2, 3, 4, 4)"
    for title in ("mean over", "own gamma for each"):  # each with its toggles
        start = shown_texts.index(title)
        assert shown_texts[start : start + 5] == [title, "N", "C", "H", "W"]
    assert b"Arial" in svg
    assert b"Source" not in svg
    _, png, _ = image(view.page, "png")  # the content security policy of the app allows it
    assert png.startswith(b"\x89PNG")
    watch.check()
