// A file holds what torch computed when it was made. For the rest it leads to the app, if it knows one.

import { html } from "./dom.js";
import { betweenSentences } from "./messages.js";

/** The address of the view in the app; nothing if the file knows no app. */
export const appOfFile = () => document.querySelector(".nv-app-link")?.getAttribute("href");

/**
 * @param {HTMLElement} place
 * @param {string} text what the file does not have; "" for nothing
 * @param {string} label of the link to the app
 */
export function writeMissing(place, text, label) {
  place.textContent = text;
  const address = text && appOfFile();
  if (!address) return;
  const link = html("a", "nv-app-link", null, label); // its address follows the view, too
  link.href = address;
  place.append(betweenSentences(), link);
}
