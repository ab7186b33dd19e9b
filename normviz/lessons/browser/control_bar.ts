// The controls above a page, as native inputs: for files and notebooks. In the app they are Streamlit's.

import { button, find, findAll, html, uniqueNumber } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { Fold } from "./fold.ts";
import { synchronize } from "./synchronize.ts";

/** ``value``: the number of an option, or what was entered */
type OnInput = (key: string, value: unknown) => void;

export class ControlBar {
  shown = new Map<string, InputData>(); // the inputs that are shown, by key
  known = new WeakMap<Element, string>(); // what was last entered into a field, or shown in it
  onInput: OnInput;
  onReset: () => void;
  fold: Fold | null;
  rows: HTMLDivElement;
  tools: HTMLDivElement;
  page: Document;
  closeOutside;
  name = `nv-input-${uniqueNumber()}`;
  root = html("div", "nv-controls", null, "", { role: "group", ariaLabel: _("Controls") });

  constructor(parent: HTMLElement, onInput: OnInput, onReset: () => void) {
    this.onInput = onInput;
    this.onReset = onReset;
    this.fold = window.parent === window ? new Fold(this.root) : null; // a frame is as high as the unfolded controls
    this.rows = html("div", "nv-control-rows", this.root);
    this.tools = html("div", "nv-control-tools"); // placed at the end of the first row
    this.page = parent.ownerDocument;
    this.closeOutside = (event: Event) => {
      for (const details of this.opened) if (!event.composedPath().includes(details)) details.open = false;
    };
    this.page.addEventListener("pointerdown", this.closeOutside);
    this.root.addEventListener("change", (event) => this.changed(event.target as HTMLInputElement));
    this.root.addEventListener("input", (event) => this.moved(event.target as HTMLInputElement));
    this.root.addEventListener("keydown", (event) => this.pressed(event));
    this.root.addEventListener("click", (event) => this.clicked(event.target as Element));
    this.attach(parent);
  }

  /** Puts the controls above the page in ``parent``. */
  attach(parent: HTMLElement) {
    parent.insertBefore(this.root, parent.querySelector(":scope > .nv-page"));
  }

  /** The menu "More" and the helps that are open. */
  get opened() {
    return findAll(this.root, "details[open]") as HTMLDetailsElement[];
  }

  get fields() {
    return findAll(this.root, "input") as HTMLInputElement[];
  }

  /** Closes the last of what is open: a help before the menu that contains it. */
  closeLast(focused: Node) {
    const last = this.opened.at(-1);
    if (!last) return;
    last.open = false;
    if (last.contains(focused)) find(last, "summary").focus();
  }

  /**
   * Shows the rows. Inputs that stay keep their elements, because a reader may be using one of them; a field keeps what is being typed
   * into it, but not a value that was entered and refused.
   * @param summary of the view, which stands for the folded controls
   */
  set(rows: RowData[], summary: string = _("Controls")) {
    const wanted = html("div", "nv-control-rows");
    this.fold?.set(summary);
    this.shown.clear();
    for (const row of rows) this.addRow(wanted, row);
    const typed = this.fields.find((field) => field.matches(":focus") && this.known.get(field) !== field.value);
    this.tools.remove();
    synchronize(this.rows, wanted, typed);
    (this.rows.firstElementChild ?? this.rows).append(this.tools);
    for (const field of this.fields) {
      if (field !== typed) this.known.set(field, field.value);
      if (field.type === "range") this.moved(field);
    }
  }

  addRow(parent: HTMLElement, row: RowData) {
    const line = html("div", "nv-control-row", parent);
    line.dataset.key = row.key;
    for (const input of row.inputs) this.addInput(line, input);
    if (row.more.length) {
      const more = html("details", "nv-control-more", line);
      html("summary", "nv-control-button", more, _("More"));
      const menu = html("div", "nv-control-menu", more);
      for (const column of row.more) {
        const box = html("div", "nv-control-column", menu);
        for (const input of column) this.addInput(box, input);
        if (row.note && column === row.more.at(-1)) html("p", "nv-small nv-control-note", box, row.note);
      }
    }
    if (!row.reset) return;
    const reset = button("nv-control-button nv-control-reset", line, "↺", () => this.onReset());
    reset.title = reset.ariaLabel = _("Back to the start");
  }

  addInput(parent: HTMLElement, input: InputData) {
    const box = html("div", `nv-control nv-control-${input.kind}`, parent), name = `${this.name}-${input.key}`;
    const head = input.help ? html("div", "nv-control-head", box) : box;
    const label = html(input.kind === "segments" ? "span" : "label", "nv-control-label", head, input.label);
    label.id = `${name}-label`;
    box.dataset.key = input.key;
    if (label instanceof HTMLLabelElement) label.htmlFor = name;
    this.shown.set(input.key, input);
    DRAW[input.kind](box, input, name);
    if (input.help) addHelp(head, find(box, ".nv-control-field, .nv-segments"), input, `${name}-help`);
  }

  inputOf(element: Element) {
    return this.shown.get((element.closest(".nv-control") as HTMLElement | null)?.dataset.key ?? "");
  }

  fieldOf(key: string) {
    return find(this.root, `#${CSS.escape(`${this.name}-${key}`)}`) as HTMLInputElement;
  }

  enter(input: InputData, value: unknown) {
    const texts = input.together?.map((key) => this.fieldOf(key).value);
    this.onInput(input.key, texts ?? value);
  }

  /** Sends the field's value on Enter or blur, once for each value. */
  changed(field: HTMLInputElement) {
    const input = this.inputOf(field), value = field.value.trim();
    if (!input) return;
    const isText = input.kind === "number" || input.kind === "textfield" || input.typed;
    if (isText && field.value === this.known.get(field)) return;
    this.known.set(field, field.value);
    if (input.kind === "several") value && this.enter(input, [...input.value as string[], value]);
    else if (input.kind === "toggle") this.enter(input, field.checked);
    else if (input.typed) value && this.enter(input, input.options?.includes(value) ? input.options.indexOf(value) : value);
    else this.enter(input, input.kind === "textfield" ? field.value : Number(field.value));
  }

  /** Writes the value next to a slider. */
  moved(field: HTMLInputElement) {
    const { kind, options = [] } = this.inputOf(field) ?? {};
    if (kind === "slider") find(field.parentElement as HTMLElement, "output").textContent = options[Number(field.value)];
  }

  pressed(event: KeyboardEvent) {
    if (event.key === "Escape") this.closeLast(event.target as Node);
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) this.changed(event.target);
  }

  clicked(target: Element) {
    const chip = target.closest(".nv-several-chip") as HTMLElement | null, input = chip && this.inputOf(chip);
    if (!input) return;
    this.enter(input, (input.value as string[]).filter((text) => text !== chip.dataset.text));
    this.fieldOf(input.key).focus(); // the chip is gone
  }

  destroy() {
    this.page.removeEventListener("pointerdown", this.closeOutside);
    this.root.remove();
  }
}

/**
 * A button that shows the help of a control, for the pointer, the keyboard and touch. A screen reader reads the help as the field's description.
 * @param id of the help
 */
function addHelp(parent: HTMLElement, field: HTMLElement, { label, help }: InputData, id: string) {
  const details = html("details", "nv-control-help", parent);
  html("summary", "", details, "?").ariaLabel = _("Help: {label}", { label });
  html("p", "", details, help).id = id;
  field.setAttribute("aria-describedby", id);
}

type Draw = (parent: HTMLElement, input: InputData, name: string) => void;

function addEntry(parent: HTMLElement, type: string, name: string, attributes: Record<string, unknown>, input: InputData) {
  const field = html("input", "nv-control-field", parent);
  for (const [attribute, value] of Object.entries({ type, id: name, ...attributes })) field.setAttribute(attribute, String(value));
  field.disabled = Boolean(input.disabled);
  if (input.why) field.title = input.why;
}

/** ``options``: the value and the label of each */
function addSelect(parent: HTMLElement, name: string, options: [string, string][], input?: InputData) {
  const select = html("select", "nv-control-field", parent, "", { id: name, disabled: Boolean(input?.disabled) });
  for (const [value, label] of options) html("option", "", select, label).value = value;
  if (input) select.value = String(input.value);
  return select;
}

function addSegments(parent: HTMLElement, input: InputData, name: string) {
  const group = html("div", "nv-segments", parent, "", { role: "radiogroup" });
  group.setAttribute("aria-labelledby", `${name}-label`);
  (input.options ?? []).forEach((label, number) => {
    const segment = html("label", "nv-segment", group), radio = html("input", "", segment);
    Object.assign(radio, { type: "radio", name, value: String(number), disabled: Boolean(input.disabled) });
    radio.checked = number === input.value;
    html("span", "", segment, label);
  });
}

function addSlider(parent: HTMLElement, input: InputData, name: string) {
  addEntry(parent, "range", name, { min: 0, max: (input.options?.length ?? 1) - 1, step: 1, value: input.value }, input);
  html("output", "nv-control-value", parent);
}

function addToggle(parent: HTMLElement, input: InputData, name: string) {
  addEntry(parent, "checkbox", name, { role: "switch" }, input);
  (parent.lastElementChild as HTMLInputElement).checked = Boolean(input.value);
}

/** Chosen options as one number, as ``values`` has them. */
export const sumOf = (options: string[], chosen: string[]) => chosen.reduce((sum, text) => sum + 2 ** options.indexOf(text), 0);

/** Up to ``most`` texts, each with a button that removes it; a new one is chosen or typed. */
function addSeveral(parent: HTMLElement, input: InputData, name: string) {
  const chosen = input.value as string[], options = input.options ?? [], box = html("div", "nv-several", parent);
  const canChoose = (texts: string[]) => !input.values || input.values.includes(sumOf(options, texts));
  for (const text of chosen) {
    const chip = html("button", "nv-several-chip", box, `${text} ×`, { type: "button" });
    chip.dataset.text = text;
    chip.setAttribute("aria-label", _("Remove {layer}", { layer: text }));
    chip.disabled = chosen.length < 3 || !canChoose(chosen.filter((one) => one !== text));
  }
  const others = options.filter((option) => !chosen.includes(option) && canChoose([...chosen, option])), label = _("Add a layer");
  if (input.closed) addSelect(box, name, [["", label], ...others.map((text) => [text, text]) as [string, string][]]);
  else addEntry(box, "text", name, { placeholder: label, list: `${name}-list` }, input);
  (box.lastElementChild as HTMLElement).hidden = chosen.length >= (input.most ?? 6) || Boolean(input.closed && !others.length);
  if (input.closed) return;
  addDatalist(box, name, others);
}

/** A text, or one of a list. The field shows its value as a placeholder: a browser lists only the options that match what is in the field. */
function addTyped(parent: HTMLElement, input: InputData, name: string) {
  const options = input.options ?? [], now = Number(input.value);
  addEntry(parent, "text", name, { placeholder: options[now], list: `${name}-list`, class: "nv-control-field nv-control-typed" }, input);
  addDatalist(parent, name, options.filter((_option, number) => number !== now));
}

function addDatalist(parent: HTMLElement, name: string, options: string[]) {
  const list = html("datalist", "", parent);
  list.id = `${name}-list`;
  for (const option of options) html("option", "", list).value = option;
}

const DRAW: Record<string, Draw> = {
  number: (parent, input, name) => addEntry(parent, "number", name, { min: input.low, max: input.high, value: input.value }, input),
  textfield: (parent, input, name) => addEntry(parent, "text", name, { maxlength: input.most ?? 200, placeholder: input.placeholder ?? "", value: input.value }, input),
  choice: (parent, input, name) => input.typed ? addTyped(parent, input, name) : void addSelect(parent, name, (input.options ?? []).map((label, number) => [String(number), label]), input),
  segments: addSegments,
  slider: addSlider,
  toggle: addToggle,
  several: addSeveral,
};
