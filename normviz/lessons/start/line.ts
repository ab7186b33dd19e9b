// A line of numbers, on which things stand and move.

import { html } from "../../figures/browser/common/dom.ts";
import { formatNumber } from "../../figures/browser/common/format.ts";
import { ticksIn } from "../../figures/browser/distribution/scale.ts";

const BEYOND = 0.3; // what is outside stands so far from the end

export class Line {
  range: [number, number];
  root: HTMLDivElement;

  constructor(parent: HTMLElement, range: [number, number]) {
    this.range = range;
    this.root = html("div", "nv-line", parent, "", { role: "img" });
    for (const tick of ticksIn(range, 8)) this.at(html("span", tick ? "nv-line-tick" : "nv-line-tick nv-line-zero", this.root, formatNumber(tick)), tick);
  }

  add(kind: string) {
    return html("i", `nv-line-${kind}`, this.root);
  }

  /** The value at a place on the screen. */
  valueAt(x: number) {
    const { left, width } = this.root.getBoundingClientRect(), [low, high] = this.range;
    return low + ((x - left) / width) * (high - low);
  }

  at(element: HTMLElement, value: number) {
    const [low, high] = this.range, shown = Math.min(high + BEYOND, Math.max(low - BEYOND, value));
    element.style.left = `${(100 * (shown - low)) / (high - low)}%`;
  }
}
