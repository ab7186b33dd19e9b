// Several layers on one tensor: one card per layer. The element pointed at shows its peers under every layer at once.

import { html, scaleOf, uniqueNumber, visibleWidth } from "../common/dom.ts";
import { formatCount, formatElement } from "../common/format.ts";
import { _, betweenParts, ngettext, words } from "../common/messages.ts";
import { Cube } from "../panels/cube.ts";
import { Panel } from "../panels/panel.ts";
import { Geometry } from "../tensor/geometry.ts";
import { tensorIndex } from "../tensor/sharing.ts";
import { FigureView } from "./view.ts";

/** The row of panels with each kind of cards. */
const ROWS: Record<Cards, string> = { mean: "stats", gamma: "params", cube: "cube" };
const AROUND_CARDS = 270, OVER_CELLS = 120, BESIDE_CELLS = 80; // px: the other parts of a projected page, and of a card

export const CARDS = Object.keys(ROWS) as Cards[];

export class CompareView extends FigureView {
  rows: Record<string, HTMLElement>;
  switch: HTMLElement; // the radio buttons that choose the cards
  cards: Cards = "mean"; // what is drawn of each layer
  serverCards?: Cards; // the server's choice

  arrange() {
    const { panels } = this.data;
    this.takeCards();
    if (!this.switch) {
      this.switch = this.addSwitch();
      this.rows = Object.fromEntries(CARDS.map((kind) => [ROWS[kind], html("div", `nv-row nv-layers nv-${ROWS[kind]}`, this.sharingRow)]));
      this.sharingRow.append(this.band);
    }
    this.sharingRow.className = "nv-compare";
    this.counts.hidden = this.valuesRow.hidden = this.arithmetic.hidden = true;
    if (String([...this.panels.keys()]) !== String(panels.map(({ key }) => key))) { // columns stand in the order of the layers
      for (const panel of this.panels.values()) panel.root.remove();
      this.panels.clear();
    }
    for (const figure of panels) {
      const Kind = (figure.scale === "cube" ? Cube : Panel) as typeof Panel;
      const panel = this.panels.get(figure.key) ?? new Kind(this.rows[figure.row ?? ""], this, figure.key);
      this.panels.set(figure.key, panel);
      panel.set(figure, this.data);
    }
  }

  async draw() {
    this.root.style.setProperty("--nv-across", String(this.cardsInLine()));
    await super.draw();
  }

  // For a projector, wide cells stand in two lines if they are larger there.
  cardsInLine() {
    const { layers = [], grid } = this.data, usual = layers.length > 4 ? 3 : layers.length;
    const scale = scaleOf(this.root);
    if (!this.root.closest(".nv-present") || this.cards === "cube") return usual;
    return cardsAcross(grid, layers.length, usual, visibleWidth(this.root), window.innerHeight / scale, scale);
  }

  // Takes the server's choice, unless a newer one waits for its response. Without a server, only a changed one.
  takeCards() {
    const { cards = "mean", turn } = this.data;
    if (turn === undefined ? cards !== this.serverCards : this.upToDate) this.cards = cards;
    this.serverCards = cards;
  }

  addSwitch() {
    const group = html("div", "nv-chips nv-switch", this.sharingRow), name = `nv-cards-${uniqueNumber()}`;
    const labels: Record<Cards, string> = { mean: _("mean"), gamma: _("gamma"), cube: _("mean as a cube") };
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

  choose(cards: Cards) {
    this.cards = cards;
    this.hideParts(this.data.hidden ?? []);
    this.draw();
    this.send("cards", { cards, turn: this.turns.next() });
  }

  /** Of the rows that a link does not hide, one is shown. */
  hideParts(names: string[]) {
    const open = CARDS.filter((kind) => !names.includes(ROWS[kind])), shown = open.includes(this.cards) ? this.cards : open[0];
    super.hideParts([...names, ...open.filter((kind) => kind !== shown).map((kind) => ROWS[kind])]);
    this.switch.hidden = open.length < 2;
    for (const input of this.switch.querySelectorAll("input")) {
      input.checked = input.value === shown;
      (input.parentElement as HTMLElement).hidden = !open.includes(input.value as Cards);
    }
  }

  heightOf(panel: Panel) {
    if (this.beside) return 170;
    if (this.narrow) return 300;
    return panel.figure.row === "cube" ? 250 : 270;
  }

  placeBand() {}

  writeArithmetic() {}

  readout(index: Index | null) {
    if (!index) return [[_("Point at an element to see its peers under every layer.")]];
    const layers = (this.data.layers ?? []).map(({ name }, number) => [_("{layer}: ", { layer: name }), ...this.describeLayer(number)]);
    return [[{ code: formatElement("x", tensorIndex(this.data, index)) }], ...layers];
  }

  /** With how many others an element shares its mean and, unless gamma is hidden, its gamma. */
  describeLayer(number: number): Phrase {
    const sharings = this.data.sharings ?? {}, stats = sharings[`stats${number}`] as Tabled<Statistics>, params = sharings[`params${number}`];
    const mean = words(SHARED[stats.center ? "mean" : "meanSquare"](stats.size - 1), countOf(stats));
    if (this.data.hidden?.includes(ROWS.gamma)) return mean;
    return [...mean, betweenParts(),
      ...(params ? words(SHARED.gamma(params.size - 1), countOf(params)) : [_("no gamma")])];
  }
}

/**
 * How many cards of a projected page stand in a line: two where their cells are clearly larger then.
 * @param width of a line
 * @param height of the window
 * @param scale how much the page is enlarged; ``width`` and ``height`` are without it
 */
export function cardsAcross(grid: GridData, cards: number, usual: number, width: number, height: number, scale = 1) {
  const cellArea = (across: number) => {
    const most = (height - AROUND_CARDS) / Math.ceil(cards / across) - OVER_CELLS;
    const { cellW, cellH } = new Geometry(grid, width / across - BESIDE_CELLS, most, { most: 56, scale });
    return cellW * cellH;
  };
  return cellArea(2) > 1.5 * cellArea(usual) ? 2 : usual;
}

const countOf = ({ size }: Sharing) => ({ others: { strong: formatCount(size - 1) } });

/** What an element shares with others. */
const SHARED: Record<"mean" | "meanSquare" | "gamma", (others: number) => string> = {
  mean: (others) => others ? ngettext("{others} shares its mean", "{others} share its mean", others) : _("none shares its mean"),
  meanSquare: (others) =>
    others ? ngettext("{others} shares its mean square", "{others} share its mean square", others) : _("none shares its mean square"),
  gamma: (others) => others ? ngettext("{others} shares its gamma", "{others} share its gamma", others) : _("none shares its gamma"),
};
