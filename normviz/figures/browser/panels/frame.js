// The frame around an element.

/** @import { Geometry } from "../tensor/geometry.js" */

/**
 * @param {SVGRectElement} rect
 * @param {Index | null} index
 * @param {Geometry} geometry
 * @param {number} grow
 */
export function placeRect(rect, index, geometry, grow) {
  rect.setAttribute("visibility", index ? "visible" : "hidden");
  if (!index) return;
  const box = geometry.cellBox(index), least = 6;
  const extraX = Math.max(0, least - box.width) / 2 + grow, extraY = Math.max(0, least - box.height) / 2 + grow;
  rect.setAttribute("x", String(box.x - extraX));
  rect.setAttribute("y", String(box.y - extraY));
  rect.setAttribute("width", String(box.width + 2 * extraX));
  rect.setAttribute("height", String(box.height + 2 * extraY));
}
