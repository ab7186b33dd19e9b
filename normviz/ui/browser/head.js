// What comes between the heading and the controls of a page: Share, and on a narrow screen the contents and the button that unfolds the controls.

import { html } from "../../figures/browser/page/dom.js";
import { _ } from "../../figures/browser/page/messages.js";
import { applyColors } from "../../figures/browser/page/theme.js";
import { Fold } from "../../lessons/browser/fold.js";
import { Contents } from "./contents.js";

const MAIN = '[data-testid="stMainBlockContainer"]';
const ABOVE_CONTROLS = '[data-testid="stLayoutWrapper"]:has(> :is(.st-key-heading, .st-key-hidden_heading))';

export class PageHead {
  /** @type {Contents | undefined} */
  contents;

  constructor() {
    this.root = html("div", "nv-doc nv-app nv-above");
    this.root.dataset.mounted = "yes";
    this.fold = new Fold(this.root);
  }

  /**
   * Streamlit draws what follows. The head is put back if Streamlit has made the page again.
   * @param {PageData & { summary?: string | null }} data with the summary of the controls; null: the view hides some of them
   * @param {Mode} mode
   */
  set({ parts, summary }, mode) {
    const main = /** @type {HTMLElement | null} */ (document.querySelector(MAIN));
    if (!this.root.isConnected) main?.querySelector(ABOVE_CONTROLS)?.after(this.root);
    if (main) this.contents ??= new Contents(this.root, main);
    this.root.dataset.mode = mode;
    applyColors(this.root, mode);
    this.fold.set(summary || _("Controls"));
    this.fold.root.hidden = summary === null;
    // An error is about a control.
    if (summary === null || parts.some(([key]) => key.startsWith("problem"))) this.fold.show(true);
  }

  remove() {
    this.contents?.remove();
    this.root.remove();
  }
}
