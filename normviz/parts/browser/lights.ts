// Terms in the figures and the code of a page: a term that is pointed at or has the focus lights its cells.
// A tap gives it the focus.

import { findAll } from "../../figures/browser/common/dom.ts";
import type { FigureView } from "../../figures/browser/views/view.ts";

const TERM = "[data-lights]", GROUP = ".nv-formula, .nv-loops, .nv-lines, pre";

/** ``viewOf``: the figure whose cells a term lights */
export function followTerms(root: HTMLElement, viewOf: (term: HTMLElement) => FigureView | undefined) {
  let pointed: HTMLElement | null = null, focused: HTMLElement | null = null, lit: FigureView | undefined;
  const termOf = (event: Event) => (event.target as Element).closest<HTMLElement>(TERM);
  const termsBeside = (term: HTMLElement) => findAll(term.closest(GROUP) ?? root, TERM);
  const light = () => {
    const term = pointed ?? focused, view = term ? viewOf(term) : undefined;
    if (lit !== view) lit?.light(null);
    lit = view;
    if (term) view?.light({ word: term.dataset.lights as string, at: term.dataset.at?.split(",").map(Number) ?? null });
  };
  const point = (term: HTMLElement | null) => {
    if (term === pointed) return;
    pointed = term;
    light();
  };
  root.addEventListener("pointerover", (event) => event.pointerType !== "touch" && point(termOf(event)));
  root.addEventListener("pointerleave", () => point(null));
  root.addEventListener("focusin", (event) => {
    focused = termOf(event);
    for (const term of focused ? termsBeside(focused) : []) term.tabIndex = term === focused ? 0 : -1;
    light();
    if (focused) lit?.sayLit();
  });
  root.addEventListener("focusout", () => {
    focused = null;
    light();
  });
  root.addEventListener("click", (event) => termOf(event)?.focus({ preventScroll: true }));
  root.addEventListener("keydown", (event) => {
    const term = termOf(event);
    if (!term || event.ctrlKey || event.metaKey || event.altKey) return;
    const terms = termsBeside(term), at = terms.indexOf(term);
    const places: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: terms.length - 1 };
    if (!(event.key in places)) return;
    terms[places[event.key]]?.focus();
    event.preventDefault();
    event.stopPropagation();
  });
}
