// The Share button and its dialog. The browser answers every choice; the server is not asked.

import { copyFrom } from "../../../figures/browser/page/clipboard.js";
import { button, download, findAll, html } from "../../../figures/browser/page/dom.js";
import { _ } from "../../../figures/browser/page/messages.js";
import { appAddress, embedUrl, exportUrl, hideText, iframe, markdown, notebook, stepsOf, viewUrl } from "./links.js";
import { EmbedOptions } from "./options.js";
import { FULL_WIDTH, Preview } from "./preview.js";

/** @import { Group, Heights, SharedView } from "./links.js" */
/** @typedef {SharedView & { groups: Group[], short: string[], hidden: string[], caption: string, hint: string }} ShareData */

/** @type {Heights} */
const DEFAULT_HEIGHTS = [[FULL_WIDTH, 720]]; // px, where none can be measured
const TYPING_PAUSE = 350; // ms after a key, before the preview is loaded again
let opened = 0;

export class ShareButton {
  /** @type {ShareData} */
  data;
  /** @type {ShareDialog | null} */
  dialog = null;

  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.root = html("div", "nvs-root nvs-corner", parent);
    this.button = button("nvs-button nvs-opener", this.root, _("Share"), () => this.open());
    this.button.setAttribute("aria-haspopup", "dialog");
  }

  /** @param {ShareData} data */
  set(data) {
    if (JSON.stringify(data) !== JSON.stringify(this.data)) this.close(); // the dialog shows a view that is gone
    this.data = data;
  }

  open() {
    this.dialog = new ShareDialog(this.root, this.data, () => {
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

class ShareDialog {
  /** @type {Record<string, { text: HTMLTextAreaElement, copy: HTMLButtonElement }>} */
  fields = {};
  /** @type {EmbedOptions} */
  options;
  /** @type {HTMLAnchorElement} */
  file;
  /** @type {HTMLElement} */
  note;
  /** @type {Heights | null | undefined} Measured; null: not yet; undefined: not possible. */
  heights = null;

  /**
   * @param {HTMLElement} parent
   * @param {ShareData} data
   * @param {() => void} onClose
   */
  constructor(parent, data, onClose) {
    this.data = data;
    this.number = opened++;
    this.own = { hide: hideText(data.groups, new Set(data.hidden)), caption: data.caption }; // of the view itself
    this.root = html("dialog", "nvs-dialog", parent);
    this.root.setAttribute("aria-labelledby", this.id("title"));
    this.root.addEventListener("close", () => this.destroy(onClose));
    this.root.addEventListener("click", (event) => event.target === this.root && this.root.close());
    this.root.addEventListener("keydown", (event) => event.stopPropagation()); // keeps the keys from Streamlit's shortcuts
    const head = html("header", "nvs-head", this.root), body = html("div", "nvs-body", this.root);
    html("h2", "", head, _("Share this view")).id = this.id("title");
    button("nvs-button nvs-close", head, _("Close"), () => this.root.close());
    this.addTexts(html("div", "nvs-left", body));
    const right = html("div", "nvs-right", body);
    this.addEmbedding(right);
    html("h3", "", right, _("Preview"));
    this.preview = new Preview(right, (heights) => this.setHeights(heights));
    this.status = html("div", "nvs-voice", this.root);
    this.status.setAttribute("role", "status");
    this.write();
    this.updatePreview();
    this.root.showModal();
    this.fields.link.copy.focus();
  }

  /** @param {() => void} onClose */
  destroy(onClose) {
    clearTimeout(this.later);
    this.preview.destroy();
    this.root.remove();
    onClose();
  }

  /** @param {string} name */
  id(name) {
    return `nvs-${this.number}-${name}`;
  }

  /** @param {string} text */
  say(text) {
    this.status.textContent = text;
  }

  // What is copied and downloaded as it is.
  /** @param {HTMLElement} parent */
  addTexts(parent) {
    this.addField(parent, "link", _("Link"), 4);
    this.addField(parent, "markdown", "Markdown", 5);
    this.addField(parent, "notebook", _("Notebook cell"), 6);
    const files = html("div", "nvs-files", parent);
    html("span", "nvs-label", files, _("Files"));
    this.file = html("a", "nvs-button", files, _("HTML file"));
    this.file.setAttribute("download", "");
    if (pictureSources().length) for (const kind of ["png", "svg"]) button("nvs-button", files, kind.toUpperCase(), () => this.saveImages(kind));
  }

  /**
   * @param {HTMLElement} parent
   * @param {string} name
   * @param {string} label
   * @param {number} rows
   */
  addField(parent, name, label, rows) {
    const box = html("div", "nvs-field", parent), caption = html("label", "nvs-label", box, label), text = html("textarea", "nvs-text", box);
    const copy = html("button", "nvs-button nvs-copy", box, _("Copy"));
    copy.type = "button";
    text.id = caption.htmlFor = this.id(name);
    text.readOnly = true;
    text.rows = rows;
    text.spellcheck = false;
    text.addEventListener("focus", () => text.select());
    copy.setAttribute("aria-label", _("Copy: {label}", { label }));
    copy.addEventListener("click", async () =>
      this.say((await copyFrom(copy, text)) ? _("Copied: {label}", { label }) : _("The text is selected; copy it with Ctrl+C.")));
    this.fields[name] = { text, copy };
  }

  /** @param {string} kind */
  async saveImages(kind) {
    const format = kind.toUpperCase();
    try {
      for (const [number, view] of pictureSources().entries()) {
        const blob = await view.nvImage?.(kind), name = `normviz-${this.data.page}${number ? `-${number + 1}` : ""}.${kind}`;
        if (blob) download(blob, view.nvImageName?.(kind) ?? name);
      }
      this.say(_("{format} saved", { format }));
    } catch (error) {
      this.say(_("The image could not be made: {reason}", { reason: error instanceof Error ? error.message : String(error) }));
      console.error(error);
    }
  }

  // What a teacher chooses for a course page.
  /** @param {HTMLElement} parent */
  addEmbedding(parent) {
    html("h3", "", parent, _("Embed it in a web page, a course page, slides"));
    this.options = new EmbedOptions(parent, this.data, (name) => this.id(name), () => this.optionsChanged());
    this.addField(parent, "iframe", "iframe", 5);
    this.note = html("p", "nvs-note", parent);
    this.addField(parent, "address", _("Only its address"), 3);
  }

  optionsChanged() {
    this.setHeights(null); // those of the previous choice
    clearTimeout(this.later);
    this.later = setTimeout(() => this.updatePreview(), TYPING_PAUSE);
  }

  // The texts that follow from the choices.
  write() {
    const { data, own } = this, { choices, hidden } = this.options, app = appAddress(data.page);
    const embedded = embedUrl(app, data, { ...choices, hide: hideText(data.groups, hidden) }), link = viewUrl(app, data, own);
    const texts = {
      link,
      iframe: iframe(embedded, data.title, choices.width || null, this.heights ?? DEFAULT_HEIGHTS),
      address: embedded,
      markdown: markdown(link, data.title),
      notebook: notebook(data, own, data.hint),
    };
    for (const [name, text] of Object.entries(texts)) this.fields[name].text.value = text;
    this.file.href = exportUrl(app, data, own);
    this.options.update();
  }

  updatePreview() {
    const { width } = this.options.choices;
    this.preview.show(this.fields.address.text.value, width ? Number(width) : null);
  }

  /** @param {Heights | null | undefined} heights */
  setHeights(heights) {
    this.heights = heights;
    this.fields.iframe.copy.disabled = heights === null;
    this.note.textContent = heights === null ? _("Measuring the height …") : heights ? describeHeights(stepsOf(heights)) : "";
    this.write();
  }
}

/** @returns {FigureElement[]} */
const pictureSources = () => /** @type {FigureElement[]} */ (findAll(document, ".nv-view")).filter(({ nvImage }) => typeof nvImage === "function");

/** @param {Heights} steps */
function describeHeights(steps) {
  const [[, first]] = steps, [, last] = steps[steps.length - 1];
  return steps.length < 2
    ? _("{height} px high: nothing in it scrolls.", { height: first })
    : _("{narrow} px high in a narrow column, {wide} px high in a wide one: nothing in it scrolls.", { narrow: first, wide: last });
}

/** A link from an embedded view, or one with hidden parts, to the same view in the full app. */
export class AppLink {
  /** @param {HTMLElement} parent */
  constructor(parent) {
    this.root = html("div", "nvs-root", parent);
    this.link = html("a", "nvs-open", this.root, _("Open the full app"));
    this.link.target = "_blank";
    this.link.rel = "noopener";
  }

  /** @param {SharedView} data */
  set(data) {
    this.link.href = viewUrl(appAddress(data.page), data, {});
  }

  remove() {
    this.root.remove();
  }
}
