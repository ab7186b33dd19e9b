// The numbers of a figure as tables, for readers who do not see it, and the buttons that open them.

import { button, html } from "../common/dom.ts";
import { formatElement, formatNumber } from "../common/format.ts";
import { _ } from "../common/messages.ts";
import { groupName, groupOf, hasStatistics, sameIndex, tensorIndex } from "../tensor/sharing.ts";
import { openModal, showKeys } from "./dialogs.ts";
import { kindOf } from "./moves.ts";
import type { DrawnPanel, PanelHost } from "../tensor/drawn_panel.ts";

// The buttons for readers without a keyboard. They are seen when they have the focus.

/** The view has no data until plotly.js has loaded. */
export function addChartTools(view: { root: HTMLElement, data?: ChartData }) {
  const table = button("nv-button", html("div", "nv-tools", view.root), _("The figure as a table"), () => {
    if (view.data) showChartTable(view.root, view.data.figure, () => table.focus());
  });
}

export function addTools(view: PanelHost) {
  const tools = html("div", "nv-tools", view.root);
  const table = button("nv-button", tools, _("The figure as a table"), () => {
    const panel = [...view.panels.values()].find(({ figure, root }) => figure.scale !== "cube" && !root.hidden);
    if (panel) showTable(view, panel, () => table.focus());
  });
  const keys = button("nv-button", tools, _("Keys"), () => showKeys(view.root, () => keys.focus()));
}

// A panel: a table for each facet, with the indices as heads.

/** ``panel``: the first one that is shown; the reader can choose another */
export function showTable(view: PanelHost, panel: DrawnPanel, onClose: () => void) {
  openModal(view.root, _("The figure as a table"), (body) => {
    const panels = [...view.panels.values()].filter((one) => one.figure.scale !== "cube" && !one.root.hidden);
    const label = html("label", "nv-modal-choice", body, _("Panel")), choice = html("select", "", label), place = html("div", "", body);
    panels.forEach((one, number) => (html("option", "", choice, panelName(view, one)).value = String(number)));
    choice.value = String(panels.indexOf(panel));
    choice.addEventListener("change", () => writeTables(place, panels[Number(choice.value)]));
    writeTables(place, panel);
  }, onClose);
}

function panelName({ data }: PanelHost, { figure }: DrawnPanel) {
  return data.layers && figure.row === "stats" ? _("{layer}: mean and variance", { layer: figure.title }) : figure.title;
}

function writeTables(place: HTMLElement, panel: DrawnPanel) {
  const { data, geometry, figure, view } = panel, { grid, axes } = data, active = view.at, tables = panel.tables();
  place.replaceChildren();
  html("p", "nv-caption", place, figure.caption);
  const group = active && tables ? groupOf(tables, active) : null;
  if (active) html("p", "nv-caption", place, peerNote(panel, formatElement(data.name ?? "x", tensorIndex(data, active))));
  for (let facet = 0; facet < geometry.facets; facet++) {
    const first = geometry.facetIndex(facet), table = html("table", "", place), heads = html("tr", "", html("thead", "", table)), body = html("tbody", "", table);
    const caption = grid.facets.map((axis) => `${axes[axis]} = ${grid.indices[axis][first[axis]]}`).join(", ");
    table.createCaption().textContent = caption || figure.title;
    if (grid.row !== null) html("td", "", heads);
    for (const column of grid.indices[grid.col]) html("th", "", heads, `${axes[grid.col]} = ${column}`).scope = "col";
    for (const [at, row] of (grid.row === null ? [0] : grid.indices[grid.row]).entries()) {
      const line = html("tr", "", body);
      if (grid.row !== null) html("th", "", line, `${axes[grid.row]} = ${row}`).scope = "row";
      grid.indices[grid.col].forEach((_column, column) => {
        const index = first.map((position, axis) => (axis === grid.col ? column : axis === grid.row ? at : position)), cell = html("td", "", line, textOf(panel, index));
        const isSelected = sameIndex(index, active);
        if (isSelected) cell.setAttribute("aria-current", "true");
        if (tables && group !== null && (isSelected || groupOf(tables, index) === group)) cell.textContent += isSelected ? " ◉" : " •";
      });
    }
  }
}

function peerNote(panel: DrawnPanel, element: string) {
  if (!panel.tables()) return _("◉ {element}, which is selected", { element });
  return kindOf(panel) === "params"
    ? _("◉ {element}, which is selected; • shares its gamma and beta", { element })
    : _("◉ {element}, which is selected; • shares its mean and variance", { element });
}

/** What a cell shows: a value, or its group. */
function textOf(panel: DrawnPanel, index: Index) {
  if (panel.figure.scale === "none") return _("none");
  const value = panel.valueAt(index);
  if (panel.isId && panel.sharing) return groupName(panel.sharing, value);
  return Number.isNaN(value) && !hasStatistics(panel.data, index) ? "–" : formatNumber(value);
}

// A chart: a row for each x, a column for each series.

const ARRAYS = { f8: [8, "getFloat64"], i1: [1, "getInt8"], i2: [2, "getInt16"], i4: [4, "getInt32"] } as const;

/** The numbers of a list, or of an array in Plotly's form. */
function numbersOf(packed: any): (number | string | null)[] {
  if (!packed?.bdata) return packed ?? [];
  const [size, read] = ARRAYS[packed.dtype as keyof typeof ARRAYS], bytes = Uint8Array.from(atob(packed.bdata), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / size }, (_number, at) => view[read](at * size, true));
}

/** The rows of the table, the heads first. Lines that only guide the eye have no name, and no column. */
export function chartRows({ data, layout }: ChartData["figure"]) {
  const series = data.filter(({ name, x, y }) => name && x && y).map(({ name, x, y }) => ({ name, x: numbersOf(x), y: numbersOf(y) }));
  const places = [...new Set(series.flatMap(({ x }) => x))];
  const text = (value: any) => (typeof value === "number" ? formatNumber(value) : (value ?? "–"));
  const rows = places.map((place) => [text(place), ...series.map(({ x, y }) => (x.includes(place) ? text(y[x.indexOf(place)]) : ""))]);
  return [[layout.xaxis?.title?.text || "x", ...series.map(({ name }) => name)], ...rows];
}

function showChartTable(parent: HTMLElement, figure: ChartData["figure"], onClose: () => void) {
  openModal(parent, _("The figure as a table"), (body) => {
    const [heads, ...rows] = chartRows(figure), table = html("table", "", body), head = html("tr", "", html("thead", "", table)), lines = html("tbody", "", table);
    table.createCaption().textContent = figure.layout.yaxis?.title?.text ?? "";
    for (const name of heads) html("th", "", head, name).scope = "col";
    for (const [place, ...numbers] of rows) {
      const line = html("tr", "", lines);
      html("th", "", line, place).scope = "row";
      for (const number of numbers) html("td", "", line, number);
    }
  }, onClose);
}
