// Practice: a set of exercises, one at a time, and their summary.

import { find, html } from "../../figures/browser/common/dom.ts";
import { Memory } from "../../figures/browser/common/memory.ts";
import { _, betweenParts, ngettext } from "../../figures/browser/common/messages.ts";
import { EXTRAS, type PageView } from "../../parts/browser/page.ts";
import { Splice } from "../../parts/browser/splice.ts";
import { readStart } from "../start/start.ts";
import { RISING, bankIn } from "./bank.ts";
import { ExerciseView, resultOfTries, timeText } from "./exercise.ts";
import { SetForm, setOfAddress, shareSet, writeSet } from "./form.ts";
import { openInProgress, keepProgress } from "./progress.ts";
import { levelAfter, nextExercise } from "./rising.ts";
import { findScorm, ScormCourse, scoreOf } from "./scorm.ts";
import { drawSummary, outcomeOf } from "./summary.ts";

/** What a reader has answered in the last sets, the newest first. The tab keeps it, so that it is there after a reload. */
const ATTEMPTS = new Memory("sessionStorage", "normviz.practice");
const MOST_ATTEMPTS = 10;

/** What the page around this one keeps. */
type BookState = { attempt?: PracticeAttempt; best?: number };

class Practice {
  set: PracticeSet; // the set that is shown
  exercises: PracticeExercise[]; // of the set; of a rising one, those that were chosen so far
  pool: PracticeExercise[] = []; // from which those of a rising set are chosen
  attempt: PracticeAttempt;
  view: ExerciseView | null = null; // null at the end
  page: PageView;
  data: PracticeData;
  bank;
  root = html("div", "nv-practice-root");
  head = html("div", "nv-practice-head", this.root);
  place = html("span", "nv-practice-place", this.head);
  level = html("span", "nv-practice-level", this.head);
  track = html("span", "nv-practice-track", this.head, "", { ariaHidden: "true" });
  score = html("span", "nv-practice-score", this.head);
  time = html("span", "nv-practice-time", this.head);
  form?: SetForm;
  course: ScormCourse | null = null; // that keeps the attempt, instead of the tab
  book: Splice | null = null; // the page around this one, which may keep the attempt, too
  asked = ""; // the key of the set that the page was opened with
  best = 0; // the best score at this set
  card = html("div", "nv-practice-card", this.root);
  timer = setInterval(() => this.tick(), 1000);

  constructor(root: HTMLElement, page: PageView) {
    this.page = page;
    this.data = JSON.parse(root.dataset.practice ?? "") as PracticeData;
    const choose = bankIn(root);
    this.bank = this.data.served ? null : choose;
    root.append(this.root);
    this.time.hidden = !this.data.timed;
    if (this.data.controls) this.form = new SetForm(this.head, this.data, (set, timed) => this.open(set, timed), (set, timed) => this.linkOf(set, timed));
    const { exercises, scorm } = this.data, api = scorm && findScorm();
    if (api) this.course = new ScormCourse(api, this.root, exercises, scorm.mastery, (standing) => this.resume(standing));
    if (this.bank) window.addEventListener("popstate", () => this.root.isConnected && this.readAddress());
    if (this.bank && (location.hash || location.search)) void this.readAddress();
    else if (this.data.set.level === RISING && choose) void choose(this.data.set).then((pool) => this.begin(this.data.set, pool));
    else this.begin(this.data.set, exercises);
  }

  // A file or the static site: the address may ask for another set.
  async readAddress() {
    const { set, timed } = setOfAddress(this.data);
    this.time.hidden = !timed;
    if (this.bank) this.begin(set, await this.bank(set));
  }

  get isRising() {
    return this.set.level === RISING;
  }

  /** How many exercises the set has. */
  get count() {
    return this.isRising ? Math.min(Number(this.set.count), this.pool.length) : this.exercises.length;
  }

  /** ``exercises`` of the set, or those that a rising set chooses from; ``anew``: leaves a rising set that is done */
  begin(set: PracticeSet, exercises: PracticeExercise[], anew = false) {
    this.set = set;
    this.form?.set(set, !this.time.hidden);
    this.pool = this.isRising ? exercises : [];
    const key = this.isRising ? `${RISING} ${JSON.stringify(set)}` : exercises.map(({ id }) => id).join();
    this.asked ||= key;
    this.attempt = this.course ? { ...newAttempt(key), ...this.course.standing } : anew ? newAttempt(key) : readAttempt(key, this.isRising ? Number(set.count) : exercises.length);
    const known = new Map(this.pool.map((one) => [one.id, one]));
    this.exercises = this.isRising ? this.attempt.ids.flatMap((id) => known.get(id) ?? []) : exercises;
    if (this.isRising && this.exercises.length < this.attempt.tries.length) {
      this.attempt = newAttempt(key); // of another version of the bank
      this.exercises = [];
    }
    this.choose();
    this.show();
    if (!this.course) this.book ??= Splice.ofFrame((state) => this.recall(state as BookState));
  }

  /** Goes on where another window has got to. */
  resume(standing: Pick<PracticeAttempt, "at" | "tries">) {
    Object.assign(this.attempt, standing);
    this.show();
  }

  /** Goes on with the attempt that the page around this one has kept, unless the reader has got further here. */
  recall({ attempt: kept, best }: BookState) {
    const here = this.attempt;
    if (kept?.key !== here.key || !isPossible(kept, this.count)) return; // of another set, or damaged
    this.best = Math.min(1, Math.max(this.best, Number(best) || 0));
    if (kept.tries.flat().length <= here.tries.flat().length) return;
    keepAttempt({ ...newAttempt(kept.key), ...kept });
    this.begin(this.set, this.isRising ? this.pool : this.exercises);
  }

  /** Tells the page around this one how far the reader is in the set that it has asked for. */
  report() {
    const { attempt, book } = this;
    if (!book || attempt.key !== this.asked) return;
    this.best = Math.max(this.best, scoreOf(this.exercises, attempt.tries, this.count));
    book.report(this.best, { attempt: { ...attempt, draft: null }, best: this.best });
  }

  // The next exercise of a rising set, and its id: the result holds the ids of all.
  choose() {
    const { attempt } = this;
    if (this.isRising && attempt.at === this.exercises.length && attempt.at < this.count) {
      const next = nextExercise(this.pool, this.results, attempt.seed, attempt.due);
      if (next) this.exercises.push(next);
    }
    attempt.ids = this.exercises.map(({ id }) => id);
  }

  /** Does the same exercises again. */
  restart() {
    const { key, ids, seed, due } = this.attempt;
    this.attempt = { ...newAttempt(key), ids, seed, due };
    this.keep();
    this.show(true);
  }

  /** Opens another set: the app does it by its address. */
  async open(set: PracticeSet, timed: boolean) {
    const query = writeSet(set, timed, this.data.set);
    if (set.level === RISING && this.isRising && JSON.stringify(set) === JSON.stringify(this.set)) {
      this.begin(set, this.pool, true); // other exercises at the same address
      return this.focus();
    }
    if (!this.bank) {
      if (!this.page.host.go?.("practice", query)) location.href = this.addressOf(`/practice${query}`) ?? query;
      return;
    }
    this.time.hidden = !timed;
    this.begin(set, await this.bank(set), set.level === RISING);
    this.writeAddress(query);
    this.focus();
  }

  writeAddress(query: string) {
    try {
      history.pushState({}, "", `#${query.slice(1)}`);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error; // a frame that may not change its address keeps it
    }
  }

  /** The address of a set, to hand out. */
  linkOf(set: PracticeSet, timed: boolean) {
    const query = writeSet(set, timed, this.data.set), app = this.addressOf(`/practice${query}`);
    return app ? new URL(app, location.href).href : new URL(`#${query.slice(1)}`, location.href).href;
  }

  /** Share is about the set of the open form, like the form's own link. */
  asEntered<Data extends SharedData>(data: Data): Data {
    const { form } = this;
    return form && !form.root.hidden ? shareSet(data, form.chosen, form.timed.checked) : data;
  }

  /** The address of a view of the app, or of the page next to this file that takes its place; null: there is none. */
  addressOf(link: string) {
    const { app, pages } = this.data, [, page, query] = link.match(/^\/(\w*)(.*)$/s) as RegExpMatchArray;
    const base = app ?? this.appBeside;
    return this.page.host.address?.(page, query) || (pages[link] ?? (base === null ? null : base + link));
  }

  /** The app that the file links to; null: none. */
  get appBeside() {
    const link = !this.data.served && document.querySelector("a.nv-app-link")?.getAttribute("href");
    return link ? link.replace(/\/practice(\?.*)?$/s, "") : null;
  }

  /** @returns of the tries so far */
  get results(): PracticeResult[] {
    return this.attempt.tries.map((tries, number) => resultOfTries(this.exercises[number], tries));
  }

  /** ``focus``: whether the reader has asked for what is shown */
  show(focus = false) {
    const { at, draft } = this.attempt, { exercises } = this, result = this.results[at] ?? null;
    this.view = null;
    this.card.replaceChildren();
    this.updateHead();
    if (at < exercises.length) {
      this.view = new ExerciseView(this.card, exercises[at], {
        draft: result?.isDone ? result.value : draft ?? result?.value ?? null, tries: result?.tries ?? [], data: this.data, isLast: at === this.count - 1, addressOf: (link) => this.addressOf(link),
        onChange: (value) => this.keep(value), onCheck: (value) => this.check(value), onNext: () => this.next(),
      });
      if (result) this.tell(result, focus);
    } else if (exercises.length)
      drawSummary(this.card, this.results, {
        set: this.set, data: this.data, seconds: this.time.hidden ? null : this.attempt.seconds, link: this.data.title ? "" : this.linkOf(this.set, !this.time.hidden), addressOf: (link) => this.addressOf(link),
        onRestart: this.course ? null : () => this.restart(), onNew: this.form && (() => this.form?.openNew()), onHarder: this.harder, isForNewcomers: this.isForNewcomers,
      });
    else html("p", "nv-note-box", this.card, _("No exercise has these topics at this level. Choose others."));
    this.page.glossary.markAgain();
    void this.page.fill();
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

  /** What the reader learns of an answer. */
  tell(result: PracticeResult, focus: boolean) {
    if (result.isDone) this.view?.reveal(result, focus);
    else this.view?.giveHint(result, focus);
  }

  // Where a reader reads on: at the prompt, or at the title of the summary.
  focus() {
    find(this.card, "[tabindex]")?.focus();
  }

  /** ``value`` null: the reader asks for the answer */
  check(value: PracticeAnswer | null) {
    const { attempt } = this;
    attempt.tries[attempt.at] = [...(attempt.tries[attempt.at] ?? []), value];
    const result = this.results[attempt.at];
    this.keep(result.isDone ? null : value);
    if (result.isDone) keepProgress(result);
    this.course?.answered(result, attempt);
    this.book?.event("answered", { exercise: result.exercise.id, try: result.tries.length, answer: value, right: result.isRight });
    this.report();
    this.updateHead();
    this.tell(result, true);
    this.page.glossary.markAgain();
  }

  next() {
    this.attempt.at += 1;
    this.choose();
    this.keep();
    this.course?.moved(this.attempt);
    this.report();
    this.show(true);
  }

  keep(draft: PracticeAnswer | null = null) {
    this.attempt.draft = draft;
    if (!this.course) keepAttempt(this.attempt); // the next student may use the same tab
  }

  updateHead() {
    const { at, seconds } = this.attempt, { count, isRising } = this, results = this.results.filter(({ isDone }) => isDone), kinds = results.map(outcomeOf);
    const [right, second] = ["right", "second"].map((kind) => kinds.filter((one) => one === kind).length), level = this.exercises[at]?.level;
    this.place.textContent = at < count ? _("{n} of {count}", { n: at + 1, count }) : "";
    this.level.textContent = at < count && level ? _("Level {level}", { level: this.data.levels[isRising ? levelAfter(this.results.slice(0, at)) : level] }) : "";
    this.score.textContent = results.length && at < count ? [ngettext("{n} right", "{n} right", right), ...(second ? [_("{n} at the second try", { n: second })] : [])].join(betweenParts()) : "";
    this.time.textContent = timeText(seconds);
    this.track.replaceChildren(...Array.from({ length: count }, (_none, number) => {
      const step = html("span", "nv-practice-step");
      if (results[number]) step.dataset.result = outcomeOf(results[number]);
      else if (number === at) step.dataset.result = "here";
      return step;
    }));
    this.head.classList.toggle("nv-practice-ended", at >= count);
  }

  // The time stops while the page is out of sight, and after the last answer.
  tick() {
    if (!this.root.isConnected) return clearInterval(this.timer);
    if (!this.attempt || this.time.hidden || document.hidden || this.results.filter(({ isDone }) => isDone).length >= this.count) return;
    this.attempt.seconds += 1;
    this.time.textContent = timeText(this.attempt.seconds);
    if (!this.course) keepAttempt(this.attempt);
  }
}

const newAttempt = (key: string): PracticeAttempt => ({ key, at: 0, seconds: 0, draft: null, ids: [], tries: [], seed: Math.floor(Math.random() * 2 ** 31), due: openInProgress() });

function keptAttempts(): PracticeAttempt[] {
  const attempts = ATTEMPTS.read();
  return Array.isArray(attempts) ? attempts : [];
}

/** The attempt at this set, or a new one. */
function readAttempt(key: string, count: number) {
  const kept = keptAttempts().find((one) => one.key === key);
  return kept && isPossible(kept, count) ? kept : newAttempt(key);
}

function isPossible({ at, seconds, tries, ids, due }: PracticeAttempt, count: number) {
  const isList = [tries, ids, due].every(Array.isArray) && tries.every((one) => Array.isArray(one) && one.length > 0);
  return isList && [at, seconds].every(Number.isInteger) && at >= 0 && at <= tries.length && tries.length <= count;
}

function keepAttempt(attempt: PracticeAttempt) {
  ATTEMPTS.write([attempt, ...keptAttempts().filter(({ key }) => key !== attempt.key)].slice(0, MOST_ATTEMPTS));
}

EXTRAS.set(".nv-practice", Practice);
