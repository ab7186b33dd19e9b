// The link of a set of exercises, which gives the same set everywhere.

import { queryOf } from "../../share/links.js";

/**
 * @param {PracticeSet} set
 * @param {boolean} timed
 * @param {PracticeSet} own of the page: a file uses its values for those that a link leaves out
 */
export function writeSet(set, timed, own) {
  const pairs = Object.entries(set).filter(([name, value]) => value || own[name]);
  return queryOf(timed ? pairs : [...pairs, ["hide", "time"]]);
}

/**
 * The set that the address of a file asks for, after "#" or "?". The file's own values replace those that are left out or not valid.
 * @param {PracticeData} data
 */
export function setOfAddress({ set, settings, timed }) {
  const asked = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : location.search);
  const found = Object.entries(settings).map(([name, setting]) => [name, nearestText(setting, asked.get(name)) ?? set[name]]);
  return { set: /** @type {PracticeSet} */ (Object.fromEntries(found)), timed: timed && !(asked.get("hide") ?? "").split(",").includes("time") };
}

/**
 * The nearest valid text for a link; null: there is none.
 * @param {PracticeSetting} setting
 * @param {string | null} text
 */
export function nearestText({ low = 0, high = 0, several, options }, text) {
  if (text === null) return null;
  if (!options) {
    const number = text.trim() ? Math.round(Number(text)) : NaN;
    return Number.isFinite(number) ? String(Math.min(high, Math.max(low, number))) : null;
  }
  const named = text.split(",").map((word) => word.trim().toLowerCase()), known = options.map(([value]) => value).filter((value) => named.includes(value));
  if (!several) return known[0] ?? null;
  return known.length < options.length ? known.join() : ""; // a link without topics has all of them
}
