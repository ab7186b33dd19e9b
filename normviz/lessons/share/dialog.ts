// The Share button, and the frame of its dialog: texts to copy, and pictures of the figures. The app and files use it.

import { copyFrom } from "../../figures/browser/common/clipboard.ts";
import { button, download, findAll, html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";

type MakeDialog<Data> = (parent: HTMLElement, data: Data, onClose: () => void) => ShareDialog;

let opened = 0;

export class ShareButton<Data> {
  data: Data;
  dialog: ShareDialog | null = null;
  root: HTMLElement;
  makeDialog: MakeDialog<Data>;
  button: HTMLButtonElement;

  constructor(root: HTMLElement, className: string, makeDialog: MakeDialog<Data>) {
    this.root = root;
    this.makeDialog = makeDialog;
    this.button = button(className, this.root, _("Share"), () => this.open());
    this.button.setAttribute("aria-haspopup", "dialog");
  }

  set(data: Data) {
    if (JSON.stringify(data) !== JSON.stringify(this.data)) this.close(); // the dialog shows a view that is gone
    this.data = data;
  }

  open() {
    this.dialog = this.makeDialog(this.root, this.data, () => {
      this.dialog = null;
      this.button.focus();
    });
  }

  close() {
    this.dialog?.root.close();
  }

  remove() {
    this.close();
    this.root.remove();
  }
}

export class ShareDialog {
  fields: Record<string, { text: HTMLTextAreaElement, copy: HTMLButtonElement }> = {};
  page: string;
  number: number;
  root: HTMLDialogElement;
  body: HTMLDivElement;
  status: HTMLDivElement;

  constructor(parent: HTMLElement, page: string, onClose: () => void) {
    this.page = page;
    this.number = opened++;
    this.root = html("dialog", "nvs-dialog", parent);
    this.root.setAttribute("aria-labelledby", this.id("title"));
    this.root.addEventListener("close", () => {
      this.destroy();
      this.root.remove();
      onClose();
    });
    this.root.addEventListener("click", (event) => event.target === this.root && this.root.close());
    this.root.addEventListener("keydown", (event) => event.stopPropagation()); // keeps the keys from the page's shortcuts
    const head = html("header", "nvs-head", this.root);
    html("h2", "", head, _("Share this view")).id = this.id("title");
    button("nvs-button nvs-close", head, _("Close"), () => this.root.close());
    this.body = html("div", "nvs-body", this.root);
    this.status = html("div", "nvs-voice", this.root, "", { role: "status" });
  }

  show() {
    this.root.showModal();
    this.fields.link.copy.focus();
  }

  destroy() {}

  id(name: string) {
    return `nvs-${this.number}-${name}`;
  }

  say(text: string) {
    this.status.textContent = text;
  }

  addField(parent: HTMLElement, name: string, label: string, rows: number) {
    const box = html("div", "nvs-field", parent), caption = html("label", "nvs-label", box, label), text = html("textarea", "nvs-text", box);
    const copy = button("nvs-button nvs-copy", box, _("Copy"), async () => {
      this.say((await copyFrom(copy, text)) ? _("Copied: {label}", { label }) : _("The text is selected; copy it with Ctrl+C."));
    });
    text.id = caption.htmlFor = this.id(name);
    text.readOnly = true;
    text.rows = rows;
    text.spellcheck = false;
    text.addEventListener("focus", () => text.select());
    copy.setAttribute("aria-label", _("Copy: {label}", { label }));
    this.fields[name] = { text, copy };
  }

  /** @returns the row of buttons */
  addFiles(parent: HTMLElement): HTMLElement {
    const files = html("div", "nvs-files", parent);
    html("span", "nvs-label", files, _("Files"));
    if (this.pictureSources.length) for (const kind of ["png", "svg"]) button("nvs-button", files, kind.toUpperCase(), () => this.saveImages(kind));
    return files;
  }

  get pictureSources() {
    return (findAll(document, ".nv-view") as FigureElement[]).filter(({ nvImage }) => typeof nvImage === "function");
  }

  async saveImages(kind: string) {
    const format = kind.toUpperCase();
    try {
      for (const [number, view] of this.pictureSources.entries()) {
        const blob = await view.nvImage?.(kind), name = `normviz-${this.page}${number ? `-${number + 1}` : ""}.${kind}`;
        if (blob) download(blob, view.nvImageName?.(kind) ?? name);
      }
      this.say(_("{format} saved", { format }));
    } catch (error) {
      this.say(_("The image could not be made: {reason}", { reason: error instanceof Error ? error.message : String(error) }));
      console.error(error);
    }
  }
}
