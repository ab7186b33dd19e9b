// One view: panels, the read-out line, the arithmetic, and the one element that all of them follow.

import { drawDistribution, type Distribution } from "../distribution/distribution.ts";
import { Gathering } from "../distribution/gathering.ts";
import { followOutlines } from "../motion/outlines.ts";
import { Panel } from "../panels/panel.ts";
import { html, scaleOf, uniqueNumber, visibleWidth, watchWidth } from "../common/dom.ts";
import { _ } from "../common/messages.ts";
import { purgeLater } from "../common/plotly.ts";
import { applyColors } from "../common/theme.ts";
import { offerPictures, updateSaveMenu } from "../picture/picture.ts";
import { speakElement, speakLit } from "../speaking/spoken.ts";
import { addTools } from "../speaking/tables.ts";
import { decodeData } from "../tensor/arrays.ts";
import { placeOf, sameIndex, tensorIndex } from "../tensor/sharing.ts";
import { movedGrid } from "../tensor/slices.ts";
import { writeArithmetic } from "../text/arithmetic.ts";
import { Formula, LoopLines } from "../text/formula.ts";
import { describeElement, plainText, writePhrases } from "../text/readout.ts";
import { Changes } from "./changes.ts";
import { editValue, updateEditButton } from "./edit.ts";
import { ReadoutTools } from "./readout_tools.ts";
import { SlicesBar } from "./slices.ts";
import { StatisticsTable } from "./statistics.ts";
import { Turns } from "./turns.ts";
import { ValueTabs } from "./value_tabs.ts";
import type { DrawnPanel, Light, PanelHost } from "../tensor/drawn_panel.ts";

const NARROW = 720, WIDE = 860; // px: widths of the view

export class FigureView implements PanelHost {
  data: DecodedData;
  given: DecodedData; // without what the reader has changed here
  tools?: ReadoutTools;
  distribution?: Distribution;
  received: ViewData; // as the server sent it
  /** The first drawn slice of each axis, if the reader moved them and no response has come. */
  start: number[] | null = null;
  mode: Mode = "light";
  colors: Theme;
  turns: Turns;
  panels = new Map<string, Panel>();
  pointed: Index | null = null; // the element under the pointer
  cursor: Index | null = null; // the element under the keyboard cursor
  at: Index | null = null; // the selected element
  lit: Light | null = null; // what a term lights
  under: DrawnPanel | null = null; // the panel that the pointer or the keyboard cursor is in
  send: (name: string, value: object) => void = () => {};
  upToDate = true; // the data includes the newest choice, so the server's selection is used
  beside = false;
  width = 0;
  height?: number;
  numbers?: HTMLDetailsElement; // the worked numbers and the values, in a fold
  opened = "";
  valueTabs?: ValueTabs;
  observer: ResizeObserver;
  later?: number;
  frame?: number;
  soon = 0; // the number of the frame that the formula and the loops wait for
  readoutId = `nv-readout-${uniqueNumber()}`;
  root = html("div", "nv-view");
  sharingRow = html("div", "nv-row nv-sharing", this.root);
  /** What stays in sight: the read-out and the formula. */
  band = html("div", "nv-band", this.root);
  line = html("div", "nv-readout", this.band);
  formula = new Formula();
  liveRegion = html("div", "nv-hidden", this.root, "", { role: "status" });
  lower = html("div", "nv-lower", this.root);
  loops = new LoopLines();
  counts = html("dl", "nv-counts", this.root);
  valuesRow = html("div", "nv-row nv-values", this.root);
  arithmetic = html("section", "nv-worked", this.root);
  table = new StatisticsTable(this.root);
  slices = new SlicesBar(this);
  changes = new Changes(this);
  gathering = new Gathering(this);

  constructor(parent: HTMLElement) {
    parent.append(this.root);
    this.line.id = this.readoutId;
    this.lower.append(this.loops.root);
    addTools(this);
    this.observer = watchWidth(this.root, () => this.resized());
    offerPictures(this);
  }

  // The element that veils and read-out follow.
  get active(): Index | null {
    return this.pointed ?? this.cursor ?? this.at ?? (this.lit && this.data.grid.shape.map(() => 0));
  }

  async set(data: ViewData, mode: Mode) {
    const first = !this.data, moveOutlines = followOutlines(this, data);
    this.turns ??= new Turns(data.turn);
    this.takeSelection(data, mode);
    this.received = data;
    if (data.turn === undefined || this.upToDate) this.changes.settle(data);
    this.changes.take(decodeData(data, this.gridOf(data)));
    this.mode = mode;
    for (const name of ["at", "pointed", "cursor"] as const) if (!this.inWindow(this[name])) this[name] = null;
    this.colors = applyColors(this.root, mode);
    this.arrange();
    this.slices.set();
    updateSaveMenu(this);
    this.hideParts(data.hidden ?? []);
    if (first) this.root.dataset.state = "loading";
    await this.draw();
    moveOutlines();
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
  }

  /** Takes the server's selection unless a newer choice waits for its response. Without a server, the reader's stays. */
  takeSelection(data: ViewData, mode: Mode) {
    const { data: before, turns } = this, restarted = data.start !== undefined && String(data.start) !== String(this.start);
    const wait = data.turn === undefined ? 0 : turns.wait(data.turn), sameAxes = before && String(before.grid.shape) === String(data.grid.shape);
    const moved = !sameAxes || (!(this.start && wait) && JSON.stringify(before.sent) !== JSON.stringify(data.grid));
    if (moved || (this.start && data.turn !== undefined && !wait)) this.start = null;
    if (data.start !== undefined) this.start = data.start;
    const at = data.at && placeOf({ grid: this.gridOf(data) }, data.at);
    clearTimeout(this.later);
    this.upToDate = moved || (data.turn === undefined ? restarted || !sameIndex(data.at, before.at) : !wait);
    if (this.upToDate) {
      this.at = at;
      turns.settle();
    } else if (wait) this.later = setTimeout(() => this.set(data, mode), wait);
  }

  /** The slices that are drawn. */
  gridOf(data: ViewData) {
    return this.start ? movedGrid(data.grid, this.start) : data.grid;
  }

  inWindow(index: Index | null) {
    const { indices } = this.data.grid;
    return !!index && index.length === indices.length && index.every((at, axis) => at in indices[axis]);
  }

  // Makes the panels that the data has, and removes all others.
  arrange() {
    const wanted = new Set(this.data.panels.map((figure) => figure.key));
    for (const [key, panel] of this.panels)
      if (!wanted.has(key)) {
        panel.root.remove();
        this.panels.delete(key);
      }
    for (const figure of this.data.panels) {
      const values = figure.scale === "values";
      const panel = this.panels.get(figure.key) ?? new Panel(values ? this.valuesRow : this.sharingRow, this, figure.key);
      this.panels.set(figure.key, panel);
      panel.set(figure, this.data);
      panel.hint.textContent = values || !figure.links ? "" : _("Point at any element");
    }
    this.valuesRow.hidden = !this.data.values;
    this.fold();
    updateEditButton(this);
    writeCounts(this.counts, this.data.facts ?? []);
  }

  /** The worked numbers and the values are closed until a reader, or the link, opens them. */
  fold() {
    if (this.data.kind !== "view") return;
    const open = this.data.open ?? [];
    this.numbers ??= this.addFold();
    this.valueTabs ??= new ValueTabs(this);
    if (this.opened !== open.join()) this.numbers.open = open.some((name) => name !== "code"); // another link, in a page that stays
    this.opened = open.join();
  }

  addFold() {
    const fold = html("details", "nv-fold-part"), tools = (this.tools = new ReadoutTools(this));
    this.root.insertBefore(fold, this.counts);
    html("summary", "", fold, _("The numbers, worked out, and all values"));
    fold.append(tools.place, this.counts, this.arithmetic, this.table.root, this.valuesRow);
    fold.addEventListener("toggle", () => fold.open && this.data && this.draw());
    return fold;
  }

  /** Hides what a link leaves out. A row is as wide as its visible panels. */
  hideParts(names: string[]) {
    this.root.dataset.hidden = names.join(" ");
    const within = ["worked", "facts", ...(this.data.values ? ["x", "normalized", "output"] : [])];
    if (this.numbers) this.numbers.hidden = within.every((part) => names.includes(part));
    if (this.data.kind === "steps") return; // they always show two panels
    for (const panel of this.panels.values()) panel.root.hidden = names.includes(panel.figure.row ?? panel.key);
    for (const row of [this.sharingRow, this.valuesRow]) {
      const visible = [...row.children].filter((panel) => !((panel as HTMLElement).hidden)).length;
      row.style.setProperty("--nv-shown", String(Math.max(1, visible)));
      row.classList.toggle("nv-empty", !visible);
    }
  }

  get narrow() {
    return this.width * scaleOf(this.root) < NARROW;
  }

  // A figure in a closed answer is drawn when the answer is opened.
  async draw() {
    this.width = visibleWidth(this.root);
    if (!this.width) {
      this.root.dataset.state = "hidden";
      return;
    }
    this.beside = this.narrow && window.innerWidth >= 900; // the view is in a column beside text
    this.root.classList.toggle("nv-narrow", this.narrow);
    this.root.classList.toggle("nv-wide", this.width * scaleOf(this.root) >= WIDE);
    this.root.classList.toggle("nv-beside", this.beside);
    this.placeFormula();
    this.valueTabs?.update();
    const panels = [...this.panels.values()], widths = panels.map((panel) => panel.body.clientWidth); // all are read before any is written
    panels.forEach((panel, i) => panel.draw(widths[i], this.height ?? this.heightOf(panel), this.colors));
    this.refresh();
    this.root.dataset.width = String(this.width); // the width at which the view is drawn
    this.root.dataset.state = "ready";
  }

  /**
   * On a narrow page, the band stands between the two panels of a row, else in the panel that the reader points at. There it stays in sight,
   * and covers no other panel; nothing moves under the finger.
   */
  placeBand() {
    const { band, root, sharingRow } = this, isPhone = this.narrow && !this.beside;
    const panel = isPhone && root.contains(this.under?.root ?? null) ? this.under?.root : undefined;
    const first = isPhone && [...sharingRow.children].find((child) => child !== band && !(child as HTMLElement).hidden);
    // Only where it is not there yet: moving it takes the focus from a term in it.
    const placeAfter = (place: Element) => place.nextElementSibling === band || place.after(band);
    if (panel && panel.parentElement !== sharingRow) band.parentElement === panel || panel.append(band);
    else if (first && (panel || band.parentElement === root || !root.contains(band))) placeAfter(first);
    else if (!isPhone || !root.contains(band)) placeAfter(sharingRow.hidden ? this.valuesRow : sharingRow);
    if (panel) band.dataset.stays = panel.compareDocumentPosition(band) & Node.DOCUMENT_POSITION_FOLLOWING ? "below" : "above";
    else if (!isPhone) delete band.dataset.stays;
  }

  /** Puts the formula where the reader sees it with the cells. */
  placeFormula() {
    const { root } = this.formula;
    this.placeBand();
    if (this.data.formula && !root.parentElement) this.band.append(root);
    this.loops.root.hidden = !this.data.loops;
  }

  heightOf(panel: Panel): number {
    if (panel.figure.scale === "values") return this.narrow ? 300 : 270;
    if (this.data.kind === "view" && !this.narrow) return 230; // the strips of dots are on the first screen, too
    return this.beside ? 228 : this.narrow ? 330 : 340;
  }

  resized() {
    if (!this.data || visibleWidth(this.root) === this.width || this.root.dataset.state === "loading") return;
    cancelAnimationFrame(this.frame ?? 0);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  valueAt(key: string, index: Index) {
    return (this.panels.get(key) as Panel).valueAt(index);
  }

  hover(index: Index | null, panel: DrawnPanel | null = null) {
    if (sameIndex(index, this.pointed) && (!index || panel === this.under)) return;
    this.root.classList.add("nv-used");
    this.pointed = index;
    this.under = panel;
    if (index) this.light(null);
    this.follow(true);
  }

  /** Lights what a term is about, until the pointer or the focus leaves it. */
  light(lit: Light | null) {
    if (!lit && !this.lit) return;
    this.lit = lit;
    if (lit) this.root.dataset.lit = lit.word;
    else delete this.root.dataset.lit;
    this.follow();
  }

  /** Tells a screen reader what is lit. */
  sayLit() {
    if (this.lit) this.announce(speakLit(this, this.lit));
  }

  blur() {
    if (!this.cursor) return;
    this.cursor = null;
    this.follow();
  }

  // Shows the active element in all panels and in the read-out line.
  // The cells under a pointer answer at once, the formula and the loops in the next frame.
  follow(isHover = false) {
    const { active } = this;
    for (const panel of this.panels.values()) panel.show(active, this.at);
    if (this.narrow) this.placeFormula();
    writePhrases(this.line, this.readout(active));
    if (!isHover) this.followInText();
    else this.soon ||= requestAnimationFrame(() => this.followInText());
  }

  followInText() {
    const { active, data } = this;
    this.soon = 0;
    if (!data.formula) return;
    this.formula.write(this, active, this.shownStep);
    this.loops.write(data, active);
    const page = this.root.closest<HTMLElement>(".nv-page") ?? this.root, isPointed = this.pointed ?? this.cursor;
    page.dataset.terms = this.lit ? this.lit.word : isPointed && this.under ? termsOf(this.under) : "";
  }

  /** The step whose part of the formula is marked. */
  get shownStep(): string | undefined {
    return undefined;
  }

  select(index: Index | null, panel?: Panel) {
    const known = !this.turns.waiting && sameIndex(index && tensorIndex(this.data, index), this.data.at);
    this.at = index;
    this.pointed = null;
    this.gathering.end();
    this.refresh();
    if (panel && this.data.kind === "view") this.gathering.start(panel);
    this.announce(panel ? speakElement(panel, index) : plainText(this.readout(index)));
    if (!known) this.send("select", { at: index && tensorIndex(this.data, index), turn: this.turns.next() });
  }

  edit(index: Index, start?: string) {
    if (this.numbers) this.numbers.open = true;
    if (this.valueTabs && this.valueTabs.shown !== "x") this.valueTabs.choose("x");
    editValue(this, index, start);
  }

  toggle(row: string, axis: string, by?: number) {
    this.send("toggle", { row, axis, ...(by && { by }), turn: this.turns.next() });
  }

  refresh() {
    this.follow();
    this.tools?.update();
    this.writeArithmetic();
    this.table.set(this.data);
    drawDistribution(this, this.lower, this.shownStep);
  }

  readout(index: Index | null): Phrase[] {
    return describeElement(this, index);
  }

  writeArithmetic() {
    writeArithmetic(this.arithmetic, this, this.at);
  }

  announce(message: string) {
    this.liveRegion.textContent = message;
  }

  showError(message: string) {
    this.line.textContent = message;
  }

  destroy() {
    clearTimeout(this.later);
    this.gathering.end();
    this.observer.disconnect();
    this.root.remove();
    for (const panel of this.panels.values()) purgeLater(panel.plot);
  }
}

/** The terms of the formula that a cell of a panel stands for. */
function termsOf({ figure: { key, links } }: DrawnPanel) {
  return TERMS[key] ?? TERMS[links] ?? "";
}

const TERMS: Record<string, string> = {
  x: "x", mean: "mean", var: "var", output: "output", centered: "x mean", squared: "x mean",
  normalized: "x mean var eps", stats: "mean var", params: "gamma beta",
};

function writeCounts(list: HTMLElement, counts: Count[]) {
  list.replaceChildren();
  for (const { label, value, note } of counts) {
    const count = html("div", "nv-count", list);
    html("dt", "", count, label);
    const number = html("dd", "", count, value);
    if (note) html("span", "nv-note", number, note);
  }
}
