// A preview of the embedded view. It measures the heights at which nothing in it scrolls.

import { find, findAll, html, visibleWidth } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import type { Heights } from "./links.ts";

export const FULL_WIDTH = 700; // px: a page's text column, shown where the width is "full"
const WIDTHS_MEASURED = [320, 360, 400, 440, 480, 481, 520, 560, 600, 640, 680, 720, 760, 800, 860, 920, 1000, 1100, 1200, 1280]; // px
const MEASURING_HEIGHT = 8000; // px: no scroll bar takes room
const FONT_SLACK = 8; // px: room for fonts that are a little wider elsewhere
const LINE_SLACK = 24; // px: one more line, at a width between two measured ones
const FIRST = { pause: 200, looks: 4 }; // ms between measurements, and the number of equal heights that shows that the page is complete
const NEXT = { pause: 60, looks: 1 }; // the same for each further width
const LOADING_PATIENCE = 20_000; // ms

export class Preview {
  url = "";
  width = 0;
  widths: number[] = []; // the widths that are still to be measured
  found = new Map<number, number>(); // the height by width
  done = false;
  late = false;
  steady = 0;
  began = 0;
  slack = 0;
  height: number | null = null; // the height at the shown width
  last: number | null = null;
  frame: HTMLIFrameElement | null = null;
  isExercise: boolean;
  onMeasured: (heights: Heights | null | undefined) => void;
  observer: ResizeObserver;
  grow;
  timer?: number;
  root = html("div", "nvs-stage");
  note = html("p", "nvs-note", this.root, _("Loading the preview …"));
  box = html("div", "nvs-scaled", this.root);

  /**
   * @param isExercise it is measured with its answer, and then shown as the frame will be: it grows with the answer
   * @param onMeasured null: not yet; undefined: they cannot be measured
   */
  constructor(parent: HTMLElement, isExercise: boolean, onMeasured: (heights: Heights | null | undefined) => void) {
    this.isExercise = isExercise;
    this.onMeasured = onMeasured;
    parent.append(this.root);
    this.observer = new ResizeObserver(() => this.scale());
    this.observer.observe(this.root);
    this.grow = ({ source, data }: MessageEvent) => {
      if (!isExercise || !this.done || source !== this.frame?.contentWindow || !(data?.normvizHeight > 0)) return;
      this.height = data.normvizHeight;
      this.scale();
    };
    addEventListener("message", this.grow);
  }

  /** Loads the address and measures it at the width, or at all widths. */
  show(url: string, width: number | null) {
    const shown = width ?? FULL_WIDTH;
    if (this.url === url && this.width === shown) {
      this.onMeasured(this.done ? this.heights() : this.late ? undefined : null);
      return;
    }
    [this.url, this.width, this.done, this.height, this.late] = [url, shown, false, null, false];
    [this.widths, this.found, this.steady, this.began] = [width ? [] : [...WIDTHS_MEASURED], new Map(), 0, Date.now()];
    this.slack = width ? FONT_SLACK : FONT_SLACK + LINE_SLACK;
    this.onMeasured(null);
    this.frame?.remove();
    this.frame = html("iframe", "nvs-frame", this.box, "", { title: _("Preview of the embedded view"), src: url });
    this.note.hidden = false;
    this.note.textContent = _("Loading the preview …");
    this.scale();
    this.lookLater(FIRST.pause);
  }

  lookLater(pause: number) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), pause);
  }

  look() {
    if (this.done && this.isExercise) return; // what the reader opens in the preview is not measured
    if (this.isExercise) this.openAnswers(true);
    const height = this.contentHeight(), sweeping = this.found.size > 0 && !this.done;
    if (height === null && !this.done && !this.late && Date.now() - this.began > LOADING_PATIENCE) {
      this.late = true;
      this.note.textContent = _("The preview did not load here. The code is right; its height is a guess.");
      this.onMeasured(undefined);
    }
    this.steady = height !== null && height === this.last ? this.steady + 1 : 0;
    this.last = height;
    if (height !== null && this.steady >= (sweeping ? NEXT : FIRST).looks) this.keep(height);
    this.lookLater((this.found.size && !this.done ? NEXT : FIRST).pause);
  }

  /** Keeps the height at the frame's width; goes on to the next width, if there is one. */
  keep(height: number) {
    const frame = this.frame as HTMLIFrameElement, width = frame.clientWidth;
    if (this.found.get(width) === height) return;
    this.found.set(width, height);
    this.began = Date.now();
    const next = this.widths.shift();
    this.done = next === undefined;
    if (next !== undefined) {
      frame.style.width = `${next}px`;
      this.steady = 0;
      return;
    }
    this.height = (this.found.get(this.width) ?? height) + this.slack;
    this.note.hidden = true;
    this.scale();
    this.onMeasured(this.heights());
    if (this.isExercise) this.openAnswers(false);
  }

  openAnswers(open: boolean) {
    try {
      for (const answer of findAll(this.frame?.contentDocument as Document, ".nv-answer")) answer.toggleAttribute("open", open);
    } catch {
      // the frame has no page yet
    }
  }

  heights(): Heights {
    const heights = [...this.found].map(([width, height]) => [width, height + this.slack] as [number, number]);
    return heights.sort(([a], [b]) => a - b);
  }

  // The height of the content; null while the app makes it, or while it is drawn for another width.
  contentHeight() {
    try {
      const inside = this.frame?.contentDocument as Document, content = find(inside, "[data-testid=stMainBlockContainer]");
      const places = findAll(inside, ".nv-root, .nvs-root"), views = findAll(inside, ".nv-view");
      const busy = inside.querySelector('#normviz-first, [data-test-script-state="running"], [data-testid=stSkeleton]');
      const drawn = (view: HTMLElement) => (view.dataset.state === "hidden" ? !visibleWidth(view) : view.dataset.state === "ready" && Number(view.dataset.width) === view.clientWidth);
      if (!content || busy || !places.length || places.some((place) => !place.firstChild) || !views.every(drawn)) return null;
      return Math.ceil(content.getBoundingClientRect().height);
    } catch {
      return null;
    }
  }

  scale() {
    if (!this.frame) return;
    const factor = Math.min(1, this.root.clientWidth / this.width), height = this.height ?? MEASURING_HEIGHT;
    if (this.done || !this.found.size) this.frame.style.width = `${this.width}px`;
    this.frame.style.height = `${height}px`;
    this.frame.style.transform = `scale(${factor})`;
    this.frame.style.visibility = this.height ? "visible" : "hidden";
    this.box.style.width = `${this.width * factor}px`;
    this.box.style.height = this.height ? `${height * factor}px` : "0";
  }

  destroy() {
    clearTimeout(this.timer);
    this.observer.disconnect();
    removeEventListener("message", this.grow);
    this.root.remove();
  }
}
