// The addresses of the app in the browser's history, and where the page was scrolled to at each.

/** @type {number | null} Where to scroll as soon as the page is high enough. */
let wanted = null;

const scroller = () => document.querySelector("[data-testid=stMain]");

/**
 * Opens an address of the app, at its top. Streamlit runs its page as after Back, without loading the app again.
 * @param {string} address
 */
export function openAddress(address) {
  history.replaceState({ ...history.state, scrolled: scroller()?.scrollTop ?? 0 }, "");
  write("pushState", address);
  wanted = 0;
}

/**
 * The page stays, and what the reader has done on it is in its address.
 * @param {string} address
 * @param {boolean} push whether Back should return to the address before
 */
export const keepInAddress = (address, push) => write(push ? "pushState" : "replaceState", address);

/**
 * @param {"pushState" | "replaceState"} method
 * @param {string} address
 */
function write(method, address) {
  history[method](method === "replaceState" ? history.state : {}, "", address);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

/** Call when the page has changed. */
export function scrollToWanted() {
  const main = scroller();
  if (wanted === null || !main) return;
  main.scrollTop = wanted;
  if (Math.abs(main.scrollTop - wanted) < 1) wanted = null;
}

// Only Back and Forward are trusted.
window.addEventListener("popstate", ({ isTrusted }) => (wanted = isTrusted ? (history.state?.scrolled ?? null) : null));
for (const name of ["wheel", "touchmove", "pointerdown", "keydown"]) window.addEventListener(name, () => (wanted = null), { passive: true, capture: true });
