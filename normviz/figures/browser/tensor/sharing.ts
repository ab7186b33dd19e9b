// Which elements share a mean and a variance, a gamma and a beta, and which value each element uses.

import { _ } from "../common/messages.ts";
import { sentPlace } from "./slices.ts";

/**
 * One table for each axis of x. The number of an element's group is the sum of its entries, one from each table.
 * Groups are numbered in row-major order of ``axes``.
 */
export function tablesOf(axes: NamedAxis[], grid: GridData) {
  const tables = grid.indices.map((indices) => indices.map(() => 0));
  let stride = 1;
  for (const place of [...axes].reverse()) {
    grid.indices[place.axis].forEach((index, at) => (tables[place.axis][at] += indexAt(place, index) * stride));
    stride *= place.modulo;
  }
  return tables;
}

const indexAt = ({ divide, modulo }: NamedAxis, index: number): number => Math.floor(index / divide) % modulo;

/** ``tables``: one per axis */
export function groupOf(tables: number[][], index: Index) {
  return tables.reduce((id, table, axis) => id + table[index[axis]], 0);
}

/** The first drawn element of each group, by its id. */
export function firstOfGroups(tables: number[][], geometry: { each(visit: (index: Index) => void): void }) {
  const firsts = new Map<number, Index>();
  geometry.each((index) => {
    const group = groupOf(tables, index);
    if (!firsts.has(group)) firsts.set(group, index);
  });
  return firsts;
}

/** The drawn groups in the order of their ids: each has a color of its own, however many are left out. Returns rank by id. */
export function rankGroups(tables: number[][]): Map<number, number> {
  let ids = new Set([0]);
  for (const table of tables) {
    const entries = [...new Set(table)];
    ids = new Set([...ids].flatMap((id) => entries.map((entry) => id + entry)));
  }
  return new Map([...ids].sort((a, b) => a - b).map((id, rank) => [id, rank]));
}

/** The position of an index in row-major order. */
export const positionOf = (index: Index, shape: number[]) => index.reduce((position, at, axis) => position * shape[axis] + at, 0);

/** The index at a position in row-major order. */
export function indexOf(position: number, shape: number[]): Index {
  const index = [];
  for (const size of [...shape].reverse()) {
    index.unshift(position % size);
    position = Math.floor(position / size);
  }
  return index;
}

export function sameIndex(a: Index | null | undefined, b: Index | null | undefined) {
  return a === b || (!!a && !!b && a.length === b.length && a.every((at, axis) => at === b[axis]));
}

/** The index of a drawn element in the whole tensor. */
export function tensorIndex(data: { grid: GridData }, index: Index) {
  return index.map((at, axis) => data.grid.indices[axis][at]);
}

/** The index of the gamma, the mean or the running mean that an element uses. */
export function indexAlong(axes: NamedAxis[], data: { grid: GridData }, index: Index) {
  return axes.map((place) => indexAt(place, data.grid.indices[place.axis][index[place.axis]]));
}

/** The value at a position of an array that broadcasts over the elements that were sent. */
export function broadcastAt(array: FloatArray, index: Index) {
  return array.values[broadcastPosition(array.shape, index)];
}

/** The position, in an array of this shape that broadcasts, of the value for an element. */
export const broadcastPosition = (shape: number[], index: Index) => positionOf(shape.map((size, axis) => (size > 1 ? index[axis] : 0)), shape);

/** What the layer multiplies by: gamma, or 1 + gamma. */
export const factorOf = (params: GammaAndBeta | null, gamma: number) => (params?.zero_centered_gamma ? 1 + gamma : gamma);

/** What the layer multiplies by, in symbols. */
export const factorName = (params: GammaAndBeta | null) => (params?.zero_centered_gamma ? "1 + gamma" : "gamma");

/** Where a tensor's index is drawn; null if it is not. */
export function placeOf(data: { grid: GridData }, index: Index) {
  const place = index.map((at, axis) => data.grid.indices[axis].indexOf(at));
  return place.includes(-1) ? null : place;
}

export function positionsOf(table: number[], value: number) {
  return table.flatMap((entry, position) => (entry === value ? [position] : []));
}

type Computed = { stats: Tabled<Statistics>, computed?: number[] | null };

/** Whether the values of an element's statistics group were computed. */
export const isComputed = ({ stats, computed }: Computed, index: Index) => !computed || computed.includes(groupOf(stats.tables, index));

/** Whether the mean and the variance that an element uses are known here, and so its output. */
export const hasStatistics = (data: Computed & { grid: GridData, sent: GridData }, index: Index) =>
  Boolean(sentPlace(data, index)) && (data.stats?.running || isComputed(data, index));

/** The elements of an element's statistics group, as far as their values were sent; itself among them. */
export function drawnPeers(data: { stats: Tabled<Statistics>, grid: GridData, sent: GridData }, index: Index) {
  const { stats } = data, positions = stats.tables.map((table, axis) => positionsOf(table, table[index[axis]]));
  const shape = positions.map(({ length }) => length), count = shape.reduce((product, size) => product * size, 1);
  const members = Array.from({ length: count }, (_member, number) => indexOf(number, shape).map((at, axis) => positions[axis][at]));
  return members.filter((member) => sentPlace(data, member));
}

/** The elements of an element's statistics group whose values are known. ``complete``: that is all of them. */
export function groupOfElement(data: DecodedData, index: Index) {
  const peers = drawnPeers(data, index);
  return { peers, complete: peers.length === data.stats.size };
}

/** The statistics of each group whose values were sent, up to ``most`` groups: their index, mean and variance. */
export function listStatistics({ stats, computed }: Computed, values: DecodedValues, grid: GridData, most = 100) {
  const tables = tablesOf(stats.axes, grid), firsts = tables.map((table) => table.flatMap((id, position) => (table.indexOf(id) === position ? [position] : [])));
  const groups = new Map<number, Index>();
  const visit = (index: Index): void => {
    if (groups.size >= most) return;
    if (index.length === firsts.length) groups.set(groupOf(tables, index), index);
    else for (const position of firsts[index.length]) visit([...index, position]);
  };
  visit([]);
  const known = [...groups].flatMap(([id, index]) => (!computed || stats.running || computed.includes(id) ? [index] : []));
  return known.map((index) => ({
    index: indexAlong(stats.axes, { grid }, index),
    mean: broadcastAt(values.mean, index),
    variance: broadcastAt(values.var, index),
  }));
}

/** The name of a group, which has no other meaning than its color. */
export function groupName({ center, running }: Sharing & Partial<Statistics>, n: number) {
  if (center === undefined) return _("gamma {n}", { n });
  return center || running ? _("mean {n}", { n }) : _("mean square {n}", { n });
}
