// The next element that shares with an element, and the next group, among those that are drawn.

/** @import { DrawnPanel } from "../tensor/drawn_panel.d.ts" */

import { firstOfGroups, groupOf, sameIndex } from "../tensor/sharing.js";

/**
 * Who shares a mean ("stats") or a gamma ("params") under the layer of a panel; null for a layer without gamma.
 * @param {DrawnPanel} panel
 * @param {"stats" | "params"} kind
 * @returns {Tabled<Sharing> | null}
 */
export function sharingOf({ data, figure }, kind) {
  const number = figure.links.replace(/^\D+/, ""); // number of the layer, if several are compared
  return data.sharings ? (data.sharings[kind + number] ?? null) : data[kind];
}

/**
 * The kind of sharing that a panel shows.
 * @param {DrawnPanel} panel
 * @returns {"stats" | "params"}
 */
export const kindOf = ({ figure }) => (figure.links.startsWith("params") ? "params" : "stats");

/**
 * In the order in which the elements are drawn; after the last one, the first one.
 * @param {DrawnPanel} panel
 * @param {"stats" | "params"} kind
 * @param {Index} from
 * @param {1 | -1} way
 */
export function nextPeer(panel, kind, from, way) {
  const sharing = sharingOf(panel, kind);
  if (!sharing) return from;
  /** @type {Index[]} */
  const peers = [], group = groupOf(sharing.tables, from);
  panel.each((index) => groupOf(sharing.tables, index) === group && peers.push(index));
  return peers[(peers.findIndex((peer) => sameIndex(peer, from)) + way + peers.length) % peers.length];
}

/**
 * The first element of the next group that the panel shows.
 * @param {DrawnPanel} panel
 * @param {Index} from
 * @param {1 | -1} way
 */
export function nextGroup(panel, from, way) {
  const { tables } = sharingOf(panel, kindOf(panel)) ?? {};
  if (!tables) return from;
  const firsts = firstOfGroups(tables, panel), groups = [...firsts.keys()].sort((a, b) => a - b), at = groups.indexOf(groupOf(tables, from));
  return /** @type {Index} */ (firsts.get(groups[(at + way + groups.length) % groups.length]));
}
