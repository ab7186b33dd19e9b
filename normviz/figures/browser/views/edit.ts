// Changes single values of x: a number field over the cell, or the pointer, which drags the value up or down.

type EditableView = PanelHost & { line: HTMLElement; changes: Changes };

import { appOfFile, writeMissing } from "../common/app.ts";
import { button, findAll, html, uniqueNumber } from "../common/dom.ts";
import { formatElement, formatNumber, roundedFor } from "../common/format.ts";
import { _ } from "../common/messages.ts";
import { askNumber, readNumber } from "../common/numbers.ts";
import { tensorIndex } from "../tensor/sharing.ts";
import type { DrawnPanel, PanelHost } from "../tensor/drawn_panel.ts";
import type { Changes } from "./changes.ts";

const LARGEST_VALUE = 1e12; // equals normviz.analysis.checks.LARGEST_VALUE
const DRAG_START = 5, DRAG_RANGE = 200; // px: a press becomes a drag; a drag goes through the whole range of colors

/** Shows the button "Edit a value" where x can be changed, or a file leads to the app for it. */
export function updateEditButton(view: EditableView) {
  const panel = view.panels.get("x"), { editable, fixed, grid } = view.data, offered = editable || (fixed && Boolean(appOfFile()));
  if (!panel) return;
  if (!panel.editButton) {
    offerDragging(view, panel);
    panel.editButton = button("nv-edit", panel.root, _("Edit a value"), () => view.edit(view.at ?? grid.indices.map(() => 0)));
    panel.editButton.title = _("Or double-click a cell of x, drag its value up or down, or type a number on it");
  }
  panel.editButton.hidden = !offered;
}

/** Opens the field over an element; ``start``: what it holds instead of the element's value. */
export function editValue(view: EditableView, index: Index, start?: string) {
  const panel = view.panels.get("x");
  if (view.data.fixed) writeMissing(view.line, _("This file holds the results for its own x; other values of x need torch."), _("Edit them in the app"));
  if (view.data.editable && panel) openField(view, panel, index, start);
}

function openField(view: EditableView, panel: DrawnPanel, index: Index, start?: string) {
  panel.field?.remove();
  for (const asking of findAll(panel.body, ".nv-field-message")) asking.remove();
  const field = addField(panel, index), message = html("div", "nv-field-message");
  message.id = `nv-field-${uniqueNumber()}`;
  message.setAttribute("role", "alert");
  field.setAttribute("aria-label", _("New value of {element}", { element: formatElement("x", tensorIndex(view.data, index)) }));
  field.setAttribute("aria-describedby", message.id);
  field.value = start ?? String(Number(view.valueAt("x", index).toPrecision(7)));
  const close = (focusPanel: boolean) => {
    if (panel.field !== field) return;
    panel.field = null;
    field.remove();
    message.remove();
    if (focusPanel) panel.svg.focus();
  };
  const commit = (focusPanel: boolean) => {
    if (panel.field !== field) return; // closed: a field that is removed loses the focus, too
    const value = readValue(field.value);
    if (value !== null) {
      close(focusPanel);
      view.changes.edit(index, value);
    } else if (focusPanel || askNumber(field.value)) { // what was typed stays until it is clear
      field.setAttribute("aria-invalid", "true");
      message.textContent = whyInvalid(field.value);
      placeBelow(message, field);
    } else close(false);
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") commit(true);
    if (event.key !== "Escape") return;
    close(true);
    view.changes.cancel();
  });
  field.addEventListener("input", () => {
    field.removeAttribute("aria-invalid");
    message.remove();
  });
  field.addEventListener("blur", () => commit(false));
  field.focus();
  if (start === undefined) field.select();
  return { field, commit, close };
}

/** The number that a reader has typed; null if it is none that x can have. */
export function readValue(text: string) {
  const value = readNumber(text);
  return Math.abs(value) <= LARGEST_VALUE ? value : null;
}

export const whyInvalid = (text: string) =>
  askNumber(text) || _("“{value}” is not a number from {low} to {high}. Write one, such as 0.5.", { value: text.trim(), low: formatNumber(-LARGEST_VALUE), high: formatNumber(LARGEST_VALUE) });

function placeBelow(message: HTMLElement, field: HTMLElement) {
  const body = field.parentElement as HTMLElement;
  body.append(message);
  message.style.top = `${field.offsetTop + field.offsetHeight + 4}px`;
  message.style.left = `${Math.max(0, Math.min(field.offsetLeft, body.clientWidth - message.offsetWidth))}px`;
}

/** Lets a mouse or a pen drag the value of a cell; a finger scrolls the page instead. All results follow at once. */
function offerDragging(view: EditableView, panel: DrawnPanel) {
  let drag: { index: Index, y: number, value: number, edit?: ReturnType<typeof openField> } | null = null;
  const { body, svg } = panel, { changes } = view;
  body.addEventListener("pointerdown", ({ target, button: pressed, pointerType, clientY }) => {
    const index = view.pointed, starts = target === svg && !pressed && pointerType !== "touch" && index && (view.data.editable || changes.canDrag(index));
    drag = starts ? { index, y: clientY, value: view.valueAt("x", index) } : null;
  });
  body.addEventListener("pointermove", (event) => {
    if (!drag || (!drag.edit && Math.abs(event.clientY - drag.y) < DRAG_START)) return;
    event.stopPropagation(); // the pointer leaves the cell, its value stays active
    body.setPointerCapture(event.pointerId);
    drag.edit ??= openField(view, panel, drag.index);
    if (panel.field !== drag.edit.field) return; // closed with Escape
    drag.edit.field.value = draggedValue(drag.value, drag.y - event.clientY, panel.figure.high);
    changes.preview(drag.index, Number(drag.edit.field.value));
  }, true);
  body.addEventListener("pointerup", () => {
    drag?.edit?.commit(true);
    if (!drag?.edit) drag = null;
  });
  body.addEventListener("pointercancel", () => {
    drag?.edit?.close(false);
    changes.cancel();
    drag = null;
  });
  body.addEventListener("click", (event) => {
    if (drag?.edit) event.stopPropagation(); // the end of a drag selects nothing
    drag = null;
  }, true);
}

/**
 * The value after a drag, with as many digits as its distance from other values needs.
 * @param pixels upwards
 * @param most the largest absolute value of x
 */
export const draggedValue = (value: number, pixels: number, most: number) => String(roundedFor(most, value + (pixels * 2 * most) / DRAG_RANGE));

function addField(panel: DrawnPanel, index: Index) {
  const box = panel.geometry.cellBox(index), field = html("input", "nv-field", panel.body);
  panel.field = field;
  field.type = "text";
  field.inputMode = "text"; // the keyboard for decimals has no minus sign on some phones
  const width = Math.max(64, box.width), middle = panel.left + box.x + box.width / 2;
  const left = Math.min(Math.max(0, middle - width / 2), Math.max(0, panel.body.clientWidth - width));
  field.style.cssText = `left:${left}px;top:${panel.top + box.y + box.height / 2 - 14}px;width:${width}px`;
  return field;
}
