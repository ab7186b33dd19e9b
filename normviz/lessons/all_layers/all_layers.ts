// The map of all layers on a tensor: a place that is pointed at shows its groups, and a click opens it in Explore.

import { button, html } from "../../figures/browser/common/dom.ts";
import { _, betweenSentences } from "../../figures/browser/common/messages.ts";
import { sameIndex } from "../../figures/browser/tensor/sharing.ts";
import { writePhrases } from "../../figures/browser/text/readout.ts";
import { EXTRAS, type PageView } from "../../parts/browser/page.ts";
import { addPair, type SharingPanel } from "../../parts/browser/sharing_panel.ts";

type Place = { row: number, column: number };
const isSame = (one: Place, other: Place) => one.row === other.row && one.column === other.column;

/** By how many rows and columns a key moves. */
const WAYS: Record<string, [number, number]> = {
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -Infinity], End: [0, Infinity],
};

class LayerMap {
  data: MapData;
  page: PageView;
  root: HTMLElement;
  explore: string; // the address of Explore, or ""
  chosen: Place;
  shown: Place;
  tapped = false; // a finger shows a place first, and opens it when it is shown
  heads: { rows: HTMLElement[], columns: HTMLElement[] } = { rows: [], columns: [] };
  cells: HTMLElement[][] = [];
  means: SharingPanel;
  gamma: SharingPanel;
  title: HTMLElement;
  about: HTMLElement;
  mates: HTMLElement;
  open: HTMLElement;

  constructor(root: HTMLElement, page: PageView) {
    this.root = root;
    this.page = page;
    this.data = JSON.parse(root.dataset.map ?? "");
    this.explore = page.host.address?.("explore", "") ?? root.dataset.explore ?? "";
    const [row, column] = this.data.now ?? [this.data.layers[0].row, this.data.layers[0].column];
    this.chosen = this.shown = { row, column };
    const left = html("div", "nv-map-left"), right = html("div", "nv-map-right");
    root.replaceChildren(left, right);
    this.addGrid(html("div", "nv-map-scroll", left));
    this.addLegend(left);
    this.addHeat(left);
    this.addPanels(right);
    this.choose(this.chosen);
  }

  /** Buttons that color the places by a count. */
  addHeat(parent: HTMLElement) {
    const bar = html("div", "nv-map-heat", parent, "", { role: "group", ariaLabel: _("Color by") });
    const choices = { means: _("number of means"), gamma: _("number of parameters") };
    html("span", "nv-small", bar, _("Color by"));
    const buttons = Object.entries(choices).map(([key, label]) => {
      const one = button("nv-toggle", bar, label, () => {
        const heat = this.root.dataset.heat === key ? "" : key;
        this.root.dataset.heat = heat;
        for (const other of buttons) other.ariaPressed = String(other === one && heat !== "");
      });
      one.ariaPressed = "false";
      return one;
    });
  }

  addGrid(parent: HTMLElement) {
    const { rows, columns, whole } = this.data, grid = html("div", "nv-map-grid", parent, "", { role: "grid" });
    grid.ariaLabel = _("All layers: a row for the axes of the mean, a column for the axes of gamma");
    grid.style.setProperty("--columns", String(columns.length));
    const head = html("div", "nv-map-row", grid, "", { role: "row" });
    const corner = html("div", "nv-map-corner", head, "", { role: "columnheader" });
    html("span", "", corner, _("own gamma for each"));
    html("span", "", corner, _("mean over"));
    this.heads.columns = columns.map(({ axes, count }) => {
      const one = html("div", "nv-map-column", head, "", { role: "columnheader", title: axes || _("no gamma") });
      html("b", axes ? "" : "nv-map-none", one, axes ? axes.replaceAll(", ", "") : _("none"));
      html("span", "", one, count);
      return one;
    });
    this.cells = rows.map(({ axes, count }, row) => {
      const line = html("div", `nv-map-row${row >= whole ? " nv-map-split" : ""}`, grid, "", { role: "row" });
      const one = html("div", "nv-map-rowhead", line, "", { role: "rowheader" });
      html("b", "", one, axes.replaceAll(", ", ""));
      html("span", "", one, count);
      this.heads.rows.push(one);
      const addPlace = () => html("div", "nv-map-place", line, "", { role: "gridcell" });
      return columns.map((_column, column) => this.addCell(addPlace(), { row, column }));
    });
    const placeOf = ({ target }: Event) => this.placeOf((target as Element).closest("a"));
    grid.addEventListener("pointerover", (event) => this.show(placeOf(event) ?? this.shown));
    grid.addEventListener("pointerleave", () => this.show(this.chosen));
    grid.addEventListener("pointerdown", (event) => {
      this.tapped = event.pointerType === "touch" && !isSame(placeOf(event) ?? this.chosen, this.chosen);
    });
    grid.addEventListener("focusin", (event) => this.choose(placeOf(event) ?? this.chosen));
    grid.addEventListener("keydown", (event) => this.move(event));
    grid.addEventListener("click", (event) => {
      if (!this.tapped) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  addCell(parent: HTMLElement, place: Place) {
    const row = this.data.rows[place.row], column = this.data.columns[place.column], layers = this.layersAt(place);
    const cell = html("a", "nv-go nv-map-cell", parent, layers[0]?.sign ?? ""), query = this.queryOf(place);
    const kind = layers.some(({ source }) => !source) ? "torch" : layers.length ? "other" : "";
    Object.assign(cell.dataset, { page: "explore", query, kind });
    if (this.explore) cell.setAttribute("href", this.addressOf(query));
    const layer = layers.map(({ name }) => name).join(", ") || _("Not a layer of torch");
    const gamma = column.axes ? _("own gamma for each {axes}", { axes: column.axes }) : _("no gamma");
    cell.ariaLabel = _("{layer}: mean over {axes}, {gamma}", { layer, axes: row.axes, gamma });
    cell.tabIndex = -1;
    const isWhole = place.row < this.data.whole;
    cell.classList.toggle("nv-map-same", isWhole && sameIndex(row.drawn, column.drawn));
    cell.classList.toggle("nv-map-once", isWhole && sameIndex(row.drawn, column.drawn.map((one) => 1 - one)));
    cell.style.setProperty("--means", String(row.heat));
    cell.style.setProperty("--gamma", String(column.heat));
    return cell;
  }

  /** Of a view of Explore. */
  addressOf(query: string) {
    const { explore } = this, more = explore.includes("?") ? query.replace("?", "&") : query;
    return this.page.host.address?.("explore", query) ?? explore + more;
  }

  addLegend(parent: HTMLElement) {
    const { same, once, scale } = this.data, list = html("ul", "nv-map-legend nv-small", parent);
    const item = (kind: string, text: string) => {
      const one = html("li", "", list);
      html("i", `nv-map-cell ${kind}`, one, "", { ariaHidden: "true" });
      one.append(text);
      return one;
    };
    item("", _("a layer of torch")).querySelector("i")!.dataset.kind = "torch";
    item("", _("known from elsewhere")).querySelector("i")!.dataset.kind = "other";
    if (same) item("nv-map-same", _("the same axes twice: {layers}", { layers: same }));
    if (once) item("nv-map-once", _("each axis once: {layers}", { layers: once }));
    if (scale) html("p", "nv-small", parent, scale);
  }

  addPanels(parent: HTMLElement) {
    this.title = html("h2", "nv-map-title", parent);
    this.about = html("p", "nv-small", parent);
    ({ means: this.means, gamma: this.gamma } = addPair(parent, this.data, {
      onPoint: (position) => [this.means, this.gamma].forEach((panel) => panel.point(position)),
      onMeans: (means) => this.press(means, this.gamma.standing),
      onGamma: (gamma) => this.press(this.means.standing, gamma),
    }));
    this.means.name(_("mean over"));
    this.mates = html("div", "nv-map-mates", parent);
    this.open = html("p", "nv-next", parent);
  }

  placeOf(cell: Element | null): Place | null {
    const row = this.cells.findIndex((cells) => cells.includes(cell as HTMLElement));
    return row < 0 ? null : { row, column: this.cells[row].indexOf(cell as HTMLElement) };
  }

  layersAt(place: Place) {
    return this.data.layers.filter((layer) => isSame(layer, place));
  }

  /** The view of Explore of the first layer there, or of the patterns. */
  queryOf(place: Place, layer = this.layersAt(place)[0]?.layer) {
    const { code, groups } = this.data.rows[place.row], own = this.data.columns[place.column].code;
    const options = [`'${code}'`, ...(own ? [`'${own}'`] : []), ...(groups ? [`sizes={'g':${groups}}`] : [])];
    return `${this.data.query}&layer=${encodeURIComponent(layer ?? `Norm(${options.join()})`)}`;
  }

  /** Stays there when the pointer leaves the map. */
  choose(place: Place) {
    this.cells[this.chosen.row][this.chosen.column].tabIndex = -1;
    this.cells[place.row][place.column].tabIndex = 0;
    this.chosen = place;
    this.show(place);
  }

  /** The toggles move the place, where the map has one. */
  press(means: number[], gamma: number[]) {
    const row = this.data.rows.findIndex(({ drawn }) => sameIndex(drawn, means));
    const column = this.data.columns.findIndex(({ drawn }) => sameIndex(drawn, gamma));
    if (row >= 0) this.choose({ row, column });
  }

  show(place: Place) {
    const row = this.data.rows[place.row], column = this.data.columns[place.column], layers = this.layersAt(place);
    this.shown = place;
    this.heads.rows.forEach((head, i) => head.classList.toggle("nv-map-at", i === place.row));
    this.heads.columns.forEach((head, j) => head.classList.toggle("nv-map-at", j === place.column));
    this.cells.forEach((cells, i) => cells.forEach((cell, j) => {
      cell.classList.toggle("nv-map-at", i === place.row && j === place.column);
      cell.classList.toggle("nv-map-beside", (i === place.row) !== (j === place.column));
    }));
    writePhrases(this.title, [layers.length ? [{ code: layers[0].name }] : [_("Not a layer of torch")]]);
    this.about.textContent = layers.map((layer, number) => remarkOn(layer, number > 0)).filter(Boolean).join("; ");
    this.means.set(row.drawn);
    this.gamma.set(column.drawn, !column.axes);
    this.means.caption.textContent = row.about;
    this.gamma.caption.textContent = column.about;
    this.showMates(place);
    this.showLink(place);
  }

  /** The other layers in the same row and in the same column. */
  showMates(place: Place) {
    this.mates.replaceChildren();
    const of = (title: string, isThere: (layer: PlacedLayer) => boolean) => {
      const mates = this.data.layers.filter((layer) => isThere(layer) && !isSame(layer, place));
      const names = [...new Set(mates.map(({ name }) => name))];
      const line = html("p", "nv-small", this.mates);
      html("b", "", line, title);
      line.append(betweenSentences(), names.join(", ") || _("none"));
    };
    of(_("Mean over the same axes, in this row:"), ({ row }) => row === place.row);
    of(_("Gamma for the same axes, in this column:"), ({ column }) => column === place.column);
  }

  showLink(place: Place) {
    const cell = this.cells[place.row][place.column], href = cell.getAttribute("href");
    this.open.replaceChildren();
    if (!href) return;
    const link = html("a", "nv-go", this.open, _("Explore it"), { href });
    Object.assign(link.dataset, { page: "explore", query: cell.dataset.query });
  }

  /** Arrow keys move to the neighbors, Home and End to the ends of a row. */
  move(event: KeyboardEvent) {
    const way = WAYS[event.key], { row, column } = this.chosen;
    if (!way || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // in a tour, they lead to another page
    const within = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
    this.cells[within(row + way[0], this.cells.length)][within(column + way[1], this.cells[0].length)].focus();
  }
}

/** What is not to be seen in its name. ``isNamed``: also the name. */
function remarkOn({ name, source, center }: PlacedLayer, isNamed: boolean) {
  const said = [source, center ? "" : _("subtracts no mean")].filter(Boolean).join(", ");
  if (!isNamed) return said;
  return said ? `${name} (${said})` : name;
}

EXTRAS.set(".nv-map", LayerMap);
