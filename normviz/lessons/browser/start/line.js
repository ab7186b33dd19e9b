// Four numbers on a line, moved by two sliders. Their mean and standard deviation are torch's, moved by the same map.

import { ticksIn } from "../../../figures/browser/distribution/scale.js";
import { html } from "../../../figures/browser/common/dom.js";
import { formatNumber, formatShort } from "../../../figures/browser/common/format.js";
import { _ } from "../../../figures/browser/common/messages.js";
import { StartSlider, numberText } from "./slider.js";

const NEAR = 0.001; // eps makes the standard deviation of normalized values slightly less than 1

/** @typedef {{ name: string, goal: number } & import("./slider.js").SliderRange} LineSlider */
/** @typedef {{ mean: number, std: number }} LineMoments */
/** @typedef {{ kind: "numbers" | "affine", values: number[], sliders: [LineSlider, LineSlider], goal: LineMoments, rings?: number[], range: [number, number] } & LineMoments} LineData */

/** @type {Record<string, () => string>} */
const SLIDER_NAMES = { subtract: () => _("subtract"), divide: () => _("divide by"), gamma: () => "gamma", beta: () => "beta" };

/** @implements {StartFigure} */
export class NumberLine {
  /**
   * @param {HTMLElement} parent
   * @param {LineData} data
   * @param {(isDone: boolean) => void} judge
   */
  constructor(parent, data, judge) {
    this.data = data;
    this.judge = judge;
    this.track = html("div", "nv-line", parent);
    this.track.role = "img";
    const [low, high] = data.range;
    for (const tick of ticksIn([low, high], 8)) this.at(html("span", tick ? "nv-line-tick" : "nv-line-tick nv-line-zero", this.track, formatNumber(tick)), tick);
    for (const ring of data.rings ?? []) this.at(html("i", "nv-line-ring", this.track), ring);
    this.spread = html("i", "nv-line-spread", this.track);
    this.middle = html("i", "nv-line-mean", this.track);
    this.dots = data.values.map(() => html("i", "nv-line-dot", this.track));
    const table = html("div", "nv-line-table", parent);
    this.rule = html("code", "", table);
    this.numbers = data.values.map(() => html("span", "", table));
    const goals = html("p", "nv-line-goals", parent);
    this.mean = html("span", "nv-line-of-mean", goals);
    this.std = html("span", "nv-line-of-spread", goals);
    const controls = html("div", "nv-start-controls", parent);
    this.sliders = data.sliders.map((slider) => new StartSlider(controls, SLIDER_NAMES[slider.name](), slider, numberText, (isFinal) => this.moved(isFinal)));
    this.moved(false);
  }

  /** The factor and the term of the map. */
  get map() {
    const [first, second] = this.sliders.map(({ value }) => value);
    return this.data.kind === "affine" ? { factor: first, term: second } : { factor: 1 / second, term: -first / second };
  }

  /** @param {HTMLElement} element @param {number} value */
  at(element, value) {
    const [low, high] = this.data.range;
    element.style.left = `${(100 * (value - low)) / (high - low)}%`;
  }

  /** @param {boolean} isFinal */
  moved(isFinal) {
    const { values, mean, std, goal, range, kind } = this.data, { factor, term } = this.map, [first, second] = this.sliders.map(({ value }) => formatNumber(value));
    const now = values.map((value) => factor * value + term), middle = factor * mean + term, spread = Math.abs(factor) * std;
    now.forEach((value, i) => {
      this.at(this.dots[i], Math.min(range[1] + 0.3, Math.max(range[0] - 0.3, value)));
      this.numbers[i].textContent = formatShort(value);
    });
    this.at(this.middle, middle);
    this.at(this.spread, middle - spread);
    this.spread.style.width = `${(200 * spread) / (range[1] - range[0])}%`;
    this.rule.textContent = kind === "affine" ? `${first} · x̂ + ${second}` : `(x − ${first}) / ${second}`;
    this.write(this.mean, _("mean {value}", { value: formatShort(middle) }), middle, goal.mean);
    this.write(this.std, _("standard deviation {value}", { value: formatShort(spread) }), spread, goal.std);
    this.track.ariaLabel = `${this.numbers.map(({ textContent }) => textContent).join(", ")}; ${this.mean.textContent}; ${this.std.textContent}`;
    if (isFinal) this.judge(isNear(middle, goal.mean) && isNear(spread, goal.std));
  }

  /**
   * @param {HTMLElement} place
   * @param {string} text
   * @param {number} value
   * @param {number} goal
   */
  write(place, text, value, goal) {
    place.textContent = text;
    place.classList.toggle("nv-line-reached", isNear(value, goal));
  }

  solve() {
    this.sliders.forEach((slider, i) => (slider.value = this.data.sliders[i].goal));
    this.moved(true);
  }
}

/** @param {number} value @param {number} goal */
const isNear = (value, goal) => Math.abs(value - goal) < NEAR;
