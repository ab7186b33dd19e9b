// On a narrow page, the panels of values are tabs: x, normalized, output.

import { button, html, uniqueNumber } from "../common/dom.ts";
import { _ } from "../common/messages.ts";
import type { Panel } from "../panels/panel.ts";

export class ValueTabs {
  shown = "x"; // the key of the panel that is shown
  tabs = new Map<string, HTMLElement>();
  view: { valuesRow: HTMLElement, panels: Map<string, Panel>, narrow: boolean, draw(): void };
  root: HTMLDivElement;

  constructor(view: { valuesRow: HTMLElement, panels: Map<string, Panel>, narrow: boolean, draw(): void }) {
    this.view = view;
    this.root = html("div", "nv-value-tabs");
    view.valuesRow.before(this.root);
    this.root.setAttribute("role", "tablist");
    this.root.ariaLabel = _("The values: x, normalized, output");
    this.root.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], open = this.open, at = open.findIndex(({ key }) => key === this.shown);
      if (!step) return;
      event.preventDefault();
      this.choose(open[(at + step + open.length) % open.length].key);
      this.tabs.get(this.shown)?.focus();
    });
  }

  /** The panels that a link does not hide. */
  get open() {
    return [...this.view.panels.values()].filter(({ figure, root }) => figure.scale === "values" && !root.hidden);
  }

  choose(key: string) {
    this.shown = key;
    this.view.draw();
  }

  // A hidden panel has no width, so this comes before the panels are measured.
  update() {
    const { view, open, root } = this, isShown = view.narrow && open.length > 1;
    root.hidden = !isShown;
    if (!open.some(({ key }) => key === this.shown)) this.shown = open[0]?.key ?? "";
    for (const { key, root: panel, figure } of open) {
      const tab = this.tabs.get(key) ?? button("nv-value-tab", root, "", () => this.choose(key)), isOpen = key === this.shown;
      this.tabs.set(key, tab);
      tab.textContent = figure.title;
      panel.id ||= `nv-values-${uniqueNumber()}`;
      panel.classList.toggle("nv-behind", isShown && !isOpen);
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", panel.id);
      tab.ariaSelected = String(isOpen);
      tab.tabIndex = isOpen ? 0 : -1;
    }
    for (const [key, tab] of this.tabs) tab.hidden = !open.some((panel) => panel.key === key);
  }
}
