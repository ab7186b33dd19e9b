// Start here: one step after the other, each with a figure to touch. The next one opens when the reader has done it, or on "Show me".

import { button, find, findAll, html } from "../../figures/browser/common/dom.ts";
import { Memory } from "../../figures/browser/common/memory.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { EXTRAS, type PageView } from "../../parts/browser/page.ts";
import { GammasFigure } from "./gammas.ts";
import { MarksFigure } from "./marks.ts";
import { PixelsFigure } from "./pixels.ts";
import { DepthChart, NumberLine } from "./sliders.ts";
import { StreamFigure } from "./stream.ts";

type FigureClass = new (parent: HTMLElement, data: any, judge: (isDone: boolean) => void, hint: string) => StartFigure;
const START_FIGURES: Record<string, FigureClass> = {
  depth: DepthChart, numbers: NumberLine, affine: NumberLine, marks: MarksFigure, gammas: GammasFigure,
  stream: StreamFigure, pixels: PixelsFigure,
};

/**
 * ``at``: the number of the step that is shown, from 0; ``done``: the keys of the steps that the reader has done; ``shown``: of those that
 * "Show me" has done.
 */
type StartProgress = { at: number; done: string[]; shown: string[] };

/** How far a reader has come. */
const START_PROGRESS = new Memory("localStorage", "normviz.start");

/** @returns null if the reader has never been there */
export function readStart(): StartProgress | null {
  const { at, done, shown } = START_PROGRESS.read() ?? {};
  return Number.isInteger(at) && Array.isArray(done) ? { at, done: done.map(String), shown: Array.isArray(shown) ? shown.map(String) : [] } : null;
}

class StartLesson {
  figures = new Map<HTMLElement, StartFigure>(); // by step
  done = new Set<string>(); // the keys of the steps that the reader has done
  shown = new Set<string>(); // the keys of the steps that were shown instead
  isShowing = false;
  at = 0;
  root: HTMLElement;
  page: PageView;
  steps: HTMLElement[];
  path = html("nav", "nv-start-path", null, "", { ariaLabel: _("Steps") });
  places: HTMLButtonElement[];
  again: HTMLButtonElement;
  foot = html("div", "nv-start-foot");
  solve = button("nv-button", this.foot, _("Show me"), () => this.showHow());
  next = button("nv-start-go", this.foot, _("Next"), () => this.show(this.at + 1, true));
  ending: HTMLElement[];
  said: HTMLParagraphElement;

  constructor(root: HTMLElement, page: PageView) {
    this.root = root;
    this.page = page;
    this.steps = findAll(root, ":scope > .nv-start-step");
    root.prepend(this.path);
    this.places = this.steps.map((_step, i) => button("nv-start-place", this.path, String(i + 1), () => this.show(i, true)));
    this.again = button("nv-start-again", this.path, _("Start again"), () => this.restart());
    this.ending = findAll(root, ":scope > :is(.nv-start-after, .nv-start-learnt)");
    this.steps.at(-1)?.append(...this.ending);
    this.foot.append(...findAll(root, ".nv-start-after"));
    this.said = html("p", "nv-hidden", root); // read by screen readers only
    this.said.role = "status";
    this.resume();
    window.addEventListener("popstate", ({ isTrusted }) => isTrusted && this.root.isConnected && this.goBack());
  }

  resume() {
    const before = readStart(), asked = Number(this.root.dataset.first) || stepOfAddress();
    this.done = new Set(before?.done);
    this.shown = new Set(before?.shown);
    const first = asked >= 1 && asked <= this.steps.length ? asked - 1 : Math.min(before?.at ?? 0, this.open);
    this.show(Math.max(0, Math.min(first, this.steps.length - 1)));
  }

  /** After Back and Forward: the step of that entry in the history. */
  goBack() {
    const step = history.state?.step ?? stepOfAddress();
    if (step >= 1 && step <= this.steps.length) this.show(step - 1);
  }

  /** @returns how it has ended */
  endOf(step: HTMLElement): "done" | "shown" | "" {
    const key = step.dataset.key ?? "";
    return this.done.has(key) ? "done" : this.shown.has(key) ? "shown" : "";
  }

  /** The number of the last step that can be opened: the one after those that have ended in a row. */
  get open() {
    const undone = this.steps.findIndex((step) => !this.endOf(step));
    return undone < 0 ? this.steps.length - 1 : undone;
  }

  /** ``number`` from 0; ``byReader``: then the focus follows */
  show(number: number, byReader = false) {
    if (byReader && number !== this.at) this.page.host.keepStep?.(this.at + 1, number + 1);
    this.at = number;
    this.said.textContent = "";
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

  addFigure(step: HTMLElement) {
    const data = JSON.parse(step.dataset.figure ?? ""), hint = step.querySelector(".nv-start-hint")?.textContent ?? "";
    const judge = (isDone: boolean) => (isDone ? this.finish(step) : this.update());
    this.figures.set(step, new START_FIGURES[data.kind](find(step, ".nv-start-figure"), data, judge, hint));
  }

  showHow() {
    this.isShowing = true;
    this.figures.get(this.steps[this.at])?.solve();
    this.isShowing = false;
  }

  finish(step: HTMLElement) {
    (this.isShowing ? this.shown : this.done).add(step.dataset.key ?? "");
    this.said.textContent = find(step, ".nv-start-done").textContent;
    this.update();
  }

  update() {
    const shown = this.steps[this.at], hasEnded = Boolean(this.endOf(shown)), isLast = this.at === this.steps.length - 1, figure = this.figures.get(shown);
    this.places.forEach((place, i) => {
      const step = this.steps[i], end = this.endOf(step), name = step.querySelector("h2")?.textContent ?? "", named = { n: i + 1, name };
      const done = find(step, ".nv-start-done");
      done.hidden = !end;
      done.classList.toggle("nv-start-was-shown", end === "shown");
      place.disabled = i > this.open && i !== this.at && !end;
      place.title = name;
      place.ariaLabel = end === "done" ? _("Step {n}, done: {name}", named) : end ? _("Step {n}, shown: {name}", named) : _("Step {n}: {name}", named);
      place.ariaCurrent = i === this.at ? "step" : null;
      place.classList.toggle("nv-start-was-done", end === "done");
    });
    this.solve.hidden = hasEnded && !figure?.hasMore;
    this.next.hidden = !hasEnded || isLast;
    this.again.hidden = !this.done.size && !this.shown.size;
    for (const part of this.ending) part.hidden = !(hasEnded && isLast);
    if (isLast) {
      const rows = findAll(this.root, ".nv-start-seen");
      rows.forEach((row, i) => row.classList.toggle("nv-start-unseen", !figure?.ends?.has(i)));
    }
    START_PROGRESS.write({ at: this.at, done: [...this.done], shown: [...this.shown] });
  }

  restart() {
    this.done.clear();
    this.shown.clear();
    this.figures.clear();
    for (const step of this.steps) find(step, ".nv-start-figure").replaceChildren();
    this.show(0, true);
  }
}

/** start.html?step=3 */
const stepOfAddress = () => Number(new URLSearchParams(location.search).get("step"));

EXTRAS.set(".nv-start", StartLesson);
