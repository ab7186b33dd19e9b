// Which slices of a large tensor are drawn: a slider for each axis that is not drawn whole.

type SlicedView = PanelHost & { received: ViewData, changes: Changes, start: number[] | null, turns: Turns, send(name: string, value: object): void, draw(): Promise<void> };

import { writeMissing } from "../common/app.ts";
import { html } from "../common/dom.ts";
import { formatCount } from "../common/format.ts";
import { _ } from "../common/messages.ts";
import { decodeData } from "../tensor/arrays.ts";
import { placeOf } from "../tensor/sharing.ts";
import { cutAxes, listSlices, movedGrid } from "../tensor/slices.ts";
import type { PanelHost } from "../tensor/drawn_panel.ts";
import type { Changes } from "./changes.ts";
import type { Turns } from "./turns.ts";

export class SlicesBar {
  axes = new Map<number, { text: HTMLElement, slider: HTMLInputElement }>();
  view: SlicedView;
  root = html("div", "nv-slices", null, "", { hidden: true });
  note = html("span", "nv-note", this.root);

  constructor(view: SlicedView) {
    this.view = view;
    view.root.prepend(this.root);
  }

  // Follows the data; a slider keeps the focus while it is dragged.
  set() {
    const { data } = this.view, { grid, sent, axes } = data, cut = (data.name ?? "x") === "x" ? cutAxes(grid) : []; // slices of a Jacobian cannot be moved
    this.root.hidden = !cut.length;
    for (const [axis, { slider }] of this.axes)
      if (!cut.includes(axis)) {
        slider.parentElement?.remove();
        this.axes.delete(axis);
      }
    for (const axis of cut) {
      const drawn = grid.indices[axis], { text, slider } = this.axes.get(axis) ?? this.add(axis), size = grid.shape[axis];
      const listed = `${axes[axis]} = ${listSlices(drawn)}`;
      text.textContent = _("{slices} ({drawn} of {size} drawn)", { slices: listed, drawn: drawn.length, size: formatCount(size) });
      slider.max = String(size - drawn.length);
      if (Number(slider.value) !== drawn[0]) slider.value = String(drawn[0]);
      slider.setAttribute("aria-label", _("First slice of {axis}", { axis: axes[axis] }));
      slider.setAttribute("aria-valuetext", listed);
    }
    const missing = data.panels.some(({ z }) => z) && grid.indices.some((drawn, axis) => drawn.some((index) => !sent.indices[axis].includes(index)));
    const text = missing && data.turn === undefined ? _("This file has no values of the slices that are blank.") : "";
    writeMissing(this.note, text, _("Open it in the app"));
  }

  add(axis: number) {
    const label = html("label", "nv-slice"), text = html("span", "", label), slider = html("input", "", label);
    this.root.insertBefore(label, this.note);
    slider.type = "range";
    slider.min = "0";
    slider.addEventListener("input", () => this.move(axis, Number(slider.value)));
    slider.addEventListener("change", () => this.send());
    this.axes.set(axis, { text, slider });
    return { text, slider };
  }

  move(axis: number, first: number) {
    const { grid } = this.view.data;
    if (grid.indices[axis][0] !== first) this.draw(grid.indices.map(([now], other) => (other === axis ? first : now)));
  }

  /** Draws the slices of an element, if they are not drawn. ``at`` of the whole tensor. */
  reach(at: Index) {
    const { view } = this, { grid } = view.data, wanted = grid.indices.map((drawn, axis) => (drawn.includes(at[axis]) ? drawn[0] : at[axis]));
    const start = movedGrid(grid, wanted).indices.map(([first]) => first);
    if (placeOf(view.data, at)) return;
    this.draw(start);
    this.send();
  }

  /** Draws other slices. Groups, counts and outlines follow at once; values that were not sent are blank. */
  draw(start: number[]) {
    const { view } = this, { received } = view;
    view.start = start;
    view.changes.take(decodeData(received, movedGrid(received.grid, start)));
    for (const panel of view.panels.values())
      panel.set(view.data.panels.find(({ key }) => key === panel.figure.key) ?? panel.figure, view.data);
    this.set();
    return view.draw();
  }

  send() {
    const { view } = this;
    if (view.start) view.send("move", { start: view.start, turn: view.turns.next() });
  }
}
