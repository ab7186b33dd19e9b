// The field in which an exercise is answered: a number, one of several choices, or marks on the elements of a tensor.

import { findAll, html } from "../../figures/browser/common/dom.ts";
import { _, ngettext } from "../../figures/browser/common/messages.ts";
import { askNumber, readNumber } from "../../figures/browser/common/numbers.ts";
import { makeItem, showItem } from "../../figures/browser/panels/toggles.ts";
import { Marking } from "../../parts/browser/marking.ts";
import { indexOf, positionOf } from "../../figures/browser/tensor/sharing.ts";

const WITH_CODE = ["code", "pattern"]; // kinds whose options are calls, patterns or layers

/** The field of an exercise, with what the reader has entered before. ``label``: the id of the prompt. */
export function makeField(parent: HTMLElement, exercise: PracticeExercise, options: { label: string, draft: PracticeAnswer | null, tensor?: HTMLElement, onChange: () => void }): PracticeField {
  if (exercise.steps) return new BuildField(parent, exercise, options);
  if (exercise.options) return new ChoiceField(parent, exercise, options);
  return Array.isArray(exercise.answer) ? new MarkField(parent, exercise, options) : new NumberField(parent, exercise, options);
}

type FieldOptions = Parameters<typeof makeField>[2];

class ChoiceField {
  root: HTMLDivElement;
  needed = _("Choose an answer.");

  constructor(parent: HTMLElement, { kind, options }: PracticeExercise, { label, draft, onChange }: FieldOptions) {
    this.root = html("div", "nv-choices", parent, "", { role: "radiogroup" });
    this.root.setAttribute("aria-labelledby", label);
    for (const [choice] of options ?? []) {
      const option = html("label", "nv-option nv-choice", this.root), radio = html("input", "", option);
      Object.assign(radio, { type: "radio", name: label, value: choice, checked: choice === draft });
      html(WITH_CODE.includes(kind) ? "code" : "span", "", option, choice);
      html("span", "nv-mark", option);
    }
    this.root.addEventListener("change", onChange);
  }

  get radios() {
    return findAll(this.root, "input") as HTMLInputElement[];
  }

  get draft() {
    return this.value;
  }

  get value() {
    return this.radios.find(({ checked }) => checked)?.value ?? null;
  }

  reveal(answer: PracticeAnswer) {
    for (const radio of this.radios) {
      const option = radio.parentElement as HTMLElement, isRight = radio.value === answer;
      radio.disabled = true;
      if (!isRight && !radio.checked) continue;
      option.dataset.result = isRight ? "right" : "wrong";
      (option.lastElementChild as HTMLElement).textContent = isRight ? _("✓ right answer") : _("✗ your answer");
    }
    return null;
  }
}

class NumberField {
  isWhole: boolean;
  input: HTMLInputElement;

  constructor(parent: HTMLElement, { kind }: PracticeExercise, { label, draft, onChange }: FieldOptions) {
    this.isWhole = kind !== "value";
    const inputMode = this.isWhole ? "decimal" : "text"; // the keyboard for decimals of some phones has no minus sign
    this.input = html("input", "nv-typed", parent);
    Object.assign(this.input, { type: "text", inputMode, maxLength: 40, autocomplete: "off", placeholder: _("a number"), value: draft ?? "" });
    this.input.setAttribute("aria-labelledby", label);
    this.input.addEventListener("input", onChange);
  }

  get draft() {
    return this.input.value;
  }

  // As every language reads it: the answer is kept, and the reader may go on in another one.
  get value() {
    const number = readNumber(this.input.value, this.isWhole);
    return Number.isFinite(number) ? String(number) : null;
  }

  get needed() {
    const text = this.input.value.trim(), asked = askNumber(text, this.isWhole);
    return asked || (text ? _("{guess} is not a number; write one, such as 48.", { guess: `'${text}'` }) : _("Write a number."));
  }

  reveal(_answer: PracticeAnswer, isRight: boolean) {
    this.input.readOnly = true;
    this.input.dataset.result = isRight ? "right" : this.value === null ? "" : "wrong";
    return null;
  }
}

class MarkField {
  isWarned = false; // whether the reader has been asked if really nothing is to be marked
  shape: number[];
  marking: Marking;

  constructor(parent: HTMLElement, exercise: PracticeExercise, { label, draft, onChange }: FieldOptions) {
    this.shape = exercise.shape;
    this.marking = new Marking(parent, { ...exercise, axes: [], at: exercise.at as Index, itself: exercise.kind === "moves" }, { onChange });
    this.marking.root.role = "group";
    this.marking.root.setAttribute("aria-labelledby", label);
    if (Array.isArray(draft)) this.marking.mark(this.indices(draft));
  }

  /** ``positions`` in row-major order */
  indices(positions: number[]) {
    return positions.map((position) => indexOf(position, this.shape));
  }

  get draft() {
    return this.marking.marked.map((index) => positionOf(index, this.shape));
  }

  get value() {
    const marked = this.draft;
    return marked.length || this.isWarned ? marked : null;
  }

  get needed() {
    this.isWarned = true;
    return _("Nothing is marked. If that is your answer, press Check again.");
  }

  reveal(answer: PracticeAnswer) {
    return this.marking.reveal(this.indices(answer as number[]));
  }
}

/** Toggles, one for each axis, that say over which axes the mean is taken; the figure outlines the elements that then share it. */
class BuildField {
  exercise: PracticeExercise;
  cells: HTMLElement[];
  root: HTMLDivElement;
  items: HTMLElement[];
  line: HTMLParagraphElement;
  standing: number[];
  needed = "";

  constructor(parent: HTMLElement, exercise: PracticeExercise, { label, draft, tensor, onChange }: FieldOptions) {
    const { names, steps = [] } = exercise;
    this.exercise = exercise;
    this.cells = tensor ? findAll(tensor, "[data-position]") : [];
    this.root = html("div", "nv-toggles nv-build", parent, "", { role: "group" });
    this.root.setAttribute("aria-labelledby", label);
    html("span", "", this.root, _("mean over"));
    const group = html("span", "nv-toggle-group", this.root);
    this.items = names.map((axis, number) =>
      makeItem(group, { axis, groups: Number(this.isGrouped(number)) }, (by = 1) => {
        this.press(number, by);
        onChange();
      }));
    this.line = html("p", "nv-small nv-build-line", parent, "", { role: "status" });
    for (const cell of this.cells) cell.classList.toggle("nv-build-target", exercise.target?.includes(Number(cell.dataset.position)));
    this.standing = steps.map(([first]) => first);
    const kept = typeof draft === "string" ? draft.split(",").map(Number) : [];
    if (kept.length === steps.length && kept.every((one, axis) => steps[axis].includes(one))) this.standing = kept;
    this.update();
  }

  get draft() {
    return this.standing.join();
  }

  get value() {
    return this.draft;
  }

  /** Whether the toggle of an axis counts groups. */
  isGrouped(axis: number) {
    return !this.exercise.steps?.[axis].includes(0);
  }

  press(axis: number, by: number) {
    const { steps = [] } = this.exercise, possible = steps[axis];
    this.standing[axis] = possible[(possible.indexOf(this.standing[axis]) + by) % possible.length];
    this.update();
  }

  update() {
    const { names, shape, at = [], target = [], steps = [], labels = [] } = this.exercise;
    for (const [axis, one] of this.items.entries()) {
      const parts = this.standing[axis], isGrouped = this.isGrouped(axis);
      const buttons = showItem(one, { axis: names[axis], name: labels[axis], pressed: parts === 1, groups: isGrouped ? parts : 0 });
      if (isGrouped) for (const [number, last] of [steps[axis][0], steps[axis].at(-1)].entries()) buttons[number].disabled = parts === last;
    }
    const shared = sharing(this.standing, shape, at);
    for (const cell of this.cells) cell.classList.toggle("nv-build-group", shared.includes(Number(cell.dataset.position)));
    const filled = shared.filter((position) => target.includes(position)).length, others = shared.length - filled;
    this.line.textContent = ngettext(
      "The outlined elements share one mean: {filled} of the {all} filled ones, and {n} other.",
      "The outlined elements share one mean: {filled} of the {all} filled ones, and {n} others.", others, { filled, all: target.length });
  }

  reveal(answer: PracticeAnswer, isRight: boolean) {
    if (!isRight) this.standing = String(answer).split(",").map(Number);
    this.update();
    for (const one of findAll(this.root, "button") as HTMLButtonElement[]) one.disabled = true;
    return null;
  }
}

/**
 * The positions of the elements that share a mean with the one at an index, itself among them.
 * @param standing of the toggles: for each axis the number of groups along it; 0: a mean for each index
 */
export function sharing(standing: number[], shape: number[], at: Index) {
  const all = [...Array(shape.reduce((product, size) => product * size, 1)).keys()], sizes = shape.map((size, axis) => size / (standing[axis] || size));
  const group = (index: Index): string => index.map((i, axis) => Math.floor(i / sizes[axis])).join();
  return all.filter((position) => group(indexOf(position, shape)) === group(at));
}
