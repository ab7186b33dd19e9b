// Marking who shares a gamma, and then a larger batch: a gamma for each column fits it, a gamma for each row does not.

import { groupBackground } from "../../figures/browser/common/color.ts";
import { button, html } from "../../figures/browser/common/dom.ts";
import { _, ngettext } from "../../figures/browser/common/messages.ts";
import { MarksFigure } from "./marks.ts";

export class GammasFigure extends MarksFigure {
  batch: string[][];
  gammas: number;
  isLarge = false;
  wasLarge = false; // the larger batch has been seen
  more: HTMLButtonElement;
  fits: HTMLDivElement;

  constructor(parent: HTMLElement, data: GammasData, judge: (isDone: boolean) => void, hint: string) {
    super(parent, data, judge, hint);
    this.batch = data.batch;
    this.gammas = data.gammas;
    this.more = button("nv-button", parent, "", () => this.enlarge(!this.isLarge));
    this.more.hidden = true;
    this.fits = html("div", "nv-gammas", parent);
    this.more.before(this.status);
    this.more.before(this.fits);
  }

  get rows() {
    return this.data.tasks[0].task.shape[0];
  }

  finish(end: "done" | "shown") {
    this.ends.set(0, end);
    this.reveal();
    this.more.hidden = false;
    this.enlarge(false);
  }

  /** Both ways to have gammas, for the table or for the larger batch. */
  enlarge(isLarge: boolean) {
    const batch = isLarge ? this.batch : this.batch.slice(0, this.rows), left = batch.length - this.rows;
    this.isLarge = isLarge;
    this.place.hidden = true;
    this.more.textContent = isLarge ? _("Back to the first batch") : _("A larger batch arrives");
    this.fits.replaceChildren();
    this.addTable(_("A gamma for each column"), batch, (_row, column) => column, this.gammas);
    this.addTable(_("If each row had its own"), batch, (row) => row, this.rows);
    if (isLarge)
      this.status.textContent = ngettext("{n} row would have no gamma.", "{n} rows would have no gamma.", left);
    this.judge(isLarge || this.wasLarge);
    this.wasLarge ||= isLarge;
  }

  /** ``groupOf``: the number of the gamma of an element; the layer has ``count`` */
  addTable(title: string, batch: string[][], groupOf: (row: number, column: number) => number, count: number) {
    const table = html("table", "", this.fits), isOfRow = groupOf(1, 0) === 1;
    const heads = isOfRow ? null : table.insertRow();
    html("caption", "", table, title);
    const head = (parent: HTMLElement, gamma: number) => {
      const exists = gamma < count, name = exists ? `\u03b3${"\u2080\u2081\u2082\u2083\u2084"[gamma]}` : _("none");
      return html("th", exists ? "" : "nv-gammas-none", parent, name);
    };
    if (heads) for (const gamma of batch[0].keys()) head(heads, gamma).scope = "col";
    batch.forEach((values, row) => {
      const line = table.insertRow();
      if (isOfRow) head(line, row).scope = "row";
      values.forEach((value, column) => {
        const gamma = groupOf(row, column), cell = line.insertCell();
        cell.textContent = value;
        if (gamma < count) cell.style.background = groupBackground(gamma);
        else cell.className = "nv-gammas-none";
      });
    });
  }

  solve() {
    this.finish(this.ends.get(0) ?? "shown");
    this.enlarge(true);
  }
}
