// How a reader has answered which questions. Only the reader's own browser keeps it; where nothing can be stored, it lasts until the page is left.

import { find, findAll } from "../../../figures/browser/common/dom.js";
import { _ } from "../../../figures/browser/common/messages.js";

/** @typedef {"right" | "wrong" | "opened"} Result ``opened``: the answer, without a prediction */

const PROGRESS_KEY = "normviz.questions";
/** @type {Record<Result, [string, () => string]>} A sign, and what it says. */
const RESULT_SIGNS = { right: ["\u2713", () => _("answered correctly")], wrong: ["\u2717", () => _("answered incorrectly")], opened: ["\u25cb", () => _("opened without a prediction")] };
/** @type {Map<string, Result>} */
let known = new Map();
let isStored = true;

/** @returns {Map<string, Result>} */
function results() {
  try {
    const pairs = isStored ? Object.entries(JSON.parse(localStorage.getItem(PROGRESS_KEY) ?? "{}")) : [...known];
    known = new Map(pairs.filter(([, result]) => Object.hasOwn(RESULT_SIGNS, result)));
  } catch {
    // nothing is stored, or something else
  }
  return known;
}

/** @param {Map<string, Result>} all */
function keep(all) {
  known = all;
  try {
    localStorage.setItem(PROGRESS_KEY, JSON.stringify(Object.fromEntries(all)));
    isStored = true;
  } catch {
    isStored = false;
  }
}

/**
 * The last prediction counts. An answer that is opened without one takes nothing away.
 * @param {string} question its key
 * @param {Result} result
 */
export function rememberResult(question, result) {
  const all = results();
  if (result !== "opened" || !all.has(question)) keep(all.set(question, result));
}

/**
 * Shows beside every question of a list how it was answered, and how many were.
 * @param {HTMLElement | Document} root
 */
export function showProgress(root) {
  const items = findAll(root, "li[data-question]"), all = items.length ? results() : known;
  for (const item of items) showResult(item, all.get(item.dataset.question ?? ""));
  for (const topic of findAll(root, ".nv-topic")) {
    const { done, all } = progressIn(topic), count = find(topic, ".nv-count");
    count.textContent = done ? _("{done} of {all}", { done, all }) : String(all);
  }
  for (const path of findAll(root, ".nv-path")) {
    const counts = progressIn(path);
    find(path, ".nv-progress").textContent = counts.done ? _("{done} of {all} answered, {right} correctly", counts) : "";
    const button = /** @type {HTMLButtonElement} */ (find(path, ".nv-reset"));
    button.hidden = all.size === 0;
    button.onclick = () => {
      keep(new Map());
      showProgress(root);
    };
  }
}

/**
 * @param {HTMLElement} item
 * @param {Result | undefined} result
 */
function showResult(item, result) {
  const place = find(item, ".nv-outcome"), [sign, text] = result ? RESULT_SIGNS[result] : ["", () => ""];
  item.dataset.result = result ?? "";
  place.textContent = sign;
  place.title = text();
  place.role = sign ? "img" : null;
  place.ariaLabel = sign ? text() : null;
}

/** @param {HTMLElement} list */
function progressIn(list) {
  const found = findAll(list, "li[data-question]").map((item) => item.dataset.result);
  return { all: found.length, done: found.filter(Boolean).length, right: found.filter((result) => result === "right").length };
}
