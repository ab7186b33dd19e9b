// The help that lists the keys.

import { html } from "../page/dom.js";
import { _ } from "../page/messages.js";
import { openModal } from "./modal.js";

/** @typedef {{ title: string, keys: [string[], string][] }} KeySection the keys, and what they do */

/** @returns {KeySection} */
const figureKeys = () => ({
  title: _("In a figure"),
  keys: [
    [["←", "→", "↑", "↓"], _("next element")],
    [["Home", "End"], _("first or last element of the line")],
    [["N"], _("next element that shares the mean; with Shift, the one before")],
    [["P"], _("next element that shares gamma and beta; with Shift, the one before")],
    [["G"], _("first element of the next group; with Shift, of the group before")],
    [["Enter"], _("select the element")],
    [["Esc"], _("select nothing")],
    [["T"], _("the numbers as a table")],
    [["0", "…", "9"], _("type a new value, where x can be changed")],
  ],
});

/** @returns {KeySection} */
const markingKeys = () => ({
  title: _("Where you mark elements"),
  keys: [
    [["←", "→", "↑", "↓"], _("next element, or the head of a row or a column")],
    [["Space"], _("mark the element, or the whole row or column")],
  ],
});

/** @returns {KeySection} */
const otherKeys = () => ({
  title: _("On every page"),
  keys: [
    [["Tab"], _("next control, figure or link; with Shift, the one before")],
    [["←", "→"], _("next option or tab; in a tour, outside a figure, the next view")],
    [["Esc"], _("close a menu or a dialog; leave a tour")],
    [["?"], _("this list, from a figure or where you mark elements")],
  ],
});

/**
 * @param {HTMLElement} parent
 * @param {() => void} onClose
 */
export function showKeys(parent, onClose) {
  openModal(parent, _("Keys"), (body) => {
    for (const { title, keys } of [figureKeys(), markingKeys(), otherKeys()]) {
      html("h3", "", body, title);
      const list = html("dl", "nv-keys", body);
      for (const [names, what] of keys) {
        const term = html("dt", "", list);
        for (const name of names) html(name === "…" ? "span" : "kbd", "", term, name);
        html("dd", "", list, what);
      }
    }
  }, onClose);
}
