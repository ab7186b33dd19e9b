// What test_views.py does with views: parts of the page and the clock are put in their places.

import { mountFigure, VIEWS } from "../../normviz/figures/browser/mount.ts";
import { ChartView } from "../../normviz/figures/browser/views/chart.ts";
import { StepsView } from "../../normviz/figures/browser/views/steps.ts";
import { Turns } from "../../normviz/figures/browser/views/turns.ts";
import { FigureView } from "../../normviz/figures/browser/views/view.ts";

const page = globalThis as any;
const grid = { indices: [[0, 1, 2]] };
const like = (view: { prototype: object }, values: object): any => Object.assign(Object.create(view.prototype), values);

/** The step that is shown after the events: "on", "back", data as [step, turn], or a time in ms that passes. */
export function follow(events: ("on" | "back" | number | [number, number])[]) {
  let now = 1e12, later: { act: () => void; at: number } | null = null;
  const { setTimeout: begin, clearTimeout: end } = page;
  page.setTimeout = (act: () => void, wait: number) => (later = { act, at: now + wait });
  page.clearTimeout = () => (later = null);
  const view = like(StepsView, {
    send() {}, draw() {}, place() {}, at: null, timer: null,
    set(data: { turn: number; grid: object }) {
      view.turns ??= new Turns(data.turn, () => now);
      view.takeSelection(data, "light");
      view.data = { ...data, sent: data.grid };
      view.takeStep();
    },
  });
  for (const event of events) {
    if (event === "on" || event === "back") view.go(view.step + (event === "on" ? 1 : -1));
    else if (typeof event === "number") {
      now += event;
      const due = later as { act: () => void; at: number } | null;
      if (due && due.at <= now) due.act();
    } else view.set({ step: event[0], turn: event[1], panels: Array(7), grid, at: [event[0] % 3] });
  }
  Object.assign(page, { setTimeout: begin, clearTimeout: end });
  return view.step;
}

export function countedTogether() {
  const turns = new Turns(0, () => 1e12), sent = turns.next(), waits = [turns.wait(sent - 1), turns.wait(sent)];
  turns.follow(7); // another copy of the page has sent six more
  return [...waits.map(Boolean), turns.next(), Boolean(turns.wait(7)), turns.wait(8)];
}

/** What is selected after each state without a server: the element of the data, and the one that the reader clicks then. */
export function selectedAlone(states: [number[], number[] | null][]) {
  const view = like(FigureView, { at: null, turns: new Turns() });
  return states.map(([at, clicked]) => {
    view.takeSelection({ grid, at }, "light");
    view.data = { grid, at, sent: grid };
    if (clicked) view.at = clicked;
    return view.at;
  });
}

export async function chartLabel(alt: string) {
  const written: Record<string, string> = {}, plot = { setAttribute: (name: string, value: string) => (written[name] = value) };
  Object.assign(page, { window: { Plotly: { react() {}, newPlot() {} } }, getComputedStyle: () => ({}) });
  const data = { figure: { data: [], layout: {}, alt } }, root = { clientWidth: 500, dataset: {}, closest: () => null };
  await ChartView.prototype.draw.call({ root, plot, data, colors: THEMES.light } as any);
  return written["aria-label"];
}

/** The errors in the console of two views that fail after a while: the first one stays, and the second one is removed meanwhile. */
export async function errorsOfRemoved() {
  const errors: string[] = [], { error } = console, soon = () => new Promise((done) => setTimeout(done));
  console.error = (problem: Error) => errors.push(problem.message);
  page.window = { Plotly: {} };
  VIEWS.view = class {
    showError() {}
    async set() {
      await soon();
      throw new Error("purged");
    }
    destroy() {}
  } as any;
  for (const stays of [true, false]) {
    const { drawn, remove } = mountFigure({ parentElement: { querySelector: () => ({}) } as any, data: { kind: "view", theme: "light" } });
    await Promise.resolve();
    if (!stays) remove();
    await drawn.catch(() => {});
  }
  console.error = error;
  VIEWS.view = FigureView;
  return errors;
}
