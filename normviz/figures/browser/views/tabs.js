// Tabs, copy buttons, syntax colors and predictions, in HTML that Python made.

import { wireCopyButton } from "../page/clipboard.js";
import { find, findAll, html } from "../page/dom.js";
import { applyColors } from "../page/theme.js";
import { wirePrediction } from "./prediction.js";

const PYTHON = /(#.*)|("""[\s\S]*?"""|"[^"\n]*"|'[^'\n]*')|\b(as|def|else|for|from|if|import|in|lambda|not|return|None|True|False)\b|\b(\d[\d._]*(?:e[-+]?\d+)?)\b/g;
const TOKENS = ["comment", "string", "word", "number"];

export class TabsView {
  /** @type {TabsData} */
  data;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.root = html("div", "nv-tabbed", parent);
  }

  /**
   * Replaces the content only when the text has changed, so that the open tab and the scroll position stay.
   * @param {TabsData} data
   * @param {Mode} mode
   */
  set(data, mode) {
    const changed = data.html !== this.data?.html;
    this.data = data;
    applyColors(this.root, mode);
    this.root.dataset.state = "ready";
    if (!changed) return;
    const open = findAll(this.root, "[role=tab]").find((tab) => tab.getAttribute("aria-selected") === "true")?.textContent;
    this.root.innerHTML = data.html;
    activate(this.root, open);
  }

  /** @param {string} message */
  showError(message) {
    this.root.textContent = message;
  }

  destroy() {
    this.root.remove();
  }
}

/**
 * @param {HTMLElement} root
 * @param {string | null} [open] the label of the tab that is shown, if not the first
 */
export function activate(root, open) {
  for (const tabs of findAll(root, ".nv-tabs")) wireTabs(tabs, open);
  for (const copy of findAll(root, ".nv-copy")) wireCopyButton(copy, find(/** @type {HTMLElement} */ (copy.parentElement), "code"));
  findAll(root, ".nv-code code").forEach(colorCode);
  findAll(root, ".nv-prediction").forEach(wirePrediction);
}

/**
 * @param {HTMLElement} tabs
 * @param {string | null} [open]
 */
function wireTabs(tabs, open) {
  const heads = findAll(tabs, ":scope > .nv-heads > [role=tab]"), bodies = findAll(tabs, ":scope > .nv-tab");
  /** @param {number} chosen */
  const choose = (chosen) => heads.forEach((head, i) => {
    head.setAttribute("aria-selected", String(i === chosen));
    head.tabIndex = i === chosen ? 0 : -1;
    bodies[i].hidden = i !== chosen;
  });
  const before = heads.findIndex((head) => head.textContent === open);
  if (before > 0) choose(before); // not by a click: a click outside a popover would close it
  heads.forEach((head, i) => {
    head.addEventListener("click", () => choose(i));
    head.addEventListener("keydown", (event) => {
      const targets = /** @type {Record<string, number>} */ ({ ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: heads.length - 1 });
      if (!(event.key in targets)) return;
      const to = (targets[event.key] + heads.length) % heads.length;
      choose(to);
      heads[to].focus();
      event.preventDefault();
    });
  });
}

/**
 * Colors comments, strings, keywords and numbers of Python.
 * @param {HTMLElement} code
 */
function colorCode(code) {
  const text = code.textContent ?? "", parts = [];
  let end = 0;
  for (const found of text.matchAll(PYTHON)) {
    const kind = TOKENS.find((name, i) => found[i + 1] !== undefined);
    parts.push(text.slice(end, found.index), html("span", `nv-py-${kind}`, null, found[0]));
    end = found.index + found[0].length;
  }
  code.replaceChildren(...parts, text.slice(end));
}
