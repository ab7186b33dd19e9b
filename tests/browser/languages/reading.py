"""What a page in a pseudo-language shows: English words, texts that are cut off, and texts that lie over each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

# Words of torch, of formulas and of other frameworks; names of layers, letters of axes and numbers are no plain words for the pattern below.
CODE = """
affine Anki axis beta bias cache center dbeta dgamma dims dout dx dxhat einops eps eval Flax gamma iframe JSON Keras Markdown mean momentum
False NaN NCHW NCL NLC normalized num_groups NumPy out output PNG QTI reduce RMSNorm running scale SCORM stats ResNet SVG timm torch train True var weight
Welford xhat GRN PONO
"""
STREAMLITS_OWN = ["Skip to main content"]  # and the name of the menu of pages that have no room, which shows "…"

READ = r"""([code, own]) => {
  const WORD = /(?<![\p{L}\p{N}_.])[A-Za-z]{2,}(?![\p{L}\p{N}_(.]|\[|')/gu, NORM = /Norm|^[NCHW]+$/, allowed = new Set(code.trim().split(/\s+/));
  const KEPT = "code, a[href*='arxiv.org'], pre, script, style, noscript, template, select, [translate=no], [lang=en], .nv-plot, svg, [hidden], .rc-overflow-item-rest";
  const english = (text) => (text.match(WORD) ?? []).filter((word) => !allowed.has(word) && !NORM.test(word));
  const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const found = { english: new Set(), cut: new Set(), over: new Set() }, boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  const layerOf = (element) => {  // what lies over the page is a layer of its own; "" for a text that only screen readers see
    let layer = "page";
    for (let up = element; up && up !== document.body; up = up.parentElement) {
      const { overflowX, clipPath, position } = getComputedStyle(up);
      if (clipPath !== "none" || (up.clientWidth <= 1 && overflowX !== "visible")) return "";
      if (up.matches("dialog")) return up;
      if (up.matches("[data-testid=stHeader], .nvs-corner")) layer = "header";
      else if (layer === "page" && (position === "fixed" || position === "sticky")) layer = up; // such as a read-out in a figure that stays
    }
    return layer;
  };
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      const parent = node.parentElement, text = node.data.trim();
      if (!text || own.includes(text) || parent.closest(KEPT) || !shown(parent)) continue;
      if (english(text).length) found.english.add(text.slice(0, 100));
      const layer = layerOf(parent);
      if (!layer) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) if (box.width > 2 && box.height > 2) boxes.push([box, parent, text.slice(0, 40), layer]);
    } else if (!node.closest(KEPT) && !String(node.className).includes("st-")) {
      for (const name of ["aria-label", "title", "placeholder", "alt"])
        if (english(node.getAttribute(name) ?? "").length) found.english.add(`${name}: ${node.getAttribute(name).slice(0, 100)}`);
      const { overflowX, textOverflow } = getComputedStyle(node);
      if (["hidden", "clip"].includes(overflowX) && node.clientWidth > 2 && node.scrollWidth > node.clientWidth + 1 && shown(node) && node.innerText?.trim())
        found.cut.add(`${node.tagName}.${node.className}: ${node.innerText.slice(0, 60)}`);
    }
  }
  boxes.forEach(([one, parent, text, layer], i) => {
    for (const [other, its, second, own] of boxes.slice(i + 1)) {
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left), down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (layer === own && across > 3 && down > 5 && parent !== its && !parent.contains(its) && !its.contains(parent)) found.over.add(`${text} / ${second}`);
    }
  });
  return Object.fromEntries(Object.entries(found).map(([name, texts]) => [name, [...texts]]));
}"""


@dataclass(frozen=True)
class Reading:
    """What is wrong with a page.

    english  visible texts and labels with plain English words
    cut      elements whose text is cut off
    over     pairs of texts that lie over each other
    """

    english: list[str]
    cut: list[str]
    over: list[str]


def read_page(page: Page) -> Reading:
    found: dict[str, Any] = page.evaluate(READ, [CODE, STREAMLITS_OWN])
    return Reading(**found)
