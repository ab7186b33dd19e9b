"""Headless Chromium, driven by choreographer. It opens an exported page, which converts its own figures to pictures."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64decode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from choreographer import Browser, Tab
from choreographer.errors import BrowserDepsError, BrowserFailedError, ChromeNotFoundError

from normviz.texts.errors import NormvizError, echo
from normviz.texts.messages import _

WINDOW = (1180, 2000)  # pixels: the largest width of an exported page
CHARTS = "<style>.nv-chart { max-width: 760px }</style>"  # on a slide, the text of a chart as wide as the page would be too small
PICTURES = """(async () => {
  while (!window.normviz) await new Promise((done) => setTimeout(done, 10));
  return window.normviz.pictures();
})()"""
ALONE = "<!doctype html><style>body { margin: 0 } svg { display: block }</style>"
INCH = 96  # pixels
TO_START, TO_CLOSE = 60, 10  # seconds


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

    html      the page; it must not need a network
    kind      "svg", "png" or "pdf"
    scale_of  the factor by which a picture is larger than on the page
    browser   the path of the program
    patience  seconds for all pictures, once the browser has started

    Raises NormvizError if the browser does not start, or does not respond in time.
    """
    with ThreadPoolExecutor(1) as pool:  # a notebook has an event loop of its own in this thread
        try:
            return pool.submit(asyncio.run, _draw(html, kind, scale_of, browser, patience)).result()
        except (ChromeNotFoundError, BrowserFailedError, BrowserDepsError) as error:
            raise NormvizError(
                _(
                    "The browser {browser} did not start. Install Chromium or Chrome (Debian: apt install chromium), or name "
                    "another one in BROWSER_PATH.",
                    browser=browser,
                )
            ) from error
        except TimeoutError as error:
            raise NormvizError(
                _(
                    "The browser {browser} drew no picture in {seconds:g} s. Try a smaller tensor.",
                    browser=browser,
                    seconds=patience,
                )
            ) from error
        except Exception as error:
            raise NormvizError(
                _("The browser {browser} could not draw the picture: {error}.", browser=browser, error=echo(str(error)))
            ) from error


async def _draw(
    html: str, kind: str, scale_of: Callable[[Picture], float], browser: str, patience: float
) -> list[bytes]:
    chromium = Browser(browser)
    try:  # `async with` would leave the process running if the timeout comes while it starts
        async with asyncio.timeout(TO_START):
            await chromium.open()
        async with asyncio.timeout(patience):
            tab = await chromium.create_tab("about:blank")
            await _send(tab, "Emulation.setScrollbarsHidden", hidden=True)
            await _show(tab, html + CHARTS, *WINDOW)
            pictures = [Picture(**each) for each in await _evaluate(tab, PICTURES)]
            return [await ENCODED[kind](tab, picture.scaled(scale_of(picture))) for picture in pictures]
    finally:
        await _close(chromium)


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
    return b64decode(
        (await _send(tab, "Page.printToPDF", printBackground=True, pageRanges="1", **size, **margins))["data"]
    )


ENCODED = {"svg": _svg, "png": _png, "pdf": _pdf}


async def _show(tab: Tab, html: str, width: int, height: int) -> None:
    await _send(
        tab, "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
    )
    await _evaluate(tab, f"document.open(); document.write({json.dumps(html)}); document.close()")


async def _evaluate(tab: Tab, expression: str) -> Any:
    response = await _send(tab, "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
    if "exceptionDetails" in response:
        raise RuntimeError(response["result"].get("description", response["exceptionDetails"]["text"]))
    return response["result"].get("value")


async def _send(tab: Tab, command: str, **options: Any) -> Any:
    response = await tab.send_command(command, options)
    if "error" in response:
        raise RuntimeError(response["error"]["message"])
    return response["result"]
