// Terms: the parts of a formula, of worked numbers and of loops. A term lights cells while a reader points at it,
// or while it has the focus.

import { html } from "../common/dom.ts";
import { formatElement } from "../common/format.ts";

/**
 * ``lights``: "mean", "var", "eps", "gamma", "beta", "x" or "output"; "": nothing. ``at``: the element, if it is not
 * the selected one. ``isOf``: whether it belongs to the shown step.
 */
export type Term = { lights: string; text: string; at?: Index; isOf?: boolean };
export type Piece = string | Term;

export const textOf = (pieces: Piece[]) =>
  pieces.map((piece) => (typeof piece === "string" ? piece : piece.text)).join("");

/**
 * Writes pieces. Terms stay, with the focus, where only their texts change.
 * @param isStop whether Tab leads to the first term; the arrow keys lead to the others
 */
export function writePieces(parent: HTMLElement, pieces: Piece[], isStop = false) {
  const terms: Term[] = pieces.map((piece) => (typeof piece === "string" ? { lights: "", text: piece } : piece));
  const kinds = terms.map(({ lights }) => lights).join();
  if (kinds !== parent.dataset.kinds) {
    parent.dataset.kinds = kinds;
    parent.replaceChildren(...terms.map(({ lights }) => (lights ? termElement(lights) : html("span"))));
    if (isStop) parent.querySelector("[data-lights]")?.setAttribute("tabindex", "0");
  }
  terms.forEach(({ lights, text, at, isOf }, i) => {
    const element = parent.children[i] as HTMLElement;
    element.classList.toggle("nv-lit", Boolean(isOf));
    if (at) element.dataset.at = at.join();
    if (element.textContent === text) return;
    element.textContent = text;
    if (lights) element.ariaLabel = text === lights ? text : `${at ? formatElement("x", at) : lights} = ${text}`;
  });
}

function termElement(lights: string) {
  const element = html("span", "", null, "", { tabIndex: -1, role: "note" });
  element.dataset.lights = lights;
  return element;
}
