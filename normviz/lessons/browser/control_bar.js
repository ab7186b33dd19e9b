// The controls above a page, as native inputs: for files and notebooks. In the app they are Streamlit's.

import { button, find, html, uniqueNumber } from "../../figures/browser/page/dom.js";
import { _ } from "../../figures/browser/page/messages.js";

/** @typedef {(key: string, value: unknown) => void} OnInput ``value``: the number of an option, or what was entered */

export class ControlBar {
  /** @type {string} The rows that are drawn. */
  drawn = "";
  /** @type {Record<string, HTMLElement>} The focusable element of each input, by key. */
  inputs = {};

  /**
   * @param {HTMLElement} parent
   * @param {OnInput} onInput
   * @param {() => void} onReset
   */
  constructor(parent, onInput, onReset) {
    this.onInput = onInput;
    this.onReset = onReset;
    this.root = html("div", "nv-controls");
    this.root.setAttribute("role", "group");
    this.root.setAttribute("aria-label", _("Controls"));
    this.tools = html("div", "nv-control-tools"); // at the end of the first row
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.closeMore());
    parent.ownerDocument.addEventListener("pointerdown", (event) => {
      const more = this.more;
      if (more && !event.composedPath().includes(more)) more.open = false;
    });
    this.attach(parent);
  }

  /**
   * Puts the controls above the page in ``parent``.
   * @param {HTMLElement} parent
   */
  attach(parent) {
    parent.insertBefore(this.root, parent.querySelector(":scope > .nv-page"));
  }

  /** The open menu "More". */
  get more() {
    return /** @type {HTMLDetailsElement | null} */ (this.root.querySelector("details[open]"));
  }

  closeMore() {
    const more = this.more;
    if (!more) return;
    more.open = false;
    find(more, "summary").focus();
  }

  /**
   * Draws the rows. The input with the focus keeps it.
   * @param {ControlRow[]} rows
   */
  set(rows) {
    const text = JSON.stringify(rows);
    if (text === this.drawn) return;
    const focused = Object.keys(this.inputs).find((key) => this.inputs[key].contains(this.root.ownerDocument.activeElement));
    const isOpen = Boolean(this.more);
    this.drawn = text;
    this.inputs = {};
    this.root.replaceChildren();
    for (const row of rows) this.addRow(row, isOpen);
    (this.root.firstElementChild ?? this.root).append(this.tools);
    if (focused && this.inputs[focused]) this.focus(this.inputs[focused]);
  }

  /**
   * Draws the rows again although they are the same: an input shows a value that was refused.
   * @param {ControlRow[]} rows
   */
  redraw(rows) {
    this.drawn = "";
    this.set(rows);
  }

  /** @param {HTMLElement} input */
  focus(input) {
    const target = /** @type {HTMLElement} */ (input.querySelector("input:checked") ?? input);
    target.focus({ preventScroll: true });
  }

  /**
   * @param {ControlRow} row
   * @param {boolean} isOpen
   */
  addRow(row, isOpen) {
    const line = html("div", "nv-control-row", this.root);
    for (const input of row.inputs) this.addInput(line, input);
    if (row.more.length) this.addMore(line, row.more, isOpen);
    if (!row.reset) return;
    const reset = button("nv-control-button", line, "↺", this.onReset);
    reset.title = _("Back to the start");
    reset.setAttribute("aria-label", _("Back to the start"));
  }

  /**
   * Columns of inputs that open like a menu.
   * @param {HTMLElement} parent
   * @param {ControlInput[][]} columns
   * @param {boolean} isOpen
   */
  addMore(parent, columns, isOpen) {
    const more = html("details", "nv-control-more", parent);
    more.open = isOpen;
    html("summary", "nv-control-button", more, _("More"));
    const menu = html("div", "nv-control-menu", more);
    for (const column of columns) {
      const box = html("div", "nv-control-column", menu);
      for (const input of column) this.addInput(box, input);
    }
  }

  /**
   * @param {HTMLElement} parent
   * @param {ControlInput} input
   */
  addInput(parent, input) {
    const box = html("div", `nv-control nv-control-${input.kind}`, parent), name = `nv-input-${uniqueNumber()}`;
    const label = html(input.kind === "segments" ? "span" : "label", "nv-control-label", box, input.label);
    label.id = `${name}-label`;
    box.dataset.key = input.key;
    if (label instanceof HTMLLabelElement) label.htmlFor = name;
    if (input.help) label.title = input.help;
    const texts = () => input.together?.map((key) => /** @type {HTMLInputElement} */ (this.inputs[key]).value);
    this.inputs[input.key] = KINDS[input.kind](box, input, name, (value) => this.onInput(input.key, texts() ?? value));
  }
}

/** @typedef {(parent: HTMLElement, input: ControlInput, name: string, enter: (value: unknown) => void) => HTMLElement} Draw */

/**
 * @param {HTMLElement} parent
 * @param {string} type
 * @param {string} name
 * @param {ControlInput} input
 */
function addEntry(parent, type, name, input) {
  const field = html("input", "nv-control-field", parent);
  field.type = type;
  field.id = name;
  field.disabled = Boolean(input.disabled);
  if (type !== "checkbox") field.value = String(input.value);
  return field;
}

/**
 * Calls ``enter`` once for a value, at Enter too: a browser sends "change" only when the field loses the focus.
 * @param {HTMLInputElement} field
 * @param {() => void} enter
 */
function whenEntered(field, enter) {
  let known = field.value;
  const look = () => {
    if (field.value === known) return;
    known = field.value;
    enter();
  };
  field.addEventListener("change", look);
  field.addEventListener("keydown", (event) => event.key === "Enter" && look());
}

/** @type {Draw} */
function addNumber(parent, input, name, enter) {
  const field = addEntry(parent, "number", name, input);
  field.min = String(input.low);
  field.max = String(input.high);
  whenEntered(field, () => enter(Number(field.value)));
  return field;
}

/** @type {Draw} */
function addTextEntry(parent, input, name, enter) {
  const field = addEntry(parent, "text", name, input);
  field.maxLength = input.most ?? 200;
  field.placeholder = input.placeholder ?? "";
  whenEntered(field, () => enter(field.value));
  return field;
}

/** @type {Draw} */
function addChoice(parent, input, name, enter) {
  const select = html("select", "nv-control-field", parent);
  select.id = name;
  select.disabled = Boolean(input.disabled);
  (input.options ?? []).forEach((label, number) => {
    const option = html("option", "", select, label);
    option.value = String(number);
    option.selected = number === input.value;
  });
  select.addEventListener("change", () => enter(Number(select.value)));
  return select;
}

/** @type {Draw} */
function addSegments(parent, input, name, enter) {
  const group = html("div", "nv-segments", parent);
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-labelledby", `${name}-label`);
  (input.options ?? []).forEach((label, number) => {
    const segment = html("label", "nv-segment", group), radio = html("input", "", segment);
    radio.type = "radio";
    radio.name = name;
    radio.checked = number === input.value;
    radio.disabled = Boolean(input.disabled);
    html("span", "", segment, label);
    radio.addEventListener("change", () => enter(number));
  });
  return group;
}

/** @type {Draw} */
function addSlider(parent, input, name, enter) {
  const field = addEntry(parent, "range", name, input), shown = html("output", "nv-control-value", parent);
  field.min = String(input.low);
  field.max = String(input.high);
  field.step = String(input.step ?? 1);
  field.value = String(input.value);
  const write = () => (shown.textContent = input.labels?.length ? input.labels[(Number(field.value) - Number(input.low)) / (input.step ?? 1)] : field.value);
  field.addEventListener("input", write);
  field.addEventListener("change", () => enter(Number(field.value)));
  write();
  return field;
}

/** @type {Draw} */
function addToggle(parent, input, name, enter) {
  const field = addEntry(parent, "checkbox", name, input);
  field.setAttribute("role", "switch");
  field.checked = Boolean(input.value);
  field.addEventListener("change", () => enter(field.checked));
  return field;
}

/**
 * Up to ``most`` texts, each with a button that removes it; a new one is chosen or typed.
 * @type {Draw}
 */
function addSeveral(parent, input, name, enter) {
  const chosen = /** @type {string[]} */ (input.value), box = html("div", "nv-several", parent);
  for (const text of chosen) {
    const chip = button("nv-several-chip", box, `${text} ×`, () => enter(chosen.filter((other) => other !== text)));
    chip.setAttribute("aria-label", _("Remove {layer}", { layer: text }));
    chip.disabled = chosen.length < 3;
  }
  const others = (input.options ?? []).filter((option) => !chosen.includes(option)), label = _("Add a layer");
  const field = input.closed ? addOthers(box, label, others) : addOther(box, label, others, name);
  field.id = name;
  field.hidden = chosen.length >= (input.most ?? 6);
  field.addEventListener("change", () => field.value.trim() && enter([...chosen, field.value.trim()]));
  return field;
}

/**
 * @param {HTMLElement} parent
 * @param {string} label
 * @param {string[]} options
 */
function addOthers(parent, label, options) {
  const select = html("select", "nv-control-field", parent);
  html("option", "", select, label).value = "";
  for (const text of options) html("option", "", select, text).value = text;
  return select;
}

/**
 * @param {HTMLElement} parent
 * @param {string} label
 * @param {string[]} options
 * @param {string} name
 */
function addOther(parent, label, options, name) {
  const field = html("input", "nv-control-field", parent), list = html("datalist", "", parent);
  field.placeholder = label;
  list.id = `${name}-list`;
  field.setAttribute("list", list.id);
  for (const text of options) html("option", "", list).value = text;
  return field;
}

/** @type {Record<string, Draw>} */
const KINDS = {
  number: addNumber,
  textfield: addTextEntry,
  choice: addChoice,
  segments: addSegments,
  slider: addSlider,
  toggle: addToggle,
  several: addSeveral,
};
