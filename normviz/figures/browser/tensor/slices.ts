// Which slices of a long axis are drawn. The reader can move them; values are known where the server sent them.

/** ``count`` indices of an axis: a run from ``first``, and the last one, as normviz.scene.grid chooses them. */
function slicesFrom(size: number, count: number, first: number) {
  const from = Math.max(0, Math.min(first, size - count));
  return Array.from({ length: count }, (_, at) => (count > 1 && at === count - 1 ? size - 1 : from + at));
}

/** The grid with other slices drawn. */
export function movedGrid(grid: GridData, start: number[]): GridData {
  return { ...grid, indices: grid.indices.map((drawn, axis) => slicesFrom(grid.shape[axis], drawn.length, start[axis])) };
}

/**
 * The slices and the selected element after the reader has moved the slices, as in normviz.scene.edits: the element keeps
 * its place in the drawing.
 */
export function afterMove(before: GridData, start: number[], at: Index | null | undefined): { grid: GridData, at: Index | null | undefined } {
  const grid = movedGrid(before, start), place = at?.map((index, axis) => before.indices[axis].indexOf(index));
  return { grid, at: place && !place.includes(-1) ? place.map((here, axis) => grid.indices[axis][here]) : at };
}

/** The axes that leave out some slices. */
export function cutAxes(grid: GridData) {
  return grid.indices.flatMap((drawn, axis) => (drawn.length < grid.shape[axis] ? [axis] : []));
}

/** The axis whose indices each have a band of facets, if any, and the axes that number the facets of a band. */
export function facetAxes({ facets: [first, ...others], indices }: GridData) {
  const single = others.every((axis) => indices[axis].length === 1);
  return single ? { band: null, inBand: first === undefined ? [] : [first] } : { band: first, inBand: others };
}

/** How many times slices are left out up to each drawn index. */
export function gapsBefore(drawn: number[]) {
  let gaps = 0;
  return drawn.map((index, at) => (gaps += at && index > drawn[at - 1] + 1 ? 1 : 0));
}

/** The drawn indices of an axis as text: "0, 1, 2, …, 767". */
export function listSlices(drawn: number[]) {
  return drawn.map((index, at) => (at && index > drawn[at - 1] + 1 ? `…, ${index}` : `${index}`)).join(", ");
}

/** Where the server sent the values of a drawn element; null if it did not. */
export function sentPlace({ grid, sent }: { grid: GridData, sent: GridData }, index: Index) {
  if (grid === sent) return index;
  const place = index.map((at, axis) => sent.indices[axis].indexOf(grid.indices[axis][at]));
  return place.includes(-1) ? null : place;
}
