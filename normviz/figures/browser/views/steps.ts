// The forward pass one step at a time: the values before and after it, and its arithmetic for one element.

import { button, html } from "../common/dom.ts";
import { formatElement } from "../common/format.ts";
import { _ } from "../common/messages.ts";
import { Panel } from "../panels/panel.ts";
import { decodeFloats } from "../tensor/arrays.ts";
import { hasStatistics, tensorIndex } from "../tensor/sharing.ts";
import { stepArithmetic, writeLine } from "../text/arithmetic.ts";
import { FigureView } from "./view.ts";

const STEP_TIME = 1400; // ms per step while playing
const SIDE_BY_SIDE = ".nv-wide:not([data-hidden~=distribution])"; // the dots are beside the tensors: see linked.css

export class StepsView extends FigureView {
  bar: HTMLElement; // the buttons of the steps
  why: HTMLElement; // what the step does
  playButton: HTMLButtonElement;
  step = 0;
  serverStep?: number; // the server's step
  timer: ReturnType<typeof setInterval> | null = null; // set while the steps are played
  decoded = new Map<string, Float32Array>(); // the values of the steps of ``decodedData``
  decodedData?: DecodedData;

  arrange() {
    this.takeStep();
    this.counts.hidden = this.valuesRow.hidden = true;
    if (!this.bar) this.addStepper();
    this.bar.replaceChildren(...this.stepPanels.map(({ title }, number) => button("nv-chip", null, title, () => this.go(number))));
    for (const key of ["before", "after"]) if (!this.panels.has(key)) this.panels.set(key, new Panel(this.sharingRow, this, key));
    this.place();
  }

  get stepPanels() {
    return this.data.panels as StepData[];
  }

  // Takes the server's step, unless a newer choice waits for its response. While playing, or without a server, it takes only a changed step.
  takeStep() {
    const { step = 0, panels, turn } = this.data;
    if (this.timer || turn === undefined ? step !== this.serverStep : this.upToDate) this.step = step;
    this.step = Math.min(this.step, panels.length - 1);
    this.serverStep = step;
  }

  sendStep() {
    this.send("step", { step: this.step, turn: this.turns.next() });
  }

  addStepper() {
    this.bar = html("div", "nv-chips");
    this.why = html("div", "nv-why");
    const buttons = html("div", "nv-buttons"), head = html("div", "nv-stepper");
    const add = (text: string, name: string, onClick: () => void): HTMLButtonElement => {
      const element = button("nv-button", buttons, text, onClick);
      element.setAttribute("aria-label", name);
      element.title = name;
      return element;
    };
    add("◀", _("Previous step"), () => this.go(this.step - 1));
    this.playButton = add(_("▶ Play"), _("Play the steps"), () => (this.timer ? this.stop() : this.play()));
    add("▶", _("Next step"), () => this.go(this.step + 1));
    head.append(buttons, this.bar);
    this.root.classList.add("nv-steps");
    this.root.prepend(head, this.why, this.lower);
  }

  get shownStep() {
    return this.stepPanels[this.step].key;
  }

  // The panels, the formula and the arithmetic of the current step.
  place() {
    const panels = this.stepPanels, now = panels[this.step], [before, after] = ["before", "after"].map((key) => this.panels.get(key) as Panel);
    before.set(panels[Math.max(0, this.step - 1)], this.data);
    after.set(this.step ? now : (this.data.groups ?? now), this.data);
    [...this.bar.children].forEach((chip, number) => {
      chip.classList.toggle("nv-now", number === this.step);
      chip.setAttribute("aria-current", number === this.step ? "step" : "false");
    });
    this.why.textContent = now.why;
  }

  async go(step: number, send = true) {
    const next = Math.min(Math.max(0, step), this.data.panels.length - 1);
    if (next === this.step) return;
    const forward = next === this.step + 1;
    this.step = next;
    this.place();
    if (send && !this.timer) this.sendStep();
    await this.draw();
    if (forward && this.step === next) this.distribution?.move(this.stepPanels[next].key);
  }

  play() {
    const last = this.data.panels.length - 1;
    if (this.step === last) this.go(0, false);
    this.playButton.textContent = _("❚❚ Stop");
    this.timer = setInterval(() => {
      if (this.step === this.data.panels.length - 1) this.stop();
      else this.go(this.step + 1, false);
    }, STEP_TIME);
  }

  stop() {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
    this.playButton.textContent = _("▶ Play");
    this.sendStep();
  }

  // The formula is below the buttons, on a narrow page beside the panel that the reader points at; there the loops are below the panels.
  placeFormula() {
    super.placeFormula();
    const { band, formula, loops, lower, narrow, sharingRow, why } = this, isInBand = Boolean(band.dataset.stays);
    if (isInBand !== band.contains(formula.root)) isInBand ? band.append(formula.root) : why.after(formula.root);
    if (narrow === lower.contains(loops.root)) narrow ? sharingRow.after(loops.root) : lower.append(loops.root);
  }

  heightOf() {
    if (this.root.matches(SIDE_BY_SIDE)) return 132; // one below the other
    if (this.beside) return 210;
    return this.narrow ? 300 : 290;
  }

  /** The values of every step, drawn or not. */
  valueAt(key: string, index: Index) {
    if (this.decodedData !== this.data) this.decoded.clear();
    this.decodedData = this.data;
    const values = this.decoded.get(key) ?? decodeFloats((this.stepPanels.find((figure) => figure.key === key) as StepData).z);
    this.decoded.set(key, values);
    return (this.panels.get("before") as Panel).valueIn(values, index);
  }

  writeArithmetic() {
    this.arithmetic.replaceChildren();
    if (!this.at || !hasStatistics(this.data, this.at)) {
      html("p", "", this.arithmetic, _("Select an element to see its arithmetic."));
      return;
    }
    const { key, title } = this.stepPanels[this.step], [expression, result] = stepArithmetic(this, key, this.at);
    html("h2", "nv-heading", this.arithmetic, _("{step} for {element}", { step: title, element: formatElement("x", tensorIndex(this.data, this.at)) }));
    writeLine(html("div", "nv-lines nv-one", this.arithmetic), expression, result);
  }

  destroy() {
    if (this.timer) clearInterval(this.timer);
    super.destroy();
  }
}
