"""Make the picture that other sites show with a link to the app, ``normviz/ui/preview.png``: which elements share a mean under four layers.

It has no words but names, so that it serves every language.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

import normviz as nv
from normviz.figures.palette import wordmark
from tools.browser import find
from tools.screenshots import FLAGS

WIDTH, HEIGHT = 1200, 630  # the size that such previews have
COLORS = 128
PICTURE = Path(nv.__file__).parent / "ui" / "preview.png"
LAYERS = {
    "BatchNorm": "BatchNorm2d(6)",
    "LayerNorm": "LayerNorm([6,2,3])",
    "InstanceNorm": "InstanceNorm2d(6)",
    "GroupNorm": "GroupNorm(2,6)",
}
SHAPE = (5, 6, 2, 3)
STYLE = """
body { margin: 0; height: 630px; display: flex; flex-direction: column; justify-content: space-between; }
main { max-width: none !important; margin: 0; padding: 0 12px !important; }
.nv-doc { max-width: none !important; }
.nv-name { display: none; }
.nv-panel { border: 0 !important; background: none !important; }
.nv-title { font-size: 31px !important; text-align: center; margin: 0 -20px; }
.nv-cube-svg { transform: scale(1.32) translateY(26px); }
header { padding: 44px 60px 0; margin-bottom: -30px; }
header img { height: 76px; }
footer { padding: 0 0 56px; color: #4a5568; font: 40px/1.2 "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; text-align: center; }
"""
FRAME = """([logo, formula, names]) => {
  const add = (tag) => document.body.appendChild(document.createElement(tag));
  const header = add("header"), main = add("div"), footer = add("footer"), image = new Image();
  image.src = logo;
  header.append(image);
  main.replaceWith(document.querySelector("main"));
  footer.textContent = formula;
  document.querySelectorAll(".nv-title").forEach((title, number) => title.textContent = names[number]);
}"""
FORMULA = "y = (x − mean) / √(var + eps) · gamma + beta"


def main(path: Path = PICTURE) -> None:
    browser_path = find()
    if browser_path is None:
        raise SystemExit("no Chromium was found: run `python -m tools.browser`")
    layers = ";".join(LAYERS.values())
    shape = ",".join(map(str, SHAPE))
    html = nv.open(f"/compare?shape={shape}&layers={layers}&at=2,3,0,1&hide=all,stats,params,readout").to_html(
        theme="light"
    )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_content(html)
        page.add_style_tag(content=STYLE)
        page.wait_for_function("document.querySelector('.nv-view[data-state=ready]') && window.Plotly")
        page.evaluate(FRAME, [wordmark(), FORMULA, list(LAYERS)])
        picture = Image.open(BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
        browser.close()
    picture.quantize(COLORS).save(path, optimize=True)


if __name__ == "__main__":
    main()
