// The arithmetic of one element, written out, and the whole formula: in symbols, and with the numbers of one element.

import { html } from "../common/dom.ts";
import { formatCount, formatElement, formatNumber, parenthesize } from "../common/format.ts";
import { _ } from "../common/messages.ts";
import { broadcastAt, groupValues, indexAlong, tensorIndex } from "../tensor/sharing.ts";
import { sentPlace } from "../tensor/slices.ts";

const MOST_TERMS = 5;
const MINUS_SIGN = "\u2212";

/** A sum written out; of many values, or of values that are drawn in part, the first three and the last. */
function writeSum(values: number[], complete: boolean, term: (value: number) => string) {
  if (values.length <= MOST_TERMS && complete) return values.map(term).join(" + ");
  const last = complete ? values.slice(-1) : [];
  return [...values.slice(0, 3).map(term), "…", ...last.map(term)].join(" + ");
}

/** The numbers and the expressions of one element's forward pass. */
function expressionsOf(source: ValueSource, index: Index) {
  const { stats, params, values: given } = source.data, values = given as DecodedValues;
  const mean = broadcastAt(values.mean, index), variance = broadcastAt(values.var, index), place = indexAlong(stats.axes, source.data, index);
  const { values: group, complete } = stats.running ? { values: [], complete: true } : groupValues(source, index);
  const x = source.valueAt("x", index), deviation = `${formatNumber(x)} ${MINUS_SIGN} ${parenthesize(mean)}`;
  const square = (value: number) => (stats.center ? `(${formatNumber(value)} ${MINUS_SIGN} ${parenthesize(mean)})²` : `${parenthesize(value)}²`);
  const scaled = (normalized: number) => {
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

/** The whole forward pass of one element: [quantity, expression, result] per line. */
export function arithmeticLines(source: ValueSource, index: Index): [string, string, string][] {
  const { stats } = source.data, of = expressionsOf(source, index), { mean, variance } = of;
  const normalized = source.valueAt("normalized", index), squares = variance * stats.size;
  const lines: [string, string, number][] = [];
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

/** One step of the forward pass for one element: its expression and its result. */
export function stepArithmetic(source: ValueSource, step: string, index: Index) {
  const { stats } = source.data, of = expressionsOf(source, index);
  const value = (key: string) => source.valueAt(key, index);
  const input = stats.center ? "centered" : "x";
  const steps: Record<string, () => [string, number]> = {
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

/** The arithmetic of the selected element. */
export function writeArithmetic(section: HTMLElement, source: ValueSource, at: Index | null) {
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

/** The steps that compute a number. */
const MADE_BY: Record<string, string> = { eps: "normalized", gamma: "output", beta: "output" };

/** ``step``: whose tokens are lit */
export function writeFormula(parent: HTMLElement, tokens: Token[], step: string) {
  parent.replaceChildren();
  for (const { text, steps } of tokens) html("span", steps.includes(step) ? "nv-lit" : "", parent, text);
}

/** The tokens with an element's numbers in place of the symbols that are known at a step. */
export function withNumbers(source: ValueSource, tokens: Token[], step: string, index: Index): Token[] {
  const keys = source.data.panels.map(({ key }) => key), last = keys.at(-1) as string;
  const isKnown = (name: string) => keys.indexOf(MADE_BY[name] ?? (keys.includes(name) ? name : last)) <= keys.indexOf(step);
  return tokens.map((token) => {
    const { text, symbol, number } = token;
    return number && isKnown(number) ? { ...token, text: text.replace(symbol, numberOf(source, number, index)) } : token;
  });
}

function numberOf(source: ValueSource, name: string, index: Index) {
  const values = source.data.values as DecodedValues;
  if (name === "eps") return formatNumber(values.eps, 3);
  if (name === "mean" || name === "var" || name === "gamma" || name === "beta")
    return parenthesize(broadcastAt(values[name] as FloatArray, index));
  const key = name === "output" && !source.data.params ? "normalized" : name, value = source.valueAt(key, index);
  return formatNumber(value);
}
