// The views of a file: which one a fragment of the address asks for, and which one a control leads to.

import { sumOf } from "../../lessons/browser/control_bar.ts";

/** ``to``: the number of the view for each value */
type PlayableInput = InputData & { to: number[] };
type PlayableRow = Omit<RowData, "inputs" | "more"> & { inputs: PlayableInput[]; more: PlayableInput[][] };
export type PlayableView = Omit<FileView, "rows"> & { rows: PlayableRow[] };

/** The views, with references replaced by the long values that several views share. */
export function unpackViews({ pool, views }: FileViews) {
  /** A value refers only to earlier values. */
  const whole: unknown[] = [];
  for (const value of pool) whole.push(unpacked(value, whole));
  return views.map((view) => unpacked(view, whole)) as PlayableView[];
}

function unpacked(value: any, whole: unknown[]): unknown {
  if (Array.isArray(value)) return value.map((one) => unpacked(one, whole));
  if (value === null || typeof value !== "object") return value;
  if ("$" in value) return whole[value.$];
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, unpacked(one, whole)]));
}

/** The first view that has every requested setting, or else the first of those that have most of them. Unknown names are ignored. */
export function viewNumber(packed: FileViews, views: PlayableView[], asked: URLSearchParams) {
  const known = new Set([packed.common, ...views.map(({ state }) => state)].flatMap(Object.keys));
  const pairs = [...asked].filter(([name]) => known.has(name));
  const counts = views.map(({ state }) => pairs.filter(([name, text]) => sameSetting(state[name] ?? packed.common[name] ?? "", text)).length);
  const most = Math.max(...counts);
  return { number: counts.indexOf(most), found: most === pairs.length };
}

/** Whether two texts of a setting mean the same: spaces, capital letters, brackets and the names of first arguments do not count. */
function sameSetting(one: string, other: string) {
  const plain = (text: string) =>
    text
      .toLowerCase()
      .replace(/(torch\.)?nn\.|(normalized_shape|num_groups|num_channels|num_features|dim)\s*=/g, "")
      .replace(/[\s()[\]]|,+$/g, "");
  return plain(one) === plain(other);
}

/** The place of an entered value among the values of an input. */
export function optionOf(input: PlayableInput, value: unknown) {
  const { values, options = [] } = input;
  if (!values) return Number(value);
  if (Array.isArray(value)) return values.indexOf(sumOf(options, value));
  const [wanted, now] = [Number(value), Number(input.value)];
  return wanted < now ? values.findLastIndex((one) => one <= wanted) : values.findIndex((one) => one >= wanted);
}
