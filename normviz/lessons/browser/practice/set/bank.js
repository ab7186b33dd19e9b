// All exercises, which a file carries because no server chooses among them.

import { choosePlaces } from "./choose.js";

/** @typedef {{ index: [string, string, number, string][], exercises: PracticeExercise[] }} UnpackedBank */

export class PracticeBank {
  /** @type {Promise<UnpackedBank> | undefined} */
  unpacked;

  /**
   * The bank in an element of the page; null: a server chooses.
   * @param {HTMLElement} root
   */
  static in(root) {
    const carried = root.querySelector(":scope > .nv-bank");
    return carried && new PracticeBank((carried.textContent ?? "").trim());
  }

  /** @param {string} packed compressed JSON */
  constructor(packed) {
    this.packed = packed;
  }

  /** @returns {Promise<UnpackedBank>} */
  async unpack() {
    const bytes = Uint8Array.from(atob(this.packed), (letter) => letter.charCodeAt(0));
    return await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  /** @param {PracticeSet} set */
  async choose({ seed, count, topics, level }) {
    const { index, exercises } = await (this.unpacked ??= this.unpack());
    const wanted = { seed: Number(seed), count: Number(count), topics: topics ? topics.split(",") : [], level: Number(level) || null };
    return choosePlaces(index, wanted).map((place) => exercises[place]);
  }
}
