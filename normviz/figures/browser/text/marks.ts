// What the parts of a program are about: "mean", "gamma", ... of one element. Parts that decide none of them
// have no mark.

import type { Term } from "./terms.ts";

const STATISTIC = "statistic"; // the mean or, in a layer without a mean, the mean square
const KEYWORDS: Record<string, string> = {
  [STATISTIC]: "dim axis keepdim keepdims normalized_shape reduction_axes num_groups groups momentum " +
    "track_running_stats use_running_average",
  var: "use_fast_variance",
  eps: "eps epsilon",
  gamma: "affine elementwise_affine scale use_scale feature_axes num_features",
  beta: "bias center use_bias",
};
const WORD_OF_KEYWORD = new Map(Object.entries(KEYWORDS).flatMap(([word, keywords]) =>
  keywords.split(" ").map((keyword) => [keyword, word])));
// Other names are words, after "running_".
const WORD_OF_NAME: Record<string, string> = { mean_square: "var", y: "output", return: "output" };
const STATEMENT = /^\s*(mean_square|mean|var) = /;
const PART = new RegExp([
  String.raw`(?<=nn\.\w*Norm\w*\()(?<first>\[[^\]]*\]|\d+)`, // of torch's layer
  String.raw`(?<=nn\.GroupNorm\(\d+, )(?<second>\d+)`,
  String.raw`(?<=(?:var|square) [+-] )(?<eps>\w+\.finfo\(x\.dtype\)\.eps|[\w.*+-]+)`,
  String.raw`(?<pattern>"[^"]*->[^"]*"|(?<= )"mean")`, // of einops
  String.raw`(?<!\w)(?<keyword>\w+)=(?:\[[^\]]*\]|\([^()]*\)|[\w.*+-]+)`,
  String.raw`(?<![\w.])(?<name>(?:running_)?(?:mean_square|mean|var|gamma|beta|x|y|return))(?!\w)(?:\.(?:reshape|permute|transpose)\([^()]*\))?`,
].join("|"), "g");
const LOOP_PART = /(?<x>x\[[^\]]*\])|running_(?<running>mean|var)(?:\[[^\]]*\])?|normalize|for \w+ in range\(\w+\)(?: for \w+ in range\(\w+\))*:?/g;

type Found = { start: number; text: string; word: string };
type Groups = Record<string, string | undefined>; // of a pattern

/**
 * The lines of a program in parts.
 * @param words the terms of the layer: no others are marked
 * @param isLoops pseudo-code of loops
 */
export function markedLines(program: string, words: string[], isLoops: boolean): Term[][] {
  return program.split("\n").map((line) => {
    const parts: Term[] = [];
    let at = 0;
    for (const { start, text, word } of isLoops ? partsOfLoop(line) : partsOfLine(line)) {
      const lights = word !== STATISTIC ? word : words.includes("mean") ? "mean" : "var";
      if (!words.includes(lights)) continue;
      parts.push({ lights: "", text: line.slice(at, start) }, { lights, text });
      at = start + text.length;
    }
    return [...parts, { lights: "", text: line.slice(at) }].filter(({ text }) => text);
  });
}

/** Arguments in a statement about a mean are about it, and so are those of einops after gamma or beta about that. */
function partsOfLine(line: string): Found[] {
  const statement = STATEMENT.exec(line)?.[1] ?? "", about = WORD_OF_NAME[statement] ?? statement;
  const isEinops = /reduce\(|repeat\(/.test(line);
  let last = about;
  const wordOf = ({ first, second, eps, keyword, name }: Groups) => {
    if (first || second) return first ? STATISTIC : "gamma";
    if (keyword) {
      const known = WORD_OF_KEYWORD.get(keyword) ?? (isEinops ? last : "");
      return about && known === STATISTIC ? about : known;
    }
    if (!name) return eps ? "eps" : last;
    const word = WORD_OF_NAME[name] ?? name.replace("running_", "");
    last = about || word;
    return name === "x" && about ? about : word;
  };
  const code = line.startsWith("#") ? "" : line.split("  # ")[0];
  return foundBy(PART, code, wordOf);
}

/** A loop is about the group that it makes or runs over, the line of sizes about x, the comment about gamma. */
function partsOfLoop(line: string): Found[] {
  const text = line.trimStart(), isComment = text.startsWith("#");
  const start = line.length - text.length;
  if (isComment || text.includes(" = ")) return [{ start, text, word: isComment ? "gamma" : "x" }];
  return foundBy(LOOP_PART, line, ({ x, running }) => (x ? "x" : (running ?? STATISTIC)));
}

function foundBy(pattern: RegExp, line: string, wordOf: (groups: Groups) => string | undefined): Found[] {
  return [...line.matchAll(pattern)].map((found) => ({
    start: found.index, text: found[0], word: wordOf(found.groups ?? {}) ?? "",
  }));
}
