// The contents of a long page on a narrow screen: a list of its figures, tables and code, which is written when it is opened.

import { button, findAll, html } from "../../figures/browser/common/dom.js";
import { _ } from "../../figures/browser/common/messages.js";

const LONG_PAGE = 3000, PHONE = 760, BELOW_READOUT = 8; // px
/** @type {[string, (section: HTMLElement) => string][]} What is listed, and how it is called. */
const SECTIONS = [
  [".nv-page h2:not(.nv-heading)", (section) => section.textContent ?? ""],
  [".nv-compare > .nv-stats", () => _("Who shares my mean and variance?")],
  [".nv-compare > .nv-params", () => _("Who shares my gamma and beta?")],
  [".nv-compare > .nv-cube", () => _("Cubes")],
  [".nv-view > .nv-row > .nv-panel", (section) => section.querySelector(".nv-title")?.textContent ?? ""],
  [".nv-table-box", () => _("Table")],
  [".nv-tabs", () => _("Code")],
  [".nv-links-questions", () => _("Questions")],
];

export class Contents {
  /**
   * @param {HTMLElement} parent
   * @param {HTMLElement} page whose parts it lists
   */
  constructor(parent, page) {
    this.page = page;
    this.root = html("details", "nv-contents", parent);
    html("summary", "", this.root, _("On this page"));
    this.list = html("ul", "", this.root);
    this.root.addEventListener("toggle", () => this.root.open && this.write());
    this.observer = new ResizeObserver(() => void (this.root.hidden = innerWidth > PHONE || page.scrollHeight < LONG_PAGE));
    this.observer.observe(page);
  }

  write() {
    const named = SECTIONS.flatMap(([selector, name]) => findAll(this.page, selector).map((section) => /** @type {[HTMLElement, string]} */ ([section, name(section)])));
    const names = new Map(named), all = SECTIONS.map(([selector]) => selector).join();
    const listed = findAll(this.page, all).filter((section) => section.checkVisibility() && names.get(section));
    this.list.replaceChildren();
    for (const section of listed) button("", html("li", "", this.list), /** @type {string} */ (names.get(section)), () => this.go(section));
  }

  /** @param {HTMLElement} section */
  go(section) {
    this.root.open = false;
    section.scrollIntoView();
    const readout = section.closest(".nv-view")?.querySelector(".nv-readout")?.getBoundingClientRect(), { top } = section.getBoundingClientRect();
    if (readout && readout.top <= top && top < readout.bottom) this.page.parentElement?.scrollBy(0, top - readout.bottom - BELOW_READOUT);
  }

  remove() {
    this.observer.disconnect();
  }
}
