// The view for a projector: the figures fill the window, and a button leads back to the whole page.

import { button, findAll } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";

const NARROW_WINDOW = 760; // px: up to this width, figures are below each other and keep their heights
const LEAST_FILLED = 100; // px: a lower figure could not be read; then the page scrolls

/**
 * The button that leaves the view. The first line of the page runs around it, so that it covers nothing.
 * @param page which it is put before
 */
export function addLeaveButton(page: HTMLElement, onLeave: () => void) {
  const leave = button("nv-leave", null, "✕", onLeave);
  leave.title = leave.ariaLabel = _("Leave the projector view (Esc)");
  page.before(leave);
  return leave;
}

/**
 * Draws the figures again with the height that fills the window. Figures side by side share a line; all lines have the same height. An answer
 * to a question is below the window anyway.
 */
export async function fillWindow(page: HTMLElement, figures: Figure[]) {
  /** The height of each line, by its top. */
  const lines = new Map<number, number>();
  const places = findAll(page, ".nv-body, .nv-chart-plot").filter((place) => !place.closest(".nv-answer, .nv-shown"));
  for (const { top, height } of places.map((place) => place.getBoundingClientRect()))
    if (height) lines.set(Math.round(top), Math.max(height, lines.get(Math.round(top)) ?? 0));
  if (!lines.size || window.innerWidth <= NARROW_WINDOW) return;
  let bottom = page.getBoundingClientRect().bottom;
  for (let at = page.parentElement; at; at = at.parentElement) {
    const { paddingBottom, marginBottom } = getComputedStyle(at);
    bottom += at.scrollTop + parseFloat(paddingBottom) + parseFloat(marginBottom);
  }
  const rest = [...lines.values()].reduce((sum, height) => sum - height, bottom);
  const height = Math.max(LEAST_FILLED, Math.floor((window.innerHeight - rest) / lines.size));
  await Promise.all(figures.map((figure) => {
    const same = figure.height === height;
    figure.height = height;
    return same || figure.root.dataset.state !== "ready" ? null : figure.draw?.();
  }));
}
