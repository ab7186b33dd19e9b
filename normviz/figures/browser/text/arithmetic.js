// The arithmetic of one element, written out, and the whole formula: in symbols, and with the numbers of one element.

import { html } from "../common/dom.js";
import { formatCount, formatElement, formatNumber, parenthesize } from "../common/format.js";
import { _ } from "../common/messages.js";
import { broadcastAt, groupValues, indexAlong, tensorIndex } from "../tensor/sharing.js";
import { sentPlace } from "../tensor/slices.js";

const MOST_TERMS = 5;
const MINUS_SIGN = "\u2212";

/**
 * A sum written out; of many values, or of values that are drawn in part, the first three and the last.
 * @param {number[]} values
 * @param {boolean} complete
 * @param {(value: number) => string} term
 */
function writeSum(values, complete, term) {
  if (values.length <= MOST_TERMS && complete) return values.map(term).join(" + ");
  const last = complete ? values.slice(-1) : [];
  return [...values.slice(0, 3).map(term), "…", ...last.map(term)].join(" + ");
}

/**
 * The numbers and the expressions of one element's forward pass.
 * @param {ValueSource} source
 * @param {Index} index
 */
function expressionsOf(source, index) {
  const { stats, params, values: given } = source.data, values = /** @type {DecodedValues} */ (given);
  const mean = broadcastAt(values.mean, index), variance = broadcastAt(values.var, index), place = indexAlong(stats.axes, source.data, index);
  const { values: group, complete } = stats.running ? { values: [], complete: true } : groupValues(source, index);
  const x = source.valueAt("x", index), deviation = `${formatNumber(x)} ${MINUS_SIGN} ${parenthesize(mean)}`;
  /** @param {number} value */
  const square = (value) => (stats.center ? `(${formatNumber(value)} ${MINUS_SIGN} ${parenthesize(mean)})²` : `${parenthesize(value)}²`);
  /** @param {number} normalized */
  const scaled = (normalized) => {
    const gamma = values.gamma && parenthesize(broadcastAt(values.gamma, index)), factor = params?.zero_centered_gamma ? `(1 + ${gamma})` : gamma;
    return `${formatNumber(normalized)}${gamma ? ` · ${factor}` : ""}${values.beta ? ` + ${parenthesize(broadcastAt(values.beta, index))}` : ""}`;
  };
  return {
    x, mean, variance, deviation, scaled, params,
    total: complete ? group.reduce((a, b) => a + b, 0) : mean * stats.size,
    values: writeSum(group, complete, parenthesize),
    squares: writeSum(group, complete, square),
    size: formatCount(stats.size),
    root: `√(${formatNumber(variance)} ${values.eps < 0 ? MINUS_SIGN : "+"} ${formatNumber(Math.abs(values.eps), 3)})`,
    runningMean: formatElement("running_mean", place),
    runningVariance: formatElement("running_var", place),
  };
}

/**
 * The whole forward pass of one element: [quantity, expression, result] per line.
 * @param {ValueSource} source
 * @param {Index} index
 * @returns {[string, string, string][]}
 */
export function arithmeticLines(source, index) {
  const { stats } = source.data, of = expressionsOf(source, index), { mean, variance } = of;
  const normalized = source.valueAt("normalized", index), squares = variance * stats.size;
  /** @type {[string, string, number][]} */
  const lines = [];
  if (stats.running) lines.push([_("mean"), of.runningMean, mean], [_("variance"), of.runningVariance, variance]);
  else if (stats.center) {
    lines.push([_("sum"), of.values, of.total], [_("mean"), `${formatNumber(of.total)} / ${of.size}`, mean]);
    lines.push([_("squared deviations"), of.squares, squares], [_("variance"), `${formatNumber(squares)} / ${of.size}`, variance]);
  } else lines.push([_("squares"), of.squares, squares], [_("mean square"), `${formatNumber(squares)} / ${of.size}`, variance]);
  if (stats.center) lines.push([_("deviation"), of.deviation, of.x - mean]);
  lines.push([_("normalized"), `${stats.center ? `(${of.deviation})` : formatNumber(of.x)} / ${of.root}`, normalized]);
  lines.push([_("output"), of.params ? of.scaled(normalized) : _("as normalized"), source.valueAt("output", index)]);
  return lines.map(([quantity, expression, result]) => [quantity, expression, formatNumber(result)]);
}

/**
 * One step of the forward pass for one element: its expression and its result.
 * @param {ValueSource} source
 * @param {string} step
 * @param {Index} index
 */
export function stepArithmetic(source, step, index) {
  const { stats } = source.data, of = expressionsOf(source, index);
  /** @param {string} key */
  const value = (key) => source.valueAt(key, index);
  const input = stats.center ? "centered" : "x";
  /** @type {Record<string, () => [string, number]>} */
  const steps = {
    x: () => [formatElement("x", tensorIndex(source.data, index)), of.x],
    mean: () => [stats.running ? of.runningMean : `(${of.values}) / ${of.size}`, of.mean],
    centered: () => [of.deviation, value("centered")],
    squared: () => [`${parenthesize(value(input))}²`, value("squared")],
    var: () => [stats.running ? of.runningVariance : `(${of.squares}) / ${of.size}`, of.variance],
    normalized: () => [`${formatNumber(value(input))} / ${of.root}`, value("normalized")],
    output: () => [of.scaled(value("normalized")), value("output")],
  };
  const [expression, result] = steps[step]();
  return [expression, formatNumber(result)];
}

/**
 * The arithmetic of the selected element.
 * @param {HTMLElement} section
 * @param {ValueSource} source
 * @param {Index | null} at
 */
export function writeArithmetic(section, source, at) {
  section.replaceChildren();
  section.hidden = !source.data.values;
  if (section.hidden) return;
  if (!at || !sentPlace(source.data, at)) {
    html("h2", "nv-heading", section, _("Worked out by hand"));
    html("p", "", section, _("Select an element (click it, or press Enter on it) to see its arithmetic."));
    return;
  }
  html("h2", "nv-heading", section, _("Worked out for {element}", { element: formatElement("x", tensorIndex(source.data, at)) }));
  const lines = html("div", "nv-lines", section);
  for (const [quantity, expression, result] of arithmeticLines(source, at)) {
    html("span", "nv-what", lines, quantity);
    html("span", "nv-how", lines, expression);
    html("span", "nv-result", lines, `= ${result}`);
  }
}

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
