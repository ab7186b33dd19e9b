// Dialogs over the page: the list of keys, and what other modules fill.

import { button, html, uniqueNumber } from "../common/dom.ts";
import { _ } from "../common/messages.ts";

/** Opens a dialog; the function gets the element to fill. Escape and Close end it. The keys in it are its own. */
export function openModal(parent: HTMLElement, title: string, fill: (body: HTMLElement) => void, onClose: () => void) {
  const root = html("dialog", "nv-modal", parent), head = html("header", "nv-modal-head", root), heading = html("h2", "", head, title);
  heading.id = `nv-modal-${uniqueNumber()}`;
  root.setAttribute("aria-labelledby", heading.id);
  const close = button("nv-button", head, _("Close"), () => root.close()), body = html("div", "nv-modal-body", root);
  body.tabIndex = 0; // a long one scrolls
  fill(body);
  root.addEventListener("click", (event) => event.target === root && root.close());
  root.addEventListener("keydown", (event) => event.stopPropagation());
  root.addEventListener("close", () => {
    root.remove();
    onClose();
  });
  root.showModal();
  close.focus();
  return root;
}

/** the keys, and what they do */
type KeySection = { title: string; keys: [string[], string][] };

const figureKeys = (): KeySection => ({
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
    [["Ctrl+Z"], _("take the last change of a value back")],
  ],
});

const markingKeys = (): KeySection => ({
  title: _("Where you mark elements"),
  keys: [
    [["←", "→", "↑", "↓"], _("next element, or the head of a row or a column")],
    [["Space"], _("mark the element, or the whole row or column")],
  ],
});

const otherKeys = (): KeySection => ({
  title: _("On every page"),
  keys: [
    [["Tab"], _("next control, figure or link; with Shift, the one before")],
    [["←", "→"], _("next option or tab; in a tour, outside a figure, the next view")],
    [["Esc"], _("close a menu or a dialog; leave a tour")],
    [["?"], _("this list, from a figure or where you mark elements")],
  ],
});

export function showKeys(parent: HTMLElement, onClose: () => void) {
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
