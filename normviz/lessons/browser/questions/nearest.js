// Where an arrow key leads among buttons that are arranged in two dimensions.

/** @type {Record<string, [number, number]>} */
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const ASIDE = 3; // a step aside counts as much as three ahead

/**
 * The nearest of the elements in the direction of an arrow key; undefined if there is none.
 * @template {HTMLElement} Element
 * @param {HTMLElement} from
 * @param {Element[]} elements
 * @param {string} key
 */
export function nearest(from, elements, key) {
  const [dx, dy] = DIRECTIONS[key], start = middleOf(from);
  /** @type {Element | undefined} */
  let found;
  let least = Infinity;
  for (const element of elements) {
    const { x, y } = middleOf(element), [right, down] = [x - start.x, y - start.y];
    const ahead = right * dx + down * dy, aside = Math.abs(right * dy) + Math.abs(down * dx);
    if (element === from || ahead <= 1 || aside > 2 * ahead) continue;
    if (ahead + ASIDE * aside < least) [found, least] = [element, ahead + ASIDE * aside];
  }
  return found;
}

/** @param {HTMLElement} element */
function middleOf(element) {
  const { left, top, width, height } = element.getBoundingClientRect();
  return { x: left + width / 2, y: top + height / 2 };
}
