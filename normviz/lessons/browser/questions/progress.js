// Which questions a reader has answered. Only the reader's own browser keeps it.

import { findAll } from "../../../figures/browser/page/dom.js";
import { _ } from "../../../figures/browser/page/messages.js";

const KEY = "normviz.answered";
/** @type {Set<string>} For a browser that stores nothing, as in some frames. */
const known = new Set();

function answered() {
  try {
    for (const key of JSON.parse(localStorage.getItem(KEY) ?? "[]")) known.add(key);
  } catch {
    // nothing is stored, or something else
  }
  return known;
}

/** @param {string} question its key */
export function rememberAnswered(question) {
  const all = answered().add(question);
  try {
    localStorage.setItem(KEY, JSON.stringify([...all]));
  } catch {
    // only until the page is left
  }
}

/**
 * Ticks the answered questions of a list, and says how many there are.
 * @param {ParentNode} root
 */
export function tickAnswered(root) {
  const items = findAll(root, "[data-question]:is(li)"), all = items.length ? answered() : known;
  for (const item of items) item.classList.toggle("nv-answered", all.has(item.dataset.question ?? ""));
  const done = items.filter((item) => item.classList.contains("nv-answered")).length;
  for (const line of findAll(root, ".nv-progress")) line.textContent = done ? _("{done} of {all} answered", { done, all: items.length }) : "";
}
