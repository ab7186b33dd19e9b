// Streamlit runs the app again at R, and offers to clear its caches at C, wherever the focus is. A single letter must not do that: a reader
// who speaks to the computer or misses a field types letters too. R and C end here, before Streamlit listens.

/** @param {Document} page */
export function endShortcutsOfStreamlit(page) {
  page.body.addEventListener("keydown", (event) => {
    if (/^[rc]$/i.test(event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  });
}
