// Hatching on veiled elements: a pale color alone could be read as a value near zero, or as another group.

import { svg } from "../page/dom.js";

const DISTANCE = 6; // px between its lines, which go up to the right

/**
 * The shape that is hatched; its path is set with that of the veil.
 * @param {SVGElement} parent
 * @param {SVGElement} definitions
 * @param {string} id of the pattern
 */
export function addHatch(parent, definitions, id) {
  const pattern = svg("pattern", { id, width: DISTANCE, height: DISTANCE, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, definitions);
  svg("path", { class: "nv-hatch-line", d: `M${DISTANCE / 2},0v${DISTANCE}` }, pattern);
  return svg("path", { class: "nv-hatch", "fill-rule": "evenodd", fill: `url(#${id})` }, parent);
}

/**
 * The same lines over a rectangle as a path, for programs that know no patterns.
 * @param {{ x: number, y: number, width: number, height: number }} box
 */
export function hatchOver({ x, y, width, height }) {
  const apart = DISTANCE * Math.SQRT2, first = Math.ceil((x + y) / apart - 0.5);
  let path = "";
  for (let sum = (first + 0.5) * apart; sum < x + width + y + height; sum += apart) {
    const left = Math.max(x, sum - y - height), right = Math.min(x + width, sum - y);
    path += `M${left.toFixed(1)},${(sum - left).toFixed(1)}L${right.toFixed(1)},${(sum - right).toFixed(1)}`;
  }
  return path;
}
