// Before the headline of a layer that a reader picks, one can predict how many means it has, once for each layer, or skip it.

import { find, html } from "../../figures/browser/common/dom.js";
import { _ } from "../../figures/browser/common/messages.js";

/** @typedef {FigureData & { layer?: string, turn?: number }} LayerFigure */

/**
 * The name of a layer; "" for a pattern.
 * @param {string} layer
 */
const layerName = (layer) => layer.match(/^\w+(?=\()/)?.[0] ?? "";

export class HowMany {
  /** @type {Set<string>} The names of layers that have been shown. */
  shown = new Set();
  /** @type {LayerFigure | undefined} The figure that was shown last. */
  before;
  /** The layer that the reader is asked about, or "". */
  asked = "";
  /** Whether the reader uses a control, and not a link or Back. */
  isPicking = false;

  /** @param {HTMLElement} root of the page */
  constructor(root) {
    this.root = root;
    root.addEventListener("submit", (event) => {
      const form = /** @type {HTMLElement} */ (event.target);
      if (!form.matches(".nv-how-many")) return;
      event.preventDefault();
      this.reveal(/** @type {HTMLInputElement} */ (find(form, "input")), form.dataset.right ?? "");
    });
    root.addEventListener("click", ({ target }) => target instanceof Element && target.closest(".nv-skip") && this.reveal());
    for (const name of ["pointerdown", "keydown"]) window.addEventListener(name, this.pick, true);
    window.addEventListener("popstate", this.follow);
  }

  pick = () => {
    this.isPicking = window.parent === window; // a page around this one has the headline
  };

  follow = () => {
    this.isPicking = false;
  };

  remove() {
    for (const name of ["pointerdown", "keydown"]) window.removeEventListener(name, this.pick, true);
    window.removeEventListener("popstate", this.follow);
  }

  /**
   * Asks before the headline, or shows it. A toggle, a link and another tensor ask nothing.
   * @param {FigureData[]} figures
   */
  set(figures) {
    const figure = /** @type {LayerFigure | undefined} */ (figures.find(({ kind }) => kind === "view"));
    if (!figure?.layer) return;
    if (this.asks(figure)) this.asked = figure.layer;
    else if (this.asked !== figure.layer) this.asked = "";
    this.shown.add(layerName(figure.layer));
    this.before = figure;
    this.update();
  }

  /** @param {LayerFigure} figure */
  asks({ layer = "", turn, grid }) {
    const { before, shown, isPicking } = this, name = layerName(layer);
    return Boolean(isPicking && before && name && !shown.has(name) && before.turn === turn && String(before.grid?.shape) === String(grid?.shape));
  }

  update() {
    const form = /** @type {HTMLElement | null} */ (this.root.querySelector(".nv-how-many"));
    const sentence = /** @type {HTMLElement | null} */ (this.root.querySelector(".nv-part > .nv-sentence"));
    if (!form || !sentence) return;
    const isAsking = Boolean(this.asked);
    if (isAsking && form.hidden) form.style.minHeight = `${sentence.offsetHeight}px`; // the figure stays where it is
    form.hidden = !isAsking;
    sentence.hidden = isAsking;
    this.root.classList.toggle("nv-asking", isAsking);
  }

  /**
   * Shows the headline, and behind it whether the prediction was right.
   * @param {HTMLInputElement} [field] without it, the reader has skipped the question
   * @param {string} [right]
   */
  reveal(field, right) {
    this.asked = "";
    this.update();
    const sentence = find(this.root, ".nv-part > .nv-sentence");
    if (field) {
      const guess = field.value, isRight = Number(guess) === Number(right);
      html("span", "nv-predicted", sentence, isRight ? `✓ ${_("Your prediction is correct.")}` : _("You predicted: {guess}.", { guess })).dataset.right = String(isRight);
      field.value = "";
    }
    sentence.tabIndex = -1; // the button that had the focus is gone
    sentence.focus({ preventScroll: true });
  }
}
