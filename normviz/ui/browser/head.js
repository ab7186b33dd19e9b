// What comes between the heading and the controls of a page: a greeting, Share, and on a narrow screen the contents and the button that unfolds the controls.

import { findAll, html } from "../../figures/browser/common/dom.js";
import { _ } from "../../figures/browser/common/messages.js";
import { applyColors } from "../../figures/browser/common/theme.js";
import { Fold } from "../../lessons/browser/controls/fold.js";
import { readStart } from "../../lessons/browser/html/memory.js";
import { Contents } from "./contents.js";

const MAIN = '[data-testid="stMainBlockContainer"]';
const ABOVE_CONTROLS = '[data-testid="stLayoutWrapper"]:has(> :is(.st-key-heading, .st-key-hidden_heading))';

/**
 * Names a state of the page for the style of Streamlit's elements. ``:has()`` would be evaluated again at every change of the page.
 * @param {"greets" | "presents" | "shares" | "translates" | "unfolded"} state
 * @param {boolean} is
 */
export const markApp = (state, is) => document.documentElement.classList.toggle(`nv-app-${state}`, is);

export class PageHead {
  /** @type {Contents | undefined} */
  contents;

  /** @param {PageHost} host */
  constructor(host) {
    this.host = host;
    this.root = html("div", "nv-doc nv-app nv-above");
    this.root.dataset.mounted = "yes";
    this.greeting = html("p", "nv-greeting", this.root);
    this.greeting.addEventListener("click", (event) => this.follow(event));
    this.fold = new Fold(this.root, (isOpen) => markApp("unfolded", isOpen));
  }

  /**
   * Streamlit draws what follows. The head is put back if Streamlit has made the page or its heading again.
   * @param {PageData & { summary?: string | null, greeting?: string }} data with the summary of the controls; null: the view hides some of them
   * @param {Mode} mode
   */
  set({ parts, summary, greeting = "" }, mode) {
    const main = /** @type {HTMLElement | null} */ (document.querySelector(MAIN));
    const above = main?.querySelector(ABOVE_CONTROLS);
    if (above && above.nextElementSibling !== this.root) above.after(this.root);
    if (main) this.contents ??= new Contents(this.root, main);
    this.root.dataset.mode = mode;
    applyColors(this.root, mode);
    this.greeting.innerHTML = greeting;
    if (readStart()) this.greeting.querySelector("[data-page=start]")?.remove();
    for (const link of findAll(this.greeting, "a")) link.setAttribute("href", this.host.address?.(...targetOf(link)) ?? "");
    this.fold.set(summary || _("Controls"));
    this.fold.root.hidden = summary === null;
    // An error is about a control.
    if (summary === null || parts.some(([key]) => key.startsWith("problem"))) this.fold.show(true);
    markApp("greets", Boolean(this.greeting.childNodes.length));
  }

  /** @param {MouseEvent} event */
  follow(event) {
    const link = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("a"));
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && this.host.go?.(...targetOf(link))) event.preventDefault();
  }

  remove() {
    this.contents?.remove();
    this.root.remove();
  }
}

/**
 * The page and the query of a link.
 * @param {HTMLElement} link
 * @returns {[string, string]}
 */
const targetOf = ({ dataset }) => [dataset.page ?? "", dataset.query ?? ""];
