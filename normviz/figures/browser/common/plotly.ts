// Loads plotly.js once per page.

import { _ } from "./messages.ts";

function loadScript(address: string, integrity?: string) {
  return new Promise((resolve, reject) => {
    const tag = document.createElement("script");
    tag.fetchPriority = "low"; // the page is readable without it
    if (integrity) Object.assign(tag, { integrity, crossOrigin: "anonymous" });
    tag.src = new URL(address, document.baseURI).href;
    tag.onload = resolve;
    tag.onerror = () => reject(new Error(_("plotly.js did not load from {address}", { address: tag.src })));
    document.head.appendChild(tag);
  });
}

/** A file of the app is tried twice, because a page whose address ends in a slash is one level deeper. */
export function loadPlotly(address = "", integrity?: string) {
  if (window.Plotly) return Promise.resolve();
  const again = location.pathname.endsWith("/") ? `../${address}` : address;
  window.normvizPlotly ??= loadScript(address, integrity)
    .catch((error) => (integrity ? Promise.reject(error) : loadScript(again)))
    .catch((error) => {
      window.normvizPlotly = undefined;
      throw error;
    });
  return window.normvizPlotly;
}

/** Plotly may still be drawing the plot, or about to answer a pointer that was over it. */
export function purgeLater(plot?: HTMLElement) {
  if (plot) setTimeout(() => window.Plotly?.purge(plot), 2000);
}
