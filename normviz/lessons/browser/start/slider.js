// A slider with its name and its value.

import { html } from "../../../figures/browser/common/dom.js";
import { formatNumber } from "../../../figures/browser/common/format.js";

/** @typedef {{ low: number, high: number, step: number, first: number }} SliderRange */

export class StartSlider {
  /**
   * @param {HTMLElement} parent
   * @param {string} label
   * @param {SliderRange} range
   * @param {(value: number) => string} text of a value
   * @param {(isFinal: boolean) => void} changed ``isFinal``: the reader has let go of it, or pressed a key
   */
  constructor(parent, label, { low, high, step, first }, text, changed) {
    const root = html("label", "nv-start-slider", parent);
    html("span", "", root, label);
    this.output = html("output", "", root);
    this.input = html("input", "", root);
    Object.assign(this.input, { type: "range", ariaLabel: label, min: String(low), max: String(high), step: String(step) });
    this.text = text;
    this.value = first;
    this.input.addEventListener("input", () => {
      this.write();
      changed(false);
    });
    this.input.addEventListener("change", () => changed(true));
  }

  get value() {
    return Number(this.input.value);
  }

  set value(value) {
    this.input.value = String(value);
    this.write();
  }

  write() {
    this.output.textContent = this.text(this.value);
    this.input.setAttribute("aria-valuetext", this.output.textContent);
  }
}

/** @param {number} value */
export const numberText = (value) => formatNumber(value);
