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
  const random = new Random(seed), order = [...kinds.keys()], chosen = [];
  const turns = random.shuffled(order).map((kind) => ({ turn: 0, kind }));
  for (let next = turns.shift(); next && chosen.length < count; next = turns.shift()) {
    const { turn, kind } = next, families = kinds.get(kind) ?? new Map();
    const family = [...families.keys()][random.below(families.size)], places = families.get(family);
    const [place] = places.splice(random.below(places.length), 1);
    chosen.push({ place, keys: [index[place][2], turn, order.indexOf(kind)] });
    if (!places.length) families.delete(family);
    if (families.size) turns.push({ turn: turn + 1, kind });
  }
  /** @type {(one: { keys: number[] }, other: { keys: number[] }) => number} */
  const before = (one, other) => one.keys.map((key, at) => key - other.keys[at]).find((difference) => difference) ?? 0;
  return chosen.sort(before).map(({ place }) => place);
}
