// A line of numbers, on which things stand and move.

import { html } from "../../figures/browser/common/dom.js";
import { formatNumber } from "../../figures/browser/common/format.js";
import { ticksIn } from "../../figures/browser/distribution/scale.js";

const BEYOND = 0.3; // what is outside stands so far from the end

export class Line {
  /**
   * @param {HTMLElement} parent
   * @param {[number, number]} range
   */
  constructor(parent, range) {
    this.range = range;
    this.root = html("div", "nv-line", parent);
    this.root.role = "img";
    for (const tick of ticksIn(range, 8)) this.at(html("span", tick ? "nv-line-tick" : "nv-line-tick nv-line-zero", this.root, formatNumber(tick)), tick);
  }

  /** @param {string} kind */
  add(kind) {
    return html("i", `nv-line-${kind}`, this.root);
  }

  /** @param {HTMLElement} element @param {number} value */
  at(element, value) {
    const [low, high] = this.range, shown = Math.min(high + BEYOND, Math.max(low - BEYOND, value));
    element.style.left = `${(100 * (shown - low)) / (high - low)}%`;
  }
}
