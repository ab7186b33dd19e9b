// Dragging the labels of an axis that is not drawn whole moves its slices.

/** @import { DrawnPanel } from "../tensor/drawn_panel.d.ts" */

import { cutAxes, facetAxes } from "../tensor/slices.js";

/**
 * The axis whose labels are at a point, if some of its slices are left out; null elsewhere.
 * @param {DrawnPanel} panel
 * @param {number} x
 * @param {number} y
 */
function axisAt({ geometry, data: { grid } }, x, y) {
  const { facets, row, col } = grid, { band, inBand } = facetAxes(grid), above = inBand.at(-1) ?? col;
  const beside = facets.length ? band : row, below = facets.length ? col : null;
  const axis = y < 0 ? above : x < 0 ? beside : y > geometry.height ? below : null;
  return axis !== null && cutAxes(grid).includes(axis) ? axis : null;
}

/**
 * The pointer's shape: labels that can be dragged show it.
 * @param {DrawnPanel} panel
 * @param {PointerEvent} event
 */
export function showDraggable(panel, event) {
  if (event.buttons) return;
  panel.svg.style.cursor = panel.geometry && axisAt(panel, ...panel.pointOf(event)) !== null ? "grab" : "";
}

/**
 * Follows the pointer until it is released.
 * @param {DrawnPanel} panel
 * @param {PointerEvent} event
 */
export function dragSlices(panel, event) {
  panel.dragged = false;
  const { svg, geometry, view, data } = panel, [x, y] = panel.pointOf(event), axis = geometry ? axisAt(panel, x, y) : null;
  if (axis === null) return;
  event.preventDefault();
  svg.setPointerCapture(event.pointerId);
  const { facets, col } = data.grid, first = data.grid.indices[axis][0], across = axis === col || facetAxes(data.grid).inBand.includes(axis);
  const pitch = axis === col ? geometry.cellW : !facets.length ? geometry.cellH : across ? geometry.lefts[1] : geometry.tops[geometry.lines];
  /** @param {PointerEvent} moved */
  const follow = (moved) => {
    const [toX, toY] = panel.pointOf(moved), start = first + Math.round((across ? x - toX : y - toY) / pitch);
    panel.dragged = true;
    view.slices.move(axis, Math.max(0, start));
  };
  const end = () => {
    svg.removeEventListener("pointermove", follow);
    if (panel.dragged) view.slices.send();
  };
  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerup", end, { once: true });
  svg.addEventListener("pointercancel", end, { once: true });
}
