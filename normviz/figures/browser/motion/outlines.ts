// The outline of a group grows into the outline that it has under another layer.

import { html } from "../common/dom.ts";
import { _ } from "../common/messages.ts";
import { sameIndex } from "../tensor/sharing.ts";
import type { DrawnPanel, PanelHost } from "../tensor/drawn_panel.ts";

export const MOTION_TIME = 700; // ms
const MOST_RECTANGLES = 300;
const SOON = 80; // ms: measuring takes time, so the figure is painted before

/** Whether motion may show a fact: not to a reader who prefers reduced motion. */
export const mayMove = () => !window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** left, top, right, bottom */
export type Rectangle = [number, number, number, number];

/** The rectangles of an outline; null if it has other shapes, or too many. */
export function rectanglesOf(path: string): Rectangle[] | null {
  const found = [...path.matchAll(/M([-\d.e]+),([-\d.e]+)H([-\d.e]+)V([-\d.e]+)H[-\d.e]+Z/g)];
  const whole = found.reduce((length, [text]) => length + text.length, 0) === path.length;
  return whole && found.length && found.length <= MOST_RECTANGLES ? found.map(([, ...numbers]) => numbers.map(Number) as Rectangle) : null;
}

/** The outline on its way from one to the other; ``share`` from 0 to 1. Every rectangle has a partner, some have several. */
export function outlineBetween(from: Rectangle[], to: Rectangle[], share: number) {
  const count = Math.max(from.length, to.length);
  return Array.from({ length: count }, (_, i) => {
    const start = from[Math.floor((i * from.length) / count)], end = to[Math.floor((i * to.length) / count)];
    const [left, top, right, bottom] = start.map((at, side) => at + (end[side] - at) * share);
    return `M${left},${top}H${right}V${bottom}H${left}Z`;
  }).join("");
}

/** ``outline`` has its new path already; ``before``: its path until now; ``halo``: around it */
export function morphOutline(outline: SVGPathElement, before: string, halo?: SVGPathElement) {
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
 * @param view before it takes the data
 */
export function followOutlines(view: PanelHost & { narrow: boolean }, data: ViewData) {
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

/** The captions give the earlier group sizes if there is room; the figure must not move down. */
function saySizesBefore(panels: DrawnPanel[], captions: Map<string, string>) {
  const heads = panels.map(({ caption }) => caption.parentElement as HTMLElement), heights = heads.map((head) => head.scrollHeight);
  const said = panels.map(({ key, caption }) => html("span", "nv-before", caption, _("before: {caption}", { caption: captions.get(key) ?? "" })));
  const tooLong = said.filter((_span, i) => heads[i].scrollHeight > heights[i]); // all are measured before any is removed
  tooLong.forEach((span) => span.remove());
}
