// Numbers and indices as text.

const MINUS = "\u2212", NARROW_SPACE = "\u202f"; // no line breaks at it

/** A number with four significant digits; very small and very large ones in scientific notation. */
export function formatNumber(value: number, digits = 4) {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : `${MINUS}inf`;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
    const [mantissa, power] = value.toExponential(Math.max(0, digits - 2)).split("e");
    return `${trimZeros(mantissa)}e${power.replace("+", "")}`.replaceAll("-", MINUS);
  }
  const places = size >= 1 ? Math.max(0, digits - Math.ceil(Math.log10(size + 1e-12))) : size ? digits - 2 - Math.floor(Math.log10(size)) : 0;
  return withSpaces(trimZeros(settled(value, digits + 2).toFixed(Math.min(places, 8)))).replace("-", MINUS);
}

/**
 * Without the rounding error of float32: a mean of 0.04125 that is 0.04124999 in float32 is written as 0.04125, too.
 * A 5 at the end is rounded away from zero, also where the nearest float64 is below it.
 * @param digits significant ones that are kept
 */
const settled = (value: number, digits: number) => (Math.abs(value) < 1e5 ? Number(value.toPrecision(Math.max(6, digits))) * (1 + 1e-12) : value);

/**
 * A number for a cell or a strip, in as few characters as possible.
 * @param most the largest absolute value that is drawn: beside values below 0.1, 0.0013 is not 0. What is a millionth of it comes from rounding
 */
export function formatShort(value: number, most = 1) {
  const size = Math.abs(value), isSmall = most < 0.1 && size < 0.0095 && size > 1e-6 * most;
  if (!Number.isFinite(value)) return formatNumber(value);
  if (size >= 1e5 || isSmall) return value.toExponential(0).replace("e+", "e").replaceAll("-", MINUS);
  const text = settled(value, 6).toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
  return (Number(text) === 0 ? trimZeros(text.replace("-", "")) : trimZeros(text)).replace("-", MINUS);
}

function trimZeros(text: string) {
  const trimmed = text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  return trimmed === "-0" ? "0" : trimmed;
}

/** An integer with commas between thousands, or narrow spaces from 10 000 on where a comma begins the decimals. */
export function formatCount(count: number) {
  return LANGUAGE.decimalComma ? withSpaces(String(count)) : count.toLocaleString("en");
}

/** Where a comma begins the decimals, narrow spaces are between thousands, and four digits are not grouped. */
const withSpaces = (number: string) => (LANGUAGE.decimalComma ? number.replace(/(?<!\.\d*)\d{5,}/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, NARROW_SPACE)) : number);

/** A number as a factor or a term: negative ones in parentheses. */
export function parenthesize(value: number) {
  return value < 0 ? `(${formatNumber(value)})` : formatNumber(value);
}

/** An element as Python writes it: ``x[0, 2]``. */
export function formatElement(name: string, index: Index) {
  return index.length ? `${name}[${index.join(", ")}]` : name;
}

/**
 * A value that a reader drags, with as many digits as its distance from other values needs.
 * @param most the largest absolute value that is drawn
 */
export const roundedFor = (most: number, value: number) => Number(value.toFixed(Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(most))))));

/** A number in SVG: with at most two decimals. */
export const round2 = (number: number | string | null) => String(Number(Number(number).toFixed(2)));
