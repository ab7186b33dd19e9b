// What a panel shows of one element, in one sentence for a screen reader.

import { formatCount, formatElement, formatNumber } from "../common/format.ts";
import { _, ngettext } from "../common/messages.ts";
import { tensorIndex } from "../tensor/sharing.ts";
import { listSlices } from "../tensor/slices.ts";
import { kindOf, sharingOf } from "./moves.ts";
import { litBy, type DrawnPanel, type Light, type PanelHost } from "../tensor/drawn_panel.ts";

type Said = { element: string; group: string };
type Sharer = (others: number, said: Said) => string;

const SHARES: Record<string, Sharer> = {
  mean: (others, said) => others
    ? ngettext("{element}; shares its mean with {n} other: {group}", "{element}; shares its mean with {n} others: {group}", others, said)
    : _("{element}; shares its mean with no other element", said),
  meanSquare: (others, said) => others
    ? ngettext("{element}; shares its mean square with {n} other: {group}", "{element}; shares its mean square with {n} others: {group}", others, said)
    : _("{element}; shares its mean square with no other element", said),
  running: (others, said) => others
    ? ngettext("{element}; shares its running mean with {n} other: {group}", "{element}; shares its running mean with {n} others: {group}", others, said)
    : _("{element}; shares its running mean with no other element", said),
  params: (others, said) => others
    ? ngettext("{element}; shares its gamma with {n} other: {group}", "{element}; shares its gamma with {n} others: {group}", others, said)
    : _("{element}; shares its gamma with no other element", said),
};

/** The indices along an axis in words: one, or several in a row. */
const NOUNS: Record<string, [(at: string) => string, (from: string, to: string) => string]> = {
  n: [(at) => _("example {at}", { at }), (from, to) => _("examples {from} to {to}", { from, to })],
  c: [(at) => _("channel {at}", { at }), (from, to) => _("channels {from} to {to}", { from, to })],
  h: [(at) => _("row {at}", { at }), (from, to) => _("rows {from} to {to}", { from, to })],
  w: [(at) => _("column {at}", { at }), (from, to) => _("columns {from} to {to}", { from, to })],
  l: [(at) => _("position {at}", { at }), (from, to) => _("positions {from} to {to}", { from, to })],
  d: [(at) => _("feature {at}", { at }), (from, to) => _("features {from} to {to}", { from, to })],
};

/** "x[1, 2, 0, 3] = 0.73; shares its mean with 47 others: all of example 1" */
export function speakElement(panel: DrawnPanel, index: Index | null) {
  if (!index) return _("No element is selected.");
  const sharing = panel.figure.links && sharingOf(panel, kindOf(panel)), element = elementAndValue(panel, index);
  if (!sharing) return element;
  const { center, running } = sharing as Sharing & Partial<Statistics>, kind = kindOf(panel) === "params" ? "params" : running ? "running" : center ? "mean" : "meanSquare";
  return SHARES[kind](sharing.size - 1, { element, group: groupInWords(panel.data, sharing, index) });
}

/** The element and the number that the panel shows for it; in a panel of groups, the value of x. */
function elementAndValue(panel: DrawnPanel, index: Index) {
  const { data, figure, view } = panel, name = formatElement(data.name ?? "x", tensorIndex(data, index)), isValue = figure.scale === "values";
  const hasX = data.panels.some(({ key, scale }) => key === "x" && scale === "values");
  const value = isValue ? panel.valueAt(index) : hasX ? view.valueAt("x", index) : NaN;
  if (!isValue && Number.isNaN(value)) return name;
  const number = formatNumber(value);
  return isValue && figure.key !== "x" ? _("{element}: {name} = {value}", { element: name, name: figure.title, value: number }) : `${name} = ${number}`;
}

/** What a term lights: "mean: 48 elements, all of example 1" */
export function speakLit({ data, active }: PanelHost, { word, at }: Light) {
  const kind = litBy({ word, at }), index = at ?? active;
  if (!index) return word;
  const sharing = kind !== "x" && data[kind], group = sharing && groupInWords(data, sharing, index);
  if (!group) return `${word}: ${formatElement("x", tensorIndex(data, index))}`;
  return ngettext("{term}: {n} element, {group}", "{term}: {n} elements, {group}", sharing.size, { term: word, group });
}

/** Which elements have the group of an element: "all of example 1, channels 2 to 3". */
function groupInWords({ axes, grid }: { axes: string[], grid: GridData }, sharing: Sharing, index: Index) {
  const element = tensorIndex({ grid }, index);
  const places = axes.flatMap((name, axis) => {
    const parts = sharing.axes.filter((part) => part.axis === axis);
    const key = (at: number) => parts.map(({ divide, modulo }) => Math.floor(at / divide) % modulo).join();
    const alike = parts.length ? [...Array(grid.shape[axis]).keys()].filter((at) => key(at) === key(element[axis])) : [];
    return alike.length && alike.length < grid.shape[axis] ? [indicesInWords(name, alike)] : [];
  });
  return places.length ? _("all of {place}", { place: places.join(_(", ")) }) : _("all of {tensor}", { tensor: "x" });
}

function indicesInWords(name: string, indices: number[]) {
  const [from, to] = [indices[0], indices[indices.length - 1]].map(formatCount), isRun = indices.length === indices[indices.length - 1] - indices[0] + 1;
  const nouns = NOUNS[name];
  if (indices.length === 1) return nouns ? nouns[0](from) : `${name} = ${from}`;
  if (isRun) return nouns ? nouns[1](from, to) : _("{axis} = {from} to {to}", { axis: name, from, to });
  return `${name} = ${listSlices([...indices.slice(0, 2), ...indices.slice(-1)])}`;
}
