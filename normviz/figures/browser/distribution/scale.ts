// Where values are on a strip: a shared axis with round ticks, and dots that are stacked where they would overlap.

/** The smallest and the largest number, with a margin; 0 is always inside. ``share`` of the range is each margin. */
export function rangeOf(numbers: number[], share = 0.04): [number, number] {
  let low = 0, high = 0;
  for (const number of numbers) {
    if (!Number.isFinite(number)) continue;
    low = Math.min(low, number);
    high = Math.max(high, number);
  }
  const margin = share * (high - low) || 1;
  return [low - margin, high + margin];
}

/** About ``wanted`` round numbers inside a range. */
export function ticksIn([low, high]: [number, number], wanted: number) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(low / step), count = Math.max(0, Math.floor(high / step) - first + 1);
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

/**
 * The center of each dot, above the dots that it would overlap.
 * @param places in px; NaN for a value that has no place
 * @param height in px, of the strip
 * @param radius in px
 * @param levels as ``levelsOf`` gives them
 */
export function stackDots(places: number[], height: number, radius: number, levels: number[] = levelsOf(places, 2 * radius)): ({ x: number, y: number } | null)[] {
  const width = 2 * radius, step = Math.min(width, (height - width) / Math.max(1, ...levels));
  return places.map((x, number) => (Number.isFinite(x) ? { x, y: height - radius - levels[number] * step } : null));
}

/**
 * How many dots are below each dot, so that no two of them overlap.
 * @param places in px
 * @param width of a dot in px
 * @param lowest the number of a dot that is on the ground
 */
export function levelsOf(places: number[], width: number, lowest = -1) {
  const levels = places.map(() => 0), order = [...places.keys()].filter((number) => Number.isFinite(places[number]) && number !== lowest);
  /** Where the last dot of each level is. */
  const last: number[] = [];
  for (const number of order.sort((one, other) => places[one] - places[other])) {
    const place = places[number];
    let level = Math.abs(place - places[lowest]) < width ? 1 : 0;
    while (place - (last[level] ?? -Infinity) < width) level++;
    levels[number] = level;
    last[level] = place;
  }
  return levels;
}

/** How many places there are in each column of this width. */
export function countsOf(places: number[], width: number) {
  const counts = new Map<number, number>();
  for (const place of places) {
    if (!Number.isFinite(place)) continue;
    const column = Math.round(place / width);
    counts.set(column, (counts.get(column) ?? 0) + 1);
  }
  return counts;
}
