// Several values of one tensor side by side, with the same element active in all of them.

import { formatElement, formatNumber } from "../common/format.ts";
import { _, words } from "../common/messages.ts";
import { sameIndex, tensorIndex } from "../tensor/sharing.ts";
import { sentPlace } from "../tensor/slices.ts";
import { FigureView } from "./view.ts";
import type { Panel } from "../panels/panel.ts";

export class ValuesView extends FigureView {
  arrange() {
    super.arrange();
    const { panels, hidden = [] } = this.data, visible = panels.filter(({ key }) => !hidden.includes(key)).length;
    this.valuesRow.hidden = false;
    this.sharingRow.hidden = this.counts.hidden = this.arithmetic.hidden = true;
    this.sharingRow.after(this.valuesRow);
    this.root.style.setProperty("--nv-across", String(visible === 4 ? 2 : Math.min(visible || 1, 4))); // two by two: then numbers fit into the cells
    this.valuesRow.classList.add("nv-many");
    this.root.classList.toggle("nv-square", !!this.data.square);
  }

  writeArithmetic() {}

  /** A figure of one element keeps its numbers in a file: only a server computes the numbers of another element. */
  select(index: Index | null, panel?: Panel) {
    const { at, of_element: isOfElement, turn, name = "x" } = this.data;
    if (!isOfElement || turn !== undefined) return super.select(index, panel);
    this.cursor = this.pointed = null;
    this.follow();
    if (!at || !index || sameIndex(tensorIndex(this.data, index), at)) return;
    const message = _("The numbers are those of {element}.", { element: formatElement(name, at) });
    this.showError(message);
    this.announce(message);
    this.send("select", { at: tensorIndex(this.data, index) });
  }

  heightOf() {
    if (this.data.square) return Math.min(this.width, 640);
    if (this.beside) return 200;
    if (this.narrow) return 280;
    return this.data.panels.length > 2 ? 270 : 320;
  }

  readout(index: Index | null): Phrase[] {
    if (!index) return [[_("Point at an element to read its values.")]];
    const values = !sentPlace(this.data, index) ? [] : this.data.panels.map(({ key, title }) =>
      words(_("{name} {value}"), { name: title, value: { strong: formatNumber(this.valueAt(key, index)) } }));
    return [[{ code: formatElement(this.data.name ?? "x", tensorIndex(this.data, index)) }], ...values];
  }
}
