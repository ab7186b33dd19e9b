"""The time from a change of a control to the painted figure, in a real browser,
for every page except In real models, Start here and Practice.

    python -m bench.rerun                 the table, and one line of JSON
    python -m bench.rerun --rounds 30     change each control 30 times (default 15)
    python -m bench.rerun --only explore  one page

Three servers and a file are measured in turns, in the same browser:

normviz     the page as it is deployed
file        Explore as ``normviz export`` writes it: a change of its control bar, which the file answers itself
afternoon   the same panels as Plotly subplots through ``st.plotly_chart``, with Streamlit's default settings
bare        one slider and one line of text, with our settings: the minimum that Streamlit needs

The time starts with the browser's event (a click, or Enter) and ends with the frame that shows the figure with all its new values. normviz
paints the cells itself and replaces them with Plotly's equal heatmaps afterwards: ``complete`` ends with the last of them.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl

from playwright.sync_api import Browser, Page

from bench.common import TAB, chromium, ratio, report, server, spread
from bench.students import QUESTIONS
from normviz.api import output_of_query
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
RADIO = ":is([data-testid=stRadio], .nv-prediction) input[type=radio]"
UNANSWERED = """radio => document.querySelector(radio) && ![...document.querySelectorAll(radio)].some(one => one.checked)
  && (document.querySelector("[data-testid=stApp]")?.dataset.testScriptState ?? "notRunning") === "notRunning" """
GO = "query => { history.pushState({}, '', location.pathname + query); dispatchEvent(new PopStateEvent('popstate')); }"
TIMEOUT = 120_000  # ms
QUIET = 400  # ms without a change before a change counts as the last


@dataclass(frozen=True)
class Case:
    """One page at one size: its address on both servers, and the control to change."""

    page: str
    shape: tuple[int, ...] | None
    ours: str
    theirs: str
    act: Act
    before: Act | None = None
    file: str = ""  # the query of the view that the file opens with, "" without a file


def segment(key: str, *options: str) -> Act:
    def act(page: Page, turn: int) -> None:
        page.locator(f".st-key-{key}, [data-key={key}]").get_by_text(options[turn % len(options)], exact=True).click(
            force=True
        )

    return act


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


def momentum(page: Page, turn: int) -> None:
    """The next or the previous momentum; the afternoon page has a field."""
    slider = page.locator(".st-key-set_momentum [role=slider]")
    if slider.count():
        slider.press("ArrowRight" if turn % 2 else "ArrowLeft")
    else:
        written("set_momentum", "0.2", "0.1")(page, turn)


def predict(page: Page, turn: int) -> None:
    """Predict; in ours, open the answer."""
    page.locator(".nv-answer summary, [data-testid=stRadio] [role=radiogroup] label").first.click()


def ask(page: Page, turn: int) -> None:
    """Open a question that has no prediction yet; the afternoon page is reloaded for it. In ours, choose a prediction."""
    query = f"?q={QUESTIONS[turn % len(QUESTIONS)]}"
    if "page=" in page.url:
        page.goto(page.url.split("?")[0] + f"{query}&page=questions")
        page.locator(RADIO).first.wait_for()
        page.evaluate(WATCH, FIGURES["afternoon"])
    else:
        page.evaluate(GO, query)
    page.wait_for_function(UNANSWERED, arg=RADIO)
    for option in page.locator(".nv-prediction label.nv-option").all()[:1]:
        option.click()


def _on(page: str, path: str, shape: tuple[int, ...], act: Act) -> Case:
    sizes = ",".join(map(str, shape))
    layer = f"LayerNorm([{','.join(map(str, shape[1:]))}])"
    query = f"shape={sizes}&layer={layer}"
    file = query if page == "explore" else ""
    return Case(page, shape, f"/{path}?{query}", f"/?page={page}&size={sizes}", act, file=file)


DEPTH = segment("depth", "H, W", "C, H, W")
CASES = (
    _on("explore", "", SMALL, DEPTH),
    _on("explore", "", (4, 4, 16, 16), DEPTH),
    _on("explore", "", LARGE, DEPTH),
    _on("compare", "compare", SMALL, written("size_n", "3", "2")),
    _on("compare", "compare", LARGE, written("size_n", "3", "4")),
    _on("step_by_step", "step_by_step", SMALL, DEPTH),
    _on("step_by_step", "step_by_step", LARGE, DEPTH),
    _on("gradients", "gradients", SMALL, DEPTH),
    _on("gradients", "gradients", (4, 4, 16, 16), DEPTH),
    Case("train_and_eval", None, "/train_and_eval", "/?page=train_and_eval", momentum),
    Case("numerics", None, "/numerics", "/?page=numerics", segment("dtype", "float64", "float32")),
    Case("questions", None, f"/questions?q={QUESTIONS[0]}", f"/?page=questions&q={QUESTIONS[0]}", predict, ask),
)


def timed(page: Page, case_act: Act, turn: int, before: Act | None) -> tuple[float, float]:
    """The time of one change until the figure is painted and until it is complete, in ms."""
    page.bring_to_front()
    if before:
        before(page, turn)
    page.evaluate(ARM)
    case_act(page, turn)
    found = page.wait_for_function(DONE, arg=QUIET).json_value()
    page.evaluate("bench.armed = false")
    painted, complete = found
    return float(painted), float(complete)


def opened(browser: Browser, address: str, figure: str, answered: bool = True) -> Page:
    page = browser.new_page(**TAB)
    page.set_default_timeout(TIMEOUT)
    page.goto(address)
    if answered:
        page.wait_for_function(READY, arg=figure)
    else:
        page.wait_for_function(UNANSWERED, arg=RADIO)
    page.evaluate(WATCH, figure)
    return page


def exported(folder: Path, query: str, quick: bool) -> str:
    """The address of a file that opens with the view of Explore and answers its controls; with ``quick``, not all of them."""
    path = folder / "explore.html"
    output = replace(output_of_query("explore", dict(parse_qsl(query))), choices=Choices(few=quick))
    path.write_text(output.to_html(), encoding="utf-8")
    return path.as_uri()


def measure(
    browser: Browser, addresses: dict[str, str], case: Case, rounds: int, folder: Path, quick: bool
) -> dict[str, list[float]]:
    """The times of each kind in ms. The kinds take turns, and the first change of each is not counted."""
    places = {"normviz": case.ours, "afternoon": case.theirs, "bare": "/"}
    shown = case.before is None
    pages = {
        kind: opened(browser, addresses[kind] + place, FIGURES[kind], shown or kind == "bare")
        for kind, place in places.items()
    }
    if case.file:
        pages["file"] = opened(browser, exported(folder, case.file, quick), FIGURES["normviz"])
    times: dict[str, list[float]] = {kind: [] for kind in (*pages, "complete")}
    for turn in range(rounds + 1):
        for kind, page in pages.items():
            act, before = (slide, None) if kind == "bare" else (case.act, case.before)
            painted, complete = timed(page, act, turn, before)
            if turn:
                times[kind].append(painted)
                times["complete"] += [complete] if kind == "normviz" else []
    for page in pages.values():
        page.close()
    return times


def compared(case: Case, times: dict[str, list[float]]) -> dict[str, Any]:
    """The times in ms, and ours as a multiple of the others."""
    found = {kind: spread(values) for kind, values in times.items()}
    ours, theirs, floor = (found[kind] for kind in FIGURES)
    file = {"file_of_the_app": {p: ratio(found["file"][p], ours[p]) for p in ("p50", "p95")}} if "file" in found else {}
    return {
        "page": case.page,
        "shape": case.shape,
        **found,
        "of_the_afternoon": {p: ratio(ours[p], theirs[p]) for p in ("p50", "p95")},
        "of_the_floor": {p: ratio(ours[p], floor[p]) for p in ("p50", "p95")},
        **file,
        "times": {kind: [round(took, 1) for took in values] for kind, values in times.items()},
    }


def row(found: dict[str, Any]) -> dict[str, Any]:
    kinds = ("normviz", "complete", "afternoon", "bare")
    both = {f"{kind}, ms": f"{found[kind]['p50']:.0f} / {found[kind]['p95']:.0f}" for kind in kinds}
    return {
        "page": found["page"],
        "shape": str(found["shape"] or ""),
        **both,
        "of the afternoon's": "{p50:.2f} / {p95:.2f}".format(**found["of_the_afternoon"]),
        "of the bare page's": "{p50:.1f} / {p95:.1f}".format(**found["of_the_floor"]),
        "file, of the app's": "{p50:.2f} / {p95:.2f}".format(**found["file_of_the_app"]) if "file" in found else "",
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15, help="changes per control")
    parser.add_argument("--only", choices=sorted({case.page for case in CASES}), help="one page")
    parser.add_argument("--quick", action="store_true", help="a smoke test: one page with a tiny tensor, one change")
    given = parser.parse_args(arguments)
    cases = [case for case in CASES if given.only in (None, case.page)]
    cases, rounds = ([_on("explore", "", TINY, DEPTH)], 1) if given.quick else (cases, given.rounds)
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
