// The figures of the story. What a reader chooses shows one of several states, which Python has computed.

import { find, findAll, html, uniqueNumber } from "../../figures/browser/common/dom.js";
import { EXTRAS } from "../../parts/browser/page.js";
import { DepthChart, StartSlider } from "../start/sliders.js";

/** @typedef {{ label: string, options: string[], kind: "slider" | "buttons", first: number }} StoryControl */
/** @typedef {{ address: string, alt: string, caption: string }} StoryPicture */
/**
 * @typedef {{ depth?: any, controls: StoryControl[], figures?: number[], images: StoryPicture[], pictures?: number[][] }} StoryData
 *   ``figures``: of the page, one for each state; ``pictures``: the numbers of the images of each state
 */

/**
 * The number of the state for the chosen options: the last control varies fastest.
 * @param {{ options: string[] }[]} controls
 * @param {number[]} chosen
 */
export const stateNumber = (controls, chosen) => controls.reduce((number, { options }, i) => number * options.length + chosen[i], 0);

class StoryFigure {
  /**
   * @param {HTMLElement} root
   * @param {import("../../parts/browser/page.js").PageView} page
   */
  constructor(root, page) {
    this.root = root;
    this.page = page;
    /** @type {StoryData} */
    this.data = JSON.parse(root.dataset.story ?? "");
    if (this.data.depth) {
      new DepthChart(find(root, ".nv-start-figure"), this.data.depth, () => {});
      return;
    }
    this.chosen = this.data.controls.map(({ first }) => first);
    const place = html("div", "nv-story-controls", null);
    if (this.data.controls.length) root.prepend(place);
    this.data.controls.forEach((control, i) => (control.kind === "slider" ? this.addSlider : this.addButtons).call(this, place, control, i));
  }

  /**
   * @param {HTMLElement} parent
   * @param {StoryControl} control
   * @param {number} number
   */
  addSlider(parent, { label, options, first }, number) {
    const range = { low: 0, high: options.length - 1, step: 1, first };
    const slider = new StartSlider(parent, label, range, (at) => options[at], () => this.choose(number, slider.value));
  }

  /**
   * @param {HTMLElement} parent
   * @param {StoryControl} control
   * @param {number} number
   */
  addButtons(parent, { label, options, first }, number) {
    const group = html("fieldset", "", parent), name = `nv-story-${uniqueNumber()}`;
    html("legend", "", group, label);
    const chips = html("div", "nv-chips nv-switch", group);
    options.forEach((text, i) => {
      const chip = html("label", "nv-chip", chips), input = html("input", "", chip);
      Object.assign(input, { type: "radio", name, value: String(i), checked: i === first });
      chip.append(text);
      input.addEventListener("change", () => this.choose(number, i));
    });
  }

  /**
   * @param {number} control
   * @param {number} option
   */
  choose(control, option) {
    const { data, chosen = [] } = this;
    if (chosen[control] === option) return; // a slider that has been released
    chosen[control] = option;
    const state = stateNumber(data.controls, chosen);
    if (data.figures) this.showFigure(data.figures[state]);
    else this.showPictures((data.pictures ?? [])[state]);
  }

  /** @param {number} number of a figure, in which the selected element stays selected if it has one */
  showFigure(number) {
    const place = find(this.root, ".nv-figure"), { figures } = this.page.data, shown = /** @type {any} */ (figures[number]);
    const { at } = /** @type {{ at?: number[] | null }} */ (this.page.figures.get(place)?.view ?? {});
    if (at?.every((index, axis) => index < shown.grid.shape[axis])) figures[number] = { ...shown, at };
    place.dataset.figure = String(number);
    this.page.drawFigure(place);
  }

  /** @param {number[]} numbers */
  showPictures(numbers) {
    findAll(this.root, ".nv-story-pictures figure").forEach((figure, i) => {
      const { address, alt, caption } = this.data.images[numbers[i]], image = /** @type {HTMLImageElement} */ (find(figure, "img"));
      if (image.src !== address) Object.assign(image, { src: address, alt });
      find(figure, "figcaption").textContent = caption;
    });
  }
}

EXTRAS.set(".nv-story-figure", StoryFigure);

const CONTROLS = ".nv-story :is(.nv-story-controls, .nv-start-controls) input";

/**
 * Chooses in a drawing of the story what the reader has chosen in an earlier one.
 * @param {HTMLElement} before
 * @param {HTMLElement} now
 */
export function continueStory(before, now) {
  const [was, is] = [before, now].map((root) => /** @type {HTMLInputElement[]} */ (findAll(root, CONTROLS)));
  was.forEach((input, i) => {
    const other = is[i];
    if (!other || (other.value === input.value && other.checked === input.checked)) return;
    Object.assign(other, { value: input.value, checked: input.checked });
    if (input.type !== "radio" || input.checked) for (const name of ["input", "change"]) other.dispatchEvent(new Event(name));
  });
}
