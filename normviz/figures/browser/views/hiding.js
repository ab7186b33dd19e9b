// What a link leaves out of a figure.

/** @import { PanelHost } from "../tensor/drawn_panel.d.ts" */

/**
 * Hides parts and panels. A row is as wide as its visible panels.
 * @param {PanelHost & { sharingRow: HTMLElement, valuesRow: HTMLElement }} view
 * @param {string[]} names
 */
export function hideParts(view, names) {
  view.root.dataset.hidden = names.join(" ");
  if (view.data.formula) return; // the steps always show two panels
  for (const panel of view.panels.values()) panel.root.hidden = names.includes(panel.figure.row ?? panel.key);
  for (const row of [view.sharingRow, view.valuesRow]) {
    const visible = [...row.children].filter((panel) => !(/** @type {HTMLElement} */ (panel).hidden)).length;
    row.style.setProperty("--nv-shown", String(Math.max(1, visible)));
    row.classList.toggle("nv-empty", !visible);
  }
}
