// Arrays of numbers come as base64 of little-endian float32, with their shape.

import { tablesOf } from "./sharing.ts";

export function decodeFloats(array: PackedArray) {
  if (array.values) return array.values;
  const text = atob(array.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

/**
 * The data with mean, variance, gamma, beta and moments decoded, and with the tables of groups.
 * @param grid other slices than those sent, if the reader moved them
 */
export function decodeData(data: ViewData, grid: GridData = data.grid): DecodedData {
  const { stats, params, sharings } = data;
  const tabled = <S extends Sharing>(sharing: S): Tabled<S> => ({ ...sharing, tables: tablesOf(sharing.axes, grid) });
  const decode = (array: PackedArray) => atSlices({ shape: array.shape, values: decodeFloats(array) }, data.grid, grid);
  return {
    ...data,
    grid,
    sent: data.grid,
    values: (data.values && mapped(data.values as unknown as Record<string, PackedArray | number>, (value) => (typeof value === "number" ? value : decode(value)))) as any,
    moments: data.moments ? mapped(data.moments, ({ mean, var: variance }) => ({ mean: decode(mean), var: decode(variance) })) : null,
    stats: stats && tabled(stats),
    params: params && tabled(params),
    sharings: sharings && mapped(sharings, (one) => one && tabled(one)),
  };
}

const mapped = <Value, Result>(object: Record<string, Value>, change: (value: Value) => Result): Record<string, Result> => Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

/** An array that broadcasts over the sent elements, at the slices of another grid; NaN where nothing was sent. */
function atSlices(array: FloatArray, sent: GridData, grid: GridData): FloatArray {
  if (sent === grid) return array;
  /** The positions in ``array``, in row-major order; NaN where it has none. */
  let places: number[] = [0];
  array.shape.forEach((size, axis) => {
    const along = size > 1 ? grid.indices[axis].map((index) => sent.indices[axis].indexOf(index)) : [0];
    places = places.flatMap((place) => along.map((at) => (at < 0 ? NaN : place * size + at)));
  });
  return { shape: array.shape, values: Float32Array.from(places, (place) => array.values[place] ?? NaN) };
}
