// Light or dark, and the colours of each.

import { THEMES } from "normviz:themes";
import { luminance, parseHex } from "../panels/colour.js";

/**
 * The theme that is asked for, else that of the page's background.
 * @param {HTMLElement | ShadowRoot} parent
 * @param {Mode | null} [wanted]
 * @returns {Mode}
 */
export function readMode(parent, wanted) {
  if (wanted) return wanted;
  const host = parent instanceof ShadowRoot ? parent.host : parent;
  const colour = getComputedStyle(host).getPropertyValue("--st-background-color").trim();
  if (/^#[0-9a-f]{6}$/i.test(colour)) return luminance(parseHex(colour)) < 0.4 ? "dark" : "light";
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/**
 * Sets the theme's colours as CSS variables.
 * @param {HTMLElement} root
 * @param {Mode} mode
 */
export function applyColours(root, mode) {
  for (const [name, colour] of Object.entries(THEMES[mode]))
    if (typeof colour === "string") root.style.setProperty(`--nv-${name}`, colour);
  return THEMES[mode];
}
