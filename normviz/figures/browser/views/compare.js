// Several layers on one tensor: one card per layer. The element pointed at shows its peers under every layer at once.

import { html, uniqueNumber } from "../common/dom.js";
import { formatCount, formatElement } from "../common/format.js";
import { _, ngettext, words } from "../common/messages.js";
import { Cube } from "../panels/cube.js";
import { Panel } from "../panels/panel.js";
import { tensorIndex } from "../tensor/sharing.js";
import { FigureView } from "./view.js";

/** The row of panels with each kind of cards. @type {Record<Cards, string>} */
const ROWS = { mean: "stats", gamma: "params", cube: "cube" };
export const CARDS = /** @type {Cards[]} */ (Object.keys(ROWS));

export class CompareView extends FigureView {
  /** @type {Record<string, HTMLElement>} */
  rows;
  /** @type {HTMLElement} The radio buttons that choose the cards. */
  switch;
  /** @type {Cards} What is drawn of each layer. */
  cards = "mean";
  /** @type {Cards | undefined} The server's choice. */
  serverCards;

  arrange() {
    const { layers = [], panels } = this.data;
    this.takeCards();
    if (!this.switch) {
      this.switch = this.addSwitch();
      this.rows = Object.fromEntries(CARDS.map((kind) => [ROWS[kind], html("div", `nv-row nv-layers nv-${ROWS[kind]}`, this.sharingRow)]));
      this.sharingRow.append(this.line);
    }
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
  }

  // Takes the server's choice, unless a newer one waits for its response. Without a server, only a changed one.
  takeCards() {
    const { cards = "mean", turn } = this.data;
    if (turn === undefined ? cards !== this.serverCards : this.upToDate) this.cards = cards;
    this.serverCards = cards;
  }

  addSwitch() {
    const group = html("div", "nv-chips nv-switch", this.sharingRow), name = `nv-cards-${uniqueNumber()}`;
    /** @type {Record<Cards, string>} */
    const labels = { mean: _("mean"), gamma: _("gamma"), cube: _("mean as a cube") };
    group.setAttribute("role", "radiogroup");
    group.setAttribute("aria-label", _("What each layer shares"));
    for (const kind of CARDS) {
      const label = html("label", "nv-chip", group), input = html("input", "", label);
      Object.assign(input, { type: "radio", name, value: kind });
      label.append(labels[kind]);
      input.addEventListener("change", () => this.choose(kind));
    }
    return group;
  }

  /** @param {Cards} cards */
  choose(cards) {
    this.cards = cards;
    this.hideParts(this.data.hidden ?? []);
    this.draw();
    this.send("cards", { cards, turn: this.turns.next() });
  }

  /**
   * Of the rows that a link does not hide, one is shown.
   * @param {string[]} names
   */
  hideParts(names) {
    const open = CARDS.filter((kind) => !names.includes(ROWS[kind])), shown = open.includes(this.cards) ? this.cards : open[0];
    super.hideParts([...names, ...open.filter((kind) => kind !== shown).map((kind) => ROWS[kind])]);
    this.switch.hidden = open.length < 2;
    for (const input of this.switch.querySelectorAll("input")) {
      input.checked = input.value === shown;
      /** @type {HTMLElement} */ (input.parentElement).hidden = !open.includes(/** @type {Cards} */ (input.value));
    }
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
