// A file in which a reader chooses among the views that it has. The fragment of the address holds the view: #layer=BatchNorm2d(3)&at=1,2,0,3.

import { findAll } from "../../figures/browser/page/dom.js";
import { ControlBar } from "../../lessons/browser/control_bar.js";
import { pathOf, queryOf } from "../../lessons/browser/share/links.js";

/** @typedef {{ query: Record<string, string>, rows: (ControlRow & { inputs: (ControlInput & { numbers?: number[] })[] })[], ways: Record<string, Record<string, number>>, parts: [string, string][], figures: FigureData[] }} AnsweredView */
/** @typedef {{ page: string, app: string, present?: boolean, pool: unknown[], views: unknown[] }} PackedAnswers */
/** @typedef {import("../../lessons/browser/page.js").PageView} Page */

/** @implements {PageHost} */
export class Player {
  /** The number of the view that is shown. */
  number = 0;
  /** @type {Index | null} The element that the reader has selected. */
  at = null;
  /** @type {number | undefined} */
  step;
  written = "";
  /** @type {ControlBar} */
  bar;
  /** @type {(data: PageData) => void} */
  show = () => {};

  /** @param {PackedAnswers} answers */
  constructor(answers) {
    this.answers = answers;
    this.views = answers.views.map((view) => /** @type {AnsweredView} */ (fromPool(view, answers.pool)));
  }

  /**
   * Adds the controls and shows the view of the address.
   * @param {HTMLElement} root
   * @param {boolean} ownsAddress whether the page is a file of its own, so that its address can hold the view
   * @param {(data: PageData) => void} show
   */
  start(root, ownsAddress, show) {
    this.root = root;
    this.ownsAddress = ownsAddress;
    this.show = show;
    this.bar = new ControlBar(root, (key, value) => this.choose(key, value), () => {});
    if (ownsAddress) window.addEventListener("hashchange", () => location.hash !== this.written && this.readAddress());
    this.readAddress();
  }

  get view() {
    return this.views[this.number];
  }

  readAddress() {
    const asked = new URLSearchParams(this.ownsAddress ? decodeSafely(location.hash.slice(1)) : "");
    const at = asked.get("at"), step = asked.get("step");
    this.number = Math.max(0, this.views.findIndex(({ query }) => isView(query, asked)));
    this.at = at && /^\d+(,\d+)*$/.test(at) ? at.split(",").map(Number) : null;
    this.step = step ? Number(step) : undefined;
    this.update();
  }

  /**
   * @param {string} key
   * @param {unknown} value
   */
  choose(key, value) {
    const input = this.view.rows.flatMap(({ inputs }) => inputs).find((one) => one.key === key);
    const number = input?.numbers ? input.numbers[Number(value)] : value;
    const to = this.view.ways[key]?.[String(number)];
    if (to === undefined) return this.bar.redraw(this.view.rows); // such as a size that the file does not have
    this.number = to;
    this.update();
    this.writeAddress(true);
  }

  /**
   * Opens a stop of a tour.
   * @param {string} page
   * @param {string} query
   */
  go(page, query) {
    const stop = new URLSearchParams(query).get("stop"), to = this.views.findIndex((view) => view.query.stop === stop);
    if (!stop || to < 0) return false;
    [this.number, this.at, this.step] = [to, null, undefined];
    this.update();
    this.writeAddress(true);
    return true;
  }

  update() {
    const { rows, parts, figures } = this.view, { page, present } = this.answers;
    this.bar.set(rows);
    this.show({ page, present, parts, figures: figures.map((figure) => this.live(figure)) });
    for (const link of findAll(document, ".nv-app-link")) link.setAttribute("href", this.appAddress());
  }

  /**
   * The figure with the reader's own selection, which it reports.
   * @param {FigureData & { at?: Index | null, step?: number }} figure
   */
  live(figure) {
    const { alone, ...live } = figure, shape = figure.grid?.shape ?? [];
    const fits = this.at?.length === shape.length && this.at.every((at, axis) => at < shape[axis]);
    if (fits && "at" in figure) live.at = this.at;
    if (this.step !== undefined && "step" in figure) live.step = this.step;
    return live;
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  send = (name, value) => {
    if (name === "select") this.at = value.at;
    if (name === "step") this.step = value.step;
    this.writeAddress(false);
    for (const link of findAll(document, ".nv-app-link")) link.setAttribute("href", this.appAddress());
  };

  /** @returns {[string, string][]} */
  get pairs() {
    const pairs = Object.entries(this.view.query).filter(([name]) => name !== "step");
    if (this.at) pairs.push(["at", this.at.join()]);
    if (this.step !== undefined) pairs.push(["step", String(this.step)]);
    return pairs;
  }

  appAddress() {
    return `${this.answers.app}/${pathOf(this.answers.page)}${queryOf(this.pairs)}`;
  }

  /** @param {boolean} push whether Back should return to the view before */
  writeAddress(push) {
    if (!this.ownsAddress) return;
    const hash = `#${queryOf(this.pairs).slice(1)}`;
    if (push) location.hash = hash;
    else location.replace(hash);
    this.written = location.hash;
  }
}

/** @param {string} text */
function decodeSafely(text) {
  return text.replaceAll("+", "%2B");
}

/**
 * Whether a view has every value that is asked for; spaces do not count.
 * @param {Record<string, string>} query
 * @param {URLSearchParams} asked
 */
function isView(query, asked) {
  /** @param {string} text */
  const plain = (text) => text.replace(/\s/g, "");
  return [...asked].every(([name, text]) => name === "at" || name === "step" || name === "v" || plain(query[name] ?? "") === plain(text));
}

/**
 * @param {any} value
 * @param {unknown[]} pool
 * @returns {unknown}
 */
function fromPool(value, pool) {
  if (Array.isArray(value)) return value.map((one) => fromPool(one, pool));
  if (value === null || typeof value !== "object") return value;
  if ("$" in value) return pool[value.$];
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fromPool(one, pool)]));
}
