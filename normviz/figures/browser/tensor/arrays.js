// Arrays of numbers come as base64 of little-endian float32, with their shape.

import { tablesOf } from "./sharing.js";

/** @param {PackedArray} array */
export function decodeFloats(array) {
  if (array.values) return array.values;
  const text = atob(array.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

/**
 * The data with mean, variance, gamma, beta and moments decoded, and with the tables of groups.
 * @param {ViewData} data
 * @param {GridData} grid other slices than those sent, if the reader moved them
 * @returns {DecodedData}
 */
export function decodeData(data, grid = data.grid) {
  const { stats, params, sharings } = data;
  /** @type {<S extends Sharing>(sharing: S) => Tabled<S>} */
  const tabled = (sharing) => ({ ...sharing, tables: tablesOf(sharing.axes, grid) });
  /** @param {PackedArray} array */
  const decode = (array) => atSlices({ shape: array.shape, values: decodeFloats(array) }, data.grid, grid);
  return {
    ...data,
    grid,
    sent: data.grid,
    values: /** @type {any} */ (data.values && mapped(data.values, (value) => (typeof value === "number" ? value : decode(value)))),
    moments: data.moments ? mapped(data.moments, ({ mean, var: variance }) => ({ mean: decode(mean), var: decode(variance) })) : null,
    stats: stats && tabled(stats),
    params: params && tabled(params),
    sharings: sharings && mapped(sharings, (one) => one && tabled(one)),
  };
}

/**
 * @template Value, Result
 * @param {Record<string, Value>} object
 * @param {(value: Value) => Result} change
 * @returns {Record<string, Result>}
 */
const mapped = (object, change) => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

/**
 * An array that broadcasts over the sent elements, at the slices of another grid; NaN where nothing was sent.
 * @param {FloatArray} array
 * @param {GridData} sent
 * @param {GridData} grid
 * @returns {FloatArray}
 */
function atSlices(array, sent, grid) {
  if (sent === grid) return array;
  /** @type {number[]} The positions in ``array``, in row-major order; NaN where it has none. */
  let places = [0];
  array.shape.forEach((size, axis) => {
    const along = size > 1 ? grid.indices[axis].map((index) => sent.indices[axis].indexOf(index)) : [0];
    places = places.flatMap((place) => along.map((at) => (at < 0 ? NaN : place * size + at)));
  });
  return { shape: array.shape, values: Float32Array.from(places, (place) => array.values[place] ?? NaN) };
}
