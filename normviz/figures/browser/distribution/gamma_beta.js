// One gamma and one beta for all elements, which a reader chooses by sliders, applied to the normalized values that torch computed.

/** @import { DrawnPanel, PanelHost } from "../tensor/drawn_panel.d.ts" */
/** @typedef {PanelHost & { given: DecodedData, choice: GammaBetaChoice | null, colors: Colors, heightOf(panel: DrawnPanel): number, refresh(): void }} GammaBetaView */

import { button, html } from "../common/dom.js";
import { formatNumber } from "../common/format.js";
import { _ } from "../common/messages.js";
import { decodeFloats } from "../tensor/arrays.js";

/**
 * Takes new data. The choice of gamma and beta stays while the layer does.
 * @param {GammaBetaView} view
 * @param {DecodedData} data
 */
export function takeData(view, data) {
  if (view.data?.layer !== data.layer) view.choice = null;
  view.given = data;
  view.data = view.choice ? withGammaAndBeta(data, view.choice) : data;
}

/**
 * Shows the output with this gamma and beta everywhere, or with the layer's own.
 * @param {GammaBetaView} view
 * @param {GammaBetaChoice | null} choice
 */
export function showOutputOf(view, choice) {
  view.choice = choice;
  takeData(view, view.given);
  const output = view.data.panels.find(({ key }) => key === "output");
  for (const panel of view.panels.values())
    if (output && panel.figure.key === "output") {
      panel.set(output, view.data);
      panel.draw(panel.body.clientWidth, view.heightOf(panel), view.colors);
    }
  view.refresh();
}

/**
 * The data of a layer whose every gamma and beta have these values; a layer without beta keeps none.
 * @param {DecodedData} data
 * @param {GammaBetaChoice} choice
 * @returns {DecodedData}
 */
export function withGammaAndBeta(data, { gamma, beta: wanted }) {
  const { values, moments, params } = data, beta = params?.bias ? wanted : 0;
  const normalized = data.panels.find(({ key }) => key === "normalized");
  if (!values || !params || !normalized?.z) return data;
  /** @param {number} value */
  const scaled = (value) => gamma * value + beta;
  /** @param {number} variance */
  const spread = (variance) => gamma * gamma * variance;
  /** @type {(array: FloatArray, change: (number: number) => number) => FloatArray} */
  const changed = ({ shape, values: numbers }, change) => ({ shape, values: numbers.map(change) });
  /** @param {number} number */
  const everywhere = (number) => ({ shape: data.grid.shape.map(() => 1), values: Float32Array.of(number) });
  const output = decodeFloats(normalized.z).map(scaled), finite = output.filter(Number.isFinite);
  const most = finite.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1, before = moments?.normalized;
  return {
    ...data,
    values: { ...values, gamma: everywhere(gamma), ...(params.bias ? { beta: everywhere(beta) } : {}) },
    panels: data.panels.map((panel) => panel.key !== "output" ? panel : {
      ...panel, z: { shape: normalized.z?.shape ?? [], data: "", values: output }, low: -most, high: most, strips: scaleStrips(normalized.strips, gamma, beta),
    }),
    moments: before ? { ...moments, output: { mean: changed(before.mean, scaled), var: changed(before.var, spread) } } : moments,
  };
}

/**
 * The means and variances next to a panel; null is NaN.
 * @param {PanelData["strips"]} strips
 * @param {number} gamma
 * @param {number} beta
 */
function scaleStrips(strips, gamma, beta) {
  /** @type {(numbers: SentNumber[], factor: number, shift: number) => SentNumber[]} */
  const scaled = (numbers, factor, shift) => numbers.map((number) => (number === null ? null : factor * Number(number) + shift));
  return Object.fromEntries(Object.entries(strips).map(([place, { mean, var: variance }]) =>
    [place, { mean: scaled(mean, gamma, beta), var: scaled(variance, gamma * gamma, 0) }]));
}

// The sliders.

const LIMITS = { gamma: [-3, 3], beta: [-3, 3] }, STEP = 0.1;

/** @typedef {"gamma" | "beta"} Parameter */

export class GammaAndBetaSliders {
  /** @type {Map<Parameter, { root: HTMLElement, input: HTMLInputElement, output: HTMLElement }>} */
  sliders = new Map();

  /**
   * @param {HTMLElement} parent
   * @param {(choice: GammaBetaChoice | null) => void} choose
   */
  constructor(parent, choose) {
    this.root = html("div", "nv-sliders", parent);
    for (const name of /** @type {Parameter[]} */ (["gamma", "beta"])) {
      const root = html("label", "nv-slider", this.root), input = html("input", "", null), output = html("output", "", null);
      html("span", "", root, name);
      Object.assign(input, { type: "range", min: LIMITS[name][0], max: LIMITS[name][1], step: STEP });
      root.append(input, output);
      input.addEventListener("input", () => choose(this.choice));
      this.sliders.set(name, { root, input, output });
    }
    this.reset = button("nv-button", this.root, _("The layer's own"), () => choose(null));
    this.reset.title = _("Back to the gamma and the beta that the layer has");
  }

  /** @returns {GammaBetaChoice} */
  get choice() {
    const [gamma, beta] = [...this.sliders.values()].map(({ input }) => Number(input.value));
    return { gamma, beta };
  }

  /**
   * @param {DecodedData} data of the layer itself
   * @param {GammaBetaChoice | null} choice
   * @param {boolean} shown whether the output is
   */
  set({ params, values }, choice, shown) {
    this.root.hidden = !params || !shown;
    if (!params) return;
    for (const [name, { root, input, output }] of this.sliders) {
      const own = values?.[name], [low, high] = own ? limitsOf(own.values) : [0, 0];
      root.hidden = name === "beta" && !params.bias;
      input.value = String(choice ? choice[name] : (low + high) / 2);
      output.textContent = choice
        ? _("{value} for every element", { value: formatNumber(choice[name]) })
        : low === high ? formatNumber(low) : _("{low} to {high}", { low: formatNumber(low), high: formatNumber(high) });
    }
    this.reset.hidden = !choice;
  }
}

/**
 * The smallest and the largest number.
 * @param {Float32Array} numbers
 */
function limitsOf(numbers) {
  return numbers.reduce(([low, high], number) => [Math.min(low, number), Math.max(high, number)], [Infinity, -Infinity]);
}
