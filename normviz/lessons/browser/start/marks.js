// Marking who shares a mean with the framed element, for one layer or for several to choose from.

import { THEMES } from "normviz:themes";
import { button, findAll, html } from "../../../figures/browser/common/dom.js";
import { _, joinSentences, ngettext } from "../../../figures/browser/common/messages.js";
import { groupOf, rankGroups, sameIndex, tablesOf } from "../../../figures/browser/tensor/sharing.js";
import { Marking } from "../questions/marking.js";

/** @typedef {{ label: string, task: MarkingTask, hint?: string, colors?: string }} MarksTask ``colors``: what the elements of a color share */
/** @typedef {{ kind: "marks", tasks: MarksTask[] }} MarksData */

/** @implements {StartFigure} */
export class MarksFigure {
  /** @type {Marking} */
  marking;
  /** @type {Set<number>} The tasks that are done. */
  solved = new Set();
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
    this.place = html("div", "", parent);
    this.status = html("p", "nv-start-status", parent);
    this.status.role = "status";
    this.choose(0);
  }

  /** @param {number} number of a task */
  choose(number) {
    this.chosen = number;
    this.place.replaceChildren();
    this.marking = new Marking(this.place, this.data.tasks[number].task, { onChange: () => this.changed() });
    if (this.solved.has(number)) this.reveal();
    else this.status.textContent = this.data.tasks.length > 1 ? (this.data.tasks[number].hint ?? "") : "";
    this.markChoices();
  }

  markChoices() {
    findAll(this.choices, "button").forEach((choice, i) => {
      choice.setAttribute("aria-pressed", String(i === this.chosen));
      choice.classList.toggle("nv-now", i === this.chosen);
      choice.classList.toggle("nv-solved", this.solved.has(i));
    });
  }

  changed() {
    const { marked, answer } = this.marking, isIn = (/** @type {Index} */ index) => answer.some((other) => sameIndex(index, other));
    const right = marked.filter(isIn).length, missing = answer.length - right, { hint = this.hint } = this.data.tasks[this.chosen];
    if (right < marked.length) this.status.textContent = joinSentences([ngettext("{n} is wrong.", "{n} are wrong.", marked.length - right), hint]);
    else if (missing) this.status.textContent = right ? ngettext("{n} is missing.", "{n} are missing.", missing) : "";
    else this.finish();
  }

  finish() {
    this.solved.add(this.chosen);
    this.reveal();
    this.markChoices();
    this.judge(true);
  }

  /** Shows the answer, and every group in its own color. */
  reveal() {
    const { marking } = this, { shape, axes } = marking.task, { hint = "", colors } = this.data.tasks[this.chosen];
    marking.mark(marking.answer);
    if (!marking.isRevealed) marking.reveal();
    const tables = tablesOf(axes, { shape, facets: [], row: null, col: 0, indices: shape.map((size) => [...Array(size).keys()]), across: 1 }), ranks = rankGroups(tables);
    for (const { index, root } of marking.cells) {
      const rank = (ranks.get(groupOf(tables, index)) ?? 0) % THEMES.light.few.length;
      root.style.background = `light-dark(${THEMES.light.few[rank]}, ${THEMES.dark.few[rank]})`;
    }
    marking.root.classList.add("nv-marking-grouped");
    this.status.textContent = colors ?? _("Right. {rule}", { rule: hint });
  }

  solve() {
    this.marking.mark(this.marking.answer);
    this.finish();
  }
}
