// A field that takes the index of an element, and, beside the read-out, the button that takes the last edit back.

type ReadoutView = PanelHost & {
  line: HTMLElement, changes: Changes, slices: SlicesBar,
};

import { button, html, uniqueNumber } from "../common/dom.ts";
import { formatElement, formatNumber } from "../common/format.ts";
import { _ } from "../common/messages.ts";
import { plainSigns } from "../common/numbers.ts";
import { placeOf, tensorIndex } from "../tensor/sharing.ts";
import type { PanelHost } from "../tensor/drawn_panel.ts";
import type { Changes } from "./changes.ts";
import type { SlicesBar } from "./slices.ts";

const TYPING = "input:not([type=range])";

export class ReadoutTools {
  view: ReadoutView;
  undoButton = button("nv-button nv-undo", null, _("Undo"), () => this.undo());
  place = html("div", "nv-ask");
  field = html("input", "nv-index", html("code", "", this.place));
  message = html("div", "nv-index-message", this.place, "", { id: `nv-index-${uniqueNumber()}`, role: "alert" });

  constructor(view: ReadoutView) {
    this.view = view;
    const box = view.line;
    view.line = html("div", "nv-said", box);
    view.line.id = box.id;
    box.removeAttribute("id");
    box.append(this.undoButton);
    this.undoButton.title = _("Take the last change of a value back: Ctrl+Z");
    this.field.type = "text";
    this.field.setAttribute("aria-label", _("Index of the selected element"));
    this.field.setAttribute("aria-describedby", this.message.id);
    this.field.title = _("Type the index of an element and press Enter");
    this.field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") this.go();
      if (event.key === "Escape") this.write();
    });
    this.field.addEventListener("input", () => this.say(""));
    this.field.addEventListener("blur", () => this.message.textContent || this.write());
    view.root.addEventListener("keydown", (event) => {
      const isUndo = (event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === "z";
      if (!isUndo || (event.target as Element).matches(TYPING) || !view.changes.last) return;
      event.preventDefault();
      this.undo();
    });
  }

  update() {
    const { undoButton, view } = this, focused = undoButton.matches(":focus");
    undoButton.hidden = !view.changes.last;
    const figure = [...view.panels.values()].find(({ svg }) => svg.checkVisibility()); // those of the values are in a fold
    if (focused && undoButton.hidden) figure?.svg.focus({ preventScroll: true });
    if (!this.field.matches(":focus") && !this.message.textContent) this.write();
  }

  write() {
    const { view, field } = this, { grid } = view.data;
    field.value = view.at ? tensorIndex(view.data, view.at).join(", ") : "";
    field.placeholder = grid.shape.map(() => 0).join(", ");
    field.size = Math.max(3, grid.shape.map((size) => String(size - 1)).join(", ").length);
    this.say("");
  }

  say(message: string) {
    this.message.textContent = message;
    this.field.toggleAttribute("aria-invalid", Boolean(message));
  }

  // Selects the element of the typed index. The slices that have it are drawn.
  go() {
    const { view, field } = this, { grid, axes } = view.data, at = readIndex(field.value, grid.shape);
    if (!at) return this.say(whyNoIndex(field.value, axes, grid.shape));
    view.slices.reach(at);
    view.select(placeOf(view.data, at));
    this.write();
  }

  undo() {
    const { view } = this, undone = view.changes.undo();
    if (undone) view.announce(_("Undone: {element} = {value}", { element: formatElement("x", undone.at), value: formatNumber(undone.before) }));
  }
}

/** The index in a text such as "1, 2, 0, 3" or "x[1, 2, 0, 3]"; null if x has no such element. */
export function readIndex(text: string, shape: number[]): Index | null {
  const words = plainSigns(text).replace(/^\s*x?\s*[[(]|[\])]\s*$/g, "").trim().split(/\s*[,;]\s*|\s+/).filter(Boolean);
  const fits = words.length === shape.length && words.every((word, axis) => /^\d{1,15}$/.test(word) && Number(word) < shape[axis]);
  return fits ? words.map(Number) : null;
}

export function whyNoIndex(text: string, axes: string[], shape: number[]) {
  const ranges = axes.map((axis, number) => _("{axis} from 0 to {last}", { axis: axis.toUpperCase(), last: shape[number] - 1 }));
  return _("“{value}” is not an element of x. Write one number for each axis: {ranges}.", { value: text.trim(), ranges: ranges.join(_(", ")) });
}
