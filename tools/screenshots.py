"""Make the pictures of the README and the docs anew, from the running app: ``make screenshots``."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from tools.browser import find
from tools.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PICTURES = (
    ("explore-light", "?", 1280, 720, "light"),
    ("explore-dark", "?layer=GroupNorm(3,3)&at=1,1,2,1", 1280, 720, "dark"),
    ("explore-phone", "?shape=4,6&layer=BatchNorm1d(6)", 390, 844, "light"),
)


@contextmanager
def served() -> Iterator[str]:
    """The app on a free port."""
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "app.py",
        "--server.address=localhost",
        f"--server.port={port}",
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        address = f"http://localhost:{port}"
        _wait_for(f"{address}/_stcore/health")
        yield address
    finally:
        process.terminate()
        process.wait()


def _wait_for(address: str) -> None:
    for _ in range(240):
        try:
            urllib.request.urlopen(address, timeout=2)
        except OSError:
            time.sleep(0.25)
        else:
            return
    raise SystemExit("the app did not start")


def main(folder: Path) -> None:
    browser_path = find()
    if browser_path is None:
        raise SystemExit("no Chromium was found: run `python -m tools.browser`")
    folder.mkdir(parents=True, exist_ok=True)
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        for name, query, width, height, theme in PICTURES:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
            page.goto(f"{address}/{query}")
            page.wait_for_selector('.nv-view[data-state="ready"]')
            page.wait_for_function("document.fonts.status === 'loaded'")
            page.mouse.move(1, 1)
            page.wait_for_timeout(500)  # Streamlit fades its toolbar
            page.screenshot(path=folder / f"{name}.png")
            page.close()
            print(folder / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "images"))
