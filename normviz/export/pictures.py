"""Picture files (PNG, SVG, PDF), drawn by an exported page in Chromium or Chrome, without a network."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from normviz.export.document import document
from normviz.export.files import check_writable, short_path, whole_file
from normviz.figures.palette import theme as checked_theme
from normviz.parts.part import Chart, Panels, Part, flat
from normviz.texts.errors import NormvizError, echo, listed
from normviz.texts.messages import N_, ngettext

if TYPE_CHECKING:
    from choreographer import Browser, Tab

T = TypeVar("T")
FORMATS = ("png", "svg", "pdf")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 90  # seconds
LARGEST_SCALE, WIDEST = 8.0, 16_384  # pixels
NO_BROWSER = N_(
    "A picture is drawn by Chromium or Chrome, and none was found. Install one (Debian: apt install chromium; anywhere: "
    "choreo_get_chrome), or name it in BROWSER_PATH."
)


def save(
    parts: Part | Iterable[Part],
    path: str | os.PathLike[str],
    *,
    theme: str = "light",
    scale: float = 2,
    width: int | None = None,
) -> list[Path]:
    """Write the figures of a page's parts as ``.png``, ``.svg`` or ``.pdf``; return the files written.

    path   of the file; for several figures, ``page.png`` becomes ``page-1.png``, ``page-2.png``, ...
    theme  "light" or "dark"
    scale  pixels of a PNG for each pixel of the page
    width  of the file in pixels, instead of scale; the height follows

    A file is written completely or not at all, and replaces an existing one.

    Raises NormvizError for another ending, a path that cannot be written, parts without a figure, a size out of bounds, and if
    choreographer or a browser is missing; the message then says what to install.
    """
    target = Path(path)
    kind = target.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        endings = listed([f".{each}" for each in FORMATS])
        raise NormvizError("{path} must end in {endings}.", path=short_path(target), endings=endings)
    check_writable(target)
    checked_theme(theme)
    _check_size(scale, width)
    figures = [part for part in flat([parts] if isinstance(parts, Part) else parts) if isinstance(part, Panels | Chart)]
    if not figures:
        raise NormvizError("There is no figure here: this view has only text and tables.")
    page = document(figures, title="normviz", theme=theme)
    count = len(figures)
    names = [target.with_stem(f"{target.stem}-{number}") for number in range(1, count + 1)] if count > 1 else [target]
    images = _images(page, kind, scale, width)
    with ExitStack() as files:  # each is moved into its place when all of them are complete
        drafts = [files.enter_context(whole_file(name)) for name in names]
        for draft, image in zip(drafts, images, strict=True):
            draft.write_bytes(image)
    return names


def _check_size(scale: float, width: int | None) -> None:
    if width is not None and not 1 <= width <= WIDEST:
        raise NormvizError(
            ngettext(
                "width={width} must be from 1 to {n:,} pixel.",
                "width={width} must be from 1 to {n:,} pixels.",
                WIDEST,
                width=echo(width),
            )
        )
    if not (isfinite(scale) and 0 < scale <= LARGEST_SCALE):
        raise NormvizError("scale={scale} must be above 0 and at most {most:g}.", scale=echo(scale), most=LARGEST_SCALE)


def _images(page: str, kind: str, scale: float, width: int | None) -> list[bytes]:
    """The contents of the files, all from one browser."""
    browser, unchanged = checked_browser(), scale if kind == "png" else 1.0
    return draw(page, kind, lambda picture: width / picture.width if width else unchanged, browser, PATIENCE)


def checked_browser() -> str:
    """The path of the browser. Raises NormvizError if it or choreographer is missing."""
    if find_spec("choreographer") is None:
        raise NormvizError('Pictures need choreographer: pip install "normviz[images]".')
    browser = _browser()
    if browser is None:
        raise NormvizError(NO_BROWSER)
    return browser


def _browser() -> str | None:
    """BROWSER_PATH, else a Chromium or Chrome on PATH, else one that choreographer finds or has downloaded."""
    if given := os.environ.get("BROWSER_PATH"):
        return given if os.access(given, os.X_OK) else None
    if found := next(filter(None, map(shutil.which, BROWSERS)), None):
        return found
    from choreographer.browsers.chromium import Chromium

    return Chromium.find_browser(skip_local=False)


# Headless Chromium, driven by choreographer. It opens an exported page, which converts its own figures to pictures.

WINDOW = (1180, 2000)  # pixels: the largest width of an exported page
CHARTS = "<style>.nv-chart { max-width: 760px }</style>"  # on a slide, the text of a chart as wide as the page would be too small
PICTURES = """(async () => {
  while (!window.normviz) await new Promise((done) => setTimeout(done, 10));
  return window.normviz.pictures();
})()"""
ALONE = "<!doctype html><style>body { margin: 0 } svg { display: block }</style>"
INCH = 96  # pixels
TO_START, TO_CLOSE, TO_PRINT = 60, 10, 600  # seconds
INCHES = {"a4": (8.27, 11.69), "letter": (8.5, 11.0)}  # the width and the height of paper


@dataclass(frozen=True)
class Picture:
    """An SVG, and its size in pixels."""

    svg: str
    width: int
    height: int

    def scaled(self, scale: float) -> Picture:
        width, height = round(self.width * scale), round(self.height * scale)
        size = f'width="{width}" height="{height}" preserveAspectRatio="none"'  # otherwise a rounded size leaves a light edge
        return Picture(re.sub(r'width="\d+" height="\d+"', size, self.svg, count=1), width, height)


def draw(html: str, kind: str, scale_of: Callable[[Picture], float], browser: str, patience: float) -> list[bytes]:
    """The contents of a file for each figure of a page, in the page's order.

    html      the page, which must not need a network
    kind      "svg", "png" or "pdf"
    scale_of  the factor by which a picture is larger than on the page
    browser   the path of the program
    patience  seconds for all pictures, once the browser has started

    Raises NormvizError if the browser does not start, or does not respond in time.
    """
    return _in_browser(lambda tab: _draw(tab, html, kind, scale_of), browser, patience)


def print_pdfs(pages: Sequence[str], size: str) -> list[bytes]:
    """HTML pages as they print on paper of a size, "a4" or "letter", with one browser. Raises NormvizError as ``save`` does."""

    async def job(tab: Tab) -> list[bytes]:
        return [await _print(tab, html, *INCHES[size]) for html in pages]

    return _in_browser(job, checked_browser(), TO_PRINT)


def _in_browser(job: Callable[[Tab], Awaitable[T]], browser: str, patience: float) -> T:
    """What a job does in a new tab. Raises NormvizError if the browser does not start, or does not respond in time."""
    from choreographer.errors import BrowserDepsError, BrowserFailedError, ChromeNotFoundError

    with ThreadPoolExecutor(1) as pool:  # a notebook has an event loop of its own in this thread
        try:
            return pool.submit(asyncio.run, _with_tab(job, browser, patience)).result()
        except (ChromeNotFoundError, BrowserFailedError, BrowserDepsError) as error:
            raise NormvizError(
                "The browser {browser} did not start. Install Chromium or Chrome (Debian: apt install chromium), or name "
                "another one in BROWSER_PATH.",
                browser=browser,
            ) from error
        except TimeoutError as error:
            raise NormvizError(
                "The browser {browser} drew no picture in {seconds:g} s. Try a smaller tensor.",
                browser=browser,
                seconds=patience,
            ) from error
        except Exception as error:
            raise NormvizError(
                "The browser {browser} could not draw the picture: {error}.", browser=browser, error=echo(str(error))
            ) from error


async def _with_tab(job: Callable[[Tab], Awaitable[T]], browser: str, patience: float) -> T:
    from choreographer import Browser

    chromium = Browser(browser)
    try:  # `async with` would leave the process running if the timeout comes while it starts
        async with asyncio.timeout(TO_START):
            await chromium.open()
        async with asyncio.timeout(patience):
            tab = await chromium.create_tab("about:blank")
            return await job(tab)
    finally:
        await _close(chromium)


async def _draw(tab: Tab, html: str, kind: str, scale_of: Callable[[Picture], float]) -> list[bytes]:
    await _send(tab, "Emulation.setScrollbarsHidden", hidden=True)
    await _show(tab, html + CHARTS, *WINDOW)
    pictures = [Picture(**each) for each in await _evaluate(tab, PICTURES)]
    return [await ENCODED[kind](tab, picture.scaled(scale_of(picture))) for picture in pictures]


async def _print(tab: Tab, html: str, width: float, height: float) -> bytes:
    await _evaluate(tab, f"document.open(); document.write({json.dumps(html)}); document.close()")
    printed = await _send(tab, "Page.printToPDF", printBackground=True, paperWidth=width, paperHeight=height)
    return b64decode(printed["data"])


async def _close(chromium: Browser) -> None:
    """Close the browser. It may end before it has answered, so the answer is not awaited for long."""
    try:
        async with asyncio.timeout(TO_CLOSE):
            await chromium.close()
    except TimeoutError:
        chromium.subprocess.kill()


async def _svg(tab: Tab, picture: Picture) -> bytes:
    return picture.svg.encode()


async def _png(tab: Tab, picture: Picture) -> bytes:
    await _show(tab, ALONE + picture.svg, picture.width, picture.height)
    return b64decode((await _send(tab, "Page.captureScreenshot", format="png"))["data"])


async def _pdf(tab: Tab, picture: Picture) -> bytes:
    await _show(tab, ALONE + picture.svg, picture.width, picture.height)
    await _evaluate(tab, "document.title = document.querySelector('svg > title').textContent")
    size = {"paperWidth": picture.width / INCH, "paperHeight": picture.height / INCH}
    margins = dict.fromkeys(("marginTop", "marginBottom", "marginLeft", "marginRight"), 0)
    printed = await _send(tab, "Page.printToPDF", printBackground=True, pageRanges="1", **size, **margins)
    return b64decode(printed["data"])


ENCODED = {"svg": _svg, "png": _png, "pdf": _pdf}


async def _show(tab: Tab, html: str, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    await _send(tab, "Emulation.setDeviceMetricsOverride", **size)
    await _evaluate(tab, f"document.open(); document.write({json.dumps(html)}); document.close()")


async def _evaluate(tab: Tab, expression: str) -> Any:
    response = await _send(tab, "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
    if "exceptionDetails" in response:
        raise RuntimeError(response["result"].get("description", response["exceptionDetails"]["text"]))
    return response["result"].get("value")


async def _send(tab: Tab, command: str, **options: object) -> Any:
    response = await tab.send_command(command, options)
    if "error" in response:
        raise RuntimeError(response["error"]["message"])
    return response["result"]
