// The figures of the story. What a reader chooses shows one of several states, which Python has computed.

import { find, findAll, html, uniqueNumber } from "../../figures/browser/common/dom.ts";
import { EXTRAS, type PageView } from "../../parts/browser/page.ts";
import { DepthChart, StartSlider } from "../start/sliders.ts";

/** The number of the state for the chosen options: the last control varies fastest. */
export const stateNumber = (controls: { options: string[] }[], chosen: number[]) => controls.reduce((number, { options }, i) => number * options.length + chosen[i], 0);

class StoryFigure {
  root: HTMLElement;
  page: PageView;
  data: StoryData;
  chosen?: number[];

  constructor(root: HTMLElement, page: PageView) {
    this.root = root;
    this.page = page;
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

  addSlider(parent: HTMLElement, { label, options, first }: StoryControl, number: number) {
    const range = { low: 0, high: options.length - 1, step: 1, first };
    const slider = new StartSlider(parent, label, range, (at) => options[at], () => this.choose(number, slider.value));
  }

  addButtons(parent: HTMLElement, { label, options, first }: StoryControl, number: number) {
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

  choose(control: number, option: number) {
    const { data, chosen = [] } = this;
    if (chosen[control] === option) return; // a slider that has been released
    chosen[control] = option;
    const state = stateNumber(data.controls, chosen);
    if (data.figures) this.showFigure(data.figures[state]);
    else this.showPictures((data.pictures ?? [])[state]);
  }

  /** ``number`` of a figure, in which the selected element stays selected if it has one */
  showFigure(number: number) {
    const place = find(this.root, ".nv-figure"), { figures } = this.page.data, shown = figures[number] as any;
    const { at } = (this.page.figures.get(place)?.view ?? {}) as { at?: number[] | null };
    if (at?.every((index, axis) => index < shown.grid.shape[axis])) figures[number] = { ...shown, at };
    place.dataset.figure = String(number);
    this.page.drawFigure(place);
  }

  showPictures(numbers: number[]) {
    findAll(this.root, ".nv-story-pictures figure").forEach((figure, i) => {
      const { address, alt, caption } = this.data.images[numbers[i]], image = find(figure, "img") as HTMLImageElement;
      if (image.src !== address) Object.assign(image, { src: address, alt });
      find(figure, "figcaption").textContent = caption;
    });
  }
}

EXTRAS.set(".nv-story-figure", StoryFigure);

const CONTROLS = ".nv-story :is(.nv-story-controls, .nv-start-controls) input";

/** Chooses in a drawing of the story what the reader has chosen in an earlier one. */
export function continueStory(before: HTMLElement, now: HTMLElement) {
  const [was, is] = [before, now].map((root) => findAll(root, CONTROLS) as HTMLInputElement[]);
  was.forEach((input, i) => {
    const other = is[i];
    if (!other || (other.value === input.value && other.checked === input.checked)) return;
    Object.assign(other, { value: input.value, checked: input.checked });
    if (input.type !== "radio" || input.checked) for (const name of ["input", "change"]) other.dispatchEvent(new Event(name));
  });
}
