// Practice: a set of exercises, one at a time, and their summary.

import { find, html } from "../../../figures/browser/common/dom.js";
import { Memory } from "../../../figures/browser/common/memory.js";
import { _, ngettext } from "../../../figures/browser/common/messages.js";
import { EXTRAS } from "../page.js";
import { readStart } from "../start/lesson.js";
import { bankIn } from "./bank.js";
import { ExerciseView, judgeAnswer, timeText } from "./exercise.js";
import { SetForm, setOfAddress, shareSet, writeSet } from "./form.js";
import { drawSummary } from "./summary.js";

/** What a reader has answered in the last sets, the newest first. The tab keeps it, so that it is there after a reload. */
const ATTEMPTS = new Memory("sessionStorage", "normviz.practice");
const MOST_ATTEMPTS = 10;

class Practice {
  /** @type {PracticeSet} the set that is shown */
  set;
  /** @type {PracticeExercise[]} */
  exercises;
  /** @type {PracticeAttempt} */
  attempt;
  /** @type {ExerciseView | null} null at the end */
  view = null;

  /**
   * @param {HTMLElement} root
   * @param {import("../page.js").PageView} page
   */
  constructor(root, page) {
    this.page = page;
    this.data = /** @type {PracticeData} */ (JSON.parse(root.dataset.practice ?? ""));
    this.bank = bankIn(root);
    this.root = html("div", "nv-practice-root", root);
    const head = html("div", "nv-practice-head", this.root);
    this.place = html("span", "nv-practice-place", head);
    this.track = html("span", "nv-practice-track", head);
    this.score = html("span", "nv-practice-score", head);
    this.time = html("span", "nv-practice-time", head);
    this.time.hidden = !this.data.timed;
    if (this.data.controls) this.form = new SetForm(head, this.data, (set, timed) => this.open(set, timed), (set, timed) => this.linkOf(set, timed));
    this.card = html("div", "nv-practice-card", this.root);
    this.timer = setInterval(() => this.tick(), 1000);
    this.begin(this.data.set, this.data.exercises);
    if (!this.bank) return;
    if (location.hash || location.search) this.readAddress();
    window.addEventListener("popstate", () => this.root.isConnected && this.readAddress());
  }

  // A file or the static site: the address may ask for another set.
  async readAddress() {
    const { set, timed } = setOfAddress(this.data);
    this.time.hidden = !timed;
    if (this.bank) this.begin(set, await this.bank(set));
  }

  /**
   * @param {PracticeSet} set
   * @param {PracticeExercise[]} exercises
   */
  begin(set, exercises) {
    this.set = set;
    this.exercises = exercises;
    this.form?.set(set, !this.time.hidden);
    this.attempt = readAttempt(exercises.map(({ id }) => id).join(), exercises.length);
    this.show();
  }

  /** Does the same exercises again. */
  restart() {
    this.attempt = newAttempt(this.attempt.key);
    this.keep();
    this.show(true);
  }

  /**
   * Opens another set: the app does it by its address.
   * @param {PracticeSet} set
   * @param {boolean} timed
   */
  async open(set, timed) {
    const query = writeSet(set, timed, this.data.set);
    if (!this.bank) {
      if (!this.page.host.go?.("practice", query)) location.href = this.addressOf(`/practice${query}`) ?? query;
      return;
    }
    this.time.hidden = !timed;
    this.begin(set, await this.bank(set));
    this.writeAddress(query);
    this.focus();
  }

  /** @param {string} query */
  writeAddress(query) {
    try {
      history.pushState({}, "", `#${query.slice(1)}`);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error; // a frame that may not change its address keeps it
    }
  }

  /**
   * The address of a set, to hand out.
   * @param {PracticeSet} set
   * @param {boolean} timed
   */
  linkOf(set, timed) {
    const query = writeSet(set, timed, this.data.set), app = this.addressOf(`/practice${query}`);
    return app ? new URL(app, location.href).href : new URL(`#${query.slice(1)}`, location.href).href;
  }

  /**
   * Share is about the set of the open form, like the form's own link.
   * @template {SharedData} Data
   * @param {Data} data
   * @returns {Data}
   */
  asEntered(data) {
    const { form } = this;
    return form && !form.root.hidden ? shareSet(data, form.chosen, form.timed.checked) : data;
  }

  /**
   * The address of a view of the app, or of the page next to this file that takes its place; null: there is none.
   * @param {string} link
   */
  addressOf(link) {
    const { app, pages } = this.data, [, page, query] = /** @type {RegExpMatchArray} */ (link.match(/^\/(\w*)(.*)$/s));
    const base = app ?? this.appBeside;
    return this.page.host.address?.(page, query) || (pages[link] ?? (base === null ? null : base + link));
  }

  /** The app that the file links to; null: none. */
  get appBeside() {
    const link = this.bank && document.querySelector("a.nv-app-link")?.getAttribute("href");
    return link ? link.replace(/\/practice(\?.*)?$/s, "") : null;
  }

  /** @returns {PracticeResult[]} of the answers so far */
  get results() {
    return this.attempt.answers.map((value, number) => ({ exercise: this.exercises[number], value, ...judgeAnswer(this.exercises[number], value) }));
  }

  /** @param {boolean} [focus] whether the reader has asked for what is shown */
  show(focus = false) {
    const { at, draft } = this.attempt, { exercises } = this, result = this.results[at] ?? null;
    this.view = null;
    this.card.replaceChildren();
    this.updateHead();
    if (at < exercises.length) {
      this.view = new ExerciseView(this.card, exercises[at], {
        draft: result ? result.value : draft, data: this.data, isLast: at === exercises.length - 1, addressOf: (link) => this.addressOf(link),
        onChange: (value) => this.keep(value), onCheck: (value) => this.check(value), onNext: () => this.next(),
      });
      if (result) this.view.reveal(result, focus);
    } else if (exercises.length)
      drawSummary(this.card, this.results, {
        set: this.set, data: this.data, seconds: this.time.hidden ? null : this.attempt.seconds, link: this.linkOf(this.set, !this.time.hidden), addressOf: (link) => this.addressOf(link),
        onRestart: () => this.restart(), onNew: this.form && (() => this.form?.openNew()), onHarder: this.harder, isForNewcomers: this.isForNewcomers,
      });
    else html("p", "nv-note-box", this.card, _("No exercise has these topics at this level. Choose others."));
    this.page.glossary.markAgain();
    if (focus) this.focus();
  }

  /** Whether a reader who has not been in Start here chose easy exercises, or none. */
  get isForNewcomers() {
    return this.data.controls && (Number(this.set.level) || 0) < 2 && readStart() === null;
  }

  /** Opens the next level after a set of one level without a mistake; null: there is none. */
  get harder() {
    const level = String(Number(this.set.level) + 1), isPerfect = this.results.every(({ isRight }) => isRight);
    const exists = this.data.settings.level.options?.some(([value]) => value === level);
    return this.form && isPerfect && exists ? () => void this.open({ ...this.set, level }, !this.time.hidden) : null;
  }

  // Where a reader reads on: at the prompt, or at the title of the summary.
  focus() {
    find(this.card, "[tabindex]")?.focus();
  }

  /** @param {PracticeAnswer | null} value null: the reader asks for the answer */
  check(value) {
    this.attempt.answers.push(value);
    this.keep();
    this.updateHead();
    this.view?.reveal(this.results[this.attempt.at], true);
    this.page.glossary.markAgain();
  }

  next() {
    this.attempt.at += 1;
    this.keep();
    this.show(true);
  }

  /** @param {PracticeAnswer | null} [draft] */
  keep(draft = null) {
    this.attempt.draft = draft;
    keepAttempt(this.attempt);
  }

  updateHead() {
    const { at, seconds } = this.attempt, count = this.exercises.length, { results } = this, right = results.filter(({ isRight }) => isRight).length;
    this.place.textContent = at < count ? _("{n} of {count}", { n: at + 1, count }) : "";
    this.score.textContent = results.length && at < count ? ngettext("{n} right", "{n} right", right) : "";
    this.time.textContent = timeText(seconds);
    this.track.replaceChildren(...this.exercises.map((_exercise, number) => {
      const step = html("span", "nv-practice-step");
      if (results[number]) step.dataset.result = results[number].isRight ? "right" : "wrong";
      else if (number === at) step.dataset.result = "here";
      return step;
    }));
    this.track.ariaHidden = "true";
    find(this.root, ".nv-practice-head").classList.toggle("nv-practice-ended", at >= count);
  }

  // The time stops while the page is out of sight, and after the last answer.
  tick() {
    if (!this.root.isConnected) return clearInterval(this.timer);
    if (document.hidden || this.attempt.answers.length >= this.exercises.length) return;
    this.attempt.seconds += 1;
    this.time.textContent = timeText(this.attempt.seconds);
    keepAttempt(this.attempt);
  }
}

/** @param {string} key of the set @returns {PracticeAttempt} */
const newAttempt = (key) => ({ key, at: 0, seconds: 0, draft: null, answers: [] });

/** @returns {PracticeAttempt[]} */
function keptAttempts() {
  const attempts = ATTEMPTS.read();
  return Array.isArray(attempts) ? attempts : [];
}

/**
 * The attempt at this set, or a new one.
 * @param {string} key
 * @param {number} count of its exercises
 */
function readAttempt(key, count) {
  const kept = keptAttempts().find((one) => one.key === key);
  return kept && isPossible(kept, count) ? kept : newAttempt(key);
}

/**
 * @param {PracticeAttempt} attempt
 * @param {number} count
 */
function isPossible({ at, answers }, count) {
  return Array.isArray(answers) && at >= 0 && at <= answers.length && answers.length <= count;
}

/** @param {PracticeAttempt} attempt */
function keepAttempt(attempt) {
  ATTEMPTS.write([attempt, ...keptAttempts().filter(({ key }) => key !== attempt.key)].slice(0, MOST_ATTEMPTS));
}

EXTRAS.set(".nv-practice", Practice);
