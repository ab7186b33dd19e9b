// Where values are on a strip: a shared axis with round ticks, and dots that are stacked where they would overlap.

/**
 * The smallest and the largest number, with a margin; 0 is always inside.
 * @param {number[]} numbers
 * @returns {[number, number]}
 */
export function rangeOf(numbers) {
  let low = 0, high = 0;
  for (const number of numbers) {
    if (!Number.isFinite(number)) continue;
    low = Math.min(low, number);
    high = Math.max(high, number);
  }
  const margin = 0.04 * (high - low) || 1;
  return [low - margin, high + margin];
}

/**
 * About ``wanted`` round numbers inside a range.
 * @param {[number, number]} range
 * @param {number} wanted
 */
export function ticksIn([low, high], wanted) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(low / step), count = Math.max(0, Math.floor(high / step) - first + 1);
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

/**
 * The center of each dot: as far right as its value, above the dots that are there already.
 * @param {number[]} places in px; NaN for a value that has no place
 * @param {number} height in px, of the strip
 * @param {number} radius in px
 * @returns {({ x: number, y: number } | null)[]}
 */
export function stackDots(places, height, radius) {
  const width = 2 * radius, counts = countsOf(places, width), most = Math.max(1, ...counts.values());
  const step = Math.min(width, (height - width) / Math.max(1, most - 1));
  /** @type {Map<number, number>} */
  const stacked = new Map();
  return places.map((place) => {
    if (!Number.isFinite(place)) return null;
    const column = Math.round(place / width), below = stacked.get(column) ?? 0;
    stacked.set(column, below + 1);
    return { x: column * width, y: height - radius - below * step };
  });
}

/**
 * How many places there are in each column of this width.
 * @param {number[]} places
 * @param {number} width
 */
export function countsOf(places, width) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const place of places) {
    if (!Number.isFinite(place)) continue;
    const column = Math.round(place / width);
    counts.set(column, (counts.get(column) ?? 0) + 1);
  }
  return counts;
}
