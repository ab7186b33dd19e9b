// The whole formula and the loops beside a figure, with the numbers and the iteration of one element.

import { html } from "../common/dom.ts";
import { formatNumber, parenthesize } from "../common/format.ts";
import { _ } from "../common/messages.ts";
import { broadcastAt, indexAlong, hasStatistics } from "../tensor/sharing.ts";
import { markedLines } from "./marks.ts";
import { writePieces, type Piece } from "./terms.ts";

/** The whole formula: in symbols, and with the numbers of one element. */
export class Formula {
  root = html("div", "nv-formula", null, "", { role: "group", ariaLabel: _("Formula") });
  symbols = html("div", "nv-symbols", this.root);
  numbers = html("div", "nv-formula-numbers", this.root);

  /** ``step``: whose part of the formula is marked */
  write(source: ValueSource, index: Index | null, step?: string) {
    const { data } = source, tokens = data.formula ?? [];
    writePieces(this.symbols, formulaPieces(tokens, step), true);
    const isKnown = index && data.values && hasStatistics(data, index);
    writePieces(this.numbers, isKnown ? formulaPieces(withNumbers(source, tokens, step, index), step) : []);
  }
}

/** The loops, with the iteration that an element is in. */
export class LoopLines {
  root = html("div", "nv-loops", null, "", { role: "group", ariaLabel: _("Loops") });
  code = html("code", "", html("pre", "", this.root));
  now: HTMLElement[] = [];
  shown?: string;

  write(data: DecodedData, index: Index | null) {
    const { loops, formula = [] } = data;
    if (!loops) return;
    if (loops.code !== this.shown) this.rebuild(loops.code, termsOf(formula));
    iterationOf(data, loops, index).forEach((values, line) => {
      if (this.now[line].textContent === values.join(" ")) return;
      const spans = values.flatMap((value) => [" ", html("span", "", null, value)]);
      this.now[line].replaceChildren(...spans.slice(1));
    });
  }

  rebuild(code: string, terms: string[]) {
    this.shown = code;
    this.code.replaceChildren();
    this.now = markedLines(code, terms, true).map((parts, number) => {
      const line = html("span", "nv-loop-line", this.code);
      line.style.setProperty("--nv-indent", `${parts[0].text.match(/^ */)?.[0].length}ch`);
      writePieces(html("span", "", line), parts, !number);
      line.append(" "); // the line may break there
      return html("span", "nv-now", line);
    });
  }
}

/** The steps that compute a number. */
const MADE_BY: Record<string, string> = { eps: "normalized", gamma: "output", beta: "output" };

/**
 * For each line of the loops, its variables for an element: "n = 1". The last line, a comment, is about gamma,
 * which has axes of its own.
 */
export function iterationOf(data: DecodedData, { code, runs }: Loops, index: Index | null) {
  const variables = [...data.stats.axes, ...runs];
  return code.split("\n").map((line) => {
    const names = [...line.matchAll(/for (\w+) in/g)].map(([, name]) => name);
    const own = names.map((name) => variables.find((axis) => [axis.name, `${axis.name}_`].includes(name)) as NamedAxis);
    const axes = line.startsWith("#") ? (data.params?.axes ?? []) : own;
    const at = index && indexAlong(axes, data, index);
    return at ? axes.map(({ name }, i) => `${names[i] ?? name} = ${at[i]}`) : [];
  });
}

/** The terms of a layer. */
export const termsOf = (formula: Token[]) => formula.map(({ number }) => number).filter(Boolean);

/** The whole formula in pieces. ``step``: whose tokens are marked */
export function formulaPieces(tokens: Token[], step = ""): Piece[] {
  return tokens.flatMap(({ text, symbol, number, steps }) => {
    const isOf = steps.includes(step);
    const [at, end] = number ? [text.lastIndexOf(symbol), text.lastIndexOf(symbol) + symbol.length] : [0, 0];
    const parts = [["", text.slice(0, at)], [number, text.slice(at, end)], ["", text.slice(end)]];
    return parts.filter(([, part]) => part).map(([lights, part]) => ({ lights, text: part, isOf }));
  });
}

/** The tokens with an element's numbers in place of the symbols that are known at a step; without a step, of all. */
export function withNumbers(source: ValueSource, tokens: Token[], step: string | undefined, index: Index): Token[] {
  const keys = source.data.panels.map(({ key }) => key), last = keys.at(-1) as string;
  const madeBy = (name: string) => MADE_BY[name] ?? (keys.includes(name) ? name : last);
  const isKnown = (name: string) => !step || keys.indexOf(madeBy(name)) <= keys.indexOf(step);
  return tokens.map((token) => {
    if (!token.number || !isKnown(token.number)) return token;
    const symbol = numberOf(source, token.number, index);
    return { ...token, text: token.text.replace(token.symbol, symbol), symbol };
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
