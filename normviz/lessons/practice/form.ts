// The settings of a set of exercises, and the link to hand it out.

import { copyFrom } from "../../figures/browser/common/clipboard.ts";
import { button, findAll, html, uniqueNumber } from "../../figures/browser/common/dom.ts";
import { _ } from "../../figures/browser/common/messages.ts";
import { queryOf } from "../share/links.ts";
import { RISING } from "./bank.ts";
import { drawProgress } from "./progress.ts";

const NEW_SEEDS = 10_000; // few digits: a teacher may say the seed aloud

export class SetForm {
  data: PracticeData;
  onOpen: (set: PracticeSet, timed: boolean) => void;
  linkOf: (set: PracticeSet, timed: boolean) => string;
  opener: HTMLButtonElement;
  root: HTMLFormElement;
  timed: HTMLInputElement;
  linkLabel: HTMLSpanElement;
  link: HTMLTextAreaElement;
  progress: HTMLDivElement;

  constructor(head: HTMLElement, data: PracticeData, onOpen: (set: PracticeSet, timed: boolean) => void, linkOf: (set: PracticeSet, timed: boolean) => string) {
    this.data = data;
    this.onOpen = onOpen;
    this.linkOf = linkOf;
    this.opener = button("nv-practice-quiet nv-set-opener", head, _("Choose exercises"), () => this.toggle());
    this.root = html("form", "nv-set", null, "", { hidden: true, noValidate: true, id: `nv-set-${uniqueNumber()}` });
    this.opener.setAttribute("aria-controls", this.root.id);
    this.opener.ariaExpanded = "false";
    head.after(this.root);
    const numbers = html("div", "nv-set-numbers");
    for (const [name, setting] of Object.entries(data.settings))
      if (setting.options) this.addChoices(name, setting, setting.options);
      else this.addNumber(numbers, name, setting);
    this.root.append(numbers);
    this.timed = addChoice(numbers, "checkbox", _("Show the time"));
    const actions = html("div", "nv-set-actions", this.root), sharing = html("div", "nv-set-link", this.root);
    button("nv-practice-main", actions, _("Start"), () => {}).type = "submit";
    button("nv-practice-quiet", actions, _("New exercises"), () => this.openNew());
    const label = html("label", "", sharing);
    this.linkLabel = html("span", "", label);
    this.link = html("textarea", "", label, "", { readOnly: true, rows: 1 });
    this.progress = html("div", "", this.root);
    const copy = button("nv-practice-quiet", sharing, _("Copy"), () => void copyFrom(copy, this.link));
    this.root.addEventListener("input", () => this.updateLink());
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      this.toggle(false);
      onOpen(this.chosen, this.timed.checked);
    });
  }

  toggle(open: boolean = Boolean(this.root.hidden)) {
    this.root.hidden = !open;
    this.opener.ariaExpanded = String(open);
    if (!open) return;
    this.updateLink();
    this.progress.replaceChildren();
    drawProgress(this.progress, this.data);
  }

  addChoices(name: string, setting: PracticeSetting, options: [string, string][]) {
    const group = html("fieldset", "nv-set-choices", this.root);
    html("legend", "", group, setting.label);
    for (const [value, text] of options) Object.assign(addChoice(group, setting.several ? "checkbox" : "radio", text), { name, value });
  }

  addNumber(parent: HTMLElement, name: string, { label, low, high }: PracticeSetting) {
    const input = html("input", "", html("label", "nv-set-number", parent, label));
    Object.assign(input, { type: "number", inputMode: "numeric", name, min: String(low), max: String(high), step: "1" });
  }

  updateLink() {
    const { chosen } = this;
    this.linkLabel.textContent =
      chosen.level === RISING ? _("Link to this set: each reader gets exercises of their own") : _("Link to this set: everyone gets the same exercises");
    this.link.value = this.linkOf(chosen, this.timed.checked);
  }

  set(set: PracticeSet, timed: boolean) {
    for (const input of findAll(this.root, "input[name]") as HTMLInputElement[])
      if (input.type === "number") input.value = set[input.name];
      else input.checked = namedBy(set, input.name, this.data.settings[input.name]).includes(input.value);
    this.timed.checked = timed;
    this.updateLink();
  }

  get chosen(): PracticeSet {
    const { set, settings } = this.data, entered = new FormData(this.root);
    const chosen = Object.fromEntries(Object.entries(settings).map(([name, setting]) => [name, nearestText(setting, entered.getAll(name).join()) ?? set[name]]));
    const hasAll = chosen.kinds.split(",").length === settings.kinds.options?.length; // as a rising set without a choice
    return chosen.level === RISING && hasAll ? { ...chosen, kinds: "" } : chosen;
  }

  // Other exercises with the same settings.
  openNew() {
    const { chosen } = this;
    if (chosen.level === RISING) {
      this.toggle(false);
      return this.onOpen(chosen, this.timed.checked);
    }
    const other = Math.floor(Math.random() * NEW_SEEDS);
    this.toggle(false);
    this.onOpen({ ...chosen, seed: String(other === Number(chosen.seed) ? other + 1 : other) }, this.timed.checked);
  }
}

/** What a set names in a setting. Kinds of exercises are always shown as they are chosen: a rising set has all of them. */
function namedBy(set: PracticeSet, name: string, { unnamed = [], options = [] }: PracticeSetting) {
  if (set[name] || name !== "kinds") return set[name].split(",");
  return set.level === RISING ? options.map(([value]) => value) : unnamed;
}

function addChoice(parent: HTMLElement, type: "checkbox" | "radio", text: string) {
  const label = html("label", "nv-set-choice", parent), input = html("input", "", label);
  input.type = type;
  html("span", "", label, text);
  return input;
}

/** ``own`` of the page: a file uses its values for those that a link leaves out */
export function writeSet(set: PracticeSet, timed: boolean, own: PracticeSet) {
  const isSeedOwn = set.level === RISING && set.seed === own.seed; // it chooses nothing then
  const pairs = Object.entries(set).filter(([name, value]) => (value || own[name]) && !(isSeedOwn && name === "seed"));
  return queryOf(timed ? [...pairs, ["time", "true"]] : pairs);
}

/** What Share is about, with another set. */
export function shareSet<Data extends SharedData>(data: Data, set: PracticeSet, timed: boolean): Data {
  const pairs = Object.entries(set).filter(([, value]) => value), others = data.query.filter(([name]) => !(name in set) && name !== "time");
  return { ...data, query: [...pairs, ...(timed ? [["time", "true"]] : []), ...others], hidden: data.hidden.filter((name) => name !== "time") };
}

/**
 * The set that the address of a file asks for, after "#" or "?". The file's own values replace those that are left out or not valid; any
 * setting makes a fixed set of a rising one.
 */
export function setOfAddress({ set, settings, timed }: PracticeData) {
  const asked = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : location.search);
  const isFixed = set.level === RISING && Object.keys(settings).some((name) => asked.has(name)), own = isFixed ? { ...set, level: "all" } : set;
  const found = Object.entries(settings).map(([name, setting]) => [name, nearestText(setting, asked.get(name)) ?? own[name]]);
  return { set: Object.fromEntries(found) as PracticeSet, timed: (asked.has("time") ? asked.get("time") === "true" : timed) && !(asked.get("hide") ?? "").split(",").includes("time") };
}

/** The nearest valid text for a link; null: there is none. */
export function nearestText({ low = 0, high = 0, optional, several, unnamed, options }: PracticeSetting, text: string | null) {
  if (text === null) return null;
  if (optional && !text.trim()) return "";
  if (!options) {
    const number = text.trim() ? Math.round(Number(text)) : NaN;
    return Number.isFinite(number) ? String(Math.min(high, Math.max(low, number))) : null;
  }
  const named = text.split(",").map((word) => word.trim().toLowerCase()), known = options.map(([value]) => value).filter((value) => named.includes(value));
  if (!several) return known[0] ?? null;
  return known.join() === unnamed?.join() ? "" : known.join(); // a link without topics has all of them
}
