// A button that stands for the controls on a narrow screen: what they have chosen, and a click shows them. Wide screens hide it.

import { button, html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";

export class Fold {
  onChange: (isOpen: boolean) => void;
  root: HTMLButtonElement;
  summary: HTMLSpanElement;
  verb: HTMLSpanElement;

  constructor(parent: HTMLElement, onChange: (isOpen: boolean) => void = () => {}) {
    this.onChange = onChange;
    this.root = button("nv-fold", parent, "", () => this.show(!this.isOpen));
    this.summary = html("span", "nv-fold-summary", this.root);
    html("span", "", this.root, " ");
    this.verb = html("span", "nv-fold-verb", this.root);
    this.show(false);
  }

  get isOpen() {
    return this.root.getAttribute("aria-expanded") === "true";
  }

  set(summary: string) {
    if (this.summary.textContent !== summary) this.summary.textContent = summary;
  }

  show(isOpen: boolean) {
    this.root.setAttribute("aria-expanded", String(isOpen));
    this.verb.textContent = isOpen ? _("Close") : _("Change");
    this.onChange(isOpen);
  }
}
