// The picture of the Group Normalization paper: N, C and all positions (H·W) as a box with one group filled, in isometric projection.

import { groupColor } from "../common/color.ts";
import { html, svg } from "../common/dom.ts";
import { _, ngettext } from "../common/messages.ts";
import { groupOf, indexOf, positionOf, rankGroups } from "../tensor/sharing.ts";

/** along N, C and the positions */
type Corner = { n: number; c: number; s: number };

const COS30 = Math.sqrt(3) / 2;
const SIN30 = 0.5;
const FACES = ["top", "right", "left"] as Face[];

type Face = "top" | "right" | "left";

export class Cube {
  figure: CubeData;
  data: DecodedData;
  /** The filled bricks by group and selected element, at the size that is drawn. */
  cache = new Map<string, string>();
  whole: Corner; // the lengths of the axes, and those that are drawn
  size: Corner;
  unit = 0; // px; 0 until the cube is drawn
  colors: Theme; // known once the cube has been drawn
  flat = 1; // height of a brick, in units
  origin = [0, 0];
  view: { active: Index | null };
  key: string;
  root = html("figure", "nv-panel nv-cube");
  title = html("div", "nv-title", html("figcaption", "nv-head", this.root));
  hint = html("div", "nv-hint", this.root);
  body = html("div", "nv-body", this.root);
  svg = svg("svg", { class: "nv-cube-svg", role: "img" }, this.body);

  constructor(parent: HTMLElement, view: { active: Index | null }, key: string) {
    this.view = view;
    this.key = key;
    parent.append(this.root);
  }

  set(figure: CubeData, data: DecodedData) {
    this.figure = figure;
    this.data = data;
    [this.whole, this.size] = [figure.box.whole, figure.box.drawn].map(([n, c, s]) => ({ n, c, s }));
    this.title.textContent = figure.title;
    this.cache.clear();
  }

  draw(width: number, height: number, colors: Theme) {
    this.colors = colors;
    this.flat = this.size.s > 6 ? 0.5 : 0.9; // many positions: flatter bricks
    const across = (this.size.n + this.size.c) * COS30, down = (this.size.n + this.size.c) * SIN30 + this.size.s * this.flat;
    this.unit = Math.max(4, Math.min((width - 90) / across, (height - 30) / down, 34));
    this.origin = [(width - across * this.unit) / 2 + this.size.n * COS30 * this.unit + 10, 6];
    this.cache.clear();
    const tall = down * this.unit + 30;
    this.svg.setAttribute("width", String(width));
    this.svg.setAttribute("height", String(tall));
    this.body.style.height = `${tall}px`;
    this.show(this.view.active);
  }

  /** The corner (c, s, n) of the box on the page: c to the lower right, n to the lower left, s down. */
  point(c: number, s: number, n: number) {
    const x = this.origin[0] + (c - n) * COS30 * this.unit, y = this.origin[1] + ((c + n) * SIN30 + s * this.flat) * this.unit;
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  }

  face(kind: Face, c: number, s: number, n: number, width = 1, height = 1, depth = 1) {
    const corners = {
      top: [[0, 0, 0], [width, 0, 0], [width, 0, depth], [0, 0, depth]],
      right: [[width, 0, 0], [width, height, 0], [width, height, depth], [width, 0, depth]],
      left: [[0, 0, depth], [width, 0, depth], [width, height, depth], [0, height, depth]],
    }[kind];
    return `M${corners.map(([dc, ds, dn]) => this.point(c + dc, s + ds, n + dn)).join("L")}Z`;
  }

  show(active: Index | null) {
    if (!this.unit) return;
    const { size } = this, parts = [];
    for (const kind of FACES) parts.push(`<path class="nv-side" d="${this.face(kind, 0, 0, 0, size.c, size.s, size.n)}"/>`);
    parts.push(`<path class="nv-wire" d="${this.grid()}"/>`);
    if (active) parts.push(this.bricks(active));
    if (active) this.svg.style.setProperty("--nv-brick", this.colorOf(active));
    parts.push(this.axisNames());
    this.svg.innerHTML = parts.join("");
    this.svg.setAttribute("aria-label", _("{title}: {caption}", { title: this.figure.title, caption: this.caption(active) }));
  }

  /** The color that the element's group has in the panel of statistics. */
  colorOf(active: Index) {
    const tables = this.data.sharings?.[this.figure.links]?.tables ?? [], ranks = rankGroups(tables);
    return groupColor(this.colors, ranks.size, ranks.get(groupOf(tables, active)) ?? 0);
  }

  grid() {
    const { n, c, s } = this.size;
    let path = "";
    const line = (a: [number, number, number], b: [number, number, number]): void => {
      path += `M${this.point(...a)}L${this.point(...b)}`;
    };
    for (let i = 0; i <= c; i++) line([i, 0, 0], [i, 0, n]), line([i, 0, n], [i, s, n]);
    for (let i = 0; i <= n; i++) line([0, 0, i], [c, 0, i]), line([c, 0, i], [c, s, i]);
    for (let i = 0; i <= s; i++) line([0, i, n], [c, i, n]), line([c, i, n], [c, i, 0]);
    return path;
  }

  /** Where the drawn part of a long axis begins: it holds the element. */
  from(at: number, whole: number, drawn: number) {
    return Math.min(Math.max(0, at - drawn + 1), whole - drawn);
  }

  place(index: Index): Corner {
    const { example, channel, rest } = this.figure.box;
    return {
      n: example === null ? 0 : index[example],
      c: channel === null ? 0 : index[channel],
      s: positionOf(rest.map((axis) => index[axis]), this.lengths(rest)),
    };
  }

  lengths(axes: number[]) {
    return axes.map((axis) => this.data.grid.indices[axis].length);
  }

  indexOf(n: number, c: number, s: number) {
    const { example, channel, rest } = this.figure.box, index = this.data.grid.indices.map(() => 0);
    if (example !== null) index[example] = n;
    if (channel !== null) index[channel] = c;
    indexOf(s, this.lengths(rest)).forEach((at, number) => (index[rest[number]] = at));
    return index;
  }

  /** The visible faces of the group's bricks. */
  bricks(active: Index) {
    const tables = this.data.sharings?.[this.figure.links]?.tables ?? [], group = groupOf(tables, active), { size, whole } = this;
    const here = this.place(active);
    const first = { n: this.from(here.n, whole.n, size.n), c: this.from(here.c, whole.c, size.c), s: this.from(here.s, whole.s, size.s) };
    const id = `${group}:${first.n},${first.c},${first.s}:${here.n},${here.c},${here.s}`, cached = this.cache.get(id);
    if (cached !== undefined) return cached;
    const inside = (n: number, c: number, s: number): boolean => n < size.n && c < size.c && s >= 0 && groupOf(tables, this.indexOf(n + first.n, c + first.c, s + first.s)) === group;
    let drawn = "";
    for (let n = 0; n < size.n; n++)
      for (let c = 0; c < size.c; c++)
        for (let s = size.s - 1; s >= 0; s--) {
          if (!inside(n, c, s)) continue;
          const selected = n + first.n === here.n && c + first.c === here.c && s + first.s === here.s;
          const open = { top: !inside(n, c, s - 1), right: !inside(n, c + 1, s), left: !inside(n + 1, c, s) };
          for (const kind of FACES)
            if (open[kind]) drawn += `<path class="nv-fill nv-${kind}${selected ? " nv-here" : ""}" d="${this.face(kind, c, s, n)}"/>`;
        }
    this.cache.set(id, drawn);
    return drawn;
  }

  axisNames() {
    const { n, c, s } = this.size, [forN, forC, forS] = this.figure.box.names;
    const text = (corner: [number, number, number], dx: number, dy: number, anchor: string, name: string): string => {
      const [x, y] = this.point(...corner).split(",").map(Number);
      return `<text x="${x + dx}" y="${y + dy}" text-anchor="${anchor}">${name}</text>`;
    };
    return `<g class="nv-labels">${text([c, s, n / 2], 8, 16, "start", forN)}${text([c / 2, s, n], -8, 16, "end", forC)}${text([0, s / 2, n], -8, 4, "end", forS)}</g>`;
  }

  caption(active: Index | null) {
    if (!active) return _("no element is selected");
    const { count, size } = this.data.sharings?.[this.figure.links] as Tabled<Statistics>;
    return _("{first}, {second}", { first: ngettext("one of {n} group", "one of {n} groups", count), second: ngettext("{n} element filled", "{n} elements filled", size) });
  }
}
