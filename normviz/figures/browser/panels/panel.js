// One heatmap: its cells, and an SVG over them that veils all but the peers and frames the selected element.

/** @import { DrawnPanel, PanelHost } from "../tensor/drawn_panel.d.ts" */

import { colorAt, colorScale, placeOnScale, rankScale } from "../page/color.js";
import { html, svg, uniqueNumber } from "../page/dom.js";
import { _ } from "../page/messages.js";
import { SvgList } from "../page/svg_list.js";
import { decodeFloats } from "../tensor/arrays.js";
import { Geometry } from "../tensor/geometry.js";
import { broadcastAt, groupOf, rankGroups, sameIndex } from "../tensor/sharing.js";
import { sentPlace } from "../tensor/slices.js";
import { drawCells, removeCells } from "./cells.js";
import { addDiffering, differingPath } from "./differing.js";
import { placeRect } from "./frame.js";
import { addHatch } from "./hatch.js";
import { NAME_HEIGHT, drawLabels, marginsOf } from "./labels.js";
import { drawLegend } from "./legend.js";
import { listenToPanel } from "./listening.js";
import { drawTexts } from "./texts.js";

/** @implements {DrawnPanel} */
export class Panel {
  /** @type {PanelData} */
  figure;
  /** @type {DecodedData} */
  data;
  /** @type {Colors} */
  colors;
  /** @type {ColorScale} */
  scale = [];
  /** @type {Geometry} Known once the panel has been drawn. */
  geometry;
  /** @type {{ width: number, height: number } | undefined} */
  total;
  /** @type {Float32Array | null} */
  values = null;
  /** @type {Map<number, number>} The rank of each drawn group, by its id. */
  ranks = new Map();
  /** @type {Map<number, string>} The outlines of groups. */
  outlines = new Map();
  /** @type {Index[]} For each text in the cells, an element of its cell or its group. */
  written = [];
  /** @type {HTMLInputElement | null} The field that edits a value. */
  field = null;
  /** @type {HTMLButtonElement | null} */
  editButton = null;
  left = 0;
  top = 0;
  facetStrips = false;
  dragged = false; // slices were moved; no element was clicked

  /**
   * @param {HTMLElement} parent
   * @param {PanelHost} view
   * @param {string} key
   */
  constructor(parent, view, key) {
    this.view = view;
    this.key = key;
    this.name = `nv-panel-${uniqueNumber()}`;
    this.root = html("figure", `nv-panel nv-panel-${key}`, parent);
    const head = html("figcaption", "nv-head", this.root);
    this.title = html("div", "nv-title", head);
    this.caption = html("div", "nv-caption", head);
    this.legend = html("div", "nv-key", head);
    this.hint = html("div", "nv-hint", this.root);
    this.body = html("div", "nv-body", this.root);
    this.plot = html("div", "nv-plot", this.body);
    this.about = html("div", "nv-hidden", this.root);
    this.about.id = `${this.name}-about`;
    this.svg = svg("svg", { class: "nv-over", tabindex: "0", role: "application" }, this.body);
    const definitions = svg("defs", {}, this.svg);
    /** @param {string} suffix */
    const clip = (suffix) => svg("path", { "clip-rule": "evenodd" }, svg("clipPath", { id: this.name + suffix }, definitions));
    this.inside = clip("-in");
    this.outside = clip("-out");
    this.veil = svg("path", { class: "nv-veil", "fill-rule": "evenodd" }, this.svg);
    this.hatch = addHatch(this.svg, definitions, `${this.name}-hatch`);
    this.mutedTexts = new SvgList(svg("g", { class: "nv-text nv-veiled", "aria-hidden": "true", "clip-path": `url(#${this.name}-out)` }, this.svg));
    this.strongTexts = new SvgList(svg("g", { class: "nv-text", "aria-hidden": "true", "clip-path": `url(#${this.name}-in)` }, this.svg));
    this.outlineHalo = svg("path", { class: "nv-outline-halo" }, this.svg);
    this.outline = svg("path", { class: "nv-outline" }, this.svg);
    this.differs = addDiffering(this.svg, definitions, `${this.name}-differs`);
    this.halo = svg("rect", { class: "nv-halo" }, this.svg);
    this.frame = svg("rect", { class: "nv-frame" }, this.svg);
    this.cursorHalo = svg("rect", { class: "nv-halo" }, this.svg);
    this.cursor = svg("rect", { class: "nv-cursor" }, this.svg);
    this.labels = new SvgList(svg("g", { class: "nv-labels", "aria-hidden": "true" }, this.svg));
    listenToPanel(this);
  }

  /**
   * Where an event is, from the first cell's corner.
   * @param {MouseEvent} event
   * @returns {[number, number]}
   */
  pointOf(event) {
    const box = this.svg.getBoundingClientRect(), scale = box.width / (this.total?.width ?? box.width); // slides are shrunk to fit
    return [(event.clientX - box.left) / scale - this.left, (event.clientY - box.top) / scale - this.top];
  }

  /**
   * The figure to show; ``draw`` draws it.
   * @param {PanelData} figure
   * @param {DecodedData} data
   */
  set(figure, data) {
    this.figure = figure;
    this.data = data;
    this.title.textContent = figure.title;
    this.caption.replaceChildren();
    if (figure.pattern) html("code", "", this.caption, figure.pattern);
    html("span", "", this.caption, figure.caption);
    const { title, pattern, caption } = figure;
    this.about.textContent = _("{what}. Arrow keys move, Enter selects, question mark lists all keys.", { what: [pattern, caption].filter(Boolean).join(": ") });
    this.svg.setAttribute("aria-label", title);
    this.svg.setAttribute("aria-describedby", `${this.about.id} ${this.view.readoutId}`);
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

  /**
   * The number that determines an element's color: its value, or the rank of its group among those drawn.
   * @param {Index} index
   */
  colorValue(index) {
    const value = this.valueAt(index);
    return this.isId ? (this.ranks.get(value) ?? NaN) : value;
  }

  /**
   * The color of an element; null if its value is not a number.
   * @param {Index} index
   */
  colorOf(index) {
    const value = this.colorValue(index);
    return Number.isFinite(value) ? colorAt(this.scale, placeOnScale(this.range, value)) : null;
  }

  /**
   * The heatmap's rows, with NaN in the gaps.
   * @param {number[]} columnCells
   * @param {number[]} rowCells which of its columns and rows hold cells
   */
  heatmap(columnCells, rowCells) {
    const { geometry } = this, { rows, columns } = geometry, wide = columnCells[columnCells.length - 1] + 1;
    const lines = Array.from({ length: rowCells[rowCells.length - 1] + 1 }, () => new Float32Array(wide).fill(NaN));
    this.each((index) => {
      const [place, line] = geometry.placeOf(geometry.facetOf(index)), { row, col } = this.data.grid;
      lines[rowCells[line * rows + (row === null ? 0 : index[row])]][columnCells[place * columns + index[col]]] = this.colorValue(index);
    });
    return lines;
  }

  /**
   * Visits every drawn element.
   * @param {(index: Index) => void} visit
   */
  each(visit) {
    this.geometry.each(visit);
  }

  /**
   * The value that is drawn at a position: a number of the tensor, or the id of its group.
   * @param {Index} index
   */
  valueAt(index) {
    if (this.values) return this.valueIn(this.values, index);
    const tables = this.tables();
    return tables ? groupOf(tables, index) : 0;
  }

  /**
   * @param {Float32Array} values
   * @param {Index} index
   */
  valueIn(values, index) {
    const place = sentPlace(this.data, index);
    return place ? broadcastAt({ shape: this.geometry.extent, values }, place) : NaN;
  }

  /**
   * @param {number} width
   * @param {number} height
   * @param {Colors} colors
   */
  draw(width, height, colors) {
    const room = marginsOf(this, width);
    this.facetStrips = room.facetStrips;
    this.left = room.left;
    this.top = room.top;
    const inner = Math.max(40, width - room.left - room.right), most = Math.max(40, height - room.top - room.bottom);
    const largest = { gapY: room.gapY, most: this.isId ? 56 : 48, square: this.data.square };
    this.geometry = new Geometry(this.data.grid, inner, most, largest);
    if (this.geometry.lines > 1) this.geometry = new Geometry(this.data.grid, inner, most, { ...largest, gapY: Math.max(room.gapY, NAME_HEIGHT) });
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
    const { width, height } = /** @type {{ width: number, height: number }} */ (this.total);
    this.outlines.clear();
    for (const [name, value] of Object.entries({ width, height, viewBox: `${-this.left} ${-this.top} ${width} ${height}` }))
      if (this.svg.getAttribute(name) !== String(value)) this.svg.setAttribute(name, String(value)); // setting it lays out all texts again
    drawLegend(this, drawTexts(this));
    drawLabels(this);
    this.show(this.view.active, this.view.at);
  }

  /**
   * Veils all but the peers of the active element; frames the selected one.
   * @param {Index | null} active
   * @param {Index | null} selected
   */
  show(active, selected) {
    const { geometry, veil, hatch, inside, outside, outlineHalo, outline, halo, frame, cursorHalo, cursor } = this;
    if (!geometry) return;
    const path = this.outlineOf(active), all = geometry.border, around = path ? all + path : "";
    veil.setAttribute("d", around);
    this.differs.setAttribute("d", differingPath(this, active));
    hatch.setAttribute("d", path ? geometry.cellRectangles + path : "");
    inside.setAttribute("d", path || all);
    outside.setAttribute("d", around || "M0,0Z");
    for (const shape of [outlineHalo, outline]) shape.setAttribute("d", path);
    const third = Math.min(geometry.cellW, geometry.cellH) / 3, line = Math.min(1.5, third); // wider lines would hide the cells
    outline.setAttribute("stroke-width", String(line));
    this.svg.style.setProperty("--nv-halo", `${line + Math.min(2, third)}px`);
    this.svg.style.setProperty("--nv-frame", `${Math.max(1, Math.min(3, third))}px`);
    placeRect(halo, selected, geometry, 2);
    placeRect(frame, selected, geometry, 0);
    const other = sameIndex(active, selected) ? null : active;
    placeRect(cursorHalo, other, geometry, 2);
    placeRect(cursor, other, geometry, 0);
  }

  /** @param {Index | null} active */
  outlineOf(active) {
    const tables = this.tables();
    if (!active || !tables) return "";
    const group = groupOf(tables, active), path = this.outlines.get(group) ?? this.geometry.outline(tables, active);
    this.outlines.set(group, path);
    return path;
  }

  // The tables of the groups that the panel shows; null where elements share nothing.
  tables() {
    const { links } = this.figure;
    if (!links) return null;
    return (this.data.sharings?.[links] ?? this.data[/** @type {"stats" | "params"} */ (links)])?.tables ?? null;
  }
}
