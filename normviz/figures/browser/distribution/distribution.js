// The values of the selected element's group, from x to the output: normalization makes their mean 0 and their spread 1.

/** @import { GammaBetaView } from "./gamma_beta.js" */
/** @import { Group, Stage } from "./stages.js" */

import { MOTION_TIME, mayMove } from "../motion/outlines.js";
import { groupColor } from "../common/color.js";
import { html, svg } from "../common/dom.js";
import { formatElement, formatShort } from "../common/format.js";
import { _, ngettext } from "../common/messages.js";
import { groupOf, rankGroups, sameIndex, tensorIndex } from "../tensor/sharing.js";
import { sentPlace } from "../tensor/slices.js";
import { GammaAndBetaSliders, showOutputOf } from "./gamma_beta.js";
import { countsOf, rangeOf, stackDots, ticksIn } from "./scale.js";
import { groupStages, motionText, notesOf } from "./stages.js";

const RADIUS = 3.5, STRIP = 38, GAP = 14, AXIS = 20, LINE = 17; // px
const MOST_DOTS = 400; // more values are drawn as a histogram
const RULE = 86; // px: distance from the title of a stage to its rule
const NARROW_STRIP = 700; // px; below, title, rule and numbers have a line each

/** The stage that a step of the forward pass belongs to, if it is not one itself. @type {Record<string, string[]>} */
const STAGE_OF = { mean: ["x"], squared: ["centered", "x"], var: ["centered", "x"] };

/** @typedef {GammaBetaView & { width: number, distribution?: Distribution }} DistributionView */
/** @typedef {{ stage: Stage, top: number, dots: ({ x: number, y: number } | null)[] }} Row ``top``: of its strip */

export class Distribution {
  /** @type {Row[]} */
  rows = [];
  /** @type {Group | null} */
  group = null;
  /** @type {(value: number) => number} */
  place = () => 0;
  /** @type {Map<string, SVGElement[]>} The dots of each stage. */
  dots = new Map();

  /**
   * @param {DistributionView} view
   * @param {HTMLElement} after which it is put
   */
  constructor(view, after) {
    this.view = view;
    this.root = html("section", "nv-distribution");
    after.after(this.root);
    this.title = html("h2", "nv-heading", this.root);
    this.svg = svg("svg", { class: "nv-strips", role: "img" }, this.root);
    this.motionText = html("p", "nv-motion-text", this.root);
    this.note = html("p", "", this.root);
    this.sliders = new GammaAndBetaSliders(this.root, (choice) => showOutputOf(view, choice));
    this.listen();
  }

  listen() {
    /** @param {MouseEvent} event */
    const at = (event) => {
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

  /**
   * The element whose dot is under a point.
   * @param {number} x
   * @param {number} y
   */
  elementAt(x, y) {
    for (const { dots } of this.rows) {
      const found = dots.findIndex((dot) => dot && Math.hypot(dot.x - x, dot.y - y) <= RADIUS + 1);
      if (found >= 0) return this.group?.peers[found] ?? null;
    }
    return null;
  }

  /**
   * Draws the group of the selected element.
   * @param {string} [step] of the forward pass: later stages are not drawn yet
   */
  draw(step) {
    const { view } = this, { data } = view, at = view.at && sentPlace(data, view.at) ? view.at : null, width = view.width - 2;
    this.root.hidden = !data.values || (data.hidden ?? []).includes("distribution") || width < 80;
    if (this.root.hidden) return;
    this.sliders.set(view.given, view.choice, !step || step === "output");
    this.svg.replaceChildren();
    this.dots.clear();
    this.rows = [];
    this.group = at && groupStages(view, at);
    this.svg.toggleAttribute("hidden", !at);
    this.note.textContent = at && this.group ? notesOf(data, this.group, this.known(step).mean) : _("Select an element to see the values of its group.");
    this.title.textContent = this.group && at ? titleOf(this.group, formatElement("x", tensorIndex(data, at))) : _("From x to the output");
    this.motionText.hidden = !step;
    this.motionText.textContent = step && this.group ? motionText(data, this.group, step) : "";
    if (this.group && at) this.drawStages(this.group, at, width, step);
  }

  /**
   * @param {Group} group
   * @param {Index} at
   * @param {number} width
   * @param {string} [step]
   */
  drawStages({ stages, peers }, at, width, step) {
    const { data, colors } = this.view, narrow = width < NARROW_STRIP, head = (narrow ? 3 : 1) * LINE, high = head + STRIP + GAP;
    const range = rangeOf(stages.flatMap(({ values, mean, spread }) => [...values, mean, ...spread])), height = stages.length * high + AXIS;
    this.place = (value) => RADIUS + ((value - range[0]) / (range[1] - range[0])) * (width - 2 * RADIUS);
    for (const [name, value] of Object.entries({ width, height, viewBox: `0 0 ${width} ${height}` })) this.svg.setAttribute(name, String(value));
    this.drawAxis(range, width, height);
    const shown = step ? stages.findIndex(({ key }) => key === stageOf(step, stages)) : stages.length - 1;
    const { tables } = data.stats, ranks = rankGroups(tables), rank = ranks.get(groupOf(tables, at)) ?? 0;
    const fill = groupColor(colors, ranks.size, rank), selected = peers.findIndex((peer) => sameIndex(peer, at));
    stages.forEach((stage, number) => {
      const top = number * high + head, dots = number > shown ? [] : stackDots(stage.values.map(this.place), STRIP, RADIUS).map((dot) => dot && { ...dot, y: dot.y + top });
      this.rows.push({ stage, top, dots });
      svg("path", { class: "nv-baseline", d: `M0,${top + STRIP + 0.5}H${width}` }, this.svg);
      svg("path", { class: "nv-zero", d: `M${this.place(0)},${top}v${STRIP}` }, this.svg);
      svg("text", { class: "nv-stage", x: 0, y: top - head + 12 }, this.svg).textContent = stage.title;
      if (number > shown) return;
      this.drawHead(stage, top - head + 12, width, narrow, step);
      this.drawDots(stage, top, fill, selected);
      this.drawMarks(stage, top, step);
    });
    this.svg.setAttribute("aria-label", stages.slice(0, shown + 1).map(({ title, rule, moments }) => `${title}: ${rule}; ${moments}`).join(". "));
  }

  /**
   * The numbers of the shared axis.
   * @param {[number, number]} range
   * @param {number} width
   * @param {number} height
   */
  drawAxis(range, width, height) {
    for (const tick of ticksIn(range, Math.max(3, width / 110)))
      svg("text", { class: "nv-tick", x: this.place(tick), y: height - 5 }, this.svg).textContent = formatShort(tick);
  }

  /**
   * What the stage does, and its mean and spread as far as the steps have computed them.
   * @param {Stage} stage
   * @param {number} y
   * @param {number} width
   * @param {boolean} narrow
   * @param {string} [step]
   */
  drawHead({ rule, moments, meanAlone }, y, width, narrow, step) {
    const known = this.known(step), numbers = known.spread ? moments : known.mean ? meanAlone : "";
    const [left, end, down] = narrow ? [0, 0, LINE] : [RULE, width, 0];
    svg("text", { class: "nv-rule-text", x: left, y: y + down }, this.svg).textContent = rule;
    svg("text", { class: narrow ? "nv-numbers" : "nv-numbers nv-at-end", x: end, y: y + 2 * down }, this.svg).textContent = numbers;
  }

  /**
   * One dot per value; of many values, a histogram and the dot of the selected element.
   * @param {Stage} stage
   * @param {number} top
   * @param {string} fill
   * @param {number} selected
   */
  drawDots({ key, values }, top, fill, selected) {
    const row = this.rows[this.rows.length - 1], many = values.length > MOST_DOTS;
    if (many) {
      const counts = countsOf(values.map(this.place), 2 * RADIUS), most = Math.max(...counts.values());
      const bars = [...counts].map(([column, count]) => {
        const bar = Math.max(1, (STRIP * count) / most);
        return `M${column * 2 * RADIUS - RADIUS + 0.5},${top + STRIP - bar}h${2 * RADIUS - 1}v${bar}h${1 - 2 * RADIUS}z`;
      });
      svg("path", { class: "nv-dot-shape", fill, d: bars.join("") }, this.svg);
      row.dots = row.dots.map((dot, number) => (dot && number === selected ? { ...dot, y: top + STRIP - RADIUS } : null));
    }
    const order = [...row.dots.keys()].filter((number) => number !== selected && !many);
    /** @type {SVGElement[]} */
    const shapes = [];
    for (const number of [...order, selected]) {
      const dot = row.dots[number], radius = number === selected ? RADIUS + 1.5 : RADIUS;
      if (!dot) continue;
      const d = `M${dot.x - radius},${dot.y}a${radius},${radius},0,1,0,${2 * radius},0a${radius},${radius},0,1,0,${-2 * radius},0z`;
      shapes[number] = svg("path", { class: number === selected ? "nv-dot-shape nv-dot-selected" : "nv-dot-shape", fill, d }, this.svg);
    }
    this.dots.set(key, shapes);
  }

  /**
   * The mean as a tick, the spread as a bar, once the steps have computed them.
   * @param {Stage} stage
   * @param {number} top
   * @param {string} [step]
   */
  drawMarks({ mean, spread }, top, step) {
    const known = this.known(step), base = top + STRIP, [low, high] = spread.map(this.place);
    if (known.spread && Number.isFinite(low + high)) svg("path", { class: "nv-bar", d: `M${low},${base - 1}h${high - low}v4h${low - high}z` }, this.svg);
    if (known.mean && Number.isFinite(mean)) svg("path", { class: "nv-bar", d: `M${this.place(mean) - 1.25},${base - 9}h2.5v16h-2.5z` }, this.svg);
  }

  /**
   * What the steps up to this one have computed; without steps, everything.
   * @param {string} [step]
   */
  known(step) {
    const keys = this.view.data.panels.map(({ key }) => key), now = step ? keys.indexOf(step) : Infinity;
    return { mean: now >= keys.indexOf("mean") && (keys.includes("mean") || now >= keys.indexOf("var")), spread: now >= keys.indexOf("var") };
  }

  /**
   * Shows a step as motion: values flow into one mean and back, or from the stage before to the new one.
   * @param {string} step
   */
  move(step) {
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

/**
 * Draws the distribution of a view whose data has moments.
 * @param {DistributionView} view
 * @param {HTMLElement} after which it is put
 * @param {string} [step]
 */
export function drawDistribution(view, after, step) {
  if (view.data.moments) view.distribution ??= new Distribution(view, after);
  view.distribution?.draw(step);
}

/**
 * @param {Group} group
 * @param {string} element
 */
const titleOf = ({ size }, element) =>
  ngettext("From x to the output: the only value in the group of {element}", "From x to the output: the {n} values in the group of {element}", size, { element });

/**
 * @param {string} step
 * @param {Stage[]} stages
 */
const stageOf = (step, stages) => [step, ...(STAGE_OF[step] ?? [])].find((key) => stages.some((stage) => stage.key === key));

/**
 * Moves a shape from somewhere else to its place.
 * @param {SVGElement} shape
 * @param {number} dx where it begins, relative to its place
 * @param {number} dy
 */
function moveFrom(shape, dx, dy) {
  shape.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: "none" }], { duration: MOTION_TIME, easing: "ease-in-out" });
}

/**
 * Moves a shape to another place and back.
 * @param {SVGElement} shape
 * @param {number} dx where it turns, relative to its place
 * @param {number} dy
 */
function moveThere(shape, dx, dy) {
  const away = `translate(${dx}px, ${dy}px)`;
  shape.animate(
    [{ transform: "none" }, { transform: away, offset: 0.42 }, { transform: away, offset: 0.58 }, { transform: "none" }],
    { duration: 2 * MOTION_TIME, easing: "ease-in-out" },
  );
}
