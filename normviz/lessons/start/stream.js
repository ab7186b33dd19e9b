// Batches that a reader pushes through BatchNorm one by one, in train mode and in eval mode.

import { button, html } from "../../figures/browser/common/dom.js";
import { formatNumber, formatShort } from "../../figures/browser/common/format.js";
import { _ } from "../../figures/browser/common/messages.js";
import { Line } from "./line.js";
import { addSwitch } from "./sliders.js";

const ROWS_SHOWN = 5;

/** @typedef {"train" | "eval"} Mode */
/**
 * @typedef {object} StreamData ``batches`` come again after the last one; the first example of each is the same
 * @property {"stream"} kind
 * @property {number[][]} batches
 * @property {number[]} means of the batches
 * @property {number[]} stored the running mean after each number of batches in train mode, from 0
 * @property {Record<Mode, number[]>} outputs of the first example: in train mode in each batch, and in eval mode after each number of batches
 * @property {Record<Mode, number>} asked how many batches the reader pushes
 * @property {[number, number]} range
 */

/** @implements {StartFigure} */
export class StreamFigure {
  /** @type {Record<Mode, number>} The batches that were pushed. */
  pushed = { train: 0, eval: 0 };
  /** The number of the last batch; -1 before the first. */
  last = -1;

  /**
   * @param {HTMLElement} parent
   * @param {StreamData} data
   * @param {(isDone: boolean) => void} judge
   */
  constructor(parent, data, judge) {
    this.data = data;
    this.judge = judge;
    this.line = new Line(parent, data.range);
    this.dots = data.batches[0].map((_value, i) => this.line.add(i ? "dot" : "dot nv-line-framed"));
    this.mean = this.line.add("mean");
    this.stored = this.line.add("stored");
    const names = html("p", "nv-line-goals", parent);
    this.meanName = html("span", "nv-line-of-mean", names);
    this.storedName = html("span", "nv-line-of-stored", names);
    const controls = html("div", "nv-stream-controls", parent);
    this.push = button("nv-button", controls, _("Push a batch"), () => this.pushOne());
    this.input = addSwitch(controls, _("eval mode"), () => this.draw());
    this.table = html("table", "nv-stream-rows", parent);
    const heads = this.table.createTHead().insertRow(), framed = formatNumber(data.batches[0][0]);
    for (const head of [_("mode"), _("mean of the batch"), _("running mean"), _("output for {value}", { value: framed })]) html("th", "", heads, head).scope = "col";
    this.rows = this.table.createTBody();
    this.said = html("p", "nv-hidden", parent);
    this.said.role = "status";
    this.draw();
  }

  /** @returns {Mode} */
  get mode() {
    return this.input.checked ? "eval" : "train";
  }

  pushOne() {
    const { data, mode, pushed } = this, inEval = mode === "eval";
    this.last = (pushed.train + (inEval ? pushed.eval : 0)) % data.batches.length; // in train mode, in the order that torch has recorded
    const output = inEval ? data.outputs.eval[pushed.train] : data.outputs.train[this.last];
    pushed[mode]++;
    this.addRow([mode, data.means[this.last], data.stored[pushed.train], output]);
    this.draw();
    if (inEval) this.judge(pushed.train >= data.asked.train && pushed.eval >= data.asked.eval);
  }

  /** @param {[Mode, ...number[]]} values */
  addRow([mode, ...numbers]) {
    const row = this.rows.insertRow(), texts = [mode, ...numbers.map(formatShort)];
    for (const text of texts) row.insertCell().textContent = text;
    while (this.rows.rows.length > ROWS_SHOWN) this.rows.deleteRow(0);
    const heads = [...(this.table.tHead?.rows[0].cells ?? [])].map(({ textContent }) => textContent);
    this.said.textContent = texts.map((text, i) => `${heads[i]}: ${text}`).join("; ");
  }

  draw() {
    const { data } = this, stored = data.stored[this.pushed.train], batch = data.batches[this.last], mean = data.means[this.last];
    this.line.root.classList.toggle("nv-line-empty", !batch);
    this.line.at(this.stored, stored);
    this.storedName.textContent = _("running mean {value}", { value: formatShort(stored) });
    this.meanName.hidden = !batch;
    if (batch) {
      batch.forEach((value, i) => this.line.at(this.dots[i], value));
      this.line.at(this.mean, mean);
      this.meanName.textContent = _("mean of the batch {value}", { value: formatShort(mean) });
    }
    this.line.root.ariaLabel = [batch?.map(formatNumber).join(", "), batch && this.meanName.textContent, this.storedName.textContent].filter(Boolean).join("; ");
    this.push.disabled = this.mode === "train" && this.pushed.train + 1 >= data.stored.length; // as far as torch has recorded
  }

  solve() {
    for (const mode of /** @type {Mode[]} */ (["train", "eval"])) {
      this.input.checked = mode === "eval";
      for (let left = Math.max(1, this.data.asked[mode] - this.pushed[mode]); left > 0 && !this.push.disabled; left--) this.pushOne();
    }
  }
}
