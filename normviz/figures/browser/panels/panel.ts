// One heatmap: its cells, and an SVG over them that veils all but the peers and frames the selected element.

import { GROUP_COLORS, colorAt, colorScale, formatHex, placeOnScale, rankScale } from "../common/color.ts";
import { SvgList, html, scaleOf, svg, uniqueNumber } from "../common/dom.ts";
import { formatElement, formatShort } from "../common/format.ts";
import { _, ngettext } from "../common/messages.ts";
import { pressKey } from "../speaking/keyboard.ts";
import { decodeFloats } from "../tensor/arrays.ts";
import { Geometry } from "../tensor/geometry.ts";
import { broadcastAt, groupOf, rankGroups, sameIndex, tensorIndex } from "../tensor/sharing.ts";
import { sentPlace } from "../tensor/slices.ts";
import { drawCells, removeCells } from "./cells.ts";
import { NAME_HEIGHT, dragSlices, drawLabels, marginsOf, numberedName, outlineName, showDraggable, writeMoments } from "./labels.ts";
import { drawTexts } from "./texts.ts";
import { drawToggles, type ToggleRow } from "./toggles.ts";
import { litBy, type DrawnPanel, type PanelHost } from "../tensor/drawn_panel.ts";

const LARGEST_CORNER = 9; // px: marks an element in which a function differs from a layer
const LEAST_FRAME = 6; // px: the frame of a smaller cell is around it
const BAR_STEPS = 21;

export class Panel implements DrawnPanel {
  figure: PanelData;
  data: DecodedData;
  colors: Theme;
  scale: ColorScale = [];
  geometry: Geometry; // known once the panel has been drawn
  total?: { width: number, height: number };
  values: Float32Array | null = null;
  ranks = new Map<number, number>(); // the rank of each drawn group, by its id
  outlines = new Map<string, string>(); // the outlines of groups, by what they share and their ids
  written: Index[] = []; // for each text in the cells, an element of its cell or its group
  /** The selected element whose frame the names of groups avoid; null if the cells hold values. */
  beside: { at: Index | null } | null = null;
  field: HTMLInputElement | null = null; // the field that edits a value
  editButton: HTMLButtonElement | null = null;
  left = 0;
  top = 0;
  under = 0; // height of what is written below each line of facets
  dragged = false; // slices were moved; no element was clicked
  view: PanelHost;
  key: string;
  name = `nv-panel-${uniqueNumber()}`;
  root = html("figure", "nv-panel");
  head = html("figcaption", "nv-head", this.root);
  title = html("div", "nv-title", this.head);
  caption = html("div", "nv-caption", this.head);
  legend = html("div", "nv-key", this.head);
  outlined = html("span", "", null);
  hint = html("div", "nv-hint", this.root);
  body = html("div", "nv-body", this.root);
  plot = html("div", "nv-plot", this.body);
  about = html("div", "nv-hidden", this.root);
  svg = svg("svg", { class: "nv-over", tabindex: "0", role: "application" }, this.body);
  definitions = svg("defs", {}, this.svg);
  inside = this.clip("-in");
  outside = this.clip("-out");
  veil = svg("path", { class: "nv-veil", "fill-rule": "evenodd" }, this.svg);
  grid = svg("path", { class: "nv-grid" }, this.svg);
  mutedTexts = new SvgList(svg("g", { class: "nv-text nv-veiled", "aria-hidden": "true", "clip-path": `url(#${this.name}-out)` }, this.svg));
  strongTexts = new SvgList(svg("g", { class: "nv-text", "aria-hidden": "true", "clip-path": `url(#${this.name}-in)` }, this.svg));
  outlineHalo = svg("path", { class: "nv-outline-halo" }, this.svg);
  outline = svg("path", { class: "nv-outline" }, this.svg);
  differs = svg("path", { class: "nv-differs" }, this.svg);
  halo = svg("rect", { class: "nv-halo" }, this.svg);
  frame = svg("rect", { class: "nv-frame" }, this.svg);
  cursorHalo = svg("rect", { class: "nv-halo" }, this.svg);
  cursor = svg("rect", { class: "nv-cursor" }, this.svg);
  labels = new SvgList(svg("g", { class: "nv-labels", "aria-hidden": "true" }, this.svg));
  momentsText = svg("text", { class: "nv-moments", "aria-hidden": "true" }, this.svg);
  toggles: ToggleRow | null = null;

  constructor(parent: HTMLElement, view: PanelHost, key: string) {
    this.view = view;
    this.key = key;
    this.root.classList.add(`nv-panel-${key}`);
    parent.append(this.root);
    this.about.id = `${this.name}-about`;
    this.listen();
  }

  clip(suffix: string) {
    return svg("path", { "clip-rule": "evenodd" }, svg("clipPath", { id: this.name + suffix }, this.definitions));
  }

  listen() {
    const { svg: over, view } = this;
    const at = (event: MouseEvent) => this.geometry?.elementAt(...this.pointOf(event)) ?? null;
    over.addEventListener("pointermove", (event) => {
      showDraggable(this, event);
      view.hover(at(event), this);
    });
    over.addEventListener("pointerleave", () => view.hover(null));
    over.addEventListener("pointerdown", (event) => dragSlices(this, event));
    over.addEventListener("click", (event) => {
      const index = this.dragged ? null : at(event), isAgain = event.detail < 2 && sameIndex(index, view.at); // a double click edits
      if (index) view.select(isAgain ? null : index, this);
    });
    over.addEventListener("dblclick", (event) => {
      const index = at(event);
      if (index && this.key === "x") view.edit(index);
    });
    over.addEventListener("keydown", (event) => pressKey(view, event, this));
    over.addEventListener("blur", () => view.blur());
  }

  /** Where an event is, from the first cell's corner. */
  pointOf(event: MouseEvent): [number, number] {
    const box = this.svg.getBoundingClientRect(), scale = box.width / (this.total?.width ?? box.width); // slides shrink
    return [(event.clientX - box.left) / scale - this.left, (event.clientY - box.top) / scale - this.top];
  }

  /** The figure to show; ``draw`` draws it. */
  set(figure: PanelData, data: DecodedData) {
    this.figure = figure;
    this.data = data;
    drawToggles(this);
    this.caption.replaceChildren();
    if (figure.pattern) html("code", "", this.caption, figure.pattern);
    html("span", "", this.caption, figure.caption);
    const { title, pattern, caption } = figure;
    this.about.textContent = _("{what}. Arrow keys move, Enter selects, question mark lists all keys.", { what: [pattern, caption].filter(Boolean).join(": ") });
    this.svg.setAttribute("aria-label", title);
    this.svg.setAttribute("aria-describedby", `${this.about.id} ${this.view.readoutId}`);
    this.root.classList.toggle("nv-valued", !this.isId);
    this.values = figure.z ? decodeFloats(figure.z) : null;
    this.ranks = rankGroups(this.tables() ?? []);
  }

  get isId() {
    return this.figure.scale !== "values";
  }

  // The color scale and the values at its ends.
  get range() {
    const { scale, groups, low, high } = this.figure, { size } = this.ranks;
    return this.isId ? rankScale(scale, size) : { scale, groups, low, high };
  }

  /** The number that determines an element's color: its value, or the rank of its group among those drawn. */
  colorValue(index: Index) {
    const value = this.valueAt(index);
    return this.isId ? (this.ranks.get(value) ?? NaN) : value;
  }

  /** The color of an element; null if its value is not a number. */
  colorOf(index: Index) {
    const value = this.colorValue(index);
    return Number.isFinite(value) ? colorAt(this.scale, placeOnScale(this.range, value)) : null;
  }

  /** The heatmap's rows, with NaN in the gaps. The arguments: which of its columns and rows hold cells. */
  heatmap(columnCells: number[], rowCells: number[]) {
    const { geometry } = this, { rows, columns } = geometry, wide = columnCells[columnCells.length - 1] + 1;
    const lines = Array.from({ length: rowCells[rowCells.length - 1] + 1 }, () => new Float32Array(wide).fill(NaN));
    this.each((index) => {
      const [place, line] = geometry.placeOf(geometry.facetOf(index)), { row, col } = this.data.grid;
      lines[rowCells[line * rows + (row === null ? 0 : index[row])]][columnCells[place * columns + index[col]]] = this.colorValue(index);
    });
    return lines;
  }

  /** Visits every drawn element. */
  each(visit: (index: Index) => void) {
    this.geometry.each(visit);
  }

  /** The value that is drawn at a position: a number of the tensor, or the id of its group. */
  valueAt(index: Index) {
    if (this.values) return this.valueIn(this.values, index);
    const tables = this.tables();
    return tables ? groupOf(tables, index) : 0;
  }

  valueIn(values: Float32Array, index: Index) {
    const place = sentPlace(this.data, index);
    return place ? broadcastAt({ shape: this.geometry.extent, values }, place) : NaN;
  }

  draw(width: number, height: number, colors: Theme) {
    const room = marginsOf(this);
    this.under = room.under;
    this.left = room.left;
    this.top = room.top;
    const inner = Math.max(40, width - room.left - room.right), most = Math.max(40, height - room.top - room.bottom);
    const largest = { gapY: room.between + room.under, most: this.isId ? 56 : 48, square: this.data.square, scale: scaleOf(this.root) };
    const named = { ...largest, gapY: NAME_HEIGHT + room.under }; // each line of facets has their names
    const made = new Geometry(this.data.grid, inner, most, largest);
    this.geometry = made.lines > 1 ? new Geometry(this.data.grid, inner, most, named) : made;
    for (let lines = made.lines + 1; this.view.height && lines <= made.together; lines++) { // for a projector, the largest cells
      const other = new Geometry(this.data.grid, inner, most, { ...named, lines });
      if (other.cellH > this.geometry.cellH) this.geometry = other;
    }
    const { width: w, height: h } = this.geometry;
    this.plot.dataset.across = String(this.geometry.across); // facets in a line
    this.total = { width: room.left + w + room.right, height: room.top + h + room.bottom };
    this.body.style.height = `${this.total.height}px`;
    this.plot.style.cssText = `left:${this.left}px;top:${this.top}px;width:${w}px;height:${h}px`;
    this.scale = colorScale(colors, this.figure.scale, this.ranks.size);
    this.colors = colors;
    this.paint();
    if (this.root.hidden) removeCells(this.plot); // its values are read although it is not drawn
    else drawCells(this);
  }

  paint() {
    const { width, height } = this.total as { width: number, height: number };
    this.outlines.clear();
    for (const [name, value] of Object.entries({ width, height, viewBox: `${-this.left} ${-this.top} ${width} ${height}` }))
      if (this.svg.getAttribute(name) !== String(value)) this.svg.setAttribute(name, String(value)); // setting it lays out all texts again
    drawTexts(this);
    this.drawLegend();
    drawLabels(this);
    this.grid.setAttribute("d", this.isId ? "" : this.geometry.lattice); // an element without a color has a cell, too
    this.show(this.view.active, this.view.at);
  }

  /** What the cells and the outline show. Values have a color bar. */
  drawLegend() {
    const { legend, figure, scale } = this;
    legend.replaceChildren();
    if (figure.scale === "values") {
      html("span", "", legend, formatShort(figure.low, figure.high));
      const bar = html("span", "nv-bar", legend);
      for (let step = 0; step < BAR_STEPS; step++) html("i", "", bar).style.backgroundColor = formatHex(colorAt(scale, step / (BAR_STEPS - 1)));
      html("span", "", legend, formatShort(figure.high, figure.high));
    } else if (figure.scale === "groups" && this.ranks.size > GROUP_COLORS && (!figure.row || figure.key === `${figure.row}0`)) // the first one of a row explains
      legend.textContent = ngettext("the colors repeat after {n} group", "the colors repeat after {n} groups", GROUP_COLORS);
    if (this.sharing) html("span", "nv-outlined", legend).append(html("i", "", null), this.outlined);
  }

  /** What the outlined elements share: by its name, if the group has no room for it. */
  nameOutlined(active: Index | null) {
    const { sharing, outlinedSharing: shared, written, outlined } = this;
    if (!sharing) return;
    const group = active && shared ? groupOf(shared.tables, active) : null;
    const isWritten = () => written.some((index) => groupOf(sharing.tables, index) === group);
    const isNamed = group === null || !this.isId || shared !== sharing || isWritten();
    if (shared) outlined.textContent = isNamed ? outlineName(shared) : numberedName(shared, group as number);
    else outlined.textContent = active ? formatElement("x", tensorIndex(this.data, active)) : "";
  }

  /** Veils all but the peers of the active element; frames the selected one. */
  show(followed: Index | null, selected: Index | null) {
    const { geometry, veil, inside, outside, outlineHalo, outline, halo, frame, cursorHalo, cursor } = this;
    if (!geometry) return;
    if (this.beside && !sameIndex(this.beside.at, selected)) drawTexts(this);
    const { lit } = this.view, active = lit?.at ?? followed;
    const path = this.outlineOf(active), all = geometry.border, around = path ? all + path : "";
    veil.setAttribute("d", around);
    this.differs.setAttribute("d", this.differing(active));
    inside.setAttribute("d", path || all);
    outside.setAttribute("d", around || "M0,0Z");
    for (const shape of [outlineHalo, outline]) shape.setAttribute("d", path);
    const third = Math.min(geometry.cellW, geometry.cellH) / 3, line = Math.min(2, third); // wider ones hide cells
    outline.setAttribute("stroke-width", String(line));
    this.svg.style.setProperty("--nv-halo", `${line + Math.min(2, third)}px`);
    this.svg.style.setProperty("--nv-frame", `${Math.max(1, Math.min(3, third))}px`);
    const other = sameIndex(active, selected) ? null : active;
    this.placeFrame(frame, halo, selected);
    this.placeFrame(cursor, cursorHalo, other);
    writeMoments(this, lit && litBy(lit) !== "stats" ? null : active);
    this.nameOutlined(active);
  }

  /** ``around`` is 2 px wider at each side */
  placeFrame(frame: SVGRectElement, around: SVGRectElement, index: Index | null) {
    for (const rect of [frame, around]) rect.setAttribute("visibility", index ? "visible" : "hidden");
    if (!index) return;
    const { x, y, width, height } = this.geometry.cellBox(index);
    for (const [rect, grow] of [[frame, 0], [around, 2]] as const) {
      const aside = Math.max(0, LEAST_FRAME - width) / 2 + grow, above = Math.max(0, LEAST_FRAME - height) / 2 + grow;
      const place = { x: x - aside, y: y - above, width: width + 2 * aside, height: height + 2 * above };
      for (const [name, value] of Object.entries(place)) rect.setAttribute(name, String(value));
    }
  }

  /** In a check: a corner of each element that shares statistics with the active one in the function but not in the layer, or the other way around. */
  differing(active: Index | null) {
    const { data, figure, geometry } = this, groups = (data.differs ?? []).map((key) => data.sharings?.[key]?.tables ?? []);
    if (!active || figure.row !== "stats") return "";
    const side = Math.min(LARGEST_CORNER, geometry.cellW / 2, geometry.cellH / 2), corners: string[] = [];
    geometry.each((index) => {
      const { x, y, width } = geometry.cellBox(index), isPeer = groups.map((tables) => groupOf(tables, index) === groupOf(tables, active));
      if (isPeer.includes(true) && isPeer.includes(false)) corners.push(`M${x + width},${y}v${side}l${-side},${-side}z`);
    });
    return corners.join("");
  }

  /** Around what a term lights, or around the peers of the active element. */
  outlineOf(active: Index | null) {
    const { geometry, view: { lit } } = this, kind = lit ? litBy(lit) : this.figure.links;
    if (!active) return "";
    if (kind === "x") {
      const { x, y, width, height } = geometry.cellBox(active);
      return `M${x},${y}H${x + width}V${y + height}H${x}Z`;
    }
    const tables = this.outlinedSharing?.tables;
    if (!tables) return "";
    const name = `${kind} ${groupOf(tables, active)}`;
    const path = this.outlines.get(name) ?? geometry.outline(tables, active);
    this.outlines.set(name, path);
    return path;
  }

  /** What the outlined elements share; null if they share nothing, or a term lights one element. */
  get outlinedSharing() {
    const { lit } = this.view, kind = lit && litBy(lit);
    return !kind ? this.sharing : kind === "x" ? null : this.data[kind];
  }

  // What the peers that the panel outlines share; null where elements share nothing.
  get sharing() {
    const { links } = this.figure;
    return links ? (this.data.sharings?.[links] ?? this.data[links as "stats" | "params"]) : null;
  }

  // The tables of the groups that the panel shows.
  tables() {
    return this.sharing?.tables ?? null;
  }
}
