// What the keys do in a panel. They act only while it has the focus, so that they are no shortcuts of the page.

import { showKeys } from "./dialogs.ts";
import { nextGroup, nextPeer } from "./moves.ts";
import { speakElement } from "./spoken.ts";
import { showTable } from "./tables.ts";
import type { DrawnPanel, PanelHost } from "../tensor/drawn_panel.ts";

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function pressKey(view: PanelHost, event: KeyboardEvent, panel: DrawnPanel) {
  const { key } = event, chosen = view.cursor ?? view.at, from = chosen ?? view.data.grid.indices.map(() => 0);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const way = WAYS[key.toLowerCase()];
  if (key in ARROWS || way) {
    view.pointed = null;
    view.under = panel;
    if (!chosen) view.cursor = from;
    else view.cursor = way ? way(panel, from, event.shiftKey ? -1 : 1) : panel.geometry.neighbor(from, ...ARROWS[key]);
    view.follow();
    view.announce(speakElement(panel, view.cursor));
  } else if ((key === "Enter" || key === " ") && chosen) {
    view.cursor = null;
    view.select(chosen, panel);
  } else if (key === "Escape" && chosen) {
    view.cursor = null;
    view.select(null, panel);
  } else if (key === "?") showKeys(view.root, () => panel.svg.focus());
  else if (key === "t" || key === "T") showTable(view, panel, () => panel.svg.focus());
  else if (view.data.editable && (key === "F2" || /^[-0-9.]$/.test(key))) view.edit(from, key === "F2" ? undefined : key);
  else return;
  event.stopPropagation();
  event.preventDefault();
}

const WAYS: Record<string, (panel: DrawnPanel, from: Index, way: 1 | -1) => Index> = {
  n: (panel, from, way) => nextPeer(panel, "stats", from, way),
  p: (panel, from, way) => nextPeer(panel, "params", from, way),
  g: nextGroup,
  home: (panel, from) => toTheEnd(panel, from, -1),
  end: (panel, from) => toTheEnd(panel, from, 1),
};

/** The first or the last element of a line, through all facets in a row. */
function toTheEnd({ geometry }: DrawnPanel, from: Index, way: 1 | -1) {
  let at = from, next = geometry.neighbor(at, way, 0);
  while (next !== at) [at, next] = [next, geometry.neighbor(next, way, 0)];
  return at;
}
