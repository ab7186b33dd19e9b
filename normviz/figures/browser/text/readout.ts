// The read-out line: what an element shares, and with how many others.

import { html } from "../common/dom.ts";
import { formatCount, formatElement, formatNumber } from "../common/format.ts";
import { _, ngettext, words } from "../common/messages.ts";
import { broadcastAt, indexAlong, hasStatistics, tensorIndex } from "../tensor/sharing.ts";
import { sentPlace } from "../tensor/slices.ts";

const STATISTICS: Record<string, Record<string, (others: number) => string>> = {
  values: {
    meanSquare: (others) => others
      ? ngettext("shares its mean square {variance} with {others} other", "shares its mean square {variance} with {others} others", others)
      : _("shares its mean square {variance} with no other element"),
    mean: (others) => others
      ? ngettext("shares its mean {mean} and variance {variance} with {others} other", "shares its mean {mean} and variance {variance} with {others} others", others)
      : _("shares its mean {mean} and variance {variance} with no other element"),
    running: (others) => others
      ? ngettext(
        "shares its running mean {mean} and running variance {variance} with {others} other",
        "shares its running mean {mean} and running variance {variance} with {others} others", others)
      : _("shares its running mean {mean} and running variance {variance} with no other element"),
  },
  shape: {
    meanSquare: (others) => others
      ? ngettext("shares its mean square with {others} other", "shares its mean square with {others} others", others)
      : _("shares its mean square with no other element"),
    mean: (others) => others
      ? ngettext("shares its mean and variance with {others} other", "shares its mean and variance with {others} others", others)
      : _("shares its mean and variance with no other element"),
    running: (others) => others
      ? ngettext("shares its running mean and running variance with {others} other", "shares its running mean and running variance with {others} others", others)
      : _("shares its running mean and running variance with no other element"),
  },
};

const gammaAndBeta = (others: number) => others
  ? ngettext("shares {gamma} and {beta} with {others} other", "shares {gamma} and {beta} with {others} others", others)
  : _("shares {gamma} and {beta} with no other element");

const gammaAlone = (others: number) => others
  ? ngettext("shares {gamma} with {others} other", "shares {gamma} with {others} others", others)
  : _("shares {gamma} with no other element");

/** What an element shares, in phrases. */
export function describeElement(source: ValueSource, index: Index | null): Phrase[] {
  if (!index) return [[_("Point at an element to see which elements share its mean, variance, gamma and beta.")]];
  const { data } = source, { stats, params } = data, name = formatElement("x", tensorIndex(data, index));
  const sent = sentPlace(data, index) && data.values, values = hasStatistics(data, index) ? data.values : null;
  const kind = stats.running ? "running" : stats.center ? "mean" : "meanSquare", others = stats.size - 1;
  const phrases: Phrase[] = [[{ code: sent ? `${name} = ${formatNumber(source.valueAt("x", index))}` : name }]];
  const numbers = values && { mean: formatNumber(broadcastAt(values.mean, index)), variance: formatNumber(broadcastAt(values.var, index)) };
  phrases.push(words(STATISTICS[values ? "values" : "shape"][kind](others), { ...numbers, others: { strong: formatCount(others) } }));
  phrases.push(params ? describeParameters(source, params, index) : [_("this layer has no gamma and no beta")]);
  return phrases;
}

function describeParameters({ data }: ValueSource, params: GammaAndBeta, index: Index) {
  const place = indexAlong(params.axes, data, index), others = params.size - 1, sent = sentPlace(data, index);
  const element = (name: "gamma" | "beta") => {
    const array = data.values?.[name];
    return { code: formatElement(name, place) + (array && sent ? ` = ${formatNumber(broadcastAt(array, index))}` : "") };
  };
  const message = params.bias ? gammaAndBeta(others) : gammaAlone(others);
  return words(message, { gamma: element("gamma"), beta: element("beta"), others: { strong: formatCount(others) } });
}

/** Phrases as one text, for a screen reader. */
export function plainText(phrases: Phrase[]) {
  return phrases.map((phrase) => phrase.map((word) => (typeof word === "string" ? word : Object.values(word)[0])).join("")).join(" · ");
}

export function writePhrases(parent: HTMLElement, phrases: Phrase[]) {
  parent.replaceChildren();
  phrases.forEach((phrase, i) => {
    if (i) html("span", "nv-dot", parent, " · ");
    const element = html("span", "nv-phrase", parent);
    for (const word of phrase) {
      if (typeof word === "string") element.append(word);
      else html("code" in word ? "code" : "strong", "", element, Object.values(word)[0]);
    }
  });
}
