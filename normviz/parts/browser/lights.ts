// Terms in the figures and the code of a page: a term that is pointed at, or has the focus, lights its cells. A tap gives it the focus.

import { findAll } from "../../figures/browser/common/dom.ts";
import type { FigureView } from "../../figures/browser/views/view.ts";

const TERM = "[data-lights]", GROUP = ".nv-formula, .nv-loops, .nv-lines, pre";

/** ``viewOf``: the figure whose cells a term lights */
export function followTerms(root: HTMLElement, viewOf: (term: HTMLElement) => FigureView | undefined) {
  let pointed: HTMLElement | null = null, focused: HTMLElement | null = null, lit: FigureView | undefined;
  const termOf = (event: Event) => (event.target as Element).closest<HTMLElement>(TERM);
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
    if (focused) for (const term of findAll(focused.closest(GROUP) ?? root, TERM)) term.tabIndex = term === focused ? 0 : -1;
    light();
    if (focused) lit?.sayLit();
  });
  root.addEventListener("focusout", () => {
    focused = null;
    light();
  });
  root.addEventListener("click", (event) => termOf(event)?.focus({ preventScroll: true }));
  root.addEventListener("keydown", (event) => {
    const term = termOf(event), terms = term ? findAll(term.closest(GROUP) ?? root, TERM) : [], at = terms.indexOf(term as HTMLElement);
    const to = ({ ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: terms.length - 1 } as Record<string, number>)[event.key];
    if (!term || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    terms[to]?.focus();
    event.preventDefault();
    event.stopPropagation();
  });
}
