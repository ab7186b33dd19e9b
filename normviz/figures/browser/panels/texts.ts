// The values in the cells of a panel, or the names of groups. A name stands once in its group; without room, the legend has it.

import { rectanglesOf, type Rectangle } from "../motion/outlines.ts";
import { readableInk } from "../common/color.ts";
import { formatShort } from "../common/format.ts";
import { firstOfGroups, groupName, hasStatistics } from "../tensor/sharing.ts";
import type { DrawnPanel } from "../tensor/drawn_panel.ts";

const MOST_TEXTS = 1200; // texts in one panel
const MOST_GROUPS = 200; // more of them have no name in their cells
const SIZE = 12, SMALLEST = 8.5; // px: of names, and of values in small cells
const LETTER = 0.56, LINE = 1.15 * SIZE; // em, px
const FRAME_AROUND = 4; // px: the frame of the selected element and its halo around the cell

type Write = (index: Index, text: string, x: number, y: number, size: number) => void;

/** Writes them where they fit: a strong copy for the peers, a muted one for all other elements. */
export function drawTexts(panel: DrawnPanel) {
  const { mutedTexts: muted, strongTexts: strong } = panel;
  panel.written = [];
  panel.beside = null;
  const write: Write = (index, text, x, y, size) => {
    const fill = panel.colorOf(index), place = { x, y, "font-size": size };
    panel.written.push(index);
    muted.add("text", place, text);
    strong.add("text", { ...place, fill: fill ? readableInk(fill, panel.colors.ink) : panel.colors.text }, text);
  };
  if (panel.figure.scale === "values") writeValues(panel, write);
  else if (panel.figure.scale !== "none") writeNames(panel, write);
  for (const texts of [muted, strong]) texts.end();
}

function writeValues(panel: DrawnPanel, write: Write) {
  const { geometry } = panel, { cellW, cellH } = geometry, texts: [Index, string][] = [];
  if (geometry.facets * geometry.rows * geometry.columns > MOST_TEXTS) return;
  panel.each((index) => {
    const value = panel.valueAt(index);
    if (!Number.isNaN(value) || hasStatistics(panel.data, index)) texts.push([index, formatShort(value, panel.figure.high)]);
  });
  const size = Math.min(SIZE, cellH * 0.62, (cellW - 3) / (LETTER * Math.max(...texts.map(([, text]) => text.length))));
  if (size < SMALLEST) return;
  for (const [index, text] of texts) {
    const { x, y } = geometry.cellBox(index);
    write(index, text, x + cellW / 2, y + cellH / 2, size);
  }
}

function writeNames(panel: DrawnPanel, write: Write) {
  const { geometry, ranks, sharing } = panel, frame = frameOf(panel);
  panel.beside = { at: panel.view.at };
  if (!sharing || ranks.size > MOST_GROUPS) return;
  for (const [group, index] of firstOfGroups(sharing.tables, panel)) {
    const name = groupName(sharing, group), rectangles = rectanglesOf(geometry.outline(sharing.tables, index)) ?? [];
    for (const lines of [[name], name.split(" ")]) { // in one line, if a part of the group is wide enough
      const width = Math.max(...lines.map(widthOf)), height = lines.length * LINE;
      const rectangle = rectangles.find((one) => one[2] - one[0] >= width + 3 && one[3] - one[1] >= height && isBeside(middleBeside(one, frame, width, height), frame, width, height));
      if (!rectangle) continue;
      const [x, y] = middleBeside(rectangle, frame, width, height), places = linesIn(geometry.cellH, y - rectangle[1], lines.length);
      lines.forEach((line, number) => write(index, line, x, rectangle[1] + places[number], SIZE));
      break;
    }
  }
}

/** The middles of lines of text around a middle. They are in rows of cells, if one of these is high enough: lines between cells do not cross them. */
function linesIn(row: number, middle: number, count: number) {
  const rows = row < LINE ? 0 : row < 2 * LINE ? count : 1; // that the lines fill
  const center = rows ? (Math.round(middle / row - rows / 2) + rows / 2) * row : middle, apart = rows > 1 ? row : LINE;
  return Array.from({ length: count }, (_line, number) => center + (number - (count - 1) / 2) * apart);
}

/** A Chinese character is as wide as two letters. */
const widthOf = (text: string) => text.replace(/[^\0-\xff]/g, "xx").length * LETTER * SIZE;

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
  const middle = centerOf(rectangle);
  if (!frame || isBeside(middle, frame, width, height)) return middle;
  const [left, top, right, bottom] = rectangle;
  const parts = [[left, top, right, frame[1]], [left, frame[3], right, bottom], [left, top, frame[0], bottom], [frame[2], top, right, bottom]] as Rectangle[];
  const area = ([west, north, east, south]: Rectangle) => (east - west >= width && south - north >= height ? (east - west) * (south - north) : 0);
  const largest = parts.reduce((most, part) => (area(part) > area(most) ? part : most));
  return area(largest) ? centerOf(largest) : middle;
}

/** Whether a frame leaves a text with this middle free. */
const isBeside = ([x, y]: [number, number], frame: Rectangle | null, width: number, height: number) =>
  !frame || Math.abs(x - centerOf(frame)[0]) >= (frame[2] - frame[0] + width) / 2 || Math.abs(y - centerOf(frame)[1]) >= (frame[3] - frame[1] + height) / 2;

const centerOf = ([left, top, right, bottom]: Rectangle): [number, number] => [(left + right) / 2, (top + bottom) / 2];
