// Which topics of the list of questions are open: they are open again when a reader comes back from a question.

import { findAll } from "../../../figures/browser/common/dom.js";

const TOPICS_KEY = "normviz.topics";
/** @type {Set<string>} For a browser that stores nothing, as in some frames. */
const openKeys = new Set();

/**
 * Follows which topics the reader opens and closes. What a search opens does not count.
 * @param {HTMLElement | Document} root
 */
export function followTopics(root) {
  const follow = /** @param {Event} event */ ({ target }) => {
    if (!(target instanceof HTMLDetailsElement) || !target.matches(".nv-topic") || target.dataset.found) return;
    const { topic = "" } = target.dataset;
    if (target.open) openKeys.add(topic);
    else openKeys.delete(topic);
    try {
      sessionStorage.setItem(TOPICS_KEY, JSON.stringify([...openKeys]));
    } catch {
      // only until the page is left
    }
  };
  root.addEventListener("toggle", follow, true); // "toggle" does not bubble
}

/**
 * Opens the topics that were open.
 * @param {HTMLElement | Document} root
 */
export function openTopics(root) {
  const topics = /** @type {HTMLDetailsElement[]} */ (findAll(root, ".nv-topic"));
  if (!topics.length) return;
  try {
    for (const topic of JSON.parse(sessionStorage.getItem(TOPICS_KEY) ?? "[]")) openKeys.add(topic);
  } catch {
    // nothing is stored, or something else
  }
  for (const topic of topics) if (openKeys.has(topic.dataset.topic ?? "")) topic.open = true;
}
