// Before the headline of a layer that a reader picks, one can predict how many means it has, once for each layer, or skip it.

import { find, html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";

type LayerFigure = FigureData & { layer?: string; turn?: number };

/** The name of a layer; "" for a pattern. */
const layerName = (layer: string) => layer.match(/^\w+(?=\()/)?.[0] ?? "";

export class HowMany {
  shown = new Set<string>(); // the names of layers that have been shown
  before?: LayerFigure; // the figure that was shown last
  asked = ""; // the layer that the reader is asked about, or ""
  isPicking = false; // whether the reader uses a control, and not a link or Back
  root: HTMLElement;

  constructor(root: HTMLElement) {
    this.root = root;
    root.addEventListener("submit", (event) => {
      const form = event.target as HTMLElement;
      if (!form.matches(".nv-how-many")) return;
      event.preventDefault();
      this.reveal(find(form, "input") as HTMLInputElement, form.dataset.right ?? "");
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

  /** Asks before the headline, or shows it. A toggle, a link and another tensor ask nothing. */
  set(figures: FigureData[]) {
    const figure = figures.find(({ kind }) => kind === "view") as LayerFigure | undefined;
    if (!figure?.layer) return;
    if (this.asks(figure)) this.asked = figure.layer;
    else if (this.asked !== figure.layer) this.asked = "";
    this.shown.add(layerName(figure.layer));
    this.before = figure;
    this.update();
  }

  asks({ layer = "", turn, grid }: LayerFigure) {
    const { before, shown, isPicking } = this, name = layerName(layer);
    return Boolean(isPicking && before && name && !shown.has(name) && before.turn === turn && String(before.grid?.shape) === String(grid?.shape));
  }

  update() {
    const form = this.root.querySelector(".nv-how-many") as HTMLElement | null;
    const sentence = this.root.querySelector(".nv-part > .nv-sentence") as HTMLElement | null;
    if (!form || !sentence) return;
    const isAsking = Boolean(this.asked);
    if (isAsking && form.hidden) form.style.minHeight = `${sentence.offsetHeight}px`; // the figure stays where it is
    form.hidden = !isAsking;
    sentence.hidden = isAsking;
    this.root.classList.toggle("nv-asking", isAsking);
  }

  /**
   * Shows the headline, and behind it whether the prediction was right.
   * @param field without it, the reader has skipped the question
   */
  reveal(field?: HTMLInputElement, right?: string) {
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
