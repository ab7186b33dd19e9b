// Marking who shares a mean with the framed element, for one layer or for several to choose from.

import { THEMES } from "normviz:themes";
import { button, findAll, html } from "../../figures/browser/common/dom.js";
import { _, joinSentences, ngettext } from "../../figures/browser/common/messages.js";
import { groupOf, rankGroups, sameIndex, tablesOf } from "../../figures/browser/tensor/sharing.js";
import { Marking } from "../../parts/browser/marking.js";
import { upTo } from "../../parts/browser/tensor.js";

/**
 * @typedef {object} MarksTask
 * @property {string} label
 * @property {MarkingTask} task
 * @property {string} [about] what a reader needs to know before marking
 * @property {string} [hint] for wrong marks, instead of that of the step
 * @property {string} seen what the colors show
 */
/** @typedef {{ kind: "marks", tasks: MarksTask[] }} MarksData */

/** @implements {StartFigure} */
export class MarksFigure {
  /** @type {Marking} */
  marking;
  /** @type {Map<number, "done" | "shown">} The tasks whose answer is seen: marked by the reader, or shown. */
  ends = new Map();
  chosen = 0;

  /**
   * @param {HTMLElement} parent
   * @param {MarksData} data
   * @param {(isDone: boolean) => void} judge
   * @param {string} hint for a reader who has marked the wrong elements
   */
  constructor(parent, data, judge, hint) {
    this.data = data;
    this.judge = judge;
    this.hint = hint;
    this.choices = html("div", "nv-start-choices", parent);
    if (data.tasks.length > 1) data.tasks.forEach(({ label }, i) => button("nv-chip", this.choices, label, () => this.choose(i)));
    this.about = html("p", "nv-start-about", parent);
    this.place = html("div", "", parent);
    this.status = html("p", "nv-start-status", parent);
    this.status.role = "status";
    this.choose(0);
  }

  /** @param {number} number of a task */
  choose(number) {
    this.chosen = number;
    this.place.replaceChildren();
    this.about.textContent = this.data.tasks[number].about ?? "";
    this.status.textContent = "";
    this.marking = new Marking(this.place, this.data.tasks[number].task, { onChange: () => this.changed() });
    if (this.ends.has(number)) this.reveal();
    this.markChoices();
    this.judge(false);
  }

  /** Whether the chosen one of several tasks is open. */
  get hasMore() {
    return this.data.tasks.length > 1 && !this.ends.has(this.chosen);
  }

  markChoices() {
    findAll(this.choices, "button").forEach((choice, i) => {
      choice.setAttribute("aria-pressed", String(i === this.chosen));
      choice.classList.toggle("nv-now", i === this.chosen);
      choice.classList.toggle("nv-solved", this.ends.get(i) === "done");
    });
  }

  changed() {
    const { isRight, text } = judgeMarks(this.marking, this.data.tasks[this.chosen].hint ?? this.hint);
    if (isRight) this.finish("done");
    else this.status.textContent = text;
  }

  /** @param {"done" | "shown"} end */
  finish(end) {
    this.ends.set(this.chosen, end);
    this.reveal();
    this.markChoices();
    this.judge(true);
  }

  /** Shows the answer, and every group in its own color. */
  reveal() {
    const { marking } = this, isDone = this.ends.get(this.chosen) === "done", { seen } = this.data.tasks[this.chosen];
    showAnswer(marking, isDone);
    this.status.textContent = isDone && this.data.tasks.length > 1 ? _("Right. {rule}", { rule: seen }) : seen;
  }

  solve() {
    this.finish("shown");
  }
}

/**
 * Whether the right elements are marked, and what to say if not.
 * @param {Marking} marking
 * @param {string} hint for wrong marks
 */
export function judgeMarks({ marked, answer }, hint) {
  const right = marked.filter((index) => answer.some((other) => sameIndex(index, other))).length, wrong = marked.length - right, missing = answer.length - right;
  if (wrong) return { isRight: false, text: joinSentences([ngettext("{n} is wrong.", "{n} are wrong.", wrong), hint]) };
  return { isRight: !missing, text: right && missing ? ngettext("{n} is missing.", "{n} are missing.", missing) : "" };
}

/**
 * Marks the answer, and gives every group a color of its own.
 * @param {Marking} marking
 * @param {boolean} isDone by the reader; else nothing is called right
 */
export function showAnswer(marking, isDone) {
  const { shape, axes } = marking.task, tables = tablesOf(axes, { shape, facets: [], row: null, col: 0, indices: shape.map(upTo), across: 1 }), ranks = rankGroups(tables);
  marking.mark(marking.answer);
  if (isDone) marking.reveal();
  else marking.close();
  for (const { index, root } of marking.cells) {
    const rank = (ranks.get(groupOf(tables, index)) ?? 0) % THEMES.light.few.length;
    root.style.background = `light-dark(${THEMES.light.few[rank]}, ${THEMES.dark.few[rank]})`;
  }
  marking.root.classList.add("nv-marking-grouped");
}
