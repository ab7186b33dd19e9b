// The exercises of a set. lessons/practice/bank.py documents the rule and is the same choice in Python.

import { Random } from "./random.js";

/**
 * The places of the chosen exercises in the bank.
 * @param {readonly [kind: string, family: string, level: number, topic: string][]} index of the whole bank, in its order
 * @param {{ seed: number, count: number, topics: readonly string[], level: number | null }} wanted
 */
export function choosePlaces(index, { seed, count, topics, level }) {
  /** @type {Map<string, Map<string, number[]>>} */
  const kinds = new Map();
  index.forEach(([kind, family, itsLevel, topic], place) => {
    if ((level && itsLevel !== level) || (topics.length && !topics.includes(topic))) return;
    const families = kinds.get(kind) ?? new Map();
    kinds.set(kind, families.set(family, [...(families.get(family) ?? []), place]));
  });
  const random = new Random(seed), chosen = [], turns = random.shuffled([...kinds.keys()]);
  while (turns.length && chosen.length < count) {
    const kind = turns.shift() ?? "", families = kinds.get(kind) ?? new Map();
    const family = [...families.keys()][random.below(families.size)], places = families.get(family);
    chosen.push(...places.splice(random.below(places.length), 1));
    if (!places.length) families.delete(family);
    if (families.size) turns.push(kind);
  }
  return chosen.sort((one, other) => index[one][2] - index[other][2]);
}
