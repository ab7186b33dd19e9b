// The numbers of a panel as tables, one for each facet, with the indices as heads.

/** @import { DrawnPanel, PanelHost } from "../tensor/drawn_panel.d.ts" */

import { html } from "../page/dom.js";
import { formatElement, formatNumber } from "../page/format.js";
import { _ } from "../page/messages.js";
import { groupOf, sameIndex, tensorIndex } from "../tensor/sharing.js";
import { sentPlace } from "../tensor/slices.js";
import { openModal } from "./modal.js";
import { kindOf } from "./moves.js";

/**
 * @param {PanelHost} view
 * @param {DrawnPanel} panel the first one that is shown; the reader can choose another
 * @param {() => void} onClose
 */
export function showTable(view, panel, onClose) {
  openModal(view.root, _("The figure as a table"), (body) => {
    const panels = [...view.panels.values()].filter((one) => one.figure.scale !== "cube" && !one.root.hidden);
    const label = html("label", "nv-modal-choice", body, _("Panel")), choice = html("select", "", label), place = html("div", "", body);
    panels.forEach((one, number) => (html("option", "", choice, panelName(view, one)).value = String(number)));
    choice.value = String(panels.indexOf(panel));
    choice.addEventListener("change", () => writeTables(place, panels[Number(choice.value)]));
    writeTables(place, panel);
  }, onClose);
}

/**
 * @param {PanelHost} view
 * @param {DrawnPanel} panel
 */
function panelName({ data }, { figure }) {
  return data.layers && figure.row === "stats" ? _("{layer}: mean and variance", { layer: figure.title }) : figure.title;
}

/**
 * @param {HTMLElement} place
 * @param {DrawnPanel} panel
 */
function writeTables(place, panel) {
  const { data, geometry, figure, view } = panel, { grid, axes } = data, active = view.at, tables = panel.tables();
  place.replaceChildren();
  html("p", "nv-caption", place, figure.caption);
  const group = active && tables ? groupOf(tables, active) : null;
  if (active) html("p", "nv-caption", place, peerNote(panel, formatElement(data.name ?? "x", tensorIndex(data, active))));
  for (let facet = 0; facet < geometry.facets; facet++) {
    const first = geometry.facetIndex(facet), table = html("table", "", place), heads = html("tr", "", html("thead", "", table)), body = html("tbody", "", table);
    const caption = grid.facets.map((axis) => `${axes[axis]} = ${grid.indices[axis][first[axis]]}`).join(", ");
    table.createCaption().textContent = caption || figure.title;
    if (grid.row !== null) html("td", "", heads);
    for (const column of grid.indices[grid.col]) html("th", "", heads, `${axes[grid.col]} = ${column}`).scope = "col";
    for (const [at, row] of (grid.row === null ? [0] : grid.indices[grid.row]).entries()) {
      const line = html("tr", "", body);
      if (grid.row !== null) html("th", "", line, `${axes[grid.row]} = ${row}`).scope = "row";
      grid.indices[grid.col].forEach((_column, column) => {
        const index = first.map((position, axis) => (axis === grid.col ? column : axis === grid.row ? at : position)), cell = html("td", "", line, textOf(panel, index));
        const isSelected = sameIndex(index, active);
        if (isSelected) cell.setAttribute("aria-current", "true");
        if (tables && group !== null && (isSelected || groupOf(tables, index) === group)) cell.textContent += isSelected ? " ◉" : " •";
      });
    }
  }
}

/**
 * @param {DrawnPanel} panel
 * @param {string} element
 */
function peerNote(panel, element) {
  if (!panel.tables()) return _("◉ {element}, which is selected", { element });
  return kindOf(panel) === "params"
    ? _("◉ {element}, which is selected; • shares its gamma and beta", { element })
    : _("◉ {element}, which is selected; • shares its mean and variance", { element });
}

/**
 * The number in a cell: a value, or that of the group.
 * @param {DrawnPanel} panel
 * @param {Index} index
 */
function textOf(panel, index) {
  if (panel.figure.scale === "none") return _("none");
  const value = panel.valueAt(index);
  return Number.isNaN(value) && !sentPlace(panel.data, index) ? "–" : panel.isId ? String(value) : formatNumber(value);
}
