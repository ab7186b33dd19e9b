// What the pointer and the keyboard do in a panel.

/** @import { DrawnPanel } from "../tensor/drawn_panel.d.ts" */

import { pressKey } from "../speaking/keyboard.js";
import { sameIndex } from "../tensor/sharing.js";
import { dragSlices, showDraggable } from "./dragging.js";

/** @param {DrawnPanel} panel */
export function listenToPanel(panel) {
  const { svg, view } = panel;
  /** @param {MouseEvent} event */
  const at = (event) => panel.geometry?.elementAt(...panel.pointOf(event)) ?? null;
  svg.addEventListener("pointermove", (event) => {
    showDraggable(panel, event);
    view.hover(at(event));
  });
  svg.addEventListener("pointerleave", () => view.hover(null));
  svg.addEventListener("pointerdown", (event) => dragSlices(panel, event));
  svg.addEventListener("click", (event) => {
    const index = panel.dragged ? null : at(event);
    if (index) view.select(isSelectedAgain(index, event, view.at) ? null : index, panel);
  });
  svg.addEventListener("dblclick", (event) => {
    const index = at(event);
    if (index && panel.key === "x") view.edit(index);
  });
  svg.addEventListener("keydown", (event) => pressKey(view, event, panel));
  svg.addEventListener("blur", () => view.blur());
}

/**
 * A second click on the selected element clears the selection; the second one of a double click, which edits a value, does not.
 * @param {Index} index
 * @param {MouseEvent} event
 * @param {Index | null} selected
 */
const isSelectedAgain = (index, event, selected) => event.detail < 2 && sameIndex(index, selected);
