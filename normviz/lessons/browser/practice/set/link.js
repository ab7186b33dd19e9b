// The link of a set of exercises, which gives the same set everywhere.

import { queryOf } from "../../share/links.js";

/**
 * @param {PracticeSet} set
 * @param {boolean} timed
 */
export function writeSet({ seed, count, topics, level }, timed) {
  /** @type {[string, string][]} */
  const pairs = [["seed", String(seed)], ["count", String(count)], ["topics", topics.join()], ["level", level ? String(level) : ""], ["hide", timed ? "" : "time"]];
  return queryOf(pairs.filter(([, value]) => value));
}

/**
 * The set that the address of a file asks for, after "#" or "?"; null: none. What is not valid is left out.
 * @param {PracticeData} data
 */
export function setOfAddress({ set, topics, levels, most, largest, timed }) {
  const asked = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : location.search);
  if (!["seed", "count", "topics", "level"].some((name) => asked.has(name))) return null;
  /** @param {string} name @param {number} low @param {number} high @param {number} otherwise */
  const number = (name, low, high, otherwise) => (/^\d{1,12}$/.test(asked.get(name) ?? "") ? Math.min(high, Math.max(low, Number(asked.get(name)))) : otherwise);
  const named = (asked.get("topics") ?? "").split(",").map((name) => name.trim()), hidden = (asked.get("hide") ?? "").split(",");
  /** @type {PracticeSet} */
  const found = {
    seed: number("seed", 0, largest, 0), count: number("count", 1, most, set.count), level: number("level", 0, levels, 0),
    topics: topics.map(([key]) => key).filter((key) => named.includes(key)),
  };
  return { set: found, timed: timed && !hidden.includes("time") };
}
