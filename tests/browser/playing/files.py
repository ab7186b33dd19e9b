"""Files that answer their controls: how they are made, and what a reader does in them."""

import re

from playwright.sync_api import FrameLocator, Page, expect

READY = ".nv-view[data-state=ready]:not(:has(.nv-cells))"
PLOTLY = "plotly.min.js"
LAYER = ("LayerNorm([3,4,4])", "--shape", "2,3,4,4")
FILES = {
    "explore": LAYER,
    "shapes": (*LAYER, "--shapes", "2,6,8,8; 5,7", "--app", "https://example.org/lab"),
    "layers": ("--layers", "BatchNorm2d(3)", "BatchNorm2d(3).eval()", "LayerNorm([4,4])", "--shape", "2,3,4,4"),
    "compare": ("--lesson", "compare"),
    "steps": ("--lesson", "step_by_step", "--layers", "LayerNorm([3,4,4])", "BatchNorm2d(3)"),
    "train": ("--lesson", "train_and_eval"),
    "gradients": ("--lesson", "gradients", "--layers", "LayerNorm(4)", "--shape", "2,4"),
    "numerics": ("--lesson", "numerics"),
    "large": (
        "--layers",
        "BatchNorm2d(64)",
        "GroupNorm(4,64)",
        "--shape",
        "2,64,4,4",
        "--app",
        "https://example.org/lab",
    ),
    "fixed": (*LAYER, "--fixed"),
}
Place = Page | FrameLocator


def choose(place: Place, label: str, option: str) -> None:
    place.get_by_label(label, exact=True).select_option(label=option)


def segment(place: Place, name: str | re.Pattern[str], option: str) -> None:
    place.get_by_role("radiogroup", name=name).get_by_role("radio", name=option, exact=True).check()


def expect_sentence(place: Place, text: str) -> None:
    expect(place.locator(".nv-sentence")).to_contain_text(text)


def expect_fragment(page: Page, text: str) -> None:
    page.wait_for_function("text => location.hash === text", arg=text)


def select_first_element(place: Place, key: str = "stats") -> str:
    """Select the element in the upper left corner, ``x[0, 0, 0, 0]``; return the read-out."""
    panel = place.locator(f".nv-panel-{key} .nv-over")
    for name in ("Escape", "ArrowRight", "Enter"):
        panel.press(name)
    return place.locator(".nv-readout").inner_text()
