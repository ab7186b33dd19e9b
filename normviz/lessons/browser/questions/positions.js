// Where the elements of a small tensor are drawn, and their positions in row-major order.

/** @param {number} size */
export const upTo = (size) => [...Array(size).keys()];

/**
 * @param {Index} index
 * @param {number[]} shape
 */
export const positionOf = (index, shape) => index.reduce((position, at, axis) => position * shape[axis] + at, 0);

/**
 * @param {number} position
 * @param {number[]} shape
 * @returns {Index}
 */
export function indexOf(position, shape) {
  const index = [];
  for (const size of [...shape].reverse()) {
    index.unshift(position % size);
    position = Math.floor(position / size);
  }
  return index;
}

/**
 * The axes of the rows and the columns, as normviz.scene.grid chooses them, and those that number the facets.
 * @param {{ names: string[] }} tensor
 * @returns {{ row: number | null, col: number, facets: number[] }}
 */
export function layoutOf({ names }) {
  const axes = upTo(names.length), inner = names.length > 2 ? axes.filter((axis) => names[axis] !== "n") : axes;
  const [row, col] = names.includes("h") && names.includes("w") ? [names.indexOf("h"), names.indexOf("w")] : [inner.at(-2) ?? null, /** @type {number} */ (inner.at(-1))];
  return { row, col, facets: axes.filter((axis) => axis !== row && axis !== col) };
}
