"""Takes and reads a picture of the figure on a page."""

import base64
import xml.etree.ElementTree as ET
from typing import NamedTuple

from playwright.sync_api import Page

SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {"svg", "title", "desc", "g", "path", "rect", "text", "tspan"}
IMAGE = """async kind => {
  const view = document.querySelector(".nv-view"), blob = await view.nvImage(kind), reader = new FileReader();
  const text = await new Promise((done) => { reader.onload = () => done(reader.result); reader.readAsDataURL(blob); });
  return [blob.type, text.split(",")[1], view.nvImageName(kind)];
}"""
NAMES = {
    "view": "normviz-GroupNorm-3-3-2x3x4x4",
    "large": "normviz-LayerNorm-16-16-16-2x16x16x16",
    "compare": "normviz-compare-2x3x4x4",
    "steps": "normviz-LayerNorm-3-4-4-2x3x4x4",
    "jacobian": "normviz-values-96x96",
    "chart": "normviz-chart",
}


class Image(NamedTuple):
    """The contents of a picture file, with its MIME type and its name."""

    form: str
    content: bytes
    name: str


def image(page: Page, kind: str) -> Image:
    form, text, name = page.evaluate(IMAGE, kind)
    return Image(form, base64.b64decode(text), name)


def parsed(svg: bytes) -> ET.Element:
    return ET.fromstring(svg.decode("utf-8"))


def texts(root: ET.Element) -> list[str]:
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def tags(root: ET.Element) -> set[str]:
    return {node.tag.removeprefix(SVG) for node in root.iter()}
