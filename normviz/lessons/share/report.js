// "Report an error in this page": a text with the link of the view, which the reader completes and sends.

import { copyFrom } from "../../figures/browser/common/clipboard.js";
import { button, html } from "../../figures/browser/common/dom.js";
import { _ } from "../../figures/browser/common/messages.js";

/** @typedef {{ title: string, link: string }} Reported the view that is shown */

export class ReportButton {
  /**
   * @param {HTMLElement} parent
   * @param {string} to where reports go: an address with the placeholders {title} and {text}; "": the text is copied
   * @param {() => Reported} view
   */
  constructor(parent, to, view) {
    this.to = to;
    this.view = view;
    this.root = html("div", "nvs-root nvs-report", parent);
    this.text = html("textarea", "nvs-voice", this.root);
    Object.assign(this.text, { readOnly: true, tabIndex: -1, ariaHidden: "true" });
    this.button = button("nvs-report-button", this.root, _("Report an error in this page"), () => this.report());
    this.note = html("span", "", this.root);
    this.note.setAttribute("role", "status");
  }

  async report() {
    const view = this.view();
    this.text.value = reportText(view);
    if (this.to) open(reportTo(this.to, view), this.to.startsWith("mailto:") ? "_self" : "_blank", "noopener");
    else if (await copyFrom(this.button, this.text))
      this.note.textContent = _("Copied. Paste it into a message to the people who run this page, and add what is wrong.");
  }

  remove() {
    this.root.remove();
  }
}

/** @param {Reported} view */
export const reportText = ({ title, link }) => [_("What is wrong, and what did you expect?"), "", "", title, link].join("\n");

/**
 * The address that opens the report.
 * @param {string} to
 * @param {Reported} view
 */
export function reportTo(to, view) {
  const values = { title: _("Error in normviz: {title}", { title: view.title }), text: reportText(view) };
  return to.replace(/\{(title|text)\}/g, (_all, name) => encodeURIComponent(name === "title" ? values.title : values.text));
}
