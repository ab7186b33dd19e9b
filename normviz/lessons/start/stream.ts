// Batches that a reader pushes through BatchNorm one by one, in train mode and in eval mode.

import { button, html } from "../../figures/browser/common/dom.ts";
import { formatNumber, formatShort } from "../../figures/browser/common/format.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { Line } from "./line.ts";
import { addSwitch } from "./sliders.ts";

const ROWS_SHOWN = 5;

type Mode = "train" | "eval";
export class StreamFigure implements StartFigure {
  pushed: Record<Mode, number> = { train: 0, eval: 0 }; // the batches that were pushed
  last = -1; // the number of the last batch; -1 before the first
  data: StreamData;
  judge: (isDone: boolean) => void;
  line: Line;
  dots: HTMLElement[];
  mean: HTMLElement;
  stored: HTMLElement;
  meanName: HTMLSpanElement;
  storedName: HTMLSpanElement;
  push: HTMLButtonElement;
  input: HTMLInputElement;
  table: HTMLTableElement;
  rows: HTMLTableSectionElement;
  said: HTMLParagraphElement;

  constructor(parent: HTMLElement, data: StreamData, judge: (isDone: boolean) => void) {
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
    this.said = html("p", "nv-hidden", parent, "", { role: "status" });
    this.draw();
  }

  get mode(): Mode {
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

  addRow([mode, ...numbers]: [Mode, ...number[]]) {
    const row = this.rows.insertRow(), texts = [mode, ...numbers.map((number) => formatShort(number))];
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
    for (const mode of ["train", "eval"] as Mode[]) {
      this.input.checked = mode === "eval";
      for (let left = Math.max(1, this.data.asked[mode] - this.pushed[mode]); left > 0 && !this.push.disabled; left--) this.pushOne();
    }
  }
}
