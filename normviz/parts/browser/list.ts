// The list of questions: its search, the topics that are open, and how the reader has answered each question.

import { find, findAll } from "../../figures/browser/common/dom.ts";
import { Memory } from "../../figures/browser/common/memory.ts";
import { _, ngettext } from "../../figures/browser/common/messages.ts";

/** ``opened``: the answer, without a prediction */
export type Result = "right" | "wrong" | "opened";

/** The keys of the topics that are open: they are open again when a reader comes back from a question. */
const OPEN_TOPICS = new Memory("sessionStorage", "normviz.topics");
/** The result of each question, by its key. */
const RESULTS = new Memory("localStorage", "normviz.questions");
/** A sign, and what it says. */
const RESULT_SIGNS: Record<Result, [string, () => string]> = { right: ["\u2713", () => _("answered correctly")], wrong: ["\u2717", () => _("answered incorrectly")], opened: ["\u25cb", () => _("opened without a prediction")] };

/** Shows the links that the search finds, and opens their topics; all links if it finds none. Without a search, the topics close again. */
export function filterLinks(root: ParentNode, search: HTMLElement | null = root.querySelector(".nv-search")) {
  if (!search) return;
  const text = fieldOf(search).value.trim(), isError = root.querySelector(".nv-found") !== null;
  const items = findAll(root, "[data-words]"), ideas = JSON.parse(fieldOf(search).dataset.ideas ?? "[]");
  const isFound = matches(text, ideas, items.map(wordsOf));
  const count = isFound.filter(Boolean).length, showsAll = !count && !isError;
  items.forEach((item, at) => (item.hidden = !isFound[at] && !showsAll));
  showTopics(findAll(root, ".nv-topic, .ns-topic"), text !== "" && !showsAll);
  for (const path of findAll(root, ".nv-path, .nv-by-topic")) path.hidden = Boolean(text);
  showBest(root, count > 1 ? text : "", ideas);
  find(search, "[role=status]").textContent = text && (count || !isError) ? ngettext("{n} found", "{n} found", count) : "";
  find(root, ".nv-none").hidden = !showsAll;
}

/** Copies the questions that answer a search best; of two that are as good, the one of the core path. ``text``: "" without a search */
function showBest(root: ParentNode, text: string, ideas: Ideas) {
  const best = root.querySelector<HTMLElement>(".nv-best"), core = findAll(root, ".nv-path li").map(({ dataset }) => dataset.question);
  if (!best) return;
  const place = ({ dataset: { question } }: HTMLElement) => (core.indexOf(question) + core.length + 1) % (core.length + 1); // the others are last
  const items = findAll(root, "[data-words][data-question]").sort((one, other) => place(one) - place(other));
  const titles = items.map((item) => simplified(item.textContent ?? ""));
  const copies = (text ? ranking(text, ideas, titles, items.map(wordsOf)) : []).slice(0, MOST_BEST).map((one) => items[one].cloneNode(true) as HTMLElement);
  for (const copy of copies) Object.assign(copy, { hidden: false }).removeAttribute("data-words");
  best.hidden = !copies.length;
  find(best, "ol").replaceChildren(...copies);
}

/** The words by which a search finds an item. */
const wordsOf = (item: HTMLElement) => simplified(item.dataset.words ?? "");

const fieldOf = (search: HTMLElement) => find(search, "input") as HTMLInputElement;

/** The field of the page's search, if it has one. */
export const searchField = (root: ParentNode) => root.querySelector(".nv-search > input") as HTMLInputElement | null;

/** Whether the text may be an error message of torch, which has several words and a number; or the page shows what such a message means. */
export const needsServer = (text: string, root: HTMLElement) => (/\d/.test(text) && text.split(/\s+/).length > 2) || root.querySelector(".nv-found") !== null;

const NEAR = 0.8; // of the weight of the best text
const STEM = 4; // letters that a word and its plural have in common
const IN_TITLE = 3; // a word in a title weighs so much more
const WORTH = 0.2; // of the weight of the best
const CHINESE = /[\u3400-\u9fff]/;
const MOST_BEST = 5;

type Ideas = [string[], string[]][];

/**
 * Whether a search finds each of the texts: ``normviz/texts/searching.py`` has the same rule.
 * @param ideas the names of each in the texts, and what else people call it; the words of "-" say nothing
 */
export function matches(typed: string, ideas: Ideas, texts: string[]): boolean[] {
  const has = foundIn(wantedBy(typed, ideas), texts);
  if (has.some((words) => words.every(Boolean))) return has.map((words) => words.every(Boolean));
  const scores = scoresOf(has, weightsOf(has));
  return scores.map((score) => score > 0 && score >= NEAR * Math.max(...scores));
}

/** The places of the texts that a search finds, the best first. */
export function ranking(typed: string, ideas: Ideas, titles: string[], texts: string[]): number[] {
  const wanted = wantedBy(typed, ideas), has = foundIn(wanted, texts), weights = weightsOf(has);
  const scores = scoresOf(has, weights), titled = scoresOf(foundIn(wanted, titles), weights);
  const totals = scores.map((score, place) => score * (score + IN_TITLE * titled[place])), best = Math.max(...totals);
  return [...totals.keys()].filter((place) => totals[place] > 0 && totals[place] >= WORTH * best).sort((one, other) => totals[other] - totals[one]);
}

/** The words that a search wants: each with those that mean the same. */
function wantedBy(typed: string, ideas: Ideas) {
  let rest = ` ${simplified(typed)} `;
  const parts = [], known = [...new Set(ideas.flatMap(([names, words]) => [...words, ...names]))];
  for (const phrase of known.sort((one, other) => other.length - one.length || (one < other ? -1 : 1))) {
    const whole = CHINESE.test(phrase) ? phrase : ` ${phrase} `;
    if (!(phrase.includes(" ") || whole === phrase) || !rest.includes(whole)) continue;
    parts.push(phrase);
    rest = rest.replaceAll(whole, " ");
  }
  parts.push(...rest.split(" ").filter(Boolean));
  const silent = new Set(ideas.flatMap(([[name], words]) => (name === "-" ? words : []))), telling = parts.filter((part) => !silent.has(part));
  const meaning = ideas.filter(([[name]]) => name !== "-");
  return (telling.length ? telling : parts).map((part) => [part, ...meanings(part, meaning)]);
}

const foundIn = (wanted: string[][], texts: string[]) => texts.map((text) => wanted.map((words) => words.some((word) => text.includes(word))));

const weightsOf = (has: boolean[][]) => (has[0] ?? []).map((_one, at) => {
  const count = has.filter((words) => words[at]).length;
  return count ? Math.log((has.length + 1) / count) : 0;
});

const scoresOf = (has: boolean[][], weights: number[]) => has.map((words) => words.reduce((sum, isThere, at) => sum + (isThere ? weights[at] : 0), 0));

/** The names of the ideas that a part of a search means. While it is typed, it is the beginning of what it means; a name means itself and its plural. */
function meanings(part: string, ideas: Ideas) {
  const same = ideas.filter(([names]) => names.includes(part));
  const isLonger = (name: string) => name.length > part.length && name.slice(0, STEM) === part.slice(0, STEM);
  if (same.length) return same.flatMap(([names]) => names.filter(isLonger));
  const exact = ideas.filter(([, words]) => words.includes(part));
  const meant = exact.length ? exact : ideas.filter(([, words]) => words.some((word) => word.startsWith(part) && word[part.length] !== " "));
  return meant.flatMap(([names]) => names);
}

const simplified = (text: string) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").trim().replace(/\s+/g, " ");

/** Shows the topics that have an item to show. ``isOpen``: a search has found something in them */
function showTopics(topics: HTMLElement[], isOpen: boolean) {
  for (const topic of topics) {
    topic.hidden = !topic.querySelector("[data-words]:not([hidden])");
    if (topic instanceof HTMLDetailsElement) openWith(topic, isOpen && !topic.hidden);
  }
}

/** Opens a topic for a search. It closes with the search, unless the reader had opened it. */
function openWith(topic: HTMLDetailsElement, isFound: boolean) {
  if (isFound && !topic.open) topic.dataset.found = "yes";
  if (isFound) topic.open = true;
  else if (topic.dataset.found) {
    topic.open = false;
    delete topic.dataset.found;
  }
}

function openTopicKeys(): Set<string> {
  const keys = OPEN_TOPICS.read();
  return new Set(Array.isArray(keys) ? keys : []);
}

/** Remembers which topics the reader opens and closes. What a search opens does not count. */
export function followTopics(root: HTMLElement | Document) {
  const follow = ({ target }: Event) => {
    if (!(target instanceof HTMLDetailsElement) || !target.matches(".nv-topic") || target.dataset.found) return;
    const { topic = "" } = target.dataset, others = [...openTopicKeys()].filter((key) => key !== topic);
    OPEN_TOPICS.write(target.open ? [...others, topic] : others);
  };
  root.addEventListener("toggle", follow, true); // "toggle" does not bubble
}

/** Opens the topics that were open. */
export function openTopics(root: HTMLElement | Document) {
  const open = openTopicKeys();
  for (const topic of findAll(root, ".nv-topic")) if (open.has(topic.dataset.topic ?? "")) topic.setAttribute("open", "");
}

function results(): Map<string, Result> {
  const pairs = Object.entries<Result>(RESULTS.read() ?? {});
  return new Map(pairs.filter(([, result]) => Object.hasOwn(RESULT_SIGNS, result)));
}

/** The last prediction counts. An answer that is opened without one takes nothing away. ``question``: its key. */
export function rememberResult(question: string, result: Result) {
  const all = results();
  if (result !== "opened" || !all.has(question)) RESULTS.write(Object.fromEntries(all.set(question, result)));
}

/** Shows how each question of a list was answered, and how many were. */
export function showProgress(root: HTMLElement | Document) {
  const known = results();
  for (const item of findAll(root, "li[data-question]")) showResult(item, known.get(item.dataset.question ?? ""));
  for (const topic of findAll(root, ".nv-topic")) {
    const { done, all } = progressIn(topic), count = find(topic, ".nv-count");
    count.textContent = done ? _("{done} of {all}", { done, all }) : String(all);
  }
  for (const path of findAll(root, ".nv-path")) {
    const counts = progressIn(path);
    find(path, ".nv-progress").textContent = counts.done ? _("{done} of {all} answered, {right} correctly", counts) : "";
    const button = find(path, ".nv-reset") as HTMLButtonElement;
    button.hidden = known.size === 0;
    button.onclick = () => {
      RESULTS.write({});
      showProgress(root);
    };
  }
}

function showResult(item: HTMLElement, result: Result | undefined) {
  const place = find(item, ".nv-outcome"), [sign, text] = result ? RESULT_SIGNS[result] : ["", () => ""];
  item.dataset.result = result ?? "";
  place.textContent = sign;
  place.title = text();
  place.role = sign ? "img" : null;
  place.ariaLabel = sign ? text() : null;
}

function progressIn(list: HTMLElement) {
  const found = findAll(list, "li[data-question]").map((item) => item.dataset.result);
  return { all: found.length, done: found.filter(Boolean).length, right: found.filter((result) => result === "right").length };
}
