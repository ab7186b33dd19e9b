// A page that a notebook's kernel answers: it draws what the kernel sends, and sends what the reader does.

import { Turns } from "../../figures/browser/views/turns.ts";
import { ControlBar } from "../../lessons/browser/control_bar.ts";
import { loadPlotly } from "../../figures/browser/common/plotly.ts";

/** of anywidget */
export type Model = {
  get(name: string): any;
  send(content: object, callbacks?: object): void;
  on(name: string, call: (...values: any[]) => void): void;
  off(name: string, call: (...values: any[]) => void): void;
};
type Reply = { data?: PageData; rows: RowData[]; turn: number; plotly?: string };

const EVENT = "normviz-model";
const TRIES = 5, FIRST_WAIT = 2000; // ms; each wait is twice as long as the one before

/** The models of the widgets in this page, by their keys. */
const modelsOf = () => (window.normvizModels ??= new Map());

/** Makes the model known to the HTML outputs of the page, while its kernel answers. A new model of the same widget replaces the old one. */
export function offerModel(model: Model, signal: AbortSignal | undefined) {
  const key = model.get("key");
  const tellOutputs = (isRunning: boolean) => {
    if (isRunning === (modelsOf().get(key) === model)) return;
    if (isRunning) modelsOf().set(key, model);
    else modelsOf().delete(key);
    window.dispatchEvent(new CustomEvent(EVENT, { detail: key }));
  };
  tellOutputs(true);
  signal?.addEventListener("abort", () => tellOutputs(false));
  model.on("msg:custom", () => modelsOf().has(key) || tellOutputs(true));
  model.on("comm_live_update", () => {
    tellOutputs(false); // the kernel restarts, or only its connection: then it still answers
    lookUntilReply(model, 0);
  });
}

/**
 * Asks the kernel for the page until its reply comes: while JupyterLab connects to a kernel, it may drop what it should send.
 * 
 * anywidget passes on no reply if it did not load the model within two seconds, as in a busy browser. Then the kernel has handled the
 * message and there is no reply: the kernel is asked for another model.
 * @param needless whether nobody waits for the reply any more
 */
function lookUntilReply(model: Model, turn: number, needless: () => boolean = () => false) {
  let handled = false, tries = TRIES, wait = FIRST_WAIT, timer = 0;
  const callbacks = {
    iopub: { status: ({ content }: { content: { execution_state: string } }) => (handled ||= content.execution_state === "idle") },
  };
  const stop = () => {
    clearTimeout(timer);
    model.off("msg:custom", stop);
  };
  const look = () => {
    if (needless() || !tries) return stop();
    timer = setTimeout(look, wait);
    [tries, wait] = [tries - 1, 2 * wait];
    try {
      model.send({ name: handled ? "reopen" : "look", turn }, callbacks);
    } catch (error) {
      console.info(error);
    }
  };
  model.on("msg:custom", stop);
  look();
}

/** Calls ``use`` with the model of the key, now and whenever it appears or disappears. */
export function watchModel(key: string, use: (model: Model | undefined) => void) {
  window.addEventListener(EVENT, (event) => (event as CustomEvent).detail === key && use(modelsOf().get(key)));
  if (modelsOf().has(key)) use(modelsOf().get(key));
}

/** Loads plotly.js from the kernel, unless the page has it. */
export async function plotlyFromKernel(model: Model) {
  if (window.Plotly) return;
  const client = crypto.randomUUID(), packed = await new Promise<BlobPart>((resolve) => {
    const take = (reply: Reply, buffers: DataView<ArrayBuffer>[]) => {
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

/** Loads plotly.js from the kernel of a widget, as soon as the widget exists. */
export function plotlyFromWidget(key: string) {
  return new Promise((resolve) => watchModel(key, (model) => model && plotlyFromKernel(model).then(resolve)));
}

/** Shows nothing until the kernel's first reply. */
export class Live implements PageHost {
  turns = new Turns();
  removed = false;
  bar?: ControlBar;
  model: Model;
  root: HTMLElement;
  show: (data: PageData) => void;

  constructor(model: Model, root: HTMLElement, show: (data: PageData) => void) {
    this.model = model;
    this.root = root;
    this.show = show;
    model.on("msg:custom", this.take);
    lookUntilReply(model, this.turns.next(), () => this.removed);
  }

  send = (name: string, value: object) => this.tell(name, value);

  tell(name: string, value: object = {}) {
    this.model.send({ ...value, name, turn: this.turns.next() });
  }

  /** Shows the kernel's reply. Until there is one to the newest change of this page, older replies are ignored. Other copies get it too. */
  take = ({ data, rows, turn }: Reply) => {
    if (!data || this.turns.wait(turn)) return;
    this.turns.follow(turn);
    this.bar ??= new ControlBar(this.root, (key, value) => this.tell("input", { key, value }), () => this.tell("reset"));
    this.bar.set(rows);
    this.show(data);
  };

  remove() {
    this.removed = true;
    this.model.off("msg:custom", this.take);
    this.bar?.destroy();
  }
}
