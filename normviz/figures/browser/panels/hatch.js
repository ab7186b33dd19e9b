// Hatching. On veiled elements: a pale color alone could be read as a value near zero, or as another group.

import { svg } from "../page/dom.js";

const DISTANCE = 6; // px: distance of its lines, which go up to the right

/**
 * A shape that is hatched; its path is set later.
 * @param {SVGElement} parent
 * @param {SVGElement} definitions
 * @param {string} id of the pattern
 * @param {string} name of its class; that of its lines ends in "-line"
 * @param {number} apart px between the lines
 * @param {number} angle of the lines, from the vertical
 */
export function addHatch(parent, definitions, id, name = "nv-hatch", apart = DISTANCE, angle = 45) {
  const pattern = svg("pattern", { id, width: apart, height: apart, patternUnits: "userSpaceOnUse", patternTransform: `rotate(${angle})` }, definitions);
  svg("path", { class: `${name}-line`, d: `M${apart / 2},0v${apart}` }, pattern);
  return svg("path", { class: name, "fill-rule": "evenodd", fill: `url(#${id})` }, parent);
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
