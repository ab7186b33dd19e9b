// One heatmap: Plotly draws the cells, an SVG over it veils all but the peers, and frames the selected element.

const SVG = "http://www.w3.org/2000/svg";
const MOST_TEXTS = 1200;
const STRIP_WIDTH = 70; // of "mean −12.3", with some air

// A number that no other view or panel of the page has, though a notebook holds this module once an output.
function pageNumber() {
  return (window.normvizNumber = (window.normvizNumber ?? 0) + 1);
}

function element(name, attributes = {}, parent = null) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.appendChild(made);
  return made;
}

function html(tag, className, parent, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}

class Panel {
  constructor(parent, view, key) {
    this.view = view;
    this.key = key;
    this.name = `nv-panel-${pageNumber()}`;
    this.root = html("figure", `nv-panel nv-panel-${key}`, parent);
    const head = html("figcaption", "nv-head", this.root);
    this.title = html("div", "nv-title", head);
    this.caption = html("div", "nv-caption", head);
    this.hint = html("div", "nv-hint", this.root);
    this.body = html("div", "nv-body", this.root);
    this.plot = html("div", "nv-plot", this.body);
    this.svg = element("svg", { class: "nv-over", tabindex: "0", role: "application" }, this.body);
    this.listen();
  }

  listen() {
    const at = (event) => {
      const box = this.svg.getBoundingClientRect(), scale = box.width / (this.total?.width ?? box.width); // slides are shrunk to fit
      return this.geometry?.hit((event.clientX - box.left) / scale - this.left, (event.clientY - box.top) / scale - this.top) ?? null;
    };
    this.svg.addEventListener("pointermove", (event) => this.view.hover(at(event)));
    this.svg.addEventListener("pointerleave", () => this.view.hover(null));
    this.svg.addEventListener("click", (event) => {
      const index = at(event);
      if (index) this.view.select(index);
    });
    this.svg.addEventListener("dblclick", (event) => {
      const index = at(event);
      if (index && this.key === "x") this.view.edit(index);
    });
    this.svg.addEventListener("keydown", (event) => this.view.key(event, this));
    this.svg.addEventListener("blur", () => this.view.leave());
  }

  // The figure to show; drawn when its place is known.
  set(figure, data) {
    this.figure = figure;
    this.data = data;
    this.title.textContent = figure.title;
    this.caption.replaceChildren();
    if (figure.pattern) html("code", "", this.caption, figure.pattern);
    html("span", "", this.caption, figure.caption);
    this.svg.setAttribute("aria-label", `${figure.title} ${figure.pattern}. ${figure.caption}. Arrow keys move, Enter selects, Escape clears.`);
    this.svg.setAttribute("aria-describedby", this.view.readoutId);
    this.values = figure.z ? decode(figure.z) : null;
  }

  // What is drawn, line by line, gaps as NaN: the values sent, or the ids that the tables make.
  drawn() {
    const { geometry } = this, { rows, columns, across, padX, padY } = geometry, { row, col } = this.data.grid;
    const high = geometry.down * (rows + padY) - padY, wide = across * (columns + padX) - padX;
    const lines = Array.from({ length: high }, () => new Float32Array(wide).fill(NaN)), tables = this.tables();
    for (let facet = 0; facet < geometry.facets; facet++) {
      const index = geometry.facetIndex(facet), facetX = facet % across, facetY = Math.floor(facet / across), left = facetX * (columns + padX);
      for (let y = 0; y < rows; y++) {
        const line = lines[facetY * (rows + padY) + y];
        if (row !== null) index[row] = y;
        if (this.values) {
          const first = (facetY * (rows + 1) + y) * (across * (columns + 1) - 1) + facetX * (columns + 1);
          line.set(this.values.subarray(first, first + columns), left);
        } else {
          const first = tables ? groupOf(tables, index) - tables[col][0] : 0;
          for (let x = 0; x < columns; x++) line[left + x] = tables ? first + tables[col][x] : 0;
        }
      }
    }
    return lines;
  }

  // Every element of the window.
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

  // The value drawn for an element of the window: a number of the tensor, or the id of its group.
  valueAt(index) {
    if (!this.values) return this.tables() ? groupOf(this.tables(), index) : 0;
    return this.valueIn(this.values, index);
  }

  valueIn(values, index) {
    const { rows, columns, across } = this.geometry;
    const facet = this.geometry.facetOf(index), row = this.data.grid.row;
    const y = Math.floor(facet / across) * (rows + 1) + (row === null ? 0 : index[row]);
    const x = (facet % across) * (columns + 1) + index[this.data.grid.col];
    return values[y * (across * (columns + 1) - 1) + x];
  }

  async draw(width, height, colours) {
    const room = this.margins(width);
    this.left = room.left;
    this.top = room.top;
    const inner = Math.max(40, width - room.left - room.right), most = Math.max(40, height - room.top - room.bottom);
    this.geometry = new Geometry(this.data.grid, inner, most, { gapY: room.gapY, most: this.figure.scale === "values" ? 48 : 56 });
    const { width: w, height: h } = this.geometry;
    this.total = { width: room.left + w + room.right, height: room.top + h + room.bottom };
    this.body.style.height = `${this.total.height}px`;
    this.plot.style.cssText = `left:${this.left}px;top:${this.top}px;width:${w}px;height:${h}px`;
    this.scale = stops(colours, this.figure.scale, this.figure.groups);
    this.colours = colours;
    this.paint();
    if (this.root.hidden) return; // its values are read, though it is not drawn
    const gap = this.geometry.cellW >= 6 && this.geometry.cellH >= 6 ? 1 : 0;
    const trace = {
      type: "heatmap", z: this.drawn(), x: this.geometry.edges(true), y: this.geometry.edges(false),
      zmin: this.figure.low, zmax: this.figure.high, zauto: false, colorscale: this.scale, showscale: false,
      hoverinfo: "skip", xgap: gap, ygap: gap,
    };
    const axis = (range) => ({ type: "linear", range, visible: false, fixedrange: true, autorange: false });
    const wide = Math.max(10, w), high = Math.max(10, h); // Plotly takes no less, and draws its usual size instead
    const layout = {
      width: wide, height: high, margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      xaxis: axis([0, wide]), yaxis: axis([high, 0]),
    };
    await window.Plotly.react(this.plot, [trace], layout, { staticPlot: true, displayModeBar: false });
  }

  // Labels need room: facet names above, row names at the left, strips at the right and below.
  margins(width) {
    const { grid, axes } = this.data, strips = this.figure.strips;
    const longest = (axis) => `${axes[axis]} = ${grid.start[axis] + grid.extent[axis] - 1}`.length * 7;
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
    const { svg, geometry, colours } = this;
    svg.replaceChildren();
    this.paths = new Map();
    svg.setAttribute("width", this.total.width);
    svg.setAttribute("height", this.total.height);
    svg.setAttribute("viewBox", `${-this.left} ${-this.top} ${this.total.width} ${this.total.height}`);
    const definitions = element("defs", {}, svg);
    const clip = (suffix) => element("path", { "clip-rule": "evenodd" }, element("clipPath", { id: this.name + suffix }, definitions));
    this.inside = clip("-in");
    this.outside = clip("-out");
    this.veil = element("path", { class: "nv-veil", "fill-rule": "evenodd" }, svg);
    this.muted = element("g", { class: "nv-text", "clip-path": `url(#${this.name}-out)`, fill: colours.faint }, svg);
    this.strong = element("g", { class: "nv-text", "clip-path": `url(#${this.name}-in)` }, svg);
    this.outline = element("path", { class: "nv-outline" }, svg);
    this.halo = element("rect", { class: "nv-halo" }, svg);
    this.frameRect = element("rect", { class: "nv-frame" }, svg);
    this.cursorRect = element("rect", { class: "nv-cursor" }, svg);
    this.texts();
    labels(this, element("g", { class: "nv-labels" }, svg));
    if (geometry) this.show(this.view.active, this.view.at);
  }

  // Ids or values in the cells, where they fit: a strong copy for peers, a muted one for the rest.
  texts() {
    const { geometry, figure } = this, { cellW, cellH } = geometry;
    const isId = figure.scale !== "values";
    if (figure.scale === "none" || cellH < 13) return;
    const count = geometry.facets * geometry.rows * geometry.columns;
    const digits = isId ? String(figure.groups - 1).length : 5;
    const size = Math.min(isId ? 12 : 11, cellH * 0.62, (cellW - 3) / (digits * 0.6));
    if (count > MOST_TEXTS || size < 8.5) return;
    this.each((index) => {
      const value = this.valueAt(index), box = geometry.cell(index);
      const place = { x: box.x + cellW / 2, y: box.y + cellH / 2, "font-size": size };
      const fill = fillAt(this.scale, (value - figure.low) / (figure.high - figure.low));
      const text = isId ? String(value) : short(value);
      element("text", place, this.muted).textContent = text;
      element("text", { ...place, fill: inkOn(fill, this.colours.ink) }, this.strong).textContent = text;
    });
  }

  // Veil all but the peers of the active element; frame the selected one.
  show(active, selected) {
    if (!this.geometry) return;
    const { geometry } = this, tables = this.tables();
    let path = "";
    if (active && tables) {
      const group = groupOf(tables, active);
      path = this.paths.get(group);
      if (path === undefined) this.paths.set(group, (path = geometry.path(tables, active)));
    }
    const all = geometry.frame;
    this.veil.setAttribute("d", path ? all + path : "");
    this.inside.setAttribute("d", path || all);
    this.outside.setAttribute("d", path ? all + path : "M0,0Z");
    this.outline.setAttribute("d", path);
    this.outline.setAttribute("stroke-width", Math.min(geometry.cellW, geometry.cellH) < 7 ? 3 : 1.5);
    place(this.halo, selected, geometry, 2);
    place(this.frameRect, selected, geometry, 0);
    place(this.cursorRect, same(active, selected) ? null : active, geometry, 0);
  }

  tables() {
    const links = this.figure.links;
    return links ? (this.data.sharings?.[links] ?? this.data[links]).tables : null;
  }
}

function place(rect, index, geometry, grow) {
  if (!index) {
    rect.setAttribute("visibility", "hidden");
    return;
  }
  const box = geometry.cell(index), least = 6;
  const extraX = Math.max(0, least - box.width) / 2 + grow, extraY = Math.max(0, least - box.height) / 2 + grow;
  rect.setAttribute("visibility", "visible");
  rect.setAttribute("x", box.x - extraX);
  rect.setAttribute("y", box.y - extraY);
  rect.setAttribute("width", box.width + 2 * extraX);
  rect.setAttribute("height", box.height + 2 * extraY);
}

// Arrays come as base64 of little-endian float32, with their shape.
function decode(array) {
  const text = atob(array.data), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new Float32Array(bytes.buffer);
}
