// The mean being made: values of the group of a pressed cell travel from their cells into one chip with the group's mean and variance, and on
// to their dots in the strip. Each group of a layer shows it once.

/** @import { DrawnPanel, PanelHost } from "../tensor/drawn_panel.d.ts" */
/** @import { Distribution } from "./distribution.js" */

import { groupColor } from "../common/color.js";
import { html } from "../common/dom.js";
import { groupOf, rankGroups } from "../tensor/sharing.js";
import { mayMove } from "../motion/outlines.js";

const MOST = 60; // values that travel
const TIME = 900; // ms
const ARRIVE = 0.42, LEAVE = 0.6; // the share of the time at which values reach the chip, and leave it

/** @typedef {[number, number]} Point in px, from the corner of the view */
/** @typedef {PanelHost & { colors: Colors, distribution?: Distribution }} GatheringView */

/**
 * The numbers of at most 60 values, evenly spaced.
 * @param {number} count
 */
export const someOf = (count) => Array.from({ length: Math.min(MOST, count) }, (_, i) => Math.floor((i * count) / Math.min(MOST, count)));

export class Gathering {
  /** @type {Set<string>} What has been shown: a layer and one of its groups. */
  shown = new Set();
  /** @type {HTMLElement | null} What is moving. */
  root = null;

  /** @param {GatheringView} view */
  constructor(view) {
    this.view = view;
  }

  /**
   * Shows the group of the selected element.
   * @param {DrawnPanel} pressed the panel with the pressed cell
   */
  start(pressed) {
    const { view } = this, { at, data, distribution, colors } = view, { tables, running } = data.stats ?? {}, group = distribution?.group;
    const panel = pressed.figure.links === "stats" ? pressed : view.panels.get("stats");
    if (!at || !tables || running || !group || !distribution?.rows.length || !panel || panel.root.hidden || !mayMove()) return;
    const name = `${data.layer} ${data.grid.shape}: ${groupOf(tables, at)}`;
    if (this.shown.has(name)) return;
    this.shown.add(name);
    const [x] = group.stages, ranks = rankGroups(tables), fill = groupColor(colors, ranks.size, ranks.get(groupOf(tables, at)) ?? 0);
    const root = html("div", "nv-gathering", view.root), card = panel.root.getBoundingClientRect(), fields = this.fieldOf(panel), strip = this.strip();
    root.ariaHidden = "true";
    this.root = root;
    const [chipX, chipY] = this.inView(card.left + card.width / 2, card.bottom);
    for (const number of someOf(group.peers.length)) {
      const dot = html("i", "nv-traveller", root), from = fields(group.peers[number]), to = strip?.(number);
      dot.style.background = fill;
      const [there, chip] = [from, [chipX, chipY]].map(([left, top]) => `translate(${left}px, ${top}px)`);
      dot.animate([
        { transform: there },
        { transform: chip, offset: ARRIVE },
        { transform: chip, offset: LEAVE, opacity: 1 },
        to ? { transform: `translate(${to[0]}px, ${to[1]}px)` } : { transform: chip, opacity: 0 },
      ], { duration: TIME, easing: "ease-in-out", fill: "both" });
    }
    const chip = html("span", "nv-gathered", root, x.moments);
    chip.style.cssText = `left:${chipX}px;top:${chipY}px`;
    chip.animate([{ opacity: 0 }, { opacity: 1, offset: ARRIVE }, { opacity: 1, offset: 0.85 }, { opacity: 0 }], { duration: TIME }).onfinish = this.end;
    for (const name of ["keydown", "pointerdown"]) window.addEventListener(name, this.end, true);
  }

  /** The reader goes on, or has seen it. */
  end = () => {
    this.root?.remove();
    this.root = null;
    for (const name of ["keydown", "pointerdown"]) window.removeEventListener(name, this.end, true);
  };

  /**
   * A point of the window.
   * @param {number} x
   * @param {number} y
   * @returns {Point}
   */
  inView(x, y) {
    const { root } = this.view, box = root.getBoundingClientRect(), scale = box.width / root.offsetWidth || 1; // slides shrink
    return [(x - box.left) / scale, (y - box.top) / scale];
  }

  /**
   * Where an svg draws.
   * @param {SVGSVGElement} svg
   * @returns {(x: number, y: number) => Point}
   */
  drawnIn(svg) {
    const box = svg.getBoundingClientRect(), scale = box.width / Number(svg.getAttribute("width"));
    return (x, y) => this.inView(box.left + x * scale, box.top + y * scale);
  }

  /**
   * The middle of each cell.
   * @param {DrawnPanel} panel
   * @returns {(index: Index) => Point}
   */
  fieldOf({ svg, geometry, left, top }) {
    const place = this.drawnIn(svg);
    return (index) => {
      const { x, y, width, height } = geometry.cellBox(index);
      return place(left + x + width / 2, top + y + height / 2);
    };
  }

  /** The place of each value in the strip x; null if the strip is outside of the window. */
  strip() {
    const { svg, rows: [row], place } = /** @type {Distribution} */ (this.view.distribution), { top, bottom } = svg.getBoundingClientRect();
    if (!(bottom > 0 && top < window.innerHeight)) return null;
    const drawn = this.drawnIn(svg);
    return (/** @type {number} */ number) => {
      const { x, y } = row.dots[number] ?? { x: place(row.stage.values[number]), y: row.top };
      return drawn(x, y);
    };
  }
}
