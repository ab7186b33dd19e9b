// The figures of Start here that sliders move: four numbers on a line, and the layers of a deep network.

import { html } from "../../figures/browser/common/dom.ts";
import { formatNumber, formatShort } from "../../figures/browser/common/format.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { Line } from "./line.ts";

const NEAR = 0.001; // eps makes the standard deviation of normalized values slightly less than 1
const DECADES = 3; // powers of ten on either side of 1
const DIGITS_SHOWN = 2;

type SliderRange = { low: number; high: number; step: number; first: number };

/** A slider with its name and its value. */
export class StartSlider {
  output: HTMLOutputElement;
  input: HTMLInputElement;
  text: (value: number) => string;

  /** ``text`` of a value; ``isFinal``: the reader has let go of it, or pressed a key */
  constructor(parent: HTMLElement, label: string, { low, high, step, first }: SliderRange, text: (value: number) => string, changed: (isFinal: boolean) => void) {
    const root = html("label", "nv-start-slider", parent);
    html("span", "", root, label);
    this.output = html("output", "", root);
    this.input = html("input", "", root);
    Object.assign(this.input, { type: "range", ariaLabel: label, min: String(low), max: String(high), step: String(step) });
    this.text = text;
    this.value = first;
    this.input.addEventListener("input", () => {
      this.write();
      changed(false);
    });
    this.input.addEventListener("change", () => changed(true));
  }

  get value() {
    return Number(this.input.value);
  }

  set value(value) {
    this.input.value = String(value);
    this.write();
  }

  write() {
    this.output.textContent = this.text(this.value);
    this.input.setAttribute("aria-valuetext", this.output.textContent);
  }
}

export function addSwitch(parent: HTMLElement, label: string, changed: () => void) {
  const root = html("label", "nv-start-switch", parent), input = html("input", "", root);
  input.type = "checkbox";
  input.role = "switch";
  html("span", "", root, label);
  input.addEventListener("change", changed);
  return input;
}

const SLIDER_NAMES: Record<string, () => string> = { subtract: () => _("subtract"), divide: () => _("divide by"), gamma: () => "gamma", beta: () => "beta" };

/** Four numbers on a line, moved by two sliders. Their mean and standard deviation are torch's, moved by the same map. */
export class NumberLine implements StartFigure {
  data: LineData;
  judge: (isDone: boolean) => void;
  line: Line;
  spread: HTMLElement;
  middle: HTMLElement;
  dots: HTMLElement[];
  rule: HTMLElement;
  numbers: HTMLElement[];
  mean: HTMLSpanElement;
  std: HTMLSpanElement;
  sliders: StartSlider[];

  constructor(parent: HTMLElement, data: LineData, judge: (isDone: boolean) => void) {
    this.data = data;
    this.judge = judge;
    this.line = new Line(parent, data.range);
    for (const ring of data.rings ?? []) this.line.at(this.line.add("ring"), ring);
    this.spread = this.line.add("spread");
    this.middle = this.line.add("mean");
    this.dots = data.values.map(() => this.line.add("dot"));
    this.numbers = data.values.map(() => this.line.add("number"));
    this.rule = html("code", "nv-line-rule", parent);
    this.dots.forEach((dot, i) => dot.addEventListener("pointerdown", (event) => this.drag(event, dot, i)));
    const goals = html("p", "nv-line-goals", parent);
    this.mean = html("span", "nv-line-of-mean", goals);
    this.std = html("span", "nv-line-of-spread", goals);
    const controls = html("div", "nv-start-controls", parent);
    this.sliders = data.sliders.map((slider) => new StartSlider(controls, SLIDER_NAMES[slider.name](), slider, formatNumber, (isFinal) => this.moved(isFinal)));
    this.moved(false);
  }

  /** The factor and the term of the map. */
  get map() {
    const [first, second] = this.sliders.map(({ value }) => value);
    return this.data.kind === "affine" ? { factor: first, term: second } : { factor: 1 / second, term: -first / second };
  }

  moved(isFinal: boolean) {
    const { values, mean, std, goal, range, kind } = this.data, { factor, term } = this.map, [first, second] = this.sliders.map(({ value }) => formatNumber(value));
    const now = values.map((value) => factor * value + term), middle = factor * mean + term, spread = Math.abs(factor) * std;
    now.forEach((value, i) => {
      for (const shown of [this.dots[i], this.numbers[i]]) this.line.at(shown, value);
      this.numbers[i].textContent = formatShort(value);
    });
    this.line.at(this.middle, middle);
    this.line.at(this.spread, middle - spread);
    this.spread.style.width = `${(200 * spread) / (range[1] - range[0])}%`;
    this.rule.textContent = kind === "affine" ? `${first} · x̂ + ${second}` : `(x − ${first}) / ${second}`;
    this.write(this.mean, _("mean {value}", { value: formatShort(middle) }), middle, goal.mean);
    this.write(this.std, _("standard deviation {value}", { value: formatShort(spread) }), spread, goal.std);
    this.line.root.ariaLabel = `${this.numbers.map(({ textContent }) => textContent).join(", ")}; ${this.mean.textContent}; ${this.std.textContent}`;
    if (isFinal) this.judge(isNear(middle, goal.mean) && isNear(spread, goal.std));
  }

  /** A dragged dot moves one of the sliders: an outer dot spreads the dots, an inner one shifts all of them. */
  drag(event: PointerEvent, dot: HTMLElement, i: number) {
    const { values } = this.data, isOuter = i === 0 || i === values.length - 1, [first, second] = this.sliders;
    const follow = ({ clientX }: PointerEvent) => {
      const to = this.line.valueAt(clientX);
      if (this.data.kind === "affine") {
        if (isOuter) first.value = (to - second.value) / values[i];
        else second.value = to - first.value * values[i];
      } else if (!isOuter) first.value = values[i] - to * second.value;
      else if (to * (values[i] - first.value) > 0) second.value = (values[i] - first.value) / to;
      this.moved(false);
    };
    event.preventDefault();
    dot.setPointerCapture(event.pointerId);
    dot.addEventListener("pointermove", follow);
    dot.addEventListener("lostpointercapture", () => {
      dot.removeEventListener("pointermove", follow);
      this.moved(true);
    }, { once: true });
  }

  write(place: HTMLElement, text: string, value: number, goal: number) {
    place.textContent = text;
    place.classList.toggle("nv-line-reached", isNear(value, goal));
  }

  solve() {
    this.sliders.forEach((slider, i) => (slider.value = this.data.sliders[i].goal));
    this.moved(true);
  }
}

const isNear = (value: number, goal: number) => Math.abs(value - goal) < NEAR;

/** The standard deviation of what each layer of a network computes: without normalization it grows or shrinks from layer to layer. */
export class DepthChart implements StartFigure {
  data: DepthData;
  chart: HTMLDivElement;
  bars: HTMLElement[];
  last: HTMLSpanElement;
  slider: StartSlider;
  input: HTMLInputElement;
  judge: (isDone: boolean) => void;

  constructor(parent: HTMLElement, data: DepthData, judge: (isDone: boolean) => void) {
    this.data = data;
    html("p", "nv-depth-title", parent, _("How spread out the values are, layer by layer; from one line to the next: × {factor}", { factor: formatNumber(10 ** DECADES) }));
    this.chart = html("div", "nv-depth", parent, "", { role: "img" });
    for (let power = -DECADES; power <= DECADES; power += DECADES) {
      const line = html("span", "nv-depth-line", this.chart, formatNumber(10 ** power));
      line.style.bottom = `${heightOf(10 ** power)}%`;
    }
    this.bars = data.plain[0].map(() => html("i", "nv-depth-bar", this.chart));
    this.bars.forEach((bar, i) => bar.style.setProperty("--nv-place", String((i + 0.5) / this.bars.length)));
    this.last = html("span", "nv-depth-last", this.chart);
    const names = html("p", "nv-depth-names", parent);
    html("span", "", names, _("layer 1"));
    html("span", "", names, _("layer {n}", { n: this.bars.length }));
    const controls = html("div", "nv-start-controls", parent), { sizes, first } = data, range = { low: 0, high: sizes.length - 1, step: 1, first };
    this.slider = new StartSlider(controls, _("size of the weights"), range, (at) => `× ${formatNumber(sizes[at])}`, () => this.draw());
    this.input = addSwitch(controls, _("BatchNorm after each layer"), () => {
      this.draw();
      judge(this.input.checked);
    });
    this.judge = judge;
    this.draw();
  }

  draw() {
    const spreads = (this.input.checked ? this.data.normalized : this.data.plain)[this.slider.value];
    spreads.forEach((spread, i) => {
      this.bars[i].style.height = `${heightOf(spread)}%`;
    });
    const last = spreads[spreads.length - 1];
    this.last.textContent = formatNumber(last, DIGITS_SHOWN);
    this.last.style.bottom = `${heightOf(last)}%`;
    this.chart.ariaLabel = _("How spread out the values are, layer by layer: {numbers}", { numbers: spreads.map((spread) => formatNumber(spread, DIGITS_SHOWN)).join(", ") });
  }

  solve() {
    this.input.checked = true;
    this.draw();
    this.judge(true);
  }
}

/** Where a standard deviation is on the logarithmic scale, in percent of the height. */
const heightOf = (spread: number) => 100 * Math.min(1, Math.max(0, (Math.log10(spread) + DECADES) / (2 * DECADES)));
