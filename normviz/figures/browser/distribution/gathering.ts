// The mean being made: values of the group of a pressed cell travel from their cells into one chip with the group's mean and variance, and on
// to their dots in the strip. Each group of a layer shows it once.

import { groupColor } from "../common/color.ts";
import { html } from "../common/dom.ts";
import { groupOf, rankGroups } from "../tensor/sharing.ts";
import { mayMove } from "../motion/outlines.ts";
import type { DrawnPanel, PanelHost } from "../tensor/drawn_panel.ts";
import type { Distribution } from "./distribution.ts";

const MOST = 60; // values that travel
const TIME = 900; // ms
const ARRIVE = 0.42, LEAVE = 0.6; // the share of the time at which values reach the chip, and leave it

/** in px, from the corner of the view */
type Point = [number, number];
type GatheringView = PanelHost & { colors: Theme; distribution?: Distribution };

/** The numbers of at most 60 values, evenly spaced. */
export const someOf = (count: number) => Array.from({ length: Math.min(MOST, count) }, (_, i) => Math.floor((i * count) / Math.min(MOST, count)));

export class Gathering {
  shown = new Set<string>(); // what has been shown: a layer and one of its groups
  root: HTMLElement | null = null; // what is moving
  view: GatheringView;

  constructor(view: GatheringView) {
    this.view = view;
  }

  /** Shows the group of the selected element. ``pressed``: the panel with the pressed cell. */
  start(pressed: DrawnPanel) {
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
      const peer = group.peers[number];
      if (!peer) continue;
      const dot = html("i", "nv-traveller", root), from = fields(peer), to = strip?.(number);
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

  /** A point of the window. */
  inView(x: number, y: number): Point {
    const { root } = this.view, box = root.getBoundingClientRect(), scale = box.width / root.offsetWidth || 1; // slides shrink
    return [(x - box.left) / scale, (y - box.top) / scale];
  }

  /** Where an svg draws. */
  drawnIn(svg: SVGSVGElement): (x: number, y: number) => Point {
    const box = svg.getBoundingClientRect(), scale = box.width / Number(svg.getAttribute("width"));
    return (x, y) => this.inView(box.left + x * scale, box.top + y * scale);
  }

  /** The middle of each cell. */
  fieldOf({ svg, geometry, left, top }: DrawnPanel): (index: Index) => Point {
    const place = this.drawnIn(svg);
    return (index) => {
      const { x, y, width, height } = geometry.cellBox(index);
      return place(left + x + width / 2, top + y + height / 2);
    };
  }

  /** The place of each value in the strip x; null if the strip is outside of the window. */
  strip() {
    const { svg, rows: [row], place } = this.view.distribution as Distribution, { top, bottom } = svg.getBoundingClientRect();
    if (!(bottom > 0 && top < window.innerHeight)) return null;
    const drawn = this.drawnIn(svg);
    return (number: number) => {
      const { x, y } = row.dots[number] ?? { x: place(row.stage.values[number]), y: row.top };
      return drawn(x, y);
    };
  }
}
