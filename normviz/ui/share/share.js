// The Share button and its panel. Every choice is answered here; the server is not asked.

const THEMES = [["", "Follow the reader"], ["light", "Light"], ["dark", "Dark"]];
const WIDTHS = [["", "Full width"], ["320", "Narrow, 320 px"]];
const USUAL = [[FULL, 720]]; // px, where none can be measured
const PAUSE = 350; // ms, after a key, before the preview is loaded anew
const shares = new WeakMap();
let made = 0;

function make(tag, className, parent, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  if (parent) parent.appendChild(element);
  return element;
}

function button(className, parent, text, act) {
  const element = make("button", className, parent, text);
  element.type = "button";
  element.addEventListener("click", act);
  return element;
}

class Share {
  constructor(root) {
    this.root = root;
    this.number = made++;
    this.opener = button("nvs-button nvs-opener", root, "Share", () => this.open());
    this.opener.setAttribute("aria-haspopup", "dialog");
  }

  set(data) {
    const another = JSON.stringify(data) !== JSON.stringify(this.data);
    this.data = data;
    if (another && this.dialog?.open) this.close(); // it shows a view that is gone
  }

  get app() {
    return location.origin + rootOf(location.pathname, this.data.page);
  }

  open() {
    this.dialog?.remove();
    this.choices = { theme: "", width: "", caption: this.data.caption };
    this.own = { hide: hideText(this.data.groups, new Set(this.data.hidden)), caption: this.data.caption }; // of the view itself
    this.hidden = new Set(this.data.hidden.length ? this.data.hidden : this.data.short);
    this.heights = null;
    this.dialog = make("dialog", "nvs-dialog", this.root);
    this.dialog.setAttribute("aria-labelledby", this.id("title"));
    this.dialog.addEventListener("close", () => this.closed());
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.close());
    this.dialog.addEventListener("keydown", (event) => event.stopPropagation()); // the app's own keys are not meant
    const head = make("header", "nvs-head", this.dialog);
    make("h2", "", head, "Share this view").id = this.id("title");
    button("nvs-button nvs-close", head, "Close", () => this.close());
    const body = make("div", "nvs-body", this.dialog);
    this.fields = {};
    this.asItIs(make("div", "nvs-left", body));
    const right = make("div", "nvs-right", body);
    this.embedded(right);
    make("h3", "", right, "Preview");
    this.preview = new Preview(right, (heights) => this.measured(heights));
    this.voice = make("div", "nvs-voice", this.dialog);
    this.voice.setAttribute("role", "status");
    this.write();
    this.look();
    this.dialog.showModal();
    this.fields.link.copy.focus();
  }

  close() {
    this.dialog.close();
  }

  closed() {
    clearTimeout(this.later);
    this.preview.destroy();
    this.dialog.remove();
    this.dialog = null;
    this.opener.focus();
  }

  id(name) {
    return `nvs-${this.number}-${name}`;
  }

  // What is copied and downloaded

  asItIs(parent) {
    this.field(parent, "link", "Link", 4);
    this.field(parent, "markdown", "Markdown", 5);
    this.field(parent, "notebook", "Notebook cell", 6);
    const files = make("div", "nvs-files", parent);
    make("span", "nvs-label", files, "Files");
    this.file = make("a", "nvs-button", files, "HTML file");
    this.file.setAttribute("download", "");
    const drawn = this.drawn();
    for (const kind of ["png", "svg"]) if (drawn.length) button("nvs-button", files, kind.toUpperCase(), () => this.images(kind));
  }

  field(parent, name, label, rows) {
    const box = make("div", "nvs-field", parent), text = make("textarea", "nvs-text", box), caption = make("label", "nvs-label");
    const copy = button("nvs-button nvs-copy", box, "Copy", () => this.copied(name));
    box.prepend(caption);
    caption.textContent = label;
    text.id = caption.htmlFor = this.id(name);
    text.readOnly = true;
    text.rows = rows;
    text.spellcheck = false;
    text.addEventListener("focus", () => text.select());
    copy.setAttribute("aria-label", `Copy: ${label}`);
    this.fields[name] = { text, copy, label };
  }

  drawn() {
    return [...document.querySelectorAll(".nv-view")].filter((view) => typeof view.nvImage === "function");
  }

  async images(kind) {
    try {
      for (const [number, view] of this.drawn().entries()) {
        const link = make("a"), blob = await view.nvImage(kind), usual = `normviz-${this.data.page}${number ? `-${number + 1}` : ""}.${kind}`;
        link.href = URL.createObjectURL(blob);
        link.download = view.nvImageName?.(kind) ?? usual;
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      }
      this.say(`${kind.toUpperCase()} saved`);
    } catch (error) {
      this.say(`The image could not be made: ${error.message}`);
      console.error(error);
    }
  }

  async copied(name) {
    const { text, copy, label } = this.fields[name];
    const done = await copyText(text);
    copy.textContent = done ? "Copied" : "Press Ctrl+C";
    this.say(done ? `Copied: ${label}` : "The text is selected; copy it with Ctrl+C.");
    clearTimeout(copy.later);
    copy.later = setTimeout(() => (copy.textContent = "Copy"), 2000);
  }

  say(text) {
    this.voice.textContent = text;
  }

  // What a teacher chooses

  embedded(parent) {
    make("h3", "", parent, "Embed it in a web page, a course page, slides");
    this.options(parent);
    this.field(parent, "iframe", "iframe", 5);
    this.note = make("p", "nvs-note", parent);
    this.field(parent, "address", "Its address alone", 3);
  }

  options(parent) {
    const presets = make("div", "nvs-presets", parent);
    this.presets = [
      ["In short", ({ name }) => this.data.short.includes(name)],
      ["Figure alone", ({ figure }) => !figure],
      ["Without controls", (one, group) => group === this.data.groups[0]],
      ["Everything", () => false],
    ].map(([label, hides]) => {
      const wanted = new Set(this.data.groups.flatMap((group) => group.names.filter((one) => hides(one, group)).map(({ name }) => name)));
      return { wanted, button: button("nvs-button", presets, label, () => this.choose({}, wanted)) };
    });
    const single = make("details", "nvs-single", parent);
    make("summary", "", single, "One by one");
    this.boxes = this.data.groups.filter(({ names }) => names.length).flatMap((group) => this.boxesOf(group, single));
    const line = make("div", "nvs-field", parent), label = make("label", "nvs-label", line, "Caption under the figure");
    const caption = make("input", "nvs-text", line);
    label.htmlFor = caption.id = this.id("caption");
    caption.maxLength = 300;
    caption.value = this.choices.caption;
    caption.addEventListener("input", () => this.choose({ caption: caption.value.trim().replace(/\s+/g, " ") }));
    const pair = make("div", "nvs-pair", parent);
    this.radios(pair, "theme", "Theme", THEMES);
    this.radios(pair, "width", "Width", WIDTHS);
  }

  boxesOf(group, parent) {
    const set = make("fieldset", "nvs-set", parent);
    make("legend", "nvs-label", set, group.title);
    return group.names.map(({ name, label }) => {
      const line = make("label", "nvs-tick", set), box = make("input", "", line);
      box.type = "checkbox";
      box.name = name;
      line.append(label);
      box.addEventListener("change", () => {
        const hidden = new Set(this.hidden);
        if (box.checked) hidden.delete(name);
        else hidden.add(name);
        this.choose({}, hidden);
      });
      return box;
    });
  }

  radios(parent, name, title, options) {
    const set = make("fieldset", "nvs-set", parent);
    make("legend", "nvs-label", set, title);
    for (const [value, label] of options) {
      const line = make("label", "nvs-tick", set), radio = make("input", "", line);
      radio.type = "radio";
      radio.name = this.id(name);
      radio.value = value;
      radio.checked = this.choices[name] === value;
      line.append(label);
      radio.addEventListener("change", () => this.choose({ [name]: value }));
    }
  }

  choose(choices, hidden = this.hidden) {
    Object.assign(this.choices, choices);
    this.hidden = hidden;
    this.measured(null); // of what it was
    clearTimeout(this.later);
    this.later = setTimeout(() => this.look(), PAUSE);
  }

  // What follows from it

  write() {
    const { data, app, own } = this, choices = { ...this.choices, hide: hideText(data.groups, this.hidden) };
    const embedded = embedUrl(app, data, choices);
    const texts = {
      link: viewUrl(app, data, own),
      iframe: iframe(embedded, data.title, choices.width || null, this.heights ?? USUAL),
      address: embedded,
      markdown: markdown(viewUrl(app, data, own), data.title),
      notebook: notebook(data, own, data.hint),
    };
    for (const [name, text] of Object.entries(texts)) this.fields[name].text.value = text;
    this.file.href = exportUrl(app, data, own);
    for (const box of this.boxes) box.checked = !this.hidden.has(box.name);
    for (const { wanted, button: preset } of this.presets)
      preset.setAttribute("aria-pressed", String(wanted.size === this.hidden.size && [...wanted].every((name) => this.hidden.has(name))));
  }

  look() {
    this.preview.show(this.fields.address.text.value, this.choices.width ? Number(this.choices.width) : null);
  }

  // null: not yet; undefined: it cannot be.
  measured(heights) {
    this.heights = heights;
    this.fields.iframe.copy.disabled = heights === null;
    this.note.textContent = heights === null ? "Measuring the height …" : heights ? `${this.spoken(stepsOf(heights))}: nothing in it scrolls.` : "";
    this.write();
  }

  spoken(steps) {
    const [first, last] = [steps[0][1], steps.at(-1)[1]].map((height) => `${height} px high`);
    return steps.length < 2 ? first : `${first} in a narrow column, ${last} in a wide one`;
  }
}

// Over plain http, and in a frame that may not use the clipboard, the older way.
async function copyText(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand("copy");
  }
}

class Open {
  constructor(root) {
    this.link = make("a", "nvs-open", root, "Open the full app");
    this.link.target = "_blank";
    this.link.rel = "noopener";
  }

  set(data) {
    this.link.href = viewUrl(location.origin + rootOf(location.pathname, data.page), data, {});
  }
}

export default function ({ parentElement, data }) {
  const root = parentElement.querySelector(".nvs-root");
  if (!shares.has(root)) shares.set(root, data.kind === "open" ? new Open(root) : new Share(root));
  shares.get(root).set(data);
  return () => {
    shares.get(root)?.dialog?.close();
    shares.delete(root);
    root.replaceChildren();
  };
}
