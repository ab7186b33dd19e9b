// Changes single values of x: a number field over the cell, or the pointer, which drags the value up or down.

/** @import { DrawnPanel, PanelHost } from "../tensor/drawn_panel.d.ts" */
/** @typedef {PanelHost & { line: HTMLElement, sendEdit(index: Index, value: number): void }} EditableView */

import { button, html } from "../common/dom.js";
import { formatElement, formatNumber } from "../common/format.js";
import { _ } from "../common/messages.js";
import { tensorIndex } from "../tensor/sharing.js";
import { appOfFile, writeMissing } from "./slices.js";

const LARGEST_VALUE = 1e12; // equals normviz.analysis.checks.LARGEST_VALUE
const DRAG_START = 5, DRAG_RANGE = 200; // px: a press becomes a drag; a drag goes through the whole range of colors

/**
 * Shows the button "Edit a value" where x can be changed, or a file leads to the app for it.
 * @param {EditableView} view
 */
export function updateEditButton(view) {
  const panel = view.panels.get("x"), { editable, fixed, grid } = view.data, offered = editable || (fixed && Boolean(appOfFile()));
  if (!panel) return;
  if (!panel.editButton && offered) {
    offerDragging(view, panel);
    panel.editButton = button("nv-edit", panel.root, _("Edit a value"), () => view.edit(view.at ?? grid.indices.map(() => 0)));
    panel.editButton.title = _("Or double-click a cell of x, drag its value up or down, or type a number on it");
  }
  if (panel.editButton) panel.editButton.hidden = !offered;
}

/**
 * Opens the field over an element; ``start``: what it holds instead of the element's value.
 * @param {EditableView} view
 * @param {Index} index
 * @param {string} [start]
 */
export function editValue(view, index, start) {
  const panel = view.panels.get("x");
  if (view.data.fixed) sayWhyFixed(view);
  if (!view.data.editable || !panel) return undefined;
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
    if (field.value.trim() !== "" && Math.abs(value) <= LARGEST_VALUE) {
      close(focusPanel);
      view.sendEdit(index, value);
    } else if (focusPanel) {
      field.setAttribute("aria-invalid", "true");
      field.title = _("Write a number, such as 0.5, up to {most}", { most: formatNumber(LARGEST_VALUE) });
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
  return { field, commit };
}

/**
 * Lets a mouse or a pen drag the value of a cell; a finger scrolls the page instead.
 * @param {EditableView} view
 * @param {DrawnPanel} panel
 */
function offerDragging(view, panel) {
  /** @type {{ index: Index, y: number, value: number, edit?: ReturnType<typeof editValue> } | null} */
  let drag = null;
  const { body, svg } = panel;
  body.addEventListener("pointerdown", ({ target, button: pressed, pointerType, clientY }) => {
    const index = view.pointed;
    const starts = view.data.editable && target === svg && !pressed && pointerType !== "touch" && index;
    drag = starts ? { index, y: clientY, value: view.valueAt("x", index) } : null;
  });
  body.addEventListener("pointermove", (event) => {
    if (!drag || (!drag.edit && Math.abs(event.clientY - drag.y) < DRAG_START)) return;
    event.stopPropagation(); // the pointer leaves the cell, its value stays active
    body.setPointerCapture(event.pointerId);
    drag.edit ??= editValue(view, drag.index);
    if (drag.edit) drag.edit.field.value = draggedValue(drag.value, drag.y - event.clientY, panel.figure.high);
  }, true);
  body.addEventListener("pointerup", () => {
    drag?.edit?.commit(true);
    if (!drag?.edit) drag = null;
  });
  body.addEventListener("pointercancel", () => (drag = null));
  body.addEventListener("click", (event) => {
    if (drag?.edit) event.stopPropagation(); // the end of a drag selects nothing
    drag = null;
  }, true);
}

/**
 * The value after a drag, with as many digits as its distance from other values needs.
 * @param {number} value
 * @param {number} pixels upwards
 * @param {number} most the largest absolute value of x
 */
export function draggedValue(value, pixels, most) {
  const digits = Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(most))));
  return String(Number((value + (pixels * 2 * most) / DRAG_RANGE).toFixed(digits)));
}

/** @param {EditableView} view */
function sayWhyFixed(view) {
  writeMissing(view.line, _("This file holds the results for its own x; other values of x need torch."), _("Edit them in the app"));
}

/**
 * @param {DrawnPanel} panel
 * @param {Index} index
 */
function addField(panel, index) {
  const box = panel.geometry.cellBox(index), field = html("input", "nv-field", panel.body);
  panel.field = field;
  field.type = "text";
  field.inputMode = "text"; // the keyboard for decimals has no minus sign on some phones
  const width = Math.max(64, box.width), middle = panel.left + box.x + box.width / 2;
  const left = Math.min(Math.max(0, middle - width / 2), Math.max(0, panel.body.clientWidth - width));
  field.style.cssText = `left:${left}px;top:${panel.top + box.y + box.height / 2 - 14}px;width:${width}px`;
  return field;
}
