// What a teacher chooses for an embedded view: its parts, a caption, a theme and a width.

/** @import { Group } from "./links.js" */

import { button, html } from "../../figures/browser/common/dom.js";
import { _ } from "../../figures/browser/common/messages.js";

/** @typedef {{ label: string, hidden: string[] }} Preset a ready-made choice, and the names of what it hides */
/** @typedef {{ theme: string, width: string, caption: string }} EmbedChoices */

const LONGEST_CAPTION = 300;

export class EmbedOptions {
  /**
   * @param {HTMLElement} parent
   * @param {{ groups: Group[], presets: Preset[], hidden: string[], caption: string }} data
   * @param {(name: string) => string} id makes ids of elements
   * @param {() => void} onChange
   */
  constructor(parent, data, id, onChange) {
    this.id = id;
    this.onChange = onChange;
    /** @type {EmbedChoices} */
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

  /**
   * @param {Partial<EmbedChoices>} choices
   * @param {Set<string>} [hidden]
   */
  choose(choices, hidden = this.hidden) {
    Object.assign(this.choices, choices);
    this.hidden = hidden;
    this.onChange();
  }

  /**
   * A tick for each part of the group.
   * @param {HTMLElement} parent
   * @param {Group} group
   */
  addGroup(parent, group) {
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

  /** @param {HTMLElement} parent */
  addCaption(parent) {
    const label = html("label", "nvs-label", parent, _("Caption under the figure")), field = html("input", "nvs-text", parent);
    label.htmlFor = field.id = this.id("caption");
    field.maxLength = LONGEST_CAPTION;
    field.value = this.choices.caption;
    field.addEventListener("input", () => this.choose({ caption: field.value.trim().replace(/\s+/g, " ") }));
  }

  /**
   * @param {HTMLElement} parent
   * @param {"theme" | "width"} name
   * @param {string} title
   * @param {[string, string][]} options
   */
  addRadios(parent, name, title, options) {
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

/**
 * @param {HTMLElement} parent
 * @param {string} title
 */
function addSet(parent, title) {
  const set = html("fieldset", "nvs-set", parent);
  html("legend", "nvs-label", set, title);
  return set;
}

/**
 * @param {HTMLElement} parent
 * @param {string} type
 * @param {string} name
 * @param {string} label
 */
export function addTick(parent, type, name, label) {
  const line = html("label", "nvs-tick", parent), input = html("input", "", line);
  input.type = type;
  input.name = name;
  line.append(label);
  return input;
}
