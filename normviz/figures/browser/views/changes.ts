// What a reader changes in the figure: values of x, and one gamma and beta for all elements. The browser shows at once what follows, in the
// app until the server answers, in a file until the next view.

/** ``given``: without changes */
type ChangeableView = PanelHost & { colors: Theme, given: DecodedData, turns: Turns, heightOf(panel: DrawnPanel): number, refresh(): void, send(name: string, value: object): void };
/** ``at``: of the whole tensor */
type NewValue = { at: Index; value: number };
type Edit = { at: Index; before: number; after: number };

import { isDrawnWhole, withGammaAndBeta, withValue } from "../tensor/edited.ts";
import { placeOf, tensorIndex } from "../tensor/sharing.ts";
import type { DrawnPanel, PanelHost } from "../tensor/drawn_panel.ts";
import type { Turns } from "./turns.ts";

export class Changes {
  values = new Map<string, NewValue>(); // what the data do not have yet, by element
  choice: GammaBetaChoice | null = null;
  edits: Edit[] = []; // what can be undone, the last edit last
  /** While a value is dragged: what was before. */
  held: { at: Index, before: number, pending: NewValue | undefined, selected: Index | null } | null = null;
  choosing = false; // whether a slider of gamma or beta is dragged
  view: ChangeableView;

  constructor(view: ChangeableView) {
    this.view = view;
  }

  /** Takes data. The choice of gamma and beta stays while the layer does; a file says which one its view has. */
  take(data: DecodedData) {
    const { view } = this;
    if (view.data?.layer !== data.layer && data.choice === undefined) this.choice = null;
    if (String(view.data?.grid.shape) !== String(data.grid.shape)) {
      this.values.clear();
      [this.edits, this.held] = [[], null];
    }
    view.given = data;
    this.apply();
  }

  /** The server has answered to all changes, or a file shows another view: their results are in the data, or are forgotten. */
  settle({ turn, choice }: ViewData) {
    if (!this.held) this.values.clear();
    if (turn !== undefined && !this.choosing) this.choice = null;
    if (turn === undefined && choice !== undefined) this.choice = choice;
  }

  apply() {
    const { view, choice } = this;
    view.data = choice ? withGammaAndBeta(view.given, choice) : view.given;
    for (const { at, value } of this.values.values()) {
      const index = placeOf(view.data, at);
      if (index) view.data = withValue(view.data, index, value);
    }
  }

  /** Shows the changes. Only the panels whose numbers differ are drawn again. */
  show() {
    const { view } = this, panels = [...view.panels.values()], widths = panels.map((panel) => panel.body.clientWidth); // all are read before any is written
    this.apply();
    panels.forEach((panel, number) => {
      const before = panel.figure, figure = view.data.panels.find(({ key }) => key === before.key);
      if (!figure) return;
      panel.set(figure, view.data);
      if (figure !== before) panel.draw(widths[number], view.heightOf(panel), view.colors);
    });
    view.refresh();
  }

  /** Whether the value of an element can be dragged: x can be edited, and what follows in its group can be computed here. */
  canDrag(index: Index) {
    const { data } = this.view;
    return Boolean(data.editable || data.fixed) && isDrawnWhole(data, index);
  }

  /** Shows another value of an element, which is selected, while it is dragged. */
  preview(index: Index, value: number) {
    const { view } = this, at = tensorIndex(view.data, index);
    this.held ??= { at, before: view.valueAt("x", index), pending: this.values.get(String(at)), selected: view.at };
    this.values.set(String(at), { at, value: Math.fround(value) });
    view.at = index;
    this.show();
  }

  /** The reader does not want the value that is dragged. */
  cancel() {
    const { held, view } = this;
    if (!held) return;
    this.held = null;
    view.at = held.selected;
    if (held.pending) this.values.set(String(held.at), held.pending);
    else this.values.delete(String(held.at));
    this.show();
  }

  /** Another value of one element, which is selected. The server, if there is one, computes with it. */
  edit(index: Index, value: number) {
    const { view } = this, before = this.held?.before ?? view.valueAt("x", index), at = tensorIndex(view.data, index);
    this.edits.push({ at, before, after: Math.fround(value) });
    this.send(index, value);
  }

  send(index: Index, value: number) {
    const { view } = this, at = tensorIndex(view.data, index);
    this.held = null;
    this.values.set(String(at), { at, value: Math.fround(value) });
    view.at = index;
    view.pointed = null;
    view.send("edit", { at, value, turn: view.turns.next() });
    this.show();
  }

  /** The last edit, unless x has changed since, or is being changed; null if there is none. */
  get last() {
    const edit = this.edits.at(-1), index = edit && !this.held ? placeOf(this.view.data, edit.at) : null;
    return edit && index && this.view.valueAt("x", index) === edit.after ? { ...edit, index } : null;
  }

  /** Takes the last edit back. Returns it, or null. */
  undo() {
    const { last } = this;
    if (!last) return null;
    this.edits.pop();
    this.send(last.index, last.before);
    return last;
  }

  /** One gamma and one beta for all elements, or the layer's own. ``isFinal``: whether the server is asked for them. */
  choose(choice: GammaBetaChoice | null, isFinal: boolean) {
    const { view } = this, { gamma = null, beta = null } = choice ?? {};
    this.choice = choice;
    this.choosing = !isFinal;
    if (isFinal) view.send("scale", { gamma, beta: view.data.params?.bias ? beta : null, turn: view.turns.next() });
    this.show();
  }
}
