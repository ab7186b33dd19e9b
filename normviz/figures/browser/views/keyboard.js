// What the keys do in a panel: arrows move the cursor, Enter selects, Escape clears, a digit edits a value.

/** @import { Panel } from "../panels/panel.js" */
/** @import { FigureView } from "./view.js" */

import { plainText } from "../text/readout.js";

/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * @param {FigureView} view
 * @param {KeyboardEvent} event
 * @param {Panel} panel
 */
export function pressKey(view, event, panel) {
  const { key } = event, chosen = view.cursor ?? view.at, from = chosen ?? view.data.grid.indices.map(() => 0);
  if (key in ARROWS) {
    view.pointed = null;
    view.cursor = chosen ? panel.geometry.neighbor(from, ...ARROWS[key]) : from;
    view.follow();
    view.announce(plainText(view.readout(view.cursor)));
  } else if ((key === "Enter" || key === " ") && chosen) {
    view.cursor = null;
    view.select(chosen);
  } else if (key === "Escape") {
    view.cursor = null;
    view.select(null);
  } else if (view.data.editable && (key === "F2" || /^[-0-9.]$/.test(key)) && !event.ctrlKey && !event.metaKey) {
    view.edit(from, key === "F2" ? undefined : key);
  } else return;
  event.preventDefault();
}
