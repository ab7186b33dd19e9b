// A batch of images that unfolds into a table with a row for each pixel, and folds back. Marks stay on their elements.

import { button, html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { mayMove } from "../../figures/browser/motion/outlines.ts";
import { Marking } from "../../parts/browser/marking.ts";
import { judgeMarks, showAnswer } from "./marks.ts";

const MOVE = { duration: 900, easing: "ease-in-out" };

export class PixelsFigure implements StartFigure {
  isUnfolded = false;
  wasUnfolded = false; // the table has been seen
  judge: (isDone: boolean) => void;
  hint: string;
  toggle: HTMLButtonElement;
  markings: Marking[];
  status: HTMLParagraphElement;
  sources: number[];

  /** ``hint`` for a reader who has marked the wrong elements */
  constructor(parent: HTMLElement, data: PixelsData, judge: (isDone: boolean) => void, hint: string) {
    this.judge = judge;
    this.hint = hint;
    this.toggle = button("nv-button", parent, "", () => this.fold(!this.isUnfolded));
    const places = data.tasks.map((_task, i) => html("div", i ? "nv-pixels-table" : "nv-pixels-images", parent));
    this.markings = data.tasks.map((task, i) => new Marking(places[i], task, { onChange: () => this.changed() }));
    this.status = html("p", "nv-start-status", parent, "", { role: "status" });
    this.sources = data.tasks[1].texts?.map((text) => data.tasks[0].texts?.indexOf(text) ?? 0) ?? [];
    this.show();
  }

  get marking() {
    return this.markings[Number(this.isUnfolded)];
  }

  show() {
    this.markings.forEach(({ root }) => (root.hidden = root !== this.marking.root));
    this.toggle.textContent = this.isUnfolded ? _("Fold back") : _("Unfold");
  }

  fold(isUnfolded: boolean) {
    const { cells } = this.marking, before = cells.map(({ root }) => root.getBoundingClientRect()), marks = cells.map(({ marked }) => marked);
    this.isUnfolded = isUnfolded;
    this.wasUnfolded ||= isUnfolded;
    this.show();
    const { marking } = this, from = this.moves;
    marking.cells.forEach((cell, to) => {
      if (!marking.isRevealed) marking.setMarked(cell, marks[from[to]]);
      if (mayMove()) move(cell.root, before[from[to]]);
    });
    if (!marking.isRevealed) this.changed();
  }

  /** For each element that is shown now, its position in the other arrangement. */
  get moves() {
    return this.isUnfolded ? this.sources : this.sources.map((_source, at) => this.sources.indexOf(at));
  }

  changed() {
    const { isRight, text } = judgeMarks(this.marking, this.hint);
    if (!isRight) this.status.textContent = text;
    else if (this.isUnfolded) this.status.textContent = _("All are marked. Fold the images back.");
    else if (this.wasUnfolded) this.finish(true);
    else this.status.textContent = _("All are marked. Unfold the images to see why.");
  }

  /** Shows the answer in both arrangements. ``isDone``: the reader has found it. */
  finish(isDone: boolean) {
    for (const marking of this.markings) showAnswer(marking, isDone);
    this.status.textContent = _("Elements of one color share a mean and a variance.");
    this.judge(true);
  }

  solve() {
    this.finish(false);
  }
}

/** ``from``: where its number stood before */
function move(cell: HTMLElement, from: DOMRect) {
  const { left, top } = cell.getBoundingClientRect();
  cell.animate([{ transform: `translate(${from.left - left}px, ${from.top - top}px)` }, { transform: "none" }], MOVE);
}
