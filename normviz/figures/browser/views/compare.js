// Several layers on one tensor: one column per layer. The element pointed at shows its peers under every layer at once.

import { html } from "../common/dom.js";
import { formatCount, formatElement } from "../common/format.js";
import { _, ngettext, words } from "../common/messages.js";
import { Cube } from "../panels/cube.js";
import { Panel } from "../panels/panel.js";
import { tensorIndex } from "../tensor/sharing.js";
import { FigureView } from "./view.js";

const ROWS = ["cube", "stats", "params"];

export class CompareView extends FigureView {
  /** @type {Record<string, HTMLElement> | undefined} */
  rows;

  arrange() {
    const { layers = [], panels } = this.data;
    this.rows ??= Object.fromEntries(ROWS.map((row) => [row, html("div", `nv-row nv-layers nv-${row}`, this.sharingRow)]));
    this.sharingRow.className = "nv-compare";
    this.counts.hidden = this.valuesRow.hidden = this.arithmetic.hidden = true;
    if (String([...this.panels.keys()]) !== String(panels.map(({ key }) => key))) { // columns stand in the order of the layers
      for (const panel of this.panels.values()) panel.root.remove();
      this.panels.clear();
    }
    for (const figure of panels) {
      const Kind = /** @type {typeof Panel} */ (figure.scale === "cube" ? Cube : Panel);
      const panel = this.panels.get(figure.key) ?? new Kind(this.rows[figure.row ?? ""], this, figure.key);
      this.panels.set(figure.key, panel);
      panel.set(figure, this.data);
    }
    this.root.style.setProperty("--nv-across", String(layers.length > 4 ? 3 : layers.length));
    this.sharingRow.insertBefore(this.line, this.rows.stats);
  }

  /** @param {Panel} panel */
  heightOf(panel) {
    if (this.beside) return 170;
    if (this.narrow) return 300;
    return panel.figure.row === "cube" ? 250 : 270;
  }

  writeArithmetic() {}

  /** @param {Index | null} index */
  readout(index) {
    if (!index) return [[_("Point at an element to see its peers under every layer.")]];
    const layers = (this.data.layers ?? []).map(({ name }, number) => [_("{layer}: ", { layer: name }), ...this.describeLayer(number)]);
    return [[{ code: formatElement("x", tensorIndex(this.data, index)) }], ...layers];
  }

  /**
   * With how many others an element shares its mean and its gamma.
   * @param {number} number of the layer
   * @returns {Phrase}
   */
  describeLayer(number) {
    const sharings = this.data.sharings ?? {}, stats = /** @type {Tabled<Statistics>} */ (sharings[`stats${number}`]), params = sharings[`params${number}`];
    return [...words(SHARED[stats.center ? "mean" : "meanSquare"](stats.size - 1), countOf(stats)), _("{first}, {second}", { first: "", second: "" }),
      ...(params ? words(SHARED.gamma(params.size - 1), countOf(params)) : [_("no gamma")])];
  }
}

/** @param {Sharing} sharing */
const countOf = ({ size }) => ({ others: { strong: formatCount(size - 1) } });

/** What an element shares with others. @type {Record<"mean" | "meanSquare" | "gamma", (others: number) => string>} */
const SHARED = {
  mean: (others) => others ? ngettext("{others} shares its mean", "{others} share its mean", others) : _("none shares its mean"),
  meanSquare: (others) =>
    others ? ngettext("{others} shares its mean square", "{others} share its mean square", others) : _("none shares its mean square"),
  gamma: (others) => others ? ngettext("{others} shares its gamma", "{others} share its gamma", others) : _("none shares its gamma"),
};
