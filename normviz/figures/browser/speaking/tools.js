// The table and the list of keys as buttons, for readers without a keyboard. They are seen when they have the focus.

/** @import { PanelHost } from "../tensor/drawn_panel.d.ts" */

import { button, html } from "../page/dom.js";
import { _ } from "../page/messages.js";
import { showChartTable } from "./chart_table.js";
import { showKeys } from "./keys.js";
import { showTable } from "./table.js";

/** @param {{ root: HTMLElement, data?: ChartData }} view which has no data until plotly.js has loaded */
export function addChartTools(view) {
  const table = button("nv-button", html("div", "nv-tools", view.root), _("The figure as a table"), () => {
    if (view.data) showChartTable(view.root, view.data.figure, () => table.focus());
  });
}

/** @param {PanelHost} view */
export function addTools(view) {
  const tools = html("div", "nv-tools", view.root);
  const table = button("nv-button", tools, _("The figure as a table"), () => {
    const panel = [...view.panels.values()].find(({ figure, root }) => figure.scale !== "cube" && !root.hidden);
    if (panel) showTable(view, panel, () => table.focus());
  });
  const keys = button("nv-button", tools, _("Keys"), () => showKeys(view.root, () => keys.focus()));
}
