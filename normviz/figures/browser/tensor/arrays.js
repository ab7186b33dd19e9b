// Arrays of numbers come as base64 of little-endian float32, with their shape.

/** @param {PackedArray} array */
export function decodeFloats(array) {
  const text = atob(array.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}

/**
 * The data with mean, variance, gamma and beta decoded.
 * @param {ViewData} data
 * @returns {DecodedData}
 */
export function decodeValues(data) {
  if (!data.values) return { ...data, values: null };
  const decoded = Object.entries(data.values).map(([name, array]) =>
    typeof array === "number" ? [name, array] : [name, { shape: array.shape, values: decodeFloats(array) }]);
  return { ...data, values: Object.fromEntries(decoded) };
}
