// How far a reader has come in Start here. Only the reader's own browser keeps it.

const START_KEY = "normviz.start";

/** @typedef {{ at: number, done: string[] }} StartProgress ``at``: the number of the step that is shown, from 0; ``done``: the keys of steps */

/** For a browser that stores nothing, as in some frames. @type {StartProgress | null} */
let inMemory = null;

/** @returns {StartProgress | null} null if the reader has never been there */
export function readStart() {
  try {
    const { at, done } = JSON.parse(localStorage.getItem(START_KEY) ?? "{}");
    if (Number.isInteger(at) && Array.isArray(done)) return { at, done: done.map(String) };
  } catch {
    // nothing is stored, or something else
  }
  return inMemory;
}

/** @param {StartProgress} progress */
export function writeStart(progress) {
  try {
    localStorage.setItem(START_KEY, JSON.stringify(progress));
    inMemory = null;
  } catch {
    inMemory = progress; // kept only until the page is left
  }
}
