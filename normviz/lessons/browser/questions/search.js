// A search as one types: of the links on a page, those are shown whose words contain every typed word.

import { find, findAll } from "../../../figures/browser/common/dom.js";
import { ngettext } from "../../../figures/browser/common/messages.js";

/**
 * Shows the items with all words of the text, and opens the topics that have one. Without a search, those close again.
 * @param {string} text
 * @param {HTMLElement[]} items
 * @param {HTMLElement[]} topics
 * @returns {number} of items that are shown
 */
export function showMatching(text, items, topics) {
  const words = withoutAccents(text.toLowerCase()).split(/\s+/).filter(Boolean);
  for (const item of items) item.hidden = !words.every((word) => withoutAccents(item.dataset.words ?? "").includes(word));
  for (const topic of topics) {
    topic.hidden = !topic.querySelector("[data-words]:not([hidden])");
    if (topic instanceof HTMLDetailsElement) openWith(topic, words.length > 0 && !topic.hidden);
  }
  return items.filter((item) => !item.hidden).length;
}

/** @param {string} text */
const withoutAccents = (text) => text.normalize("NFD").replace(/\p{M}/gu, "");

/**
 * Opens a topic for a search. It closes with the search, unless the reader had opened it.
 * @param {HTMLDetailsElement} topic
 * @param {boolean} isFound
 */
function openWith(topic, isFound) {
  if (isFound && !topic.open) topic.dataset.found = "yes";
  if (isFound) topic.open = true;
  else if (topic.dataset.found) {
    topic.open = false;
    delete topic.dataset.found;
  }
}

/** @param {string} text @param {number} found */
export const countFound = (text, found) => (text.trim() ? ngettext("{n} found", "{n} found", found) : "");

/**
 * The field of the page's search, if it has one.
 * @param {HTMLElement} root
 */
export const searchField = (root) => /** @type {HTMLInputElement | null} */ (root.querySelector(".nv-search > input"));

/**
 * Whether the text may be an error message of torch, which has several words and a number; or the page shows what such a message means.
 * @param {string} text
 * @param {HTMLElement} root
 */
export const needsServer = (text, root) => (/\d/.test(text) && text.split(/\s+/).length > 2) || root.querySelector(".nv-found") !== null;

/**
 * Shows the links that the field of the page asks for.
 * @param {HTMLElement} root
 */
export function filterLinks(root) {
  const field = searchField(root);
  if (!field) return;
  const found = showMatching(field.value, findAll(root, "[data-words]"), findAll(root, ".nv-topic")), isError = root.querySelector(".nv-found") !== null;
  for (const path of findAll(root, ".nv-path, .nv-by-topic")) path.hidden = Boolean(field.value.trim());
  find(root, ".nv-search > [role=status]").textContent = isError && !found ? "" : countFound(field.value, found);
  find(root, ".nv-none").hidden = found > 0 || isError;
}
