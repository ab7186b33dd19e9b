// Which slices of a long axis are drawn. The reader can move them; values are known where the server sent them.

/**
 * ``count`` indices of an axis: a run from ``first``, and the last one, as normviz.scene.grid chooses them.
 * @param {number} size
 * @param {number} count
 * @param {number} first
 */
function slicesFrom(size, count, first) {
  const from = Math.max(0, Math.min(first, size - count));
  return Array.from({ length: count }, (_, at) => (count > 1 && at === count - 1 ? size - 1 : from + at));
}

/**
 * The grid with other slices drawn.
 * @param {GridData} grid
 * @param {number[]} start
 * @returns {GridData}
 */
export function movedGrid(grid, start) {
  return { ...grid, indices: grid.indices.map((drawn, axis) => slicesFrom(grid.shape[axis], drawn.length, start[axis])) };
}

/**
 * The slices and the selected element after the reader has moved the slices, as in normviz.scene.edits: the element keeps
 * its place in the drawing.
 * @param {GridData} before
 * @param {number[]} start
 * @param {Index | null | undefined} at
 * @returns {{ grid: GridData, at: Index | null | undefined }}
 */
export function afterMove(before, start, at) {
  const grid = movedGrid(before, start), place = at?.map((index, axis) => before.indices[axis].indexOf(index));
  return { grid, at: place && !place.includes(-1) ? place.map((here, axis) => grid.indices[axis][here]) : at };
}

/**
 * The axes that leave out some slices.
 * @param {GridData} grid
 */
export function cutAxes(grid) {
  return grid.indices.flatMap((drawn, axis) => (drawn.length < grid.shape[axis] ? [axis] : []));
}

/**
 * The axis whose indices each have a band of facets, if any, and the axes that number the facets of a band.
 * @param {GridData} grid
 */
export function facetAxes({ facets: [first, ...others], indices }) {
  const single = others.every((axis) => indices[axis].length === 1);
  return single ? { band: null, inBand: first === undefined ? [] : [first] } : { band: first, inBand: others };
}

/**
 * How many times slices are left out up to each drawn index.
 * @param {number[]} drawn
 */
export function gapsBefore(drawn) {
  let gaps = 0;
  return drawn.map((index, at) => (gaps += at && index > drawn[at - 1] + 1 ? 1 : 0));
}

/**
 * The drawn indices of an axis as text: "0, 1, 2, …, 767".
 * @param {number[]} drawn
 */
export function listSlices(drawn) {
  return drawn.map((index, at) => (at && index > drawn[at - 1] + 1 ? `…, ${index}` : `${index}`)).join(", ");
}

/**
 * Where the server sent the values of a drawn element; null if it did not.
 * @param {{ grid: GridData, sent: GridData }} data
 * @param {Index} index
 */
export function sentPlace({ grid, sent }, index) {
  if (grid === sent) return index;
  const place = index.map((at, axis) => sent.indices[axis].indexOf(grid.indices[axis][at]));
  return place.includes(-1) ? null : place;
}
