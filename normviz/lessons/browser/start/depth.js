// The standard deviation of what each layer of a network computes: without normalization it grows or shrinks from layer to layer.

import { html } from "../../../figures/browser/common/dom.js";
import { formatNumber } from "../../../figures/browser/common/format.js";
import { _ } from "../../../figures/browser/common/messages.js";
import { StartSlider } from "./slider.js";

const DECADES = 3; // powers of ten on either side of 1
const DIGITS_SHOWN = 2;

/** @typedef {{ kind: "depth", sizes: number[], first: number, plain: number[][], normalized: number[][] }} DepthData ``plain``: by size and layer */

/** @implements {StartFigure} */
export class DepthChart {
  /**
   * @param {HTMLElement} parent
   * @param {DepthData} data
   * @param {(isDone: boolean) => void} judge
   */
  constructor(parent, data, judge) {
    this.data = data;
    html("p", "nv-depth-title", parent, _("Standard deviation of the values in each layer, on a logarithmic scale"));
    this.chart = html("div", "nv-depth", parent);
    this.chart.role = "img";
    for (let power = -DECADES; power <= DECADES; power += DECADES) {
      const line = html("span", "nv-depth-line", this.chart, formatNumber(10 ** power));
      line.style.bottom = `${heightOf(10 ** power)}%`;
    }
    this.bars = data.plain[0].map(() => html("i", "nv-depth-bar", this.chart));
    this.bars.forEach((bar, i) => bar.style.setProperty("--nv-place", String((i + 0.5) / this.bars.length)));
    this.last = html("span", "nv-depth-last", this.chart);
    const names = html("p", "nv-depth-names", parent);
    html("span", "", names, _("layer 1"));
    html("span", "", names, _("layer {n}", { n: this.bars.length }));
    const controls = html("div", "nv-start-controls", parent), { sizes, first } = data, range = { low: 0, high: sizes.length - 1, step: 1, first };
    this.slider = new StartSlider(controls, _("size of the weights"), range, (at) => `× ${formatNumber(sizes[at])}`, () => this.draw());
    const label = html("label", "nv-start-switch", controls);
    this.input = html("input", "", label);
    this.input.type = "checkbox";
    this.input.role = "switch";
    html("span", "", label, _("BatchNorm after each layer"));
    this.input.addEventListener("change", () => {
      this.draw();
      judge(this.input.checked);
    });
    this.judge = judge;
    this.draw();
  }

  draw() {
    const spreads = (this.input.checked ? this.data.normalized : this.data.plain)[this.slider.value], one = heightOf(1);
    spreads.forEach((spread, i) => {
      const height = heightOf(spread), bar = this.bars[i];
      bar.style.bottom = `${Math.min(one, height)}%`;
      bar.style.height = `${Math.abs(height - one)}%`;
    });
    const last = spreads[spreads.length - 1];
    this.last.textContent = formatNumber(last, DIGITS_SHOWN);
    this.last.style.bottom = `${Math.max(one, heightOf(last))}%`;
    this.chart.ariaLabel = _("Standard deviation by layer: {numbers}", { numbers: spreads.map((spread) => formatNumber(spread, DIGITS_SHOWN)).join(", ") });
  }

  solve() {
    this.input.checked = true;
    this.draw();
    this.judge(true);
  }
}

/**
 * Where a standard deviation is on the logarithmic scale, in percent of the height.
 * @param {number} spread
 */
const heightOf = (spread) => 100 * Math.min(1, Math.max(0, (Math.log10(spread) + DECADES) / (2 * DECADES)));
