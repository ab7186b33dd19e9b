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
 * @returns {DecodedData}
 */
export function decodeData(data) {
  const { grid, stats, params, sharings } = data;
  /** @type {<S extends Sharing>(sharing: S) => Tabled<S>} */
  const tabled = (sharing) => ({ ...sharing, tables: tablesOf(sharing.axes, grid) });
  return {
    ...data,
    values: data.values && decodeValues(data.values),
    moments: data.moments ? decodeMoments(data.moments) : null,
    stats: stats && tabled(stats),
    params: params && tabled(params),
    sharings: sharings && Object.fromEntries(Object.entries(sharings).map(([key, one]) => [key, one && tabled(one)])),
  };
}

/**
 * @param {NonNullable<ViewData["values"]>} values
 * @returns {DecodedValues}
 */
function decodeValues(values) {
  return /** @type {any} */ (Object.fromEntries(Object.entries(values).map(([name, array]) => [name, typeof array === "number" ? array : decodeArray(array)])));
}

/**
 * @param {Record<string, Moments<PackedArray>>} moments
 * @returns {Record<string, Moments<FloatArray>>}
 */
function decodeMoments(moments) {
  return Object.fromEntries(Object.entries(moments).map(([stage, { mean, var: variance }]) => [stage, { mean: decodeArray(mean), var: decodeArray(variance) }]));
}

/**
 * @param {PackedArray} array
 * @returns {FloatArray}
 */
const decodeArray = (array) => ({ shape: array.shape, values: decodeFloats(array) });
