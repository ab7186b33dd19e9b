"""axe-core in a tab: what it finds against WCAG 2.2 AA and its best practices."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALL = {
    "runOnly": STANDARDS,
    "rules": {"target-size": {"enabled": True}},
    "resultTypes": ["violations"],
    "iframes": False,
}
COLORS = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, "resultTypes": ["violations"], "iframes": False}

# Do all parts of the page have the colors of the theme?
HAS_THEME = """theme => [...document.querySelectorAll(".nv-doc[data-mounted]")].every((part) => part.dataset.mode === theme)
  && !document.querySelector("#normviz-first")"""


def violations(page: Page, options: dict[str, Any] = ALL) -> list[str]:
    """What axe finds: the rule, the element and why."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate("options => axe.run(document, options)", options)["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['html'][:160]}: {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]


def check(page: Page) -> None:
    """Assert that axe finds nothing: every rule in the light theme, and contrast in the dark one."""
    for theme, options in (("light", ALL), ("dark", COLORS)):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(HAS_THEME, arg=theme)
        found = violations(page, options)
        assert not found, f"{page.url}, {theme}:\n" + "\n".join(found)
    page.emulate_media(color_scheme="light")
