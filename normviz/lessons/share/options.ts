// What a teacher chooses for an embedded view: its parts, a caption, a theme and a width.

import { button, html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";

type EmbedChoices = { theme: string; width: string; caption: string };

const LONGEST_CAPTION = 300;

export class EmbedOptions {
  id: (name: string) => string;
  onChange: () => void;
  choices: EmbedChoices;
  hidden: Set<string>;
  presets: { hidden: Set<string>; button: HTMLButtonElement }[];
  boxes: HTMLInputElement[];

  /** ``id``: makes ids of elements */
  constructor(parent: HTMLElement, data: { groups: Group[], presets: Preset[], hidden: string[], caption: string }, id: (name: string) => string, onChange: () => void) {
    this.id = id;
    this.onChange = onChange;
    this.choices = { theme: "", width: "", caption: data.caption };
    this.hidden = new Set(data.hidden.length ? data.hidden : data.presets[0].hidden);
    const presets = html("div", "nvs-presets", parent);
    presets.hidden = data.presets.length < 2;
    this.presets = data.presets.map(({ label, hidden: names }) => {
      const hidden = new Set(names);
      return { hidden, button: button("nvs-button", presets, label, () => this.choose({}, hidden)) };
    });
    const single = html("details", "nvs-single", parent);
    html("summary", "", single, _("Choose the parts"));
    this.boxes = data.groups.filter(({ names }) => names.length).flatMap((group) => this.addGroup(single, group));
    this.addCaption(html("div", "nvs-field", parent));
    const pair = html("div", "nvs-pair", parent);
    this.addRadios(pair, "theme", _("Theme"), [["", _("Follow the reader")], ["light", _("Light")], ["dark", _("Dark")]]);
    this.addRadios(pair, "width", _("Width"), [["", _("Full width")], ["320", _("Narrow, 320 px")]]);
  }

  choose(choices: Partial<EmbedChoices>, hidden: Set<string> = this.hidden) {
    Object.assign(this.choices, choices);
    this.hidden = hidden;
    this.onChange();
  }

  /** A tick for each part of the group. */
  addGroup(parent: HTMLElement, group: Group) {
    const set = addSet(parent, group.title);
    return group.names.map(({ name, label }) => {
      const box = addTick(set, "checkbox", name, label);
      box.addEventListener("change", () => {
        const hidden = new Set(this.hidden);
        if (box.checked) hidden.delete(name);
        else hidden.add(name);
        this.choose({}, hidden);
      });
      return box;
    });
  }

  addCaption(parent: HTMLElement) {
    const label = html("label", "nvs-label", parent, _("Caption under the figure")), field = html("input", "nvs-text", parent);
    label.htmlFor = field.id = this.id("caption");
    field.maxLength = LONGEST_CAPTION;
    field.value = this.choices.caption;
    field.addEventListener("input", () => this.choose({ caption: field.value.trim().replace(/\s+/g, " ") }));
  }

  addRadios(parent: HTMLElement, name: "theme" | "width", title: string, options: [string, string][]) {
    const set = addSet(parent, title);
    for (const [value, label] of options) {
      const radio = addTick(set, "radio", this.id(name), label);
      radio.value = value;
      radio.checked = this.choices[name] === value;
      radio.addEventListener("change", () => this.choose({ [name]: value }));
    }
  }

  // Ticks and presets show what is hidden.
  update() {
    for (const box of this.boxes) box.checked = !this.hidden.has(box.name);
    for (const { hidden, button: preset } of this.presets)
      preset.setAttribute("aria-pressed", String(hidden.size === this.hidden.size && [...hidden].every((name) => this.hidden.has(name))));
  }
}

function addSet(parent: HTMLElement, title: string) {
  const set = html("fieldset", "nvs-set", parent);
  html("legend", "nvs-label", set, title);
  return set;
}

export function addTick(parent: HTMLElement, type: string, name: string, label: string) {
  const line = html("label", "nvs-tick", parent), input = html("input", "", line);
  input.type = type;
  input.name = name;
  line.append(label);
  return input;
}
