"""axe-core in a tab: what it finds against WCAG 2.2 AA and its best practices."""

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
FOUND = {"resultTypes": ["violations"], "iframes": False}
ALL = FOUND | {"runOnly": STANDARDS, "rules": {"target-size": {"enabled": True}}}
COLORS = FOUND | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
# Of texts in SVG, axe-core does not see the color; those of the cells are tested in tests/figures/test_palette.py.
WITHOUT_SVG = 'axe.configure({ rules: [{ id: "color-contrast", selector: ":not(svg, svg *)" }] })'

# Do all parts of the page have the colors of the theme?
HAS_THEME = """theme => [...document.querySelectorAll(".nv-doc[data-mounted]")].every((part) => part.dataset.mode === theme)
  && !document.querySelector("#normviz-first")"""
IS_DARK = "matchMedia('(prefers-color-scheme: dark)').matches"


def violations(page: Page, options: dict[str, Any] = ALL, context: Any = None) -> list[str]:
    """What axe finds in a part of the page (default: all): the rule, the element and why."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(AXE_SCRIPT)
        page.evaluate(WITHOUT_SVG)
    run = "([context, options]) => axe.run(context ?? document, options)"
    found = page.evaluate(run, [context, options])["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['html'][:160]}: {node['failureSummary']}"
        for rule in found
        for node in rule["nodes"]
    ]


def check(page: Page) -> None:
    """Assert that axe finds nothing: every rule, and contrast in both themes. The page keeps the second theme."""
    themes = ["dark", "light"] if page.evaluate(IS_DARK) else ["light", "dark"]
    found = []
    for theme, options in zip(themes, (ALL, COLORS), strict=True):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(HAS_THEME, arg=theme)
        found += [f"{theme}: {one}" for one in violations(page, options)]
    assert not found, f"{page.url}:\n" + "\n".join(found)
