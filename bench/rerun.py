"""The time from a change of a control to the painted figure, in a real browser, for the pages with a tensor.

    python -m bench.rerun                 the table, and one line of JSON
    python -m bench.rerun --rounds 30     change each control 30 times (default 15)
    python -m bench.rerun --only explore  one page

Three servers and a file are measured in turns, in the same browser:

normviz     the page as it is deployed
file        Explore as ``normviz export`` writes it: a change of its control bar, which the file answers itself
afternoon   the panels of Explore as Plotly subplots through ``st.plotly_chart``, with Streamlit's default settings
bare        one slider and one line of text, with our settings: the minimum that Streamlit needs

The time starts with the browser's event (a click, or Enter) and ends with the frame that shows the figure with all its new values. normviz
paints the cells itself and replaces them with Plotly's equal heatmaps afterwards: ``complete`` ends with the last of them.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from bench.common import TAB, chromium, ratio, report, server, spread
from normviz.api.pages import output_of_query
from normviz.export.output import Choices

Act = Callable[[Page, int], None]
TINY, SMALL, LARGE = (1, 2, 2, 2), (2, 3, 4, 4), (4, 4, 32, 32)
FIGURES = {
    "normviz": ".nv-view, .nv-answer",
    "afternoon": "[data-testid=stPlotlyChart]",
    "bare": "[data-testid=stText]",
}

# Records the time of an event, of the frame that shows the figure last drawn by our module, and of the one that shows its last change.
WATCH = """figure => {
  window.bench = { begin: null, last: null, drawn: null, seen: 0 };
  const here = (node) => { const at = node.nodeType === 1 ? node : node.parentElement; return at?.closest(figure) || at?.querySelector?.(figure); };
  const begin = (event) => { if (bench.armed) bench.begin ??= event.timeStamp; };
  for (const kind of ["click", "keydown"]) addEventListener(kind, begin, true);
  new MutationObserver((changes) => {
    if (bench.begin === null || !changes.some(({ target, addedNodes }) => target.closest?.(figure) || target.parentElement?.closest(figure) || [...addedNodes].some(here))) return;
    const begin = bench.begin, isDrawn = changes.some(({ attributeName }) => attributeName === "data-drawn");
    requestAnimationFrame(() => setTimeout(() => {
      if (bench.begin !== begin) return;
      bench.last = performance.now();
      if (isDrawn) bench.drawn = bench.last;
      bench.seen++;
    }));
  }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
}"""
ARM = "() => Object.assign(bench, { armed: true, begin: null, last: null, drawn: null, seen: 0 })"
DONE = """quiet => bench.last !== null && performance.now() - bench.last > quiet
  && (document.querySelector("[data-testid=stApp]")?.dataset.testScriptState ?? "notRunning") === "notRunning" && !document.querySelector(".nv-cells") && [(bench.drawn ?? bench.last) - bench.begin, bench.last - bench.begin]"""
READY = """figure => document.querySelector(figure) && !document.querySelector("#normviz-first, .nv-cells") && !document.querySelector(".nv-view:not([data-state=ready], [data-state=hidden])")
  && (document.querySelector("[data-testid=stApp]")?.dataset.testScriptState ?? "notRunning") === "notRunning" """
TIMEOUT = 120_000  # ms
QUIET = 400  # ms without a change before a change counts as the last


@dataclass(frozen=True)
class Case:
    """One page at one size, and the control to change. Explore is measured in a file and as the afternoon page, too."""

    page: str
    shape: tuple[int, ...]
    act: Act

    @property
    def query(self) -> dict[str, str]:
        sizes = [",".join(map(str, shape)) for shape in (self.shape, self.shape[1:])]
        return {"shape": sizes[0], "layer": f"LayerNorm([{sizes[1]}])"}

    @property
    def addresses(self) -> dict[str, str]:
        """The path and the query on each server."""
        ours = {"normviz": f"/{self.page}?{urlencode(self.query)}", "bare": "/"}
        return ours | ({"afternoon": f"/?size={self.query['shape']}"} if self.page == "explore" else {})


def change_normalized_shape(page: Page, turn: int) -> None:
    """Normalize over H and W, or over C as well: Explore has a toggle for each axis, the other pages have a choice."""
    choice = page.locator(".st-key-depth, [data-key=depth]")
    if choice.count():
        choice.get_by_text(("H, W", "C, H, W")[turn % 2], exact=True).click(force=True)
    else:
        means = page.get_by_role("group", name="mean over", exact=True)
        means.get_by_role("button", name=re.compile("^C, ")).click(force=True)


def written(key: str, *texts: str, armed: bool = True) -> Act:
    """Fill in a field and press Enter; with ``armed``, the time starts at Enter."""

    def act(page: Page, turn: int) -> None:
        field = page.locator(f".st-key-{key} input")
        if armed:
            page.evaluate("bench.armed = false")
        field.fill(texts[turn % len(texts)])
        if armed:
            page.evaluate(ARM)
        field.press("Enter")

    return act


def slide(page: Page, turn: int) -> None:
    page.get_by_role("slider").press("ArrowRight" if turn % 2 else "ArrowLeft")


CASES = (
    *(Case("explore", shape, change_normalized_shape) for shape in (SMALL, (4, 4, 16, 16), LARGE)),
    *(Case("compare", shape, written("size_n", "3", "2")) for shape in (SMALL, LARGE)),
    *(Case("step_by_step", shape, change_normalized_shape) for shape in (SMALL, LARGE)),
    *(Case("gradients", shape, change_normalized_shape) for shape in (SMALL, (4, 4, 16, 16))),
)


def timed(page: Page, act: Act, turn: int) -> tuple[float, float]:
    """The time of one change until the figure is painted and until it is complete, in ms."""
    page.bring_to_front()
    page.evaluate(ARM)
    act(page, turn)
    painted, complete = page.wait_for_function(DONE, arg=QUIET).json_value()
    page.evaluate("bench.armed = false")
    return float(painted), float(complete)


def opened(browser: Browser, address: str, figure: str) -> Page:
    page = browser.new_page(**TAB)
    page.set_default_timeout(TIMEOUT)
    page.goto(address)
    page.wait_for_function(READY, arg=figure)
    page.evaluate(WATCH, figure)
    return page


def exported(folder: Path, query: dict[str, str], quick: bool) -> str:
    """The address of a file that opens with the view of Explore and answers its controls; with ``quick``, not all of them."""
    path = folder / "explore.html"
    output = replace(output_of_query("explore", query), choices=Choices(few=quick))
    path.write_text(output.to_html(), encoding="utf-8")
    return path.as_uri()


def measure(
    browser: Browser, addresses: dict[str, str], case: Case, rounds: int, folder: Path, quick: bool
) -> dict[str, list[float]]:
    """The times of each kind in ms. The kinds take turns, and the first change of each is not counted."""
    pages = {kind: opened(browser, addresses[kind] + at, FIGURES[kind]) for kind, at in case.addresses.items()}
    if case.page == "explore":
        pages["file"] = opened(browser, exported(folder, case.query, quick), FIGURES["normviz"])
    times: dict[str, list[float]] = {kind: [] for kind in (*pages, "complete")}
    for turn in range(rounds + 1):
        for kind, page in pages.items():
            painted, complete = timed(page, slide if kind == "bare" else case.act, turn)
            if turn:
                times[kind].append(painted)
                times["complete"] += [complete] if kind == "normviz" else []
    for page in pages.values():
        page.close()
    return times


def compared(case: Case, times: dict[str, list[float]]) -> dict[str, Any]:
    """The times in ms, ours as a multiple of the others', and the file's as a multiple of the app's."""
    found = {kind: spread(values) for kind, values in times.items()}

    def times_of(one: str, other: str) -> dict[str, float]:
        return {p: ratio(found[one][p], found[other][p]) for p in ("p50", "p95") if one in found and other in found}

    return {
        "page": case.page,
        "shape": case.shape,
        **found,
        "of_the_afternoon": times_of("normviz", "afternoon"),
        "of_the_floor": times_of("normviz", "bare"),
        "file_of_the_app": times_of("file", "normviz"),
        "times": {kind: [round(took, 1) for took in values] for kind, values in times.items()},
    }


def row(found: dict[str, Any]) -> dict[str, Any]:
    def both(key: str, digits: int) -> str:
        return " / ".join(f"{found[key][p]:.{digits}f}" for p in ("p50", "p95")) if found.get(key) else ""

    return {
        "page": found["page"],
        "shape": str(found["shape"]),
        **{f"{kind}, ms": both(kind, 0) for kind in ("normviz", "complete", "afternoon", "bare", "file")},
        "of the afternoon's": both("of_the_afternoon", 2),
        "of the bare page's": both("of_the_floor", 1),
        "file, of the app's": both("file_of_the_app", 2),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="changes per control")
    parser.add_argument("--only", choices=sorted({case.page for case in CASES}), help="one page")
    parser.add_argument("--quick", action="store_true", help="a smoke test: one page with a tiny tensor, one change")
    given = parser.parse_args(arguments)
    cases = [case for case in CASES if given.only in (None, case.page)]
    cases, rounds = ([Case("explore", TINY, change_normalized_shape)], 1) if given.quick else (cases, given.rounds)
    load, found = os.getloadavg()[0], []
    with ExitStack() as stack:
        addresses = {kind: stack.enter_context(server(kind)).address for kind in FIGURES}
        browser = stack.enter_context(chromium())
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="normviz-bench-")))
        for case in cases:
            found.append(compared(case, measure(browser, addresses, case, rounds, folder, given.quick)))
            print(row(found[-1]), file=sys.stderr, flush=True)  # an interrupted run still shows these results
    print("Each pair of numbers is p50 / p95.\n")
    report("rerun", list(map(row, found)), load, found)


if __name__ == "__main__":
    main()
