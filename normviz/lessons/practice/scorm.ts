// SCORM 1.2: a set as an object of a course, which keeps the score, the completion, the time, each try, and where the reader left.

import { html } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { resultOfTries } from "./exercise.ts";

type Api = Record<"LMSInitialize" | "LMSFinish" | "LMSGetValue" | "LMSCommit" | "LMSGetLastError", (of: string) => unknown> & {
  LMSSetValue(name: string, value: string): unknown;
};
/** How far a reader is in a set. */
type Standing = Pick<PracticeAttempt, "at" | "tries">;
type Interaction = [name: string, value: string][];

const RETRY = 10; // s, until what the course has not taken is sent again
const LONGEST_RESPONSE = 255; // characters
const NOTHING = "none"; // a response has a character at least
const NOT_INITIALIZED = "301"; // the error after another window has ended the session

export class ScormCourse {
  api: Api;
  root: HTMLElement;
  exercises: PracticeExercise[];
  mastery: number | null;
  standing: Standing;
  began = performance.now(); // of the session
  isOwner = false; // of the session
  asked = performance.now(); // when the reader could begin with the next try
  tries: Interaction[] = []; // that the course has not taken
  note: HTMLElement | null = null;
  others: BroadcastChannel;
  isOver = false;

  /**
   * @param mastery the least score, in percent, of a set that is passed; null: a set that is done is completed
   * @param onFurther called when another window of the same student has got further
   */
  constructor(api: Api, root: HTMLElement, exercises: PracticeExercise[], mastery: number | null, onFurther: (standing: Standing) => void) {
    Object.assign(this, { api, root, exercises, mastery });
    this.start();
    this.standing = unpack(this.call("LMSGetValue", "cmi.suspend_data"), exercises) ?? { at: 0, tries: [] };
    this.save();
    this.others = new BroadcastChannel(`normviz ${location.pathname} ${this.call("LMSGetValue", "cmi.core.student_id")}`);
    this.others.onmessage = ({ data }) => this.compare(String(data), onFurther);
    this.others.postMessage(this.state);
    window.addEventListener("pagehide", () => this.finish());
    window.addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
    document.addEventListener("visibilitychange", () => document.hidden && this.save());
    setInterval(() => this.note && this.save(), RETRY * 1000);
  }

  /** What the course answers; "" where it is gone. */
  call(name: Exclude<keyof Api, "LMSSetValue">, of = "") {
    try {
      return String(this.api[name](of));
    } catch {
      return "";
    }
  }

  /** Whether the course takes a value. */
  set(name: string, value: string) {
    try {
      return String(this.api.LMSSetValue(`cmi.${name}`, value)) === "true";
    } catch {
      return false;
    }
  }

  /** Begins a session. If another window has begun one, that is used, and the other window ends it. */
  start() {
    this.isOwner = this.call("LMSInitialize") === "true";
    if (this.isOwner) this.began = performance.now();
  }

  get state() {
    return pack(this.standing, this.exercises);
  }

  /** In percent of all exercises: those that were right at the first try. */
  get score() {
    return Math.round(10000 * scoreOf(this.exercises, this.standing.tries, this.exercises.length)) / 100;
  }

  get isDone() {
    const { exercises, standing: { tries } } = this;
    return tries.length === exercises.length && resultOfTries(exercises[tries.length - 1], tries[tries.length - 1]).isDone;
  }

  get status() {
    if (!this.isDone) return "incomplete";
    return this.mastery === null ? "completed" : this.score >= this.mastery ? "passed" : "failed";
  }

  /** Keeps the last try at an exercise. */
  answered(result: PracticeResult, standing: Standing) {
    this.tries.push(interactionOf(result, (performance.now() - this.asked) / 1000));
    this.moved(standing);
  }

  /** Keeps which exercise is shown, here and in other windows. */
  moved({ at, tries }: Standing) {
    this.standing = { at, tries };
    this.asked = performance.now();
    this.save();
    this.others.postMessage(this.state);
  }

  save() {
    if (this.isOver) return;
    let isTaken = this.set("suspend_data", this.state);
    if (!isTaken && this.call("LMSGetLastError") === NOT_INITIALIZED) {
      this.start();
      isTaken = this.set("suspend_data", this.state);
    }
    while (this.tries.length && this.record(this.tries[0])) this.tries.shift();
    if (this.sendCore(String(this.score)) && isTaken && this.call("LMSCommit") === "true") this.note = this.note?.remove() ?? null;
    else this.note ??= this.makeNote();
  }

  makeNote() {
    const text = _("The course does not answer, so your last answers are not saved yet. Keep this page open: it sends them again.");
    const note = html("p", "nv-note-box", null, text, { role: "alert" });
    this.root.before(note);
    return note;
  }

  /** Whether the course has taken a try, or takes none: interactions are optional in SCORM 1.2. */
  record(values: Interaction) {
    const count = Number(this.call("LMSGetValue", "cmi.interactions._count")) || 0;
    const taken = values.map(([name, value]) => this.set(`interactions.${count}.${name}`, value));
    return taken[0] || ![NOT_INITIALIZED, ""].includes(this.call("LMSGetLastError"));
  }

  /** Whether the course has taken what each course must take. */
  sendCore(score: string) {
    for (const [name, value] of [["min", "0"], ["max", "100"]]) this.set(`core.score.${name}`, value);
    const time = timespan((performance.now() - this.began) / 1000);
    const values = { "core.score.raw": score, "core.lesson_status": this.status, "core.exit": "suspend", "core.session_time": time };
    return Object.entries(values).map(([name, value]) => this.set(name, value)).every(Boolean);
  }

  /** At the end of the session. Many courses compare any score with the mastery then, and a set that is not done would have failed. */
  finish() {
    this.save();
    if (this.isOwner) {
      if (this.mastery !== null && !this.isDone) this.sendCore("");
      this.call("LMSFinish");
    }
    this.others.close();
    this.isOver = true;
  }

  /** Another window has sent its state. */
  compare(state: string, onFurther: (standing: Standing) => void) {
    const theirs = unpack(state, this.exercises), mine = this.standing;
    if (!theirs) return;
    const further = progressOf(theirs) - progressOf(mine);
    if (further < 0) this.others.postMessage(this.state);
    if (further <= 0) return;
    this.moved(theirs);
    onFurther(theirs);
  }
}

/** The share of the exercises of a set that were right at the first try. */
export const scoreOf = (exercises: PracticeExercise[], tries: PracticeAttempt["tries"], count: number) => tries.filter(([first], number) => resultOfTries(exercises[number], [first]).isRight).length / count;

const progressOf = ({ at, tries }: Standing) => tries.flat().length * 1000 + at;

// How the course is found: in the windows around this one, in the one that has opened it, and around that one.

export function findScorm(): Api | null {
  const around = windowsAround(window), openers = [window.opener, window.top?.opener].flatMap((opener) => (opener ? windowsAround(opener) : []));
  for (const one of [...around, ...openers])
    try {
      const api = (one as Window & { API?: Api }).API;
      if (typeof api?.LMSInitialize === "function") return api;
    } catch {
      // a window of another site
    }
  return null;
}

const windowsAround = (first: Window): Window[] => (first.parent === first ? [first] : [first, ...windowsAround(first.parent)]);

// An interaction, whose forms are those of SCORM 1.2.

function interactionOf({ exercise, value, isRight }: PracticeResult, seconds: number): Interaction {
  const { id, answer, accepted = [answer] } = exercise, given = value === null ? [] : [value], type = typeOf(exercise, [...given, ...accepted]);
  const response = given.map((one) => ["student_response", responseOf(exercise, one)]);
  const patterns = accepted.map((one, number) => [`correct_responses.${number}.pattern`, responseOf(exercise, one)]);
  const result = value === null ? "neutral" : isRight ? "correct" : "wrong"; // neutral: the answer was shown
  return [["id", id], ["type", type], ["time", new Date().toTimeString().slice(0, 8)], ...patterns, ...response, ["result", result], ["weighting", "1"], ["latency", timespan(seconds)]] as Interaction;
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** ``values``: the response and the right answers; a number such as 1e-7 has no form of "numeric". */
const typeOf = ({ options, form }: PracticeExercise, values: PracticeAnswer[]) => (options ? "choice" : form !== "number" ? "performance" : values.every((one) => DECIMAL.test(String(one))) ? "numeric" : "fill-in");

/** An option as its letter; marked elements as their positions in row-major order; toggles as the number of groups along each axis. */
function responseOf({ options }: PracticeExercise, value: PracticeAnswer) {
  return options ? String.fromCharCode(97 + options.findIndex(([text]) => text === value)) : String(value).slice(0, LONGEST_RESPONSE) || NOTHING;
}

/** HHHH:MM:SS.SS */
export function timespan(seconds: number) {
  const hundredths = Math.min(Math.floor(seconds * 100), 9999 * 360000), [hours, minutes, rest] = [Math.floor(hundredths / 360000), Math.floor(hundredths / 6000) % 60, (hundredths % 6000) / 100];
  return `${String(hours).padStart(4, "0")}:${String(minutes).padStart(2, "0")}:${rest.toFixed(2).padStart(5, "0")}`;
}

// The state, packed into the 4,096 characters that a course keeps. normviz/export/scorm.py counts the longest one of a set.

const VERSION = "1";
const AT_WIDTH = 4;
const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const STATE = /^[\w+/-]+$/; // the digits, and those of a number
const TRIES = ["", "a", "s", "aa", "as"]; // at an exercise: answered, or the answer shown

/** The version, the hash of the set, four digits for ``at``, and each exercise: the kinds of its tries as a digit, and each answer in a fixed number of characters. */
export function pack({ at, tries }: Standing, exercises: PracticeExercise[]) {
  const packed = tries.map((all, number) => TRIES.indexOf(all.map((one) => (one === null ? "s" : "a")).join("")) + all.map((one) => (one === null ? "" : packAnswer(one, exercises[number]))).join(""));
  return `${VERSION}${hashOf(exercises)}${String(at).padStart(AT_WIDTH, "0")}${packed.join("")}`;
}

/** null: there is no state, or it is of another set */
export function unpack(state: string, exercises: PracticeExercise[]): Standing | null {
  const head = `${VERSION}${hashOf(exercises)}`, at = Number(state.slice(head.length, head.length + AT_WIDTH)), tries: PracticeAttempt["tries"] = [];
  if (!state.startsWith(head) || !STATE.test(state)) return null;
  for (let place = head.length + AT_WIDTH; place < state.length; ) {
    const exercise = exercises[tries.length], kinds = TRIES[Number(state[place++])];
    if (!exercise || !kinds) return null;
    const width = widthOf(exercise), answers = kinds.replace("s", "").length * width;
    if (place + answers > state.length) return null;
    tries.push([...kinds].map((kind, number) => (kind === "s" ? null : unpackAnswer(state.slice(place + number * width, place + (number + 1) * width), exercise))));
    place += answers;
  }
  return at <= tries.length && pack({ at, tries }, exercises) === state ? { at, tries } : null;
}

const cellsOf = ({ shape }: PracticeExercise) => shape.reduce((product, size) => product * size, 1);

function widthOf(exercise: PracticeExercise) {
  const { form, options, steps } = exercise;
  return options ? 1 : steps ? steps.length : form === "mark" ? Math.ceil(cellsOf(exercise) / 6) : 11;
}

function packAnswer(value: PracticeAnswer, exercise: PracticeExercise) {
  const { options, steps } = exercise;
  if (options) return DIGITS[options.findIndex(([text]) => text === value)];
  if (steps) return String(value).split(",").map((one, axis) => DIGITS[steps[axis].indexOf(Number(one))]).join("");
  if (!Array.isArray(value)) return btoa(String.fromCharCode(...new Uint8Array(Float64Array.of(Number(value)).buffer))).slice(0, 11);
  const bits = Array.from({ length: 6 * widthOf(exercise) }, (_none, position) => Number(value.includes(position)));
  return Array.from({ length: bits.length / 6 }, (_none, place) => DIGITS[parseInt(bits.slice(6 * place, 6 * place + 6).join(""), 2)]).join("");
}

function unpackAnswer(packed: string, exercise: PracticeExercise): PracticeAnswer {
  const { form, options, steps } = exercise, digits = [...packed].map((digit) => DIGITS.indexOf(digit));
  if (options) return options[digits[0]]?.[0] ?? "";
  if (steps) return digits.map((digit, axis) => steps[axis][digit]).join();
  if (form !== "mark") return String(new Float64Array(Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)).buffer)[0]);
  return digits.flatMap((digit, place) => [...digit.toString(2).padStart(6, "0")].flatMap((bit, at) => (bit === "1" ? [6 * place + at] : [])));
}

/** FNV-1a of the ids, as eight hexadecimal digits. */
function hashOf(exercises: PracticeExercise[]) {
  let hash = 0x811c9dc5;
  for (const letter of exercises.map(({ id }) => id).join()) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
