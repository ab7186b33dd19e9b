// One heatmap: its cells, and an SVG over them that veils all but the peers and frames the selected element.

/** @import { FigureView } from "../views/view.js" */

import { html, svg, uniqueNumber } from "../page/dom.js";
import { _ } from "../page/messages.js";
import { decodeFloats } from "../tensor/arrays.js";
import { Geometry } from "../tensor/geometry.js";
import { broadcastAt, groupOf, sameIndex } from "../tensor/sharing.js";
import { drawCells } from "./cells.js";
import { colorScale } from "./color.js";
import { drawLabels } from "./labels.js";
import { drawLegend } from "./legend.js";
import { drawTexts } from "./texts.js";

const STRIP_WIDTH = 70; // px: "mean −12.3" and a margin

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
  /** @type {Map<number, string>} The outlines of groups. */
  outlines = new Map();
  /** @type {HTMLInputElement | null} The field that edits a value. */
  field = null;
  /** @type {HTMLButtonElement | null} */
  editButton = null;
  left = 0;
  top = 0;
  facetStrips = false;

  /**
   * @param {HTMLElement} parent
   * @param {FigureView} view
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
    this.svg = svg("svg", { class: "nv-over", tabindex: "0", role: "application" }, this.body);
    this.listen();
  }

  listen() {
    /** @param {MouseEvent} event */
    const at = (event) => {
      const box = this.svg.getBoundingClientRect(), scale = box.width / (this.total?.width ?? box.width); // slides are shrunk to fit
      return this.geometry?.elementAt((event.clientX - box.left) / scale - this.left, (event.clientY - box.top) / scale - this.top) ?? null;
    };
    this.svg.addEventListener("pointermove", (event) => this.view.hover(at(event)));
    this.svg.addEventListener("pointerleave", () => this.view.hover(null));
    this.svg.addEventListener("click", (event) => {
      const index = at(event);
      if (index) this.view.select(this.isSelectedAgain(index, event) ? null : index);
    });
    this.svg.addEventListener("dblclick", (event) => {
      const index = at(event);
      if (index && this.key === "x") this.view.edit(index);
    });
    this.svg.addEventListener("keydown", (event) => this.view.pressKey(event, this));
    this.svg.addEventListener("blur", () => this.view.blur());
  }

  /**
   * A second click on the selected element clears the selection; the second one of a double click, which edits a value, does not.
   * @param {Index} index
   * @param {MouseEvent} event
   */
  isSelectedAgain(index, event) {
    return event.detail < 2 && sameIndex(index, this.view.at);
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
    this.svg.setAttribute("aria-label", _("{title} {pattern}. {caption}. Arrow keys move, Enter selects, Escape clears.", { title, pattern, caption }));
    this.svg.setAttribute("aria-describedby", this.view.readoutId);
    this.values = figure.z ? decodeFloats(figure.z) : null;
  }

  // The heatmap's rows, with NaN in the gaps: the values sent, or the ids that the tables make.
  heatmap() {
    const { geometry } = this, { rows, columns, across, padX, padY } = geometry, { row, col } = this.data.grid;
    const high = geometry.down * (rows + padY) - padY, wide = across * (columns + padX) - padX;
    const lines = Array.from({ length: high }, () => new Float32Array(wide).fill(NaN)), tables = this.tables();
    for (let facet = 0; facet < geometry.facets; facet++) {
      const index = geometry.facetIndex(facet), facetX = facet % across, facetY = Math.floor(facet / across), left = facetX * (columns + padX);
      for (let y = 0; y < rows; y++) {
        const line = lines[facetY * (rows + padY) + y];
        if (row !== null) index[row] = y;
        if (this.values) {
          for (let x = 0; x < columns; x++) {
            index[col] = x;
            line[left + x] = this.valueIn(this.values, index);
          }
          index[col] = 0;
        } else {
          const first = tables ? groupOf(tables, index) - tables[col][0] : 0;
          for (let x = 0; x < columns; x++) line[left + x] = tables ? first + tables[col][x] : 0;
        }
      }
    }
    return lines;
  }

  /**
   * Visits every drawn element.
   * @param {(index: Index) => void} visit
   */
  each(visit) {
    const { geometry } = this, { grid } = this.data;
    for (let facet = 0; facet < geometry.facets; facet++)
      for (let row = 0; row < geometry.rows; row++)
        for (let column = 0; column < geometry.columns; column++) {
          const index = geometry.facetIndex(facet);
          index[grid.col] = column;
          if (grid.row !== null) index[grid.row] = row;
          visit(index);
        }
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
    return broadcastAt({ shape: this.geometry.extent, values }, index);
  }

  /**
   * @param {number} width
   * @param {number} height
   * @param {Colors} colors
   */
  async draw(width, height, colors) {
    const room = this.margins(width);
    this.left = room.left;
    this.top = room.top;
    const inner = Math.max(40, width - room.left - room.right), most = Math.max(40, height - room.top - room.bottom);
    this.geometry = new Geometry(this.data.grid, inner, most, { gapY: room.gapY, most: this.figure.scale === "values" ? 48 : 56, square: this.data.square });
    const { width: w, height: h } = this.geometry;
    this.total = { width: room.left + w + room.right, height: room.top + h + room.bottom };
    this.body.style.height = `${this.total.height}px`;
    this.plot.style.cssText = `left:${this.left}px;top:${this.top}px;width:${w}px;height:${h}px`;
    this.scale = colorScale(colors, this.figure.scale, this.figure.groups);
    this.colors = colors;
    this.paint();
    if (this.root.hidden) return; // its values are read although it is not drawn
    await drawCells(this);
  }

  /**
   * The room for labels: facet names above, row names at the left, strips at the right and below.
   * @param {number} width
   */
  margins(width) {
    const { grid, axes } = this.data, strips = this.figure.strips;
    /** @param {number} axis */
    const longest = (axis) => `${axes[axis]} = ${grid.indices[axis].at(-1)}`.length * 7;
    const rowAxis = grid.facets.length > 1 ? grid.facets[0] : grid.facets.length ? null : grid.row;
    const left = rowAxis === null ? 22 : Math.max(40, longest(rowAxis) + 14), right = strips.row ? 92 : 4;
    this.facetStrips = !!strips.facet && (width - left - right) / grid.across >= STRIP_WIDTH;
    const below = strips.col ? 40 : grid.facets.length ? 18 : 4;
    return {
      left,
      right,
      top: 22,
      bottom: below + (this.facetStrips ? 30 : 0),
      gapY: (grid.facets.length === 1 ? 22 : 0) + (this.facetStrips ? 34 : 0),
    };
  }

  paint() {
    const { width, height } = /** @type {{ width: number, height: number }} */ (this.total);
    this.svg.replaceChildren();
    this.outlines.clear();
    this.svg.setAttribute("width", String(width));
    this.svg.setAttribute("height", String(height));
    this.svg.setAttribute("viewBox", `${-this.left} ${-this.top} ${width} ${height}`);
    const definitions = svg("defs", {}, this.svg);
    /** @param {string} suffix */
    const clip = (suffix) => svg("path", { "clip-rule": "evenodd" }, svg("clipPath", { id: this.name + suffix }, definitions));
    this.inside = clip("-in");
    this.outside = clip("-out");
    this.veil = svg("path", { class: "nv-veil", "fill-rule": "evenodd" }, this.svg);
    this.mutedTexts = svg("g", { class: "nv-text", "clip-path": `url(#${this.name}-out)`, fill: this.colors.faint }, this.svg);
    this.strongTexts = svg("g", { class: "nv-text", "clip-path": `url(#${this.name}-in)` }, this.svg);
    this.outline = svg("path", { class: "nv-outline" }, this.svg);
    this.halo = svg("rect", { class: "nv-halo" }, this.svg);
    this.frame = svg("rect", { class: "nv-frame" }, this.svg);
    this.cursor = svg("rect", { class: "nv-cursor" }, this.svg);
    drawLegend(this, drawTexts(this, this.mutedTexts, this.strongTexts));
    drawLabels(this, svg("g", { class: "nv-labels" }, this.svg));
    this.show(this.view.active, this.view.at);
  }

  /**
   * Veils all but the peers of the active element; frames the selected one.
   * @param {Index | null} active
   * @param {Index | null} selected
   */
  show(active, selected) {
    const { geometry, veil, inside, outside, outline, halo, frame, cursor } = this;
    if (!geometry || !veil || !inside || !outside || !outline || !halo || !frame || !cursor) return;
    const path = this.outlineOf(active), all = geometry.border;
    veil.setAttribute("d", path ? all + path : "");
    inside.setAttribute("d", path || all);
    outside.setAttribute("d", path ? all + path : "M0,0Z");
    outline.setAttribute("d", path);
    outline.setAttribute("stroke-width", String(Math.min(geometry.cellW, geometry.cellH) < 7 ? 3 : 1.5));
    placeRect(halo, selected, geometry, 2);
    placeRect(frame, selected, geometry, 0);
    placeRect(cursor, sameIndex(active, selected) ? null : active, geometry, 0);
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

/**
 * @param {SVGRectElement} rect
 * @param {Index | null} index
 * @param {Geometry} geometry
 * @param {number} grow
 */
function placeRect(rect, index, geometry, grow) {
  rect.setAttribute("visibility", index ? "visible" : "hidden");
  if (!index) return;
  const box = geometry.cellBox(index), least = 6;
  const extraX = Math.max(0, least - box.width) / 2 + grow, extraY = Math.max(0, least - box.height) / 2 + grow;
  rect.setAttribute("x", String(box.x - extraX));
  rect.setAttribute("y", String(box.y - extraY));
  rect.setAttribute("width", String(box.width + 2 * extraX));
  rect.setAttribute("height", String(box.height + 2 * extraY));
}
