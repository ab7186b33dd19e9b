// The figures of the story. A paragraph, a number of the text or a control chooses a state of a figure.
// Python has computed the states.

import { find, findAll, html, uniqueNumber } from "../../figures/browser/common/dom.ts";
import { EXTRAS, type PageView } from "../../parts/browser/page.ts";
import { DepthChart, StartSlider } from "../start/sliders.ts";

/** A figure stands beside its text, and the reader likes motion. Elsewhere, a paragraph has a small picture. */
const FOLLOWS = "(min-width: 1000px) and (prefers-reduced-motion: no-preference)";

type Options = { options: string[] }[];

/** The number of the state for the chosen options: the last control varies fastest. */
export const stateNumber = (controls: Options, chosen: number[]) =>
  controls.reduce((number, { options }, i) => number * options.length + chosen[i], 0);

/** The options of a state. */
export function chosenOptions(controls: Options, state: number) {
  return controls.reduceRight<number[]>((chosen, { options }) => {
    const option = state % options.length;
    state = (state - option) / options.length;
    return [option, ...chosen];
  }, []);
}

/** Shows a choice in a control. */
type Setter = (option: number) => void;

class StoryFigure {
  root: HTMLElement;
  page: PageView;
  data: StoryData;
  chosen: number[];
  selected?: number[] | null; // by the reader; undefined: as each state has it
  setters: Setter[];

  constructor(root: HTMLElement, page: PageView) {
    this.root = root;
    this.page = page;
    this.data = JSON.parse(root.dataset.story ?? "");
    this.chosen = this.data.controls.map(({ first }) => first);
    this.setters = this.data.depth ? this.drawDepth(this.data.depth) : this.addControls();
    this.nameState();
    const section = root.closest(".nv-story-section") as HTMLElement;
    for (const image of findAll(section, "img[data-image]") as HTMLImageElement[])
      image.src = this.data.images[Number(image.dataset.image)].address;
    this.follow(section);
  }

  drawDepth(data: DepthData): Setter[] {
    const chart = new DepthChart(find(this.root, ".nv-start-figure"), data, () => {}), { slider, input } = chart;
    this.root.addEventListener("input", () => {
      this.chosen = [slider.value, Number(input.checked)];
      this.nameState();
    });
    const set = (change: () => void) => {
      change();
      chart.draw();
    };
    return [(option) => set(() => (slider.value = option)), (option) => set(() => (input.checked = Boolean(option)))];
  }

  addControls() {
    const place = html("div", "nv-story-controls", null);
    this.root.prepend(place);
    return this.data.controls.map((control, i) =>
      control.kind === "slider" ? this.addSlider(place, control, i) : this.addButtons(place, control, i));
  }

  addSlider(parent: HTMLElement, { label, options, first }: StoryControl, number: number): Setter {
    const range = { low: 0, high: options.length - 1, step: 1, first };
    const slider = new StartSlider(parent, label, range, (at) => options[at], () => this.choose(number, slider.value));
    return (option) => (slider.value = option);
  }

  addButtons(parent: HTMLElement, { label, options, first }: StoryControl, number: number): Setter {
    const group = html("fieldset", "", parent), name = `nv-story-${uniqueNumber()}`;
    html("legend", "", group, label);
    const chips = html("div", "nv-chips nv-switch", group);
    const inputs = options.map((text, i) => {
      const chip = html("label", "nv-chip", chips), input = html("input", "", chip);
      Object.assign(input, { type: "radio", name, value: String(i), checked: i === first });
      chip.append(text);
      input.addEventListener("change", () => this.choose(number, i));
      return input;
    });
    return (option) => (inputs[option].checked = true);
  }

  /** The last paragraph above a line of the window, or a number that a reader points at, chooses the state. */
  follow(section: HTMLElement) {
    const steps = findAll(section, ".nv-story-step[data-show]"), { root } = this, scroller = scrollerOf(root);
    const reach = () => {
      if (!root.isConnected) return document.removeEventListener("scroll", reach, true);
      const line = lineOf(scroller), last = steps.findLastIndex((step) => step.getBoundingClientRect().top <= line);
      if (last < 0 || root.dataset.reached === String(last)) return;
      root.dataset.reached = String(last);
      if (window.matchMedia(FOLLOWS).matches) this.show(Number(steps[last].dataset.show));
    };
    document.addEventListener("scroll", reach, { capture: true, passive: true });
    requestAnimationFrame(reach);
    for (const number of findAll(section, ".nv-story-number"))
      for (const event of ["pointermove", "focus", "click"])
        number.addEventListener(event, () => this.show(Number(number.dataset.show)));
  }

  show(state: number) {
    const before = this.chosen;
    if (state === stateNumber(this.data.controls, before)) return;
    this.chosen = chosenOptions(this.data.controls, state);
    this.chosen.forEach((option, i) => option !== before[i] && this.setters[i](option));
    this.draw();
  }

  choose(control: number, option: number) {
    if (this.chosen[control] === option) return; // a slider that has been released
    this.chosen[control] = option;
    this.draw();
  }

  draw() {
    const { data } = this, state = stateNumber(data.controls, this.chosen);
    this.nameState();
    if (data.figures) this.showFigure(data.figures[state]);
    if (data.pictures) this.showPictures(data.pictures[state]);
  }

  nameState() {
    const options = this.data.controls.map((control, i) => control.options[this.chosen[i]]);
    this.root.dataset.state = options.filter(Boolean).join(", ");
  }

  /** ``number`` of a figure, in which the element that the reader has selected stays selected */
  showFigure(number: number) {
    const place = find(this.root, ".nv-figure"), { figures } = this.page.data, shown = figures[number] as any;
    const { at, received } = (this.page.figures.get(place)?.view ?? {}) as any;
    if (received && String(at ?? "") !== String(received.at ?? "")) this.selected = at;
    const fits = this.selected?.every((index, axis) => index < shown.grid.shape[axis]);
    if (this.selected === null || fits) figures[number] = { ...shown, at: this.selected };
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

/** What scrolls an element. */
function scrollerOf(element: Element) {
  for (let at = element.parentElement; at && at !== document.body; at = at.parentElement)
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  return document.documentElement;
}

/** Where a paragraph is reached. It moves down as the page scrolls: the first and the last paragraph cross it, too. */
function lineOf({ scrollTop, scrollHeight, clientHeight }: Element) {
  return clientHeight * (0.3 + (0.4 * scrollTop) / Math.max(1, scrollHeight - clientHeight));
}

const CONTROLS = ".nv-story :is(.nv-story-controls, .nv-start-controls) input";

/** Takes over from an earlier drawing of the story what the reader has chosen, and the paragraphs that are reached. */
export function continueStory(before: HTMLElement, now: HTMLElement) {
  const [figures, others] = [before, now].map((root) => findAll(root, ".nv-story-figure"));
  others.forEach(({ dataset }, i) => (dataset.reached = figures[i]?.dataset.reached));
  const [was, is] = [before, now].map((root) => findAll(root, CONTROLS) as HTMLInputElement[]);
  was.forEach((input, i) => {
    const other = is[i];
    if (!other || (other.value === input.value && other.checked === input.checked)) return;
    Object.assign(other, { value: input.value, checked: input.checked });
    if (input.type === "radio" && !input.checked) return;
    for (const name of ["input", "change"]) other.dispatchEvent(new Event(name, { bubbles: true }));
  });
}
