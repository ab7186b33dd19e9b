// One view: panels, the read-out line, the arithmetic, and the one element that all of them follow.

/** @import { PanelHost } from "../tensor/drawn_panel.d.ts" */

import { drawDistribution } from "../distribution/distribution.js";
import { Gathering } from "../distribution/gathering.js";
import { followOutlines } from "../motion/outlines.js";
import { Panel } from "../panels/panel.js";
import { html, uniqueNumber, visibleWidth, watchWidth } from "../common/dom.js";
import { _ } from "../common/messages.js";
import { purgeLater } from "../common/plotly.js";
import { applyColors } from "../common/theme.js";
import { offerPictures, updateSaveMenu } from "../picture/picture.js";
import { speakElement } from "../speaking/spoken.js";
import { addTools } from "../speaking/tables.js";
import { decodeData } from "../tensor/arrays.js";
import { placeOf, sameIndex, tensorIndex } from "../tensor/sharing.js";
import { movedGrid } from "../tensor/slices.js";
import { writeArithmetic } from "../text/arithmetic.js";
import { describeElement, plainText, writePhrases } from "../text/readout.js";
import { Changes } from "./changes.js";
import { editValue, updateEditButton } from "./edit.js";
import { ReadoutTools } from "./readout_tools.js";
import { SlicesBar } from "./slices.js";
import { StatisticsTable } from "./statistics.js";
import { Turns } from "./turns.js";
import { ValueTabs } from "./value_tabs.js";

const NARROW = 720, WIDE = 860; // px: widths of the view

/** @implements {PanelHost} */
export class FigureView {
  /** @type {DecodedData} */
  data;
  /** @type {DecodedData} Without what the reader has changed here. */
  given;
  /** @type {ReadoutTools | undefined} */
  tools;
  /** @type {import("../distribution/distribution.js").Distribution | undefined} */
  distribution;
  /** @type {ViewData} As the server sent it. */
  received;
  /** @type {number[] | null} The first drawn slice of each axis, if the reader moved them and no response has come. */
  start = null;
  /** @type {Mode} */
  mode = "light";
  /** @type {Colors} */
  colors;
  /** @type {Turns} */
  turns;
  /** @type {Map<string, Panel>} */
  panels = new Map();
  /** @type {Index | null} The element under the pointer. */
  pointed = null;
  /** @type {Index | null} The element under the keyboard cursor. */
  cursor = null;
  /** @type {Index | null} The selected element. */
  at = null;
  /** @type {(name: string, value: object) => void} */
  send = () => {};
  /** The data includes the newest choice, so the server's selection is used. */
  upToDate = true;
  beside = false;
  width = 0;
  /** @type {number | undefined} */
  height;
  /** @type {Record<"values" | "worked", HTMLDetailsElement> | undefined} */
  folds;
  opened = "";
  /** @type {ValueTabs | undefined} */
  valueTabs;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.readoutId = `nv-readout-${uniqueNumber()}`;
    this.root = html("div", "nv-view", parent);
    this.sharingRow = html("div", "nv-row nv-sharing", this.root);
    this.line = html("div", "nv-readout", this.root);
    this.line.id = this.readoutId;
    this.liveRegion = html("div", "nv-hidden", this.root);
    this.liveRegion.setAttribute("role", "status");
    this.counts = html("dl", "nv-counts", this.root);
    this.valuesRow = html("div", "nv-row nv-values", this.root);
    this.arithmetic = html("section", "nv-worked", this.root);
    this.table = new StatisticsTable(this.root);
    this.slices = new SlicesBar(this);
    this.changes = new Changes(this);
    this.gathering = new Gathering(this);
    addTools(this);
    this.observer = watchWidth(this.root, () => this.resized());
    offerPictures(this);
  }

  // The element that veils and read-out follow.
  get active() {
    return this.pointed ?? this.cursor ?? this.at;
  }

  /**
   * @param {ViewData} data
   * @param {Mode} mode
   */
  async set(data, mode) {
    const first = !this.data, moveOutlines = followOutlines(this, data);
    this.turns ??= new Turns(data.turn);
    this.takeSelection(data, mode);
    this.received = data;
    if (data.turn === undefined || this.upToDate) this.changes.settle(data);
    this.changes.take(decodeData(data, this.gridOf(data)));
    this.mode = mode;
    for (const name of /** @type {const} */ (["at", "pointed", "cursor"])) if (!this.inWindow(this[name])) this[name] = null;
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

  /**
   * Takes the server's selection unless a newer choice waits for its response. Without a server, the reader's stays.
   * @param {ViewData} data
   * @param {Mode} mode
   */
  takeSelection(data, mode) {
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

  /**
   * The slices that are drawn.
   * @param {ViewData} data
   */
  gridOf(data) {
    return this.start ? movedGrid(data.grid, this.start) : data.grid;
  }

  /** @param {Index | null} index */
  inWindow(index) {
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
    if (this.data.kind === "view") this.tools ??= new ReadoutTools(this);
    writeCounts(this.counts, this.data.facts ?? []);
  }

  /** The values and the worked numbers are closed until a reader, or the link, opens them. */
  fold() {
    if (this.data.kind !== "view") return;
    const open = this.data.open ?? [];
    this.folds ??= {
      values: this.addFold(_("The values: x, normalized, output"), [this.valuesRow]),
      worked: this.addFold(_("The numbers, worked out"), [this.counts, this.arithmetic, this.table.root]),
    };
    this.valueTabs ??= new ValueTabs(this);
    if (this.opened !== open.join()) // another link, in a page that stays
      for (const [name, fold] of Object.entries(this.folds)) fold.open = open.includes(name);
    this.opened = open.join();
    this.folds.values.hidden = !this.data.values;
  }

  /**
   * @param {string} title
   * @param {HTMLElement[]} content
   */
  addFold(title, content) {
    const fold = html("details", "nv-fold-part", this.root), first = this.root.insertBefore(fold, content[0]);
    html("summary", "", first, title);
    first.append(...content);
    fold.addEventListener("toggle", () => fold.open && this.data && this.draw());
    return fold;
  }

  /**
   * Hides what a link leaves out. A row is as wide as its visible panels.
   * @param {string[]} names of parts and panels
   */
  hideParts(names) {
    this.root.dataset.hidden = names.join(" ");
    if (this.folds) {
      const hidden = (/** @type {string[]} */ ...parts) => parts.every((part) => names.includes(part));
      this.folds.values.hidden = !this.data.values || hidden("x", "normalized", "output");
      this.folds.worked.hidden = hidden("worked", "facts");
    }
    if (this.data.formula) return; // the steps always show two panels
    for (const panel of this.panels.values()) panel.root.hidden = names.includes(panel.figure.row ?? panel.key);
    for (const row of [this.sharingRow, this.valuesRow]) {
      const visible = [...row.children].filter((panel) => !(/** @type {HTMLElement} */ (panel).hidden)).length;
      row.style.setProperty("--nv-shown", String(Math.max(1, visible)));
      row.classList.toggle("nv-empty", !visible);
    }
  }

  get narrow() {
    return this.width < NARROW;
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
    this.root.classList.toggle("nv-wide", this.width >= WIDE);
    this.root.classList.toggle("nv-beside", this.beside);
    this.valueTabs?.update();
    const panels = [...this.panels.values()], widths = panels.map((panel) => panel.body.clientWidth); // all are read before any is written
    panels.forEach((panel, i) => panel.draw(widths[i], this.height ?? this.heightOf(panel), this.colors));
    this.refresh();
    this.root.dataset.width = String(this.width); // the width at which the view is drawn
    this.root.dataset.state = "ready";
  }

  /**
   * @param {Panel} panel
   * @returns {number}
   */
  heightOf(panel) {
    if (panel.figure.scale === "values") return this.narrow ? 300 : 270;
    if (this.data.kind === "view" && !this.narrow) return 230; // the strips of dots are on the first screen, too
    return this.beside ? 228 : this.narrow ? 330 : 340;
  }

  resized() {
    if (!this.data || visibleWidth(this.root) === this.width || this.root.dataset.state === "loading") return;
    cancelAnimationFrame(this.frame ?? 0);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  /**
   * @param {string} key
   * @param {Index} index
   */
  valueAt(key, index) {
    return /** @type {Panel} */ (this.panels.get(key)).valueAt(index);
  }

  /** @param {Index | null} index */
  hover(index) {
    if (sameIndex(index, this.pointed)) return;
    this.root.classList.add("nv-used");
    this.pointed = index;
    this.follow();
  }

  blur() {
    if (!this.cursor) return;
    this.cursor = null;
    this.follow();
  }

  // Shows the active element in all panels and in the read-out line.
  follow() {
    for (const panel of this.panels.values()) panel.show(this.active, this.at);
    writePhrases(this.line, this.readout(this.active));
  }

  /**
   * @param {Index | null} index
   * @param {Panel} [panel] that the reader uses
   */
  select(index, panel) {
    const known = !this.turns.waiting && sameIndex(index && tensorIndex(this.data, index), this.data.at);
    this.at = index;
    this.pointed = null;
    this.gathering.end();
    this.refresh();
    if (panel && this.data.kind === "view") this.gathering.start(panel);
    this.announce(panel ? speakElement(panel, index) : plainText(this.readout(index)));
    if (!known) this.send("select", { at: index && tensorIndex(this.data, index), turn: this.turns.next() });
  }

  /**
   * @param {Index} index
   * @param {string} [start]
   */
  edit(index, start) {
    if (this.folds) this.folds.values.open = true;
    if (this.valueTabs && this.valueTabs.shown !== "x") this.valueTabs.choose("x");
    editValue(this, index, start);
  }

  /**
   * @param {string} row
   * @param {string} axis
   * @param {number} [by]
   */
  toggle(row, axis, by) {
    this.send("toggle", { row, axis, ...(by && { by }), turn: this.turns.next() });
  }

  refresh() {
    this.follow();
    this.tools?.update();
    this.writeArithmetic();
    this.table.set(this.data);
    drawDistribution(this, this.liveRegion);
  }

  /**
   * @param {Index | null} index
   * @returns {Phrase[]}
   */
  readout(index) {
    return describeElement(this, index);
  }

  writeArithmetic() {
    writeArithmetic(this.arithmetic, this, this.at);
  }

  /** @param {string} message for a screen reader */
  announce(message) {
    this.liveRegion.textContent = message;
  }

  /** @param {string} message */
  showError(message) {
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

/**
 * @param {HTMLElement} list
 * @param {Count[]} counts
 */
function writeCounts(list, counts) {
  list.replaceChildren();
  for (const { label, value, note } of counts) {
    const count = html("div", "nv-count", list);
    html("dt", "", count, label);
    const number = html("dd", "", count, value);
    if (note) html("span", "nv-note", number, note);
  }
}
