// Changes single values of x: a number field over the cell.

/** @import { FigureView } from "./view.js" */
/** @import { Panel } from "../panels/panel.js" */

import { button, html } from "../page/dom.js";
import { _ } from "../page/messages.js";
import { tensorIndex } from "../tensor/sharing.js";
import { formatElement } from "../text/format.js";

const LARGEST = 1e12; // as normviz.analysis.checks.LARGEST_VALUE

/**
 * Shows the button "Edit a value" where x can be changed.
 * @param {FigureView} view
 */
export function updateEditButton(view) {
  const panel = view.panels.get("x"), { editable, grid } = view.data;
  if (!panel) return;
  if (!panel.editButton && editable) {
    panel.editButton = button("nv-edit", panel.root, _("Edit a value"), () => view.edit(view.at ?? grid.indices.map(() => 0)));
    panel.editButton.title = _("Or double-click a cell of x, or type a number on it");
  }
  if (panel.editButton) panel.editButton.hidden = !editable;
}

/**
 * Opens the field over an element; ``start``: what it holds instead of the element's value.
 * @param {FigureView} view
 * @param {Index} index
 * @param {string} [start]
 */
export function editValue(view, index, start) {
  const panel = view.panels.get("x");
  if (!view.data.editable || !panel) return;
  panel.field?.remove();
  const field = addField(panel, index);
  field.setAttribute("aria-label", _("New value of {element}", { element: formatElement("x", tensorIndex(view.data, index)) }));
  field.value = start ?? String(Number(view.valueAt("x", index).toPrecision(7)));
  /** @param {boolean} focusPanel */
  const close = (focusPanel) => {
    if (panel.field !== field) return;
    panel.field = null;
    field.remove();
    if (focusPanel) panel.svg.focus();
  };
  /** @param {boolean} focusPanel */
  const commit = (focusPanel) => {
    if (panel.field !== field) return; // closed: a field that is removed loses the focus, too
    const value = Number(field.value.replace("\u2212", "-").replace(",", "."));
    if (field.value.trim() !== "" && Math.abs(value) <= LARGEST) {
      close(focusPanel);
      view.sendEdit(index, value);
    } else if (focusPanel) {
      field.setAttribute("aria-invalid", "true");
      field.title = _("Write a number, such as 0.5, up to 1e12");
    } else close(false);
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") commit(true);
    if (event.key === "Escape") close(true);
  });
  field.addEventListener("blur", () => commit(false));
  field.focus();
  if (start === undefined) field.select();
}

/**
 * @param {Panel} panel
 * @param {Index} index
 */
function addField(panel, index) {
  const box = panel.geometry.cellBox(index), field = html("input", "nv-field", panel.body);
  panel.field = field;
  field.type = "text";
  field.inputMode = "decimal";
  const width = Math.max(64, box.width), middle = panel.left + box.x + box.width / 2;
  const left = Math.min(Math.max(0, middle - width / 2), Math.max(0, panel.body.clientWidth - width));
  field.style.cssText = `left:${left}px;top:${panel.top + box.y + box.height / 2 - 14}px;width:${width}px`;
  return field;
}
