// The ids or values in the cells of a panel. Where they do not fit into cells, the id of a group is written once in each of its rectangles.

/** @import { DrawnPanel } from "../tensor/drawn_panel.d.ts" */

import { rectanglesOf } from "../motion/outlines.js";
import { readableInk } from "../common/color.js";
import { formatShort } from "../common/format.js";
import { firstOfGroups } from "../tensor/sharing.js";
import { sentPlace } from "../tensor/slices.js";

const MOST_TEXTS = 1200; // texts in one panel
const MOST_GROUPS = 200; // the id of a group is written across its cells if there are at most so many groups
const SMALLEST = 8.5; // px

/**
 * Writes them where they fit: a strong copy for the peers, a muted one for all other elements.
 * @param {DrawnPanel} panel
 * @returns {boolean} whether they fit
 */
export function drawTexts(panel) {
  const { mutedTexts: muted, strongTexts: strong } = panel;
  panel.written = [];
  /** @type {Write} */
  const write = (index, text, x, y, size) => {
    const fill = panel.colorOf(index), place = { x, y, "font-size": size };
    panel.written.push(index);
    muted.add("text", place, text);
    strong.add("text", { ...place, fill: fill ? readableInk(fill, panel.colors.ink) : panel.colors.text }, text);
  };
  const fit = panel.figure.scale !== "none" && (writeCells(panel, write) || writeGroups(panel, write));
  for (const texts of [muted, strong]) texts.end();
  return fit;
}

/** @typedef {(index: Index, text: string, x: number, y: number, size: number) => void} Write */

/**
 * @param {DrawnPanel} panel
 * @param {Write} write
 */
function writeCells(panel, write) {
  const { geometry, isId } = panel, { cellW, cellH } = geometry, count = geometry.facets * geometry.rows * geometry.columns;
  const size = Math.min(isId ? 12 : 11, cellH * 0.62, (cellW - 3) / (digitsOf(panel) * 0.6));
  if (cellH < 13 || count > MOST_TEXTS || size < SMALLEST) return false;
  panel.each((index) => {
    const value = panel.valueAt(index), box = geometry.cellBox(index);
    if (Number.isNaN(value) && !sentPlace(panel.data, index)) return;
    write(index, isId ? String(value) : formatShort(value), box.x + cellW / 2, box.y + cellH / 2, size);
  });
  return true;
}

/**
 * @param {DrawnPanel} panel
 * @param {Write} write
 */
function writeGroups(panel, write) {
  const { geometry, ranks } = panel, tables = panel.tables();
  if (!panel.isId || !tables || ranks.size > MOST_GROUPS) return false;
  const width = digitsOf(panel) * 0.6;
  for (const [group, index] of firstOfGroups(tables, panel))
    for (const [left, top, right, bottom] of rectanglesOf(geometry.outline(tables, index)) ?? []) {
      const size = Math.min(12, (bottom - top) * 0.8, (right - left - 3) / width);
      if (size >= SMALLEST && panel.written.length < MOST_TEXTS) write(index, String(group), (left + right) / 2, (top + bottom) / 2, size);
    }
  return panel.written.length > 0;
}

/** @param {DrawnPanel} panel */
const digitsOf = ({ isId, ranks }) => (isId ? String(Math.max(...ranks.keys())).length : 5);
