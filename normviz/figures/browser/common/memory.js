// What only the reader's own browser keeps. In frames that may store nothing, it lasts until the page is left.

/** A value under one key. */
export class Memory {
  /** @type {unknown} What was read or written last. */
  last = null;
  isStored = true;

  /**
   * @param {"localStorage" | "sessionStorage"} storage
   * @param {string} key
   */
  constructor(storage, key) {
    this.storage = storage;
    this.key = key;
  }

  /**
   * The value, or null. It may have any form, because anybody can change what a browser stores.
   * @returns {any}
   */
  read() {
    try {
      if (this.isStored) this.last = JSON.parse(globalThis[this.storage].getItem(this.key) ?? "null");
    } catch {
      // nothing can be stored, or it is no JSON
    }
    return this.last;
  }

  /** @param {unknown} value */
  write(value) {
    this.last = value;
    try {
      globalThis[this.storage].setItem(this.key, JSON.stringify(value));
      this.isStored = true;
    } catch {
      this.isStored = false;
    }
  }
}
