// A file holds what torch computed when it was made. For the rest it leads to the app, if it knows one.

import { html } from "./dom.ts";
import { betweenSentences } from "./messages.ts";

/** The address of the view in the app; nothing if the file knows no app. */
export const appOfFile = () => document.querySelector(".nv-app-link")?.getAttribute("href");

/** ``text``: what the file does not have; "" for nothing; ``label`` of the link to the app */
export function writeMissing(place: HTMLElement, text: string, label: string) {
  place.textContent = text;
  const address = text && appOfFile();
  if (!address) return;
  const link = html("a", "nv-app-link", null, label); // its address follows the view, too
  link.href = address;
  place.append(betweenSentences(), link);
}
