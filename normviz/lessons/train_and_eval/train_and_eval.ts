// A recorded training: the accuracy over the steps, and what a trained network makes of the plane in eval() and in train().

import { html, svg, uniqueNumber, visibleWidth, watchWidth } from "../../figures/browser/common/dom.ts";
import { round2 } from "../../figures/browser/common/format.ts";
import { _, ngettext } from "../../figures/browser/common/messages.ts";
import { applyColors } from "../../figures/browser/common/theme.ts";
import { offerPictures, updateSaveMenu } from "../../figures/browser/picture/picture.ts";
import { VIEWS } from "../../figures/browser/mount.ts";
import { Turns } from "../../figures/browser/views/turns.ts";

const NARROW_TRAINING = 720; // px, of the view
const CHART_HEIGHT = 300, SMALL_PLANE = 56; // px
const CHART_MARGIN = { left: 38, right: 12, top: 10, bottom: 40 }; // px, of the chart
const LOWEST_PERCENT = 40, PERCENTS = [40, 60, 80, 100], STEP_TICKS = 3; // of the chart
const BOUNDARY = 4.5; // between the digits of the two classes
const POINT_RADIUS = 2.4, CROSS_RADIUS = 3.2; // px

type Point = [number, number];

export class TrainingView {
  data: TrainingData;
  colors: Theme;
  turns: Turns;
  trained: Trained = { norm: "", batch: "" }; // what the reader has chosen
  given?: string; // the server's choice
  send: (name: string, value: object) => void = () => {};
  needsPlotly = false;
  width = 0;
  height?: number;
  observer: ResizeObserver;
  layers: { norm: string; input: HTMLInputElement; plane: SVGSVGElement; percent: HTMLElement }[] | undefined;
  output?: HTMLOutputElement;
  slider?: HTMLInputElement;
  root = html("div", "nv-view nv-training");
  controls = html("div", "nv-training-controls", this.root);
  sentence = html("p", "nv-sentence", this.root);
  row = html("div", "nv-training-row", this.root);
  chart = this.addPanel(_("Right test points, in %"));
  planes = { eval: this.addPanel("eval()"), train: this.addPanel("train()") };
  texts = html("div", "nv-training-texts", this.root);
  liveRegion = html("div", "nv-hidden", this.root, "", { role: "status" });

  constructor(parent: HTMLElement) {
    parent.append(this.root);
    for (const [kind, text] of [["eval", "eval()"], ["train", "train()"], ["others", _("eval(), the others")]]) {
      const item = html("span", "nv-training-key", this.chart.about);
      svg("path", { class: `nv-training-line nv-training-${kind}`, d: "M0,6h26" }, svg("svg", { width: 26, height: 12, "aria-hidden": "true" }, item));
      item.append(text);
    }
    this.observer = watchWidth(this.root, () => this.data && visibleWidth(this.root) !== this.width && this.draw());
    offerPictures(this);
  }

  addPanel(title: string) {
    const root = html("figure", "nv-panel", this.row), head = html("figcaption", "", root);
    html("span", "nv-title", head, title);
    const about = html("span", "nv-training-about", head), body = html("div", "nv-body", root);
    return { about, body, picture: svg("svg", { role: "img" }, body) };
  }

  async set(data: TrainingData, mode: Mode) {
    const isFirst = !this.data;
    this.turns ??= new Turns(data.turn);
    this.data = data;
    this.takeChoice();
    this.colors = applyColors(this.root, mode);
    const [first, second] = this.colors[mode === "light" ? "more" : "few"]; // they contrast with the background
    this.root.style.setProperty("--nv-first", first);
    this.root.style.setProperty("--nv-second", second);
    if (isFirst) this.addControls();
    updateSaveMenu(this);
    await this.draw();
    this.root.dataset.drawn = String(Number(this.root.dataset.drawn ?? 0) + 1);
  }

  // Takes the server's choice, unless a newer one waits for its response. Without a server, only a changed one.
  takeChoice() {
    const { trained, turn } = this.data, given = Object.values(trained).join();
    if (turn === undefined ? given !== this.given : !this.turns.wait(turn)) this.trained = { ...trained };
    this.given = given;
  }

  addControls() {
    const group = html("div", "nv-training-layers", this.controls), name = `nv-norm-${uniqueNumber()}`;
    group.role = "radiogroup";
    group.ariaLabel = _("layer");
    this.layers = this.data.norms.map(([norm, title]) => {
      const label = html("label", "nv-training-layer", group), input = html("input", "", label);
      Object.assign(input, { type: "radio", name, value: norm });
      input.addEventListener("change", () => this.choose({ norm }, true));
      const plane = svg("svg", { "aria-hidden": "true" }, label), text = html("span", "", label, title);
      return { norm, input, plane, percent: html("small", "", text) };
    });
    const label = html("label", "nv-training-slider", this.controls);
    html("span", "", label, _("batch size"));
    this.output = html("output", "", label);
    this.slider = html("input", "", label);
    Object.assign(this.slider, { type: "range", min: "0", max: String(this.data.sizes.length - 1), step: "1", ariaLabel: _("batch size") });
    const ends = html("span", "nv-training-ends", label);
    for (const size of [this.data.sizes[0], this.data.sizes.at(-1)]) html("span", "", ends, String(size));
    this.slider.addEventListener("input", () => this.choose({ batch: String(this.data.sizes[Number(this.slider?.value)]) }, false));
    this.slider.addEventListener("change", () => this.choose({}, true));
  }

  /** ``isFinal``: the reader has let go of the slider, or pressed a key */
  choose(trained: Partial<Trained>, isFinal: boolean) {
    Object.assign(this.trained, trained);
    this.draw();
    if (!isFinal) return;
    this.announce(this.sentence.textContent ?? "");
    this.send("train", { ...this.trained, turn: this.turns.next() });
  }

  cell(norm: string) {
    return this.data.cells[`${norm} ${this.trained.batch}`];
  }

  async draw() {
    this.width = visibleWidth(this.root);
    this.root.dataset.state = this.width ? "ready" : "hidden";
    if (!this.width) return;
    const { trained } = this, cell = this.cell(trained.norm);
    this.root.classList.toggle("nv-narrow", this.width < NARROW_TRAINING);
    this.sentence.innerHTML = cell.sentence; // HTML from Python, as the other texts of a page
    this.sentence.hidden = !cell.sentence;
    this.texts.innerHTML = cell.texts;
    this.drawControls();
    this.drawChart(cell);
    for (const mode of ["eval", "train"] as const) this.drawPlane(this.planes[mode], mode, cell);
    this.root.dataset.trained = `${trained.norm} ${trained.batch}`;
  }

  drawControls() {
    const { trained, slider, output, data } = this;
    for (const { norm, input, plane, percent } of this.layers ?? []) {
      const cell = this.cell(norm);
      input.checked = norm === trained.norm;
      percent.textContent = _("{percent} % in eval()", { percent: cell.eval.mean.at(-1)?.toFixed(1) ?? "" });
      resize(plane, SMALL_PLANE, SMALL_PLANE).replaceChildren(...this.regions(cell, SMALL_PLANE));
    }
    if (!slider || !output) return;
    slider.value = String(data.sizes.indexOf(Number(trained.batch)));
    slider.setAttribute("aria-valuetext", trained.batch);
    output.textContent = trained.batch;
  }

  drawChart(cell: TrainedCell) {
    const { picture } = this.chart, width = this.chart.body.clientWidth, height = this.height ?? CHART_HEIGHT, { steps } = this.data, last = steps[steps.length - 1];
    const right = width - CHART_MARGIN.right, bottom = height - CHART_MARGIN.bottom;
    const x = (step: number) => CHART_MARGIN.left + ((right - CHART_MARGIN.left) * step) / last;
    const y = (percent: number) => bottom - ((bottom - CHART_MARGIN.top) * (Math.max(LOWEST_PERCENT, percent) - LOWEST_PERCENT)) / (100 - LOWEST_PERCENT);
    const points = (percents: number[]): Point[] => percents.map((percent, i) => [x(steps[i]), y(percent)]);
    resize(picture, width, height).replaceChildren();
    for (const percent of PERCENTS) {
      svg("path", { class: "nv-rule", d: `M${CHART_MARGIN.left},${round2(y(percent))}H${round2(right)}` }, picture);
      addLabel(picture, CHART_MARGIN.left - 6, y(percent), "nv-training-end", String(percent));
    }
    for (let tick = 0; tick <= STEP_TICKS; tick++) addLabel(picture, x((tick * last) / STEP_TICKS), bottom + 14, "", String((tick * last) / STEP_TICKS));
    addLabel(picture, (CHART_MARGIN.left + right) / 2, height - 8, "", _("step"));
    for (const [norm] of this.data.norms)
      if (norm !== this.trained.norm) svg("path", { class: "nv-training-line nv-training-others", d: linePath(points(this.cell(norm).eval.mean)) }, picture);
    for (const mode of ["train", "eval"] as const) {
      const { low, high, mean } = cell[mode];
      svg("path", { class: `nv-training-band nv-training-${mode}`, d: `${linePath([...points(high), ...points(low).reverse()])}Z` }, picture);
      svg("path", { class: `nv-training-line nv-training-${mode}`, d: linePath(points(mean)) }, picture);
    }
    picture.setAttribute("aria-label", cell.alt);
  }

  drawPlane({ about, body, picture }: ReturnType<TrainingView["addPanel"]>, mode: "eval" | "train", cell: TrainedCell) {
    const { points, spirals, edge } = this.data, classes = cell.classes[mode], size = Math.min(this.height ?? CHART_HEIGHT, body.clientWidth), paths = ["", "", "", ""];
    let wrong = 0;
    points.forEach(([x, y], i) => {
      const isWrong = classes[i] !== spirals[i], at = [((x + edge) / (2 * edge)) * size, ((edge - y) / (2 * edge)) * size] as Point;
      wrong += Number(isWrong);
      paths[Number(classes[i]) + (isWrong ? 2 : 0)] += isWrong ? crossPath(at) : dotPath(at);
    });
    const regions = mode === "eval" ? this.regions(cell, size) : [svg("rect", { class: "nv-training-empty", width: size, height: size })];
    const kinds = ["nv-training-dots nv-class-0", "nv-training-dots nv-class-1", "nv-training-crosses nv-class-0", "nv-training-crosses nv-class-1"];
    resize(picture, size, size).replaceChildren(...regions, ...paths.map((d, kind) => svg("path", { class: kinds[kind], d })));
    const percent = ((100 * (points.length - wrong)) / points.length).toFixed(1);
    about.textContent = _("first network: {percent} %", { percent });
    picture.setAttribute("aria-label", mode === "eval"
      ? ngettext("The regions that the network gives to the two spirals in eval(): {n} test point is in the wrong one.", "The regions that the network gives to the two spirals in eval(): {n} test points are in the wrong one.", wrong)
      : ngettext("The test points in train(): {n} is taken for the wrong spiral within its batch.", "The test points in train(): {n} are taken for the wrong spiral within their batches.", wrong));
  }

  regions({ plane }: TrainedCell, size: number) {
    return [svg("rect", { class: "nv-training-region nv-class-0", width: size, height: size }), svg("path", { class: "nv-training-region nv-class-1", d: regionPath(plane, this.data.side, size) })];
  }

  announce(message: string) {
    this.liveRegion.textContent = message;
  }

  showError(message: string) {
    this.sentence.textContent = message;
    this.sentence.hidden = false;
  }

  destroy() {
    this.observer.disconnect();
    this.root.remove();
  }
}

/**
 * Where the digits on a grid are above the boundary, as a path; the first row is the lowest.
 * @param side of the grid
 * @param size of the path, in px
 */
export function regionPath(digits: string, side: number, size: number) {
  const unit = size / (side - 1), cells = [];
  const above = ([x, y]: Point) => Number(digits[y * side + x]) - BOUNDARY;
  for (let y = 0; y < side - 1; y++)
    for (let x = 0; x < side - 1; x++) {
      const corners: Point[] = [[x, y], [x + 1, y], [x + 1, y + 1], [x, y + 1]];
      const shape = corners.flatMap((corner, i) => {
        const next = corners[(i + 1) % 4], [here, there] = [above(corner), above(next)], share = here / (here - there);
        const crossing = corner.map((from, axis) => from + share * (next[axis] - from)) as Point;
        return [...(here > 0 ? [corner] : []), ...(here > 0 !== there > 0 ? [crossing] : [])];
      });
      if (shape.length) cells.push(`${linePath(shape.map(([across, up]) => [across * unit, size - up * unit]))}Z`);
    }
  return cells.join("");
}

export const linePath = (points: Point[]) => `M${points.map((point) => point.map(round2).join()).join("L")}`;

const dotPath = ([x, y]: Point) => `M${round2(x - POINT_RADIUS)},${round2(y)}a${POINT_RADIUS},${POINT_RADIUS},0,1,0,${2 * POINT_RADIUS},0a${POINT_RADIUS},${POINT_RADIUS},0,1,0,${-2 * POINT_RADIUS},0`;

const crossPath = ([x, y]: Point) => `M${round2(x - CROSS_RADIUS)},${round2(y - CROSS_RADIUS)}l${2 * CROSS_RADIUS},${2 * CROSS_RADIUS}m${-2 * CROSS_RADIUS},0l${2 * CROSS_RADIUS},${-2 * CROSS_RADIUS}`;

function resize(picture: SVGSVGElement, width: number, height: number) {
  picture.setAttribute("width", String(width));
  picture.setAttribute("height", String(height));
  return picture;
}

function addLabel(picture: SVGSVGElement, x: number, y: number, kind: string, text: string) {
  svg("text", { class: `nv-training-label ${kind}`, x: round2(x), y: round2(y) }, picture).textContent = text;
}

VIEWS.training = TrainingView;
