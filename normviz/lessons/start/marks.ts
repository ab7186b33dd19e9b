// Marking who shares a mean or a gamma with the framed element, for one layer or for several to choose from.

import { groupBackground, groupColorOf } from "../../figures/browser/common/color.ts";
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
  data: Pick<MarksData, "tasks">;
  judge: (isDone: boolean) => void;
  hint: string;
  choices: HTMLDivElement;
  about: HTMLParagraphElement;
  shares: HTMLDivElement;
  place: HTMLDivElement;
  status: HTMLParagraphElement;

  /** ``hint`` for a reader who has marked the wrong elements */
  constructor(parent: HTMLElement, data: Pick<MarksData, "tasks">, judge: (isDone: boolean) => void, hint: string) {
    this.data = data;
    this.judge = judge;
    this.hint = hint;
    this.choices = html("div", "nv-start-choices", parent);
    for (const label of new Set(this.hasChoice ? data.tasks.map((task) => task.label) : []))
      button("nv-chip", this.choices, label, () => this.choose(this.tasksOf(label)[0]));
    this.about = html("p", "nv-start-about", parent);
    this.shares = html("div", "nv-start-shares nv-start-choices", parent);
    this.place = html("div", "", parent);
    this.status = html("p", "nv-start-status", parent, "", { role: "status" });
    this.choose(0);
  }

  get hasChoice() {
    return this.data.tasks.length > 1;
  }

  /** The numbers of the tasks of a layer: of its mean, and of its gamma. */
  tasksOf(label: string) {
    return [...this.data.tasks.keys()].filter((i) => this.data.tasks[i].label === label);
  }

  get own() {
    return this.tasksOf(this.data.tasks[this.chosen].label);
  }

  choose(number: number) {
    const { task, about = "" } = this.data.tasks[number];
    this.chosen = number;
    this.place.replaceChildren();
    this.about.textContent = about;
    this.status.textContent = "";
    this.shares.replaceChildren();
    for (const i of this.hasChoice ? this.own : [])
      button("nv-chip", this.shares, this.data.tasks[i].shares ?? "", () => this.choose(i));
    this.marking = new Marking(this.place, task, { onChange: () => this.changed() });
    if (this.ends.has(number)) this.reveal();
    this.markChoices();
    this.judge(false);
  }

  /** Whether something of the chosen layer is open. */
  get hasMore() {
    return this.hasChoice && !this.hasEnded;
  }

  get hasEnded() {
    return this.own.every((i) => this.ends.has(i));
  }

  markChoices() {
    const { label } = this.data.tasks[this.chosen], isDone = (i: number) => this.ends.get(i) === "done";
    for (const choice of findAll(this.choices, "button")) {
      const own = choice.textContent ?? "";
      mark(choice, own === label, this.tasksOf(own).every(isDone));
    }
    findAll(this.shares, "button").forEach((choice, i) => {
      mark(choice, this.own[i] === this.chosen, isDone(this.own[i]));
      choice.classList.toggle("nv-start-go", this.ends.has(this.chosen) && !this.ends.has(this.own[i]));
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
    this.judge(this.hasEnded);
  }

  /** Shows the answer, and every group in its own color. */
  reveal() {
    const { marking } = this, isDone = this.ends.get(this.chosen) === "done", { seen } = this.data.tasks[this.chosen];
    showAnswer(marking, isDone);
    this.status.textContent = isDone && this.hasChoice ? _("Right. {rule}", { rule: seen }) : seen;
  }

  /** Of a layer, who shares the mean, and who the gamma. */
  solve() {
    for (const i of this.own) if (!this.ends.has(i)) this.ends.set(i, "shown");
    this.finish(this.ends.get(this.chosen) ?? "shown");
  }
}

function mark(choice: HTMLElement, isChosen: boolean, isDone: boolean) {
  choice.setAttribute("aria-pressed", String(isChosen));
  choice.classList.toggle("nv-now", isChosen);
  choice.classList.toggle("nv-solved", isDone);
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
  const colorOf = marking.task.texts ? groupBackground : groupColorOf;
  for (const { index, root } of marking.cells) root.style.background = colorOf(ranks.get(groupOf(tables, index)) ?? 0);
  marking.root.classList.add("nv-marking-grouped");
}
