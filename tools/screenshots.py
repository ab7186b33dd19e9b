"""Take the screenshots of the README and the docs again: ``make screenshots``."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

import normviz as nv
from tools.browser import find
from tools.servers import ROOT, app_server

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PICTURES = (
    ("explore-light", "?", 1280, 720, "light"),
    ("explore-dark", "?layer=GroupNorm(2,4)&at=1,1,2,1", 1280, 720, "dark"),
    ("explore-phone", "?shape=4,6&layer=BatchNorm1d(6)", 390, 844, "light"),
)

FIGURES = {
    "first-steps": "/explore?shape=2,4,3,3&layer=GroupNorm(2,4)&at=0,0,0,0&hide=all,x,normalized,output"
}  # of docs/, where the site has the live view
# The animation of the README: layers, and the indices of (n, c, h, w) to which the pointer moves.
POINTING = {
    "BatchNorm2d(3)": ((0, 0, 2, 1), (1, 1, 1, 2)),
    "LayerNorm([3, 4, 4])": ((0, 1, 1, 1), (1, 2, 2, 1)),
    "InstanceNorm2d(3, affine=True)": ((0, 2, 1, 1), (1, 0, 2, 2)),
}
HIDDEN = "all,x,normalized,output,facts,worked"  # two panels and the read-out
WIDTH, MARGIN, GAP = 860, 12, 10  # pixels; the gap is that between two facets
STEPS, STEP, REST = 5, 60, 1700  # between two elements; milliseconds of a step and at an element
PLAYS = 3  # it then rests
COLORS = 128
POINTER = """() => {
    document.body.insertAdjacentHTML("beforeend", `<svg id="pointer" width="26" height="26" viewBox="0 0 24 24" style="position: fixed; z-index: 9; pointer-events: none">
        <path d="M4 2v17l4.6-4.2 2.9 6.6 2.8-1.2-2.9-6.5 6.3-.3z" fill="#16202e" stroke="#fff" stroke-width="1.6"/></svg>`);
    addEventListener("mousemove", event => Object.assign(document.getElementById("pointer").style, { left: event.clientX - 4 + "px", top: event.clientY - 2 + "px" }));
}"""


def figure(browser: Browser, link: str, path: Path) -> None:
    """A view of a file."""
    page = browser.new_page(viewport={"width": WIDTH, "height": 600})
    page.set_content(nv.open(link).to_html())
    page.wait_for_selector(".nv-view[data-state=ready]:not(:has(.nv-cells))")
    _frame(page).quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)
    page.close()


def pointing(browser: Browser, path: Path) -> None:
    """The animation: for each layer, the pointer moves over the panel of the means."""
    taken: list[tuple[Image.Image, int]] = []
    at = (WIDTH / 2, 400.0)
    for layer, indices in POINTING.items():
        page = browser.new_page(viewport={"width": WIDTH, "height": 600})
        page.set_content(nv.open(f"/explore?shape=2,3,4,4&layer={layer}&hide={HIDDEN}&at=none").to_html())
        page.wait_for_selector(".nv-view[data-state=ready]:not(:has(.nv-cells))")
        page.evaluate(POINTER)
        page.evaluate(
            "layer => document.querySelector('.nv-view').insertAdjacentHTML('afterbegin', `<p style='margin: 0 0 10px; font: 600 22px ui-monospace, monospace'>${layer}</p>`)",
            layer,
        )
        for index in indices:
            target = _place(page, index)
            for step in range(1, STEPS + 1):
                share = step / STEPS
                share = share * share * (3 - 2 * share)  # slow at both ends
                page.mouse.move(*(a + (b - a) * share for a, b in zip(at, target, strict=True)))
                taken.append((_frame(page), REST if step == STEPS else STEP))
            at = target
        page.close()
    height = max(frame.height for frame, _ in taken)
    rests = [_on_white(frame, height) for frame, time in taken if time == REST]
    palette = Image.new("RGB", (WIDTH, height * len(rests)))
    for number, frame in enumerate(rests):
        palette.paste(frame, (0, number * height))
    palette = palette.quantize(COLORS, dither=Image.Dither.NONE)
    first, *others = [
        _on_white(frame, height).quantize(palette=palette, dither=Image.Dither.NONE) for frame, _ in taken
    ]
    first.save(
        path, save_all=True, append_images=others, duration=[time for _, time in taken], loop=PLAYS - 1, optimize=True
    )


def _place(page: Page, index: tuple[int, ...]) -> tuple[float, float]:
    """The middle of the cell of an element of (2, 3, 4, 4) in the panel of the means: 3 facets of 4 columns, 2 of 4 rows, with gaps."""
    n, c, h, w = index
    plot = page.locator(".nv-panel-stats .nv-plot").bounding_box()
    assert plot
    across, down = (plot["width"] - 2 * GAP) / 12, (plot["height"] - GAP) / 8
    return plot["x"] + c * (4 * across + GAP) + (w + 0.5) * across, plot["y"] + n * (4 * down + GAP) + (h + 0.5) * down


def _frame(page: Page) -> Image.Image:
    page.evaluate("new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
    view = page.locator(".nv-view").bounding_box()
    assert view
    clip = {"x": 0, "y": view["y"] - MARGIN, "width": WIDTH, "height": view["height"] + 2 * MARGIN}
    return Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")


def _on_white(frame: Image.Image, height: int) -> Image.Image:
    page = Image.new("RGB", (frame.width, height), "white")
    page.paste(frame)
    return page


def main(folder: Path) -> None:
    browser_path = find()
    if browser_path is None:
        raise SystemExit("no Chromium was found: run `python -m tools.browser`")
    folder.mkdir(parents=True, exist_ok=True)
    with app_server() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        for name, query, width, height, theme in PICTURES:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
            page.goto(f"{address}/explore{query}")
            page.wait_for_selector(".nv-view[data-state=ready]:not(:has(.nv-cells), #normviz-first *)")
            page.wait_for_function("document.fonts.status === 'loaded'")
            page.mouse.move(1, 1)
            page.screenshot(path=folder / f"{name}.png", animations="disabled")  # Streamlit fades out its toolbar
            page.close()
            print(folder / f"{name}.png")
        for name, link in FIGURES.items():
            figure(browser, link, folder / f"{name}.png")
        pointing(browser, folder / "pointing.gif")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "images"))
