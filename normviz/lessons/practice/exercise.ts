// One exercise: the prompt, the field, the button Check, the judgment of the answer, and the feedback.

import { button, html, uniqueNumber } from "../../figures/browser/common/dom.ts";
import { formatElement, formatNumber } from "../../figures/browser/common/format.ts";
import { _, betweenSentences, ngettext } from "../../figures/browser/common/messages.ts";
import { indexOf } from "../../figures/browser/tensor/sharing.ts";
import { drawTensor } from "../../parts/browser/tensor.ts";
import { makeField } from "./fields.ts";

const ROUNDING = 1e-6; // relative error of a typed number
const DRAWN_BY_FIELD = ["mark", "build"]; // forms whose field has the tensor
const MOST_NAMED = 6; // marked elements that a summary names
export const MOST_TRIES = 2;

export class ExerciseView {
  exercise: PracticeExercise;
  options: ExerciseOptions;
  field: PracticeField;
  hint: HTMLDivElement;
  feedback: HTMLDivElement;
  actions: HTMLDivElement;
  root = html("form", "nv-exercise", null, "", { noValidate: true });
  prompt = html("h2", "nv-exercise-prompt", this.root);

  constructor(parent: HTMLElement, exercise: PracticeExercise, options: ExerciseOptions) {
    this.exercise = exercise;
    this.options = options;
    parent.append(this.root);
    this.root.dataset.exercise = exercise.id;
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      this.check();
    });
    Object.assign(this.prompt, { id: `nv-exercise-${uniqueNumber()}`, tabIndex: -1 });
    if (exercise.markup) this.prompt.innerHTML = exercise.markup; // the server has escaped what the teacher wrote
    else writeWithCode(this.prompt, exercise.prompt, exercise.layer.replace(/\.eval\(\)$/, ""));
    if (exercise.shape.length && !DRAWN_BY_FIELD.includes(exercise.form)) drawTensor(this.root, exercise);
    this.field = makeField(this.root, exercise, { label: this.prompt.id, draft: options.draft, onChange: () => this.changed() });
    this.hint = html("div", "nv-exercise-hint", this.root, "", { role: "status" });
    this.feedback = html("div", "nv-exercise-feedback", this.root, "", { role: "status", tabIndex: -1 });
    this.actions = html("div", "nv-exercise-actions", this.root);
    const check = button("nv-practice-main", this.actions, _("Check"), () => {});
    check.type = "submit";
    button("nv-practice-quiet", this.actions, _("Show the answer"), () => options.onCheck(null));
  }

  changed() {
    this.feedback.replaceChildren();
    this.options.onChange(this.field.draft);
  }

  check() {
    const { value } = this.field;
    if (value === null) this.feedback.textContent = this.field.needed;
    else if (String(value) === String(this.options.tries.at(-1))) this.feedback.textContent = _("You have checked this answer. Try another one.");
    else this.options.onCheck(value);
  }

  /**
   * After a first wrong answer, there is only a hint, and the field stays open.
   * @param focus whether the reader has just answered
   */
  giveHint({ tries, confusion }: PracticeResult, focus: boolean) {
    const { exercise, hint, options: { data } } = this, known = confusion ? data.confusions[confusion] : undefined;
    this.options.tries = tries;
    hint.replaceChildren();
    const verdict = html("p", "nv-exercise-verdict", hint);
    html("strong", "", verdict, _("Not right."));
    if (known) verdict.append(betweenSentences(), _("That is {name}.", { name: known.name }));
    const why = exercise.why?.[confusion ?? ""];
    if (why) html("p", "", hint).innerHTML = why;
    else if (known || exercise.hint) html("p", "", hint, known ? sentenceOf(known, confusion, exercise) : exercise.hint);
    html("p", "", hint, _("Try once more."));
    this.feedback.replaceChildren();
    if (focus) hint.scrollIntoView({ block: "nearest" });
  }

  /** ``focus``: whether the reader has just answered */
  reveal({ value, isRight, confusion, tries }: PracticeResult, focus: boolean) {
    const { exercise, feedback, options: { data, addressOf, isLast, onNext } } = this, known = confusion ? data.confusions[confusion] : undefined;
    const counts = this.field.reveal(exercise.answer, isRight);
    this.root.classList.add("nv-exercise-checked");
    this.hint.remove();
    feedback.replaceChildren();
    feedback.dataset.result = isRight ? "right" : value === null ? "shown" : "wrong";
    const verdict = html("p", "nv-exercise-verdict", feedback);
    if (value !== null) html("strong", "", verdict, !isRight ? _("Not right.") : tries.length > 1 ? _("Right, at the second try.") : _("Right."));
    if (known) verdict.append(betweenSentences(), _("That is {name}.", { name: known.name }));
    if (!isRight && WITH_ANSWER.includes(exercise.form)) verdict.append(betweenSentences(), _("The answer is {answer}.", { answer: answerText(exercise.answer, exercise) }));
    if (counts && value !== null && !isRight) this.writeCounts(counts);
    if (known) html("p", "", feedback, sentenceOf(known, confusion, exercise));
    const why = exercise.why?.[confusion ?? ""];
    if (why) html("p", "", feedback).innerHTML = why;
    const reason = html(exercise.markup ? "div" : "p", "", feedback);
    if (!isRight && exercise.form === "mark") html("strong", "", reason, _("The answer:"));
    if (exercise.markup) reason.innerHTML = exercise.explained ?? "";
    else reason.append(betweenSentences(), exercise.explanation); // the explanation of marks begins with the answer
    const links = html("p", "nv-exercise-links", feedback);
    addLink(links, _("See it in a figure"), exercise.link, addressOf);
    if (known?.question) addLink(links, _("Read: {title}", { title: known.title }), `/questions?q=${known.question}`, addressOf);
    this.actions.replaceChildren();
    button("nv-practice-main", this.actions, isLast ? _("Summary") : _("Next exercise"), onNext);
    if (!focus) return;
    feedback.focus({ preventScroll: true });
    feedback.scrollIntoView({ block: "nearest" });
  }

  /** ``counts`` of marked elements */
  writeCounts({ right, extra, missing }: { right: number, extra: number, missing: number }) {
    const line = html("p", "nv-exercise-counts", this.feedback);
    for (const [kind, text] of [["right", ngettext("{n} right", "{n} right", right)], ["extra", ngettext("{n} too many", "{n} too many", extra)], ["missing", ngettext("{n} missing", "{n} missing", missing)]] as const)
      if ({ right, extra, missing }[kind]) html("span", "", line, text).dataset.result = kind;
  }
}

/** A link to a view of the app, where there is an app. */
export function addLink(parent: HTMLElement, text: string, link: string, addressOf: (link: string) => string | null) {
  if (!link) return;
  const address = addressOf(link), [, page, query] = link.match(/^\/(\w*)(.*)$/s) as RegExpMatchArray;
  if (!address) return;
  const found = html("a", "nv-go", parent, text, { href: address });
  Object.assign(found.dataset, { page, query });
}

const WITH_ANSWER = ["number", "build"]; // forms whose field does not show the right answer

/** What is true, on the tensor of the exercise. */
export function sentenceOf({ sentence }: PracticeConfusion, id: string | null, { layer, names, over }: PracticeExercise) {
  const facts = { layer, axes: `(${names.join(", ").toUpperCase()})`, over: over[id ?? ""] ?? "" };
  return _(sentence, facts);
}

/**
 * @param value null: the reader has asked for the answer
 * @returns ``confusion``: its id, if the answer follows from a documented one
 */
export function judgeAnswer({ answer, accepted = [answer], wrong, options, tolerance = 0 }: PracticeExercise, value: PracticeAnswer | null): { isRight: boolean, confusion: string | null } {
  if (value === null) return { isRight: false, confusion: null };
  if (accepted.some((one) => sameAnswer(value, one, tolerance))) return { isRight: true, confusion: null };
  const chosen = options?.find(([text]) => text === value)?.[1], followed = wrong.find(([, other]) => sameAnswer(value, other, tolerance))?.[0];
  return { isRight: false, confusion: chosen || followed || null };
}

/** The result of the tries at an exercise. It is done after a right one, the second one, or a wish to see the answer. */
export function resultOfTries(exercise: PracticeExercise, tries: (PracticeAnswer | null)[]): PracticeResult {
  const judged = tries.map((value) => judgeAnswer(exercise, value)), { isRight, confusion } = judged[judged.length - 1], value = tries[tries.length - 1];
  const confusions = judged.flatMap(({ confusion: found }) => (found && !exercise.why ? found : [])); // a teacher's own question has none
  return { exercise, tries, value, isRight, confusion, confusions, isDone: isRight || value === null || tries.length >= MOST_TRIES };
}

/** ``value``: what the reader has given; ``tolerance`` of numbers */
function sameAnswer(value: PracticeAnswer, other: PracticeAnswer, tolerance: number) {
  if (Array.isArray(other)) return Array.isArray(value) && value.length === other.length && value.every((position) => other.includes(position));
  if (typeof other === "string") return value === other;
  return Math.abs(Number(value) - other) <= Math.max(tolerance, ROUNDING * Math.max(1, Math.abs(other)));
}

/** Writes a text in which the layer is code. Texts on the two modes name it without .eval(). */
export function writeWithCode(parent: HTMLElement, text: string, layer: string) {
  const code = text.includes(layer) ? layer : layer.replace(".eval()", "");
  if (!code) return parent.append(text);
  for (const [i, part] of text.split(code).entries()) {
    if (i) html("code", "", parent, code);
    parent.append(part);
  }
}

/** An answer in words: the text itself, a number, or the marked elements. */
export function answerText(answer: PracticeAnswer | null, { shape, kind, steps, names }: PracticeExercise) {
  if (answer === null) return _("no answer");
  if (steps) return togglesText(String(answer), names);
  if (typeof answer === "number") return formatNumber(answer);
  if (typeof answer === "string") return answer;
  if (!answer.length) return kind === "moves" ? _("none") : _("no other element");
  const named = answer.slice(0, MOST_NAMED).map((position) => formatElement("x", indexOf(position, shape))).join(", "), more = answer.length - MOST_NAMED;
  return more > 0 ? ngettext("{named} and {n} more", "{named} and {n} more", more, { named }) : named;
}

/** How toggles stand: "N", "C / 2, H, W". */
export function togglesText(standing: string, names: string[]) {
  const pressed = standing.split(",").map(Number).map((parts, axis) => parts && (parts > 1 ? `${names[axis]} / ${parts}` : names[axis]).toUpperCase());
  return pressed.filter(Boolean).join(", ") || _("none");
}

export const timeText = (seconds: number) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds) % 60).padStart(2, "0")}`;
