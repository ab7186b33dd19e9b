// The whole formula: in symbols, and with the numbers of one element, as far as the steps have computed them.

import { html } from "../page/dom.js";
import { formatNumber, parenthesize } from "../page/format.js";
import { broadcastAt } from "../tensor/sharing.js";

/** The steps that compute a number. @type {Record<string, string>} */
const MADE_BY = { eps: "normalized", gamma: "output", beta: "output" };

/**
 * @param {HTMLElement} parent
 * @param {FormulaToken[]} tokens
 * @param {string} step whose tokens are lit
 */
export function writeFormula(parent, tokens, step) {
  parent.replaceChildren();
  for (const { text, steps } of tokens) html("span", steps.includes(step) ? "nv-lit" : "", parent, text);
}

/**
 * The tokens with an element's numbers in place of the symbols that are known at a step.
 * @param {ValueSource} source
 * @param {FormulaToken[]} tokens
 * @param {string} step
 * @param {Index} index
 * @returns {FormulaToken[]}
 */
export function withNumbers(source, tokens, step, index) {
  const keys = source.data.panels.map(({ key }) => key), last = /** @type {string} */ (keys.at(-1));
  /** @param {string} name */
  const isKnown = (name) => keys.indexOf(MADE_BY[name] ?? (keys.includes(name) ? name : last)) <= keys.indexOf(step);
  return tokens.map((token) => {
    const { text, symbol, number } = token;
    return number && isKnown(number) ? { ...token, text: text.replace(symbol, numberOf(source, number, index)) } : token;
  });
}

/**
 * @param {ValueSource} source
 * @param {string} name
 * @param {Index} index
 */
function numberOf(source, name, index) {
  const values = /** @type {DecodedValues} */ (source.data.values);
  if (name === "eps") return formatNumber(values.eps, 3);
  if (name === "mean" || name === "var" || name === "gamma" || name === "beta")
    return parenthesize(broadcastAt(/** @type {FloatArray} */ (values[name]), index));
  const key = name === "output" && !source.data.params ? "normalized" : name, value = source.valueAt(key, index);
  return formatNumber(value);
}
