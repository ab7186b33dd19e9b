// "Report an error in this page": a text with the link of the view, which the reader completes and sends.

import { copyFrom } from "../../figures/browser/common/clipboard.ts";
import { button, html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";

/** the view that is shown */
type Reported = { title: string; link: string };

export class ReportButton {
  to: string;
  view: () => Reported;
  root = html("div", "nvs-root nvs-report");
  text = html("textarea", "nvs-voice", this.root, "", { readOnly: true, tabIndex: -1, ariaHidden: "true", ariaLabel: _("Report an error in this page") });
  button = button("nvs-report-button", this.root, _("Report an error in this page"), () => this.report());
  note = html("span", "", this.root);
  say?: (text: string) => void;

  /**
   * @param to where reports go: an address with the placeholders {title} and {text}; "": the text is copied
   * @param say says the note where a dialog has a status; otherwise the note is one
   */
  constructor(parent: HTMLElement, to: string, view: () => Reported, say?: (text: string) => void) {
    this.to = to;
    this.view = view;
    this.say = say;
    Object.assign(this.note, say ? { ariaHidden: "true" } : { role: "status" });
    parent.append(this.root);
  }

  async report() {
    const view = this.view();
    this.text.value = reportText(view);
    if (this.to) open(reportTo(this.to, view), this.to.startsWith("mailto:") ? "_self" : "_blank", "noopener");
    else if (await copyFrom(this.button, this.text)) {
      this.note.textContent = _("Copied. Paste it into a message to the people who run this page, and add what is wrong.");
      this.say?.(this.note.textContent);
    }
  }

  remove() {
    this.root.remove();
  }
}

export const reportText = ({ title, link }: Reported) => [_("What is wrong, and what did you expect?"), "", "", title, link].join("\n");

/** The address that opens the report. */
export function reportTo(to: string, view: Reported) {
  const values = { title: _("Error in normviz: {title}", { title: view.title }), text: reportText(view) };
  return to.replace(/\{(title|text)\}/g, (_all, name) => encodeURIComponent(name === "title" ? values.title : values.text));
}
