// The field in which an exercise is answered: a number, one of several choices, or marks on the elements of a tensor.

import { findAll, html } from "../../figures/browser/common/dom.ts";
import { _, ngettext } from "../../figures/browser/common/messages.ts";
import { askNumber, readNumber } from "../../figures/browser/common/numbers.ts";
import { Marking } from "../../parts/browser/marking.ts";
import { SharingPanel } from "../../parts/browser/sharing_panel.ts";
import { indexOf, positionOf } from "../../figures/browser/tensor/sharing.ts";

const WITH_CODE = ["code", "pattern"]; // kinds whose options are calls, patterns or layers

/** The field of an exercise, with what the reader has entered before. ``label``: the id of the prompt. */
export function makeField(parent: HTMLElement, exercise: PracticeExercise, options: { label: string, draft: PracticeAnswer | null, onChange: () => void }): PracticeField {
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

/** The toy of the front page, asked for a group: its toggles say over which axes the mean is taken, and the elements that then share it are outlined. */
class BuildField {
  exercise: PracticeExercise;
  panel: SharingPanel;
  needed = "";

  constructor(parent: HTMLElement, exercise: PracticeExercise, { draft, onChange }: FieldOptions) {
    const { steps = [], labels = [], target = [] } = exercise;
    this.exercise = exercise;
    this.panel = new SharingPanel(html("div", "nv-build", parent), { ...exercise, steps, labels }, {
      scale: () => "", // the style fills the target
      onPoint: () => {},
      onPress: (standing) => {
        this.update(standing);
        onChange();
      },
    });
    this.panel.name(_("mean over"));
    for (const position of target) this.panel.cells[position].classList.add("nv-build-target");
    const kept = typeof draft === "string" ? draft.split(",").map(Number) : [];
    this.update(kept.length === steps.length && kept.every((one, axis) => steps[axis].includes(one)) ? kept : steps.map(([first]) => first));
  }

  get draft() {
    return this.panel.standing.join();
  }

  get value() {
    return this.draft;
  }

  update(standing: number[]) {
    const { panel, exercise: { shape, at = [], target = [] } } = this, framed = positionOf(at, shape);
    panel.set(standing);
    panel.point(framed);
    const shared = panel.groups.flatMap((group, position) => (group === panel.groups[framed] ? [position] : []));
    const filled = shared.filter((position) => target.includes(position)).length, others = shared.length - filled;
    panel.caption.textContent = ngettext(
      "The outlined elements share one mean: {filled} of the {all} filled ones, and {n} other.",
      "The outlined elements share one mean: {filled} of the {all} filled ones, and {n} others.", others, { filled, all: target.length });
  }

  reveal(answer: PracticeAnswer, isRight: boolean) {
    if (!isRight) this.update(String(answer).split(",").map(Number));
    for (const { root } of this.panel.toggles.buttons) root.disabled = true;
    return null;
  }
}
