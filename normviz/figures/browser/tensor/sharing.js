// Which elements share a mean and a variance, a gamma and a beta, and which value each element uses.

import { sentPlace } from "./slices.js";

/**
 * One table for each axis of x. The number of an element's group is the sum of its entries, one from each table.
 * Groups are numbered in row-major order of ``axes``.
 * @param {NamedAxis[]} axes
 * @param {GridData} grid
 */
export function tablesOf(axes, grid) {
  const tables = grid.indices.map((indices) => indices.map(() => 0));
  let stride = 1;
  for (const place of [...axes].reverse()) {
    grid.indices[place.axis].forEach((index, at) => (tables[place.axis][at] += indexAt(place, index) * stride));
    stride *= place.modulo;
  }
  return tables;
}

/** @type {(place: NamedAxis, index: number) => number} */
const indexAt = ({ divide, modulo }, index) => Math.floor(index / divide) % modulo;

/**
 * @param {number[][]} tables one per axis
 * @param {Index} index
 */
export function groupOf(tables, index) {
  return tables.reduce((id, table, axis) => id + table[index[axis]], 0);
}

/**
 * The first drawn element of each group, by its id.
 * @param {number[][]} tables
 * @param {{ each(visit: (index: Index) => void): void }} geometry of what is drawn
 */
export function firstOfGroups(tables, geometry) {
  /** @type {Map<number, Index>} */
  const firsts = new Map();
  geometry.each((index) => {
    const group = groupOf(tables, index);
    if (!firsts.has(group)) firsts.set(group, index);
  });
  return firsts;
}

/**
 * The drawn groups in the order of their ids: each has a color of its own, however many are left out.
 * @param {number[][]} tables
 * @returns {Map<number, number>} rank by id
 */
export function rankGroups(tables) {
  let ids = new Set([0]);
  for (const table of tables) {
    const entries = [...new Set(table)];
    ids = new Set([...ids].flatMap((id) => entries.map((entry) => id + entry)));
  }
  return new Map([...ids].sort((a, b) => a - b).map((id, rank) => [id, rank]));
}

/**
 * The position of an index in row-major order.
 * @param {Index} index
 * @param {number[]} shape
 */
export const positionOf = (index, shape) => index.reduce((position, at, axis) => position * shape[axis] + at, 0);

/**
 * The index at a position in row-major order.
 * @param {number} position
 * @param {number[]} shape
 * @returns {Index}
 */
export function indexOf(position, shape) {
  const index = [];
  for (const size of [...shape].reverse()) {
    index.unshift(position % size);
    position = Math.floor(position / size);
  }
  return index;
}

/**
 * @param {Index | null | undefined} a
 * @param {Index | null | undefined} b
 */
export function sameIndex(a, b) {
  return a === b || (!!a && !!b && a.length === b.length && a.every((at, axis) => at === b[axis]));
}

/**
 * The index of a drawn element in the whole tensor.
 * @param {{ grid: GridData }} data
 * @param {Index} index
 */
export function tensorIndex(data, index) {
  return index.map((at, axis) => data.grid.indices[axis][at]);
}

/**
 * The index of the gamma, the mean or the running mean that an element uses.
 * @param {NamedAxis[]} axes
 * @param {{ grid: GridData }} data
 * @param {Index} index
 */
export function indexAlong(axes, data, index) {
  return axes.map((place) => indexAt(place, data.grid.indices[place.axis][index[place.axis]]));
}

/**
 * The value at a position of an array that broadcasts over the elements that were sent.
 * @param {FloatArray} array
 * @param {Index} index
 */
export function broadcastAt(array, index) {
  return array.values[broadcastPosition(array.shape, index)];
}

/**
 * The position, in an array of this shape that broadcasts, of the value for an element.
 * @param {number[]} shape
 * @param {Index} index
 */
export const broadcastPosition = (shape, index) => positionOf(shape.map((size, axis) => (size > 1 ? index[axis] : 0)), shape);

/**
 * What the layer multiplies by: gamma, or 1 + gamma.
 * @param {GammaAndBeta | null} params
 * @param {number} gamma
 */
export const factorOf = (params, gamma) => (params?.zero_centered_gamma ? 1 + gamma : gamma);

/**
 * What the layer multiplies by, in symbols.
 * @param {GammaAndBeta | null} params
 */
export const factorName = (params) => (params?.zero_centered_gamma ? "1 + gamma" : "gamma");

/**
 * Where a tensor's index is drawn; null if it is not.
 * @param {{ grid: GridData }} data
 * @param {Index} index
 */
export function placeOf(data, index) {
  const place = index.map((at, axis) => data.grid.indices[axis].indexOf(at));
  return place.includes(-1) ? null : place;
}

/**
 * @param {number[]} table
 * @param {number} value
 */
export function positionsOf(table, value) {
  return table.flatMap((entry, position) => (entry === value ? [position] : []));
}

/**
 * The elements of an element's statistics group, as far as their values were sent; itself among them.
 * @param {{ stats: Tabled<Statistics>, grid: GridData, sent: GridData }} data
 * @param {Index} index
 */
export function drawnPeers(data, index) {
  const { stats } = data, positions = stats.tables.map((table, axis) => positionsOf(table, table[index[axis]]));
  const shape = positions.map(({ length }) => length), count = shape.reduce((product, size) => product * size, 1);
  const members = Array.from({ length: count }, (_member, number) => indexOf(number, shape).map((at, axis) => positions[axis][at]));
  return members.filter((member) => sentPlace(data, member));
}

/**
 * The values of x in an element's statistics group, as far as they are known. ``complete``: that is all of them.
 * @param {ValueSource} source
 * @param {Index} index
 */
export function groupValues(source, index) {
  const values = drawnPeers(source.data, index).map((peer) => source.valueAt("x", peer));
  return { values, complete: values.length === source.data.stats.size };
}

/**
 * The statistics of each group whose values were sent, up to ``most`` groups: their index, mean and variance.
 * @param {Statistics} stats
 * @param {DecodedValues} values
 * @param {GridData} grid
 */
export function listStatistics(stats, values, grid, most = 100) {
  const tables = tablesOf(stats.axes, grid), firsts = tables.map((table) => table.flatMap((id, position) => (table.indexOf(id) === position ? [position] : [])));
  /** @type {Map<number, Index>} */
  const groups = new Map();
  /** @type {(index: Index) => void} */
  const visit = (index) => {
    if (groups.size >= most) return;
    if (index.length === firsts.length) groups.set(groupOf(tables, index), index);
    else for (const position of firsts[index.length]) visit([...index, position]);
  };
  visit([]);
  return [...groups.values()].map((index) => ({
    index: indexAlong(stats.axes, { grid }, index),
    mean: broadcastAt(values.mean, index),
    variance: broadcastAt(values.var, index),
  }));
}
