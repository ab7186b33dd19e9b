// Two numbers on a line: E[x²] − E[x]² is their variance, but not in float32 far from 0. Everything is computed here, as float32 rounds it.

import { html } from "../../figures/browser/common/dom.ts";
import { formatCount, formatNumber } from "../../figures/browser/common/format.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { EXTRAS } from "../../parts/browser/page.ts";
import { Line } from "../start/line.ts";
import { StartSlider } from "../start/sliders.ts";

const RANGE: [number, number] = [-5, 5], STEP = 0.5, DIGITS = 12, LARGE = 10_000;
const DISTANCES = [0, 10, 100, 1000, 10_000, 100_000];
const SAME = 1e-6; // relative error

/** E[x²], E[x]² and their difference in float32; the variance of the same numbers; and the distance of float32 numbers near the squares. */
export function fastVariance(numbers: [number, number], distance: number) {
  const round = Math.fround, [a, b] = numbers.map((number) => round(number + distance)), mean = round(round(a + b) / 2);
  const squares = round(round(round(a * a) + round(b * b)) / 2), square = round(mean * mean);
  const unit = 2 ** (Math.floor(Math.log2(Math.min(squares, square) || 1)) - 23);
  return { squares, square, fast: round(squares - square), exact: ((a - b) / 2) ** 2, unit };
}

class TwoNumbers {
  numbers: [number, number] = [1, 3];
  line: Line;
  dots: HTMLElement[];
  rule: HTMLElement;
  said: HTMLElement;
  distance: StartSlider;

  constructor(root: HTMLElement) {
    const [heading] = root.children;
    root.replaceChildren(heading);
    this.line = new Line(html("div", "nv-fast-line", root), RANGE);
    this.line.root.role = "group";
    this.line.root.ariaLabel = heading.textContent;
    this.dots = [_("the first number"), _("the second number")].map((name, at) => this.addDot(name, at));
    this.rule = html("code", "nv-fast-rule", root);
    const controls = html("div", "nv-start-controls", root), range = { low: 0, high: DISTANCES.length - 1, step: 1, first: 0 };
    this.distance = new StartSlider(controls, _("added to both numbers"), range, (at) => formatCount(DISTANCES[at]), () => this.show());
    this.said = html("p", "nv-fast-said", root, "", { role: "status" });
    this.show();
  }

  addDot(name: string, at: number) {
    const dot = this.line.add("dot");
    Object.assign(dot, { role: "slider", tabIndex: 0, ariaLabel: name, ariaValueMin: String(RANGE[0]), ariaValueMax: String(RANGE[1]) });
    const follow = ({ clientX }: PointerEvent) => this.move(at, this.line.valueAt(clientX));
    dot.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      dot.focus({ preventScroll: true });
      dot.setPointerCapture(event.pointerId);
      dot.addEventListener("pointermove", follow);
      dot.addEventListener("lostpointercapture", () => dot.removeEventListener("pointermove", follow), { once: true });
    });
    dot.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -STEP, ArrowDown: -STEP, ArrowRight: STEP, ArrowUp: STEP }[event.key];
      if (!by) return;
      event.preventDefault();
      this.move(at, this.numbers[at] + by);
    });
    return dot;
  }

  move(at: number, to: number) {
    this.numbers[at] = Math.min(RANGE[1], Math.max(RANGE[0], Math.round(to / STEP) * STEP));
    this.show();
  }

  show() {
    const text = (value: number) => (value >= LARGE ? formatCount(value) : formatNumber(value, DIGITS));
    const distance = DISTANCES[this.distance.value], numbers = this.numbers.map((number) => text(number + distance));
    const { squares, square, fast, exact, unit } = fastVariance(this.numbers, distance);
    this.dots.forEach((dot, at) => {
      this.line.at(dot, this.numbers[at]);
      dot.ariaValueNow = String(this.numbers[at]);
      dot.ariaValueText = numbers[at];
    });
    this.rule.textContent = `E[x²] − E[x]² = ${text(squares)} − ${text(square)} = ${text(fast)}`;
    const isRight = Math.abs(fast - exact) <= SAME * Math.max(1, exact);
    const values = { numbers: numbers.join(", "), exact: text(exact), fast: text(fast), unit: text(unit) };
    this.said.textContent = isRight
      ? _("The variance of {numbers} is {exact}.", values)
      : _("The variance of {numbers} is {exact}. In float32, E[x²] − E[x]² is {fast}: the squares are rounded to multiples of {unit}.", values);
    this.said.dataset.result = isRight ? "right" : "wrong";
  }
}

EXTRAS.set(".nv-fast", TwoNumbers);
