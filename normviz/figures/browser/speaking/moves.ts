// The next element that shares with an element, and the next group, among those that are drawn.

import { firstOfGroups, groupOf, sameIndex } from "../tensor/sharing.ts";
import type { DrawnPanel } from "../tensor/drawn_panel.ts";

/** Who shares a mean ("stats") or a gamma ("params") under the layer of a panel; null for a layer without gamma. */
export function sharingOf({ data, figure }: DrawnPanel, kind: "stats" | "params"): Tabled<Sharing> | null {
  const number = figure.links.replace(/^\D+/, ""); // number of the layer, if several are compared
  return data.sharings ? (data.sharings[kind + number] ?? null) : data[kind];
}

/** The kind of sharing that a panel shows. */
export const kindOf = ({ figure }: DrawnPanel): "stats" | "params" => (figure.links.startsWith("params") ? "params" : "stats");

/** In the order in which the elements are drawn; after the last one, the first one. */
export function nextPeer(panel: DrawnPanel, kind: "stats" | "params", from: Index, way: 1 | -1) {
  const sharing = sharingOf(panel, kind);
  if (!sharing) return from;
  const peers: Index[] = [], group = groupOf(sharing.tables, from);
  panel.each((index) => groupOf(sharing.tables, index) === group && peers.push(index));
  return peers[(peers.findIndex((peer) => sameIndex(peer, from)) + way + peers.length) % peers.length];
}

/** The first element of the next group that the panel shows. */
export function nextGroup(panel: DrawnPanel, from: Index, way: 1 | -1) {
  const { tables } = sharingOf(panel, kindOf(panel)) ?? {};
  if (!tables) return from;
  const firsts = firstOfGroups(tables, panel), groups = [...firsts.keys()].sort((a, b) => a - b), at = groups.indexOf(groupOf(tables, from));
  return firsts.get(groups[(at + way + groups.length) % groups.length]) as Index;
}
