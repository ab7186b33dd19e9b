// Marking who shares a mean with the framed element, for one layer or for several to choose from.

import { groupBackground } from "../../figures/browser/common/color.ts";
import { button, findAll, html } from "../../figures/browser/common/dom.ts";
import { _, betweenParts, joinSentences, ngettext } from "../../figures/browser/common/messages.ts";
import { groupOf, positionOf, rankGroups, sameIndex, tablesOf } from "../../figures/browser/tensor/sharing.ts";
import { Marking } from "../../parts/browser/marking.ts";
import { upTo } from "../../parts/browser/tensor.ts";

export class MarksFigure implements StartFigure {
  marking: Marking;
  /** The tasks whose answer is seen: marked by the reader, or shown. */
  ends = new Map<number, "done" | "shown">();
  chosen = 0;
  data: MarksData;
  judge: (isDone: boolean) => void;
  hint: string;
  choices: HTMLDivElement;
  about: HTMLParagraphElement;
  place: HTMLDivElement;
  status: HTMLParagraphElement;

  /** ``hint`` for a reader who has marked the wrong elements */
  constructor(parent: HTMLElement, data: MarksData, judge: (isDone: boolean) => void, hint: string) {
    this.data = data;
    this.judge = judge;
    this.hint = hint;
    this.choices = html("div", "nv-start-choices", parent);
    if (data.tasks.length > 1) data.tasks.forEach(({ label }, i) => button("nv-chip", this.choices, label, () => this.choose(i)));
    this.about = html("p", "nv-start-about", parent);
    this.place = html("div", "", parent);
    this.status = html("p", "nv-start-status", parent, "", { role: "status" });
    this.choose(0);
  }

  choose(number: number) {
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

  finish(end: "done" | "shown") {
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

/** Whether the right elements are marked, and what to say if not; wrong marks look wrong. ``hint`` for wrong marks. */
export function judgeMarks(marking: Marking, hint: string) {
  const { marked, answer, task } = marking, wrong = marked.filter((index) => !answer.some((other) => sameIndex(index, other)));
  marking.showWrong(wrong);
  if (wrong.length) return { isRight: false, text: joinSentences([wrongText(wrong.map((index) => task.texts?.[positionOf(index, task.shape)] ?? "")), hint]) };
  const missing = answer.length - marked.length;
  return { isRight: !missing, text: marked.length && missing ? ngettext("One more cell belongs to the group.", "{n} more cells belong to the group.", missing) : "" };
}

/** ``texts``: what stands in the wrong cells. A bare number would read as one of them, so each is called a cell. */
function wrongText(texts: string[]) {
  const values = { cells: texts.join(betweenParts()) };
  return texts.every(Boolean)
    ? ngettext("The cell with {cells} does not belong to the group.", "The cells with {cells} do not belong to the group.", texts.length, values)
    : ngettext("One of the marked cells does not belong to the group.", "{n} of the marked cells do not belong to the group.", texts.length);
}

/** Marks the answer, and gives every group a color of its own. ``isDone``: by the reader; else nothing is called right. */
export function showAnswer(marking: Marking, isDone: boolean) {
  const { shape, axes } = marking.task, tables = tablesOf(axes, { shape, facets: [], row: null, col: 0, indices: shape.map(upTo), across: 1 }), ranks = rankGroups(tables);
  marking.mark(marking.answer);
  if (isDone) marking.reveal();
  else marking.close();
  for (const { index, root } of marking.cells) {
    root.style.background = groupBackground(ranks.get(groupOf(tables, index)) ?? 0);
  }
  marking.root.classList.add("nv-marking-grouped");
}
