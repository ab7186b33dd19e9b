// What the keys do in a panel. They act only while it has the focus, so that they are no shortcuts of the page.

/** @import { DrawnPanel, PanelHost } from "../tensor/drawn_panel.d.ts" */

import { showKeys } from "./dialogs.js";
import { nextGroup, nextPeer } from "./moves.js";
import { speakElement } from "./spoken.js";
import { showTable } from "./tables.js";

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * @param {PanelHost} view
 * @param {KeyboardEvent} event
 * @param {DrawnPanel} panel
 */
export function pressKey(view, event, panel) {
  const { key } = event, chosen = view.cursor ?? view.at, from = chosen ?? view.data.grid.indices.map(() => 0);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const way = WAYS[key.toLowerCase()];
  if (key in ARROWS || way) {
    view.pointed = null;
    if (!chosen) view.cursor = from;
    else view.cursor = way ? way(panel, from, event.shiftKey ? -1 : 1) : panel.geometry.neighbor(from, ...ARROWS[key]);
    view.follow();
    view.announce(speakElement(panel, view.cursor));
  } else if ((key === "Enter" || key === " ") && chosen) {
    view.cursor = null;
    view.select(chosen, panel);
  } else if (key === "Escape" && chosen) {
    view.cursor = null;
    view.select(null, panel);
  } else if (key === "?") showKeys(view.root, () => panel.svg.focus());
  else if (key === "t" || key === "T") showTable(view, panel, () => panel.svg.focus());
  else if (view.data.editable && (key === "F2" || /^[-0-9.]$/.test(key))) view.edit(from, key === "F2" ? undefined : key);
  else return;
  event.stopPropagation();
  event.preventDefault();
}

/** @type {Record<string, (panel: DrawnPanel, from: Index, way: 1 | -1) => Index>} */
const WAYS = {
  n: (panel, from, way) => nextPeer(panel, "stats", from, way),
  p: (panel, from, way) => nextPeer(panel, "params", from, way),
  g: nextGroup,
  home: (panel, from) => toTheEnd(panel, from, -1),
  end: (panel, from) => toTheEnd(panel, from, 1),
};

/**
 * The first or the last element of a line, through all facets in a row.
 * @param {DrawnPanel} panel
 * @param {Index} from
 * @param {1 | -1} way
 */
function toTheEnd({ geometry }, from, way) {
  let at = from, next = geometry.neighbor(at, way, 0);
  while (next !== at) [at, next] = [next, geometry.neighbor(next, way, 0)];
  return at;
}
