// Share in the app. The browser answers every choice; the server is not asked.

import { html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { ShareDialog } from "./dialog.ts";
import { appAddress, breakpointsOf, embedUrl, exportUrl, hideText, iframe, markdown, notebook, viewUrl, type Heights, type SharedView } from "./links.ts";
import { EmbedOptions, addTick } from "./options.ts";
import { FULL_WIDTH, Preview } from "./preview.ts";

const DEFAULT_HEIGHTS: Heights = [[FULL_WIDTH, 720]]; // px: used where none can be measured
const WITH_EXERCISES = ["questions", "practice"]; // pages
const TYPING_PAUSE = 350; // ms: the preview is loaded again after so long without a key

export class AppDialog extends ShareDialog {
  options: EmbedOptions;
  file: HTMLAnchorElement;
  note: HTMLElement;
  withGuess = false; // whether the link carries the sharer's answer
  heights: Heights | null | undefined = null; // measured; null: not yet; undefined: not possible
  data: SharePayload;
  own: { hide: string; caption: string };
  preview: Preview;
  later?: number;

  constructor(parent: HTMLElement, data: SharePayload, onClose: () => void) {
    super(parent, data.page, onClose);
    this.data = data;
    this.own = { hide: hideText(data.groups, new Set(data.hidden)), caption: data.caption }; // settings of the view itself
    this.addTexts(html("div", "nvs-left", this.body));
    const right = html("div", "nvs-right", this.body);
    this.addEmbedding(right);
    html("h3", "", right, _("Preview"));
    this.preview = new Preview(right, data.exercise, (heights) => this.setHeights(heights));
    this.write();
    this.updatePreview();
    this.show();
  }

  destroy() {
    clearTimeout(this.later);
    this.preview.destroy();
  }

  // What is copied and downloaded as it is.
  addTexts(parent: HTMLElement) {
    if (this.data.guess) {
      const box = addTick(parent, "checkbox", "guess", _("With your answer"));
      box.addEventListener("change", () => {
        this.withGuess = box.checked;
        this.optionsChanged();
      });
    }
    this.addField(parent, "link", _("Link"), 4);
    this.addField(parent, "markdown", "Markdown", 5);
    this.addField(parent, "notebook", _("Notebook cell"), 6);
    this.file = html("a", "nvs-button", null, _("HTML file"));
    this.file.setAttribute("download", "");
    this.addFiles(parent).children[0].after(this.file);
  }

  get shared(): SharedView {
    const { data } = this;
    return this.withGuess ? { ...data, query: [...data.query, ["guess", data.guess]] } : data;
  }

  // What a teacher chooses for a course page.
  addEmbedding(parent: HTMLElement) {
    html("h3", "", parent, _("Embed it in a web page, a course page, slides"));
    this.options = new EmbedOptions(parent, this.data, (name) => this.id(name), () => this.optionsChanged());
    if (!this.data.exercise && !WITH_EXERCISES.includes(this.data.page)) {
      const link = html("a", "", html("p", "nvs-exercises", parent), _("For an exercise, share a question"));
      link.href = `${appAddress(this.data.page)}questions`;
    }
    this.addField(parent, "iframe", "iframe", 5);
    this.note = html("p", "nvs-note", parent);
    this.addField(parent, "address", _("Only its address"), 3);
  }

  optionsChanged() {
    this.setHeights(null); // the heights of the previous choice are gone
    clearTimeout(this.later);
    this.later = setTimeout(() => this.updatePreview(), TYPING_PAUSE);
  }

  // The texts that follow from the choices.
  write() {
    const { data, own, shared } = this, { choices, hidden } = this.options, app = appAddress(data.page);
    const embedded = embedUrl(app, shared, { ...choices, hide: hideText(data.groups, hidden) }), link = viewUrl(app, shared, own);
    const texts = {
      link,
      iframe: iframe(embedded, data.title, choices.width || null, this.heights ?? DEFAULT_HEIGHTS, data.exercise),
      address: embedded,
      markdown: markdown(link, data.title),
      notebook: notebook(shared, own, data.hint),
    };
    for (const [name, text] of Object.entries(texts)) this.fields[name].text.value = text;
    this.file.href = exportUrl(app, data, own);
    this.options.update();
  }

  updatePreview() {
    const { width } = this.options.choices;
    this.preview.show(this.fields.address.text.value, width ? Number(width) : null);
  }

  setHeights(heights: Heights | null | undefined) {
    this.heights = heights;
    this.fields.iframe.copy.disabled = heights === null;
    this.note.textContent = heights === null ? _("Measuring the height …") : heights ? describeHeights(breakpointsOf(heights), this.data) : "";
    this.write();
  }
}

function describeHeights(breakpoints: Heights, { exercise, page }: SharePayload) {
  const [[, narrow]] = breakpoints, [, wide] = breakpoints[breakpoints.length - 1];
  if (exercise && page === "practice") return _("The frame grows with each exercise, its answer and the summary. Without scripts, they scroll in it.");
  if (exercise)
    return breakpoints.length < 2
      ? _("The frame grows with the answer. Without scripts, it has room for it: {height} px.", { height: narrow })
      : _("The frame grows with the answer. Without scripts, it has room for it: {narrow} px in a narrow column, {wide} px in a wide one.", { narrow, wide });
  return breakpoints.length < 2
    ? _("{height} px high: nothing in it scrolls.", { height: narrow })
    : _("{narrow} px high in a narrow column, {wide} px high in a wide one: nothing in it scrolls.", { narrow, wide });
}

/** A link from an embedded view, or one with hidden parts, to the same view in the full app. */
export class AppLink {
  root = html("div", "nvs-root");
  link = html("a", "nvs-open", this.root, _("Open the full app"));

  constructor(parent: HTMLElement) {
    parent.append(this.root);
    this.link.target = "_blank";
    this.link.rel = "noopener";
  }

  set(data: SharedView) {
    this.link.href = viewUrl(appAddress(data.page), data, {});
  }

  remove() {
    this.root.remove();
  }
}
