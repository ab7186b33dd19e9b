// In a check: the elements that share statistics with the active one in the function but not as expected, or the other way around.

/** @import { DrawnPanel } from "../tensor/drawn_panel.d.ts" */

import { addHatch } from "./hatch.js";

const APART = 7; // px: distance of the lines, which go down to the right; those over veiled elements go up

/**
 * The shape over these elements.
 * @param {SVGElement} parent
 * @param {SVGElement} definitions
 * @param {string} id of the pattern
 */
export function addDiffering(parent, definitions, id) {
  return addHatch(parent, definitions, id, "nv-differs", APART, -45);
}

/**
 * The outlines of both groups in one path: by the rule "evenodd", what is in both is outside.
 * @param {DrawnPanel} panel
 * @param {Index | null} active
 */
export function differingPath({ data, figure, geometry }, active) {
  if (!active || figure.row !== "stats") return "";
  return (data.differs ?? []).map((key) => geometry.outline(data.sharings?.[key]?.tables ?? [], active)).join("");
}
