// Random whole numbers that Python and JavaScript draw alike. lessons/practice/random.py documents the generator.

const NUMBERS = 2 ** 32;
const INCREMENT = 0x9e3779b9;
const MULTIPLIERS = [0x85ebca6b, 0xc2b2ae35];

/** Draws that depend only on the seed: a whole number from 0 to 2^32 - 1, or a text. */
export class Random {
  /** @param {number | string} seed */
  constructor(seed) {
    this.state = typeof seed === "string" ? hashText(seed) : seed >>> 0;
  }

  /** A whole number from 0 to 2^32 - 1. */
  draw() {
    this.state = (this.state + INCREMENT) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), MULTIPLIERS[0]);
    mixed = Math.imul(mixed ^ (mixed >>> 13), MULTIPLIERS[1]);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  }

  /**
   * A whole number from 0 to ``bound`` - 1, each equally likely.
   * @param {number} bound
   */
  below(bound) {
    let drawn = this.draw();
    while (drawn >= NUMBERS - (NUMBERS % bound)) drawn = this.draw();
    return drawn % bound;
  }

  /**
   * The values in random order.
   * @template T
   * @param {readonly T[]} values
   * @returns {T[]}
   */
  shuffled(values) {
    const mixed = [...values];
    for (let last = mixed.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [mixed[last], mixed[other]] = [mixed[other], mixed[last]];
    }
    return mixed;
  }
}

/** @param {string} text */
export function hashText(text) {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}
