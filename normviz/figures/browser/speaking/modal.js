// A dialog over the page. The keys in it are its own.

import { button, html, uniqueNumber } from "../page/dom.js";
import { _ } from "../page/messages.js";

/**
 * Opens a dialog; the function gets the element to fill. Escape and Close end it.
 * @param {HTMLElement} parent
 * @param {string} title
 * @param {(body: HTMLElement) => void} fill
 * @param {() => void} onClose
 */
export function openModal(parent, title, fill, onClose) {
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
