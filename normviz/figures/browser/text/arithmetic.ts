// The arithmetic of one element, written out.

import { html } from "../common/dom.ts";
import { formatCount, formatElement, formatNumber, parenthesize } from "../common/format.ts";
import { _ } from "../common/messages.ts";
import { broadcastAt, groupOfElement, indexAlong, hasStatistics, tensorIndex } from "../tensor/sharing.ts";
import { writePieces, type Piece, type Term } from "./terms.ts";

const MOST_TERMS = 5;
const MINUS_SIGN = "\u2212";

/** A sum written out; of many values, or of values that are drawn in part, the first three and the last. */
function writeSum(addends: Term[], complete: boolean): Piece[] {
  const last = complete ? addends.slice(-1) : [];
  const isShort = addends.length <= MOST_TERMS && complete;
  const written: Piece[] = isShort ? addends : [...addends.slice(0, 3), "…", ...last];
  return written.flatMap((addend, i) => (i ? [" + ", addend] : [addend]));
}

/** The numbers and the expressions of one element's forward pass. */
function expressionsOf(source: ValueSource, index: Index) {
  const { stats, params, values: given } = source.data, values = given as DecodedValues;
  const mean = broadcastAt(values.mean, index), variance = broadcastAt(values.var, index), place = indexAlong(stats.axes, source.data, index);
  const { peers, complete } = stats.running ? { peers: [], complete: true } : groupOfElement(source.data, index);
  const x = source.valueAt("x", index), numbers = peers.map((peer) => source.valueAt("x", peer));
  const sumOf = (write: (value: number) => string) =>
    writeSum(numbers.map((value, i) => ({ lights: "x", text: write(value), at: peers[i] })), complete);
  const square = (value: number) => (stats.center ? `(${formatNumber(value)} ${MINUS_SIGN} ${parenthesize(mean)})²` : `${parenthesize(value)}²`);
  const element = term("x", formatNumber(x));
  const deviation: Piece[] = [element, ` ${MINUS_SIGN} `, term("mean", parenthesize(mean))];
  const scaled = (normalized: number): Piece[] => {
    const at = (array: FloatArray) => parenthesize(broadcastAt(array, index));
    const gamma = values.gamma && term("gamma", at(values.gamma));
    const factor: Piece[] = !gamma ? [] : params?.zero_centered_gamma ? [" · (1 + ", gamma, ")"] : [" · ", gamma];
    const beta: Piece[] = values.beta ? [" + ", term("beta", at(values.beta))] : [];
    return [term("x", formatNumber(normalized)), ...factor, ...beta];
  };
  const sign = ` ${values.eps < 0 ? MINUS_SIGN : "+"} `, eps = term("eps", formatNumber(Math.abs(values.eps), 3));
  const root: Piece[] = ["√(", term("var", formatNumber(variance)), sign, eps, ")"];
  return {
    x, mean, variance, element, deviation, root, scaled, params,
    total: complete ? numbers.reduce((a, b) => a + b, 0) : mean * stats.size,
    values: sumOf(parenthesize),
    squares: sumOf(square),
    size: formatCount(stats.size),
    runningMean: term("mean", formatElement("running_mean", place)),
    runningVariance: term("var", formatElement("running_var", place)),
  };
}

const term = (lights: string, text: string): Term => ({ lights, text });

/** The whole forward pass of one element: [quantity, expression, result] per line. */
export function arithmeticLines(source: ValueSource, index: Index): [string, Piece[], Term][] {
  const { stats } = source.data, of = expressionsOf(source, index), { mean, variance } = of;
  const normalized = source.valueAt("normalized", index), squares = variance * stats.size;
  const lines: [string, Piece[], Term][] = [];
  const add = (quantity: string, expression: Piece[], lights: string, result: number) => {
    lines.push([quantity, expression, term(lights, formatNumber(result))]);
  };
  const share = (lights: string, sum: number): Piece[] => [term(lights, `${formatNumber(sum)} / ${of.size}`)];
  if (stats.running) {
    add(_("mean"), [of.runningMean], "mean", mean);
    add(_("variance"), [of.runningVariance], "var", variance);
  } else if (stats.center) {
    add(_("sum"), of.values, "mean", of.total);
    add(_("mean"), share("mean", of.total), "mean", mean);
    add(_("squared deviations"), of.squares, "var", squares);
    add(_("variance"), share("var", squares), "var", variance);
  } else {
    add(_("squares"), of.squares, "var", squares);
    add(_("mean square"), share("var", squares), "var", variance);
  }
  if (stats.center) add(_("deviation"), of.deviation, "x", of.x - mean);
  const numerator = stats.center ? ["(", ...of.deviation, ")"] : [of.element];
  add(_("normalized"), [...numerator, " / ", ...of.root], of.params ? "x" : "output", normalized);
  add(_("output"), of.params ? of.scaled(normalized) : [_("as normalized")], "output", source.valueAt("output", index));
  return lines;
}

/** One step of the forward pass for one element: its expression and its result. */
export function stepArithmetic(source: ValueSource, step: string, index: Index): [Piece[], Term] {
  const { stats, params } = source.data, of = expressionsOf(source, index);
  const value = (key: string) => source.valueAt(key, index);
  const input = stats.center ? "centered" : "x", made = params ? "x" : "output";
  const mean = stats.running ? [of.runningMean] : ["(", ...of.values, `) / ${of.size}`];
  const variance = stats.running ? [of.runningVariance] : ["(", ...of.squares, `) / ${of.size}`];
  const steps: Record<string, () => [Piece[], string, number]> = {
    x: () => [[term("x", formatElement("x", tensorIndex(source.data, index)))], "x", of.x],
    mean: () => [mean, "mean", of.mean],
    centered: () => [of.deviation, "x", value("centered")],
    squared: () => [[term("x", `${parenthesize(value(input))}²`)], "x", value("squared")],
    var: () => [variance, "var", of.variance],
    normalized: () => [[term("x", formatNumber(value(input))), " / ", ...of.root], made, value("normalized")],
    output: () => [of.scaled(value("normalized")), "output", value("output")],
  };
  const [expression, lights, result] = steps[step]();
  return [expression, term(lights, formatNumber(result))];
}

/** The arithmetic of the selected element. */
export function writeArithmetic(section: HTMLElement, source: ValueSource, at: Index | null) {
  section.replaceChildren();
  section.hidden = !source.data.values;
  if (section.hidden) return;
  if (!at || !hasStatistics(source.data, at)) {
    html("h2", "nv-heading", section, _("Worked out by hand"));
    html("p", "", section, _("Select an element (click it, or press Enter on it) to see its arithmetic."));
    return;
  }
  html("h2", "nv-heading", section, _("Worked out for {element}", { element: formatElement("x", tensorIndex(source.data, at)) }));
  const lines = html("div", "nv-lines", section);
  for (const [quantity, expression, result] of arithmeticLines(source, at)) {
    html("span", "nv-what", lines, quantity);
    writeLine(lines, expression, result);
  }
}

/** An expression and its result. */
export function writeLine(lines: HTMLElement, expression: Piece[], result: Term) {
  writePieces(html("span", "nv-how", lines), expression, !lines.querySelector("[tabindex='0']"));
  writePieces(html("span", "nv-result", lines), ["= ", result]);
}
