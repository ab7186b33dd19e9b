// SPLICE: a book that frames the page may keep the reader's score and state. Without its answer, the page is as without a frame.
// https://cssplice.org/slcp/iframe-protocol-specification.html

import { findAll } from "../../figures/browser/common/dom.ts";
import type { Result } from "./list.ts";
import { showGuess } from "./prediction.ts";

export class Splice {
  request = `normviz-${Math.random().toString(36).slice(2)}`;
  sent = 0;
  origin = originOfParent();

  /** ``onState`` gets what was reported before, an object that anybody may have changed. */
  constructor(onState: (state: object) => void) {
    window.addEventListener("message", ({ source, origin, data }) => {
      const isAnswer = data?.subject === "SPLICE.getState.response" && data.message_id === this.request;
      if (!isAnswer || source !== window.parent || (this.origin && origin !== this.origin)) return;
      this.origin = origin;
      const state = typeof data.state === "string" ? parsed(data.state) : data.state; // some hosts keep it as text
      if (state && typeof state === "object") onState(state);
    });
    this.post("getState", { message_id: this.request }, this.origin || "*"); // it says nothing about the reader
  }

  /** null: there is no page around this one */
  static ofFrame = (onState: (state: object) => void) => (window.parent === window ? null : new Splice(onState));

  post(message: string, values: object, target = this.origin) {
    if (target) window.parent.postMessage({ subject: `SPLICE.${message}`, message_id: `${this.request}-${++this.sent}`, ...values }, target === "null" ? "*" : target); // a page on a disk has no address
  }

  /** ``score``: from 0 to 1 */
  report(score: number, state: object) {
    this.post("reportScoreAndState", { score, state });
  }

  event(name: string, data: object) {
    this.post("sendEvent", { name, data });
  }
}

/** The address of the page around this one; "" if the browser does not tell it. */
function originOfParent() {
  const { ancestorOrigins } = location;
  return ancestorOrigins?.length ? ancestorOrigins[0] : document.referrer && new URL(document.referrer).origin;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

type Guesses = Record<string, { guess: string; result: Result }>;

/** The predictions of a page, for a book: the first one at each question counts. */
export class QuestionScores {
  root: HTMLElement;
  guesses: Guesses = {};
  book = Splice.ofFrame((state) => this.recall((state as { guesses?: Guesses }).guesses ?? {}));

  constructor(root: HTMLElement) {
    this.root = root;
  }

  recall(kept: Guesses) {
    const here = this.guesses;
    this.guesses = { ...kept, ...here }; // also those of other pages that the frame has shown
    for (const box of findAll(this.root, ".nv-prediction")) {
      const question = box.dataset.question ?? "", { guess } = kept[question] ?? {};
      if (guess && !here[question]) showGuess(box, String(guess));
    }
  }

  /** ``result``: how the answer was opened; null: it was open already */
  answered(question: string, guess: string, result: Result | null) {
    const known = this.guesses[question];
    if (!this.book || known?.guess === guess) return;
    this.guesses[question] = { guess, result: known?.result ?? result ?? "opened" };
    this.book.event("answered", { question, guess, first: this.guesses[question].result });
    const asked = findAll(this.root, ".nv-prediction").map((box) => this.guesses[box.dataset.question ?? ""]);
    this.book.report(asked.filter((one) => one?.result === "right").length / asked.length, { guesses: this.guesses });
  }
}
