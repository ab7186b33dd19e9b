// The ids or values in the cells of a panel.

/** @import { Panel } from "./panel.js" */

import { svg } from "../page/dom.js";
import { sentPlace } from "../tensor/slices.js";
import { formatShort } from "../text/format.js";
import { readableInk } from "./color.js";

const MOST_TEXTS = 1200; // in one panel

/**
 * Writes them where they fit: a strong copy for the peers, a muted one for all other elements.
 * @param {Panel} panel
 * @param {SVGElement} muted
 * @param {SVGElement} strong
 * @returns {boolean} whether they fit
 */
export function drawTexts(panel, muted, strong) {
  const { geometry, figure, colors } = panel, { cellW, cellH } = geometry, { isId } = panel;
  if (figure.scale === "none" || cellH < 13) return false;
  const count = geometry.facets * geometry.rows * geometry.columns, digits = isId ? String(Math.max(...panel.ranks.keys())).length : 5;
  const size = Math.min(isId ? 12 : 11, cellH * 0.62, (cellW - 3) / (digits * 0.6));
  if (count > MOST_TEXTS || size < 8.5) return false;
  panel.each((index) => {
    const value = panel.valueAt(index), box = geometry.cellBox(index), fill = panel.colorOf(index);
    if (Number.isNaN(value) && !sentPlace(panel.data, index)) return;
    const place = { x: box.x + cellW / 2, y: box.y + cellH / 2, "font-size": size };
    const text = isId ? String(value) : formatShort(value);
    svg("text", place, muted).textContent = text;
    svg("text", { ...place, fill: fill ? readableInk(fill, colors.ink) : colors.text }, strong).textContent = text;
  });
  return true;
}
