// Which elements share a mean and a variance, a gamma and a beta, and which value each element uses.

/**
 * @param {number[][]} tables one per axis
 * @param {Index} index
 */
export function groupOf(tables, index) {
  return tables.reduce((id, table, axis) => id + table[index[axis]], 0);
}

/**
 * @param {Index | null | undefined} a
 * @param {Index | null | undefined} b
 */
export function sameIndex(a, b) {
  return a === b || (!!a && !!b && a.length === b.length && a.every((at, axis) => at === b[axis]));
}

/**
 * An index of the drawn window as an index of the whole tensor.
 * @param {{ grid: GridData }} data
 * @param {Index} index
 */
export function tensorIndex(data, index) {
  return index.map((at, axis) => at + data.grid.start[axis]);
}

/**
 * The index of the gamma, the mean or the running mean that an element uses.
 * @param {NamedAxis[]} axes
 * @param {{ grid: GridData }} data
 * @param {Index} index
 */
export function indexAlong(axes, data, index) {
  return axes.map(({ axis, divide, modulo }) => Math.floor((index[axis] + data.grid.start[axis]) / divide) % modulo);
}

/**
 * The value that an element uses of an array that broadcasts over x.
 * @param {FloatArray} array
 * @param {Index} index
 */
export function broadcastAt(array, index) {
  let at = 0;
  array.shape.forEach((size, axis) => (at = at * size + (size > 1 ? index[axis] : 0)));
  return array.values[at];
}

/**
 * @param {number[]} table
 * @param {number} value
 */
export function positionsOf(table, value) {
  return table.flatMap((entry, position) => (entry === value ? [position] : []));
}

/**
 * The values of x in an element's statistics group, as far as they are drawn. ``complete``: that is all of them.
 * @param {ValueSource} source
 * @param {Index} index
 */
export function groupValues(source, index) {
  const { stats } = source.data, positions = stats.tables.map((table, axis) => positionsOf(table, table[index[axis]]));
  const count = positions.reduce((product, list) => product * list.length, 1), values = [];
  for (let number = 0; number < count; number++) {
    const member = Array(positions.length).fill(0);
    for (let axis = positions.length - 1, rest = number; axis >= 0; axis--) {
      member[axis] = positions[axis][rest % positions[axis].length];
      rest = Math.floor(rest / positions[axis].length);
    }
    values.push(source.valueAt("x", member));
  }
  return { values, complete: count === stats.size };
}

/**
 * The statistics of each group that is drawn, up to ``most`` groups: their index, mean and variance.
 * @param {Statistics} stats
 * @param {DecodedValues} values
 * @param {{ grid: GridData }} data
 */
export function listStatistics(stats, values, data, most = 100) {
  const firsts = stats.tables.map((table) => table.flatMap((id, position) => (table.indexOf(id) === position ? [position] : [])));
  /** @type {Map<number, Index>} */
  const groups = new Map();
  /** @type {(index: Index) => void} */
  const visit = (index) => {
    if (groups.size >= most) return;
    if (index.length === firsts.length) groups.set(groupOf(stats.tables, index), index);
    else for (const position of firsts[index.length]) visit([...index, position]);
  };
  visit([]);
  return [...groups.values()].map((index) => ({
    index: indexAlong(stats.axes, data, index),
    mean: broadcastAt(values.mean, index),
    variance: broadcastAt(values.var, index),
  }));
}
