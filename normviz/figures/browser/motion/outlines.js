// The outline of a group grows into the outline that it has under another layer.

/** @import { DrawnPanel, PanelHost } from "../tensor/drawn_panel.d.ts" */

import { html } from "../common/dom.js";
import { _ } from "../common/messages.js";
import { sameIndex } from "../tensor/sharing.js";

export const MOTION_TIME = 700; // ms
const MOST_RECTANGLES = 300;
const SOON = 80; // ms: measuring takes time, so the figure is painted before

/** Whether motion may show a fact: not to a reader who prefers reduced motion. */
export const mayMove = () => !window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** @typedef {[number, number, number, number]} Rectangle left, top, right, bottom */

/**
 * The rectangles of an outline; null if it has other shapes, or too many.
 * @param {string} path
 * @returns {Rectangle[] | null}
 */
export function rectanglesOf(path) {
  const found = [...path.matchAll(/M([-\d.e]+),([-\d.e]+)H([-\d.e]+)V([-\d.e]+)H[-\d.e]+Z/g)];
  const whole = found.reduce((length, [text]) => length + text.length, 0) === path.length;
  return whole && found.length && found.length <= MOST_RECTANGLES ? found.map(([, ...numbers]) => /** @type {Rectangle} */ (numbers.map(Number))) : null;
}

/**
 * The outline on its way from one to the other; ``share`` from 0 to 1. Every rectangle has a partner, some have several.
 * @param {Rectangle[]} from
 * @param {Rectangle[]} to
 * @param {number} share
 */
export function outlineBetween(from, to, share) {
  const count = Math.max(from.length, to.length);
  return Array.from({ length: count }, (_, i) => {
    const start = from[Math.floor((i * from.length) / count)], end = to[Math.floor((i * to.length) / count)];
    const [left, top, right, bottom] = start.map((at, side) => at + (end[side] - at) * share);
    return `M${left},${top}H${right}V${bottom}H${left}Z`;
  }).join("");
}

/**
 * @param {SVGPathElement} outline which already has its new path
 * @param {string} before its path until now
 * @param {SVGPathElement} [halo] around it
 */
export function morphOutline(outline, before, halo) {
  const after = outline.getAttribute("d") ?? "", from = rectanglesOf(before), to = rectanglesOf(after);
  if (before === after || !from || !to || !mayMove()) return;
  const started = performance.now();
  let drawn = after;
  const step = () => {
    if (outline.getAttribute("d") !== drawn) return; // another element was selected
    const share = Math.min(1, (performance.now() - started) / MOTION_TIME), eased = share * share * (3 - 2 * share);
    drawn = share < 1 ? outlineBetween(from, to, eased) : after;
    for (const shape of [outline, halo]) shape?.setAttribute("d", drawn);
    if (share < 1) requestAnimationFrame(step);
  };
  step();
}

/**
 * Remembers the outlines of a view before it shows ``data``. The returned function lets them grow into the new ones.
 * @param {PanelHost & { narrow: boolean }} view before it takes the data
 * @param {ViewData} data
 */
export function followOutlines(view, data) {
  const { data: before } = view, paths = new Map([...view.panels].map(([key, panel]) => [key, panel.outline?.getAttribute("d") ?? ""]));
  const alike = before && before.layer !== data.layer && sameIndex(before.at, data.at) && JSON.stringify(before.grid) === JSON.stringify(data.grid);
  const captions = new Map((before?.panels ?? []).map(({ key, caption }) => [key, caption]));
  return () => {
    if (!alike || view.pointed) return;
    for (const [key, panel] of view.panels) if (panel.outline && panel.figure.links) morphOutline(panel.outline, paths.get(key) ?? "", panel.outlineHalo);
    const changed = [...view.panels.values()].filter(({ key, figure }) => !figure.z && captions.has(key) && captions.get(key) !== figure.caption);
    setTimeout(() => view.narrow || saySizesBefore(changed.filter(({ key, figure }) => view.panels.get(key)?.figure === figure), captions), SOON);
  };
}

/**
 * The captions give the earlier group sizes if there is room; the figure must not move down.
 * @param {DrawnPanel[]} panels
 * @param {Map<string, string>} captions
 */
function saySizesBefore(panels, captions) {
  const heads = panels.map(({ caption }) => /** @type {HTMLElement} */ (caption.parentElement)), heights = heads.map((head) => head.scrollHeight);
  const said = panels.map(({ key, caption }) => html("span", "nv-before", caption, _("before: {caption}", { caption: captions.get(key) ?? "" })));
  const tooLong = said.filter((_span, i) => heads[i].scrollHeight > heights[i]); // all are measured before any is removed
  tooLong.forEach((span) => span.remove());
}
