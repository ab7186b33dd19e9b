// A search as one types: of the links on a page, those are shown whose words contain every typed word.

import { find, findAll } from "../../../figures/browser/page/dom.js";
import { ngettext } from "../../../figures/browser/page/messages.js";

/**
 * Shows the items with all words of the text, and the topics that have one.
 * @param {string} text
 * @param {HTMLElement[]} items
 * @param {HTMLElement[]} topics
 * @returns {number} of items that are shown
 */
export function showMatching(text, items, topics) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of items) item.hidden = !words.every((word) => item.dataset.words?.includes(word));
  for (const topic of topics) topic.hidden = !topic.querySelector("[data-words]:not([hidden])");
  return items.filter((item) => !item.hidden).length;
}

/** @param {string} text @param {number} found */
export const countFound = (text, found) => (text.trim() ? ngettext("{n} found", "{n} found", found) : "");

/**
 * The field of the page's search, if it has one.
 * @param {HTMLElement} root
 */
export const searchField = (root) => /** @type {HTMLInputElement | null} */ (root.querySelector(".nv-search > input"));

/**
 * Shows the links that the field of the page asks for.
 * @param {HTMLElement} root
 */
export function filterLinks(root) {
  const field = searchField(root);
  if (!field) return;
  const found = showMatching(field.value, findAll(root, "[data-words]"), findAll(root, ".nv-topic"));
  find(root, ".nv-search > [role=status]").textContent = countFound(field.value, found);
  find(root, ".nv-none").hidden = found > 0 || root.querySelector(".nv-found") !== null;
}
