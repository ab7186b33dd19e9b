// Start here: one step after the other, each with a figure to touch. The next one opens when the reader has done it, or on "Show me".

import { button, find, findAll, html } from "../../../figures/browser/common/dom.js";
import { Memory } from "../../../figures/browser/common/memory.js";
import { _ } from "../../../figures/browser/common/messages.js";
import { EXTRAS } from "../page.js";
import { MarksFigure } from "./marks.js";
import { DepthChart, NumberLine } from "./sliders.js";

/** @type {Record<string, new (parent: HTMLElement, data: any, judge: (isDone: boolean) => void, hint: string) => StartFigure>} */
const START_FIGURES = { depth: DepthChart, numbers: NumberLine, affine: NumberLine, marks: MarksFigure };

/** @typedef {{ at: number, done: string[] }} StartProgress ``at``: the number of the step that is shown, from 0; ``done``: the keys of steps */

/** How far a reader has come. */
const START_PROGRESS = new Memory("localStorage", "normviz.start");

/** @returns {StartProgress | null} null if the reader has never been there */
export function readStart() {
  const { at, done } = START_PROGRESS.read() ?? {};
  return Number.isInteger(at) && Array.isArray(done) ? { at, done: done.map(String) } : null;
}

class StartLesson {
  /** @type {Map<HTMLElement, StartFigure>} By step. */
  figures = new Map();
  /** @type {Set<string>} The keys of the steps that are done. */
  done = new Set();
  at = 0;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.steps = findAll(root, ":scope > .nv-start-step");
    this.path = html("nav", "nv-start-path", null);
    this.path.ariaLabel = _("Steps");
    root.prepend(this.path);
    this.places = this.steps.map((_step, i) => button("nv-start-place", this.path, String(i + 1), () => this.show(i, true)));
    this.again = button("nv-start-again", this.path, _("Start again"), () => this.restart());
    this.foot = html("div", "nv-start-foot", null);
    this.solve = button("nv-button", this.foot, _("Show me"), () => this.figures.get(this.steps[this.at])?.solve());
    this.next = button("nv-start-go", this.foot, _("Next"), () => this.show(this.at + 1, true));
    const links = root.querySelector(".nv-start-links");
    if (links) this.steps.at(-1)?.append(links);
    this.said = html("p", "nv-hidden", root); // read by screen readers only
    this.said.role = "status";
    this.resume();
  }

  resume() {
    const before = readStart(), asked = Number(this.root.dataset.first) || Number(new URLSearchParams(location.search).get("step")); // start.html?step=3
    this.done = new Set(before?.done);
    const first = asked >= 1 && asked <= this.steps.length ? asked - 1 : Math.min(before?.at ?? 0, this.open);
    this.show(Math.max(0, Math.min(first, this.steps.length - 1)));
  }

  /** The number of steps that can be shown: those done in a row, and the one after. */
  get open() {
    const undone = this.steps.findIndex((step) => !this.done.has(step.dataset.key ?? ""));
    return undone < 0 ? this.steps.length - 1 : undone;
  }

  /**
   * @param {number} number from 0
   * @param {boolean} [byReader] then the focus follows
   */
  show(number, byReader = false) {
    this.at = number;
    const shown = this.steps[number];
    for (const step of this.steps) step.hidden = step !== shown;
    if (!this.figures.has(shown)) this.addFigure(shown);
    find(shown, ".nv-start-done").after(this.foot);
    this.update();
    if (!byReader) return;
    const title = find(shown, "h2");
    title.focus({ preventScroll: true });
    if (this.root.getBoundingClientRect().top < 0) this.root.scrollIntoView();
  }

  /** @param {HTMLElement} step */
  addFigure(step) {
    const data = JSON.parse(step.dataset.figure ?? ""), hint = step.querySelector(".nv-start-hint")?.textContent ?? "";
    const judge = (/** @type {boolean} */ isDone) => isDone && this.finish(step);
    this.figures.set(step, new START_FIGURES[data.kind](find(step, ".nv-start-figure"), data, judge, hint));
  }

  /** @param {HTMLElement} step that the reader has done */
  finish(step) {
    this.done.add(step.dataset.key ?? "");
    this.said.textContent = find(step, ".nv-start-done").textContent;
    this.update();
  }

  update() {
    const shown = this.steps[this.at], isDone = this.done.has(shown.dataset.key ?? ""), isLast = this.at === this.steps.length - 1;
    for (const step of this.steps) find(step, ".nv-start-done").toggleAttribute("hidden", !this.done.has(step.dataset.key ?? ""));
    this.places.forEach((place, i) => {
      const name = this.steps[i].querySelector("h2")?.textContent ?? "", wasDone = this.done.has(this.steps[i].dataset.key ?? "");
      place.disabled = i > this.open && i !== this.at && !wasDone;
      place.title = name;
      place.ariaLabel = wasDone ? _("Step {n}, done: {name}", { n: i + 1, name }) : _("Step {n}: {name}", { n: i + 1, name });
      place.ariaCurrent = i === this.at ? "step" : null;
      place.classList.toggle("nv-start-was-done", wasDone);
    });
    this.solve.hidden = isDone;
    this.next.hidden = !isDone || isLast;
    this.again.hidden = !this.done.size;
    this.root.querySelector(".nv-start-links")?.toggleAttribute("hidden", !(isDone && isLast));
    START_PROGRESS.write({ at: this.at, done: [...this.done] });
  }

  restart() {
    this.done.clear();
    this.figures.clear();
    for (const step of this.steps) find(step, ".nv-start-figure").replaceChildren();
    this.show(0, true);
  }
}

EXTRAS.set(".nv-start", StartLesson);
