// The ids or values in the cells of a panel. Where they do not fit into cells, the id of a group is written once in each of its rectangles.

import { rectanglesOf, type Rectangle } from "../motion/outlines.ts";
import { readableInk } from "../common/color.ts";
import { formatShort } from "../common/format.ts";
import { firstOfGroups } from "../tensor/sharing.ts";
import { sentPlace } from "../tensor/slices.ts";
import type { DrawnPanel } from "../tensor/drawn_panel.ts";

const MOST_TEXTS = 1200; // texts in one panel
const MOST_GROUPS = 200; // the id of a group is written across its cells if there are at most so many groups
const SMALLEST = 8.5; // px
const FRAME_AROUND = 4; // px: the frame of the selected element and its halo around the cell

/** Writes them where they fit: a strong copy for the peers, a muted one for all other elements. Returns whether they fit. */
export function drawTexts(panel: DrawnPanel): boolean {
  const { mutedTexts: muted, strongTexts: strong } = panel;
  panel.written = [];
  panel.beside = null;
  const write: Write = (index, text, x, y, size) => {
    const fill = panel.colorOf(index), place = { x, y, "font-size": size };
    panel.written.push(index);
    muted.add("text", place, text);
    strong.add("text", { ...place, fill: fill ? readableInk(fill, panel.colors.ink) : panel.colors.text }, text);
  };
  const fit = panel.figure.scale !== "none" && (writeCells(panel, write) || writeGroups(panel, write));
  for (const texts of [muted, strong]) texts.end();
  return fit;
}

type Write = (index: Index, text: string, x: number, y: number, size: number) => void;

function writeCells(panel: DrawnPanel, write: Write) {
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

function writeGroups(panel: DrawnPanel, write: Write) {
  const { geometry, ranks } = panel, tables = panel.tables();
  if (!panel.isId || !tables || ranks.size > MOST_GROUPS) return false;
  const width = digitsOf(panel) * 0.6, frame = frameOf(panel);
  for (const [group, index] of firstOfGroups(tables, panel))
    for (const rectangle of rectanglesOf(geometry.outline(tables, index)) ?? []) {
      const [left, top, right, bottom] = rectangle, size = Math.min(12, (bottom - top) * 0.8, (right - left - 3) / width);
      if (size < SMALLEST || panel.written.length >= MOST_TEXTS) continue;
      write(index, String(group), ...middleBeside(rectangle, frame, width * size, size * 0.8), size);
    }
  panel.beside = { at: panel.view.at };
  return panel.written.length > 0;
}

/** The frame of the selected element, with its halo. */
function frameOf({ geometry, view: { at } }: DrawnPanel): Rectangle | null {
  if (!at) return null;
  const { x, y, width, height } = geometry.cellBox(at);
  return [x - FRAME_AROUND, y - FRAME_AROUND, x + width + FRAME_AROUND, y + height + FRAME_AROUND];
}

/**
 * The middle of a rectangle, or, where a frame would cover a text there, of the larger part beside the frame that has room for the text.
 * @param width of the text
 */
export function middleBeside(rectangle: Rectangle, frame: Rectangle | null, width: number, height: number): [number, number] {
  const middle = centerOf(rectangle), [x, y] = middle;
  if (!frame || Math.abs(x - centerOf(frame)[0]) >= (frame[2] - frame[0] + width) / 2 || Math.abs(y - centerOf(frame)[1]) >= (frame[3] - frame[1] + height) / 2) return middle;
  const [left, top, right, bottom] = rectangle;
  const parts = [[left, top, right, frame[1]], [left, frame[3], right, bottom], [left, top, frame[0], bottom], [frame[2], top, right, bottom]] as Rectangle[];
  const area = ([west, north, east, south]: Rectangle) => (east - west >= width && south - north >= height ? (east - west) * (south - north) : 0);
  const largest = parts.reduce((most, part) => (area(part) > area(most) ? part : most));
  return area(largest) ? centerOf(largest) : middle;
}

const centerOf = ([left, top, right, bottom]: Rectangle): [number, number] => [(left + right) / 2, (top + bottom) / 2];

const digitsOf = ({ isId, ranks }: DrawnPanel) => (isId ? String(Math.max(...ranks.keys())).length : 5);
