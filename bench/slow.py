"""The first visit on a slow line: when the page can be read, when its figure is shown, and when a control would answer."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser

from bench.common import TAB

# 1.6 Mb/s down, 0.75 Mb/s up and 150 ms, as Lighthouse has it for a slow phone connection.
LINE: dict[str, Any] = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1_600_000 / 8,
    "uploadThroughput": 750_000 / 8,
}
FAST = LINE | {"latency": 1, "downloadThroughput": 100_000_000 / 8, "uploadThroughput": 100_000_000 / 8}
TIMEOUT = 180_000  # ms

# What the text, the figure and a control of each app are.
PARTS = {
    "normviz": {
        "text": ".nv-sentence",
        "figure": ".nv-view[data-state=ready]",
        "control": "#root [role=radiogroup]",
        "complete": "#root .nv-plot image",
    },
    "afternoon": {
        "text": "[data-testid=stMarkdown]",
        "figure": "[data-testid=stPlotlyChart] .main-svg",
        "control": "#root [role=radiogroup]",
        "complete": "[data-testid=stPlotlyChart] .main-svg",
    },
    "bare": {"text": "[data-testid=stText]", "control": ":is([role=slider], input[type=range])"},
}
# The time in ms of the first frame that shows each part. A control answers when nothing covers it and no run is going on.
RECORD = """parts => {
  window.shown = {};
  const visible = (selector) => [...document.querySelectorAll(selector)].some((one) =>
    one.checkVisibility({ visibilityProperty: true }) && (one.matches("[data-state=ready], svg, image, input") || one.textContent.trim() || one.clientWidth));
  const look = () => {
    const rests = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning";
    for (const [name, selector] of Object.entries(parts))
      if (!(name in shown) && (name !== "control" || rests) && visible(selector)) shown[name] = performance.now();
    if (Object.keys(shown).length < Object.keys(parts).length) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


def first_visit(browser: Browser, kind: str, address: str, line: dict[str, Any] = LINE) -> dict[str, float]:
    """Seconds until each part of the app is shown, with an empty cache."""
    context = browser.new_context(**TAB)
    context.set_default_timeout(TIMEOUT)
    page, parts = context.new_page(), PARTS[kind]
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", line)
    page.add_init_script(f"({RECORD})({parts!r})")
    page.goto(address, wait_until="commit")
    page.wait_for_function("n => Object.keys(window.shown ?? {}).length === n", arg=len(parts), polling=100)
    shown: dict[str, float] = page.evaluate("shown")
    context.close()
    return {name: round(took / 1000, 2) for name, took in shown.items()}
