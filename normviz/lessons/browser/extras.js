// What is done on a page with steps or exercises, after its parts are shown. Only bundles for such pages have the modules that add to it.

/** @type {Set<(root: HTMLElement, page: { host: PageHost, glossary: { markAgain: () => void } }) => void>} The host of a page may change. */
export const EXTRAS = new Set();
