// Where values are on a strip: a shared axis with round ticks, and dots that are stacked where they would overlap.

/**
 * The smallest and the largest number, with a margin; 0 is always inside.
 * @param {number[]} numbers
 * @param {number} [share] of the range, for each margin
 * @returns {[number, number]}
 */
export function rangeOf(numbers, share = 0.04) {
  let low = 0, high = 0;
  for (const number of numbers) {
    if (!Number.isFinite(number)) continue;
    low = Math.min(low, number);
    high = Math.max(high, number);
  }
  const margin = share * (high - low) || 1;
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
 * The center of each dot, above the dots that it would overlap.
 * @param {number[]} places in px; NaN for a value that has no place
 * @param {number} height in px, of the strip
 * @param {number} radius in px
 * @param {number[]} [levels] as ``levelsOf`` gives them
 * @returns {({ x: number, y: number } | null)[]}
 */
export function stackDots(places, height, radius, levels = levelsOf(places, 2 * radius)) {
  const width = 2 * radius, step = Math.min(width, (height - width) / Math.max(1, ...levels));
  return places.map((x, number) => (Number.isFinite(x) ? { x, y: height - radius - levels[number] * step } : null));
}

/**
 * How many dots are below each dot, so that no two of them overlap.
 * @param {number[]} places in px
 * @param {number} width of a dot in px
 * @param {number} [lowest] the number of a dot that is on the ground
 */
export function levelsOf(places, width, lowest = -1) {
  const levels = places.map(() => 0), order = [...places.keys()].filter((number) => Number.isFinite(places[number]) && number !== lowest);
  /** @type {number[]} Where the last dot of each level is. */
  const last = [];
  for (const number of order.sort((one, other) => places[one] - places[other])) {
    const place = places[number];
    let level = Math.abs(place - places[lowest]) < width ? 1 : 0;
    while (place - (last[level] ?? -Infinity) < width) level++;
    levels[number] = level;
    last[level] = place;
  }
  return levels;
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
