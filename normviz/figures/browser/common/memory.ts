// What only the reader's own browser keeps. In frames that may store nothing, it lasts until the page is left.

/** A value under one key. */
export class Memory {
  last: unknown = null; // what was read or written last
  isStored = true;
  storage: "localStorage" | "sessionStorage";
  key: string;

  constructor(storage: "localStorage" | "sessionStorage", key: string) {
    this.storage = storage;
    this.key = key;
  }

  /** The value, or null. It may have any form, because anybody can change what a browser stores. */
  read(): any {
    try {
      if (this.isStored) this.last = JSON.parse(globalThis[this.storage].getItem(this.key) ?? "null");
    } catch {
      // nothing can be stored, or it is no JSON
    }
    return this.last;
  }

  write(value: unknown) {
    this.last = value;
    try {
      globalThis[this.storage].setItem(this.key, JSON.stringify(value));
      this.isStored = true;
    } catch {
      this.isStored = false;
    }
  }
}
