// The dot of the selected element in the strip x, as a slider: its value is dragged, or moved with the arrow keys.

import { svg } from "../common/dom.ts";
import { formatNumber, roundedFor } from "../common/format.ts";
import { _ } from "../common/messages.ts";

const TARGET = 13, RING = 9.5; // px: radii
const SLIDE_START = 2; // px: a press becomes a drag
const KEYS_ACROSS = 100, LARGE_STEP = 10; // presses of an arrow key across the strip; Page up and down move as far as ten of them

/** How many steps a key goes. */
const STEPS_OF_KEYS: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -LARGE_STEP, PageUp: LARGE_STEP, Home: -Infinity, End: Infinity };

/**
 * low, high  the ends of the axis
 * unit       px of one unit of the value
 */
export interface Dot {
  x: number;
  y: number;
  value: number;
  low: number;
  high: number;
  unit: number;
  name: string; // of the element
  text: string; // of its value, and the mean and the variance of its group
}

/** ``drop``: the value stays */
type DotMoves = { move(value: number): void; drop(value: number): void; cancel(): void };

export class DotSlider {
  dot: Dot | null = null;
  start: { x: number, value: number } | null = null; // where a press began
  dragged = false; // the press has become a drag
  keyed = false; // a key has moved the value
  parent: SVGSVGElement;
  moves: DotMoves;
  root: SVGGElement;

  constructor(parent: SVGSVGElement, moves: DotMoves) {
    this.parent = parent;
    this.moves = moves;
    this.root = svg("g", { class: "nv-slide", role: "slider", tabindex: "0", "aria-orientation": "horizontal" }, parent);
    svg("circle", { class: "nv-slide-target", r: TARGET }, this.root);
    svg("circle", { class: "nv-slide-ring", r: RING }, this.root);
    svg("path", { class: "nv-slide-arrows", d: `M${-RING - 3},-4.5l-5,4.5l5,4.5zM${RING + 3},-4.5l5,4.5l-5,4.5z` }, this.root);
    this.listen();
  }

  listen() {
    const { root } = this;
    root.addEventListener("pointerdown", (event) => {
      if (event.button || !this.dot) return;
      this.start = { x: event.clientX, value: this.dot.value };
      this.dragged = false;
      root.setPointerCapture(event.pointerId);
    });
    root.addEventListener("pointermove", (event) => {
      const { start, dot, parent } = this;
      if (!start || !dot) return;
      event.stopPropagation(); // the dots on the way are not pointed at
      const far = event.clientX - start.x, scale = parent.getBoundingClientRect().width / (Number(parent.getAttribute("width")) || 1);
      if (!this.dragged && Math.abs(far) < SLIDE_START) return;
      this.dragged = true;
      this.move(start.value + far / scale / dot.unit);
    });
    root.addEventListener("pointerup", () => {
      if (this.start && this.dragged) this.drop();
      this.start = null;
    });
    for (const name of ["pointercancel", "lostpointercapture"]) root.addEventListener(name, () => this.cancel());
    root.addEventListener("click", (event) => {
      if (this.dragged) event.stopPropagation(); // the end of a drag selects nothing
      this.dragged = false;
    });
    root.addEventListener("keydown", (event) => this.press(event));
    root.addEventListener("keyup", () => this.dropKeyed());
    root.addEventListener("blur", () => this.dropKeyed());
  }

  press(event: KeyboardEvent) {
    const { dot } = this, way = STEPS_OF_KEYS[event.key];
    if (event.key === "Escape" && this.start) this.cancel();
    else if (!dot || way === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    else {
      this.keyed = true;
      this.move(dot.value + way * stepOf(dot.high - dot.low));
    }
    event.preventDefault();
    event.stopPropagation();
  }

  dropKeyed() {
    if (this.keyed) this.drop();
    this.keyed = false;
  }

  drop() {
    if (this.dot) this.moves.drop(this.dot.value);
  }

  cancel() {
    if (this.start && this.dragged) this.moves.cancel();
    this.start = null;
  }

  move(value: number) {
    const { low, high } = this.dot as Dot, inside = Math.min(high, Math.max(low, value));
    this.moves.move(roundedFor(Math.max(-low, high), inside));
  }

  /** ``dot`` null: it cannot be moved */
  set(dot: Dot | null) {
    const { root } = this;
    this.dot = dot;
    root.toggleAttribute("hidden", !dot);
    if (!dot) return;
    const { x, y, value, low, high, name, text } = dot;
    const attributes = { transform: `translate(${x},${y})`, "aria-label": name, "aria-valuemin": low, "aria-valuemax": high, "aria-valuenow": value, "aria-valuetext": text };
    for (const [attribute, now] of Object.entries(attributes)) root.setAttribute(attribute, String(now));
  }
}

/** The value of one press of an arrow key: 1, 2 or 5 times a power of ten. */
export function stepOf(range: number) {
  const rough = range / KEYS_ACROSS, power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
}

/** The value of an element, with the mean and the variance of its group, in words. */
export function valueInWords(value: number, { center }: { center: boolean }, { mean, var: variance }: { mean: number, var: number }) {
  const numbers = { value: formatNumber(value), mean: formatNumber(mean), variance: formatNumber(variance), square: formatNumber(variance + mean * mean) };
  return center ? _("{value}; mean {mean}, variance {variance}", numbers) : _("{value}; mean {mean}, mean square {square}", numbers);
}
