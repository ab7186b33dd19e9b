// A page that a notebook's kernel answers: it draws what the kernel sends, and sends what the reader does.

import { Turns } from "../../figures/browser/views/turns.js";
import { ControlBar } from "../../lessons/browser/controls/control_bar.js";
import { loadPlotly } from "../../figures/browser/page/plotly.js";

/** @typedef {{ get(name: string): any, send(content: object): void, on(name: string, call: (...values: any[]) => void): void, off(name: string, call: (...values: any[]) => void): void }} Model of anywidget */
/** @typedef {{ data?: PageData, rows: ControlRow[], turn: number, plotly?: string }} Reply */

const EVENT = "normviz-model";
const TRIES = 5, FIRST_WAIT = 2000; // ms; each wait is twice as long as the one before

/** The models of the widgets in this page, by their keys. */
const modelsOf = () => (window.normvizModels ??= new Map());

/**
 * Makes the model known to the HTML outputs of the page, while its kernel answers.
 * @param {Model} model
 * @param {AbortSignal | undefined} signal
 */
export function offerModel(model, signal) {
  const key = model.get("key");
  /** @param {boolean} isRunning */
  const tellOutputs = (isRunning) => {
    if (isRunning === modelsOf().has(key)) return;
    if (isRunning) modelsOf().set(key, model);
    else modelsOf().delete(key);
    window.dispatchEvent(new CustomEvent(EVENT, { detail: key }));
  };
  tellOutputs(true);
  signal?.addEventListener("abort", () => tellOutputs(false));
  model.on("msg:custom", () => tellOutputs(true));
  model.on("comm_live_update", () => {
    tellOutputs(false); // the kernel restarts, or only its connection: then it still answers
    sendUntilReply(model, () => model.send({ name: "look", turn: 0 }));
  });
}

/**
 * Repeats a message until the kernel sends one: while JupyterLab connects to a kernel, it may drop what it should send.
 * @param {Model} model
 * @param {() => void} send
 */
function sendUntilReply(model, send, tries = TRIES, wait = FIRST_WAIT) {
  const stop = () => {
    clearTimeout(timer);
    model.off("msg:custom", stop);
  };
  const timer = setTimeout(() => {
    stop();
    if (tries > 1) sendUntilReply(model, send, tries - 1, 2 * wait);
  }, wait);
  model.on("msg:custom", stop);
  try {
    send();
  } catch (error) {
    console.info(error);
  }
}

/**
 * Calls ``use`` with the model of the key, now and whenever it appears or disappears.
 * @param {string} key
 * @param {(model: Model | undefined) => void} use
 */
export function watchModel(key, use) {
  window.addEventListener(EVENT, (event) => /** @type {CustomEvent} */ (event).detail === key && use(modelsOf().get(key)));
  if (modelsOf().has(key)) use(modelsOf().get(key));
}

/**
 * Loads plotly.js from the kernel, unless the page has it.
 * @param {Model} model
 */
export async function plotlyFromKernel(model) {
  if (window.Plotly) return;
  const client = crypto.randomUUID(), packed = await new Promise((resolve) => {
    /**
     * @param {Reply} reply
     * @param {DataView[]} buffers
     */
    const take = (reply, buffers) => {
      if (reply.plotly !== client) return;
      model.off("msg:custom", take);
      resolve(buffers[0]);
    };
    model.on("msg:custom", take);
    model.send({ name: "plotly", client });
  });
  const plain = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).blob();
  await loadPlotly(URL.createObjectURL(new Blob([plain], { type: "text/javascript" })));
}

/**
 * Loads plotly.js from the kernel of a widget, as soon as the widget exists.
 * @param {string} key
 */
export function plotlyFromWidget(key) {
  return new Promise((resolve) => watchModel(key, (model) => model && plotlyFromKernel(model).then(resolve)));
}

/** @implements {PageHost} */
export class Live {
  turns = new Turns();
  removed = false;

  /**
   * @param {Model} model
   * @param {HTMLElement} root
   * @param {(data: PageData) => void} show
   */
  constructor(model, root, show) {
    this.model = model;
    this.show = show;
    this.bar = new ControlBar(root, (key, value) => this.tell("input", { key, value }), () => this.tell("reset"));
    model.on("msg:custom", this.take);
    const turn = this.turns.next();
    sendUntilReply(model, () => this.removed || model.send({ name: "look", turn }));
  }

  /**
   * @param {string} name
   * @param {object} value
   */
  send = (name, value) => this.tell(name, value);

  /**
   * @param {string} name
   * @param {object} [value]
   */
  tell(name, value = {}) {
    this.model.send({ ...value, name, turn: this.turns.next() });
  }

  /**
   * Shows the kernel's reply. Until there is one to the newest change of this page, older replies are ignored. Other copies get it too.
   * @param {Reply} reply
   */
  take = ({ data, rows, turn }) => {
    if (!data || this.turns.wait(turn)) return;
    this.turns.follow(turn);
    this.bar.set(rows);
    this.show(data);
  };

  remove() {
    this.removed = true;
    this.model.off("msg:custom", this.take);
    this.bar.destroy();
  }
}
