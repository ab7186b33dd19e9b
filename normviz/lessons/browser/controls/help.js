// The help of a control: a button that shows it, for the pointer, the keyboard and touch, and the control's description for a screen reader.

import { html } from "../../../figures/browser/common/dom.js";
import { _ } from "../../../figures/browser/common/messages.js";

/**
 * @param {HTMLElement} parent
 * @param {HTMLElement} field that it describes
 * @param {string} label of the field
 * @param {string} text
 * @param {string} id of the text
 */
export function addHelp(parent, field, label, text, id) {
  const details = html("details", "nv-control-help", parent);
  html("summary", "", details, "?").setAttribute("aria-label", _("Help: {label}", { label }));
  html("p", "", details, text).id = id;
  field.setAttribute("aria-describedby", id);
}
