// The values of the selected element's group, from x to the output: normalization makes their mean 0 and their spread 1.

import { MOTION_TIME, mayMove } from "../motion/outlines.ts";
import { groupColor } from "../common/color.ts";
import { button, html, svg } from "../common/dom.ts";
import { formatElement, formatNumber, roundedFor } from "../common/format.ts";
import { _, joinSentences, ngettext } from "../common/messages.ts";
import { groupOf, isComputed, rankGroups, sameIndex, tensorIndex } from "../tensor/sharing.ts";
import { sentPlace } from "../tensor/slices.ts";
import { DotSlider, valueInWords, type Dot } from "./dot_slider.ts";
import { GammaAndBetaSliders } from "./gamma_beta.ts";
import { countsOf, levelsOf, rangeOf, stackDots, ticksIn } from "./scale.ts";
import { groupStages, inAndOut, motionText, notesOf, type Group, type Stage } from "./stages.ts";
import type { PanelHost } from "../tensor/drawn_panel.ts";

const RADIUS = 3.5, STRIP = 26, GAP = 9, AXIS = 20, LINE = 17; // px
const AXIS_MARGIN = 0.04, ROOM_TO_DRAG = 0.12; // of the range of the axis, at each end
const MOST_DOTS = 400; // more values are drawn as a histogram
const RULE = 86; // px: distance from the title of a stage to its rule
const NARROW_STRIP = 700, NARROWEST_STRIP = 440; // px; below the first, the rule has a line of its own; below the second, the numbers too
const SHORT_STRIP = 560; // px; below it, x and output alone have no rule

/** The stage that a step of the forward pass belongs to, if it is not one itself. */
const STAGE_OF: Record<string, string[]> = { mean: ["x"], squared: ["centered", "x"], var: ["centered", "x"] };

/** what a reader changes by moving a dot or a slider */
interface DotChanges {
  choice: GammaBetaChoice | null;
  held: object | null; // while a value is dragged
  canDrag: (index: Index) => boolean;
  preview: (index: Index, value: number) => void;
  edit: (index: Index, value: number) => void;
  cancel: () => void;
  choose: (choice: GammaBetaChoice | null, isFinal: boolean) => void;
}
type DistributionView = PanelHost & { given: DecodedData; colors: Theme; changes: DotChanges; width: number; distribution?: Distribution };
/** ``top``: of its strip */
type Row = { stage: Stage; top: number; dots: ({ x: number, y: number } | null)[] };

export class Distribution {
  rows: Row[] = [];
  group: Group | null = null;
  width = 0;
  at: Index | null = null; // the element whose group is drawn
  range: [number, number] = [0, 1];
  place: (value: number) => number = () => 0;
  /** How many dots are below each dot of a stage. While a dot is dragged, they stay. */
  levels = new Map<string, number[]>();
  all: boolean; // whether all stages are shown, with the sliders, or x and the output alone
  dots = new Map<string, SVGElement[]>(); // the dots of each stage
  view: DistributionView;
  root = html("section", "nv-distribution");
  head = html("div", "nv-strips-head", this.root);
  title = html("h2", "nv-heading", this.head);
  toggle = button("nv-button", this.head, "", () => {
    this.all = !this.all;
    this.draw();
  });
  svg = svg("svg", { class: "nv-strips" }, this.root);
  drawing = svg("g", { "aria-hidden": "true" }, this.svg);
  slider: DotSlider;
  motionText = html("p", "nv-motion-text", this.root);
  note = html("p", "", this.root);
  sliders: GammaAndBetaSliders;

  constructor(view: DistributionView, parent: HTMLElement) {
    this.view = view;
    this.all = Boolean(view.changes.choice ?? view.data.scaled); // a link with a gamma shows its slider
    parent.prepend(this.root);
    this.slider = new DotSlider(this.svg, {
      move: (value) => view.at && view.changes.preview(view.at, value),
      drop: (value) => view.at && view.changes.edit(view.at, value),
      cancel: () => view.changes.cancel(),
    });
    this.sliders = new GammaAndBetaSliders(this.root, (choice, isFinal) => view.changes.choose(choice, isFinal));
    this.listen();
  }

  listen() {
    const at = (event: MouseEvent) => {
      const box = this.svg.getBoundingClientRect(), scale = box.width / (Number(this.svg.getAttribute("width")) || box.width);
      return this.elementAt((event.clientX - box.left) / scale, (event.clientY - box.top) / scale);
    };
    this.svg.addEventListener("pointermove", (event) => this.view.hover(at(event)));
    this.svg.addEventListener("pointerleave", () => this.view.hover(null));
    this.svg.addEventListener("click", (event) => {
      const index = at(event);
      if (index) this.view.select(index);
    });
  }

  /** The element whose dot is under a point. */
  elementAt(x: number, y: number) {
    for (const { dots } of this.rows) {
      const distances = dots.map((dot) => (dot ? Math.hypot(dot.x - x, dot.y - y) : Infinity)), nearest = Math.min(...distances);
      if (nearest <= RADIUS + 1) return this.group?.peers[distances.indexOf(nearest)] ?? null;
    }
    return null;
  }

  /** Draws the group of the selected element. ``step`` of the forward pass; later stages are not drawn yet. */
  draw(step?: string) {
    const { view } = this, { data } = view, isKnown = view.at && sentPlace(data, view.at) && isComputed(data, view.at);
    const at = isKnown ? view.at : null;
    this.root.hidden = !data.values || (data.hidden ?? []).includes("distribution");
    if (!view.changes.held) this.width = this.root.clientWidth - 2; // reading it again in every frame of a drag takes time
    this.root.hidden ||= this.width < 80;
    if (this.root.hidden) return;
    const { width } = this;
    this.sliders.set(view.given, view.changes.choice, step ? step === "output" : this.all || !at); // without a group, there is no button for all stages
    this.drawing.replaceChildren();
    this.dots.clear();
    this.rows = [];
    this.group = at && groupStages(view, at);
    this.svg.toggleAttribute("hidden", !at);
    this.note.textContent = at && this.group ? notesOf(data, this.group, this.known(step).mean) : _("Select an element to see the values of its group.");
    this.title.textContent = this.group && at ? titleOf(this.group, formatElement("x", tensorIndex(data, at))) : _("From x to the output");
    this.motionText.hidden = !step;
    this.motionText.textContent = step && this.group ? motionText(data, this.group, step) : "";
    const count = this.group?.stages.length ?? 0;
    this.toggle.hidden = Boolean(step) || count < 3;
    this.toggle.textContent = this.all ? _("Show x and output") : count > 3 ? _("Show all four") : _("Show all three");
    this.slider.set(this.group && at ? this.drawStages(this.group, at, width, step) : null);
    this.svg.setAttribute("role", this.slider.dot ? "group" : "img");
  }

  /** @returns of the selected element in the strip x, if it can be dragged */
  drawStages(group: Group, at: Index, width: number, step?: string): Dot | null {
    const { stages, peers } = group, { data, colors, changes } = this.view, whole = Boolean(step) || this.all, lines = !whole || width >= NARROW_STRIP ? 1 : width < NARROWEST_STRIP ? 3 : 2;
    const reached = whole ? stages.slice(0, step ? stages.findIndex(({ key }) => key === stageOf(step, stages)) + 1 : undefined) : inAndOut(data, stages, at);
    const slides = !step && changes.canDrag(at), head = lines * LINE, high = head + STRIP + GAP, height = reached.length * high + AXIS;
    const holds = Boolean(changes.held) && sameIndex(at, this.at);
    this.at = at;
    if (!holds) { // of all stages: no dot moves when a row is added; the axis stays while a value is dragged
      const ends = (bins?: Histogram) => (bins ? [bins.low, bins.high] : []);
      const numbers = stages.flatMap(({ values, bins, mean, spread }) => [...values, ...ends(bins), mean, ...spread]);
      this.range = rangeOf(numbers, slides ? ROOM_TO_DRAG : AXIS_MARGIN);
      this.levels.clear();
    }
    const { range } = this;
    this.place = (value) => {
      const place = RADIUS + ((value - range[0]) / (range[1] - range[0])) * (width - 2 * RADIUS);
      return holds ? Math.min(width, Math.max(0, place)) : place;
    };
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) this.svg.setAttribute(name, String(value));
    this.drawAxis(range, width, height);
    const { tables } = data.stats, ranks = rankGroups(tables), rank = ranks.get(groupOf(tables, at)) ?? 0;
    const fill = groupColor(colors, ranks.size, rank), selected = peers.findIndex((peer) => sameIndex(peer, at));
    reached.forEach((stage, number) => {
      const top = number * high + head, places = stage.values.map(this.place), levels = this.levels.get(stage.key) ?? (places.length > MOST_DOTS ? places.map(() => 0) : levelsOf(places, 2 * RADIUS, selected));
      this.levels.set(stage.key, levels);
      this.rows.push({ stage, top, dots: stackDots(places, STRIP, RADIUS, levels).map((dot) => dot && { ...dot, y: dot.y + top }) });
      svg("path", { class: "nv-baseline", d: `M0,${top + STRIP + 0.5}H${width}` }, this.drawing);
      svg("path", { class: "nv-zero", d: `M${this.place(0)},${top}v${STRIP}` }, this.drawing);
      svg("text", { class: "nv-stage", x: 0, y: top - head + 12 }, this.drawing).textContent = stage.title;
      const hint = slides && !number ? _("the input: drag the large dot") : "";
      this.drawHead({ ...stage, hint }, top - head + 12, width, lines, whole || width >= SHORT_STRIP, step);
      this.drawDots(stage, group, top, fill, selected);
      this.drawMarks(stage, top, step);
    });
    this.svg.setAttribute("aria-label", joinSentences(reached.map(({ title, rule, moments }) => _("{title}: {rule}; {moments}.", { title, rule, moments }))));
    return slides ? this.slidingDot(group, at, selected) : null;
  }

  /** ``selected``: the number of the selected element in the group */
  slidingDot({ stages: [x] }: Group, at: Index, selected: number) {
    const { view: { data }, range: [low, high], width } = this, dot = this.rows[0].dots[selected], most = Math.max(-low, high), value = Number(x.values[selected].toPrecision(7));
    return dot && {
      ...dot, value, name: formatElement("x", tensorIndex(data, at)), text: valueInWords(value, data.stats, { mean: x.mean, var: x.variance }),
      low: Math.min(value, roundedFor(most, low)), high: Math.max(value, roundedFor(most, high)), unit: (width - 2 * RADIUS) / (high - low),
    };
  }

  /** The numbers of the shared axis. */
  drawAxis(range: [number, number], width: number, height: number) {
    for (const tick of ticksIn(range, Math.max(3, width / 110)))
      svg("text", { class: "nv-tick", x: this.place(tick), y: height - 5 }, this.drawing).textContent = formatNumber(tick);
  }

  /**
   * What the stage does, and its mean and spread as far as the steps have computed them.
   * @param stage ``hint``: what a reader can do, in place of the rule, except in a picture
   * @param ruled whether there is room for what is done
   */
  drawHead({ rule, hint, moments, meanAlone }: Stage & { hint: string }, y: number, width: number, lines: number, ruled: boolean, step?: string) {
    const known = this.known(step), numbers = known.spread ? moments : known.mean ? meanAlone : "";
    const [left, down] = lines > 1 ? [0, LINE] : [RULE, 0], [place, end, last] = lines > 2 ? ["", 0, 2 * LINE] : [" nv-at-end", width, 0];
    const write = (kind: string, text: string): void => {
      if (ruled && text) svg("text", { class: `nv-rule-text${kind}`, x: left, y: y + down }, this.drawing).textContent = text;
    };
    write(hint && " nv-in-picture", rule);
    write(" nv-on-screen", hint);
    svg("text", { class: `nv-numbers${place}`, x: end, y: y + last }, this.drawing).textContent = numbers;
  }

  /** One dot per value; of many values, a histogram and the dot of the selected element. */
  drawDots({ key, values, bins }: Stage, { others }: Group, top: number, fill: string, selected: number) {
    const row = this.rows[this.rows.length - 1], many = Boolean(bins) || values.length > MOST_DOTS;
    if (many) {
      const bars = bins ? this.barsOf(bins) : this.binned(values);
      const most = Math.max(...bars.map(([, , count]) => count));
      const shapes = bars.filter(([, , count]) => count).map(([left, width, count]) => {
        const bar = Math.max(1, (STRIP * count) / most), gap = Math.min(1, width / 4);
        return `M${left + gap / 2},${top + STRIP - bar}h${width - gap}v${bar}h${gap - width}z`;
      });
      svg("path", { class: "nv-dot-shape", fill, d: shapes.join("") }, this.drawing);
      row.dots = row.dots.map((dot, number) => (dot && number === selected ? { ...dot, y: top + STRIP - RADIUS } : null));
    }
    const order = [...row.dots.keys()].filter((number) => number !== selected && !many);
    const shapes: SVGElement[] = [];
    for (const number of [...order, selected]) {
      const dot = row.dots[number], radius = number === selected ? RADIUS + 1.5 : RADIUS;
      if (!dot) continue;
      const d = `M${dot.x - radius},${dot.y}a${radius},${radius},0,1,0,${2 * radius},0a${radius},${radius},0,1,0,${-2 * radius},0z`;
      const look = number === selected ? " nv-dot-selected" : others[number] ? " nv-dot-hollow" : "";
      shapes[number] = svg("path", { class: `nv-dot-shape${look}`, ...(others[number] ? {} : { fill }), d }, this.drawing);
    }
    this.dots.set(key, shapes);
  }

  /** Bars of values of which all are here. */
  binned(values: number[]) {
    const counts = [...countsOf(values.map(this.place), 2 * RADIUS)];
    return counts.map(([column, count]) => [column * 2 * RADIUS - RADIUS, 2 * RADIUS, count]);
  }

  /** The left end, the width and the count of each bar. */
  barsOf({ low, high, counts }: Histogram) {
    const left = this.place(low), width = (this.place(high) - left) / counts.length;
    return counts.map((count, number) => [left + number * width, width, count]);
  }

  /** The mean as a tick, the spread as a bar, once the steps have computed them. */
  drawMarks({ mean, spread }: Stage, top: number, step?: string) {
    const known = this.known(step), base = top + STRIP, [low, high] = spread.map(this.place);
    if (known.spread && Number.isFinite(low + high)) svg("path", { class: "nv-bar", d: `M${low},${base - 1}h${high - low}v4h${low - high}z` }, this.drawing);
    if (known.mean && Number.isFinite(mean)) svg("path", { class: "nv-bar", d: `M${this.place(mean) - 1.25},${base - 11}h2.5v14h-2.5z` }, this.drawing);
  }

  /** What the steps up to this one have computed; without steps, everything. */
  known(step?: string) {
    const keys = this.view.data.panels.map(({ key }) => key), now = step ? keys.indexOf(step) : Infinity;
    return { mean: now >= keys.indexOf("mean") && (keys.includes("mean") || now >= keys.indexOf("var")), spread: now >= keys.indexOf("var") };
  }

  /** Shows a step as motion: values flow into one mean and back, or from the stage before to the new one. */
  move(step: string) {
    const { group } = this, now = this.rows.find(({ stage }) => stage.key === step), before = now && this.rows[this.rows.indexOf(now) - 1];
    if (!group || !mayMove()) return;
    if (step === "mean" && !this.view.data.stats.running) {
      const [row] = this.rows, x = this.place(row.stage.mean), y = row.top + STRIP;
      this.dots.get("x")?.forEach((shape, number) => {
        const dot = row.dots[number];
        if (dot) moveThere(shape, x - dot.x, y - dot.y);
      });
    }
    if (!now || !before) return;
    this.dots.get(step)?.forEach((shape, number) => {
      const [to, from] = [now.dots[number], before.dots[number]];
      if (to && from) moveFrom(shape, from.x - to.x, from.y - to.y);
    });
  }
}

/** Draws the distribution of a view whose data has moments. */
export function drawDistribution(view: DistributionView, parent: HTMLElement, step?: string) {
  if (view.data.moments) view.distribution ??= new Distribution(view, parent);
  view.distribution?.draw(step);
}

const titleOf = ({ size }: Group, element: string) =>
  ngettext("From x to the output: the only value in the group of {element}", "From x to the output: the {n} values in the group of {element}", size, { element });

const stageOf = (step: string, stages: Stage[]) => [step, ...(STAGE_OF[step] ?? [])].find((key) => stages.some((stage) => stage.key === key));

/** Moves a shape from somewhere else to its place. ``dx``: where it begins, relative to its place. */
function moveFrom(shape: SVGElement, dx: number, dy: number) {
  shape.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], { duration: MOTION_TIME, easing: "ease-in-out" });
}

/** Moves a shape to another place and back. ``dx``: where it turns, relative to its place. */
function moveThere(shape: SVGElement, dx: number, dy: number) {
  const away = `translate(${dx}px, ${dy}px)`;
  shape.animate(
    [{ transform: "none" }, { transform: away, offset: 0.42 }, { transform: away, offset: 0.58 }, { transform: "none" }],
    { duration: 2 * MOTION_TIME, easing: "ease-in-out" },
  );
}
