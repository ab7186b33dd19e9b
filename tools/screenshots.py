"""Take the screenshots of the README and the docs again: ``make screenshots``."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tools.browser import find
from tools.servers import ROOT, app_server

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PICTURES = (
    ("explore-light", "?", 1280, 720, "light"),
    ("explore-dark", "?layer=GroupNorm(2,4)&at=1,1,2,1", 1280, 720, "dark"),
    ("explore-phone", "?shape=4,6&layer=BatchNorm1d(6)", 390, 844, "light"),
)


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
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "images"))
