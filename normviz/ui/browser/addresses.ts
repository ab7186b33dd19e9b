// Addresses of the app: of its views, and in the browser's history, which also keeps how far the page was scrolled at each.

import { appAddress, pathOf, queryOf } from "../../lessons/share/links.ts";

/** Where to scroll as soon as the page is high enough. */
let wanted: number | null = null;

const scroller = () => document.querySelector("[data-testid=stMain]");

/** The address of another view. It keeps the language that the address of this one names. ``shown``: the page that is shown. */
export function viewAddress(shown: string, page: string, query: string) {
  const language = [...new URLSearchParams(location.search)].filter(([name]) => name === "lang");
  const others = [...new URLSearchParams(query)].filter(([name]) => !language.length || name !== "lang");
  return appAddress(shown) + pathOf(page) + queryOf([...others, ...language]);
}

/** The address of this view with another value of a parameter. ``value``: "" removes the parameter. */
export function withParameter(name: string, value: string) {
  const others = [...new URLSearchParams(location.search)].filter(([other]) => other !== name);
  return location.pathname + queryOf(value ? [...others, [name, value]] : others);
}

/** Opens an address of the app, at its top. Streamlit runs its page as after Back, without loading the app again. */
export function openAddress(address: string) {
  history.replaceState({ ...history.state, scrolled: scroller()?.scrollTop ?? 0 }, "");
  write("pushState", address);
  wanted = 0;
}

/**
 * The page stays, and what the reader has done on it is in its address.
 * @param push whether Back should return to the address before
 */
export const keepInAddress = (address: string, push: boolean) => write(push ? "pushState" : "replaceState", address);

/** A step of a lesson. The entry before it gets the number of the step that was left: its address may have none. */
export function keepStep(left: number, step: number) {
  history.replaceState({ ...history.state, step: left }, "");
  history.pushState({ step }, "", withParameter("step", String(step)));
}

function write(method: "pushState" | "replaceState", address: string) {
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
