// Light or dark, and the colors of each.

import { luminance, parseHex } from "./color.ts";

/** The wanted theme; without one, the theme that fits the page's background. */
export function readMode(parent: HTMLElement | ShadowRoot, wanted?: Mode | null): Mode {
  if (wanted) return wanted;
  const host = parent instanceof ShadowRoot ? parent.host : parent;
  const color = getComputedStyle(host).getPropertyValue("--st-background-color").trim();
  if (/^#[0-9a-f]{6}$/i.test(color)) return luminance(parseHex(color)) < 0.4 ? "dark" : "light";
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Sets the theme's colors as CSS variables. */
export function applyColors(root: HTMLElement, mode: Mode) {
  for (const [name, color] of Object.entries(THEMES[mode]))
    if (typeof color === "string") root.style.setProperty(`--nv-${name}`, color);
  return THEMES[mode];
}
