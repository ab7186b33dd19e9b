// Elements of a tensor as their positions in row-major order, and back.

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
