// "Save image", for pages that have no other place for it.

import { button, download, html } from "../page/dom.js";
import { _ } from "../page/messages.js";

/**
 * Shows the menu where the data asks for it.
 * @param {PictureSource} view
 */
export function updateSaveMenu(view) {
  if (!view.saveMenu && view.data.save) view.saveMenu = addMenu(view);
  if (view.saveMenu) view.saveMenu.hidden = !view.data.save;
}

/** @param {PictureSource} view */
function addMenu(view) {
  const menu = html("details", "nv-save", view.root), summary = html("summary", "", menu, _("Save image")), list = html("div", "nv-save-list", menu);
  for (const kind of ["png", "svg"]) {
    const format = kind.toUpperCase(), save = () => saveImage(view, kind).catch((error) => view.announce(error.message));
    button("nv-button", list, format, save).setAttribute("aria-label", _("Save as {format}", { format }));
  }
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    summary.focus();
  });
  return menu;
}

/**
 * @param {PictureSource} view
 * @param {string} kind
 */
async function saveImage({ root }, kind) {
  const { nvImage, nvImageName } = root;
  if (nvImage && nvImageName) download(await nvImage(kind), nvImageName(kind));
}
