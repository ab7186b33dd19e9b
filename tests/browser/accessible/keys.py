"""A reader who has nothing but a keyboard."""

from playwright.sync_api import Page

MOST = 60  # stops between two places of a page

# The name of the focused element as a reader hears it, and whether its focus is seen.
FOCUSED = """() => {
  const at = document.activeElement, label = at.labels?.[0] ?? at, shown = (part) => {
    const style = getComputedStyle(part);
    return (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
  };
  const around = [at, at.parentElement, label, at.closest("[data-testid=stNumberInputContainer], [data-baseweb]")].filter(Boolean);
  return { name: (at.ariaLabel || label.innerText || at.textContent || "").trim().slice(0, 80), kind: at.className?.baseVal ?? at.className ?? "", seen: at === document.body || around.some(shown) };
}"""


class Keys:
    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def tab_to(self, name: str, kind: str = "") -> None:
        """Press Tab until an element with that name, or of that kind, has the focus, which is seen at every stop in the page."""
        passed = []
        for _ in range(MOST):
            self.press("Tab")
            at = self.page.evaluate(FOCUSED)
            passed.append(at["name"] or at["kind"])
            assert at["seen"], f"the focus on {at} is not seen"
            if (name and at["name"] == name) or (kind and kind in at["kind"]):
                return
        raise AssertionError(f"Tab does not lead to {name or kind}; it leads to {passed}")

    def tab_until(self, selector: str) -> None:
        """Press Tab until an element of the selector has the focus."""
        for _ in range(MOST):
            self.press("Tab")
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"Tab does not lead to {selector}")
